"""What a kernel declares: the calls it serves, its settings, and what it refuses to be told."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest

from assay.errors import DeclarationError
from assay.kernel import CKernel, Kernel, PythonKernel, Setting
from assay.signature import Call, check, describe, parse

GEMM = parse("forall M, N, K: Dim; T: DType[float32 | float64]. (a: T[M, K], b: T[K, N]) -> (c: T[M, N])")
SCALED = parse(
    "forall M: Dim; params fast: Bool = false. "
    "(x: float32[M], w?: float32[M], eps: Float = 1.5, by: Int = 2) -> (y: float32[M])"
)


def nothing(*_inputs: object, **_others: object) -> None:
    """A kernel that is only declared here, never run."""


def reads_q(MR: int, Q: int) -> bool:
    return MR < Q


def kernel(**declared: Any) -> Kernel:  # noqa: ANN401  # declared as a user would, wrongly too
    return PythonKernel(nothing, "tiled", **declared)


def gemm(M: int, N: int = 8, K: int = 8, T: str = "float32") -> Call:
    return describe(GEMM, "gemm", {"M": M, "N": N, "K": K, "T": T})


@pytest.mark.spec("C27")
@pytest.mark.parametrize(
    ("serves", "served", "refused"),
    [
        ("M % 16 == 0", gemm(32), gemm(33)),
        ("16 <= M < 64 and N == K", gemm(16), gemm(64)),
        ("T == float32", gemm(8), gemm(8, T="float64")),
        ("a.contiguous", gemm(8), check(GEMM, "gemm", {"a": np.ones((8, 16))[:, ::2], "b": np.ones((8, 8))})),
        ("a.stride[0] == K", gemm(8), check(GEMM, "gemm", {"a": np.ones((8, 16))[:, 8:], "b": np.ones((8, 8))})),
        ("c.stride[0] % 8 == 0", gemm(8), gemm(8, N=9)),
        ("fast", describe(SCALED, "s", {"M": 4}, params={"fast": True}), describe(SCALED, "s", {"M": 4})),
        ("eps > 1.25 and by == 2", describe(SCALED, "s", {"M": 4}), describe(SCALED, "s", {"M": 4, "eps": 1.0})),
        ("M >= device.cores", gemm(4), gemm(3)),
    ],
)
def test_a_kernel_states_the_calls_it_serves(serves: str, served: Call, refused: Call) -> None:
    found = kernel(serves=serves)
    assert found.refusal(served.facts({"cores": 4})) is None
    reason = found.refusal(refused.facts({"cores": 4}))
    assert reason is not None
    assert serves in reason


@pytest.mark.spec("C27")
def test_a_kernel_is_refused_for_the_alignment_of_this_very_array() -> None:
    memory = np.zeros(1024, np.float32)
    start = -memory.ctypes.data % 256 // 4
    aligned, odd = memory[start : start + 64], memory[start + 1 : start + 65]
    found = kernel(serves="x.align >= 64")
    assert found.refusal(check(SCALED, "s", {"x": aligned}).facts({})) is None
    assert found.refusal(check(SCALED, "s", {"x": odd}).facts({})) == "serves 'x.align >= 64'; here x.align is 4"


@pytest.mark.spec("C27")
def test_a_refusal_says_what_was_seen() -> None:
    assert kernel(serves="M % 16 == 0 and a.contiguous").refusal(gemm(60).facts({})) == (
        "serves 'M % 16 == 0 and a.contiguous'; here M is 60, a.contiguous is true"
    )


@pytest.mark.spec("C27")
def test_all_that_a_choice_reads_of_layout_and_device_is_known_beforehand() -> None:
    found = kernel(
        serves="M > 4 and a.contiguous and b.stride[0] == N",
        tunables={"MR": [4, 8]},
        constraints=["MR <= device.cores"],
        rule={"MR": "8 if c.align >= 64 else 4"},
    )
    assert found.features == {"a.contiguous", "b.stride[0]", "device.cores", "c.align"}


def test_a_kernel_that_states_nothing_serves_every_call() -> None:
    assert kernel().refusal(gemm(3).facts({})) is None
    assert kernel().features == frozenset()


def test_an_expression_that_has_no_answer_for_a_call_does_not_claim_it() -> None:
    found = kernel(serves="w.contiguous")
    call = check(SCALED, "s", {"x": np.ones(4, np.float32)})
    assert "w" not in call.views
    reason = found.refusal(call.facts({}))
    assert reason is not None
    assert reason.startswith("serves 'w.contiguous', which has no answer here")


def test_a_serves_that_is_no_claim_refuses() -> None:
    # "M % 16" is zero, so not true, for exactly the calls that were meant.
    reason = kernel(serves="M % 16").refusal(gemm(33).facts({}))
    assert reason is not None
    assert "expected true or false" in reason


@pytest.mark.parametrize(
    ("given", "setting"),
    [({}, "MR=4, NR=16"), ({"MR": 8}, "MR=8, NR=16"), ({"NR": np.int64(8), "MR": 8.0}, "MR=8, NR=8")],
)
def test_a_setting_has_what_is_given_and_the_default_for_the_rest(given: Mapping[str, int], setting: str) -> None:
    found = kernel(tunables={"MR": [4, 8], "NR": [8, 16]}, default={"NR": 16})
    assert str(found.setting(given)) == setting


def test_a_value_outside_its_domain_is_refused_with_the_domain() -> None:
    with pytest.raises(DeclarationError, match=r"^tiled: MR=5 is not in \{4, 8\}$"):
        kernel(tunables={"MR": [4, 8]}).setting({"MR": 5})
    with pytest.raises(DeclarationError, match=r"^tiled: MR=5 is not in \{4, 8\}$"):
        kernel(tunables={"MR": [4, 8]}, default={"MR": 5})


def test_a_tunable_that_is_not_there_is_refused_with_those_that_are() -> None:
    for declare in (
        lambda: kernel(tunables={"MR": [4, 8]}, default={"NR": 5}),
        lambda: kernel(tunables={"MR": [4, 8]}, rule={"NR": "5"}),
        lambda: kernel(tunables={"MR": [4, 8]}).setting({"NR": 5}),
    ):
        with pytest.raises(DeclarationError, match=r"^tiled: has no tunable NR; it has MR$"):
            declare()


def test_the_kernels_own_rule_is_over_its_declared_default() -> None:
    found = kernel(
        tunables={"MR": [4, 8], "NR": [8, 16]}, default={"MR": 4, "NR": 16}, rule={"MR": "8 if M >= 64 else 4"}
    )
    assert str(found.setting_in_force(gemm(32).facts({}))) == "MR=4, NR=16"
    assert str(found.setting_in_force(gemm(64).facts({}))) == "MR=8, NR=16"


def test_a_rule_that_leaves_its_tunables_domain_is_refused() -> None:
    found = kernel(tunables={"MR": [4, 8]}, rule={"MR": "M"})
    assert str(found.setting_in_force(gemm(8).facts({}))) == "MR=8"
    with pytest.raises(DeclarationError, match=r"MR=9 is not in \{4, 8\}"):
        found.setting_in_force(gemm(9).facts({}))


def test_the_space_of_a_call_is_of_its_sizes() -> None:
    found = kernel(tunables={"tile": [4, 8, 16]}, constraints=["M % tile == 0"])
    assert list(found.space(gemm(8).facts({}))) == [Setting.of({"tile": 4}), Setting.of({"tile": 8})]


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"serves": "Q > 4"}, "tiled: reads Q, which its op does not declare"),
        ({"serves": "q.contiguous"}, "tiled: reads q, which its op does not declare; there is a, b, c"),
        ({"tunables": {"MR": [4]}, "constraints": ["MR <= Q"]}, "reads Q"),
        ({"tunables": {"MR": [4]}, "constraints": [reads_q]}, "reads Q"),
        ({"tunables": {"MR": [4]}, "rule": {"MR": "Q"}}, "reads Q"),
        ({"tunables": {"MR": [4]}, "serves": "MR > 2"}, "reads MR"),
        ({"tunables": {"K": [4]}}, "tunable K has the name of something the op declares"),
        ({"tunables": {"c": [4]}}, "tunable c has the name of something the op declares"),
    ],
)
def test_a_name_the_op_does_not_declare_is_refused_when_the_kernel_meets_the_op(
    declared: dict[str, object], said: str
) -> None:
    found = kernel(**declared)
    with pytest.raises(DeclarationError, match=said):
        found.for_signature(GEMM)


def test_a_kernel_meets_an_op_without_being_changed() -> None:
    found = kernel(tunables={"MR": [4, 8]}, constraints=["MR <= M"], serves="a.contiguous and T == float32")
    met = found.for_signature(GEMM)
    assert met is not found
    assert (met.name, met.tunables, met.serves) == (found.name, found.tunables, found.serves)


@pytest.mark.parametrize(
    ("declare", "error", "said"),
    [
        (lambda: PythonKernel(nothing, ""), DeclarationError, "has an empty name"),
        (
            lambda: kernel(tier="handmade"),
            DeclarationError,
            "'handmade' is not one of synthesized, emitted, hand-tuned",
        ),
        (lambda: kernel(serves="M >"), DeclarationError, "tiled"),
        (lambda: kernel(constraints=[3]), DeclarationError, "constraint 3 is neither an expression"),
        (lambda: kernel(tunables={"M R": [4]}), DeclarationError, "tunable 'M R' is not a name"),
        (lambda: kernel(constraint=["MR > 4"]), TypeError, "unexpected keyword 'constraint'"),
    ],
)
def test_what_cannot_be_declared_is_refused(declare: Callable[[], Kernel], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        declare()


@pytest.mark.spec("R5")
def test_the_description_tells_apart_what_a_checksum_must_tell_apart() -> None:
    declared: list[Mapping[str, object]] = [
        {},
        {"tunables": {"MR": [4, 8]}},
        {"tunables": {"MR": [8, 4]}},
        {"tunables": {"MR": [4, 8.5]}},
        {"tunables": {"MR": ["4", "8"]}},
        {"tunables": {"NR": [4, 8]}},
        {"tunables": {"MR": [4], "NR": [8]}},
        {"tunables": {"NR": [8], "MR": [4]}},
    ]
    names = ("tiled", "tiled2")
    descriptions = {PythonKernel(nothing, name, **cast("Any", one)).description for name in names for one in declared}
    assert len(descriptions) == len(names) * len(declared)


def test_an_alignment_that_is_passed_is_known_beforehand_and_a_stride_that_the_key_holds_is_not() -> None:
    found = CKernel("tiled", "void f(void) {}", "f", args=["a", "a.align", "a.stride[0]"])
    assert found.features == {"a.align"}
