"""What the utility tree is worth.

table      the eight sets of the paper: what learning and answering cost, and what the answers are worth; the published
           forms, our default, and learners that buy everything.
frontier   cost against utility by worth, by gain, by budget and with the best k features; beside ReinforcedTree.
prices     what it is worth to know the prices; a group of which the best policy is known.
xor        looking one and two questions ahead where two features tell the class only together.
regret     cost and errors above those of the best policy while learning, where that is known.
optimal    optimal trees of limited depth beside the plan, on sets of two values.
selection  buying among a few features only.
speed      examples a second by form and set; growth with features and classes; memory.
defaults   what worth, confidence, gain, bins and prior do on sets that are not among the eight.
"""

from experiments.harness.exhibits import Exhibit, Study
from experiments.peers.evergreen.sets import check_data
from experiments.peers.utility import (
    defaults,
    frontier,
    frontier_summary,
    optimal,
    panel,
    prices,
    regret,
    selection,
    speed,
    table,
    xor,
)

STUDY = Study(
    "peers.utility",
    "The utility tree",
    (
        Exhibit("table", "sets", "The eight sets of the paper", table.SPENT, table.summarize),
        Exhibit("figure", "frontier", "Cost against utility", frontier.FRONTIER, frontier_summary.summarize,
                frontier_summary.draw, (13.0, 6.5)),
        Exhibit("figure", "rivals", "Cost against utility of both trees that plan", frontier.FRONTIER,
                frontier_summary.summarize_rivals, frontier_summary.draw_rivals, (14.0, 6.5)),
        Exhibit("table", "prices", "What it is worth to know the prices", prices.PRICES, prices.summarize),
        Exhibit("table", "panel", "The plan beside the best policy", panel.PANEL, panel.summarize, part="prices"),
        Exhibit("table", "xor", "Two features that tell the class only together", xor.XOR, xor.summarize),
        Exhibit("table", "regret", "What learning costs where the best policy is known", regret.REGRET,
                regret.summarize),
        Exhibit("table", "optimal", "Beside optimal trees", optimal.OPTIMAL, optimal.summarize),
        Exhibit("table", "selection", "Buying among a selection of features", selection.SELECTION, selection.summarize),
        Exhibit("table", "speed", "Examples a second", speed.SPEED, speed.summarize),
        Exhibit("table", "defaults", "How the defaults were chosen", defaults.DEFAULTS, defaults.summarize),
    ),
    check=check_data,
)  # fmt: skip
