"""How a probe's arrays lie: as the caller's do, or otherwise, for kernels that claim other layouts.

A layout is a view's strides, in elements; nothing here touches memory.
"""

from assay.array import ArrayView


def strides_like(view: ArrayView, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, that arrange another shape as a view is arranged: order of axes, gaps, directions.

    Args:
        view: the arrangement.
        shape: sizes, as many as the view has.

    Example:
        >>> rows_of_eight = ArrayView((4, 6), (8, 1), "float32", 4, "cpu", 0)
        >>> strides_like(rows_of_eight, (3, 5))
        (7, 1)
    """
    if shape == view.shape:
        return view.strides
    strides = [0] * len(shape)
    reach, old_reach = 1, 1
    for axis in sorted(range(len(shape)), key=lambda axis: (abs(view.strides[axis]), -axis)):
        old = abs(view.strides[axis])
        if old == 0 and view.shape[axis] > 1:
            continue
        gap = max(old - old_reach, 0) if view.shape[axis] > 1 else 0
        step = reach + gap
        strides[axis] = -step if view.strides[axis] < 0 else step
        reach = step * max(shape[axis], 1)
        old_reach = max(old, old_reach) * max(view.shape[axis], 1)
    return tuple(strides)


def padded(view: ArrayView) -> ArrayView:
    """The view with eight unused elements after each row; one without rows as it is."""
    return _stretched(view, 1, 8) if len(view.shape) > 1 else view


def strided(view: ArrayView) -> ArrayView:
    """The view with every other element of the last axis; one without axes as it is."""
    return _stretched(view, 2, 0) if view.shape else view


def transposed(view: ArrayView) -> ArrayView:
    """The view with its first axis running fastest."""
    strides = [1] * len(view.shape)
    for axis in range(1, len(view.shape)):
        strides[axis] = strides[axis - 1] * max(view.shape[axis - 1], 1)
    return rearranged(view, tuple(strides), view.pointer)


def backwards(view: ArrayView) -> ArrayView:
    """The view with every axis running the other way."""
    return rearranged(view, tuple(-stride for stride in view.strides), view.pointer)


def offset(view: ArrayView) -> ArrayView:
    """The view at an address that is a multiple of its element and of nothing more."""
    return rearranged(view, view.strides, view.itemsize)


def rearranged(view: ArrayView, strides: tuple[int, ...], pointer: int) -> ArrayView:
    """The view with other strides (in elements) and another pointer."""
    return ArrayView(view.shape, strides, view.dtype, view.itemsize, view.device, pointer)


def _stretched(view: ArrayView, inner: int, pad: int) -> ArrayView:
    strides: list[int] = []
    step = inner
    for axis, extent in enumerate(reversed(view.shape)):
        strides.append(step)
        step = step * max(extent, 1) + (pad if axis == 0 else 0)
    return rearranged(view, tuple(reversed(strides)), view.pointer)
