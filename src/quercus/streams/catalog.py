"""What is known of the named data sets: their size, where they can be had, and a line about each."""

from __future__ import annotations

from typing import NamedTuple


class DataSet(NamedTuple):
    """A named data set; `openml` is its number there if it can be fetched, `ordered` tells whether time orders it."""

    rows: int
    features: int
    description: str
    openml: int | None = None
    ordered: bool = False


BUNDLED = {
    "iris": DataSet(150, 4, "three species of iris by their petals and sepals; sorted by class"),
    "wine": DataSet(178, 13, "three cultivars by the chemistry of their wine; sorted by class"),
    "breast_cancer": DataSet(569, 30, "benign or malignant, by the shapes of cell nuclei"),
    "digits": DataSet(1797, 64, "ten handwritten digits, 8 x 8 pixels"),
}

KNOWN = BUNDLED | {
    "a9a": DataSet(48842, 123, "income above 50K, census answers as 0/1 columns"),
    "adult": DataSet(48842, 14, "income above 50K, census answers", openml=1590),
    "airlines": DataSet(539383, 7, "is a flight late; 31 days in time order", openml=1169, ordered=True),
    "australian": DataSet(690, 14, "credit card applications, names of values removed"),
    "balance_scale": DataSet(625, 4, "which side of a balance goes down; full factorial", openml=11),
    "banknote": DataSet(1372, 4, "genuine or forged, by wavelet features; sorted by class", openml=1462),
    "blood_transfusion": DataSet(748, 4, "does a donor give blood again"),
    "cod_rna_train": DataSet(59535, 8, "non-coding RNA or not; sorted by class"),
    "compas": DataSet(7214, 9, "is a defendant arrested again within two years"),
    "compas_binary": DataSet(6907, 12, "the same question, 0/1 columns"),
    "covertype": DataSet(
        581012, 54, "forest cover of 30 m cells, in the order of the source", openml=1596, ordered=True
    ),
    "diabetes": DataSet(768, 8, "onset of diabetes among Pima women", openml=37),
    "dna": DataSet(3186, 180, "splice junctions, 0/1 columns"),
    "electricity": DataSet(45312, 8, "price up or down, half-hourly, in time order", openml=151, ordered=True),
    "fetal_health": DataSet(2126, 21, "normal, suspect or pathological cardiotocograms"),
    "fico": DataSet(10459, 23, "is a line of home equity credit repaid"),
    "fico_binary": DataSet(10459, 17, "the same question, 0/1 columns"),
    "haberman": DataSet(306, 3, "five-year survival after breast cancer surgery"),
    "ionosphere": DataSet(351, 34, "radar returns that show structure or not", openml=59),
    "led7": DataSet(500, 7, "seven segments of a digit display, 10 % noise; partly sorted"),
    "letter": DataSet(20000, 16, "26 capital letters by statistics of their pixels", openml=6),
    "monks1": DataSet(556, 6, "MONK's problem 1: a = b or c = 1"),
    "monks2": DataSet(601, 6, "MONK's problem 2: exactly two features have their first value"),
    "monks3": DataSet(554, 6, "MONK's problem 3: rules with 5 % noise in the first part"),
    "mushroom": DataSet(8124, 22, "edible or poisonous", openml=24),
    "nursery": DataSet(12960, 8, "ranking of nursery applications; full factorial, sorted", openml=26),
    "phishing": DataSet(1250, 9, "web sites, phishing or not"),
    "satimage": DataSet(6435, 36, "soil and crops in satellite images"),
    "sonar": DataSet(208, 60, "mines or rocks by sonar; sorted by class", openml=40),
    "spect": DataSet(267, 22, "cardiac images, normal or not, 0/1 columns"),
    "tic_tac_toe": DataSet(958, 9, "does x win, from final boards; sorted by class", openml=50),
    "usps": DataSet(9298, 256, "handwritten zip code digits, 16 x 16 pixels"),
    "vote": DataSet(435, 16, "party by sixteen votes in Congress, 1984", openml=56),
    "zoo": DataSet(101, 16, "kind of animal by its traits"),
}
