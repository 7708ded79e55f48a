"""An emergency department that pays for tests: which to order for whom, and when enough is known.

python examples/triage.py [FOLDER] learns from 1,500 past patients with holes, then treats 1,000 new ones as cases whose
outcomes come 40 patients late, prints one of them and the first questions, and writes the model, the plan and a
picture of what was spent to FOLDER.
"""

import sys
from collections import Counter, deque
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import quercus as qc

COSTS = {"age": 0, "complaint": 0, "pulse": 1, "blood": 20, "x-ray": 80, "ct": 400}
GROUPS = {"blood": ["hb", "crp", "troponin", "d-dimer"]}
REQUIRES = {"ct": ["x-ray"]}
EVERYTHING = sum(COSTS.values())
WORTH = 10_000  # what a patient in the wrong place costs
PAST, NEW, LATE = 1_500, 1_000, 40

# Of each illness: how frequent, where the patient belongs, the usual complaints, and what tests show.
ILLNESSES = {
    "nothing": (0.55, "home", ["cough", "chest pain", "fall"], {}),
    "pneumonia": (0.15, "ward", ["cough", "cough", "breathless"], {"crp": 90, "pulse": 15, "x-ray": "shadow"}),
    "fracture": (0.13, "ward", ["fall"], {"hb": -15, "x-ray": "fracture"}),
    "infarct": (0.1, "intensive", ["chest pain", "chest pain", "breathless"], {"troponin": 3.0, "pulse": 10}),
    "embolism": (0.07, "intensive", ["breathless", "chest pain"], {"d-dimer": 2.5, "pulse": 20, "ct": "clot"}),
}


def patients(count, seed):
    """Yield patients, everything known, and where each belongs."""
    random = np.random.default_rng(seed)
    shares = [illness[0] for illness in ILLNESSES.values()]
    for name in random.choice(list(ILLNESSES), count, p=shares):
        _, place, complaints, shows = ILLNESSES[name]
        usual = {"pulse": 80, "hb": 140, "crp": 8, "troponin": 0.1, "d-dimer": 0.4}
        spread = {"pulse": 10, "hb": 12, "crp": 25, "troponin": 0.6, "d-dimer": 0.6}
        patient = {
            "age": int(random.integers(18, 60 if name == "nothing" else 90)),
            "complaint": str(random.choice(complaints if random.random() < 0.9 else ["cough", "fall"])),
        }
        for test, value in usual.items():
            patient[test] = round(float(abs(random.normal(value + shows.get(test, 0), spread[test]))), 2)
        for test in ("x-ray", "ct"):
            patient[test] = shows.get(test, "clear") if random.random() < 0.95 else "clear"
        yield patient, place


def with_holes(patient, random):
    """Return what a past patient's record holds: some tests were never ordered."""
    record = dict(patient)
    ordered = {"blood": random.random() < 0.7, "x-ray": random.random() < 0.5}
    ordered["ct"] = ordered["x-ray"] and random.random() < 0.4
    for item, is_there in ordered.items():
        if not is_there:
            record |= dict.fromkeys(GROUPS.get(item, [item]))
    return record


def treat(model, patient):
    """Open a case, order what it asks for, and return it."""
    case = model.open({"age": patient["age"], "complaint": patient["complaint"]})
    while (item := case.question) is not None:
        result = {test: patient[test] for test in GROUPS[item]} if item in GROUPS else patient[item]
        case.answer(result)
    return case


def draw(costs, ordered, path):
    """Draw what a patient cost along the way, and for whom each test was ordered."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    count = np.arange(1, len(costs) + 1)
    left.axhline(EVERYTHING, color="grey", linestyle=":", label=f"order everything: {EVERYTHING}")
    left.plot(count, np.cumsum(costs) / count, label=f"by the plan: {np.mean(costs):.0f}")
    left.set(xlabel="new patients", ylabel="cost per patient so far", ylim=(0, 1.1 * EVERYTHING))
    left.legend()
    paid = [item for item, price in COSTS.items() if price]
    for shift, (place, (total, items)) in enumerate(ordered.items()):
        right.bar(np.arange(len(paid)) + 0.27 * (shift - 1), [items[i] / total for i in paid], 0.25, label=place)
    right.set(xticks=range(len(paid)), ylabel="share of patients, by where they belonged", ylim=(0, 1))
    right.set_xticklabels([f"{item}\n{COSTS[item]}" for item in paid])
    right.legend(loc="upper right")
    figure.savefig(path, dpi=150)


def main():
    """Run the story."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "quercus-run")
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    past = [(with_holes(patient, random), place) for patient, place in patients(PAST, seed=2)]
    new = list(patients(NEW, seed=3))

    model = qc.UtilityTree(costs=COSTS, groups=GROUPS, requires=REQUIRES, worth=WORTH)
    model.fit(*map(list, zip(*past, strict=True)))  # the past is paid for
    cases, right, waiting = [], [], deque()
    ordered = {place: (sum(p == place for _, p in new), Counter()) for place in ("home", "ward", "intensive")}
    for patient, place in new:
        case = treat(model, patient)
        cases.append(case)
        right.append(case.prediction == place)
        ordered[place][1].update(list(case.bought))
        waiting.append((case, place))
        if len(waiting) > LATE:
            model.learn(*waiting.popleft())  # the outcome of a patient of days ago

    everything = qc.ConfidenceTree()
    everything.partial_fit(*map(list, zip(*past, strict=True)))
    whole = everything.test_then_learn(*map(list, zip(*new, strict=True)))
    costs = [case.cost for case in cases]
    print(next(case for case in cases if "x-ray" in case.bought).explain(), "\n")
    print(model.tree(depth=3, reach=0.1), "\n")
    print(f"{NEW:,} patients      cost each   right")
    print(f"by the plan         {np.mean(costs):6.0f}   {np.mean(right):.1%}")
    print(f"order everything    {EVERYTHING:6.0f}   {np.mean(whole.answers == whole.truth):.1%}  (ConfidenceTree)")
    model.save(folder / "triage.quercus")
    (folder / "plan.txt").write_text(f"{model.tree(reach=0.005)}\n", encoding="utf-8")
    draw(costs, ordered, folder / "triage.png")
    print(f"\nmodel, plan and picture in {folder}")


if __name__ == "__main__":
    main()
