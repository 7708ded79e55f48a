"""The results as text."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.common import Result

OURS = "quercus HoeffdingTree"


def show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns, the first to the left; a row of two cells is a name and why it has no figures."""
    full = [row for row in [header, *rows] if len(row) == len(header)]
    widths = [max(len(row[i]) for row in full) for i in range(len(header))]
    widths[0] = max(len(row[0]) for row in [header, *rows])
    lines = []
    for row in [header, *rows]:
        figures = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False)]
        lines.append("  ".join([row[0].ljust(widths[0]), *(figures if row in full else row[1:])]).rstrip())
    return "\n".join(lines)


def problem(result: Result) -> str | None:
    if "missing" in result:
        return f"not measured: {result['missing']}"
    return f"failed: {result['failed']}" if "failed" in result else None


def prequential_table(rows: int, results: dict[str, Result]) -> str:
    """Return one line per learner; the ratios set quercus HoeffdingTree against it."""
    ours = results.get(OURS, {})
    lines = []
    for name, result in results.items():
        why = problem(result)
        if why:
            lines.append([name, why])
            continue
        lines.append(_line(name, rows, result, ours))
        if "cold_seconds" in result:
            cold = {**result, "seconds": result["cold_seconds"], "all_seconds": result["all_cold_seconds"]}
            lines.append(_line(f"{name}, cold", rows, cold, ours))
    return show(
        ["", "examples/s", "our speed / its", "accuracy", "leaves", "bytes", "our bytes / its", "passes", "slowest"],
        lines,
    )


def _line(name: str, rows: int, result: Result, ours: Result) -> list[str]:
    size = result["bytes"]
    return [
        name,
        f"{rows / result['seconds']:,.0f}",
        _ratio(result["seconds"], ours.get("seconds")),
        f"{result['correct'] / rows:.2%}",
        f"{result['leaves']:,}",
        "unknown" if size is None else f"{size:,}",
        _ratio(ours.get("bytes"), size),
        str(len(result["all_seconds"])),
        f"+{max(result['all_seconds']) / result['seconds'] - 1:.0%}",
    ]


def _ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.3g} x" if above and below else "-"


def latency_table(results: dict[str, Result]) -> str:
    ours = results.get(OURS, {})
    lines = []
    for name, result in results.items():
        why = problem(result)
        if why:
            lines.append([name, why])
            continue
        line = [name]
        for call in ("predict_one_us", "learn_one_us"):
            line += [f"{result[call]:.2f}", _ratio(result[call], ours.get(call))]
        lines.append(line)
    return show(["", "predict_one us", "our speed / its", "learn_one us", "our speed / its"], lines)


def startup_table(result: Result) -> str:
    why = problem(result)
    return why if why else show(["", "seconds"], [[name, f"{seconds:.3f}"] for name, seconds in result.items()])
