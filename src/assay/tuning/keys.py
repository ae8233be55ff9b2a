"""What a decision is kept under: the answer's key, the checksum of the candidates, and the region of a verdict.

The key says for which calls an answer holds; the checksum which list of candidates it was decided among; the region
for which calls a build was gated. All three are values made of what was declared and of the call's description, the
same in every process.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, cast
from weakref import WeakKeyDictionary

import msgspec

from assay import store
from assay.array import ALLOCATED_ALIGN, ArrayView
from assay.device import Device
from assay.errors import AssayError, MeasureError
from assay.kernel import Entrant, Place, Setting, Value, function_digest
from assay.signature import Call, Scalar, feature_value
from assay.store import AnswerKey, Dimension, Level, anchored, digest, settled
from assay.tuning.declaration import Candidate, Declaration

EXACT: Level = "full"
"""The level of what was tuned itself."""

BUCKET: Level = "balanced"
"""The level of the hint that a tuned shape leaves for its neighbours."""


def answer_key(declaration: Declaration, call: Call, device: Device, *, level: Level) -> AnswerKey:
    """The key an answer to this call is kept under.

    Args:
        declaration: the op.
        call: the call.
        device: where it runs: what it is and its mode go into the key, its ordinal does not.
        level: how coarse sizes are.

    Raises:
        MeasureError: the device is unidentified and has no key.
    """
    identity = device.fingerprint.key
    if identity is None:
        raise MeasureError(device.fingerprint.name, "its maker and model cannot be read, so nothing is kept for it")
    signature, indices = declaration.signature, call.record.indices
    facts = call.facts(device_facts(device))
    features = sorted(frozenset[str]().union(*(found.kernel.features for found in declaration.candidates)))
    sizes = {
        name: cast("int | tuple[int, ...]", indices[name])
        for name in (*signature.dim_names, *signature.shape_names)
        if name in indices
    }
    return AnswerKey(
        device=identity,
        mode=device.mode,
        target=declaration.target,
        op=declaration.name,
        sizes=anchored(sizes, level),
        dtypes=tuple(sorted((name, dtype) for name, (_, dtype) in call.record.tensors.items())),
        branch=settled(dict(call.record.branch_key)),
        scalars=settled({**call.params, **call.scalars}),
        layout=settled({feature: cast("Value", feature_value(feature, facts)) for feature in features}),
        level=level,
    )


def device_facts(device: Device) -> Mapping[str, Scalar]:
    """What an expression may read of a device."""
    return cast("Mapping[str, Scalar]", device.facts())


def checksum(declaration: Declaration, call: Call, place: Place) -> str:
    """The checksum of the candidates an answer is decided among.

    It covers each candidate's name, its place in the order, its tunables with their domains, and its build identity
    at its default setting. A kernel that has no build here (no compiler) is marked so: where it has one, the list is
    another.
    """
    return store.checksum(
        (found.name, found.kernel.description, build_identity(found, call, place)) for found in declaration.candidates
    )


def build_identity(candidate: Candidate, call: Call, place: Place, setting: Setting | None = None) -> str:
    """The identity of a candidate's build for this call's dtypes; a text that says so where it has none here."""
    chosen = candidate.kernel.default if setting is None else setting
    try:
        return candidate.kernel.identity(chosen, call, place)
    except AssayError as missing:
        return f"no build here: {missing.said}"


class VerdictSlot(NamedTuple):
    """Where a verdict is kept: the build it is about, and the region of calls it holds for."""

    build: str
    region: str


def verdict_slot(
    declaration: Declaration, entrant: Entrant, call: Call, device: Device, place: Place
) -> VerdictSlot | None:
    """Where the verdict on an entrant is kept; None on an unidentified device, and for a kernel that is gone."""
    candidate = declaration.candidate(entrant.kernel)
    if candidate is None or device.fingerprint.key is None:
        return None
    build = build_identity(candidate, call, place, entrant.setting)
    return VerdictSlot(build, region(declaration, candidate, call, device))


def region(declaration: Declaration, candidate: Candidate, call: Call, device: Device) -> str:
    """The region a verdict holds for: the bucket of the call, how its arrays lie, and what the judgement rests on.

    A float scalar's value is no part of it. What the judgement rests on is the op's signature, its reference, its gate
    and the candidate's own, its probes and maker: when one of them is edited, what was admitted is judged again.
    """
    floats = {name for name, value in {**call.params, **call.scalars}.items() if isinstance(value, float)}
    key = answer_key(declaration, call, device, level=BUCKET)
    key = msgspec.structs.replace(key, scalars=tuple(pair for pair in key.scalars if pair[0] not in floats))
    judges = (declaration.reference, declaration.maker, *declaration.probes)
    return digest(
        [
            str(key),
            *(f"{name}: {layout_class(view)}" for name, view in call.views.items()),
            str(declaration.signature),
            str(declaration.finite_only),
            str(declaration.gate),
            str(candidate.gate),
            *(_judge_digest(judge) if judge is not None else "" for judge in judges),
        ]
    )


def layout_class(view: ArrayView) -> str:
    """How an array lies, in as few words as a kernel could tell apart.

    >>> layout_class(ArrayView((4, 6), (6, 1), "float32", 4, "cpu", 0))
    'contiguous'
    >>> layout_class(ArrayView((4, 6), (-1, 4), "float32", 4, "cpu", 4))
    '-+ 10 unaligned'
    """
    aligned = "" if view.align >= ALLOCATED_ALIGN else " unaligned"
    if view.contiguous:
        return f"contiguous{aligned}"
    signs = "".join("-" if step < 0 else "+" if step else "0" for step in view.strides)
    order = sorted(range(len(view.strides)), key=lambda axis: -abs(view.strides[axis]))
    return f"{signs} {''.join(map(str, order))}{aligned}"


_judge_digests: "WeakKeyDictionary[Callable[..., object], str]" = WeakKeyDictionary()


def _judge_digest(judge: Callable[..., object]) -> str:
    """The digest of a reference, maker or probe, taken once: what it counts or caches does not make it another."""
    found = _judge_digests.get(judge)
    if found is None:
        found = _judge_digests[judge] = function_digest(judge)
    return found


def exact_shape(declaration: Declaration, call: Call) -> dict[str, Dimension]:
    """The indices and scalars a call was made with, and the optional inputs it had, as a shape is written.

    ``{"M": 256, "T": "float32", "bias": True}``
    """
    signature, indices = declaration.signature, call.record.indices
    bound = [name for name in signature.index_names if name not in signature.sequence_names and name in indices]
    present = {name: True for name in signature.optional_tensors if name in call.views}
    return {**{name: indices[name] for name in bound}, **call.scalars, **present}


def shape_text(shape: Mapping[str, object]) -> str:
    """A shape as it is typed.

    >>> shape_text({"M": 256, "B": (2, 3), "T": "float32"})
    'M=256,B=2x3,T=float32'
    """
    return ",".join(f"{name}={_typed(value)}" for name, value in shape.items())


def _typed(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "x".join(str(size) for size in cast("tuple[int, ...]", value)) if isinstance(value, tuple) else str(value)
