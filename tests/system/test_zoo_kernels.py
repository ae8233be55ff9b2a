"""The zoo's compiled kernels, really compiled: right at every value of their tunables, inside their arrays, steady."""

import ctypes
import mmap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.gate import Admitted
from assay.kernel import Entrant, Place, Value
from assay.ops import Op
from assay.signature import Call
from assay.tuning import Shop
from assay.worker import Channel, Done, Fault, Limits, Worker
from assay.zoo import gemm, softmax

Array = np.ndarray[Any, np.dtype[Any]]
Shape = dict[str, object]

TILED: Sequence[Mapping[str, Value]] = (
    {"MR": 4, "NV": 3, "KC": 128, "PACK": 1},
    {"MR": 6, "NV": 2, "KC": 256, "PACK": 0},
    {"MR": 8, "NV": 2, "KC": 512, "PACK": 1},
    {"MR": 12, "NV": 2, "KC": 128, "PACK": 0},
)
SKINNY: Sequence[Mapping[str, Value]] = (
    {"UNROLL": 2, "STRIP": 1024},
    {"UNROLL": 4, "STRIP": 4096},
    {"UNROLL": 8, "STRIP": 1024},
)
ROWS: Sequence[Mapping[str, Value]] = (
    {"ROWS": 1, "UNROLL": 4, "WIDTH": 16},
    {"ROWS": 2, "UNROLL": 1, "WIDTH": 32},
    {"ROWS": 4, "UNROLL": 2, "WIDTH": 64},
)
BLOCKED: Sequence[Mapping[str, Value]] = ({"DEPTH": 32, "STRIP": 1024}, {"DEPTH": 128, "STRIP": 256})
LANES: Sequence[Mapping[str, Value]] = ({"LANES": 4}, {"LANES": 16}, {"LANES": 64})

PROT_NONE = 0  # POSIX leaves its value open; it is 0 on Linux and macOS, and Python does not name it

SETTINGS: Sequence[tuple[Op, str, Sequence[Mapping[str, Value]]]] = (
    (gemm, "tiled", TILED),
    (gemm, "skinny", SKINNY),
    (gemm, "numba", BLOCKED),
    (softmax, "rows", ROWS),
    (softmax, "numba", LANES),
)
ENTRANTS = [
    *((op, name, setting, "float32") for op, name, chosen in SETTINGS for setting in chosen),
    *((op, name, chosen[-1], "float64") for op, name, chosen in SETTINGS),
]

GEMM_ODD = ({"M": 13, "N": 1100, "K": 530}, {"M": 1, "N": 3, "K": 7})
SOFTMAX_ODD = ({"B": (3, 5), "N": 131}, {"B": (7,), "N": 3})


@pytest.fixture
def place(compiled_kernels: Path) -> Place:
    return Place(compiled_kernels)


def launcher(op: Op, name: str, setting: Mapping[str, Value], call: Call, place: Place) -> Callable[..., object]:
    candidate = op.declaration.candidate(name)
    assert candidate is not None
    return candidate.kernel.build(candidate.kernel.setting(setting), call, place).launcher(call)


def odd_shapes(op: Op, dtype: str) -> list[Shape]:
    return [{**sizes, "T": dtype} for sizes in (GEMM_ODD if op.name == "gemm" else SOFTMAX_ODD)]


@pytest.mark.parametrize(("op", "name", "chosen"), SETTINGS)
def test_the_settings_tried_here_hold_every_value_of_every_tunable(
    op: Op, name: str, chosen: Sequence[Mapping[str, Value]]
) -> None:
    candidate = op.declaration.candidate(name)
    assert candidate is not None
    tried = {tunable: {setting[tunable] for setting in chosen} for tunable in candidate.kernel.tunables}
    assert tried == {tunable: set(domain.values) for tunable, domain in candidate.kernel.tunables.items()}


@pytest.mark.parametrize(("op", "name", "setting", "dtype"), ENTRANTS)
def test_every_kernel_passes_its_ops_gate_on_odd_shapes(
    op: Op, name: str, setting: Mapping[str, Value], dtype: str, place: Place
) -> None:
    candidate = op.declaration.candidate(name)
    assert candidate is not None
    entrant = Entrant(name, candidate.kernel.setting(setting))
    for shape in odd_shapes(op, dtype):
        verdict = Shop(op.declaration, op.describe(shape), device={}, place=place).judge(entrant)
        assert isinstance(verdict, Admitted), verdict


def fenced(shape: tuple[int, ...], dtype: str, *, at_the_end: bool) -> Array:
    """An array that ends (or begins) where memory no one may touch begins (or ends)."""
    page = mmap.PAGESIZE
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    inside = -(-size // page) * page
    memory = mmap.mmap(-1, inside + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    for fence in (start, start + page + inside):
        assert libc.mprotect(ctypes.c_void_p(fence), page, PROT_NONE) == 0
    return np.ndarray(shape, dtype, memory, page + (inside - size if at_the_end else 0))


def run_fenced(op: Op, name: str, setting: Mapping[str, Value], shape: Shape, place: Place) -> float:
    """The greatest relative error of a run on fenced arrays, over both ways to fence them."""
    call = op.describe(shape)
    launch = launcher(op, name, setting, call, place)
    worst = 0.0
    for at_the_end in (False, True):
        arrays = [fenced(view.shape, view.dtype, at_the_end=at_the_end) for view in call.views.values()]
        for array in arrays:
            array[...] = np.random.default_rng(0).random(array.shape)
        inputs = arrays[: len(call.inputs)]
        launch(*arrays)
        body = op.declaration.reference
        assert body is not None
        right = np.asarray(body(*(array.astype(np.float64) for array in inputs)))
        worst = max(worst, float(np.max(np.abs(arrays[-1] - right) / right)))
    return worst


@pytest.mark.parametrize(("op", "name", "chosen"), [one for one in SETTINGS if one[1] != "numba"])
def test_no_kernel_in_c_touches_memory_outside_its_arrays(
    op: Op, name: str, chosen: Sequence[Mapping[str, Value]], place: Place
) -> None:
    def read_past_the_end(channel: Channel) -> int:
        array = fenced((3,), "float32", at_the_end=True)
        return ctypes.c_char.from_address(array.ctypes.data + array.nbytes).value[0]

    def all_settings(channel: Channel) -> float:
        channel.step("call", 60.0)
        shapes = odd_shapes(op, "float32")
        return max(run_fenced(op, name, setting, shape, place) for setting in chosen for shape in shapes)

    with Worker(Limits()) as worker:
        assert isinstance(worker.run(read_past_the_end), Fault)  # the fence holds
        outcome = worker.run(all_settings)
    assert isinstance(outcome, Done), outcome
    assert outcome.value < 1e-5


@pytest.mark.parametrize(
    ("name", "setting"), [("rows", {}), ("rows", {"ROWS": 4, "UNROLL": 2, "WIDTH": 64}), ("numba", {})]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [3, 37])
def test_softmax_gives_nan_and_zero_where_numpy_does(
    name: str, setting: Mapping[str, Value], dtype: str, size: int, place: Place
) -> None:
    inf, nan = np.inf, np.nan
    x = np.random.default_rng(0).standard_normal((9, size)).astype(dtype)
    for row, values in enumerate(([], [nan], [inf], [-inf], [inf, -inf], [nan, inf], [-3e38, 3e38])):
        x[row, size - len(values) :] = values
    x[7], x[8] = -inf, nan
    body = softmax.declaration.reference
    assert body is not None
    right, seen = np.asarray(body(x)), np.empty_like(x)
    assert [bool(np.isnan(row).all()) for row in right] == [row in {1, 2, 4, 5, 7, 8} for row in range(9)]
    launcher(softmax, name, setting, softmax.describe({"B": (9,), "N": size, "T": dtype}), place)(x, seen)
    assert np.array_equal(np.isnan(seen), np.isnan(right))
    assert np.array_equal(seen == 0, right == 0)


@pytest.mark.parametrize("setting", ROWS)
def test_a_row_comes_out_the_same_wherever_it_lies(setting: Mapping[str, Value], place: Place) -> None:
    row = np.random.default_rng(0).standard_normal(77).astype(np.float32)
    launch = launcher(softmax, "rows", setting, softmax.describe({"B": (7,), "N": 77, "T": "float32"}), place)
    answers: set[bytes] = set()
    for offset in (0, 1, 5):
        x, y = (np.empty(7 * 77 + 5, np.float32)[offset : offset + 7 * 77].reshape(7, 77) for _ in range(2))
        x[:] = row
        launch(x, y)
        answers |= {one.tobytes() for one in y}
    assert len(answers) == 1


@pytest.mark.parametrize(("name", "setting"), [("tiled", TILED[0]), ("tiled", TILED[1]), ("skinny", SKINNY[0])])
def test_a_long_sum_keeps_its_error_within_the_gate(name: str, setting: Mapping[str, Value], place: Place) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((1, 60_000), np.float32), rng.random((60_000, 20), np.float32)
    right = a.astype(np.float64) @ b.astype(np.float64)  # of positive values, so that this is the magnitude as well

    plain = np.cumsum(a[0, :, None] * b, axis=0, dtype=np.float32)[-1]
    assert np.max(np.abs(plain - right) / right) > 2e-6  # one sum from end to end does not

    c = np.empty((1, 20), np.float32)
    launcher(gemm, name, setting, gemm.describe({"M": 1, "N": 20, "K": 60_000, "T": "float32"}), place)(a, b, c)
    assert np.max(np.abs(c - right) / right) < 2e-6


@pytest.mark.parametrize(("name", "setting"), [("tiled", {}), ("skinny", {}), ("numba", {})])
def test_a_product_over_nothing_is_all_zeros(name: str, setting: Mapping[str, Value], place: Place) -> None:
    a, b, c = np.empty((3, 0), np.float32), np.empty((0, 5), np.float32), np.full((3, 5), np.nan, np.float32)
    launcher(gemm, name, setting, gemm.describe({"M": 3, "N": 5, "K": 0, "T": "float32"}), place)(a, b, c)
    assert np.array_equal(c, np.zeros((3, 5)))


def test_without_a_c_compiler_the_next_kernel_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = {"B": (2,), "N": 7, "T": "float32"}
    op = Op(softmax.declaration)
    wanted = op.explain_shape(shape).entrant
    assert wanted is not None
    assert wanted.kernel == "rows"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    x = np.random.default_rng(0).standard_normal((2, 7)).astype(np.float32)
    assert np.asarray(op(x)).sum(axis=-1) == pytest.approx(np.ones(2), rel=1e-6)
    assert [built.kernel.name for built in op.iter_kernels()] == ["numpy"]
