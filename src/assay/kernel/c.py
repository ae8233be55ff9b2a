"""Kernels in C: compiled by the system's compiler, loaded once, called with pointers.

One library serves every size: dims are arguments. Tunables arrive as macros of their names, the dtypes as ``ASSAY_T``
(each dtype index ``X`` also as ``ASSAY_X``), with their names beside them as ``ASSAY_T_NAME``.
"""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self, Unpack

from assay.errors import BuildError, DeclarationError
from assay.kernel.arguments import WORKSPACE, check_reads, guarded_features, parse_arguments, settle_arguments, settled
from assay.kernel.c_compiler import NAMES, REMEDY, find_compiler
from assay.kernel.c_library import CompileError, library
from assay.kernel.c_program import CProgram
from assay.kernel.c_unit import Source, Unit
from assay.kernel.kernel import Declared, Kernel, Place
from assay.kernel.native import Library
from assay.kernel.setting import Entrant, Setting, Value, format_value
from assay.signature import Signature, parse_expr
from assay.signature.call import Call
from assay.store import digest

Returns = Literal["void", "status"]

C_TYPES: Mapping[str, str] = {
    "bool": "_Bool",
    "float16": "_Float16",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""The C type of each dtype that has one."""


DEFAULT_FLAGS = ("-O2",)
"""Flags of a kernel that gives none: an unoptimised kernel would lose every race for no reason of its own."""


class CDeclared(Declared, total=False):
    """What a C kernel may declare besides.

    Attributes:
        args: the function's arguments in order: tensors, scalars, ``workspace``, and expressions over the call
            (``M``, ``a.stride[0]``), a `Shape` being its number of elements; None: the tensors, then the sizes in
            `forall`'s order.
        flags: compiler flags; None: `DEFAULT_FLAGS`.
        returns: ``void``, or ``status``: an int, nonzero where the kernel declines.
        workspace: bytes of scratch memory a call needs, as an expression over the call.
        libraries: libraries to link, by name (``m``).
    """

    args: Sequence[str] | None
    flags: Sequence[str] | None
    returns: Returns
    workspace: str | None
    libraries: Sequence[str] | None


class CKernel(Kernel):
    """A kernel that is a C function.

    Args:
        name: the kernel's name.
        source: a C file, relative to the file that constructs the kernel, or C code (it has a line break or a brace).
        function: the function's name.
        declared: see `CDeclared` and `Declared`.

    Raises:
        DeclarationError: something declared cannot be, or the file does not exist.
    """

    frontend: ClassVar[str] = "c"
    accepts: ClassVar[frozenset[str]] = CDeclared.__optional_keys__

    def __init__(self, name: str, source: str | Path, function: str, **declared: Unpack[CDeclared]) -> None:
        super().__init__(name, declared)
        caller = inspect.currentframe()
        caller = None if caller is None else caller.f_back
        file = None if caller is None else caller.f_globals.get("__file__")
        self.source = _source(name, source, Path.cwd() if file is None else Path(file).resolve().parent)
        self.function = function
        self.returns: Returns = declared.get("returns") or "void"
        if self.returns not in ("void", "status"):
            raise DeclarationError(name, f"returns {self.returns!r}; expected 'void' or 'status'")
        args = declared.get("args")
        self.args = None if args is None else parse_arguments(name, args)
        workspace = declared.get("workspace")
        self.workspace = None if workspace is None else parse_expr(workspace, f"{name}.workspace")
        if args is not None and (WORKSPACE in args) != (workspace is not None):
            raise DeclarationError(name, "names workspace in args or gives its size, not both", "give both or neither")
        flags = declared.get("flags")
        self.flags = DEFAULT_FLAGS if flags is None else tuple(flags)
        self.libraries = tuple(declared.get("libraries") or ())

    @property
    def features(self) -> frozenset[str]:
        """The layout and device features its choice and its launches depend on."""
        own = frozenset[str]() if self.workspace is None else self.workspace.features
        return super().features | own | guarded_features(self.args)

    def for_signature(self, signature: Signature) -> Self:
        """This kernel with its arguments settled and their names checked.

        Raises:
            DeclarationError: an argument, or what another expression reads, is no name of the signature.
        """
        kernel = super().for_signature(signature)
        kernel.args = settle_arguments(self.name, self.args, signature, scratch=self.workspace is not None)
        if self.workspace is not None:
            check_reads(self.name, self.workspace, signature)
        return kernel

    def identity(self, setting: Setting, call: Call, place: Place) -> str:
        """The digest of what is compiled and of how it is called; files are read now, nothing is compiled."""
        del place
        return self._identity(self._unit(setting, call).key())

    def build(self, setting: Setting, call: Call, place: Place) -> CProgram:
        """The compiled function, from the cache or compiled into it."""
        entrant = str(Entrant(self.name, setting))
        unit = self._unit(setting, call)
        if unit.compiler is None:
            raise BuildError(entrant, f"no C compiler: none of {', '.join(NAMES)} is on the path", REMEDY)
        try:
            with library(unit, place.folder) as (path, key):
                loaded = Library(path)
        except CompileError as failure:
            raise BuildError(entrant, f"does not compile: {failure}") from failure
        except OSError as failure:
            raise BuildError(entrant, f"compiles and does not load: {failure}") from failure
        if not loaded.has(self.function):
            raise BuildError(entrant, f"{self.source} has no function {self.function}", "is it static?")
        return CProgram(
            identity=self._identity(key),
            entrant=entrant,
            library=loaded,
            function=self.function,
            args=settled(self.name, self.args),
            declines=self.returns == "status",
            workspace=self.workspace,
        )

    def _identity(self, unit_key: str) -> str:
        args = ("unsettled",) if self.args is None else ("settled", *map(str, self.args))
        return digest([unit_key, self.function, self.returns, str(self.workspace), *args])

    def _unit(self, setting: Setting, call: Call) -> Unit:
        macros = (*_dtype_macros(self.name, call), *((name, _macro(value)) for name, value in setting.pairs))
        return Unit(self.source, find_compiler(), self.flags, macros, self.libraries)


def _source(name: str, source: str | Path, folder: Path) -> Source:
    if isinstance(source, str) and any(sign in source for sign in "\n{"):
        return Source(folder, None, source)
    path = folder / source
    if not path.is_file():
        raise DeclarationError(name, f"no C file {path}", "give a path relative to the Python file, or the code itself")
    return Source(path.parent, path)


def _macro(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else format_value(value)


def _dtype_macros(name: str, call: Call) -> list[tuple[str, str]]:
    """The macros that say the dtypes of a call: of each dtype index, and as ``ASSAY_T``.

    That is the index `T`, else the first dtype index, else the dtype of the first tensor.
    """
    for tensor, view in call.views.items():
        if view.dtype not in C_TYPES:
            raise BuildError(name, f"C has no type for {view.dtype}, the dtype of {tensor}", "refuse it in serves")
    found = {index: str(value) for index, value in call.record.indices.items() if value in C_TYPES}
    if "T" not in found:
        tensors = (view.dtype for view in call.views.values())
        first = next(iter(found.values()), None) or next(tensors, None)
        found |= {} if first is None else {"T": first}
    macros: list[tuple[str, str]] = []
    for index, dtype in found.items():
        macros += [(f"ASSAY_{index}", C_TYPES[dtype]), (f"ASSAY_{index}_NAME", dtype)]
    return macros
