"""Rows with keys of the application, brought over from a Parquet file."""

from quercus.ledger import Ledger
from quercus.ledger.importing import import_ledger


def told(ledger):
    # A column of a table holds None where a row did not name the feature.
    return [
        (q.id, q.key, q.kind, q.answer, {name: value for name, value in q.features.items() if value is not None})
        for q in ledger.questions()
    ]


def test_several_questions_about_one_key_are_brought_over(tmp_path, kept_store):
    with Ledger() as old:
        case = old.open_case({"age": 41}, {}, key="p7")
        old.ask({"age": 41}, row=0, covered=1, kind="feature", question="mri", case=case)
        old.answer(1, 13.1)
        old.ask({"age": 41, "mri": 13.1}, row=0, covered=1, case=case)
        old.ask({"age": 29}, row=1, covered=2, key="p8")
        old.ask({"age": 29}, row=2, covered=3)
        old.ask({"age": 29}, row=2, covered=3)
        old.write(tmp_path / "questions.parquet")
        before = told(old)
    with import_ledger(tmp_path / "questions.parquet", kept_store) as new:
        assert told(new) == before
        assert [q.id for q in new.find("p7")] == [1, 2]
        assert new.ask({"age": 29}, row=3, covered=4, key="p9") == 6


def test_a_row_that_was_brought_over_is_found_by_its_values(tmp_path):
    with Ledger() as old:
        old.ask({"age": 29}, row=0, covered=1, key="p8")
        old.ask({"age": 30, "mri": 2}, row=1, covered=2, key="p9")
        old.write(tmp_path / "questions.parquet")
    with import_ledger(tmp_path / "questions.parquet", tmp_path / "new.db") as new:
        assert new.ask({"age": 29}, row=0, covered=1, key="p8") == 1
        assert new.ask({"mri": 2, "age": 30}, row=1, covered=2, key="p9") == 2
