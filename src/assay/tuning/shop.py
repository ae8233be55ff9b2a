"""Where entrants are built and judged, in the process it stands in.

A shop is for one op and one call. It builds each entrant once, runs it on probes of any shape it serves, and lets the
gate judge it. Programs are shared by all shops of a process, by build identity: an entrant that was compiled for one
shape is not compiled again for the next.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TypeVar

from assay.errors import AssayError, reason_of
from assay.gate import Oracle, Probes, Recipe, Verdict, candidate_gate, examine, make_probes
from assay.kernel import Entrant, Place, Program, UsesWorkspace
from assay.signature import Call, Scalar, flops
from assay.tuning.bench import Failed
from assay.tuning.declaration import Candidate, Declaration

T = TypeVar("T")

ENDINGS = (SystemExit, KeyboardInterrupt, GeneratorExit)
"""What ends a process when it is raised in it."""

_programs: dict[str, Program] = {}


class KernelRaised(Exception):  # noqa: N818 - a carrier for what an entrant raised that is no `Exception`
    """An entrant raised something that would end a process; it costs the entrant instead."""


class Shop:
    """Builds and judges entrants of one op for one call.

    Args:
        declaration: the op.
        call: the call.
        device: the device's facts.
        place: where compiled kernels are kept.
        seed: of the probes.
        inputs: the caller's own inputs by name; None means they are made.
        own_process: whether this process exists for entrants alone, so that an interrupt raised here can only be an
            entrant's; elsewhere it is the user's and passes.
        on_step: told, before each thing that may hang, what it is: (entrant, ``build`` or ``call``); and when it is
            over, with ``rest``.
    """

    def __init__(  # noqa: PLR0913 - everything a judgement rests on
        self,
        declaration: Declaration,
        call: Call,
        *,
        device: Mapping[str, Scalar],
        place: Place,
        seed: int = 0,
        inputs: Mapping[str, object] | None = None,
        own_process: bool = False,
        on_step: Callable[[Entrant, str], None] | None = None,
    ) -> None:
        self.declaration = declaration
        self.call = call
        self.inputs = inputs
        self._device = device
        self._place = place
        self._seed = seed
        self._contained = ENDINGS if own_process else (SystemExit,)
        self._on_step = on_step or _no_step

    def candidate(self, entrant: Entrant) -> Candidate:
        """The candidate of an entrant.

        Raises:
            AssayError: the op has none of this name.
        """
        found = self.declaration.candidate(entrant.kernel)
        if found is None:
            raise AssayError(self.declaration.name, f"no kernel {entrant.kernel!r}")
        return found

    def program(self, entrant: Entrant, call: Call | None = None) -> Program:
        """The program of an entrant for a call, built if this process has none.

        Raises:
            BuildError: it does not build.
            KernelRaised: building it raised something that is no `Exception`.
        """
        kernel, wanted = self.candidate(entrant).kernel, self.call if call is None else call
        identity = kernel.identity(entrant.setting, wanted, self._place)
        found = _programs.get(identity)
        if found is None:
            self._on_step(entrant, "build")
            found = self._contain(lambda: kernel.build(entrant.setting, wanted, self._place))
            self._on_step(entrant, "rest")
            _programs[identity] = found
        return found

    def prepare(self) -> None:
        """Makes the probes, so that what is wrong with them is not blamed on an entrant.

        Raises:
            CallError: the inputs cannot be made; it names the input that needs a maker.
            AssayError: the op has no reference.
        """
        _ = self._probes, self._oracle

    def judge(self, entrant: Entrant) -> Verdict | Failed:
        """The gate's verdict on an entrant; `Failed` when it does not build."""
        label = f"{self.declaration.name}.{entrant}"
        candidate = self.candidate(entrant)
        try:
            self.program(entrant)
        except AssayError as broken:
            return Failed(broken.said, "build")
        except KernelRaised as raised:
            return Failed(f"building it {raised}", "build")

        def run(call: Call, inputs: tuple[object, ...], outputs: tuple[object, ...]) -> object:
            program = self.program(entrant, call)
            launch = program.launcher(call)
            self._on_step(entrant, "call")
            returned = self._contain(lambda: launch(*inputs, *outputs))
            self._on_step(entrant, "rest")
            if isinstance(program, UsesWorkspace) and program.wrote_past_workspace:
                raise KernelRaised("wrote past the end of its workspace")
            return returned

        gate = candidate_gate(self.declaration.gate, candidate.gate)
        return examine(
            self._probes,
            self._oracle,
            run,
            gate,
            label=label,
            refusal=lambda call: candidate.refusal(call, self._device),
        )

    def _contain(self, action: Callable[[], T]) -> T:
        """What an action returns; an exit or interrupt of the entrant's own becomes an exception."""
        try:
            return action()
        except self._contained as raised:
            raise KernelRaised(reason_of(raised)) from raised

    @cached_property
    def _probes(self) -> Probes:
        declaration = self.declaration
        recipe = Recipe(declaration.maker, declaration.probes, declaration.finite_only, self.inputs)
        return make_probes(declaration.signature, declaration.name, self.call, seed=self._seed, recipe=recipe)

    @cached_property
    def _oracle(self) -> Oracle:
        declaration = self.declaration
        if declaration.reference is None:
            raise AssayError(declaration.name, "has no reference, so nothing says what is right", "give the op a body")
        formula = declaration.flops
        if formula is None:
            return Oracle(declaration.reference)
        return Oracle(declaration.reference, work=lambda call: flops(formula, call, declaration.name))


def _no_step(entrant: Entrant, step: str) -> None:
    del entrant, step
