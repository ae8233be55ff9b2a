"""The digest of what a Python function computes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from assay.kernel import function_digest


def compiled(text: str, **names: object) -> Callable[..., object]:
    """The function `f` of a text, as a file of it would have it."""
    namespace: dict[str, Any] = dict(names)
    exec(text, namespace)  # noqa: S102  # each text stands for a version of a file
    return namespace["f"]


SAME = "def f(x):\n    return x + 1\n"


@pytest.mark.spec("M16")
@pytest.mark.parametrize(
    "text", [SAME, "\n\n" + SAME, "# said before\n" + SAME, "def f(x):\n    # one more\n    return (x + 1)\n"]
)
def test_where_and_how_code_is_written_does_not_matter(text: str) -> None:
    assert function_digest(compiled(text)) == function_digest(compiled(SAME))


@pytest.mark.spec("R5")
@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x + 2\n",
        "def f(x):\n    return x + 1.0\n",
        "def f(x):\n    return x - 1\n",
        "def f(x, y=0):\n    return x + 1\n",
        "def f(x, y=1):\n    return x + 1\n",
        "def f(*, x):\n    return x + 1\n",
        "def f(x):\n    return x.real + 1\n",
        "def f(x):\n    return (lambda: x + 1)()\n",
        "def f(x):\n    return (lambda: x + 2)()\n",
    ],
)
def test_an_edited_body_is_another(text: str) -> None:
    assert function_digest(compiled(text)) != function_digest(compiled(SAME))


@pytest.mark.spec("M16")
def test_a_helper_it_calls_is_part_of_it() -> None:
    text = "def f(x):\n    return helper(x)\n"
    one, same, other = (
        function_digest(compiled(text, helper=compiled(body))) for body in (SAME, "\n" + SAME, SAME.replace("1", "2"))
    )
    assert one == same
    assert one != other


def test_values_it_reaches_are_part_of_it() -> None:
    text = "def f(x):\n    return x * width\n"
    widths = [4, 8, 4.0, True, "4", (4,), [4], {"a": 4}, {4}, None, 1j, np.array([4]), np.array([8])]
    assert len({function_digest(compiled(text, width=width)) for width in widths}) == len(widths)
    assert function_digest(compiled(text, width=np.array([4]))) == function_digest(compiled(text, width=np.array([4])))


def test_a_name_it_never_reads_is_not_part_of_it() -> None:
    text = "def f(x):\n    return x.width\n"
    assert function_digest(compiled(text, width=4)) == function_digest(compiled(text, width=8))


def test_what_a_closure_holds_is_part_of_it() -> None:
    text = "def outer(n):\n    def inner(x):\n        return x + n\n    return inner\nf = outer({})\n"
    assert function_digest(compiled(text.format(1))) == function_digest(compiled(text.format(1)))
    assert function_digest(compiled(text.format(1))) != function_digest(compiled(text.format(2)))


def test_functions_that_call_each_other_have_a_digest() -> None:
    text = "def f(x):\n    return g(x)\ndef g(x):\n    return f(x) if x else {}\n"
    assert function_digest(compiled(text.format(0))) == function_digest(compiled(text.format(0)))
    assert function_digest(compiled(text.format(0))) != function_digest(compiled(text.format(1)))


def test_any_callable_has_a_digest() -> None:
    class Scale:
        def __init__(self, by: int) -> None:
            self.by = by

        def __call__(self, x: int) -> int:
            return self.by * x

    callables = [np.matmul, np.dot, len, partial(pow, 2), partial(pow, 3), Scale(2), Scale(3), Scale(2).__call__, Scale]
    digests = [function_digest(one) for one in callables]
    assert len(set(digests)) == len(callables)
    assert function_digest(Scale(2)) == function_digest(Scale(2))
