"""What a plan's key holds: two calls that differ in any of it never share a plan."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ops_declared import Array, bare_gemm, matrices

import assay
from assay.ops import Op, device_here, forget_profiles, gating, options_in_force
from assay.ops.plan import MAX_PLANS, PlanTable
from assay.store import Environment, Profile


def plans_of(op: Op) -> int:
    """How many plans an op has."""
    return len(op.pathway.plans)


def scaled() -> Op:
    """An op with a scalar and an optional input."""

    @assay.op("forall N: Dim; T: DType[float32 | float64]. (x: T[N], w?: T[N], by: Float = 2.0) -> (y: T[N])")
    def scale(x: Array, w: Array | None, by: float) -> Array:
        return x * by if w is None else x * w * by

    return scale


class Marked(np.ndarray[Any, np.dtype[Any]]):
    """A class of array of its own."""


def pair(field: str) -> tuple[Array, Array]:
    """Two vectors that differ in one field of the key."""
    x = np.arange(4, dtype=np.float32)
    others: dict[str, Array] = {
        "class": x.view(Marked),
        "shape": x[:-1],
        "strides": np.repeat(x, 2)[::2],
        "dtype": x.astype("float64"),
    }
    return x, others[field]


@pytest.mark.spec("X24")
@pytest.mark.parametrize("field", ["class", "shape", "strides", "dtype"])
def test_a_call_whose_array_differs_has_a_plan_of_its_own(field: str) -> None:
    scale = scaled()
    x, other = pair(field)
    scale(x)
    scale(x.copy())  # the same layout at another address
    assert plans_of(scale) == 1
    np.testing.assert_array_equal(scale(other), np.asarray(other) * 2)
    assert plans_of(scale) == 2


@pytest.mark.spec("X24")
def test_scalars_presence_and_out_layout_are_in_the_key() -> None:
    scale = scaled()
    x = np.arange(8, dtype=np.float32)
    calls: list[Callable[[], Array]] = [
        lambda: scale(x),
        lambda: scale(x, None, 3.0),
        lambda: scale(x, x),
        lambda: scale(x, out=np.empty(8, np.float32)),
        lambda: scale(x, out=np.empty(16, np.float32)[::2]),
    ]
    for number, call in enumerate(calls, 1):
        call()
        call()
        assert plans_of(scale) == number
    np.testing.assert_array_equal(scale(x, x, 3.0), x * x * 3)


@pytest.mark.spec("X24")
def test_scalars_that_are_equal_and_of_another_type_have_plans_of_their_own() -> None:
    @assay.op("forall N: Dim. (x: float64[N], by: Int, flag: Bool) -> (y: float64[N])")
    def shift(x: Array, by: int, flag: bool) -> Array:  # noqa: FBT001 - an op's input
        return x + by if flag else x - by

    x = np.zeros(2)
    np.testing.assert_array_equal(shift(x, 1, True), [1, 1])  # noqa: FBT003
    with pytest.raises(ValueError, match=r"by|flag"):
        shift(x, True, True)  # noqa: FBT003 - 1 == True, and a hit would have answered
    with pytest.raises(ValueError, match=r"by|flag"):
        shift(x, 1, 1)


@pytest.mark.spec("X24")
def test_policy_environment_forcing_and_strictness_are_in_the_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    gemm = bare_gemm()

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(4, 4, 4)
    gemm(a, b)
    other = Environment(tmp_path_factory.mktemp("other") / "other.db")
    contexts = (
        assay.policy("off"),
        assay.environment(other),
        assay.force(gemm="general"),
        assay.dispatch.strict(),
        assay.dry_run(),
        gating("off"),
    )
    for number, context in enumerate(contexts, 2):
        with context:
            gemm(a, b)
            assert plans_of(gemm) == number
    with assay.policy("off"):
        gemm(a, b)
    gemm(a, b)
    assert plans_of(gemm) == len(contexts) + 1  # equal regimes are one


@pytest.mark.spec("X24")
def test_a_registration_starts_a_new_epoch() -> None:
    gemm = bare_gemm()
    a, b = matrices(4, 4, 4)
    gemm(a, b)
    plan = next(iter(gemm.pathway.plans))

    @gemm.kernel
    def general(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    gemm(a, b)
    assert plan not in gemm.pathway.plans
    assert gemm.explain(a, b).source == "tier"


@pytest.mark.spec("X24")
def test_plans_are_bounded_and_the_oldest_go_first() -> None:
    table = PlanTable()
    for number in range(MAX_PLANS + 1):
        table.keep(number, object())  # type: ignore[arg-type]
    assert len(table) == MAX_PLANS - MAX_PLANS // 8 + 1
    assert 0 not in table
    assert MAX_PLANS in table


@pytest.mark.spec("M33")
def test_a_setting_comes_from_the_call_then_the_profile_then_the_rule_then_the_default() -> None:
    gemm = bare_gemm()

    @gemm.kernel(
        tunables={"tile": [8, 16, 32, 64]},
        default={"tile": 8},
        rule={"tile": "16 if M >= 64 else 8"},
    )
    def blocked(a: Array, b: Array, *, c: Array, tile: int) -> None:
        del tile
        np.matmul(a, b, out=c)

    def setting(op: Op, rows: int) -> str:
        return str(op.explain(*matrices(rows, 4, 4)).entrant)

    assert setting(gemm, 32) == "blocked[tile=8]"
    assert setting(gemm, 64) == "blocked[tile=16]"
    slug = device_here().fingerprint.slug
    when: dict[str, int | str] = {"M": 64, "N": 4, "K": 4, "T": "float32"}
    profile = Profile(slug).with_tuned("gemm", "blocked", when, {"tile": 32}, choose=True)
    profile.save(options_in_force().profile / f"{slug}.json")
    forget_profiles()
    gemm.pathway.replan()
    assert setting(gemm, 64) == "blocked[tile=32]"
    assert setting(gemm, 32) == "blocked[tile=8]"
    assert setting(gemm.at("blocked", tile=64), 64) == "blocked[tile=64]"


def test_numpy_scalars_are_taken_as_the_values_they_are() -> None:
    scale = scaled()
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(scale(x, None, np.float64(3.0)), x * 3)
    assert scale.last_call is not None

    @assay.op('forall N: Dim. (x: float32[N], mode: Enum["a", "b"]) -> (y: float32[N])')
    def pick(x: Array, mode: str) -> Array:
        return x if mode == "a" else -x

    @pick.kernel
    def plain(x: Array, mode: str, *, y: Array) -> None:
        np.copyto(y, x if mode == "a" else -x)

    np.testing.assert_array_equal(pick(x, np.str_("b")), -x)
    with pytest.raises(ValueError, match="mode"):
        pick(x, np.array(2))
