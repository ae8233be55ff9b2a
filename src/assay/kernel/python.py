"""Kernels that are Python callables: NumPy calls, other libraries, anything that writes into arrays it is given."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar, Self, Unpack, cast

from assay.errors import DeclarationError
from assay.kernel.arguments import parameters
from assay.kernel.body import function_digest
from assay.kernel.kernel import Declared, Kernel, Place
from assay.kernel.setting import Entrant, Setting
from assay.signature import Signature
from assay.signature.call import Call
from assay.store import digest


class PythonKernel(Kernel):
    """A kernel that calls a Python function: inputs by position, outputs and tunables by name.

    The function writes into the outputs and returns None, or NotImplemented when it declines. Returning an output it
    was given, as NumPy's functions with ``out=`` do, is None as well.

    Args:
        fn: the function.
        name: the kernel's name; the function's own unless given.
        declared: see `Declared`.
    """

    frontend: ClassVar[str] = "python"

    def __init__(self, fn: Callable[..., object], name: str | None = None, **declared: Unpack[Declared]) -> None:
        super().__init__(getattr(fn, "__name__", type(fn).__name__) if name is None else name, declared)
        self.fn = fn

    @cached_property
    def _body(self) -> str:
        """The digest of the function as it was when first asked for.

        Not at construction, when what the function reaches may not be defined yet; and not again, since a function
        that keeps a cache of its own would be another kernel after every call.
        """
        return function_digest(self.fn)

    def for_signature(self, signature: Signature) -> Self:
        """This kernel, its names checked, and that its function takes what it will be called with.

        Raises:
            DeclarationError: it reads a name the signature does not have, or the function takes other arguments.
        """
        kernel = super().for_signature(signature)
        try:
            taken = inspect.signature(self.fn)
        except ValueError:
            return kernel  # a builtin that does not say what it takes
        by_name = dict.fromkeys((*signature.output_names, *self.tunables))
        try:
            taken.bind(*signature.input_names, **by_name)
        except TypeError as wrong:
            called = ", ".join((*signature.input_names, *(f"{name}=" for name in by_name)))
            said = f"its function is called as ({called}) and takes {taken}: {wrong}"
            raise DeclarationError(self.name, said, "take inputs by position, outputs and tunables by name") from wrong
        return kernel

    def identity(self, setting: Setting, call: Call, place: Place) -> str:
        """The digest of the function's code and what it reaches, at a setting; sizes and dtypes do not change it."""
        del call, place
        return digest(["python", self._body, setting.encoded()])

    def build(self, setting: Setting, call: Call, place: Place) -> "PythonProgram":
        """The function with the setting filled in; there is nothing to compile."""
        identity = self.identity(setting, call, place)
        return PythonProgram(identity, Entrant(self.name, setting), self.fn)


@dataclass(frozen=True, slots=True)
class PythonProgram:
    """A Python function at a setting.

    Attributes:
        identity: the build identity.
        entrant: the kernel and the setting, for errors.
        fn: the function.
    """

    identity: str
    entrant: Entrant
    fn: Callable[..., object]
    _launchers: dict[tuple[tuple[str, ...], tuple[str, ...]], Callable[..., object]] = field(
        default_factory=dict[tuple[tuple[str, ...], tuple[str, ...]], "Callable[..., object]"],
        init=False,
        repr=False,
        compare=False,
    )

    def launcher(self, call: Call) -> Callable[..., object]:
        """A function of the inputs, then the outputs, that calls the kernel and checks what it returned.

        It is the same for every call with the same arguments, whatever their sizes.
        """
        slot = (call.inputs, call.outputs)
        if slot not in self._launchers:
            self._launchers[slot] = self._generated(call)
        return self._launchers[slot]

    def _generated(self, call: Call) -> Callable[..., object]:
        names = parameters(call)
        inputs, outputs = names[: len(call.inputs)], names[len(call.inputs) :]
        tunables = [f"t{place}" for place in range(len(self.entrant.setting.pairs))]
        by_name = zip((*call.outputs, *self.entrant.setting.as_dict()), (*outputs, *tunables), strict=True)
        passed = ", ".join([*inputs, *(f"{name}={variable}" for name, variable in by_name)])
        source = (
            f"def launch({', '.join(names)}):\n"
            f"    answer = fn({passed})\n"
            f"    return None if answer is None else judge(answer, ({''.join(f'{name}, ' for name in outputs)}))\n"
        )
        values = (value for _, value in self.entrant.setting.pairs)
        namespace: dict[str, object] = {"fn": self.fn, "judge": partial(self._judge, call.outputs)}
        namespace.update(zip(tunables, values, strict=True))
        exec(source, namespace)  # noqa: S102  # names are the signature's and ours, values stay objects
        return cast("Callable[..., object]", namespace["launch"])

    def _judge(self, names: Sequence[str], answer: object, outputs: Sequence[object]) -> object:
        """What a kernel's return value other than None means.

        Raises:
            DeclarationError: it returned a result instead of writing it.
        """
        if answer is NotImplemented or any(answer is output for output in outputs):
            return NotImplemented if answer is NotImplemented else None
        said = f"returned {_article(type(answer).__name__)}; a kernel returns None"
        raise DeclarationError(str(self.entrant), said, f"write into {' and '.join(names)}")


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
