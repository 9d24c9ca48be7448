# SPDX-License-Identifier: Apache-2.0
"""Sections on openings, the players' evaluations, lengths, endings, times and notable games."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyoka.analysis import (
    VALUE,
    Confidence,
    CurvePoint,
    Resampling,
    Sample,
    measure_confidence,
    measure_curve,
    open_bins,
)
from hyoka.arena.elo import FEW, rate, too_few_reason
from hyoka.arena.journal import PlayedGame
from hyoka.arena.score import Score
from hyoka.foundation.text import shorten
from hyoka.games import game_facts
from hyoka.reporting.charts import (
    MOST_SERIES,
    RESULTS,
    AltairChart,
    Dot,
    Part,
    Spot,
    Step,
    band,
    columns,
    dots,
    lines,
    rows,
)
from hyoka.reporting.match_report.match_facts import (
    MatchFacts,
    Reals,
    Thoughts,
    board_after,
    book_plies,
    is_in_python,
)
from hyoka.reporting.page import Block, Board, Boards, Chart, Section

RESAMPLES: Final = 200
LEAST_POSITIONS: Final = 30
LEAST_GAMES: Final = 5
_SURE: Final = 0.15
"""Distance from one half from which a value claims that a side is ahead."""

_SLACK: Final = 0.01
"""Tolerance of claims outside the interval, which is narrow with many games."""
_MOST_SHOWN: Final = 20
_MOST_BOARDS: Final = 2
"""Maximum number of openings with boards, for each side."""
_GAMES_FOR_INTERVAL: Final = 10
THOUGHTS: Final = "What the players thought"
ENDINGS: Final = "How games ended"
SHOWCASE: Final = "Games to look at"
"""Titles of sections."""
_SMALL: Final = 120
"""Height of a finding's chart."""
_MOVES_SHOWN: Final = 12


@dataclass(frozen=True)
class OpeningScore:
    """Results of one opening."""

    opening_id: int
    place: int
    """Index of one of its games."""
    first: Score
    """Score from the first player's view."""
    one: Score
    """Score of one of two players; meaningless with more players."""

    @property
    def lopsidedness(self) -> float:
        """Advantage of the first player, in standard deviations of coin flips."""
        return (self.first.rate - 0.5) * float(np.sqrt(self.first.games))


def opening_scores(facts: MatchFacts, one: int) -> list[OpeningScore]:
    """The openings of a match, from best to worst for the first player."""
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
    """The section on the first player's advantage, by opening."""
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
        f"The first player got {share.value:.1%} of the points ({score}; 95% interval "
        f"{share.low:.1%} to {share.high:.1%})"
    )
    sure = rate(score, continuity=True)
    if too_few := too_few_reason(score):
        return f"{points}: {too_few} cannot tell whether moving first is an advantage."
    if sure.low > 0.5:
        return f"{points}: moving first was an advantage."
    if sure.high < 0.5:
        return f"{points}: moving first was a disadvantage."
    return f"{points}: an advantage of moving first is not shown."


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
    """The opening's number from 1 and its name."""
    name = shorten(games[score.place].record.opening, 24)
    return f"{score.opening_id + 1}. {name}" if name else f"opening {score.opening_id + 1}"


def _boards(scores: Sequence[OpeningScore], games: Sequence[PlayedGame]) -> list[Board]:
    best = [score for score in scores[:_MOST_BOARDS] if score.lopsidedness > 0]
    worst = [score for score in scores[::-1][:_MOST_BOARDS] if score.lopsidedness < 0]
    boards = []
    for score in (*best, *worst):
        record = games[score.place].record
        plies = min(book_plies(record), len(record))
        if not plies and not record.start:
            continue  # the default start needs no board
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


_MOST_COLUMNS: Final = 40
_MOST_REASONS: Final = 12
_MOST_SPOTS: Final = 60
_LEAST_MOVES: Final = 5
"""Minimum number of moves for a median in the chart."""


@dataclass(frozen=True)
class EvaluationCurve:
    """Mean result of a player by its own value, or by its score if it gives no values."""

    player: int
    is_value: bool
    points: tuple[CurvePoint, ...]
    confidence: Confidence | None
    """None if the player gives only scores or too few values."""
    positions: int
    widest: float
    """Limit of absolute scores in the chart; 1 for values."""


def evaluation_curve(thoughts: Thoughts, player: int, seed: int) -> EvaluationCurve | None:
    """Compute the curve of a player's own moves; None if no bin has enough positions."""
    mine = thoughts.of(player)
    has_value, has_score = np.isfinite(mine.value), np.isfinite(mine.score)
    is_value = bool(2 * has_value.sum() >= has_score.sum())
    mine = mine.where(has_value if is_value else has_score)
    if not len(mine.game):
        return None
    sample = Sample.of(
        "",
        mine.value if is_value else mine.score,
        results=mine.result,
        games=mine.game,
        unit=VALUE if is_value else "",
    )
    drawn = measure_curve(
        sample,
        binning=open_bins(sample, LEAST_POSITIONS),
        at_least=LEAST_POSITIONS,
        resampling=Resampling(RESAMPLES, seed),
    )
    points = tuple(p for p in drawn.points if p.games >= LEAST_GAMES and not p.is_mate)
    if not points:
        return None
    sure = _confidence(mine, seed) if is_value else None
    widest = 1.0 if is_value else max(abs(end) for p in points for end in (p.lower, p.upper))
    return EvaluationCurve(player, is_value, points, sure, len(mine.game), widest)


def _confidence(mine: Thoughts, seed: int) -> Confidence | None:
    sample = Sample.of("", mine.value, results=mine.result, games=mine.game)
    clear = measure_confidence(sample, sure=_SURE, resampling=Resampling(RESAMPLES, seed))
    if clear is None or clear.positions < LEAST_POSITIONS or clear.games < FEW:
        return None
    return clear


def verdict(clear: Confidence) -> str:
    """`overconfident`, `underconfident`, or `calibrated` (within the interval or the tolerance)."""
    if clear.got.high < clear.claimed - _SLACK:
        return "overconfident"
    return "underconfident" if clear.got.low > clear.claimed + _SLACK else "calibrated"


_MOST_CHARTS: Final = 12
_MOST_FINDINGS: Final = 3


def curves_of(facts: MatchFacts, seed: int) -> list[EvaluationCurve]:
    """The curves of all players with enough evaluations."""
    curves = (evaluation_curve(facts.thoughts, player, seed) for player in facts.present)
    return [curve for curve in curves if curve is not None]


def confidence_findings(
    facts: MatchFacts, curves: Sequence[EvaluationCurve]
) -> list[tuple[EvaluationCurve, str]]:
    """Overconfident players: their curves, and a sentence on each."""
    return [
        (curve, confidence_words(facts, curve))
        for curve in curves
        if curve.confidence is not None and verdict(curve.confidence) == "overconfident"
    ][:_MOST_FINDINGS]


def evaluations_section(
    facts: MatchFacts, curves: Sequence[EvaluationCurve], game: str
) -> Section | None:
    """The section on the accuracy of the players' evaluations; None if there are too few."""
    if not curves:
        return None
    words = [
        "Each player's own evaluation of its moves, against what it got from those games. "
        "A point is the mean of many positions; the band is the 95% interval over games."
    ]
    words += [sentence for curve in curves if (sentence := confidence_words(facts, curve))]
    shown = sorted(curves, key=lambda curve: -curve.positions)[:_MOST_CHARTS]
    if len(shown) < len(curves):
        words.append(f"The {len(shown)} of {len(curves)} with the most positions are drawn.")
    charts = tuple(_curve_chart(facts, curve, game) for curve in shown)
    return Section(THOUGHTS, tuple(words), charts)


def confidence_words(facts: MatchFacts, curve: EvaluationCurve) -> str:
    """Compare a player's claims with its results; empty without enough values."""
    sure = curve.confidence
    if sure is None:
        return ""
    words = {
        "overconfident": "it was overconfident.",
        "underconfident": "it was underconfident.",
        "calibrated": "it was well calibrated.",
    }[verdict(sure)]
    return (
        f"{facts.names[curve.player]}, where it saw one side clearly ahead, gave that side "
        f"{sure.claimed:.0%} on average; it got {sure.got.text('.0%')}: {words}"
    )


def small_curve(facts: MatchFacts, curve: EvaluationCurve) -> Chart:
    """The curve of a player's own values or scores, as a finding shows it."""
    chart = _band(curve, "own value" if curve.is_value else "own score", _SMALL)
    return Chart(chart, f"What {facts.names[curve.player]} got, by its own evaluation.")


def _band(curve: EvaluationCurve, x: str, height: int) -> AltairChart:
    domain = (0.0, 1.0) if curve.is_value else (-curve.widest, curve.widest)
    steps = [Step(p.value, p.share, p.low, p.high, p.positions) for p in curve.points]
    return band(steps, x=x, y="mean result", domain=domain, height=height)


def _curve_chart(facts: MatchFacts, curve: EvaluationCurve, game: str) -> Chart:
    name = facts.names[curve.player]
    if curve.is_value:
        x = "own value"
        caption = f"{name}: what it got, by its own value. On the dashed line it gets what it says."
    else:
        x = f"own score, {game_facts(game).naming.unit_of_programs}"
        caption = f"{name}: what it got, by its own score; what lies beyond counts at the edge."
    chart = _band(curve, x, 230)
    caption += f" {curve.positions:,} positions."
    return Chart(chart, caption, narrow=True)


def evaluations_method() -> str:
    """The method of the curves in a sentence or two."""
    return (
        "What the players thought: each own move's value (or score, if it tells no values), the "
        "mover's view, in bins of a twentieth of the range; only bins of at least "
        f"{LEAST_POSITIONS} positions from at least {LEAST_GAMES} games. Bands: {RESAMPLES} times, "
        "whole games are drawn again with replacement, since the positions of one game share its "
        "result; a band is Wilson's interval for what the positions are worth then. Moves of the "
        "opening and announced mates without a value are left out. A stronger player gets more "
        "than it expects from an even position, and less is no fault of the weaker one's scale: "
        "the curves hold for these opponents."
    )


def lengths_section(facts: MatchFacts) -> Section:
    """The section on lengths of games, by result."""
    plies = facts.plies
    middle = f"{np.median(plies):g}"
    words = (
        f"Half of the games lasted {middle} plies or fewer, the shortest {plies.min()}, "
        f"the longest {plies.max()}. A ply is one move of one player."
    )
    if plies.min() == plies.max():
        lasted = "The game" if len(facts) == 1 else "Every game"
        words = f"{lasted} lasted {middle} plies. A ply is one move of one player."
        return Section("Game lengths", (words,))
    caption = "Games by their length in plies, colored by who won."
    chart = Chart(columns(_length_parts(facts), x="plies"), caption)
    return Section("Game lengths", (words,), (chart,))


def _length_parts(facts: MatchFacts) -> list[Part]:
    plies = facts.plies
    span = int(plies.max() - plies.min()) + 1
    width = next(w for w in _widths() if w * _MOST_COLUMNS >= span)
    bins = plies // width
    parts = []
    for b in np.unique(bins).tolist():
        start, end = b * width, (b + 1) * width
        parts += _parts(str(b), start, end, facts.result[bins == b])
    return parts


def _widths() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _parts(name: str, start: float, end: float, results: Reals) -> list[Part]:
    """Segments of a bar: wins, draws and losses of the first player."""
    edges = np.cumsum([0, *((results == points).sum() for points in (1, 0.5, 0))]).tolist()
    pieces = zip(RESULTS, edges[:-1], edges[1:], strict=True)
    return [Part(name, start, end, result, below, above) for result, below, above in pieces]


def endings_section(facts: MatchFacts) -> Section:
    """The section on endings of games, by result."""
    [(most, times)] = Counter(facts.reason.tolist()).most_common(1)
    chart = endings_chart(facts)
    if chart is None:
        return Section(ENDINGS, (f"The game ended so: {most}.",))
    words = f"The most frequent ending: {most}, in {times:,} of {len(facts):,} games."
    return Section(ENDINGS, (words,), (chart,))


def endings_chart(facts: MatchFacts) -> Chart | None:
    """Games by ending and result; None for a single game."""
    if len(facts) == 1:
        return None
    counts = Counter(facts.reason.tolist())
    shown = [reason for reason, _ in counts.most_common(_MOST_REASONS)]
    named = np.where(np.isin(facts.reason, shown), facts.reason, "all others")
    if len(counts) > len(shown):
        shown.append("all others")
    parts = [
        part for reason in shown for part in _parts(reason, 0, 0, facts.result[named == reason])
    ]
    return Chart(rows(parts), "Games by how they ended, colored by who won.")


def time_section(facts: MatchFacts) -> Section | None:
    """The section on time per move; None if the records have no times."""
    thoughts = facts.thoughts
    timed = [player for player in facts.present if np.isfinite(thoughts.of(player).spent_s).any()][
        :MOST_SERIES
    ]
    if not timed:
        return None
    words, spent, left = [], [], []
    for player in timed:
        name, mine = facts.names[player], thoughts.of(player)
        seconds = mine.spent_s[np.isfinite(mine.spent_s)]
        middle, most = seconds_text(float(np.median(seconds))), seconds_text(float(seconds.max()))
        words.append(f"{name}: half of its moves took {middle} or less, the longest {most}.")
        spent += _medians(name, mine.ply, mine.spent_s)
        left += _medians(name, mine.ply, mine.clock_s)
    charts = []
    if spent:
        caption = "Seconds spent on a move: the median by how far the game is."
        charts.append(Chart(lines(spent, x="ply", y="seconds a move"), caption))
    if left:
        caption = "Seconds left on the clock after a move: the median by how far the game is."
        charts.append(Chart(lines(left, x="ply", y="seconds left"), caption))
    return Section("Time", (" ".join(words),), tuple(charts))


def _medians(name: str, plies: NDArray[np.int64], seconds: Reals) -> list[Spot]:
    is_finite = np.isfinite(seconds)
    plies, seconds = plies[is_finite], seconds[is_finite]
    if not len(plies):
        return []
    # At least two plies per point: a player moves at every second ply.
    width = next(w for w in _widths() if w > 1 and w * _MOST_SPOTS > plies.max())
    bins = plies // width
    spots = []
    for b in np.unique(bins).tolist():
        chosen = bins == b
        if chosen.sum() >= _LEAST_MOVES:
            middle = float(np.median(seconds[chosen]))
            spots.append(Spot(name, float(plies[chosen].mean()), middle))
    return spots


def seconds_text(seconds: float) -> str:
    """Format a time: `3 ms`, `0.25 s`, `4 min`.

    >>> seconds_text(0.003), seconds_text(0.25), seconds_text(250)
    ('3 ms', '0.25 s', '4 min')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} min"


_MOST_FAULTS: Final = 3
_FAULT_LENGTH: Final = 200


def showcase_boards(facts: MatchFacts, games: Sequence[PlayedGame]) -> tuple[Board, ...]:
    """The best position lost, the shortest decisive game, the longest, and games with faults."""
    picks: dict[int, tuple[str, int | None]] = {}
    thoughts = facts.thoughts
    lost = np.flatnonzero((thoughts.result == 0) & (thoughts.value > 0.5))
    if len(lost):
        best = int(lost[thoughts.value[lost].argmax()])
        ply = int(thoughts.ply[best])
        mover = facts.names[int(thoughts.mover[best])]
        words = f"After ply {ply} {mover} gave itself {thoughts.value[best]:.0%}, and lost"
        picks[int(thoughts.game[best])] = (words, ply)
    clean = np.flatnonzero((facts.result != 0.5) & ~facts.faulty)
    if len(clean):
        picks.setdefault(
            int(clean[facts.plies[clean].argmin()]), ("The shortest decisive game", None)
        )
    picks.setdefault(int(facts.plies.argmax()), ("The longest game", None))
    for row in np.flatnonzero(facts.faulty)[:_MOST_FAULTS].tolist():
        picks.setdefault(row, ("A game with a fault", None))
    drawn = (
        _board(facts, row, games[int(facts.place[row])], words, ply)
        for row, (words, ply) in picks.items()
    )
    return tuple(board for board in drawn if board is not None)


def showcase_section(boards: Sequence[Board]) -> Section:
    """The games to look at."""
    if not boards:
        return Section(SHOWCASE, ("A game in Python needs a name and `cells` to be drawn here.",))
    return Section(SHOWCASE, (), (Boards(boards),))


def _board(
    facts: MatchFacts, row: int, game: PlayedGame, words: str, ply: int | None
) -> Board | None:
    record = game.record
    ply = len(record) if ply is None else ply
    first, second = facts.names[facts.first[row]], facts.names[facts.second[row]]
    result = {1.0: f"{first} won", 0.5: "drawn", 0.0: f"{second} won"}[game.result]
    caption = (
        f"{words}: game {game.pairing.number + 1}, {first} – {second}, {result} "
        f"({facts.reason[row]}, {len(record)} plies)."
    )
    if game.fault:
        caption += f" {shorten(game.fault, _FAULT_LENGTH)}"
    board = board_after(record, ply)
    return None if board is None else Board(board, caption)
