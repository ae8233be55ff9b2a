"""What a decision is kept under."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from assay.array import planned_view
from assay.errors import MeasureError
from assay.gate import Gate
from assay.kernel import Place, PythonKernel
from assay.signature import Call, array_like, check, describe, parse
from assay.testing.simulated import SimulatedDevice
from assay.tuning import (
    BUCKET,
    EXACT,
    Candidate,
    Declaration,
    answer_key,
    checksum,
    exact_shape,
    region,
    shape_text,
)

SIGNATURE = parse(
    "forall B: Shape; M, N: Dim; T: DType[float32 | float64]. (x: T[*B, M, N], w?: T[N], eps: Float) -> (y: T[M])"
)
PLACE = Place(Path("nowhere"))


def body(x: object, w: object, eps: float) -> None:
    """A reference's body."""
    del x, w, eps


def other_body(x: object, w: object, eps: float) -> None:
    """Another body."""
    del x, w
    str(eps)


def first(x: object, w: object, eps: float, *, y: object, tile: int = 1) -> None:
    """A kernel's body."""
    del x, w, eps, y, tile


def second(x: object, w: object, eps: float, *, y: object, tile: int = 2) -> None:
    """Another kernel's body."""
    del x, w, eps
    str((y, tile))


def declared(
    function: Callable[..., object] = first,
    *,
    serves: str | None = None,
    tiles: tuple[int, ...] = (1, 2),
    constraint: str = "tile >= 1",
    reference: Callable[..., object] = body,
    gate: Gate | None = None,
) -> Declaration:
    """A declaration with one kernel."""
    kernel = PythonKernel(function, "k", tunables={"tile": tiles}, serves=serves, constraints=[constraint])
    candidates = (Candidate(kernel.for_signature(SIGNATURE)),)
    return Declaration("norm", SIGNATURE, reference, gate or Gate(), candidates)


def call(**changes: object) -> Call:
    """A call, with some of its shape changed."""
    return describe(SIGNATURE, "norm", {"B": (2, 3), "M": 100, "N": 64, "T": "float32", "eps": 0.5, **changes})


def test_a_shape_is_written_in_the_signatures_order_with_scalars_and_present_options() -> None:
    assert shape_text(exact_shape(declared(), call())) == "B=2x3,M=100,N=64,T=float32,eps=0.5"
    present = exact_shape(declared(), call(w=True))
    assert shape_text(present) == "B=2x3,M=100,N=64,T=float32,eps=0.5,w=true"
    assert exact_shape(declared(), describe(SIGNATURE, "norm", present)) == present


@pytest.mark.spec("A13")
def test_device_mode_sizes_dtype_presence_scalars_and_layout_each_split_keys() -> None:
    reading = declared(serves="x.contiguous")

    def key(declaration: Declaration, of: Call, device: SimulatedDevice) -> str:
        return str(answer_key(declaration, of, device, level=BUCKET))

    keys = [
        key(reading, call(), SimulatedDevice()),
        key(reading, call(), SimulatedDevice(seed=1)),
        key(reading, call(), SimulatedDevice(mode="performance")),
        key(reading, call(M=129), SimulatedDevice()),
        key(reading, call(B=(2, 5)), SimulatedDevice()),
        key(reading, call(T="float64"), SimulatedDevice()),
        key(reading, call(w=True), SimulatedDevice()),
        key(reading, call(eps=0.25), SimulatedDevice()),
        key(declared(), call(), SimulatedDevice()),  # nothing reads the layout
    ]
    assert len(set(keys)) == len(keys)
    assert key(reading, call(M=101), SimulatedDevice()) == keys[0]  # the same bucket, 65 to 128


@pytest.mark.spec("A13")
def test_the_exact_key_tells_neighbours_apart_that_share_a_bucket() -> None:
    device = SimulatedDevice()
    one, other = (answer_key(declared(), call(M=size), device, level=EXACT) for size in (100, 101))
    assert one != other


@pytest.mark.spec("A20")
def test_an_unidentified_device_has_no_key() -> None:
    with pytest.raises(MeasureError, match="nothing is kept for it"):
        answer_key(declared(), call(), SimulatedDevice(identified=False), level=EXACT)


@pytest.mark.spec("R5")
def test_the_checksum_follows_code_domains_constraints_and_what_is_served() -> None:
    sums = [
        checksum(declaration, call(), PLACE)
        for declaration in (
            declared(),
            declared(second),
            declared(tiles=(1, 2, 4)),
            declared(constraint="tile >= 2"),
            declared(serves="M > 1"),
        )
    ]
    assert len(set(sums)) == len(sums)
    assert checksum(declared(), call(), PLACE) == sums[0]


@pytest.mark.spec("A10")
def test_a_verdict_holds_for_the_bucket_and_for_what_judged_it() -> None:
    device = SimulatedDevice()

    def of(declaration: Declaration, made: Call) -> str:
        return region(declaration, declaration.candidates[0], made, device)

    own = of(declared(), call())
    assert of(declared(), call(M=101)) == own
    assert own not in {
        of(declared(), call(M=129)),
        of(declared(reference=other_body), call()),
        of(declared(gate=Gate(rtol=1e-3)), call()),
    }


@pytest.mark.spec("A10", "X13")
def test_a_verdict_holds_for_arrays_that_lie_alike_and_for_any_float_scalar() -> None:
    def of(x: "npt.NDArray[np.float32]", eps: float = 0.5) -> str:
        made = check(SIGNATURE, "norm", {"x": x, "eps": eps}, params={})
        return region(declared(), declared().candidates[0], made, SimulatedDevice())

    def allocated(shape: tuple[int, ...]) -> "npt.NDArray[np.float32]":
        return array_like(planned_view(shape, "float32"))

    own = of(allocated((2, 3, 100, 64)))
    assert own == of(allocated((2, 3, 101, 64)))
    assert own == of(allocated((2, 3, 100, 64)), eps=0.25)
    room = allocated((2, 3, 128, 128))
    apart = (room[:, :, :100, :64], room[:, :, :100, 127:63:-1], room[..., :64, :100].swapaxes(-1, -2))
    laid = [own, *(of(view) for view in apart)]
    assert len(set(laid)) == len(laid)
    assert laid[1] == of(room[:, :, :101, :64])
