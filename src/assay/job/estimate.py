"""How long is left? Guessed from what was done so far, in this run alone.

A shape costs about what the shapes before it cost, and within a shape an entrant about what those before it cost.
Nothing is guessed before something was done.
"""

from collections.abc import Sequence


def time_left_s(
    ended_s: Sequence[float], elapsed_s: float, *, timed: int, to_go: int, shapes_left: int
) -> float | None:
    """The seconds left of a run; None while nothing was done that a guess could rest on.

    Args:
        ended_s: what each shape that ended took, seconds.
        elapsed_s: what the present shape took so far, seconds.
        timed: entrants of the present shape that are done.
        to_go: entrants of the present shape known to be left.
        shapes_left: shapes after the present one.

    With 8 of 10 entrants done in 4 s, 1 s of this shape is left, and each of the 2 after it takes 5 s:

    >>> time_left_s([], 4.0, timed=8, to_go=2, shapes_left=2)
    11.0
    """
    mean_s = sum(ended_s) / len(ended_s) if ended_s else None
    if timed:
        here_s = elapsed_s / timed * to_go
    elif mean_s is not None:
        here_s = max(0.0, mean_s - elapsed_s)
    else:
        return None
    each_s = (sum(ended_s) + elapsed_s + here_s) / (len(ended_s) + 1)
    return here_s + each_s * shapes_left
