"""Classes that an asker is told beforehand."""

import pytest

import quercus as qc

ROW = {"a": 0.1, "b": 0.2}


def make(classes, **given):
    return qc.Asker(qc.BayesianForest(trees=2, depth=2), qc.ask.Random(1.0), classes=classes, **given)


@pytest.mark.parametrize("classes", [[], "pq", {"p", "q"}, ["p", None], ["p", 1], 3, {"p": 1}])
def test_what_is_no_list_of_labels_is_refused(classes, tmp_path):
    with pytest.raises((TypeError, ValueError)):
        make(classes, folder=tmp_path / "asker")
    assert not (tmp_path / "asker").exists()


def test_an_answer_of_another_type_is_refused_and_stays_open():
    asker = make([0, 1])
    question = asker.ask_one(ROW)
    with pytest.raises(ValueError, match="labels were int and are now str"):
        asker.answer(question.id, "p")
    assert len(asker.open_questions) == 1
    asker.answer(question.id, 1)
    assert asker.learner.classes_.tolist() == [0, 1]


def test_a_folder_belongs_to_its_classes(tmp_path):
    with make(["p", "q"], folder=tmp_path / "asker") as asker:
        asker.answer(asker.ask_one(ROW).id, "p")
    with pytest.raises(ValueError, match="another classes"):
        make(None, folder=tmp_path / "asker")
    with make(["p", "q"], folder=tmp_path / "asker") as asker:
        assert asker.learner.classes_.tolist() == ["p", "q"]
