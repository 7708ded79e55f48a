"""What is frozen of a model, by its public names alone: the one place to change when a name changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import quercus as qc

# Parts of a tree that are shown; the answers at the probe tell of the others.
NODES = 31
MORE = ("online_loss_",)


def state(model: Any) -> dict[str, np.ndarray]:
    """Return all that a model has learned, byte for byte."""
    return model.state_arrays()


def sight(model: Any, probe: Any) -> dict[str, Any]:
    """Return what a model answers at the probe."""
    result = {"classes": model.classes_, "answers": model.predict(probe), "proba": model.predict_proba(probe)}
    if hasattr(model, "regions"):
        leaves, counts = model.regions(probe)
        result["leaf_counts"] = counts[leaves]
    if hasattr(model, "purchases"):
        result |= purchases(model.purchases(probe))
    return result


def view(model: Any, probe: Any) -> dict[str, Any]:
    """Return all that a model shows of itself: its structure, answers, and reasons for the first of these."""
    x = example(probe, 0)
    result: dict[str, Any] = sight(model, probe)
    if hasattr(model, "view"):
        result["tree"] = tree(model.view())
    for name in ("n_leaves_", "depth_", "feature_importances_", "n_alternates_", "n_pool_", "rows_", *MORE):
        if hasattr(model, name):
            result[name.removesuffix("_")] = getattr(model, name)
    if hasattr(model, "states_"):
        result["situations"] = model.states_
    if hasattr(model, "uncertainty"):
        result["uncertainty"] = model.uncertainty(probe)._asdict()
        result["interval"] = model.interval(probe[:2])
    if hasattr(model, "tree") and callable(model.tree):
        result["policy"] = policy(model.tree(depth=3, reach=0.05))
    if hasattr(model, "explain_one"):
        result["why"] = why(model.explain_one(x))
    if hasattr(model, "region_one"):
        result["region"] = [model.region_one(x), model.region_one(x, by_counts=True)]
    if hasattr(model, "changes_"):
        result["renewed"] = {
            "changes": model.changes_,
            "warnings": model.warnings_,
            "has_young": bool(model.background_),
        }
        result["in_charge"] = view(model.learner_, probe)
    if hasattr(model, "spent_"):
        result["spent"] = model.spent_
    return result


def is_split(result: Mapping[str, Any]) -> bool:
    """Tell whether a view shows that something was learned: splits, purchases, or answers that differ."""
    if "in_charge" in result:
        return is_split(result["in_charge"])
    if "n_leaves" in result:
        return result["n_leaves"] > 1
    if "bought" in result and not any(any(row) for row in result["bought"]):
        return False
    return len({str(row) for row in result["proba"]}) > 1


def example(X: Any, row: int) -> dict[str, Any]:
    """Return a row as a dict."""
    if isinstance(X, np.ndarray):
        return {f"x{j}": value for j, value in enumerate(X[row].tolist())}
    return X[row]


def tree(seen: Any) -> dict[str, Any]:
    """Return the structure of a tree: an inner node, all of its left side, all of its right side."""
    inner = [node for node in seen.nodes if not node.is_leaf]
    cuts = [node.test.value for node in inner if node.test.op == "<="]
    return {
        "of": seen.learner,
        "features": seen.features,
        "rows": seen.rows,
        "nodes": len(seen.nodes),
        "tested": {name: sum(node.test.feature == name for node in inner) for name in seen.features},
        "sum_of_cuts": float(np.sum([cut for cut in cuts if np.isfinite(cut)])),
        "gained": float(np.sum([node.gain for node in inner])),
        "shown": [_node(node) for node in seen.pruned(max_nodes=NODES).nodes],
    }


def _node(node: Any) -> list[Any]:
    way = "left" if node.missing_left else "right"
    test = [] if node.test is None else [node.test.feature, node.test.op, _categories(node.test.value), way]
    if node.is_leaf:
        leaf = node.leaf
        test = ["leaf", leaf.answered_by, leaf.growing, leaf.interval, leaf.consistent, leaf.labels_since_split]
        test.append(leaf.probability)
    return [*test, *([f"{node.hidden_leaves} leaves"] if node.hidden_leaves else []), node.prediction, *node.counts]


def _categories(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, tuple) else value


def why(result: Any) -> dict[str, Any]:
    """Return an explanation by its parts."""
    parts = {part.name: getattr(result, part.name) for part in fields(result)}
    if "path" in parts and "counts" in parts:
        parts["path"] = [
            [step.feature, step.test.op, _categories(step.test.value), step.passed] for step in result.path
        ]
    if "contributions" in parts:
        # By their former names, which stored values have.
        found = parts.pop("contributions")
        parts["singles"] = [{"feature": one.feature, "value": one.value, "told": one.log_odds} for one in found]
    return parts


def policy(tree: Any) -> dict[str, Any]:
    """Return what a buyer asks and answers, as a tree in preorder."""
    totals = {name: getattr(tree, name) for name in ("cost", "questions", "accuracy", "loss", "unfinished")}
    shown = tree.pruned(max_nodes=15)
    return totals | {"nodes": len(tree.nodes), "shown": [_policy_node(node) for node in shown.nodes]}


def _policy_node(node: Any) -> list[Any]:
    expected = [node.reach, node.cost, node.accuracy, node.visits, node.value]
    return [node.depth, node.branch, node.kind, node.question, node.price, node.stop, node.answer, *expected]


def purchases(result: Any) -> dict[str, Any]:
    """Return what the cases of rows bought."""
    return {"paid": result.cost, "bought": result.bought.astype(int), "answered": result.answers}


# Code bases of before count the rows of questions from 1.
FIRST_ROW = 0 if hasattr(qc.ledger, "QuestionLog") else 1


def blocks(truth: np.ndarray, answers: np.ndarray, size: int = 100) -> list[int]:
    """Return how many rows of each block were answered right."""
    return [int(np.sum(truth[i : i + size] == answers[i : i + size])) for i in range(0, len(truth), size)]


def questions(ledger: Any) -> dict[str, Any]:
    """Return what was asked."""
    asked = [ledger.question(id) for id in range(1, ledger.asked + 1)]
    return {
        "rows": [question.row + 1 - FIRST_ROW for question in asked],
        "features": [question.question for question in asked if question.question],
        "explored": [question.id for question in asked if question.explored],
        "changed": [question.id for question in asked if question.changed],
        "status": {status: sum(q.status == status for q in asked) for status in ("open", "answered", "expired")},
        "spent": ledger.spent,
        "propensities": float(np.sum([q.propensity for q in asked if q.propensity is not None])),
        "worths": float(np.sum([q.worth for q in asked if q.worth is not None])),
        "last": [[q.price, q.worth, q.propensity, q.prediction, q.probability, q.answer] for q in asked[-3:]],
    }


def run(result: Any) -> dict[str, Any]:
    """Return what `evaluate` measured."""
    names = ("rows", "labels", "classes", "confusion", "accuracy", "kappa", "log_loss", "brier", "money", "leaves")
    more = ("policy", "budget", "asked", "spent", "cost", "full_price", "bought")
    measured = {name: getattr(result, name) for name in (*names, *more)}
    if result.fair is not None:
        measured |= {"fair": result.fair._asdict(), "fair_recall": {k: v.value for k, v in result.fair_recall.items()}}
    return measured if result.ledger is None else measured | {"questions": questions(result.ledger)}


def case(result: Any) -> list[Any]:
    """Return how a case went: why it stopped, its answer, and in order what was bought and what came of it."""
    steps = [[s.kind, s.item, s.price, s.worth, s.results, s.prediction, s.probability] for s in result.explain().steps]
    return [result.stopped, result.prediction, result.cost, result.waiting, result.probabilities, steps]


def plain(value: Any) -> Any:
    """Return anything as JSON can hold it; a dict whose keys are no text becomes a list of pairs."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        pairs = [[plain(key), plain(part)] for key, part in value.items()]
        return dict(pairs) if all(isinstance(key, str) for key in value) else pairs
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    # The answer "give it to a person".
    return str(value)
