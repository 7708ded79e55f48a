"""`quercus frontier --features`: what accuracy costs in features."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from quercus.cli.data import open_stream
from quercus.cli.frontier import Measuring, measure_and_show
from quercus.cli.reading import Reading
from quercus.cli.settings import adopt_labels, make_learner

_PARTS = ("costs", "groups", "requires")


def show_feature_frontier(
    source: str,
    reading: Reading,
    learner: str,
    settings: Sequence[str],
    costs: Path | None,
    budgets: str | None,
    how: Measuring,
) -> None:
    """Run a learner that buys features at several budgets and worths, print the table and write it to a folder."""
    from quercus.evaluation import feature_frontier
    from quercus.evaluation.spending import usual_lines

    how = how.begin()
    model = make_learner(learner, settings)
    if not hasattr(model, "buy_and_learn"):
        raise ValueError(f"{type(model).__name__} does not buy features; --features takes one that does: utility.")
    if costs is not None:
        set_prices(model, read_prices(costs))
    stream = open_stream(source, reading)
    options: dict[str, Any] = {"loss": adopt_labels(model, stream)}
    if budgets is not None:
        from quercus.evaluation.buying import prices_of

        prices = prices_of(model, stream.feature_names)
        amounts = [parse_money(text.strip(), sum(prices)) for text in budgets.split(",") if text.strip()]
        options["vary"] = usual_lines(prices) | {"budget": amounts}
    measure_and_show(feature_frontier, stream, model, how, options)


def read_prices(path: Path) -> dict[str, Any]:
    """Return the prices of a JSON file: by feature, or under "costs" with "groups" and "requires" beside it."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise ValueError(f'\'{path}\' is not JSON ({error}); write {{"mri": 500, "age": 0}}.') from None
    if not isinstance(read, Mapping):
        raise ValueError(f'\'{path}\' holds no prices by feature; write {{"mri": 500, "age": 0}}.')
    if not any(isinstance(part, Mapping) for part in read.values()):
        return {"costs": dict(read)}
    strange = [name for name in read if name not in _PARTS]
    if strange:
        raise ValueError(f"'{path}' has {strange[0]!r} beside whole tables; it may have {', '.join(_PARTS)}.")
    return dict(read)


def set_prices(model: Any, prices: Mapping[str, Any]) -> None:
    """Give a learner its prices, unless it has some."""
    for name in prices:
        if getattr(model, name) is not None:
            raise ValueError(f"--costs and --set both say {name}; leave one out.")
    model.set_params(**prices)


def parse_money(text: str, whole: float) -> float:
    """Return a budget of a row in money: a number, or a share of the price of all features in percent."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(
            f"--budgets {text} is no budget of a row; write an amount such as 20, or a share of all such as 10%."
        )
    return number * whole / 100 if text.endswith("%") else number
