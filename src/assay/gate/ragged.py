"""Which sizes near a call's own does a verdict cover? The neighbours in its power-of-two bucket.

A verdict is used for every size of the bucket, and a kernel that is right on multiples of its tile and wrong off them
is the most common wrong kernel there is.
"""

import numpy as np

_REACH = 64


def bucket(size: int) -> tuple[int, int]:
    """The smallest and the largest size that share a size's power-of-two bucket.

    Example:
        >>> bucket(256), bucket(257), bucket(1)
        ((129, 256), (257, 512), (1, 1))
    """
    if size <= 1:
        return size, size
    top = 1 << (size - 1).bit_length()
    return top // 2 + 1, top


def adjacent(size: int) -> int:
    """The size one below within the bucket, else one above; the size itself where the bucket has no other.

    Example:
        >>> adjacent(256), adjacent(129), adjacent(2)
        (255, 130, 2)
    """
    low, top = bucket(size)
    if size > low:
        return size - 1
    return min(size + 1, top)


def drawn(size: int, rng: np.random.Generator) -> int:
    """A size drawn from the bucket: odd and below this one where there is such, else a little above it.

    Sizes below are drawn because a probe must not cost more than the call.
    """
    low, top = bucket(size)
    below = range(low, size)
    choices = [near for near in below if near % 2] or list(below) or list(range(size + 1, min(top, size + _REACH) + 1))
    return int(rng.choice(choices)) if choices else size
