"""A case that is left at any step, saved, and finished by another process."""

import json
import subprocess
import sys

import numpy as np

import quercus as qc

COSTS = {"a": 2.0, "panel": 3.0, "d": 0.0, "e": 1.0}
GROUPS = {"panel": ["b", "c"]}
FINISH = """
import json, sys
import quercus as qc

def finish(path, told):
    model = qc.load(path)
    for state, row in told:
        case, asked = model.resume(state), []
        while case.question is not None:
            asked.append(case.question)
            case.answer({name: row[name] for name in ("b", "c")} if case.question == "panel" else row[case.question])
        yield asked, case.prediction, case.probabilities, case.cost, case.stopped

print(json.dumps([list(finish(path, told)) for path, told in json.load(sys.stdin)]))
"""


def patients(rows, seed):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    shifts = {"a": 1.0, "b": 2.0, "c": 1.0, "d": 0.5, "e": 0.3}
    drawn = [{name: round(rng.normal(shift * one), 2) for name, shift in shifts.items()} for one in ill]
    return drawn, ["ill" if one else "well" for one in ill]


def leave_cases(path, **arguments):
    """Save a model; return cases that are left at any step, with their rows, and how each ends."""
    rows, labels = patients(200, seed=1)
    model = qc.UtilityTree(costs=COSTS, groups=GROUPS, **arguments).fit(rows, labels)
    model.save(path)
    left, expected, steps = [], [], 0
    for explore, row in zip((True, False) * 3, patients(6, seed=2)[0], strict=True):
        case, states, asked = model.open(explore=explore), [], []
        while case.question is not None:
            states.append(json.loads(json.dumps(case.to_dict())))
            asked.append(case.question)
            item = case.question
            case.answer({name: row[name] for name in GROUPS[item]} if item in GROUPS else row[item])
        states.append(case.to_dict())
        end = [case.prediction, case.probabilities, case.cost, case.stopped]
        for done, state in enumerate(states):
            left.append([state, row])
            expected.append([asked[done:], *end])
        steps += len(asked)
    assert steps > 8
    return left, expected


def test_a_case_left_at_any_step_is_finished_by_another_process(tmp_path):
    models = {"plain": {}, "ec2": {"objective": "ec2", "hypotheses": 60}, "ahead": {"lookahead": 2}}
    cases = {str(tmp_path / name): leave_cases(tmp_path / name, **given) for name, given in models.items()}
    left = [(path, told) for path, (told, _) in cases.items()]
    command = [sys.executable, "-c", FINISH]
    found = subprocess.run(command, input=json.dumps(left), capture_output=True, text=True, check=True, timeout=300)
    assert json.loads(found.stdout) == json.loads(json.dumps([expected for _, expected in cases.values()]))
