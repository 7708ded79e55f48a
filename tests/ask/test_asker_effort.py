"""How much an asker does for one label, counted in what does not depend on the machine."""

import sys

import quercus as qc


def count_calls(body):
    """Functions of Python that are called meanwhile."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        body()
    finally:
        sys.setprofile(None)
    return calls


def test_a_durable_label_takes_few_calls_and_statements(tmp_path):
    with qc.Asker(qc.ConfidenceTree(), qc.ask.Always(), store=tmp_path / "labels.db") as asker:

        def take(rows):
            for i in rows:
                asker.answer(asker.ask_one({"a": float(i), "b": float(i % 7)}), i % 2)

        take(range(50))
        statements = []
        raw = asker.ledger._database._connection.connection.dbapi_connection
        assert count_calls(lambda: take(range(100))) / 100 < 560
        raw.set_trace_callback(statements.append)
        take(range(20))
        raw.set_trace_callback(None)
    assert sum(text == "COMMIT" for text in statements) == 40
    assert len(statements) <= 20 * 11


class CountingTree(qc.HoeffdingTree):
    """A tree that counts how often it is asked for probabilities."""

    asked = 0

    def predict_proba_one(self, x):
        CountingTree.asked += 1
        return super().predict_proba_one(x)

    def region_one(self, x, by_counts=False):
        CountingTree.asked += 1
        return super().region_one(x, by_counts)


def test_a_learner_tells_its_probabilities_once_for_a_row():
    asker = qc.Asker(CountingTree(), qc.ask.Always())
    asker.answer(asker.ask_one({"a": 1.0}), "yes")
    CountingTree.asked = 0
    assert asker.ask_one({"a": 2.0}).probability == 1.0
    assert CountingTree.asked == 1


def test_answers_that_waited_together_take_few_statements_and_leave_the_same(tmp_path):
    X, y = qc.streams.SEA(seed=1).take(3000)
    left = []
    for at_once in (True, False):
        with qc.Asker(qc.ConfidenceTree(), qc.ask.Always(), store=tmp_path / f"{at_once}.db") as asker:
            answers = [(question.id, int(y[question.row])) for question in asker.ask(X)]
            statements = []
            asker.ledger._database._connection.connection.dbapi_connection.set_trace_callback(statements.append)
            if at_once:
                asker.answer_many(answers)
                assert sum(text.startswith("SELECT") for text in statements) <= 10
                assert sum(text == "COMMIT" for text in statements) <= 6
            else:
                for answer in answers:
                    asker.answer(*answer)
            kept = [(q.answer, q.answer_order, q.changed) for q in asker.ledger.questions()]
            left.append((kept, asker.learner.to_bytes(), asker.state.to_bytes()))
    assert left[0] == left[1]
