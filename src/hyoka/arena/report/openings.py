# SPDX-License-Identifier: Apache-2.0
"""Which openings favoured whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hyoka.arena.elo import rate
from hyoka.arena.played import PlayedGame
from hyoka.arena.report.boards import board_after, is_in_python
from hyoka.arena.report.facts import MatchFacts, book_plies, shortened
from hyoka.arena.score import Score
from hyoka.arena.significance import why_too_few
from hyoka.page import Block, Board, Boards, Chart, Section
from hyoka.page.figures import Dot, dots

_MOST_SHOWN: Final = 20
_MOST_BOARDS: Final = 2
"""For the first player, and as many for the second."""
_GAMES_FOR_INTERVAL: Final = 10
_MOVES_SHOWN: Final = 12


@dataclass(frozen=True)
class OpeningScore:
    """What came of one opening."""

    opening_id: int
    place: int
    """Where one of its games is."""
    first: Score
    """Its games as those saw them who moved first."""
    one: Score
    """Its games as the first of two players saw them; of no use among more."""

    @property
    def lopsidedness(self) -> float:
        """How far the games leaned to the first player, in coin flips' standard deviations."""
        return (self.first.rate - 0.5) * float(np.sqrt(self.first.games))


def opening_scores(facts: MatchFacts, one: int) -> list[OpeningScore]:
    """The openings of a match, from those best for the first player to those worst."""
    by_id, rows, which = np.unique(facts.opening, return_index=True, return_inverse=True)
    points_of_one = np.where(facts.first == one, facts.result, 1 - facts.result)
    first, mine = (
        [np.bincount(which[p == points], minlength=len(by_id)) for points in (1, 0.5, 0)]
        for p in (facts.result, points_of_one)
    )
    scores = [
        OpeningScore(
            opening_id=int(by_id[k]),
            place=int(facts.place[rows[k]]),
            first=Score(*(int(counts[k]) for counts in first)),
            one=Score(*(int(counts[k]) for counts in mine)),
        )
        for k in range(len(by_id))
    ]
    return sorted(scores, key=lambda score: (-score.lopsidedness, score.opening_id))


def openings_section(facts: MatchFacts, games: Sequence[PlayedGame]) -> Section:
    """How much moving first was worth, and from which openings."""
    one = facts.present[0]
    scores = opening_scores(facts, one)
    words = [_first_move_words(facts)]
    blocks: list[Block] = []
    if len(scores) > 1:
        words += _openings_words(facts, scores)
        blocks.append(_chart(facts, scores, games))
    boards = _boards(scores, games)
    if boards:
        blocks.append(Boards(tuple(boards)))
    return Section("Openings and the first move", tuple(words), tuple(blocks))


def _first_move_words(facts: MatchFacts) -> str:
    score = facts.first_players
    share = rate(score)
    points = (
        f"Whoever moved first got {share.value:.1%} of the points ({score}; 95% interval "
        f"{share.low:.1%} to {share.high:.1%})"
    )
    sure = rate(score, continuity=True)
    if too_few := why_too_few(score):
        return f"{points}: {too_few} cannot tell whether moving first is an advantage."
    if sure.low > 0.5:
        return f"{points}: moving first was an advantage."
    if sure.high < 0.5:
        return f"{points}: moving first was a disadvantage."
    return f"{points}: no advantage of moving first can be told."


def _openings_words(facts: MatchFacts, scores: Sequence[OpeningScore]) -> list[str]:
    twice = [score for score in scores if score.first.games > 1]
    if not twice:
        return [f"The {len(scores):,} openings were played once each."]
    for_first = sum(score.first.wins == score.first.games for score in twice)
    for_second = sum(score.first.losses == score.first.games for score in twice)
    words = [
        f"Of {len(twice):,} openings that were played more than once, {for_first:,} were won by "
        f"the first player every time and {for_second:,} by the second."
    ]
    if len(facts.present) == 2:
        a, b = (facts.names[player] for player in facts.present)
        ahead = sum(score.one.rate > 0.5 for score in twice)
        behind = sum(score.one.rate < 0.5 for score in twice)
        words.append(
            f"{a} got more than half from {ahead:,} of them, {b} from {behind:,}, and "
            f"{len(twice) - ahead - behind:,} were shared."
        )
    return words


def _chart(facts: MatchFacts, scores: Sequence[OpeningScore], games: Sequence[PlayedGame]) -> Chart:
    shown = list(scores)
    which = "Every opening"
    if len(shown) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        shown = [*shown[:half], *shown[-half:]]
        which = f"The {half} openings best for the first player and the {half} worst"
    rows: list[Dot] = []
    for score in shown:
        label = opening_label(score, games)
        rows.append(_dot(label, score.first, "moving first"))
        if len(facts.present) == 2:
            rows.append(_dot(label, score.one, facts.names[facts.present[0]]))
    caption = f"{which}: the share of the points that went to the one who moved first"
    if len(facts.present) == 2:
        caption += f", and to {facts.names[facts.present[0]]}"
    caption += f". A line is the 95% interval, from {_GAMES_FOR_INTERVAL} games on."
    return Chart(dots(rows, x="share of the points", reference=0.5, share=True), caption)


def _dot(label: str, score: Score, series: str) -> Dot:
    share = rate(score)
    if score.games < _GAMES_FOR_INTERVAL:
        return Dot(label, share.value, share.value, share.value, series)
    return Dot(label, share.value, share.low, share.high, series)


def opening_label(score: OpeningScore, games: Sequence[PlayedGame]) -> str:
    """The opening's number, from 1, and its name."""
    name = shortened(games[score.place].record.opening, 24)
    return f"{score.opening_id + 1}. {name}" if name else f"opening {score.opening_id + 1}"


def _boards(scores: Sequence[OpeningScore], games: Sequence[PlayedGame]) -> list[Board]:
    best = [score for score in scores[:_MOST_BOARDS] if score.lopsidedness > 0]
    worst = [score for score in scores[::-1][:_MOST_BOARDS] if score.lopsidedness < 0]
    boards = []
    for score in (*best, *worst):
        record = games[score.place].record
        plies = min(book_plies(record), len(record))
        if not plies and not record.start:
            continue  # the usual start needs no picture
        board = board_after(record, plies)
        if board is None:
            continue
        in_python = is_in_python(record)
        moves = [str(code) for code in record.moves] if in_python else record.move_texts()
        moves = moves[:plies]
        shown_moves = " ".join(moves[:_MOVES_SHOWN]) + (" …" if len(moves) > _MOVES_SHOWN else "")
        words = f"{opening_label(score, games)}: the first player {score.first}. {shown_moves}"
        boards.append(Board(board, words.strip()))
    return boards
