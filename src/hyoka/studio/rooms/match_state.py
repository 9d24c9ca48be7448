# SPDX-License-Identifier: Apache-2.0
"""A match as far as its journal tells, read again only when that has grown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import hyoka as hk
from hyoka.arena.match import DESCRIPTION, JOURNAL
from hyoka.arena.report.facts import MatchFacts, match_facts, shown_names
from hyoka.arena.standing import Standing
from hyoka.arena.summary import DuelSummary
from hyoka.studio.pages import moment
from hyoka.studio.rooms.keeping import Kept

_kept: Final[Kept["MatchState"]] = Kept(4)


@dataclass(frozen=True)
class MatchState:
    """The games of a match so far."""

    path: str
    """Within the studio's folder."""
    told: dict[str, Any]
    """What the match says of itself."""
    games: Sequence[hk.PlayedGame]
    changed: float

    @cached_property
    def players(self) -> list[str]:
        """The players' names by their numbers."""
        texts = self.told.get("players", [])
        names = [str(text).partition("=")[0] for text in texts] if isinstance(texts, list) else []
        for game in self.games:
            pairing = game.pairing
            for number, name in ((pairing.first, game.record.first),
                                 (pairing.second, game.record.second)):  # fmt: skip
                names += [""] * (number + 1 - len(names))
                names[number] = name or names[number]
        return list(shown_names(names))

    @cached_property
    def standing(self) -> Standing:
        """The score of every two players."""
        return Standing.of(self.players, self.games)

    @cached_property
    def test(self) -> hk.Sprt | None:
        """The sequential test that the match is played by."""
        text = self.told.get("sprt")
        try:
            return hk.Sprt.from_text(text) if isinstance(text, str) and text else None
        except hk.Error:
            return None

    @cached_property
    def duels(self) -> list[DuelSummary]:
        """What is known of every two players who met."""
        test = self.test if len(self.players) == 2 else None
        return [DuelSummary.of(self.standing, *duel, test) for duel in self.standing.duels()]

    @cached_property
    def facts(self) -> MatchFacts:
        """The games in columns."""
        return match_facts(self.games, self.players)

    @property
    def when(self) -> str:
        """When the last game ended."""
        return f"{moment(self.changed, UTC)} UTC"

    def game(self, number: int) -> hk.PlayedGame:
        """A game by its number; raises StudyError."""
        for game in self.games:
            if game.pairing.number == number:
                return game
        raise hk.StudyError(f"this match has no game {number} yet")


def match_in(folder: Path, path: str) -> MatchState:
    """The match in a folder; raises StudyError."""
    journal = folder / JOURNAL
    try:
        state = (journal if journal.exists() else folder / DESCRIPTION).stat()
    except OSError:
        raise hk.StudyError(f"{path} is no match (it has no {DESCRIPTION})") from None

    def read() -> MatchState:
        told, games = hk.open_match(folder)
        return MatchState(path, told.get("match", {}), games, state.st_mtime)

    return _kept.get((str(folder), state.st_mtime_ns, state.st_size), read)


def llr_words(duel: DuelSummary) -> str:
    """How far a sequential test has come."""
    if duel.llr is None or duel.bounds is None or math.isnan(duel.llr):
        return ""
    words = f"{duel.llr:+.2f} (from {duel.bounds[0]:.2f} to {duel.bounds[1]:.2f})"
    verdicts = {"H1": "H1 is accepted: a gain", "H0": "H0 is accepted: no gain"}
    return f"{words}: {verdicts[duel.verdict]}" if duel.verdict in verdicts else words
