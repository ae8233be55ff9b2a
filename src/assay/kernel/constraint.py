"""What a combination of values must satisfy to be a setting: a closed expression, or a callable.

A constraint names what it reads (tunables, dims, parameters), so that a space can check it as soon as those are
bound. A callable's parameters are those names; one that takes ``**kwargs`` reads everything there is.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import AssayError, DeclarationError, reason_of
from assay.kernel.body import function_digest
from assay.signature import Expr, parse_expr
from assay.signature.facts import Facts


@dataclass(frozen=True, slots=True)
class Constraint:
    """One condition on a kernel's settings.

    Attributes:
        text: how it is written: the expression, or the callable's name.
        names: what it reads; None: everything there is.
        condition: the expression, or the callable taking the names.
    """

    text: str
    names: frozenset[str] | None
    condition: Expr | Callable[..., object]

    @property
    def features(self) -> frozenset[str]:
        """The layout and device features the expression reads; a callable reads none."""
        return self.condition.features if isinstance(self.condition, Expr) else frozenset()

    @property
    def identity(self) -> str:
        """What tells the condition from every other: its text, and of a callable what it computes."""
        return self.text if isinstance(self.condition, Expr) else f"{self.text} {function_digest(self.condition)}"

    def holds(self, facts: Facts) -> bool:
        """Whether the values satisfy it.

        Raises:
            DeclarationError: it reads a name that has no value here, or fails on these values.
        """
        if isinstance(self.condition, Expr):
            return self.condition.holds(facts)
        names = facts.values.keys() if self.names is None else self.names
        try:
            return bool(self.condition(**{name: facts.values[name] for name in names}))
        except AssayError:
            raise
        except Exception as failure:
            raise DeclarationError(f"constraint {self.text}", reason_of(failure)) from failure


def declare_constraint(subject: str, given: object) -> Constraint:
    """The constraint a kernel lists.

    Args:
        subject: the kernel's name, for errors.
        given: an expression as text, or a callable whose parameters are the names it reads.

    Raises:
        DeclarationError: neither, or a text that is no expression.
    """
    if isinstance(given, Constraint):
        return given
    if isinstance(given, str):
        expr = parse_expr(given, subject)
        return Constraint(given, expr.names, expr)
    if callable(given):
        parameters = inspect.signature(given).parameters.values()
        everything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        names = None if everything else frozenset(parameter.name for parameter in parameters)
        return Constraint(_callable_text(given), names, given)
    raise DeclarationError(subject, f"constraint {given!r} is neither an expression in a text nor a callable")


def _callable_text(given: Callable[..., object]) -> str:
    name = getattr(given, "__name__", type(given).__name__)
    return f"{name}({', '.join(inspect.signature(given).parameters)})"
