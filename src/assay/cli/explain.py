"""`assay explain OP SHAPE`: which kernel runs a shape here, from where, and why."""

from assay.cli.home import HOME
from assay.cli.screen import open_screen
from assay.job import read_shape, resolve_one


def run_explain(op: str, shape: str, *, as_json: bool) -> int:
    """Shows the explanation; the exit code.

    Raises:
        AssayError: there is no such op, or the shape is not one of its.
    """
    with open_screen(as_json=as_json) as screen:
        explanation = resolve_one(op, home=HOME).explain_shape(read_shape(shape))
        screen.hand_over(explanation.as_dict())
        if not screen.wants_document:
            screen.say(str(explanation))
    return 0
