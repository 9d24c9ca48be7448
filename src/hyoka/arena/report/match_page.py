# SPDX-License-Identifier: Apache-2.0
"""A match's report, put together."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hyoka.arena.played import PlayedGame
from hyoka.arena.ratings import RatingList
from hyoka.arena.report.evaluations import evaluations_method, evaluations_section
from hyoka.arena.report.facts import GAMES_READ_CLOSELY, MatchFacts, match_facts
from hyoka.arena.report.openings import openings_section
from hyoka.arena.report.playing import endings_section, lengths_section, time_section
from hyoka.arena.report.ratings import field_findings, ratings_of, ratings_section
from hyoka.arena.report.showcase import showcase_section
from hyoka.arena.report.strength import (
    counted,
    course_section,
    draw_and_fault_findings,
    duel_findings,
    scores_section,
)
from hyoka.page import Page, Section, write_page


def match_page(
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
    seed: int = 1,
) -> Page:
    """The report of a match as far as it has been played.

    `players` are the names by the numbers that pairings use. `conditions` are sentences for the
    methods: who played under which limits, and from which openings. `seed` is for the resampling
    behind the bands. Works for no games at all, for any number of players, and stays small however
    many games there are; whatever names and reasons hold is shown as plain text.
    """
    facts = match_facts(games, players)
    if not len(facts):
        return Page(title, "No games", ("No game has been played yet.",), (), tuple(conditions))
    ratings = ratings_of(facts)
    sections = _sections(facts, games, ratings, seed)
    return Page(
        title,
        _subtitle(facts, games[0].record.game),
        tuple(_findings(facts, ratings)),
        tuple(section for section in sections if section is not None),
        (*conditions, *_methods(facts)),
    )


def write_match_report(
    path: Path,
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
) -> None:
    """Write the report of a match as one HTML file that opens offline; makes no folder."""
    write_page(match_page(title, games, players, conditions=conditions), path)


def _sections(
    facts: MatchFacts, games: Sequence[PlayedGame], ratings: RatingList, seed: int
) -> Iterator[Section | None]:
    yield scores_section(facts)
    yield ratings_section(ratings)
    yield course_section(facts)
    yield openings_section(facts, games)
    yield evaluations_section(facts, games[0].record.game, seed)
    yield lengths_section(facts)
    yield endings_section(facts)
    yield time_section(facts)
    yield showcase_section(facts, games)


def _subtitle(facts: MatchFacts, game: str) -> str:
    players = counted(len(facts.present), "player")
    return f"{game.replace('_', ' ').capitalize()}: {counted(len(facts), 'game')}, {players}."


def _findings(facts: MatchFacts, ratings: RatingList) -> Iterator[str]:
    if len(facts.present) == 2:
        yield from duel_findings(facts)
    else:
        yield from field_findings(ratings)
    yield from draw_and_fault_findings(facts)


def _methods(facts: MatchFacts) -> Iterator[str]:
    yield (
        "A win counts 1, a draw one half. The share of the points with its interval is Wilson's, "
        "with the spread measured on pairs of games (the same two players, the same opening, "
        "sides exchanged), which are independent where single games are not."
    )
    yield (
        "Elo says what share of the points to expect: +100 is 64%, +200 is 76%. It holds for "
        "these openings, this time and this machine, and for no other."
    )
    yield (
        "A 95% interval holds the truth in about 19 of 20 matches that were planned beforehand. "
        "Stopping a match as soon as it looks well makes it lie. A sequential test may stop it: "
        "its verdict holds, but the Elo of a match that it stopped is a little exaggerated."
    )
    yield (
        "Ratings of all players at once: Davidson's model (Bradley and Terry's with draws) with an "
        "advantage of moving first, by maximum likelihood; intervals allow for the dependence "
        "within pairs."
    )
    yield "Games that end by a fault count like any other: who failed lost."
    yield evaluations_method()
    if len(facts) > GAMES_READ_CLOSELY:
        read = len(set(facts.thoughts.game.tolist()))
        yield (
            f"What players thought and the time they took come from {read:,} of the "
            f"{len(facts):,} games, evenly spread; all else from all games."
        )
