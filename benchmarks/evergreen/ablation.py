"""What each part of the evergreen tree is worth: the same tree with parts of it switched off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import Contender, Pass, Score, Span, Testing, evergreen, ours
from benchmarks.evergreen.passing import pass_job
from benchmarks.evergreen.work import first_problem, mean_error, run_jobs
from benchmarks.tables import show

_PARTS = ("regrow", "aggregate", "recent")
_SMALL = 2**22
_FROZEN_AT = {"random tree": 20_000, "adult": 20_000, "covertype": 20_000, "nursery": 5_000, "letter": 15_000,
              "a9a": 20_000, "airlines": 20_000}  # fmt: skip
_QUICK_AT = {"adult": 1_000, "letter": 1_000}
_STREAMS: tuple[tuple[str, int | None, int], ...] = (
    ("random tree", 1, 100_000),
    ("electricity", None, 100_000),
    ("covertype", None, 100_000),
    ("covertype", 1, 100_000),
    ("airlines", None, 100_000),
    ("adult", 1, 100_000),
    ("letter", 1, 100_000),
    ("nursery", 1, 100_000),
)
_NOTES = f"""
whole     accuracy in per cent; below it the points that are lost or gained, with the standard error over seeds.
regrow    off: the tree grows once and then stays, though its counts go on. aggregate off: answers by the leaf alone in
          place of all prunings. recent off: no expert for recent labels.
rows      a limit of {_SMALL // 2**20} MiB in place of 32: fewer rows are kept to grow from, on the larger sets.
"""


def make_without(names: Sequence[str], **given: Any) -> Any:
    """Return a tree with these parts switched off."""
    model = evergreen(**given)
    if names:
        model._ablate = frozenset(names)
    return model


def ablation(quick: bool) -> None:
    """Print frozen and prequential accuracies with each part off, all of them off, and few rows kept."""
    sets.check_data()
    lines: dict[str, Contender] = {
        "whole": ours(evergreen),
        **{f"without {part}": ours(partial(make_without, (part,))) for part in _PARTS},
        "without all of them": ours(partial(make_without, _PARTS)),
        "fewer rows": ours(partial(evergreen, max_bytes=_SMALL)),
    }
    seeds = sets.QUICK_SEEDS if quick else sets.SEEDS
    by_set = {}
    for name, labels in (_QUICK_AT if quick else _FROZEN_AT).items():
        tested = sets.QUICK_TESTED if quick else sets.TESTED
        found = run_jobs({(line, seed): partial(_test, name, seed, labels, tested, contender.test)
                          for line, contender in lines.items() for seed in seeds if contender.test})  # fmt: skip
        by_set[f"{name} {labels:,}"] = {line: _accuracies([found[line, seed] for seed in seeds]) for line in lines}
    print(f"\nfrozen, {len(seeds)} seeds", _table(list(lines), by_set), sep="\n", flush=True)
    by_stream = {}
    for name, seed, most in _STREAMS[1:2] if quick else _STREAMS:
        jobs = {(name, line): partial(pass_job, name, seed, most, contender.go)
                for line, contender in lines.items() if contender.go is not None}  # fmt: skip
        passes = run_jobs(jobs)
        title = name if seed is None or sets.is_generated(name) else f"{name}, shuffled"
        by_stream[title] = {
            line: one if isinstance(one, dict) else np.array([one.score().accuracy])
            for (_, line), one in passes.items()
        }
    print("\nanswered, then learned", _table(list(lines), by_stream), _NOTES, sep="\n", flush=True)


def _test(name: str, seed: int, labels: int, tested: int, test: Testing) -> list[Score]:
    rows = sets.load(name, seed, labels + tested)
    return test(rows, [Span(labels, labels, min(labels + tested, len(rows.y)))], seed)


def _accuracies(runs: list[Any]) -> Any:
    scores = (run.score() if isinstance(run, Pass) else run[0] for run in runs)
    return first_problem(runs) or np.array([score.accuracy for score in scores])


def _table(lines: list[str], columns: dict[str, dict[str, Any]]) -> str:
    rows = []
    for line in lines:
        cells = []
        for found in columns.values():
            whole, mine = found["whole"], found[line]
            if isinstance(whole, dict) or isinstance(mine, dict):
                cells.append("failed")
            else:
                cells.append(f"{100 * mine.mean():.2f}" if line == "whole" else mean_error(mine - whole))
        rows.append([line, *cells])
    return show(["", *columns], rows)
