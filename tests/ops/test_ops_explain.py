"""Why this kernel runs here, in about ten lines."""

import numpy as np
import pytest
from ops_declared import Array, matrices, two_kernel_gemm

import assay
from assay.kernel import Entrant, Setting
from assay.ops import Explanation
from assay.store import Answer, Chosen, Evidence, Ranked, Winner, rank
from assay.testing.store import sample_key


def explanation(answer: Answer | None, source: str = "table") -> Explanation:
    """An explanation with an answer behind it."""
    return Explanation(
        op="gemm",
        shape="M=256,N=256,K=256,T=float32",
        entrant=Entrant("tiled", Setting.of({"MR": 8})),
        source=source,
        reason="gain when this shape was tuned",
        device="a processor (a-processor-2c)",
        policy="cached",
        answer=answer,
        rejected={"blocked": "serves 'M % 16 == 0'; here M is 31"},
        others=("numpy", "numba"),
        ratios={"tiled": 0.62, "numpy": 1.0},
    )


def answer(outcome: str) -> Answer:
    """An answer that was raced."""
    gain = outcome == "gain"
    winner = "tiled" if gain else "numpy"
    return Answer(
        key=sample_key(),
        checksum="c",
        winner=Winner(winner, 1 if gain else 0, {"MR": 8} if gain else {}),
        default=Chosen("numpy"),
        outcome="gain" if gain else "no gain",
        entrants=rank(
            [Ranked("tiled", {"MR": 8}, "ranked", "", 100.0, 0.62), Ranked("numpy", {}, "ranked", "", 160.0, 1.0)]
        ),
        reason="" if gain else "tiled[MR=8]: 0.995 of the default's time, won 30 of 64 pairs",
        ratio=0.62,
        interval=(0.6, 0.64),
        evidence=Evidence(7, 7, 31.875, 0.01, 7, 3, 0),
        date="2026-01-01T00:00:00Z",
        protocol="race margin=0.01",
    )


@pytest.mark.spec("X29", "X32")
def test_an_explanation_says_what_runs_from_where_when_against_what_and_by_how_much() -> None:
    text = str(explanation(answer("gain")))
    assert len(text.splitlines()) <= 10
    for said in (
        "runs      tiled[MR=8]",
        "source    table: gain when this shape was tuned",
        "decided   2026-01-01T00:00:00Z, protocol race: gain",
        "against   numpy: 38.0 % faster (0.600 to 0.640 of its time, 95 %)",
        "evidence  won 7 of 7 pairs at margin 0.01, E = 31.9",
        "not       blocked: serves 'M % 16 == 0'; here M is 31",
        "else      numpy (1.00), numba",
        "changes   `assay tune --remeasure` this shape, or a change of a kernel",
    ):
        assert said in text


@pytest.mark.spec("X29")
def test_without_a_gain_it_says_what_raced_and_claims_nothing() -> None:
    text = str(explanation(answer("no gain")))
    assert "raced     tiled[MR=8]: 0.995 of the default's time, won 30 of 64 pairs" in text
    assert "faster" not in text


@pytest.mark.spec("X29")
def test_untuned_it_says_so_and_what_would_change_it() -> None:
    gemm = two_kernel_gemm()
    explained = gemm.explain(*matrices(32, 8, 5))
    text = str(explained)
    assert "runs      blocked[tile=32]" in text
    assert "source    tier: unmeasured choice: first of tier hand-tuned that serves" in text
    assert "else      general" in text
    assert "`assay tune` this shape" in text
    assert explained.as_dict()["kernel"] == "blocked"
    assert gemm.explain_shape({"M": 31, "N": 5, "K": 8, "T": "float32"}).entrant == Entrant("general")


@pytest.mark.spec("X29")
def test_every_kernel_that_cannot_run_is_named_with_its_reason() -> None:
    gemm = two_kernel_gemm()

    @gemm.kernel
    def wrong(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)
        c += 1

    @gemm.kernel(available="device.cores > 1000")
    def huge(a: Array, b: Array, *, c: Array) -> None:
        np.matmul(a, b, out=c)

    a, b = matrices(32, 8, 5)
    with assay.force(gemm="wrong"):
        gemm(a, b)  # now the gate has looked at it
    explained = gemm.explain(a, b)
    assert explained.others == ("general",)
    assert "c[" in explained.rejected["wrong"]
    assert explained.rejected["huge"] == "not available here: device.cores > 1000"
    assert "not       wrong: c[" in str(explained)


def test_an_empty_call_is_explained_as_what_it_does() -> None:
    gemm = two_kernel_gemm()
    explained = gemm.explain_shape({"M": 0, "N": 5, "K": 8, "T": "float32"})
    assert explained.entrant is None
    assert explained.reason == "there is nothing to write"
