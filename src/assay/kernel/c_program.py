"""A compiled C function, and the launches that call it.

What is the same for every call of one layout is put into a launch as constants: sizes, strides, what absent inputs
come to. What is left on the hot path is taking each array's address and the foreign call.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never, cast

from assay.errors import DeclarationError
from assay.kernel import native
from assay.kernel.arguments import (
    Argument,
    ArrayArgument,
    ConstantArgument,
    ScalarArgument,
    ScratchArgument,
    parameters,
    resolve_arguments,
)
from assay.kernel.native import Library, Scratch
from assay.signature import Expr
from assay.signature.call import Call


@dataclass(frozen=True, slots=True)
class _Passed:
    """One argument of the function in a launch.

    Attributes:
        ctype: its C type.
        text: the Python expression that gives it.
    """

    ctype: str
    text: str


@dataclass(frozen=True, slots=True)
class CProgram:
    """A compiled C function at one setting, for calls of one set of dtypes.

    Attributes:
        identity: the build identity.
        entrant: the kernel and the setting, for errors.
        library: where the function is.
        function: its name.
        args: what it takes, in order.
        declines: whether it returns a status, nonzero where it declines.
        workspace: bytes of scratch memory, as an expression over the call; None: it takes none.
        scratch: each thread's scratch memory.
    """

    identity: str
    entrant: str
    library: Library
    function: str
    args: tuple[Expr, ...]
    declines: bool
    workspace: Expr | None
    scratch: Scratch = field(default_factory=Scratch)

    @property
    def wrote_past_workspace(self) -> bool:
        """Whether a launch in this thread wrote past the workspace it asked for."""
        return self.scratch.overrun

    def launcher(self, call: Call) -> Callable[..., object]:
        """A function of the inputs, then the outputs, that takes their addresses and calls the C function.

        It refuses a read-only array where the kernel writes, with a ValueError.
        """
        passed = self._passed(call)
        called = f"function({', '.join(one.text for one in passed)})"
        body = f"return NotImplemented if {called} else None" if self.declines else called
        namespace = self._namespace() | {"function": self._function(passed)}
        exec(f"def launch({', '.join(parameters(call))}):\n    {body}\n", namespace)  # noqa: S102  # text of our own
        return cast("Callable[..., object]", namespace["launch"])

    def _function(self, passed: Sequence[_Passed]) -> Callable[..., object]:
        returned = "int" if self.declines else "void"
        prototype = f"{returned}(*)({', '.join(one.ctype for one in passed) or 'void'})"
        return self.library.function(self.function, prototype)

    def _namespace(self) -> dict[str, object]:
        """What a launch's text may use."""
        return {
            "program": self,  # the library must outlive its function
            "scratch": self.scratch,
            "NULL": native.NULL,
            "inf": math.inf,
            "nan": math.nan,
            "READ": native.READ_TYPE,
            "address": native.address,
            "writable": native.writable_address,
            "strided": native.strided_address,
            "writable_strided": native.writable_strided_address,
        }

    def _passed(self, call: Call) -> list[_Passed]:
        return [self._pass(argument, call) for argument in resolve_arguments(self.entrant, self.args, call)]

    def _pass(self, argument: Argument, call: Call) -> _Passed:
        match argument:
            case ArrayArgument():
                return _pointer(argument)
            case ScalarArgument(variable, value):
                return _Passed(self._ctype(value), variable)
            case ConstantArgument(value):
                return _Passed("void *", "NULL") if value is None else _Passed(self._ctype(value), repr(value))
            case ScratchArgument():
                return _Passed("void *", f"scratch({self._scratch_bytes(call)})")
            case _:
                assert_never(argument)

    def _ctype(self, value: float | str) -> str:
        match value:
            case bool():
                return "int"
            case int():
                return "int64_t"
            case float():
                return "double"
            case str():
                raise DeclarationError(self.entrant, f"an argument is the text {value!r}; C takes numbers", "see args")

    def _scratch_bytes(self, call: Call) -> int:
        size = 0 if self.workspace is None else self.workspace.evaluate(call.facts({}))
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise DeclarationError(
                self.entrant, f"workspace '{self.workspace}' is {size!r}; expected a number of bytes"
            )
        return size


def _pointer(argument: ArrayArgument) -> _Passed:
    variable = argument.variable
    if not argument.view.contiguous:
        return _Passed("uintptr_t", f"{'writable_strided' if argument.written else 'strided'}({variable})")
    return _Passed("void *", f"writable(READ, {variable}, True)" if argument.written else f"address({variable})")
