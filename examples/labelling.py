"""Label 100 of 569 tumours, chosen by the tree, and see what that bought: ``python examples/labelling.py [FOLDER]``."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import quercus as qc

X, truth = load_breast_cancer(return_X_y=True, as_frame=True)
truth = truth.map({0: "malignant", 1: "benign"})  # what a pathologist would say

tree = qc.CredibleTree().fit_pool(X)
sampler = qc.ask.PoolSampler(tree, X, labels=100, explore=0.3, seed=1)
real, result = [], []
for question in sampler:
    sampler.answer(question.id, truth[question.row])  # here a person would look at question.features
    real.append(np.mean(tree.predict(X) == truth))
    result.append(sampler.accuracy())

print(tree)
print(tree.explain_one(X.iloc[0].to_dict()))
value, low, high, naive, *_ = result[-1]
print(f"the ledger, from 100 labels: {value:.1%} right over the questions so far, between {low:.1%} and {high:.1%}")
print(f"the truth, from all 569: {np.mean(real):.1%}; the tree of now {real[-1]:.1%}; counting the labels {naive:.1%}")

count, folder = np.arange(1, 101), Path(sys.argv[1] if len(sys.argv) > 1 else "quercus-run")
plt.plot(count, real, label="tree of the moment, all 569 tumours")
plt.plot(count, np.cumsum(real) / count, label="mean over the questions so far")
plt.plot(count, [figure.value for figure in result], label="the same, told by the ledger")
plt.fill_between(
    count, [f.low for f in result], [f.high for f in result], alpha=0.2, label="95 % interval, at all times"
)
plt.gca().set(xlabel="labels paid for", ylabel="accuracy", ylim=(0, 1.01))
plt.legend(loc="lower right")
folder.mkdir(parents=True, exist_ok=True)
plt.savefig(folder / "labelling.png", dpi=150)
