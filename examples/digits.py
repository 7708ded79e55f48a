"""Learn handwritten digits, each seen once, ask why, and see what the splits look at.

python examples/digits.py [FOLDER] draws the mean weights of the first split of every tree, pixel by pixel.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import quercus as qc

HELD_BACK = 500


def draw_roots(forest: qc.BayesianForest, path: Path) -> None:
    """Draw the mean weights of the root of every tree as images in a row: red pixels send left, blue ones right."""
    arrays = forest.state_arrays()
    roots = arrays["mu"][arrays["trees"]["node"]]
    pixels = np.zeros((len(roots), 64))
    columns = arrays["columns"]["feature"][: arrays["options"]["columns"][0]]
    pixels[:, columns[1:]] = roots[:, 1 : len(columns)]  # column 0 is the bias
    most = np.abs(pixels).max()
    figure, axes = plt.subplots(1, len(roots), figsize=(1.6 * len(roots), 2.2), layout="constrained")
    for tree, (axis, image) in enumerate(zip(axes, pixels, strict=True), start=1):
        drawn = axis.imshow(image.reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        axis.set(title=f"tree {tree}", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=axes, label="right   ←   weight   →   left")
    figure.suptitle("What the first split of each tree looks at")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Run the story."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    forest = qc.BayesianForest().partial_fit(X[:-HELD_BACK], y[:-HELD_BACK], classes=range(10))
    accuracy = forest.score(X[-HELD_BACK:], y[-HELD_BACK:])
    small = forest.freeze()
    print(f"{accuracy:.1%} of the last {HELD_BACK} digits are right, after one look at each of the others")
    single = small.score(X[-HELD_BACK:], y[-HELD_BACK:])
    print(f"frozen, by one path per tree: {single:.1%}, in {small.nbytes:,} bytes instead of {forest.nbytes:,}\n")
    print(forest.explain_one(X.iloc[-1].to_dict()))
    print(f"it is {y.iloc[-1]}")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "quercus-run")
    folder.mkdir(parents=True, exist_ok=True)
    draw_roots(forest, folder / "digits.png")


if __name__ == "__main__":
    main()
