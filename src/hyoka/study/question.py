# SPDX-License-Identifier: Apache-2.0
"""What a study is asked: which positions, in which parts, and how sure the answer is to be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypedDict, Unpack, get_args

from hyoka.analysis import MIN_GAMES, DrawnGames, Link, Resampling
from hyoka.errors import ParameterError, named

Axis = Literal["auto", "value", "score"]
"""What of an evaluation is analysed; `auto` takes what the evaluator is about."""
Balance = Literal["ply"]
"""What positions are spread alike over: early, middle and late ones by their plies."""
PHASE: Final = "phase"
"""Positions parted by it are early, middle and late: thirds of the plies."""

_NAMED: Final = re.compile(r"\s*([^\W\d][\w %./+-]*?)\s*:(?!:)\s*(\S.*?)\s*", re.DOTALL)
"""A name, a colon (two of them are a cast in SQL) and an expression."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all analyses of a study have in common.

    >>> asked = Question(where="ply >= 20")
    >>> asked.also(by="phase").where
    'ply >= 20'
    """

    where: str | None = None
    """An SQL condition on positions; all of them unless given."""
    by: str | None = None
    """A column or an SQL expression that parts the positions, also as `name: expression`; `phase`:
    thirds of the plies. What an evaluator says (`score`, `value`, `evaluator` …) parts its own."""
    bins: Sequence[float] | None = None
    """Where that column is cut."""
    largest: int | None = None
    """Of many levels so many are parts, the largest, and one more has the others; of a text 6."""
    balance: Balance | None = None
    """Parts (and conditions that are searched) are compared as if early, middle and late positions
    were spread in them as in all."""
    draws: DrawnGames = "drop"
    """Positions of drawn games are left out, or count as half a win (and half a loss)."""
    axis: Axis = "auto"
    link: Link | None = None
    """Where scores become probabilities, what is made of them; None: what games held out prefer."""
    resampling: Resampling = field(default_factory=Resampling)
    """Intervals draw whole games again; no resamples, no intervals."""
    min_games: int = MIN_GAMES
    """Results show no figure of fewer games."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("draws", self.draws, get_args(DrawnGames)),
            ("axis", self.axis, get_args(Axis)),
        ):
            if value not in known:
                raise ParameterError(name, f"is {' or '.join(known)}, not '{value}'")
        if self.balance not in (None, *get_args(Balance)):
            raise ParameterError("balance", f"is ply, not '{self.balance}'")
        if self.min_games < 1:
            raise ParameterError("min_games", f"is 1 or more, not {self.min_games}")
        some = self.largest
        if some is not None and (some < 1 or self.by is None or self.bins is not None):
            raise ParameterError(
                "largest",
                f"is how many levels of {named('by')} are parts, 1 or more, without bins",
            )
        if self.balance is not None and self.expression in (PHASE, self.balance):
            raise ParameterError(
                "balance", f"spreads the plies alike that {named('by')} sets apart"
            )
        if self.bins is not None and self.by is None:
            raise ParameterError("bins", f"cut a column: say which with {named('by')}")
        if self.bins is not None and self.expression == PHASE:
            raise ParameterError(
                "bins", f"cut a column, not phases: cut {named('by', 'ply')} instead"
            )

    @property
    def expression(self) -> str | None:
        """What parts the positions, without its name.

        >>> Question(by="pawns: material / 100").expression
        'material / 100'
        """
        return None if self.by is None else _named_part(self.by)[1]

    @property
    def called(self) -> str | None:
        """What that is called in words: the name that it was given, or itself.

        >>> Question(by="pawns: material / 100").called, Question(by="ply::text").called
        ('pawns', 'ply::text')
        """
        return None if self.by is None else _named_part(self.by)[0]

    def also(self, **asked: Unpack["Asked"]) -> "Question":
        """The same question, but for what is said here."""
        return replace(self, **asked)


def _named_part(by: str) -> tuple[str, str]:
    match = _NAMED.fullmatch(by)
    return (match[1], match[2]) if match else (by, by)


class Asked(TypedDict, total=False):
    """A question's parts as keywords; see `Question`."""

    where: str | None
    by: str | None
    bins: Sequence[float] | None
    largest: int | None
    balance: Balance | None
    draws: DrawnGames
    axis: Axis
    link: Link | None
    resampling: Resampling
    min_games: int
