"""What an entrant is asked: inputs of the call's own shape and its neighbours, ordinary and extreme, laid out any way.

The probes of a call, in order:

- ``shape``: the call itself, in the caller's own layout. Everything below may be declined, this may not.
- ``nan``, ``infinite``: the same values with a few that are not finite; not where the op is for finite ones.
- ``large``: the same values ten thousand times as large (16 times in dtypes that hold no more).
- ``padded``, ``transposed``, ``strided``, ``reversed``: the same values in other layouts, outputs too, and ``offset``:
  at less alignment, for kernels that claim them.
- the op's own probes.
- ``ragged 1``: every dimension one off; ``ragged 2``: every one drawn from its bucket; ``ragged NAME``: one alone.

Values are seeded. Probes of one call that hold the same values share one reference. A probe that cannot be made (a
`where` forbids the size, an integer input has no maker) is left out, with a note. Preparing them is bounded: single
ragged dimensions are added while the estimate stays within a second.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from assay.array import ArrayView
from assay.errors import AssayError, CallError, reason_of
from assay.gate.layout import backwards, offset, padded, rearranged, strided, strides_like, transposed
from assay.gate.ragged import adjacent, drawn
from assay.gate.tolerance import float_limits, is_floating
from assay.signature import Call, Signature, describe, make_inputs

Array = npt.NDArray[Any]
Work = Callable[[Call], int]
Maker = Callable[..., object]

OWN = "shape"
"""Name of the probe that is the call itself."""

OFFSET = "offset"
"""Name of the probe whose arrays start at multiples of an element and of nothing more."""

LAYOUTS = {
    "padded": padded,
    "transposed": transposed,
    "strided": strided,
    "reversed": backwards,
    OFFSET: offset,
}
"""The probes that hold the call's own values in other layouts, inputs and outputs alike."""

_LARGE = 1e4
_LARGE_IN_SMALL = 16.0
_LARGEST_MADE = 1e8
"""Values are not enlarged past this: a caller's own may be large already, and their products must not overflow."""

_WIDE_RANGE = 1e30

_BUDGET_NS = 1e9
_NS_PER_ELEMENT = 10.0
_NS_PER_WORK = 0.05
"""A reference's cost: 0.02 s to 0.035 s for 1024**3 in float64 on two cores of an EPYC, elementwise NumPy 10 ns."""


@dataclass(frozen=True, eq=False, slots=True)
class Probe:
    """One input an entrant is asked about.

    Attributes:
        name: what it tries (``ragged 1``).
        call: the checked call; its views say how the arrays lie, their pointers stand for an alignment only.
        inputs: values by name, arrays in any layout, scalars as they are; shared, never to be written.
        layout: of a probe in another layout, which one. All arrays lie so in the probe of that name, one of them in
            each that follows it; those are needless for an entrant that passed it.
    """

    name: str
    call: Call
    inputs: Mapping[str, object]
    layout: str = ""

    def __str__(self) -> str:
        sizes = {name: size for name, size in self.call.record.indices.items() if isinstance(size, int | tuple)}
        text = ", ".join(
            f"{name}={'x'.join(map(str, size)) if isinstance(size, tuple) else size}" for name, size in sizes.items()
        )
        return f"probe {self.name!r} ({text})" if text else f"probe {self.name!r}"


@dataclass(frozen=True, eq=False, slots=True)
class Probes:
    """The probes of one call, the call itself first.

    Attributes:
        probes: what an entrant is asked, in order.
        notes: the probes that could not be made, with the reason.
    """

    probes: tuple[Probe, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Recipe:
    """How an op's inputs are made.

    Attributes:
        maker: the op's input maker; None means seeded random values.
        extra: the op's own probes, makers too.
        finite_only: whether the op is defined for finite values only.
        given: the caller's own inputs by name, used for the call's own shape; None means they are made.
    """

    maker: Maker | None = None
    extra: tuple[Maker, ...] = ()
    finite_only: bool = False
    given: Mapping[str, object] | None = None


@dataclass(eq=False, slots=True)
class _Draft:
    signature: Signature
    subject: str
    own: Call
    seed: int
    recipe: Recipe
    probes: list[Probe] = field(default_factory=list[Probe])
    notes: list[str] = field(default_factory=list[str])

    def rng(self, step: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, step))

    def make(self, call: Call, step: int, maker: Maker | None) -> dict[str, object]:
        return dict(make_inputs(self.signature, call, self.rng(step), maker, subject=self.subject))

    def add(self, name: str, call: Call, inputs: Mapping[str, object]) -> None:
        self.probes.append(Probe(name, call, inputs))


def make_probes(signature: Signature, subject: str, call: Call, *, seed: int, recipe: Recipe | None = None) -> Probes:
    """The probes of a call.

    Args:
        signature: the op's.
        subject: the op, as the user names it.
        call: the call to be answered, checked or planned.
        seed: of every value and drawn size.
        recipe: how the op's inputs are made; None means seeded random values.

    Raises:
        CallError: the inputs of the call's own shape cannot be made (an integer input needs a maker); it names them.
    """
    draft = _Draft(signature, subject, call, seed, Recipe() if recipe is None else recipe)
    given = draft.recipe.given
    own = draft.make(call, 0, draft.recipe.maker) if given is None else _copied(given)
    draft.add(OWN, call, own)
    _add_values(draft, own)
    _add_layouts(draft, own)
    for step, extra in enumerate(draft.recipe.extra):
        _add_own(draft, getattr(extra, "__name__", f"extra {step + 1}"), (100 + step, extra))
    _add_ragged(draft)
    return Probes(tuple(draft.probes), tuple(draft.notes))


def loop_work(call: Call) -> int:
    """The product of a call's dimensions: the trips of the plain loop nest that computes it."""
    work = 1
    for size in call.record.indices.values():
        for extent in size if isinstance(size, tuple) else (size,):
            if isinstance(extent, int) and not isinstance(extent, bool):
                work *= max(extent, 1)
    return work


def _copied(given: Mapping[str, object]) -> dict[str, object]:
    return {name: np.array(value) if hasattr(value, "__array__") else value for name, value in given.items()}


def _add_values(draft: _Draft, own: Mapping[str, object]) -> None:
    floats = [name for name, value in own.items() if _is_float_array(value)]
    if not floats:
        return
    if not draft.recipe.finite_only:
        rng = draft.rng(1)
        draft.add("nan", draft.own, _with(own, floats, lambda array: _planted(array, rng, (np.nan,))))
        draft.add("infinite", draft.own, _with(own, floats, lambda array: _planted(array, rng, (np.inf, -np.inf))))
    draft.add("large", draft.own, _with(own, floats, _enlarged))


def _add_layouts(draft: _Draft, own: Mapping[str, object]) -> None:
    views = draft.own.views
    for name, arrange in LAYOUTS.items():
        arranged = {tensor: arrange(views[tensor]) for tensor in _placed(draft.own)}
        others = {tensor: view for tensor, view in arranged.items() if _differs(view, views[tensor])}
        if others:
            draft.probes.append(Probe(name, _laid_out(draft.own, others), own, name))
        if len(others) > 1:
            for tensor, view in others.items():
                draft.probes.append(Probe(f"{name} {tensor}", _laid_out(draft.own, {tensor: view}), own, name))


def _add_ragged(draft: _Draft) -> None:
    rng = draft.rng(2)
    sizes = {
        name: size
        for name, size in draft.own.record.indices.items()
        if name in (*draft.signature.dim_names, *draft.signature.shape_names)
    }
    near = {name: _each(size, adjacent) for name, size in sizes.items()}
    far = {name: _each(size, lambda extent: drawn(extent, rng)) for name, size in sizes.items()}
    spent = _cost_ns(draft.own) * len(draft.probes)
    seen: list[Mapping[str, object]] = [sizes]
    plans = [("ragged 1", near), ("ragged 2", far), *((f"ragged {name}", {name: near[name]}) for name in sizes)]
    for step, (name, change) in enumerate(plans):
        found = _reachable(draft, sizes, change)
        if isinstance(found, str):
            draft.notes.append(f"{name}: {found}")
            continue
        call, reached = found
        spent += _cost_ns(call)
        if reached in seen or (step > 1 and spent > _BUDGET_NS):
            continue
        seen.append(reached)
        _add_made(draft, name, _like_own(draft.own, call), (200 + step, draft.recipe.maker))


def _add_own(draft: _Draft, name: str, how: tuple[int, Maker]) -> None:
    """Adds a probe the op itself asks for.

    Raises:
        CallError: its maker raised, or what it made is no input of this op: a probe the gate must use is not left out.
    """
    step, maker = how
    try:
        draft.add(name, draft.own, draft.make(draft.own, step, maker))
    except Exception as failure:
        said = failure.said if isinstance(failure, AssayError) else f"it {reason_of(failure)}"
        raise CallError(f"{draft.subject}: probe {name}", said, "mend the probe, or take it out") from failure


def _add_made(draft: _Draft, name: str, call: Call, how: tuple[int, Maker | None]) -> None:
    step, maker = how
    try:
        inputs = draft.make(call, step, maker)
    except AssayError as impossible:
        draft.notes.append(f"{name}: {impossible}")
    else:
        draft.add(name, call, inputs)


def _reachable(
    draft: _Draft, sizes: Mapping[str, object], change: Mapping[str, object]
) -> tuple[Call, dict[str, object]] | str:
    """A call with as many of the changes as the signature allows, and its sizes; or why it allows none."""
    try:
        return _described(draft, {**sizes, **change}), {**sizes, **change}
    except AssayError as refused:
        reason = str(refused)
    found: Call | None = None
    reached = dict(sizes)
    for name, size in change.items():
        attempt = {**reached, name: size}
        try:
            found, reached = _described(draft, attempt), attempt
        except AssayError as refused:
            reason = str(refused)
    return reason if found is None else (found, reached)


def _described(draft: _Draft, sizes: Mapping[str, object]) -> Call:
    own = draft.own
    signature = draft.signature
    dtypes = {name: own.record.indices[name] for name in signature.dtype_names if name in own.record.indices}
    present = {arg.name: True for arg in signature.tensor_args if arg.optional and arg.name in own.views}
    given: dict[str, object] = {**own.sequences, **own.scalars, **present, **dtypes, **sizes}
    return describe(signature, draft.subject, given, params=own.params)


def _like_own(own: Call, call: Call) -> Call:
    """A call with its tensors arranged and aligned as the caller's are."""
    views = {
        name: rearranged(view, strides_like(own.views[name], view.shape), own.views[name].pointer)
        for name, view in call.views.items()
        if name in own.views and len(own.views[name].shape) == len(view.shape)
    }
    return _laid_out(call, views)


def _laid_out(call: Call, views: Mapping[str, ArrayView]) -> Call:
    return replace(call, views={**call.views, **views})


def _placed(call: Call) -> list[str]:
    """Every array of a call that has memory of its own."""
    return [name for name in (*call.inputs, *call.outputs) if name in call.views and name not in call.aliases]


def _differs(one: ArrayView, other: ArrayView) -> bool:
    """Whether two layouts of one array differ in a way a kernel can tell."""
    return one.align != other.align or (one.strides != other.strides and one.size > 1)


def _each(size: object, change: Callable[[int], int]) -> object:
    return (
        tuple(change(extent) for extent in cast("tuple[int, ...]", size))
        if isinstance(size, tuple)
        else change(cast("int", size))
    )


def _cost_ns(call: Call) -> float:
    elements = sum(view.size for view in call.views.values())
    return 2 * (_NS_PER_ELEMENT * elements + _NS_PER_WORK * loop_work(call))


def _is_float_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and is_floating(cast("Array", value).dtype.name)


def _with(own: Mapping[str, object], names: list[str], change: Callable[[Array], Array]) -> dict[str, object]:
    return {name: change(cast("Array", value)) if name in names else value for name, value in own.items()}


def _planted(array: Array, rng: np.random.Generator, values: tuple[float, ...]) -> Array:
    """A copy with values at as many distinct drawn places, fewer where the array is smaller."""
    copy = np.array(array, order="C")
    flat = copy.reshape(-1)
    places = (
        rng.permutation(flat.size)[: len(values)]
        if flat.size <= len(values)
        else _distinct(flat.size, len(values), rng)
    )
    for place, value in zip(places, values, strict=False):
        flat[place] = value
    return copy


def _distinct(size: int, count: int, rng: np.random.Generator) -> list[int]:
    places: dict[int, None] = {}
    while len(places) < count:
        places[int(rng.integers(size))] = None
    return list(places)


def _enlarged(array: Array) -> Array:
    """The same values ten thousand times as large, as far as they stay within what a product of two can hold."""
    largest = float_limits(array.dtype.name).largest
    factor, most = (_LARGE, _LARGEST_MADE) if largest > _WIDE_RANGE else (_LARGE_IN_SMALL, largest / _LARGE_IN_SMALL)
    finite = np.abs(array[np.isfinite(array)])
    peak = float(finite.max()) if finite.size else 0.0
    if peak * factor > most:
        factor = max(most / peak, 1.0)
    return np.asarray(array * np.asarray(factor, dtype=array.dtype))
