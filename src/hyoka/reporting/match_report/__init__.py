# SPDX-License-Identifier: Apache-2.0
"""The report of a match: one page with results, ratings and the players' evaluations."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hyoka.arena.journal import PlayedGame
from hyoka.arena.ratings import RatingList
from hyoka.foundation.text import counted
from hyoka.games import FACTS
from hyoka.reporting.match_report.match_facts import GAMES_READ_CLOSELY, MatchFacts, match_facts
from hyoka.reporting.match_report.match_games import (
    ENDINGS,
    SHOWCASE,
    THOUGHTS,
    EvaluationCurve,
    confidence_findings,
    curves_of,
    endings_chart,
    endings_section,
    evaluations_method,
    evaluations_section,
    lengths_section,
    openings_section,
    showcase_boards,
    showcase_section,
    small_curve,
    time_section,
)
from hyoka.reporting.match_report.match_ratings import (
    COURSE,
    RATINGS,
    course_section,
    doubts,
    draw_and_fault_findings,
    duel_findings,
    field_findings,
    ratings_of,
    ratings_section,
    scores_section,
    small_course,
    small_ratings,
)
from hyoka.reporting.page import Board, Card, Page, caveats, write_page

__all__ = ["match_page", "write_match_report"]


def match_page(
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
    seed: int = 1,
) -> Page:
    """Build the report of a match's games so far.

    `players` are names, indexed by the numbers of pairings. `conditions` are sentences for the
    methods section: players, limits and openings. `seed` seeds the resampling of the bands. Any
    number of games and players is valid, and the page stays small. Names and reasons are shown as
    plain text.
    """
    facts = match_facts(games, players)
    if not len(facts):
        return Page(title, "No games", ("No game has been played yet.",), (), tuple(conditions))
    game = games[0].record.game
    ratings, curves = ratings_of(facts), curves_of(facts, seed)
    boards = showcase_boards(facts, games)
    sections = (
        scores_section(facts),
        # For two players, the rating list's model would give another Elo than the duel's.
        ratings_section(ratings) if len(facts.present) > 2 else None,
        course_section(facts),
        openings_section(facts, games),
        evaluations_section(facts, curves, game),
        lengths_section(facts),
        endings_section(facts),
        time_section(facts),
        showcase_section(boards),
    )
    return Page(
        title,
        _subtitle(facts, game),
        tuple(_findings(facts, games, ratings, curves, boards)),
        tuple(section for section in sections if section is not None),
        (*conditions, *_methods(facts)),
        tuple(caveats("Matches")),
    )


def write_match_report(
    path: Path | str,
    title: str,
    games: Sequence[PlayedGame],
    players: Sequence[str],
    *,
    conditions: Sequence[str] = (),
) -> None:
    """Write the report of a match as one offline HTML file; the folder must exist."""
    write_page(match_page(title, games, players, conditions=conditions), Path(path))


def _subtitle(facts: MatchFacts, game: str) -> str:
    players = counted(len(facts.present), "player")
    title = FACTS[game].title if game in FACTS else game.replace("_", " ")
    return f"{title[:1].upper()}{title[1:]}: {counted(len(facts), 'game')}, {players}."


def _findings(
    facts: MatchFacts,
    games: Sequence[PlayedGame],
    ratings: RatingList,
    curves: Sequence[EvaluationCurve],
    boards: Sequence[Board],
) -> Iterator[str | Card]:
    if len(facts.present) == 2:
        first, *others = duel_findings(facts)
        yield Card(first, "Result", small_course(facts), COURSE)
    else:
        first, *others = field_findings(ratings)
        yield Card(first, "Result", small_ratings(ratings), RATINGS)
    yield from others
    yield from doubts(facts, games)
    draws, *faults = draw_and_fault_findings(facts)
    yield Card(draws, "Endings", endings_chart(facts), ENDINGS)
    yield from faults
    for curve, words in confidence_findings(facts, curves):
        yield Card(words, "Confidence", small_curve(facts, curve), THOUGHTS)
    for board in boards[:1]:
        yield Card(board.words, "A game", board, SHOWCASE)


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
    if len(facts.present) > 2:
        yield (
            "Ratings of all players at once: Davidson's model (Bradley and Terry's with draws) "
            "with an advantage of moving first, by maximum likelihood; intervals allow for the "
            "dependence within pairs. Differences of ratings lean on all games, so that they part "
            "from what a single duel's share of the points says."
        )
    yield "Games that end by a fault count like any other: who failed lost."
    yield evaluations_method()
    if len(facts) > GAMES_READ_CLOSELY:
        read = len(set(facts.thoughts.game.tolist()))
        yield (
            f"What players thought and the time they took come from {read:,} of the "
            f"{len(facts):,} games, evenly spread; all else from all games."
        )
