"""Works through a fixed stream, again and again killed: ``python -m tests.ask.kill_worker STORE KIND KILLS``.

Answers come late and out of order, some are wrong at first and corrected later, some questions are withdrawn; cases buy
features before their label is asked for. Each child process goes on from the store until it is killed or through.
"""

import os
import random
import signal
import sys
import time

import numpy as np

import quercus as qc
from quercus.ledger import LedgerLocked

ROWS = {"labels": 300, "exchanges": 300, "cases": 80}
COSTS = {"scan": 5.0, "blood": 2.0, "age": 0.0}


def stream(rows=ROWS["labels"]):
    X, y = qc.streams.SEA(seed=5).take(rows)
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()], y.tolist()


def open_soon(open_it):
    """A server takes a moment to notice that the last process was killed."""
    for _ in range(500):
        try:
            return open_it()
        except LedgerLocked:
            time.sleep(0.01)
    return open_it()


def new_asker(store, kind="labels"):
    if kind == "cases":
        tree, policy = qc.UtilityTree(costs=COSTS, seed=1), qc.ask.Random(0.7)
    elif kind == "exchanges":
        tree, policy = qc.EvergreenTree(), qc.ask.Uncertain(0.3)
    else:
        tree, policy = qc.ConfidenceTree(grace_period=20), qc.ask.Uncertain(0.3)
    return open_soon(lambda: qc.Asker(tree, policy, store=store, save_every=7))


def work(asker, kind="labels"):
    """Go on from where the store says: what is due is done before the next row is seen."""
    (work_on_cases if kind == "cases" else work_on_labels)(asker)


def work_on_labels(asker):
    rows, labels = stream()
    for i in range(asker.seen, len(rows) + 40):
        settle(asker, labels, i)
        if i < len(rows):
            asker.ask_one(rows[i], key=i)


def settle(asker, labels, row):
    """Answer and withdraw what is due by this row, newest first; then correct."""
    due = [q for q in asker.open_questions if q.row + delay(q.row) <= row]
    for question in sorted(due, key=lambda q: (q.row + delay(q.row), -q.row)):
        label = labels[question.row]
        if question.row % 11 == 5:
            asker.withdraw(question)
        else:
            asker.answer(question, 1 - label if question.row % 7 == 3 else label)
    for question in asker.ledger.questions():
        if question.row % 7 == 3 and question.row + 30 <= row and question.status == "answered":
            asker.correct(question, labels[question.row], exchange=isinstance(asker.learner, qc.EvergreenTree))


def delay(row):
    return int(np.random.default_rng(row).integers(0, 12))


def work_on_cases(asker):
    for number in range(ROWS["cases"]):
        x, label = patient(number)
        case = asker.open({"age": x["age"]}, key=number)
        closed = case.to_dict()["closed"] is not None
        while not closed and case.question is not None and number >= asker.seen:
            case.answer(x[case.question])
        if closed or (number < asker.seen and not asker.ledger.label_of_case(number + 1)):
            continue
        question = asker.ask_one(case)
        if question is not None:
            asker.answer(question, label)


def patient(number):
    rng = np.random.default_rng(number)
    scan, blood = rng.integers(2), rng.integers(3)
    x = {"scan": ["clear", "shadow"][scan], "blood": ["low", "high", "odd"][blood], "age": float(rng.integers(20, 80))}
    return x, "ill" if (scan == 1) != (rng.random() < 0.1) else "well"


def kill_often(store, kind, kills):
    """Kill one process after the other, each at some moment of its work; print how many there were."""
    chance, killed = random.Random(store), 0
    work(new_asker(None, kind), kind)  # compiled once, for all that follow
    while killed < kills:
        child = os.fork()
        if child == 0:
            asker = new_asker(store, kind)
            work(asker, kind)
            asker.close()
            os._exit(0)
        time.sleep(chance.random() ** 2 * 0.25)
        os.kill(child, signal.SIGKILL)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            break
        killed += 1
    print(killed)


if __name__ == "__main__":
    kill_often(sys.argv[1], sys.argv[2], int(sys.argv[3]))
