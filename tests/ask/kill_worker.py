"""Asks and answers a fixed stream in a folder until it is through or killed; answers come late and out of order."""

import os
import sys

import numpy as np

import quercus as qc

ROWS = int(os.environ.get("QUERCUS_KILL_ROWS", "400"))
BUDGET = 0.3


def stream(rows=ROWS):
    X, y = qc.streams.SEA(seed=5).take(rows)
    names = ("a", "b", "c")
    return [dict(zip(names, row, strict=True)) for row in X.tolist()], y.tolist()


def new_asker(folder):
    return qc.Asker(qc.ConfidenceTree(grace_period=20), qc.ask.Uncertain(BUDGET), store=folder, save_every=7)


def work(asker):
    """Go on from where the files say: what is due is answered before the next row is seen, newest first."""
    rows, labels = stream()
    for i in range(asker.seen, len(rows) + 1):
        answer_due(asker, labels, i)
        if i < len(rows):
            asker.ask_one(rows[i])


def answer_due(asker, labels, row):
    due = [q for q in asker.open_questions if q.row + delay(q.row) <= row]
    for question in sorted(due, key=lambda q: (q.row + delay(q.row), -q.row)):
        asker.answer(question.id, labels[question.row])


def delay(row):
    return int(np.random.default_rng(row).integers(0, 12))


if __name__ == "__main__":
    work(new_asker(sys.argv[1]))
    print("through")
