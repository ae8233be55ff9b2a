"""What does choosing bring? Each op of the zoo at each of its shapes: every kernel at its best setting, beside assay.

The shapes are tuned first, into a store and a profile of the run's own. Then each kernel, at the best setting the tune
found for it, and the op itself, called as a user calls it, are timed in turns, in random order, on shared buffers at
varying offsets. A ratio is the median over the rounds of assay's time over the kernel's in the same round, so that a
drift of the machine befalls both. A kernel that does not serve a shape, or for which the tune has no figure because the
machine was too busy, is left out of it.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from rich.progress import track

import assay
from assay.kernel import Entrant, Setting, bind
from assay.measure import CallSampler, Placements
from assay.ops import Op, device_here, place_here
from assay.signature import Call, allocate_outputs, make_inputs
from assay.tuning import TuneResult, shape_text
from assay.zoo import gemm, softmax
from benchmarks.document import make_parser, print_document, show

OPS = (gemm, softmax)
ASSAY = "assay"
ROUNDS = 40
BLOCK_NS = 200_000
MOST_CALLS = 50
SEED = 0


@dataclass(frozen=True)
class Figures:
    """One shape's: milliseconds of a call and assay's time over it, by entrant, and what assay runs."""

    shape: str
    milliseconds: dict[str, float]
    ratios: dict[str, float]
    entrants: dict[str, str]
    chosen: str


def best_of_each(result: TuneResult) -> list[Entrant]:
    """Each kernel that was ranked, at its best setting, in the order of their names."""
    best: dict[str, Entrant] = {}
    for one in result.entrants:
        if one.outcome == "ranked":
            best.setdefault(one.kernel, Entrant(one.kernel, Setting.of(one.setting)))
    winner = result.winner
    best[winner.kernel] = Entrant(winner.kernel, Setting.of(winner.setting))
    return [best[name] for name in sorted(best)]


def bound_calls(op: Op, call: Call, entrants: Sequence[Entrant], seed: int) -> list[list[Callable[[], object]]]:
    """For each entrant, and for the op itself at the end, its calls, one per set of buffers."""
    rng = np.random.default_rng(seed)
    placements = Placements(make_inputs(op.signature, call, rng), allocate_outputs(call), seed=seed)
    sets = [
        ([placed.inputs[name] for name in call.inputs], [placed.outputs[name] for name in call.outputs])
        for placed in placements.sets
    ]
    bound: list[list[Callable[[], object]]] = []
    for entrant in entrants:
        candidate = op.declaration.candidate(entrant.kernel)
        assert candidate is not None
        program = candidate.kernel.build(entrant.setting, call, place_here())
        bound.append([bind(program, call, inputs, outputs) for inputs, outputs in sets])
    bound.append([partial(op, *inputs, out=outputs[0]) for inputs, outputs in sets])
    return bound


def in_turns(bound: list[list[Callable[[], object]]], rounds: int, seed: int) -> list[list[float]]:
    """Each entrant's median of each round, in ns; a round in which one of them was never undisturbed is left out."""
    sampler = CallSampler(device_here(), bound)
    rng = np.random.default_rng(seed)
    calls: list[int] = []
    for entrant in range(len(bound)):
        first = sampler.block(entrant, 0, 3, 1 << 62).times_ns
        calls.append(int(min(max(BLOCK_NS / median(first), 3), MOST_CALLS)))
    times: list[list[float]] = [[] for _ in bound]
    for turn in range(rounds):
        order = [int(entrant) for entrant in rng.permutation(len(bound))]
        blocks = {entrant: sampler.block(entrant, turn, calls[entrant], 20_000).times_ns for entrant in order}
        if all(blocks.values()):
            for entrant, block in blocks.items():
                times[entrant].append(median(block))
    return times


def measure(op: Op, shape: dict[str, object], rounds: int) -> Figures:
    """Tunes one shape, then times what came of it."""
    call = op.describe(shape)
    result = assay.tune(op, [shape], seed=SEED)[0]
    entrants = best_of_each(result)
    times = in_turns(bound_calls(op, call, entrants, SEED), rounds, SEED)
    if not times[-1]:
        raise SystemExit(f"{op.name} {shape_text(shape)}: every round waited for a processor; use a quieter machine")
    names = [*(entrant.kernel for entrant in entrants), ASSAY]
    ratios = {
        name: median(own / other for own, other in zip(times[-1], theirs, strict=True))
        for name, theirs in zip(names[:-1], times[:-1], strict=True)
    }
    return Figures(
        shape=shape_text(shape),
        milliseconds={name: median(own) / 1e6 for name, own in zip(names, times, strict=True)},
        ratios=ratios,
        entrants={entrant.kernel: str(entrant) for entrant in entrants},
        chosen=result.winner.label,
    )


def document(figures: Sequence[Figures]) -> dict[str, object]:
    """One op's part of the document."""
    return {
        **{one.shape: one.milliseconds for one in figures},
        "chosen": {one.shape: one.chosen for one in figures},
        "fraction_of_roof": dict.fromkeys(one.shape for one in figures),
        "ratio": {one.shape: one.ratios for one in figures},
        "settings": {one.shape: one.entrants for one in figures},
    }


def rows(figures: Sequence[Figures]) -> list[tuple[object, ...]]:
    """One op's rows of the table: a line for each entrant of each shape, fastest first."""
    lines: list[tuple[object, ...]] = []
    for one in figures:
        for name in sorted(one.milliseconds, key=lambda name: one.milliseconds[name]):
            ratio = one.ratios.get(name)
            lines.append(
                (
                    one.shape,
                    one.entrants.get(name, f"{ASSAY}: {one.chosen}"),
                    f"{one.milliseconds[name]:.4g}",
                    None if ratio is None else f"{ratio:.3f}",
                    None,
                )
            )
    return lines


def main() -> None:
    """Runs what the command line asks for."""
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds of each shape (default {ROUNDS})")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1")
    with TemporaryDirectory() as folder:
        os.environ["ASSAY_STORE"] = str(Path(folder) / "store")
        os.environ["ASSAY_PROFILE"] = str(Path(folder) / "profiles")
        Path(folder, "profiles").mkdir()
        tasks = [(op, shape) for op in OPS for shape in op.shapes]
        found: dict[str, list[Figures]] = {op.name: [] for op in OPS}
        for op, shape in track(tasks, "tuning and timing", transient=True):
            found[op.name].append(measure(op, dict(shape), options.rounds))
    for name, figures in found.items():
        show(
            f"{name}: milliseconds a call (assay's includes the dispatch); no roof has been measured, so no fraction",
            ("shape", "kernel", "ms", "assay / it", "of roof"),
            rows(figures),
        )
    if options.json:
        print_document({name: document(figures) for name, figures in found.items()})


if __name__ == "__main__":
    main()
