"""A case that is left at any step, saved, and finished by another process."""

import json
import subprocess
import sys

import numpy as np
import pytest

import quercus as qc

COSTS = {"a": 2.0, "panel": 3.0, "d": 0.0, "e": 1.0}
GROUPS = {"panel": ["b", "c"]}
FINISH = """
import json, sys
import quercus as qc

model, told = qc.load(sys.argv[1]), json.load(sys.stdin)
ends = []
for state, row in told:
    case, asked = model.resume(state), []
    while case.question is not None:
        asked.append(case.question)
        case.answer({name: row[name] for name in ("b", "c")} if case.question == "panel" else row[case.question])
    ends.append([asked, case.prediction, case.probabilities, case.cost, case.stopped])
print(json.dumps(ends))
"""


def patients(rows, seed):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.4
    shifts = {"a": 1.0, "b": 2.0, "c": 1.0, "d": 0.5, "e": 0.3}
    drawn = [{name: round(rng.normal(shift * one), 2) for name, shift in shifts.items()} for one in ill]
    return drawn, ["ill" if one else "well" for one in ill]


@pytest.mark.parametrize("arguments", [{}, {"objective": "ec2", "hypotheses": 60}, {"lookahead": 2}], ids=str)
def test_a_case_left_at_any_step_is_finished_by_another_process(arguments, tmp_path):
    rows, labels = patients(200, seed=1)
    model = qc.UtilityTree(costs=COSTS, groups=GROUPS, **arguments).fit(rows, labels)
    model.save(tmp_path / "model.quercus")
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
    found = subprocess.run(
        [sys.executable, "-c", FINISH, str(tmp_path / "model.quercus")],
        input=json.dumps(left),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert steps > 8
    assert json.loads(found.stdout) == json.loads(json.dumps(expected))
