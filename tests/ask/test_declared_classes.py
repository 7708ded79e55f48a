"""Classes that an asker is told beforehand."""

import pytest

import quercus as qc

ROW = {"a": 0.1, "b": 0.2}


def make(classes, **given):
    return qc.Asker(qc.BayesianForest(trees=2, depth=2), qc.ask.Random(1.0), classes=classes, **given)


@pytest.mark.parametrize("classes", [[], "pq", {"p", "q"}, ["p", None], ["p", 1], 3, {"p": 1}])
def test_what_is_no_list_of_labels_is_refused(classes, tmp_path):
    with pytest.raises((TypeError, ValueError)):
        make(classes, store=tmp_path / "asker.db")
    assert not (tmp_path / "asker").exists()


def test_an_answer_of_another_type_is_refused_and_stays_open():
    asker = make([0, 1])
    question = asker.ask_one(ROW)
    with pytest.raises(ValueError, match="none of the classes; they are 0, 1"):
        asker.answer(question.id, "p")
    assert len(asker.open_questions) == 1
    asker.answer(question.id, 1)
    assert asker.learner.classes_.tolist() == [0, 1]


def test_a_folder_belongs_to_its_classes(tmp_path):
    with make(["p", "q"], store=tmp_path / "asker.db") as asker:
        asker.answer(asker.ask_one(ROW).id, "p")
    with pytest.raises(ValueError, match="another classes"):
        make(None, store=tmp_path / "asker.db")
    with make(["p", "q"], store=tmp_path / "asker.db") as asker:
        assert asker.learner.classes_.tolist() == ["p", "q"]
