"""The matrix product as it is declared: its reference, gate, and what its kernels claim. Nothing is compiled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.gate import Admitted, Refused
from assay.kernel import Entrant, Kernel, Place
from assay.kernel.setting import Setting
from assay.ops import Op
from assay.signature import flops
from assay.tuning import Shop
from assay.zoo import gemm
from assay.zoo.gemm import SHAPES

Array = np.ndarray[Any, np.dtype[Any]]


def kernel(name: str) -> Kernel:
    found = gemm.declaration.candidate(name)
    assert found is not None
    return found.kernel


def verdict(op: Op, entrant: str, shape: dict[str, object], folder: Path) -> object:
    shop = Shop(op.declaration, op.describe(shape), device={}, place=Place(folder))
    return shop.judge(Entrant(entrant, Setting.of(())))


def test_the_product_of_two_small_matrices_is_the_one_worked_out_by_hand() -> None:
    # [1 2] [5 6]   [1*5 + 2*7  1*6 + 2*8]
    # [3 4] [7 8] = [3*5 + 4*7  3*6 + 4*8]
    product = gemm(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]]))
    assert np.array_equal(np.asarray(product), [[19.0, 22.0], [43.0, 50.0]])


@pytest.mark.spec("A7")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_vendors_blas_passes_the_shipped_gate(dtype: str, tmp_path: Path) -> None:
    assert isinstance(verdict(gemm, "numpy", {"M": 65, "N": 130, "K": 700, "T": dtype}, tmp_path), Admitted)


def test_a_product_of_rounded_inputs_does_not_pass_the_shipped_gate(tmp_path: Path) -> None:
    op = Op(gemm.declaration)

    @op.kernel(name="rounded")
    def _(a: Array, b: Array, *, c: Array) -> None:
        # 16 bits of mantissa, as a kernel that splits float32 in two bfloat16 halves keeps: 2**-17 relative.
        bits = (a.view(np.uint32) + np.uint32(64)) & np.uint32(0xFFFFFF80)
        np.matmul(bits.view(np.float32), b, out=c)

    refused = verdict(op, "rounded", {"M": 8, "N": 8, "K": 2, "T": "float32"}, tmp_path)
    assert isinstance(refused, Refused)
    assert refused.output == "c"


def test_before_measuring_the_vendors_blas_runs() -> None:
    shape = {"M": 4, "N": 96, "K": 32, "T": "float32"}
    assert gemm.explain_shape(shape).entrant == Entrant("numpy", Setting.of(()))


def test_skinny_serves_up_to_sixteen_rows_and_says_why_not_more() -> None:
    sixteen, seventeen = (gemm.describe({"M": rows, "N": 9, "K": 9, "T": "float32"}).facts({}) for rows in (16, 17))
    assert kernel("skinny").refusal(sixteen) is None
    reason = kernel("skinny").refusal(seventeen)
    assert reason is not None
    assert "M is 17" in reason


@pytest.mark.parametrize("name", ["numba", "tiled", "skinny"])
def test_a_kernel_that_takes_bare_pointers_or_sizes_serves_contiguous_arrays_only(name: str) -> None:
    a, b = np.ones((4, 6), np.float32), np.ones((6, 8), np.float32)
    assert kernel(name).refusal(gemm.pathway.check_arguments((a, b), {}).facts({})) is None
    turned = np.ones((8, 6), np.float32).T
    reason = kernel(name).refusal(gemm.pathway.check_arguments((a, turned), {}).facts({}))
    assert reason is not None
    assert "b.contiguous" in reason


def test_the_tiled_kernels_space_is_past_what_is_tried_exhaustively() -> None:
    facts = gemm.describe(SHAPES[0]).facts({})
    space = kernel("tiled").space(facts)
    # Of MR in 4, 6, 8, 12 and NV in 2, 3: 4*2 is below 12 sums; 12*3 + 3 + 1 is past 32 registers. 6 pairs are left,
    # each with 3 depths, packed or not.
    assert len(list(space)) == 6 * 3 * 2
    assert kernel("tiled").default in space


def test_each_of_the_shapes_to_tune_is_a_call_of_the_op_with_the_work_its_comment_implies() -> None:
    formula = gemm.declaration.flops
    assert formula is not None
    work = [flops(formula, gemm.describe(shape), "gemm") for shape in gemm.shapes]
    # 2*128*1536*384, 2*1536*576, 2*5*1536*384, 2*197*197*64
    assert work == [150_994_944, 1_769_472, 5_898_240, 4_967_552]
