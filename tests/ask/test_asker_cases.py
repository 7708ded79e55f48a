"""Cases behind an asker: features and labels in one store, and nothing learned that nobody paid for."""

import gc

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Always, Random
from quercus.ledger import KeyConflict
from tests.learners.listed import SOAK

COSTS = {"scan": 5.0, "blood": 2.0, "age": 0.0}


def patient(number):
    rng = np.random.default_rng(number)
    scan, blood = rng.integers(2), rng.integers(3)
    ill = (scan == 1) != (rng.random() < 0.1)
    x = {"scan": ["clear", "shadow"][scan], "blood": ["low", "high", "odd"][blood], "age": float(rng.integers(20, 80))}
    return x, "ill" if ill else "well"


def trees():
    return {
        "utility": lambda: qc.UtilityTree(costs=COSTS, seed=1),
        "reinforced": lambda: qc.ReinforcedTree(costs=COSTS, seed=1),
    }


def buy(case, x):
    """Answer what a case asks for."""
    while case.question is not None:
        case.answer(x[case.question])


def treat(asker, number):
    x, label = patient(number)
    case = asker.open({"age": x["age"]}, key=number)
    buy(case, x)
    question = asker.ask_one(case)
    if question is not None:
        asker.answer(question, label)
    return question


def same(ours, theirs):
    mine, other = ours.state_arrays(), theirs.state_arrays()
    return mine.keys() == other.keys() and all(mine[name].tobytes() == other[name].tobytes() for name in mine)


@pytest.fixture(params=["utility", "reinforced"])
def make(request):
    return trees()[request.param]


def test_it_learns_what_a_model_alone_learns_from_the_same_cases(make):
    asker, alone = qc.Asker(make(), Always()), make()
    for number in range(60):
        assert treat(asker, number) is not None
        x, label = patient(number)
        case = alone.open({"age": x["age"]})
        buy(case, x)
        alone.learn(case, label)
    assert same(asker.learner, alone)
    assert asker.learner.spent_ == alone.spent_
    bought = sum(q.price for q in asker.ledger.questions() if q.kind == "feature")
    assert asker.spent == pytest.approx(bought + 60)
    assert bought == pytest.approx(alone.spent_)


def test_only_what_was_paid_for_is_known_of_a_question(make):
    asker = qc.Asker(make(), Always())
    for number in range(40):
        question = treat(asker, number)
        bought = {q.question for q in asker.ledger.find(number) if q.kind == "feature"}
        assert set(question.features) == bought | {"age"}
        assert (question.kind, question.case, question.key) == ("label", number + 1, str(number))
    for act in (lambda: asker.ask_one(patient(1)[0]), lambda: asker.ask([patient(1)[0]])):
        with pytest.raises(TypeError, match="must not see values that nobody paid for; open a case"):
            act()
    with pytest.raises(TypeError, match="HoeffdingTree does not buy features"):
        qc.Asker(qc.HoeffdingTree(), Always()).open({})


def test_a_case_goes_on_after_the_process_ended(make, kept_store):
    whole, patients = qc.Asker(make(), Always()), 30 if SOAK else 12
    for number in range(patients):
        treat(whole, number)
    for number in range(patients):
        x, label = patient(number)
        with qc.Asker(make(), Always(), store=kept_store, save_every=7) as asker:
            case = asker.open({"age": x["age"]}, key=number)
            first = case.question
            if first is not None:
                case.answer(x[first])
        with qc.Asker(make(), Always(), store=kept_store, save_every=7) as asker:
            (case,) = asker.open_cases
            assert asker.open({"age": x["age"]}, key=number) is case
            assert (first is None) or (case.known[first] == x[first])
            buy(case, x)
            question = asker.ask_one(case)
            assert asker.ask_one(case) == question
        with qc.Asker(make(), Always(), store=kept_store, save_every=7) as asker:
            assert [q.id for q in asker.open_questions] == [question.id]
            assert asker.answer(question.id, label)
            assert asker.open_cases == []
    with qc.Asker(make(), Always(), store=kept_store) as asker:
        assert same(asker.learner, whole.learner)
        assert asker.learner.spent_ == whole.learner.spent_
        assert asker.spent == whole.spent


def test_after_corrections_the_model_is_that_of_the_right_answers(make, tmp_path):
    right, wrong = qc.Asker(make(), Always()), qc.Asker(make(), Always(), store=tmp_path / "labels.db", save_every=5)
    questions = []
    for number in range(40):
        x, label = patient(number)
        cases = [asker.open({"age": x["age"]}) for asker in (right, wrong)]
        # Bought alike, so that both know the same of each case.
        for item in ("scan", "blood"):
            for case in cases:
                case.order(item)
                case.receive({item: x[item]})
        right.answer(right.ask_one(cases[0]), label)
        other = {"ill": "well", "well": "ill"}[label] if number % 9 == 4 else label
        questions.append((wrong.ask_one(cases[1]), label, other))
        wrong.answer(questions[-1][0], other)
    for question, label, other in questions:
        assert wrong.correct(question, label) == (label != other)
    assert same(right.learner, wrong.learner)
    assert right.learner.spent_ == wrong.learner.spent_
    case = wrong.open({"age": 41.0})
    buy(case, patient(99)[0])
    wrong.close()
    with qc.Asker(make(), Always(), store=tmp_path / "labels.db") as again:
        assert same(right.learner, again.learner)
        assert len(again.open_cases) == 1


def test_a_label_that_is_not_bought_leaves_the_case_open():
    asker = qc.Asker(trees()["utility"](), Random(0.3))
    asked = [treat(asker, number) is not None for number in range(50)]
    assert 10 <= sum(asked) <= 15
    assert len(asker.open_cases) == 50 - sum(asked)
    asker.open_cases[0].cancel()
    assert len(asker.open_cases) == 49 - sum(asked)


def test_a_key_is_one_case(make):
    asker = qc.Asker(make(), Always())
    case = asker.open({"age": 41.0}, key="p7")
    assert asker.open({"age": 41}, key="p7") is case
    with pytest.raises(KeyConflict, match="'p7' has other values"):
        asker.open({"age": 42}, key="p7")
    with pytest.raises(ValueError, match="not opened by this asker"):
        asker.ask_one(make().open({"age": 1.0}))


def test_a_purchase_that_cannot_be_kept_has_not_happened(make, tmp_path):
    with qc.Asker(make(), Always(), store=tmp_path / "labels.db") as asker:
        case = asker.open({"age": 41.0})
        before = case.to_dict(), asker.spent, asker.ledger.asked, asker.learner.spent_
        raw = asker.ledger._database._connection.connection.dbapi_connection
        raw.execute("PRAGMA query_only=ON")
        with pytest.raises(ValueError, match="cannot be written"):
            case.answer("clear") if case.question == "scan" else case.answer("low")
        raw.execute("PRAGMA query_only=OFF")
        case.__class__._asking.__set__(case, None)
        assert (case.to_dict(), asker.spent, asker.ledger.asked, asker.learner.spent_) == before
        case.order("scan")
        assert asker.spent == 5.0


def test_the_value_of_a_feature_is_never_taken_for_a_label(make):
    asker = qc.Asker(make(), Always(budget=qc.ask.Labels(10)))
    case = asker.open({"age": 41.0}, key="p7")
    case.order("scan", "blood")
    scan, blood = asker.ledger.open
    case.receive({"blood": "low"})
    left = asker.left
    for act in (
        lambda: asker.answer(scan, "shadow"),
        lambda: asker.answer_many([(scan.id, "shadow")]),
        lambda: asker.correct(blood, "high"),
        lambda: asker.withdraw(scan),
    ):
        with pytest.raises(ValueError, match=r"feature '(scan|blood)' of a case, not about a label"):
            act()
    assert (case.known, asker.left, len(asker.ledger.open_ids)) == ({"age": 41.0, "blood": "low"}, left, 1)
    case.receive({"scan": "shadow"})
    assert asker.answer(asker.ask_one(case), "ill")
    assert list(asker.learner.classes_) == ["ill"]


def test_a_case_is_seen_once_until_more_is_known(kept_store):
    with qc.Asker(trees()["utility"](), Random(0.01), store=kept_store) as asker:
        case = asker.open({"age": 41.0})
        assert [asker.ask_one(case) for _ in range(3)] == [None] * 3
        assert asker.seen == 1
        case.order("scan")
        assert asker.ask_one(case) is None
        assert (asker.seen, asker.asked, asker.open_questions) == (2, 0, [])
    with qc.Asker(trees()["utility"](), Random(0.01), store=kept_store) as asker:
        (case,) = asker.open_cases
        assert asker.ask_one(case) is None
        assert asker.seen == 2


def test_what_a_buyer_had_spent_before_is_kept(make, tmp_path):
    known = make()
    for number in range(3):
        x, label = patient(number)
        case = known.open({"age": x["age"]})
        buy(case, x)
        known.learn(case, label)
    spent = known.spent_
    assert spent > 0
    with qc.Asker(known, Always(), store=tmp_path / "labels.db"):
        pass
    for count in range(2):
        with qc.Asker(make(), Always(), store=tmp_path / "labels.db") as asker:
            bought = sum(question.price for question in asker.ledger.questions() if question.kind == "feature")
            assert (asker.learner.spent_, asker.learner._opened) == (spent + bought, 3 + count)
            treat(asker, 50 + count)


def test_cases_that_nobody_holds_are_in_the_ledger_alone(make):
    asker = qc.Asker(make(), Always())
    for number in range(20):
        treat(asker, number)
    gc.collect()
    assert len(asker._shelf._live) == 0
    assert asker.ledger.n_cases == 20
