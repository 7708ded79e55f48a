"""What is shown of the paper on reinforced trees."""

from quercus.papers.exhibits import Exhibit, Paper
from quercus.papers.reinforced.costs import FIGURE_4A, draw_costs, tell_costs
from quercus.papers.reinforced.cross_validation import TABLE, tell_folds
from quercus.papers.reinforced.drift import draw_rates, tell_methods, tell_rates
from quercus.papers.reinforced.electricity import ELECTRICITY
from quercus.papers.reinforced.mushroom import FIGURE_2, draw_mushroom, tell_mushroom
from quercus.papers.reinforced.nursery import FIGURE_3, draw_nursery, tell_nursery

_WIDE = (12.0, 4.0)

PAPER = Paper(
    name="reinforced",
    citation=(
        "A. Garlapati, A. Raghunathan, V. Nagarajan, B. Ravindran: A Reinforcement Learning Approach to Online "
        "Learning of Decision Trees. European Workshop on Reinforcement Learning, 2015."
    ),
    exhibits=(
        Exhibit(
            "figure", "2", "Mushroom with multiple path updates", FIGURE_2, tell_mushroom, draw_mushroom, size=_WIDE
        ),
        Exhibit(
            "figure",
            "3",
            "Nursery, with and without multiple path updates and truncated exploration",
            FIGURE_3,
            tell_nursery,
            draw_nursery,
            size=_WIDE,
        ),
        Exhibit("figure", "4a", "Nursery, varying query costs", FIGURE_4A, tell_costs, draw_costs, size=(11.0, 4.2)),
        Exhibit("table", "nursery", "Five folds of Nursery (in the text of the paper)", TABLE, tell_folds),
        Exhibit("figure", "4b", "Electricity by learning rate", ELECTRICITY, tell_rates, draw_rates, size=(11.0, 4.5)),
        Exhibit("table", "1", "Electricity beside other learners", ELECTRICITY, tell_methods),
    ),
    summary=(
        "What is said of Mushroom holds, and multiple path updates speed up learning; truncated exploration makes no "
        "difference. The accuracy on Nursery fits its three large classes, and lies above that of every tree of at "
        "most three questions. After several passes the published form finds the best tree of three questions there; "
        "after one, or with four, some runs settle on a worse one. Beside a greedy tree that may ask as many "
        "questions, and drops useless ones as C4.5 does, it is better neither in accuracy nor in return nor in "
        "questions: on both sets greedy trees are the best possible, or close to it. What is saved are features of "
        "the rows that are learned from. On electricity the published accuracy is reached only with a high learning "
        "rate, with which the tree often just repeats the last labels; repeating the previous one without any "
        "question is better."
    ),
)
