# SPDX-License-Identifier: Apache-2.0
"""Which positions and games a result rests on: the first line of every answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from hyoka.errors import named

MIN_GAMES: Final = 20
"""Results show no figure of fewer games, and no common set of fewer is used, unless told to."""
TOO_FEW: Final = "–"
"""What stands in the place of such a figure."""
_MOST_ALONE: Final = 3
"""More evaluators than this on their own positions are counted, not listed."""

DrawRule = Literal["drop", "half", "draws"]
"""Drawn games are dropped, count as half a win, or count as draws."""
_DRAWN: Final[dict[DrawRule, str]] = {
    "drop": "left out",
    "half": "counted as half a win each",
    "draws": "counted as draws",
}


@dataclass(frozen=True)
class CoveredGroup:
    """Evaluators that were measured on the same positions."""

    evaluators: tuple[str, ...]
    positions: int
    games: int
    own_positions: tuple[int, ...] = ()
    """How many positions each evaluator has by itself; empty where that was not counted."""
    common_positions: int = 0
    """Of an evaluator left out of a comparison, how many positions it shares with all in it."""

    def counts(self, game: str = "game") -> str:
        """Positions and games in words."""
        return f"{_number(self.positions, 'position')} of {_number(self.games, game)}"


@dataclass(frozen=True)
class Coverage:
    """The groups of evaluators that were compared, and what was left out.

    >>> group = CoveredGroup(("comments",), 61_234, 972)
    >>> print(Coverage((group,), "drop", games=2180, drawn_games=1208))  # doctest: +ELLIPSIS
    comments: 61,234 positions of 972 decided games. 1,208 of 2,180 games are drawn and left out ...
    """

    groups: tuple[CoveredGroup, ...]
    draws: DrawRule = "drop"
    games: int = 0
    """All games with a result that these evaluators evaluated, drawn ones too."""
    drawn_games: int = 0
    missing: tuple[str, ...] = ()
    """Evaluators without a position that counts."""

    @property
    def alone(self) -> tuple[str, ...]:
        """Evaluators that are compared with no other, though there are others."""
        if len(self.groups) < 2:
            return ()
        return tuple(g.evaluators[0] for g in self.groups if len(g.evaluators) == 1)

    def __str__(self) -> str:
        return self.text()

    def text(self, *, hint: bool = True) -> str:
        """In a line; `hint` names the parameter that counts drawn games."""
        game = "decided game" if self.draws == "drop" else "game"
        together = [group for group in self.groups if len(group.evaluators) > 1]
        alone = [group for group in self.groups if len(group.evaluators) == 1]
        sentences = [_compared(group, game) for group in together]
        if alone and not together and len(self.groups) == 1:
            sentences.append(f"{alone[0].evaluators[0]}: {alone[0].counts(game)}")
        elif together and alone:
            sentences.append(f"Left out of the comparison: {_listed_alone(alone, game, 'common')}")
        elif alone:
            sentences.append(
                f"Not compared, too few common positions: {_listed_alone(alone, game)}"
            )
        if self.drawn_games:
            which = f"{self.drawn_games:,} of {_number(self.games, 'game')}"
            verb = "is" if self.drawn_games == 1 else "are"
            half = (
                f" ({named('draws', 'half')} counts them)" if hint and self.draws == "drop" else ""
            )
            sentences.append(f"{which} {verb} drawn and {_DRAWN[self.draws]}{half}")
        if self.missing:
            sentences.append(f"Without a position that counts: {', '.join(self.missing)}")
        return " ".join(f"{each}." for each in sentences)

    def as_json(self) -> dict[str, Any]:
        """The same in numbers."""
        return {
            "text": str(self),
            "draws": self.draws,
            "games": self.games,
            "drawn_games": self.drawn_games,
            "groups": [
                {
                    "evaluators": list(group.evaluators),
                    "positions": group.positions,
                    "games": group.games,
                    "own_positions": list(group.own_positions),
                    "common_positions": group.common_positions,
                }
                for group in self.groups
            ],
            "alone": list(self.alone),
            "missing": list(self.missing),
        }


def _compared(group: CoveredGroup, game: str) -> str:
    all_of = "both" if len(group.evaluators) == 2 else f"all {len(group.evaluators)}"
    text = f"{', '.join(group.evaluators)}: the {group.counts(game)} that {all_of} evaluated"
    own = group.own_positions
    if own and max(own) > group.positions:
        each = f"{min(own):,}" if min(own) == max(own) else f"{min(own):,} to {max(own):,}"
        text += f" (each by itself {each})"
    return text


def _listed_alone(groups: Sequence[CoveredGroup], game: str, common: str = "") -> str:
    if len(groups) <= _MOST_ALONE:
        texts = []
        for group in groups:
            shared = f", {group.common_positions:,} of them {common}" if common else ""
            texts.append(f"{group.evaluators[0]} ({group.counts(game)}{shared})")
        return "; ".join(texts)
    games = [group.games for group in groups]
    return (
        f"{len(groups)} evaluators, each measured on its own positions of {min(games):,} to "
        f"{_number(max(games), game)}"
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def too_few_note(count: int, least: int, what: str = "row") -> str:
    """Why figures are missing, for the notes of a result."""
    rows = f"{count:,} {what}" + ("" if count == 1 else "s")
    return (
        f"{TOO_FEW}: {rows} of fewer than {least} games: too few for any figure; "
        f"{named('min_games', 1)} shows them all the same."
    )
