"""Figures and refusals of the parts of a ledger, one line each."""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from quercus.ledger import betting, errors, features, place, statements, values
from quercus.ledger.counts import EventCount, RecallCounts
from quercus.ledger.coverage import Coverage
from quercus.ledger.features import block_to_json, read_block
from quercus.ledger.labels import LabelRows, LabelType, type_of
from quercus.ledger.sequences import RunningMean
from quercus.ledger.statements import Statement, call

FAILED = DBAPIError("", {}, OSError("no such table: row"))
NOWHERE = Path("nowhere")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            values.read_features({"age": 41, "job": "clerk", "pay": math.nan}),
            {"age": 41.0, "job": "clerk", "pay": None},
        ),
        (values.read_whole(2**60, "account", ""), 1.152921504606847e18),
        (values.to_micros(datetime(1970, 1, 1, 0, 0, 1)), 1_000_000),
        (values.from_micros(1_000_000), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (values.known(math.nan), None),
        (values.by_column([{"id": 1, "key": None}, {"id": 2, "key": "7"}]), {"id": [1, 2], "key": [None, "7"]}),
        (features.get_values(features.Texts(np.array([0, -1]), ["a"])), ["a", None]),
        (features.get_values(np.array([1.5, np.nan])), [1.5, None]),
        (features.pack_values([1.5, "a"]), [1.5, "a"]),
        (features.pack_values([True, False]).tolist(), [True, False]),
        (features.pack_rows([{"age": 41.0}, {"job": "clerk"}]).absent.tolist(), [[False, True], [True, False]]),
        (read_block(np.eye(2), names=["a", "b"]).names, ["a", "b"]),
        (block_to_json(read_block({"age": [41, None]})), ['{"age":41.0}', '{"age":null}']),
        (LabelType().check(np.int64(3), "the answer"), 3),
        (LabelType().read(["a", None, "a"], "prediction", 3).codes.tolist(), [0, -1, 0]),
        (type_of(LabelRows(np.array([0]), [True])), "bool"),
        (statements.brief(FAILED), "no such table: row"),
        (statements.is_gone(FAILED), False),
        (place.reading_mode(NOWHERE), "mode=ro"),
        (place.is_to_be_checked(NOWHERE), True),
        (place.identity_of(NOWHERE), (0, 0)),
        (place.path_of_address("sqlite:////tmp/a b.db").name, "a b.db"),
        (
            place.show_address(sa.engine.make_url("postgresql://me:secret@host/name?password=secret")),
            "postgresql://me:***@host/name?password=***",
        ),
        (round(betting.idle_factor(np.expm1([0.001]), 0.7, 0.1).item(), 6), 1.000698),
        (betting.least_total(np.array([10.0]), np.array([2.0]), np.array([0.0]), 3.0), 3.5),
        (betting.spread_stakes(np.array([0.25]), (-5, -1), 4.0)[0].max(), 4.0),
        (betting.add_in_order(0.1, np.array([0.2, 0.3])), 0.1 + 0.2 + 0.3),
        (betting.add_wide(np.array([0.1]), np.array([[0.2], [0.3]])).tolist(), [0.1 + 0.2 + 0.3]),
        (betting.check_levels(0.1, [0.5]).tolist(), [0.1, 0.5]),
    ],
)
def test_figures(found, expected):
    assert found == expected


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (
            lambda: values.read_value(2**53 + 1, "account"),
            ValueError,
            "'account' holds 9007199254740993, which no float",
        ),
        (lambda: values.check_name(5, "who"), TypeError, "who=5 is a int; give text, or None."),
        (lambda: LabelType("str").check(True, "it"), errors.LabelMismatch, r"labels were str and it is bool \(True\)"),
        (lambda: place.check_path(NOWHERE, True), errors.LedgerFileError, "there is no 'nowhere'; give the file of a"),
        (lambda: place.server_url("postgresql://me@host:many/name"), ValueError, "the address of the database cannot"),
        (lambda: place.server_engine(sa.engine.make_url("mysql://me@host/name")), ValueError, "not by 'mysql'"),
        (lambda: betting.check_propensities([0.5, 0.05], 0.1), ValueError, "0.05 is not between the least one, 0.1"),
        (lambda: betting.read_array({"a": [1]}, "a", np.zeros(2)), ValueError, r"has shape \(1,\), not \(2,\)"),
    ],
)
def test_refusals(body, error, message):
    with pytest.raises(error, match=message):
        body()


def test_an_error_of_a_database_is_explained():
    told = "the ledger 'a.db' could not be used (no such table: row): see what the database says, then repeat the call."
    assert str(statements.explain(FAILED, "'a.db'")) == told


def test_a_database_without_tables_is_no_ledger_until_it_has_them():
    with sa.create_engine("sqlite://").begin() as connection:
        with pytest.raises(errors.LedgerFileError, match="it holds no ledger; see whether the name is right"):
            place.check_form(connection, "it")
        place.bring_to_form(connection, "it")
        place.check_form(connection, "it")


def test_a_lock_is_held_once(tmp_path):
    with place.lock_beside(tmp_path / "a.db"), pytest.raises(errors.LedgerLocked, match="open for writing in process"):
        place.lock_beside(tmp_path / "a.db")


def test_statements_run_once_and_for_many():
    table = sa.Table("tree", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("name", sa.Text))
    plant = Statement(sa.insert(table), ["id", "name"])
    with sa.create_engine("sqlite://").begin() as connection:
        table.create(connection)
        assert plant.run(connection, {"id": 1, "name": "oak"}) == 1
        plant.run_many(connection, {"id": [2, 3], "name": ["elm", "ash"]})
        assert connection.execute(sa.select(table.c.name)).scalars().all() == ["oak", "elm", "ash"]
        with pytest.raises(DBAPIError, match='near "EARLY": syntax error'):
            call(connection, connection.connection.dbapi_connection.execute, "BEGIN EARLY")


def test_events_are_counted():
    frauds = EventCount(0.1)
    frauds.add_many([0.1] * 50 + [1.0] * 20)
    assert (frauds.seen, round(frauds.estimate), round(frauds.least(0.05)), round(frauds.most(0.05))) == (
        70,
        520,
        346,
        757,
    )


def test_recall_is_counted():
    counts = RecallCounts(0.1)
    counts.add_many(np.array([0.1, 1.0]), np.array([1.0, 0.0]), ["cat", "cat"])
    assert (counts.labels("cat"), round(counts.estimate("cat"), 2), counts.plain("cat")) == (2, 0.91, 0.5)


def test_a_running_mean_has_bounds():
    mean = RunningMean(0.1)
    mean.add_many(values=[1.0, 0.0] * 200, propensities=[0.1] * 400, gaps=[9] * 400)
    assert (mean.rows, mean.labels, mean.estimate) == (4000, 400, 0.5)
    assert [round(bound, 3) for bound in mean.interval(alpha=0.05)] == [0.422, 0.578]


def test_rows_are_covered():
    coverage = Coverage(0.1)
    step = coverage.plan([5, 9], covered=[5, 8], propensities=np.array([0.1, 0.3]))
    coverage.take(step)
    assert (step.gaps.ravel().tolist(), coverage.rows, coverage.covered) == ([4, 2, 0], 9, 8)
