"""Did a kernel run the reference? Its calls are watched while it runs.

What is seen: any call of the reference's Python code in this thread, however it was reached. What is not: a reference
that is no Python function, a copy of its text, and calls from a thread of the kernel's own.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, MethodType
from typing import cast


def run_watched(reference: Callable[..., object], action: Callable[[], object]) -> tuple[object, bool]:
    """What an action returns, and whether it called the reference meanwhile.

    Args:
        reference: the callable to look for.
        action: called once; what it raises is not caught.
    """
    code = _code_of(reference)
    if code is None:
        return action(), False
    seen = False

    def hook(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal seen
        # Equal, not identical: a reference that crossed a pipe is a copy of the one the kernel closed over.
        if event == "call" and frame.f_code == code:
            seen = True

    before = sys.getprofile()
    sys.setprofile(hook)
    try:
        result = action()
    finally:
        sys.setprofile(before)
    return result, seen


def _code_of(reference: Callable[..., object]) -> CodeType | None:
    found: object = inspect.unwrap(reference)
    while isinstance(found, functools.partial):
        found = cast("functools.partial[object]", found).func
    if not isinstance(found, FunctionType | MethodType):
        # An object's own call method; of a builtin, no Python function.
        found = inspect.getattr_static(cast("object", found), "__call__", None)
    if isinstance(found, MethodType):
        found = found.__func__
    return found.__code__ if isinstance(found, FunctionType) else None
