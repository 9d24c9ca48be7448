# SPDX-License-Identifier: Apache-2.0
"""All players on one scale."""

import math

import numpy as np

from hyoka.arena.ratings import Rated, RatingList, rate_players
from hyoka.arena.report.facts import MatchFacts
from hyoka.arena.report.strength import elo_text, signed, sure_text
from hyoka.page import Chart, Section, Table
from hyoka.page.figures import Dot, dots


def ratings_of(facts: MatchFacts) -> RatingList:
    """The rating list of those who played; games against oneself tell nothing."""
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
    """What a match of many, or of one, proved."""
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
    """The rating list, drawn and as a table; None where nobody met anybody."""
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
    return Section("Ratings", (" ".join(words),), (Chart(chart, caption), _table(ratings)))


def _rows(ratings: RatingList) -> list[Dot]:
    """The ratings to draw; an interval without an end runs to the edge of the chart."""
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
