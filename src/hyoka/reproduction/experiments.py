# SPDX-License-Identifier: Apache-2.0
"""All experiments by name."""

from typing import Final

from hyoka.arena import Score
from hyoka.errors import NotationError, nearest
from hyoka.reproduction.matches import MatchExperiment, TheirScore

Experiment = MatchExperiment

_BLOKUS: Final = "blokus_duo"
_BOUZY: Final = "prior=40"

EXPERIMENTS: Final[dict[str, Experiment]] = {
    experiment.id: experiment
    for experiment in (
        MatchExperiment(
            "003-table1",
            "Blokus Duo: UCT against alpha-beta with Bouzy's 4/0, equal time",
            _BLOKUS,
            {
                "small": (80, "uct:time=0.4", "ab:time=0.4"),
                "medium": (200, "uct:time=1", "ab:time=1"),
                "paper": (200, "uct:time=100", "ab:time=100"),
            },
            ("UCT", "αβ"),
            TheirScore(Score(89, 0, 11), Score(55, 5, 40)),
            "The paper's machine made about 18,000 simulations in its 100 s a move.",
        ),
        MatchExperiment(
            "003-table2",
            "Blokus Duo: UCT with Bouzy's 4/0 as a prior against UCT, equal simulations",
            _BLOKUS,
            {
                "small": (80, f"uct:playouts=2000,{_BOUZY}", "uct:playouts=2000"),
                "medium": (120, f"uct:playouts=10000,{_BOUZY}", "uct:playouts=10000"),
                "paper": (200, f"uct:playouts=10000,{_BOUZY}", "uct:playouts=10000"),
            },
            ("UCT + Bouzy", "UCT"),
            TheirScore(Score(59, 9, 28), Score(68, 19, 13)),
            "The paper gives neither the prior's weight nor the sigmoid's scale. Of weights 10, "
            "40 and 160, 40 did best in 30 games each; the scale is that of the evaluation.",
        ),
    )
}


def experiment_named(name: str) -> Experiment:
    """An experiment by its name; a wrong one gets the nearest right one.

    >>> experiment_named("003-table1").names
    ('UCT', 'αβ')
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    hint = nearest(name, EXPERIMENTS) or f"there are {', '.join(EXPERIMENTS)}"
    raise NotationError(f"no experiment '{name}'; {hint}")
