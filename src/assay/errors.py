"""The errors assay raises, as one tree.

    AssayError
    ├── SignatureError (ValueError)     a signature's text cannot be parsed or satisfied
    ├── CallError (ValueError)          a call breaks its op's declaration
    ├── DeclarationError (ValueError)   an op, kernel, tunable or gate is declared wrongly
    │   └── SpaceError                  a space of settings is empty
    ├── TargetError (ValueError)        a target, op, shape or option that was named does not exist
    ├── NoCallError (RuntimeError)      `last_call` before any call completed
    ├── NoKernelError (RuntimeError)    nothing serves a call and the op has no reference
    ├── BuildError (RuntimeError)       a kernel does not build
    ├── MeasureError (RuntimeError)     the device is gone, or a protocol cannot be followed
    ├── TuneError (RuntimeError)        no entrant of a tune survived
    ├── DispatchError (RuntimeError)    strict mode: a call degraded or failed
    └── StoreError (RuntimeError)       a store cannot be opened, read or written
        └── ProfileError (ValueError)   a profile cannot be read, or contradicts itself

A caller's mistake or a lost device raises one of these; a refused entrant is a value, kept with its reason.
"""


class AssayError(Exception):
    """An error assay raises on purpose.

    Args:
        subject: what the error is about, as the user names it (``gemm``, ``rounds=0``).
        said: what was expected and what was seen, with units.
        remedy: what to do about it; empty where there is nothing to suggest.
    """

    def __init__(self, subject: str, said: str, remedy: str = "") -> None:
        self.subject = subject
        self.said = said
        self.remedy = remedy
        super().__init__(subject, said, remedy)

    def __str__(self) -> str:
        sentence = f"{self.subject}: {self.said}" if self.subject else self.said
        return f"{sentence}; {self.remedy}" if self.remedy else sentence


class SignatureError(AssayError, ValueError):
    """A signature's text cannot be parsed, or no call could ever satisfy it."""


class CallError(AssayError, ValueError):
    """A call breaks its op's declaration; nothing was loaded, allocated or run."""


class DeclarationError(AssayError, ValueError):
    """An op, kernel, tunable, expression or gate is declared wrongly."""


class SpaceError(DeclarationError):
    """A space of settings is empty; the message names the constraint that emptied it."""


class TargetError(AssayError, ValueError):
    """Something named on the command line or to `assay.tune` does not exist or cannot be read."""


class NoCallError(AssayError, RuntimeError):
    """`last_call`, or what is derived from it, was asked for before any call completed."""


class NoKernelError(AssayError, RuntimeError):
    """No kernel serves a call and the op has no reference to answer it."""


class BuildError(AssayError, RuntimeError):
    """A kernel does not build; `said` carries the compiler's message."""


class MeasureError(AssayError, RuntimeError):
    """A device was lost, or a protocol's numbers cannot be followed."""


class TuneError(AssayError, RuntimeError):
    """Every entrant of a tune was refused or failed; the message gives each reason."""


class DispatchError(AssayError, RuntimeError):
    """In strict mode, a call was answered by the reference although a kernel was selected, or failed."""


class StoreError(AssayError, RuntimeError):
    """A store cannot be opened, read or written."""


class ProfileError(StoreError, ValueError):
    """A profile cannot be read, or two of its entries of equal rank disagree."""


def reason_of(failure: BaseException) -> str:
    """What was raised, in words, also where its message cannot be had.

    >>> reason_of(ValueError("tile is 0"))
    'raised ValueError: tile is 0'
    """
    name = type(failure).__name__
    try:
        text = str(failure)
    except Exception as unprintable:  # noqa: BLE001 (its name is the reason that is kept)
        return f"raised {name}, whose message raised {type(unprintable).__name__}"
    return f"raised {name}: {text}" if text else f"raised {name}"
