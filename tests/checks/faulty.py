"""Learners that break the contract in one way each, and the check that must notice."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np
from sound import MISSING, Frozen, Outcome, Sound, State

FAULTS: list[tuple[str, type, str]] = []


def breaks(check: str, words: str) -> Any:
    """Register a faulty learner under the check that it fails and words of the failure."""

    def register(learner: type) -> type:
        FAULTS.append((check, learner, words))
        return learner

    return register


@breaks("check_before_the_first_example", "predict_one before the first example should give None")
class GuessesAtOnce(Sound):
    def predict_one(self, x):
        return super().predict_one(x) or "no"


@breaks("check_before_the_first_example", "predict before the first example should raise NotFittedError")
class AnswersUnfitted(Sound):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "_state") else np.array(["no"] * len(X))


@breaks("check_probabilities_cover_all_classes", "should sum to 1")
class SumsToTwo(Sound):
    def _shares(self, state, row):
        return [2 * share for share in super()._shares(state, row)]


@breaks("check_probabilities_cover_all_classes", "classes_ is")
class FewClasses(Sound):
    @property
    def classes_(self):
        return super().classes_[:2]


@breaks("check_classes_are_sorted_and_ties_go_to_the_first", "classes_ should be sorted")
class Unsorted(Sound):
    @property
    def classes_(self):
        return np.array(self._fitted().labels)


@breaks("check_classes_are_sorted_and_ties_go_to_the_first", "two classes as probable as each other")
class LastWins(Sound):
    def predict(self, X):
        shares = self.predict_proba(X)[:, ::-1]
        return self.classes_[::-1][np.argmax(shares, axis=1)]


@breaks("check_one_row_gets_the_answer_of_many", "should not depend on the rows beside it")
class LooksAround(Sound):
    def predict_proba(self, X):
        shares = super().predict_proba(X)
        return np.minimum.accumulate(shares, axis=0)


@breaks("check_one_class_only", "should have probability 1")
class NeverSure(Sound):
    def _shares(self, state, row):
        shares = super()._shares(state, row)
        return shares if len(shares) > 1 else [0.5]


@breaks("check_constant_columns", "raised ZeroDivisionError")
class NeedsVariation(Sound):
    def _learn_table(self, X, y, sample_weight):
        super()._learn_table(X, y, sample_weight)
        if len(self._state.names) == 2:
            1 / (len({key[1] for key in self._state.counts if key[0] == 0}) - 1)


@breaks("check_missing_everywhere", "not finite")
class NanThrough(Sound):
    def _shares(self, state, row):
        shares = super()._shares(state, row)
        return [float("nan")] * len(shares) if all(value is MISSING for value in row) else shares


@breaks("check_labels_keep_their_type", "predict_one should give int labels back")
class NumpyLabels(Sound):
    def predict_one(self, x):
        answer = super().predict_one(x)
        return np.array([answer])[0] if isinstance(answer, int) else answer


@breaks("check_labels_keep_their_type", "predict should give bool labels back")
class BooleansBecomeNumbers(Sound):
    def predict(self, X):
        answers = super().predict(X)
        return answers.astype(int) if answers.dtype == bool else answers


@breaks("check_new_category_when_predicting", "raised KeyError")
class KnownCategoriesOnly(Sound):
    def _shares(self, state, row):
        for place, value in enumerate(row):
            if isinstance(value, str):
                state.categories[place, value]
        return super()._shares(state, row)


@breaks("check_mixed_input_forms_give_the_same_state", "a dict of columns should give the state of a list of dicts")
class MissingIsText(Sound):
    def _read_table(self, X):
        if isinstance(X, dict):
            X = {name: ["None" if v is None and name == "job" else v for v in column] for name, column in X.items()}
        return super()._read_table(X)


@breaks("check_numeric_input_forms_give_the_same_state", "a Fortran-ordered array should give")
class ReadsMemory(Sound):
    def _read_table(self, X):
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            X = X.ravel(order="K").reshape(X.shape)
        return super()._read_table(X)


@breaks("check_label_forms_give_the_same_state", "labels in an object array")
class HatesObjects(Sound):
    def _read_labels(self, y, rows):
        if isinstance(y, np.ndarray) and y.dtype == object:
            y = y[::-1]
        return super()._read_labels(y, rows)


@breaks("check_memory_stays_under_max_bytes", "max_bytes is")
class Greedy(Sound):
    @property
    def nbytes(self):
        return 2**22


@breaks("check_memory_stays_under_max_bytes", "nbytes tells 0")
class Modest(Sound):
    @property
    def nbytes(self):
        return 0


@breaks("check_frozen_learner_predicts_the_same_and_refuses_to_learn", "should never change")
class FreezesNothing(Sound):
    def freeze(self):
        frozen = Frozen(self)
        frozen._learner = self
        return frozen


@breaks("check_frozen_learner_predicts_the_same_and_refuses_to_learn", "should refuse partial_fit")
class StillLearns(Sound):
    def freeze(self):
        return copy.deepcopy(self)


@breaks("check_two_threads_never_corrupt_it", "one after the other")
class LosesUpdates(Sound):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        mine = copy.deepcopy(getattr(self, "_state", None))
        time.sleep(0.01)
        other = Sound()
        if mine is not None:
            other._state = mine
        self._state = other.partial_fit(X, y, sample_weight=sample_weight)._state
        return self


@breaks("check_two_threads_never_corrupt_it", "should wait or raise RuntimeError")
class OtherError(Sound):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        try:
            return super().partial_fit(X, y, classes, sample_weight)
        except RuntimeError as error:
            raise KeyError("busy") from error


@breaks("check_threads_may_predict_together", "gave other answers")
class SharedBuffer(Sound):
    def predict_proba(self, X):
        self._turn = getattr(self, "_turn", 0) + 1
        turn = self._turn
        shares = super().predict_proba(X)
        return shares if turn == self._turn else shares[::-1].copy()


@breaks("check_test_then_learn_equals_row_by_row", "where predict_proba_one gives")
class LearnsFirst(Sound):
    def test_then_learn(self, X, y, sample_weight=None):
        self.partial_fit(X, y, sample_weight=sample_weight)
        proba = np.array([self._shares(self._state, row) for row in self._read_table(X)[1]])
        truth = np.array([self._state.labels.index(label) for label in y])
        return Outcome(truth, proba.argmax(axis=1), proba, list(self._state.labels))


@breaks("check_test_then_learn_in_any_partition", "same answers in batches")
class AnswersPerBatch(Sound):
    def test_then_learn(self, X, y, sample_weight=None):
        outcome = super().test_then_learn(X, y, sample_weight)
        outcome.answers[:] = np.bincount(outcome.answers + 1).argmax() - 1
        return outcome


@breaks("check_random_labels_cannot_be_foreseen", "test_then_learn foresaw 2000 of 2000")
class LooksAhead(Sound):
    def test_then_learn(self, X, y, sample_weight=None):
        outcome = super().test_then_learn(X, y, sample_weight)
        return outcome._replace(answers=outcome.truth)


@breaks("check_refused_input_changes_nothing", "refusing an infinite value should change nothing")
class HalfDone(Sound):
    def _learn_table(self, X, y, sample_weight):
        if isinstance(X, list) and len(X) == len(y) and sample_weight is None:
            for row, label in zip(X, y, strict=True):
                super()._learn_table([row], [label], None)
        else:
            super()._learn_table(X, y, sample_weight)


@breaks("check_refused_input_changes_nothing", "accepted an infinite value")
class AcceptsInf(Sound):
    def _read_value(self, value, name, place):
        return 99.0 if value in (np.inf, -np.inf) else super()._read_value(value, name, place)


@breaks("check_refused_input_changes_nothing", "it raised KeyError")
class RaisesKeyError(Sound):
    def _read_weights(self, weights, rows):
        try:
            return super()._read_weights(weights, rows)
        except ValueError as error:
            raise KeyError("weights") from error


@breaks("check_refused_input_changes_nothing", "go on as one that was never given it")
class RemembersRefusals(Sound):
    def _read_all(self, X, y, sample_weight):
        if hasattr(self, "_state") and isinstance(X, list):
            for row in X:
                job = row.get("job") if isinstance(row, dict) else None
                if isinstance(job, str):
                    self._state.categories.setdefault((2, job), len(self._state.categories))
        return super()._read_all(X, y, sample_weight)


@breaks("check_refused_first_input_leaves_it_unfitted", "should still raise NotFittedError")
class BeginsTooEarly(Sound):
    def _read_labels(self, y, rows):
        if not hasattr(self, "_state"):
            self._state = State(["amount", "paid", "job", "age", "level", "member"])
        return super()._read_labels(y, rows)

    def predict(self, X):
        return np.array(["no"] * len(X)) if hasattr(self, "_state") else super().predict(X)


@breaks("check_errors_name_column_and_row", "does not say 'amount'")
class Vague(Sound):
    def _read_value(self, value, name, place):
        try:
            return super()._read_value(value, name, place)
        except ValueError as error:
            raise ValueError("bad input") from error


@breaks("check_state_is_plain_arrays", "holds Python objects")
class ObjectState(Sound):
    def state_arrays(self):
        return super().state_arrays() | {"labels": np.array(self._fitted().labels, dtype=object)}


@breaks("check_any_partition_gives_the_same_state", "should give the state of partial_fit on all rows")
class SortsBatch(Sound):
    def _learn_table(self, X, y, sample_weight):
        state, rows, labels, weights = self._read_all(X, y, sample_weight)
        for label in sorted(set(labels) - set(state.labels)):
            state.labels.append(label)
            state.totals[state.labels.index(label)] = 0.0
        for row, label, weight in zip(rows, labels, weights, strict=True):
            self._count(state, row, label, weight)
        self._state = state


@breaks("check_weighted_rows_in_any_partition_give_the_same_state", "weighted rows one by one")
class UnweightedRows(Sound):
    def learn_one(self, x, y, w=1.0):
        super().learn_one(x, y, 1.0)


@breaks("check_pickled_in_the_middle_goes_on_the_same", "pickled learner should be in the same state")
class PicklesBadly(Sound):
    def __getstate__(self):
        state = copy.deepcopy(super().__getstate__())
        if "_state" in state:
            state["_state"].counts.popitem()
        return state


@breaks("check_copied_in_the_middle_goes_on_the_same", "alone")
class SharesCopies(Sound):
    def __deepcopy__(self, memory):
        other = type(self)(**self.get_params())
        if hasattr(self, "_state"):
            other._state = self._state
        return other


@breaks("check_predicting_changes_nothing", "predicting should change nothing")
class CountsQuestions(Sound):
    def predict(self, X):
        self._fitted().totals[0] += 1
        return super().predict(X)


@breaks("check_predicting_changes_nothing", "a learner that predicted should learn as before")
class NotesCategories(Sound):
    def predict_one(self, x):
        answer = super().predict_one(x)
        if hasattr(self, "_state") and isinstance(x.get("job"), str):
            self._state.categories.setdefault((2, x["job"]), len(self._state.categories))
        return answer


@breaks("check_zero_weight_is_removal", "as good as removed")
class KeepsWeightless(Sound):
    def _count(self, state, row, label, weight):
        super()._count(state, row, label, weight or 1e-12)


@breaks("check_weight_two_counts_more", "weigh twice")
class IgnoresWeights(Sound):
    def _read_weights(self, weights, rows):
        return [float(weight > 0) for weight in super()._read_weights(weights, rows)]


@breaks("check_order_of_dict_keys_does_not_matter", "order of a dict's keys")
class ReadsByPosition(Sound):
    def _learn_table(self, X, y, sample_weight):
        if hasattr(self, "_state") and len(X) == 1:
            X = [dict(zip(self._state.names, X[0].values(), strict=True))]
            self._state.kinds = [None] * len(self._state.names)
        super()._learn_table(X, y, sample_weight)


@breaks("check_constructor_arguments_stay", "replaced the constructor argument 'seed'")
class ChangesArguments(Sound):
    def _learn_table(self, X, y, sample_weight):
        super()._learn_table(X, y, sample_weight)
        self.seed += 1


@breaks("check_inputs_are_left_alone", "changed the rows or labels")
class WritesIntoInput(Sound):
    def _read_table(self, X):
        if isinstance(X, dict):
            X["amount"][0] = 0.0
        return super()._read_table(X)


@breaks("check_inputs_are_left_alone", "changed the array")
class FillsMissing(Sound):
    def _read_table(self, X):
        if isinstance(X, np.ndarray) and X.dtype.kind == "f":
            np.nan_to_num(X, copy=False)
        return super()._read_table(X)
