"""The compiled loop that answers, asks and learns does what asking row by row does."""

import pytest

import quercus as qc
from quercus.checks.data import adversarial_stream

POLICIES = (qc.ask.Uncertain, qc.ask.Random, qc.ask.Confident, qc.ask.VariableUncertainty)


class ByRow(qc.EvergreenTree):
    """Without the compiled loop."""

    @property
    def _ask_rows(self):
        raise AttributeError


@pytest.mark.sampled(3)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("delay", [0, 120])
def test_the_compiled_loop_asks_and_learns_the_same(policy, delay):
    stream = adversarial_stream(1500)
    runs = []
    for learner in (qc.EvergreenTree(), ByRow()):
        run = qc.evaluate((stream.rows, stream.labels), learner, ask=policy(budget=0.3), delay=delay)
        state = {name: array.tobytes() for name, array in learner.state_arrays().items()}
        runs.append((run.accuracy, run.labels, state))
    assert runs[0] == runs[1]
    assert runs[0][1] > 100


def test_only_rows_that_were_not_chosen_are_watched():
    X, y = qc.streams.SEA(seed=3).take(2_000)
    y = [str(label) for label in y[:1200]] + [str(1 - int(label)) for label in y[1200:]]
    monitored, unmonitored = qc.EvergreenTree(), qc.EvergreenTree()
    monitored.learn_monitored(X, y, [True] * len(y))
    unmonitored.learn_monitored(X, y, [False] * len(y))
    assert monitored.rows_ < unmonitored.rows_ == 2_000
    with pytest.raises(ValueError, match="one True or False for each"):
        monitored.learn_monitored(X[:2], y[:2], [True])
    with pytest.raises(AttributeError):
        qc.EvergreenTree(adaptive=False).learn_monitored(X[:2], y[:2], [True, True])
