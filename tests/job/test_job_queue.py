"""Ops and shapes become a queue: each call once, and what does not fit is named."""

from collections.abc import Mapping, Sequence

import pytest

from assay.errors import TargetError
from assay.job import ShapeFailure, ShapeTask, queue
from assay.ops import Op, op


@pytest.fixture
def scale() -> Op:
    @op("forall N: Dim; T: DType[float32 | float64]. (x: T[N]) -> (y: T[N])", shapes=[{"N": 8, "T": "float32"}])
    def scale(x: object) -> object:
        return x

    return scale


@pytest.fixture
def outer() -> Op:
    @op("forall M, N: Dim; T: DType[float32]. (x: T[M], y: T[N]) -> (z: T[M, N])")
    def outer(x: object, y: object) -> object:
        return (x, y)

    return outer


def queued(
    ops: Sequence[Op], shapes: Sequence[Mapping[str, object]] | None
) -> tuple[tuple[ShapeTask, ...], tuple[ShapeFailure, ...]]:
    found = queue(ops, shapes)
    tasks = tuple(one for one in found if isinstance(one, ShapeTask))
    return tasks, tuple(one for one in found if isinstance(one, ShapeFailure))


def shapes_of(tasks: tuple[ShapeTask, ...]) -> list[tuple[str, dict[str, object]]]:
    return [(task.op.name, dict(task.shape)) for task in tasks]


def test_without_shapes_those_the_op_declares_are_tuned(scale: Op) -> None:
    tasks, failures = queued([scale], None)
    assert shapes_of(tasks) == [("scale", {"N": 8, "T": "float32"})]
    assert failures == ()


def test_an_op_without_shapes_is_named_with_how_to_give_one_and_the_others_go_on(scale: Op, outer: Op) -> None:
    tasks, failures = queued([outer, scale], None)
    assert [task.op.name for task in tasks] == ["scale"]
    assert str(failures[0].error) == "outer: it declares no shape to tune; give one, as M=…,N=…,T=…"


def test_shapes_that_make_the_same_call_are_one(scale: Op) -> None:
    shapes = [{"N": "16", "T": "float32"}, {"T": "float32", "N": 16}, {"N": 16, "T": "float64"}]
    tasks, failures = queued([scale], shapes)
    assert [dict(task.shape) for task in tasks] == [{"N": 16, "T": "float32"}, {"N": 16, "T": "float64"}]
    assert failures == ()


def test_a_shape_that_lacks_an_index_is_a_failure_and_the_others_go_on(scale: Op) -> None:
    tasks, failures = queued([scale], [{"T": "float32"}, {"N": "16", "T": "float32"}])
    assert [dict(task.shape) for task in tasks] == [{"N": 16, "T": "float32"}]
    assert dict(failures[0].shape) == {"T": "float32"}
    assert "N" in str(failures[0].error)


def test_a_shape_that_cannot_be_keeps_its_place_among_the_others(scale: Op) -> None:
    found = queue([scale], [{"N": 1, "T": "float32"}, {"T": "float32"}, {"N": 2, "T": "float32"}])
    assert [type(one) for one in found] == [ShapeTask, ShapeFailure, ShapeTask]


def test_a_shape_goes_to_the_ops_that_have_its_indices(scale: Op, outer: Op) -> None:
    tasks, failures = queued([scale, outer], [{"M": 2, "N": 4, "T": "float32"}])
    assert shapes_of(tasks) == [("outer", {"M": 2, "N": 4, "T": "float32"})]
    assert failures == ()


def test_a_shape_no_op_has_the_indices_of_is_refused_with_what_there_is(scale: Op, outer: Op) -> None:
    with pytest.raises(TargetError, match=r"shape Q=3: no op .*; there are scale \(N, T\), outer \(M, N, T\)"):
        queue([scale, outer], [{"Q": "3"}])
