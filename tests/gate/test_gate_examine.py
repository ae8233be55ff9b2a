"""Is an entrant right? Right ones pass; each way of being wrong is caught and named."""

from typing import cast

import numpy as np
import pytest
from gate_examined import (
    GEMM,
    MAX,
    SCALE_,
    Array,
    Kernel,
    probes_of,
    product,
    refused,
    row_max,
    runner,
    usual,
    vendor,
    vendor_max,
    verdict,
)
from numpy.lib.stride_tricks import as_strided

from assay.gate import (
    Admitted,
    Declined,
    Gate,
    Oracle,
    Recipe,
    Refused,
    examine,
    make_probes,
)
from assay.signature import Call, describe, parse
from assay.testing import wrong


@pytest.mark.spec("A6", "A7")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(256, 256, 256), (1, 768, 768), (33, 77, 4096), (5, 1, 3), (1, 1, 1)])
def test_the_vendors_own_product_passes_the_default_gate(dtype: str, sizes: tuple[int, int, int]) -> None:
    shape = dict(zip("MNK", sizes, strict=True)) | {"T": dtype}
    found = verdict(wrong.honest(vendor), shape=shape)
    assert isinstance(found, Admitted), found
    assert {"shape", "nan", "infinite", "large"} <= set(found.probes)
    assert not found.declined


@pytest.mark.spec("A7")
def test_a_gate_relative_to_the_result_would_refuse_the_vendors_product() -> None:
    shape = {"M": 256, "N": 256, "K": 256, "T": "float32"}
    found = refused(verdict(wrong.honest(vendor), shape=shape, gate=Gate(scale="reference")))
    assert "reference" in found.reason
    assert found.output == "c"


@pytest.mark.spec("A7")
def test_an_error_just_past_the_tolerance_is_refused_and_one_inside_it_is_not() -> None:
    gate = Gate(rtol=1e-3, scale="reference")
    assert isinstance(verdict(wrong.imprecise(vendor, 0.9e-3), gate=gate, shape={"M": 4, "N": 4, "K": 1}), Admitted)
    assert isinstance(verdict(wrong.imprecise(vendor, 1.1e-3), gate=gate, shape={"M": 4, "N": 4, "K": 1}), Refused)


@pytest.mark.spec("A11")
def test_a_half_written_output_is_refused_although_anothers_result_lay_there() -> None:
    kernel = wrong.half_written(vendor)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    shared = a @ b
    kernel(a, b, c=shared)
    assert np.array_equal(shared, a @ b)
    found = refused(verdict(kernel))
    assert (found.probe, found.output, found.index) == ("shape", "c", (16, 0))
    assert "did not write 256 of 512 elements of c" in found.reason


@pytest.mark.spec("A11")
def test_a_kernel_that_adds_to_its_output_is_refused() -> None:
    kernel = wrong.adding(vendor)
    assert usual(kernel)
    assert "c[0, 0] is nan, reference" in refused(verdict(kernel)).reason


@pytest.mark.spec("A11")
def test_a_write_one_element_past_the_end_is_refused() -> None:
    found = refused(verdict(wrong.overrunning(vendor)))
    assert (found.probe, found.output) == ("shape", "c")
    assert "wrote outside c" in found.reason


@pytest.mark.spec("A11")
def test_a_read_one_element_past_the_end_that_matters_is_refused() -> None:
    assert refused(verdict(wrong.reading_past(vendor))).index == (0, 0)


@pytest.mark.spec("A11")
def test_an_input_that_is_changed_and_not_declared_mutated_is_refused() -> None:
    kernel = wrong.changing_input(vendor)
    assert usual(kernel)
    found = refused(verdict(kernel))
    assert (found.output, found.index) == ("a", (0, 0))
    assert "changed input a" in found.reason


@pytest.mark.spec("A11")
def test_results_that_differ_in_the_last_place_from_run_to_run_are_refused() -> None:
    kernel = wrong.unsteady(vendor)
    assert usual(kernel)
    found = refused(verdict(kernel))
    assert found.index == (0, 0)
    assert "in one run and" in found.reason


@pytest.mark.spec("A11")
def test_right_the_first_time_and_wrong_the_second_is_refused() -> None:
    assert usual(wrong.right_once(vendor))
    found = refused(verdict(wrong.right_once(vendor)))
    assert ", reference " in found.reason
    assert "(512 of 512 elements wrong)" in found.reason


@pytest.mark.spec("A6")
def test_right_on_whole_tiles_and_wrong_off_them_is_refused_on_a_ragged_probe() -> None:
    kernel = wrong.wrong_off_multiples(vendor)
    assert usual(kernel)
    found = refused(verdict(kernel))
    assert found.probe == "ragged 1"
    assert "M=31" in found.reason


@pytest.mark.spec("A6")
def test_wrong_along_one_ragged_dimension_is_caught_where_the_others_must_be_whole() -> None:
    kernel = wrong.wrong_off_multiples(vendor)

    def refusal(call: Call) -> str | None:
        return "M % 16 == 0: M is odd" if cast("int", call.record.indices["M"]) % 16 else None

    probes = probes_of(GEMM, {"M": 32, "N": 16, "K": 8})
    found = refused(examine(probes, Oracle(product), runner(kernel), Gate(), label="k", refusal=refusal))
    assert found.probe == "ragged N"


@pytest.mark.spec("A6")
def test_right_for_ordinary_values_and_wrong_for_large_ones_is_refused() -> None:
    kernel = wrong.wrong_when_large(vendor)
    assert usual(kernel)
    assert refused(verdict(kernel)).probe == "large"


@pytest.mark.spec("A6", "M23")
@pytest.mark.parametrize(("body", "right", "signature"), [(product, vendor, GEMM), (row_max, vendor_max, MAX)])
def test_a_nan_that_is_swallowed_is_refused_unless_the_op_is_for_finite_values(
    body: Kernel, right: Kernel, signature: str
) -> None:
    kernel = wrong.nan_swallowing(right)
    shape = {"M": 32, "N": 16, "K": 8} if signature == GEMM else {"M": 32, "N": 16}
    found = refused(verdict(kernel, body, signature, shape))
    assert found.probe == "nan"
    assert "reference nan" in found.reason
    finite = verdict(kernel, body, signature, shape, recipe=Recipe(finite_only=True))
    assert isinstance(finite, Admitted)
    assert "nan" not in finite.probes


@pytest.mark.spec("A6")
def test_a_kernel_that_assumes_contiguous_inputs_is_refused_where_it_claims_others() -> None:
    def by_memory(a: Array, b: Array, *, c: Array) -> None:
        flat = as_strided(a, a.shape, (a.shape[1] * a.itemsize, a.itemsize))
        c[...] = flat @ b

    def refusal(call: Call) -> str | None:
        return None if call.views["a"].contiguous else "a.contiguous"

    assert refused(verdict(by_memory)).probe == "padded"
    probes = probes_of(GEMM, {"M": 32, "N": 16, "K": 8})
    found = examine(probes, Oracle(product), runner(by_memory), Gate(), label="k", refusal=refusal)
    assert isinstance(found, Admitted)
    assert "padded: not served: a.contiguous" in found.notes


@pytest.mark.spec("A6")
def test_probes_lie_as_the_callers_arrays_do() -> None:
    seen: list[tuple[tuple[int, ...], bool]] = []

    def looking(a: Array, b: Array, *, c: Array) -> None:
        seen.append((a.shape, a.flags.f_contiguous and not a.flags.c_contiguous))
        c[...] = a @ b

    parsed = parse(GEMM)
    call = describe(parsed, "gemm", {"M": 32, "N": 16, "K": 8, "T": "float32"})
    views = {**call.views}
    plain = views["a"]
    views["a"] = type(plain)(plain.shape, (1, 32), plain.dtype, plain.itemsize, plain.device, 64)
    own = Call(call.record, call.inputs, call.outputs, views, call.scalars, call.params)
    found = examine(make_probes(parsed, "gemm", own, seed=1), Oracle(product), runner(looking), Gate(), label="k")
    assert isinstance(found, Admitted)
    assert ((32, 8), True) in seen
    assert ((31, 7), True) in seen


@pytest.mark.spec("A8")
def test_declining_the_calls_own_shape_is_not_passing() -> None:
    found = verdict(wrong.declining(vendor))
    assert found == Declined("gemm.k[tile=4]", "shape", "declined")
    assert str(found) == "gemm.k[tile=4]: declined; not timed"


@pytest.mark.spec("A8")
def test_declining_another_probe_leaves_the_own_shape_admitted_and_is_told() -> None:
    def off_tiles(a: Array, b: Array) -> bool:
        return a.shape[0] % 16 != 0

    found = verdict(wrong.declining(vendor, off_tiles))
    assert isinstance(found, Admitted)
    assert "ragged 1" not in found.probes
    assert [handed.probe for handed in found.declined] == ["ragged 1", "ragged 2", "ragged M"]


@pytest.mark.spec("A8")
def test_running_the_reference_itself_is_declining() -> None:
    def handing_over(a: Array, b: Array, *, c: Array) -> None:
        c[...] = product(a, b)

    def own_work(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    assert verdict(handing_over) == Declined("gemm.k[tile=4]", "shape", "ran the reference itself")
    assert isinstance(verdict(own_work), Admitted)


@pytest.mark.spec("A9")
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ValueError("tile is 0"), "raised ValueError: tile is 0"),
        (MemoryError(), "raised MemoryError"),
        (StopIteration(), "raised StopIteration"),
        (wrong.UnprintableError(), "raised UnprintableError, whose message raised RuntimeError"),
        (ExceptionGroup("two", [OSError(1, "a"), KeyError("b")]), "raised ExceptionGroup: two (2 sub-exceptions)"),
    ],
)
def test_an_exception_refuses_the_entrant_with_its_reason(failure: Exception, said: str) -> None:
    assert refused(verdict(wrong.raising(failure))).reason == said


@pytest.mark.spec("A9")
def test_an_exception_on_a_ragged_probe_refuses_too_and_the_others_go_on() -> None:
    def fussy(a: Array, b: Array, *, c: Array) -> None:
        if a.shape[0] % 2:
            raise ValueError("odd")
        c[...] = a @ b

    probes, oracle = probes_of(GEMM, {"M": 32, "N": 16, "K": 8}), Oracle(product)
    first = refused(examine(probes, oracle, runner(fussy), Gate(), label="fussy"))
    assert first.reason == "raised ValueError: odd on probe 'ragged 1' (M=31, N=15, K=7)"
    assert isinstance(examine(probes, oracle, runner(wrong.honest(vendor)), Gate(), label="honest"), Admitted)


def test_a_kernel_that_returns_its_result_is_told_to_write_it() -> None:
    assert "returned ndarray" in refused(verdict(wrong.returning(vendor))).reason


@pytest.mark.spec("M23")
def test_a_refusal_reads_as_a_sentence_with_output_gate_element_and_index() -> None:
    def slip(a: Array, b: Array, *, c: Array) -> None:
        c[...] = a @ b
        c[3, 1] = np.nan

    found = refused(verdict(slip, shape={"M": 4, "N": 4, "K": 1}, gate=Gate(rtol=1e-3, atol=0.0, scale="reference")))
    assert (found.output, found.index) == ("c", (3, 1))
    text = str(found)
    assert text.startswith("gemm.k[tile=4]: c[3, 1] is nan, reference ")
    assert text.endswith(", rtol 0.001, atol 0 (1 of 16 elements wrong); not timed")


@pytest.mark.spec("M21")
def test_a_mutated_input_is_judged_against_the_reference_of_what_it_was() -> None:
    def body(x: Array, by: float) -> Array:
        x *= by
        return cast("Array", np.sum(x))

    def right(x: Array, by: float, *, s: Array) -> None:
        x *= np.float32(by)
        s[...] = np.sum(x)

    def forgets(x: Array, by: float, *, s: Array) -> None:
        s[...] = np.sum(x * np.float32(by))

    shape = {"N": 50, "by": 2.0}
    assert isinstance(verdict(right, body, SCALE_, shape), Admitted)
    assert refused(verdict(forgets, body, SCALE_, shape)).output == "x"


@pytest.mark.spec("A6", "A11")
def test_a_kernel_that_assumes_a_contiguous_output_is_refused_where_it_claims_others() -> None:
    def flat(a: Array, b: Array, *, c: Array) -> None:
        as_strided(c, (c.size,), (c.itemsize,))[...] = (a @ b).reshape(-1)

    found = refused(verdict(flat))
    assert found.probe == "padded"
    assert "say in `serves` which arrays must be contiguous" in found.reason


@pytest.mark.spec("A6")
def test_a_kernel_that_needs_alignment_it_does_not_claim_is_refused() -> None:
    def aligned(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)
        if a.ctypes.data % 16:
            c += 1

    found = refused(verdict(aligned))
    assert found.probe == "offset"
    assert "say in `serves` how much" in found.reason


@pytest.mark.spec("A6")
def test_a_kernel_that_reads_strides_as_positive_is_refused_on_a_reversed_input() -> None:
    def forward(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a if a.strides[1] > 0 else a[:, ::-1], b, out=c)

    assert refused(verdict(forward)).probe == "reversed"


@pytest.mark.spec("A6", "X13")
def test_a_kernel_that_claims_contiguous_inputs_alone_is_tried_on_other_outputs() -> None:
    def flat(a: Array, b: Array, *, c: Array) -> None:
        as_strided(c, (c.size,), (c.itemsize,))[:] = (a @ b).ravel()

    parsed = parse(GEMM)
    shape = {"M": 24, "N": 16, "K": 8, "T": "float32"}
    probes = make_probes(parsed, "op", describe(parsed, "op", shape), seed=7)

    def refusal(call: Call) -> str | None:
        return None if call.views["a"].contiguous and call.views["b"].contiguous else "a, b contiguous"

    found = refused(examine(probes, Oracle(product), runner(flat), Gate(), label="k", refusal=refusal))
    assert found.probe == "padded c"
    assert "say in `serves` which arrays must be contiguous" in found.reason


def test_one_array_in_another_layout_is_tried_only_where_all_were_not_passed() -> None:
    tried: list[str] = []

    def refusal(call: Call) -> str | None:
        tried.append("".join("." if view.contiguous else name for name, view in call.views.items()))
        return None

    probes = probes_of(GEMM, {"M": 24, "N": 16, "K": 8})
    assert isinstance(
        examine(probes, Oracle(product), runner(wrong.honest(vendor)), Gate(), label="k", refusal=refusal), Admitted
    )
    assert "abc" in tried
    assert "a.." not in tried
    assert [name for name in (probe.name for probe in probes.probes) if name.startswith("padded")] == [
        "padded",
        "padded a",
        "padded b",
        "padded c",
    ]
