"""What the reinforced tree is worth.

nursery      five folds with at most 6 questions; fewer are in the paper: ``papers reinforced``.
poison       poisonous mushrooms called edible against questions asked, by what that costs; as a picture.
prior        accuracy with and without the model of single results, on the sets on which its weight was chosen.
comparisons  accuracy and questions where questions are comparisons, beside whole values in bins.
speed        examples a second and states for 3 and 6 questions; memory at its limit over many rows.

Beside UtilityTree: ``peers utility frontier``.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.evergreen.sets import check_data
from experiments.peers.reinforced import comparisons, nursery, poison, prior, speed

STUDY = Study(
    "peers.reinforced",
    "The reinforced tree",
    (
        Exhibit("table", "nursery", "Nursery with six questions", nursery.NURSERY, nursery.summarize),
        Exhibit("figure", "poison", "Poisonous mushrooms called edible", poison.POISON, poison.summarize, poison.draw,
                (6.5, 4.0)),
        Exhibit("table", "prior", "What the model of single results is worth", prior.PRIOR, prior.summarize),
        Exhibit("table", "comparisons", "Comparisons beside whole values", comparisons.COMPARISONS,
                comparisons.summarize),
        Exhibit("table", "speed", "Examples a second", speed.SPEED, speed.summarize),
        Exhibit("table", "memory", "Memory at its limit", speed.MEMORY, speed.summarize_memory, part="speed"),
    ),
    check=check_data,
)  # fmt: skip
