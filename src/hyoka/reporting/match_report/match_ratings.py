# SPDX-License-Identifier: Apache-2.0
"""Sections on the players' strength: differences and ratings with intervals."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from hyoka.arena.elo import (
    FEW,
    elo,
    likelihood_of_superiority,
    permutation_p_value,
    rate,
    too_few_reason,
)
from hyoka.arena.journal import PlayedGame
from hyoka.arena.ratings import Rated, RatingList, rate_players, repeated_games
from hyoka.arena.score import MatchScore, Score
from hyoka.foundation.math import Estimate
from hyoka.foundation.text import counted
from hyoka.reporting.charts import MOST_SERIES, Dot, Spot, Step, band, dots, lines
from hyoka.reporting.match_report.match_facts import MatchFacts, checkpoints
from hyoka.reporting.page import Block, Chart, Section, Table

COURSE: Final = "Course of the match"
RATINGS: Final = "Ratings"
"""Titles of sections."""
_SMALL: Final = 120
"""Height of a finding's chart."""
_MOST_SMALL: Final = 6
_MOST_DUELS: Final = 30
_MOST_CROSS: Final = 24


def duel_findings(facts: MatchFacts) -> list[str]:
    """Findings of a match of two."""
    one, other = _leader_first(facts, *facts.present)
    a, b = facts.names[one], facts.names[other]
    score = facts.standing.duel(one, other)
    strength = elo(score)
    games = counted(score.games, "game")
    points = f"{score.points:g} to {score.games - score.points:g} in {games} ({score.score})"
    chance = permutation_p_value(score)
    sure = rate(score, continuity=True)
    too_few = too_few_reason(score)
    shown = sure.low > 0.5 and chance < 0.05 and not too_few
    if shown:
        first = f"{a} is stronger than {b}: {points}, {elo_text(strength)}."
    elif score.rate > 0.5 and too_few:
        first = f"{a} leads {b} {points}, but {too_few} cannot tell who is stronger."
    elif score.rate > 0.5:
        first = (
            f"{a} leads {b} {points}, but that is too little to tell who is stronger: equal "
            f"players would part as far with a probability of {chance:.2g}."
        )
    else:
        first = f"{a} and {b} are level: {points}, which does not tell who is stronger."
    findings = [first]
    if not shown:
        findings.append(f"Estimated difference: {elo_text(strength)}.")
    else:
        likelihood = sure_text(likelihood_of_superiority(score))
        findings.append(f"The chance that {a} is the stronger of the two is {likelihood}.")
    return findings


def draw_and_fault_findings(facts: MatchFacts) -> list[str]:
    """Findings on drawn games and on losses by faults."""
    draws = facts.first_players.draws
    findings = [
        f"{counted(draws, 'game')} of {len(facts):,} ended in a draw ({draws / len(facts):.0%})."
    ]
    for name, times in facts.standing.faults.most_common():
        findings.append(
            f"{name} lost {counted(times, 'game')} by its own fault: time, an illegal move, or a "
            "failure. They count as losses."
        )
    if not facts.standing.faults:
        findings.append("No game was lost by a fault: time, illegal moves, failures.")
    return findings


def scores_section(facts: MatchFacts) -> Section:
    """Cross table of results, also by color."""
    standing = facts.standing
    totals = {player: standing.total(player) for player in facts.present}
    ranked = sorted(facts.present, key=lambda player: (-totals[player].rate, player))
    rows = tuple((facts.names[player], *_cells(totals[player])) for player in ranked)
    blocks: list[Block] = [Table(_CAPTION, ("Player", *_COLUMNS), rows)]
    if len(ranked) > 2:
        duels = standing.duels()
        if len(duels) <= _MOST_DUELS:
            blocks.append(_duels_table(facts, duels))
        if len(ranked) <= _MOST_CROSS:
            blocks.append(_cross_table(facts, ranked))
    return Section("Scores", (), tuple(blocks))


_CAPTION: Final = (
    "All games of each player, +won =drawn -lost, and the share of the points; then those in "
    "which it moved first, and those in which it moved second."
)
_COLUMNS: Final = (
    "Games",
    "Score",
    "Share",
    "Score first",
    "Share first",
    "Score second",
    "Share second",
)


def _cells(score: MatchScore) -> tuple[str, ...]:
    cells = [f"{score.games:,}"]
    for part in (score.score, score.as_first, score.as_second):
        cells += [_score_text(part), f"{part.rate:.1%}" if part.games else "–"]
    return tuple(cells)


def _score_text(score: Score) -> str:
    return str(score) if score.games else "–"


def _duels_table(facts: MatchFacts, duels: list[tuple[int, int]]) -> Table:
    rows = []
    for duel in duels:
        one, other = _leader_first(facts, *duel)
        score = facts.standing.duel(one, other)
        rows.append((f"{facts.names[one]} – {facts.names[other]}", *_cells(score)))
    return Table(
        "Each two players, as the one named first saw it.", ("Duel", *_COLUMNS), tuple(rows)
    )


def _cross_table(facts: MatchFacts, ranked: list[int]) -> Table:
    def cell(one: int, other: int) -> str:
        score = facts.standing.duel(one, other)
        return f"{score.rate:.0%}" if one != other and score.games else "–"

    names = [f"{n}. {facts.names[player]}" for n, player in enumerate(ranked, start=1)]
    rows = tuple(
        (name, *(cell(one, other) for other in ranked))
        for name, one in zip(names, ranked, strict=True)
    )
    columns = ("Player", *(str(n) for n in range(1, len(ranked) + 1)))
    return Table("The share of the points that a row's player got from a column's.", columns, rows)


def course_section(facts: MatchFacts) -> Section | None:
    """The section on the score over the games; None for a single game."""
    if len(facts) < 2:
        return None
    if len(facts.present) == 2:
        return _duel_course(facts)
    ranked = sorted(facts.present, key=lambda player: -facts.standing.total(player).rate)
    spots = [spot for player in ranked[:MOST_SERIES] for spot in _shares(facts, player)]
    caption = "The share of the points each player had by then"
    if len(ranked) > MOST_SERIES:
        caption += f"; the {MOST_SERIES} best"
    chart = lines(spots, x="games of the match", y="share of the points", share=True)
    return Section(COURSE, (), (Chart(chart, f"{caption}."),))


def _shares(facts: MatchFacts, player: int) -> list[Spot]:
    """A player's share of points after each checkpoint."""
    mine = (facts.first == player) | (facts.second == player)
    points = np.where(facts.first == player, facts.result, 1 - facts.result)
    played, got = np.cumsum(mine), np.cumsum(points * mine)
    seen = [n for n in checkpoints(len(facts)).tolist() if played[n - 1]]
    return [Spot(facts.names[player], n, float(got[n - 1] / played[n - 1])) for n in seen]


def _duel_steps(facts: MatchFacts, one: int, other: int) -> list[Step]:
    """The share of one of two players at the checkpoints."""
    steps = []
    for games, score in facts.duel_course:
        share = rate(score if one < other else ~score)
        steps.append(Step(games, share.value, share.low, share.high, games))
    return steps


def small_course(facts: MatchFacts) -> Chart | None:
    """The leader's share over the games of a match of two; None for a single game."""
    if len(facts) < 2:
        return None
    one, other = _leader_first(facts, *facts.present)
    steps = _duel_steps(facts, one, other)
    chart = band(steps, x="games of the match", y="points", height=_SMALL)
    return Chart(chart, f"The share of the points of {facts.names[one]}, with its 95% interval.")


def small_ratings(ratings: RatingList) -> Chart | None:
    """The ratings of the best players; None without games between players."""
    if not ratings.games:
        return None
    chart = dots(_rows(ratings)[:_MOST_SMALL], x="Elo", reference=0)
    return Chart(chart, "Ratings with 95% intervals.")


def _duel_course(facts: MatchFacts) -> Section:
    one, other = _leader_first(facts, *facts.present)
    steps = _duel_steps(facts, one, other)
    caption = (
        f"The share of the points {facts.names[one]} had by then against {facts.names[other]}, "
        "and its 95% interval. Each interval is for that moment alone: one that leaves the dashed "
        "line for a while proves nothing."
    )
    chart = band(steps, x="games of the match", y="share of the points")
    return Section(COURSE, (), (Chart(chart, caption),))


def _leader_first(facts: MatchFacts, one: int, other: int) -> tuple[int, int]:
    return (one, other) if facts.standing.duel(one, other).rate >= 0.5 else (other, one)


def elo_text(strength: Estimate) -> str:
    """Format an Elo difference with its interval.

    >>> elo_text(Estimate(26.1, -9.2, 61.9))
    '+26 Elo (95% interval −9 to +62)'
    >>> elo_text(Estimate(math.inf, 97.0, math.inf))
    'at least +97 Elo (95% interval, no upper end)'
    """
    if math.isinf(strength.value):
        bound = strength.low if strength.value > 0 else strength.high
        most, end = ("at least", "upper") if strength.value > 0 else ("at most", "lower")
        return f"{most} {signed(bound)} Elo (95% interval, no {end} end)"
    interval = f"{signed(strength.low)} to {signed(strength.high)}"
    return f"{signed(strength.value)} Elo (95% interval {interval})"


def signed(number: float) -> str:
    """Format a rounded number with its sign, or the missing end of an interval."""
    if math.isinf(number):
        return "no end"
    return f"{round(number):+d}".replace("-", "−") if round(number) else "0"


def sure_text(likelihood: float) -> str:
    """Format a likelihood, never as certainty.

    >>> sure_text(0.973), sure_text(0.99999)
    ('97.3%', 'over 99.9%')
    """
    return f"{likelihood:.1%}" if likelihood < 0.999 else "over 99.9%"


def doubts(facts: MatchFacts, games: Sequence[PlayedGame]) -> Iterator[str]:
    """Yield reasons to distrust the numbers."""
    if (repeats := repeated_games(games)) > 0:
        yield (
            f"{repeats:,} of {counted(len(facts), 'game')} repeat others move for move. They prove "
            "nothing new, and the intervals here are too narrow."
        )
    reasons = [too_few_reason(facts.standing.duel(*duel)) for duel in facts.standing.duels()]
    few = [why for why in reasons if why]
    if few and len(facts.present) == 2:
        yield f"{few[0].capitalize()} are too few to trust an interval."
    elif few:
        duels = counted(len(reasons), "duel")
        yield (
            f"{len(few)} of {duels} have fewer than {FEW} pairs, or games where there are no "
            "pairs: too few to trust an interval."
        )


def ratings_of(facts: MatchFacts) -> RatingList:
    """The rating list of players with games against others."""
    met = facts.first != facts.second
    present = np.array(facts.present)
    return rate_players(
        np.searchsorted(present, facts.first[met]),
        np.searchsorted(present, facts.second[met]),
        facts.result[met],
        [facts.names[player] for player in facts.present],
        clusters=facts.pair[met],
    )


def field_findings(ratings: RatingList) -> list[str]:
    """Findings of a match of many players, or of one."""
    field = [player for player in ratings.players if player.component == 0]
    if len(field) < 2:
        return [f"{field[0].name} has met nobody else: there is nothing to compare."]
    best, *others = field
    share = f"{best.score.rate:.1%} of its points ({best.score})"
    findings = [
        f"{best.name} comes first of {len(field)} players with {share}: "
        f"{elo_text(ratings.difference(best.name, others[0].name))} ahead of {others[0].name}."
    ]
    close = [p.name for p in others if ratings.difference(best.name, p.name).low <= 0]
    if close:
        names = ", ".join(close[:5]) + (", …" if len(close) > 5 else "")
        findings.append(f"Too few games to tell whether {best.name} is stronger than {names}.")
    else:
        findings.append("Its lead over each of the others is more than chance explains.")
    sure = sure_text(ratings.superiority(best.name, others[0].name))
    findings.append(f"The chance that {best.name} is stronger than {others[0].name} is {sure}.")
    return findings


def ratings_section(ratings: RatingList) -> Section | None:
    """The section with the rating list as chart and table; None without games between players."""
    if not ratings.games:
        return None
    words = ["Zero is the mean of the players."]
    if ratings.components > 1:
        words.append(
            f"The players fall into {ratings.components} groups that never met: only ratings "
            "within a group can be compared, and each group has a zero of its own."
        )
    if ratings.virtual:
        words.append(
            "Some never took a point from others: how much weaker they are has no end, and a "
            "virtual draw a player keeps the numbers finite."
        )
    chart = dots(_rows(ratings), x="Elo", reference=0)
    caption = "The players' ratings with their 95% intervals."
    if not all(player.bounded for player in ratings.players):
        caption += " A line that runs to the edge has no end there."
    return Section(RATINGS, (" ".join(words),), (Chart(chart, caption), _table(ratings)))


def _rows(ratings: RatingList) -> list[Dot]:
    """Ratings for the chart; an infinite end of an interval becomes the edge of the chart."""
    ends = [end for p in ratings.players for end in (p.elo, p.low, p.high) if math.isfinite(end)]
    margin = max(50.0, 0.15 * (max(ends) - min(ends)))
    left, right = min(ends) - margin, max(ends) + margin
    return [
        Dot(player.name, player.elo, max(player.low, left), min(player.high, right))
        for player in ratings.players
    ]


def _table(ratings: RatingList) -> Table:
    many = ratings.components > 1
    rows = []
    for place, player in enumerate(ratings.players):
        following = ratings.players[place + 1 : place + 2]
        row = (
            f"{place + 1}. {player.name}",
            signed(player.elo),
            f"{signed(player.low)} to {signed(player.high)}",
            f"{player.games:,}",
            str(player.score),
            f"{player.score.rate:.1%}" if player.games else "–",
            _superiority(ratings, player, following),
        )
        rows.append((*row, str(player.component + 1)) if many else row)
    columns = ("Player", "Elo", "95% interval", "Games", "Score", "Share", "Stronger than the next")
    caption = "The rating list; the last column is the likelihood of being the stronger one."
    return Table(caption, (*columns, "Group") if many else columns, tuple(rows))


def _superiority(ratings: RatingList, player: Rated, following: tuple[Rated, ...]) -> str:
    if not following or following[0].component != player.component:
        return "–"
    return sure_text(ratings.superiority(player.name, following[0].name)).replace("over", ">")
