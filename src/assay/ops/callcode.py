"""The hot path: `__call__` and the key function, generated for one signature.

A hit is one dictionary look-up. What goes into the key is written out for each argument as source text, since a loop
over a signature's arguments at every call would cost more than all the look-ups together. The key of an argument is

- a tensor: its class, shape, strides and dtype object (attributes that only a NumPy array has all of; any other object
  raises `AttributeError` here and takes the path of a miss, which says what it is);
- a scalar: its class and value, since 1, 1.0 and True are equal and hash alike;
- absent: None.

Data pointers are not in the key: alignment is a guard of the plan, and an `out` that may share memory with an input is
sent down the path of a miss, where the check names the two.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.ops.plan import LastCall, PlanTable
from assay.ops.regime import regime_in_force
from assay.signature import ScalarArg, Signature

_OURS = "_assay_"
"""Put before every name of ours in the generated text, written ``$`` below, so that no argument's name can hide one."""


class _Missing:
    """The default of a required argument that follows an optional one."""

    def __repr__(self) -> str:
        return "<missing>"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class CallCode:
    """What was generated for a signature.

    Attributes:
        call: the method to install as ``__call__``.
        key: the key of a call: ``key(inputs, out)``; raises `AttributeError` or `TypeError` where there is none.
        bump: starts a new epoch: every key made before is of the past.
        source: the generated text, for whoever wants to read it.
    """

    call: Callable[..., object]
    key: Callable[[tuple[object, ...], object], Hashable]
    bump: Callable[[], None]
    source: str


def generate(
    signature: Signature,
    plans: PlanTable,
    *,
    name: str,
    miss: Callable[..., object],
    failed: Callable[..., object],
) -> CallCode:
    """The generated call path of a signature.

    Args:
        signature: the op's signature.
        plans: the table the hits are looked up in.
        name: the op's name, which Python's own errors show.
        miss: ``miss(op, inputs, out)``: checks, plans and answers a call that has no plan.
        failed: ``failed(op, plan, inputs, out, error)``: answers a call whose launch raised `error`, or
            declined (None).
    """
    source = _source(signature)
    names: dict[str, Any] = {
        "plans": plans,
        "regime": regime_in_force,
        "epoch": 0,
        "empty": np.empty,
        "may_share": np.may_share_memory,
        "miss": miss,
        "failed": failed,
        "LastCall": LastCall,
        "MISSING": MISSING,
        **{f"default_{argument.name}": argument.default for argument in signature.scalar_args},
    }
    names = {_OURS + name: value for name, value in names.items()}
    exec(compile(source, f"<the call path of {signature}>", "exec"), names)  # noqa: S102 - our own text, from parsed names

    names[_OURS + "call"].__name__ = names[_OURS + "call"].__qualname__ = name

    def bump() -> None:
        names[_OURS + "epoch"] += 1
        plans.clear()

    return CallCode(names[_OURS + "call"], names[_OURS + "key"], bump, source)


def _source(signature: Signature) -> str:
    inputs = signature.input_names
    parameters = ", ".join(_parameters(signature))
    given = _tuple(inputs)
    made = [f"$made_{name}" for name in signature.fresh_outputs]
    launch = ", ".join((*inputs, *_results(signature)))
    lines = [
        f"def $call($op, {parameters}, *, out=None):" if parameters else "def $call($op, *, out=None):",
        "    try:",
        "        if out is None:",
        f"            $plan = $plans[{_key(signature, with_out=False)}]",
        *_indented(_allocate(made), 12),
        "        else:",
        *_indented(_unpack(signature, made, given), 12),
        f"            $plan = $plans[{_key(signature, with_out=True)}]",
        "    except (KeyError, AttributeError, TypeError, ValueError):",
        "        $plan = None",
        "    if $plan is None:",  # not in the handler: what a miss raises has nothing to do with the KeyError
        f"        return $miss($op, {given}, out)",
        "    try:",
        f"        $status = $plan.launch({launch})",
        "    except Exception as $error:",
        f"        return $failed($op, $plan, {given}, out, $error)",
        "    if $status is not None:",
        f"        return $failed($op, $plan, {given}, out, None)",
        "    next($plan.step)",
        f"    $op.last_plan = {_last(signature)}",
        f"    return {_returned(signature)}",
        "",
        "def $key($given, out):",
        f"    {given} = $given" if inputs else "    pass",
        "    if out is None:",
        f"        return {_key(signature, with_out=False)}",
        *_indented(_unpack(signature, made, None), 4),
        f"    return {_key(signature, with_out=True)}",
    ]
    return "\n".join(lines).replace("$", _OURS) + "\n"


def _parameters(signature: Signature) -> list[str]:
    found: list[str] = []
    optional = False
    for argument in signature.args:
        if isinstance(argument, ScalarArg) and argument.default is not None:
            optional = True
            found.append(f"{argument.name}=$default_{argument.name}")
        elif argument.optional:
            optional = True
            found.append(f"{argument.name}=None")
        else:
            found.append(f"{argument.name}=$MISSING" if optional else argument.name)
    return found


def _key(signature: Signature, *, with_out: bool) -> str:
    parts: list[str] = []
    for argument in signature.args:
        name = argument.name
        if isinstance(argument, ScalarArg):
            parts.append(f"{name}.__class__, {name}")
        elif argument.optional:
            parts.append(f"None if {name} is None else ({_layout(name)})")
        else:
            parts.append(_layout(name))
    if with_out:
        parts.extend(_layout(f"$made_{name}") for name in signature.fresh_outputs)
        parts.append("True")
    return ", ".join((*parts, "$regime()", "$epoch"))


def _layout(name: str) -> str:
    return f"{name}.__class__, {name}.shape, {name}.strides, {name}.dtype"


def _allocate(made: list[str]) -> list[str]:
    if not made:
        return ["pass"]
    if len(made) == 1:
        return [f"{made[0]} = $empty($plan.shape, $plan.dtype)"]
    return [f"{name} = $empty(*$plan.outputs[{place}])" for place, name in enumerate(made)]


def _unpack(signature: Signature, made: list[str], given: str | None) -> list[str]:
    """Lines that bind the outputs a caller passed and, in the call, send a possible overlap to the miss."""
    if not made:
        return ["raise ValueError"]
    lines = [f"{made[0]} = out"]
    if len(made) > 1:
        lines = ["if out.__class__ is not tuple:", "    raise ValueError", f"{', '.join(made)} = out"]
    if given is None:
        return lines
    for place, output in enumerate(made):
        for other in made[:place]:
            lines += [f"if $may_share({output}, {other}):", f"    return $miss($op, {given}, out)"]
        for argument in signature.tensor_args:
            name = argument.name
            owned = f"{output} is not {name} and {output}.base is None and {name}.base is None"
            clash = f"not ({owned}) and $may_share({output}, {name})"
            if argument.optional:
                clash = f"{name} is not None and {clash}"
            lines += [f"if {clash}:", f"    return $miss($op, {given}, out)"]
    return lines


def _last(signature: Signature) -> str:
    metadata = signature.metadata_names
    if not metadata:
        return "$plan"
    return f"$LastCall($plan, tuple($given for $given in {_tuple(metadata)} if $given is not None))"


def _returned(signature: Signature) -> str:
    names = _results(signature)
    return names[0] if len(names) == 1 else _tuple(names)


def _results(signature: Signature) -> list[str]:
    """Every output's variable; one that is an alias is the input itself."""
    in_place = signature.in_place_outputs
    return [in_place.get(name) or f"$made_{name}" for name in signature.output_names]


def _tuple(names: tuple[str, ...] | list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _indented(lines: list[str], spaces: int) -> list[str]:
    return [" " * spaces + line for line in lines]
