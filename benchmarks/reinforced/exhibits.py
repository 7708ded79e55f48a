"""What of the reinforced tree's results is stored, so that pages can quote it."""

from benchmarks.reinforced import comparisons, nursery, poison, prior, speed
from quercus.papers.exhibits import Exhibit, Paper

_COMMAND = "python -m benchmarks.reinforced"
PARTS = {
    "nursery": [Exhibit("table", "nursery", "Nursery with six questions", nursery.NURSERY, nursery.tell,
                        command=f"{_COMMAND} nursery")],
    "poison": [Exhibit("figure", "poison", "Poisonous mushrooms called edible", poison.POISON, poison.tell, poison.draw,
                       (6.5, 4.0), f"{_COMMAND} poison")],
    "prior": [Exhibit("table", "prior", "What the model of single results is worth", prior.PRIOR, prior.tell,
                      command=f"{_COMMAND} prior")],
    "comparisons": [Exhibit("table", "comparisons", "Comparisons beside whole values", comparisons.COMPARISONS,
                            comparisons.tell, command=f"{_COMMAND} comparisons")],
    "speed": [Exhibit("table", "speed", "Examples a second", speed.SPEED, speed.tell, command=f"{_COMMAND} speed"),
              Exhibit("table", "memory", "Memory at its limit", speed.MEMORY, speed.tell_memory,
                      command=f"{_COMMAND} speed")],
}  # fmt: skip
PAPER = Paper("benchmarks.reinforced", "The reinforced tree", tuple(one for part in PARTS.values() for one in part))
