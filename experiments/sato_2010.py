# SPDX-License-Identifier: Apache-2.0
"""Sato 2010, shogi: Monte-Carlo tree search with move strengths."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.claims import not_shown_if, not_shown_if_few, same_within, verdict
from experiments.context import Experiment, ExperimentContext
from experiments.ladders import (
    LadderExperiment,
    LadderScale,
    PlayoutLadderScale,
    Rung,
    Solved,
    Sort,
    in_playouts,
)
from experiments.matches import difference_verdict, lead_verdict
from experiments.outcome import Outcome, OutcomeTable, Value, Verdict
from hyoka.analysis import Resampling, Sample, mean_by_games
from hyoka.arena import MatchResult, Opening, openings_of, plan_match, rate, too_few_reason
from hyoka.engines import EngineSpec
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.learning.prediction import (
    PlayoutPolicy,
    PlayoutQuality,
    is_kept_apart,
    playout_quality,
    table_of,
)
from hyoka.learning.strengths import FeatureStrength, Strengths, learn_strengths
from hyoka.records import Record, read_records
from hyoka.records.problems import Problem
from hyoka.records.problems.reading import read_suites
from hyoka.search import Book, linear_evaluation
from hyoka.storage.model_file import BUILT_IN, Origin
from hyoka.study.sampling import Question, measured

_GAME: Final = "shogi"
_PROFESSIONALS: Final = ("shogi/pro_title.csa.xz", "shogi/pro_psn.csa.xz")
_PROGRAMS: Final = "shogi/floodgate2016.csa.xz"
_PROBLEMS: Final = "shogi/mate_and_nextmove.zip"
_OPENINGS: Final = "shogi/taya36.sfen.gz"
_BARE: Final = "uct:preset=paper,time={time}"
_CHECK: Final = f"{_BARE},threads={{threads}}"
_RATING: Final = f"{_CHECK},policy=strengths,strengths=learned"
_WIDENING: Final = f"{_RATING},widening=on"
_KILLER: Final = f"{_WIDENING},killer=on"
MCTS: Final = f"{_KILLER},history=on"
"""The paper's full program, except for the quiescence search at its root."""
_ALPHA_BETA: Final = "ab:time={time},eval=built-in"
_GPS: Final = "usi:depth=4:gpsusi"
"""It exceeds time limits below a second, so its depth is limited instead."""


def _games(context: ExperimentContext, files: Sequence[str], every: int) -> list[Record]:
    """Every n-th game of the records."""
    read = read_records(*(context.records.file(file) for file in files))
    return [record for record in itertools.islice(read, 0, None, every) if len(record)]


# Tables 3 and 4: move strengths


@dataclass(frozen=True, slots=True)
class RatingRow:
    """A row of table 3: the paper's strengths, and our features that match it."""

    name: str
    beginning: str
    """Prefix of our features' names."""
    low: float
    high: float


_BALANCE: Final = {
    "wins_700": 20.04,
    "wins_600": 14.37,
    "wins_500": 9.54,
    "wins_400": 6.08,
    "wins_300": 3.89,
    "wins_200": 2.90,
    "wins_100": 2.55,
    "even": 1.11,
    "loses_100": 0.47,
    "loses_200": 0.35,
    "loses_300": 0.32,
    "loses_400": 0.10,
    "loses_500": 0.06,
    "loses_600": 0.05,
    "loses_700": 0.02,
}
_ESCAPE: Final = {
    "pawn": (1.13, 1.27),
    "lance": (1.90, 3.19),
    "knight": (1.70, 2.59),
    "silver": (2.20, 2.60),
    "gold": (4.38, 4.78),
    "bishop": (1.77, 5.12),
    "rook": (6.85, 23.68),
    "horse": (3.26, 9.98),
    "dragon": (8.53, 14.62),
    "other_promoted": (0.82, 1.65),
}
_MOVE: Final = {
    "pawn": (1.04, 2.19),
    "lance": (0.16, 0.90),
    "knight": (0.57, 2.25),
    "silver": (0.60, 3.00),
    "gold": (0.33, 2.22),
    "bishop": (0.66, 1.45),
    "rook": (0.38, 1.00),
    "horse": (0.78, 1.49),
    "dragon": (0.66, 0.99),
    "other_promoted": (1.05, 2.21),
}
_DROP: Final = {
    "pawn": (0.50, 2.21),
    "lance": (0.24, 0.97),
    "knight": (0.17, 1.66),
    "silver": (0.19, 1.35),
    "gold": (0.28, 1.45),
    "bishop": (0.16, 1.17),
    "rook": (0.22, 1.89),
}
TABLE_3: Final = (
    *(RatingRow(f"balance, {band}", f"exchange_{band}", g, g) for band, g in _BALANCE.items()),
    RatingRow("recapture", "recapture", 12.75, 12.75),
    RatingRow("other captures", "other_capture", 1.88, 1.88),
    RatingRow("check", "check", 7.55, 7.55),
    RatingRow("promote", "promotion", 1.47, 1.47),
    *(RatingRow(f"escape, {piece}", f"escape_of_{piece}_", *g) for piece, g in _ESCAPE.items()),
    *(RatingRow(f"tables, {piece}", f"move_of_{piece}_", *g) for piece, g in _MOVE.items()),
    *(RatingRow(f"drop, {piece}", f"drop_of_{piece}_", *g) for piece, g in _DROP.items()),
    RatingRow("king danger, not in check", "king_goes_", 0.30, 1.01),
    RatingRow("king danger, in check", "king_in_check_goes_", 0.57, 4.21),
    RatingRow("move previous piece", "previous_piece_", 0.90, 1.55),
    RatingRow("return to previous square", "return_", 0.10, 0.87),
    RatingRow("distance to the previous move", "distance_to_last_move_", 0.89, 1.97),
    RatingRow("distance to the move before", "distance_to_move_before_", 0.94, 1.86),
)
"""The paper's strengths."""
_STRONGER: Final = (
    ("recapture", "other_capture", "a recapture above other captures"),
    ("exchange_wins_700", "exchange_even", "winning a rook above an even exchange"),
    ("exchange_even", "exchange_loses_700", "an even exchange above losing a rook"),
    ("escape_of_rook_from_pawn", "escape_of_pawn_from_pawn", "a rook's escape above a pawn's"),
    ("distance_to_last_move_1", "distance_to_last_move_3_or_more", "near above far, last move"),
    (
        "distance_to_move_before_1",
        "distance_to_move_before_3_or_more",
        "near above far, one before",
    ),
)
"""Pairs of features, stronger first, by table 3."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """Numbers of training games, test games and playouts."""

    every: int
    """Use every n-th professional game."""
    playouts: int


@dataclass(frozen=True)
class RatingsExperiment:
    """Table 3: feature strengths, the paper's and those of our records."""

    id: str
    title: str
    scales: Mapping[str, RatingScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Fit strengths to games."""
        games = _games(context, _PROFESSIONALS, self.scales[scale].every)
        learned = learn_strengths(table_of(games), progress=context.progress)
        even = learned["exchange_even"].strength.value
        their_even = _BALANCE["even"]
        rows: list[tuple[Value, ...]] = []
        for row in TABLE_3:
            balance = row.beginning.startswith("exchange_")
            ours = _met(learned, row.beginning)
            low, high = row.low, row.high
            if balance:  # every move has one of these, so only ratios are identified
                low, high = low / their_even, high / their_even
            values = [each.strength.value / (even if balance else 1) for each in ours]
            interval = ours[0].strength if len(ours) == 1 and not balance else None
            wins = sum(each.wins for each in ours)
            rows.append((row.name, _range([low, high]), interval or _range(values), wins))
        found = [
            verdict(words, _log_ratio(learned[one], learned[other]), "log of the ratio")
            for one, other, words in _STRONGER
            if learned[one].wins and learned[other].wins
        ]
        found.append(verdict("a check above 1", _log(learned["check"]), "log γ"))
        back = learned["return_without_capture"]
        if back.wins:
            found.append(verdict("a return without a capture below 1", -_log(back), "−log γ"))
        return Outcome(
            f"learned from {learned.positions:,} positions of {learned.games:,} games; log-loss "
            f"{learned.log_loss:.3f}, {learned.random_log_loss:.3f} if all moves were alike",
            (OutcomeTable(("feature", "theirs", "ours", "moves played"), tuple(rows)),),
            tuple(found),
        )


def _met(learned: Strengths, beginning: str) -> list[FeatureStrength]:
    return [each for each in learned.features if each.name.startswith(beginning) and each.moves]


def _range(values: Sequence[float]) -> str:
    if not values:
        return "–"
    low, high = min(values), max(values)
    return f"{low:.2f}" if math.isclose(low, high) else f"{low:.2f} – {high:.2f}"


def _log(feature: FeatureStrength) -> Estimate:
    strength = feature.strength
    return Estimate(math.log(strength.value), math.log(strength.low), math.log(strength.high))


def _log_ratio(one: FeatureStrength, other: FeatureStrength) -> Estimate:
    return independent_difference(_log(one), _log(other))


_THEIR_PLAYOUTS: Final = {"uniform": (0.037, 0.193, 3_500), "strengths": (0.172, 0.905, 900)}
"""Table 4: prediction, termination, playouts per second."""


@dataclass(frozen=True)
class PlayoutsExperiment:
    """Table 4: random playouts and playouts with move strengths."""

    id: str
    title: str
    scales: Mapping[str, RatingScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Fit to half of the games and predict the other half."""
        amount = self.scales[scale]
        games = _games(context, _PROFESSIONALS, amount.every)
        learned = [each for each in games if not is_kept_apart(each, 0.5)]
        unseen = [each for each in games if is_kept_apart(each, 0.5)]
        file = context.place(self.id) / f"{scale}-strengths.json"
        learn_strengths(table_of(learned), progress=context.progress).write(file)
        policies = {
            "random": PlayoutPolicy(),
            "rating, built in": PlayoutPolicy("strengths", BUILT_IN),
            "rating, learned here": PlayoutPolicy("strengths", str(file)),
        }
        found = playout_quality(
            _GAME,
            list(policies.values()),
            games=table_of(unseen),
            count=amount.playouts,
            seed=context.seed,
            resampling=Resampling(seed=context.seed),
            progress=context.progress,
        )
        rows: list[tuple[Value, ...]] = []
        for name, each in zip(policies, found, strict=True):
            theirs = _THEIR_PLAYOUTS[each.policy.name]
            found_here = (each.drawn, each.first, each.terminated, round(each.rate))
            rows.append((name, theirs[0], theirs[1], f"≈ {theirs[2]:,}", *found_here))
        headings = ("move selection", "theirs: prediction", "termination", "speed")
        ours = ("ours: drawn", "likeliest", "termination", "playouts/s")
        return Outcome(
            f"{len(unseen)} games of professionals predicted, {len(learned)} others learned from; "
            f"{amount.playouts:,} playouts from the start, 256 plies at most",
            (OutcomeTable((*headings, *ours), tuple(rows)),),
            tuple(_playout_verdicts(*found)),
        )


def _playout_verdicts(
    random: PlayoutQuality, built_in: PlayoutQuality, learned: PlayoutQuality
) -> list[Verdict]:
    assert random.drawn is not None
    found = []
    for name, each in (("built in", built_in), ("learned", learned)):
        assert each.drawn is not None
        found += [
            verdict(
                f"ratings {name} predict more than chance",
                independent_difference(each.drawn, random.drawn),
            ),
            verdict(
                f"more playouts end by ratings {name}",
                independent_difference(each.terminated, random.terminated),
            ),
        ]
    return found


# Tables 5 and 8: problems


def _is_mate(problem: Problem) -> bool:
    """Whether the problem's label is one of mate: 詰将棋, 実戦詰め筋, 持駒限定詰将棋."""
    return "詰" in problem.kind


def tactical_problems(context: ExperimentContext, count: int) -> list[Problem]:
    """`count` drills, spread evenly over the file."""
    [suite] = read_suites([f"{context.records.file(_PROBLEMS)}:drill.jsonl"])
    asked = [each for each in suite.problems if each.best]
    wanted = min(count, len(asked))
    return [asked[i * len(asked) // wanted] for i in range(wanted)]


def bear_in_the_hole_endings(context: ExperimentContext, count: int) -> list[Problem]:
    """The winner's move 20 plies before the end of games with both kings in an anaguma castle."""
    found: list[Problem] = []
    for record in read_records(context.records.file(_PROGRAMS)):
        if len(found) == count:
            break
        if record.result not in (0.0, 1.0) or record.start:
            continue
        ply = len(record) - 20
        ply -= (ply % 2 == 0) != (record.result == 1.0)  # Black moves at even plies
        if ply < 60:
            continue
        before = record.position(ply)
        if _in_corners(before.text):
            played = str(record.move_list[ply])
            at = len(found)
            found.append(Problem(_GAME, before.text, best=(played,), line_number=at))
    return found


def _in_corners(sfen: str) -> bool:
    """Whether both kings stand in a corner of their own side.

    >>> _in_corners("k8/9/9/9/9/9/9/9/8K b - 1"), _in_corners("1k7/9/9/9/9/9/9/9/8K b - 1")
    (True, False)
    """
    first, *_, last = sfen.split(maxsplit=1)[0].split("/")
    return "k" in (first[0], first[-1]) and "K" in (last[0], last[-1])


# Tables 6 and 7: matches


@dataclass(frozen=True, slots=True)
class MatchScale:
    """Time per move, number of games, and openings."""

    time_s: float
    games: int
    threads: int = 1
    openings: str | None = _OPENINGS
    """A file of the records; None: random moves."""

    @property
    def limit(self) -> str:
        """The limit of a move in words."""
        return f"{self.time_s:g} s a move"

    def text(self, spec: str) -> str:
        """A player's spec at this scale."""
        return spec.format(time=f"{self.time_s:g}", threads=self.threads)

    def starts(self, context: ExperimentContext) -> Sequence[Opening] | None:
        """The openings; None: random moves."""
        if self.openings is None:
            return None
        return openings_of(str(context.records.file(self.openings)), _GAME, seed=context.seed)


@dataclass(frozen=True, slots=True)
class PlayoutMatchScale(MatchScale):
    """A match scale with playouts (alpha-beta: nodes) per move in place of time."""

    playouts: int = 0
    nodes: int = 0

    @property
    def limit(self) -> str:
        """The limit of a move in words."""
        return f"{self.playouts:,} playouts or {self.nodes:,} nodes a move"

    def text(self, spec: str) -> str:
        """A player's spec at this scale."""
        return in_playouts(spec, self.playouts, self.nodes)


@dataclass(frozen=True, slots=True)
class Opponents:
    """Two players, and the score of the first in the paper."""

    one: str
    other: str
    specs: tuple[str, str]
    theirs: float | None = None


@dataclass(frozen=True)
class OpponentsExperiment:
    """Table 6: the program against a conventional one."""

    id: str
    title: str
    opponents: tuple[Opponents, ...]
    scales: Mapping[str, MatchScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Play the missing games."""
        amount = self.scales[scale]
        for each in self.opponents:
            for spec in each.specs:
                if spec.startswith("usi:"):
                    EngineSpec.from_text(amount.text(spec)).program()  # raises if missing
        rows: list[tuple[Value, ...]] = []
        scores, verdicts = [], []
        for each in self.opponents:
            plan = plan_match(
                *(
                    f"{name}={amount.text(spec)}"
                    for name, spec in zip((each.one, each.other), each.specs, strict=True)
                ),
                game=_GAME,
                openings=amount.starts(context),
                seed=context.seed,
            )
            score = context.play(plan, context.place(self.id) / plan.id, amount.games)
            ours = score.standing.duel(0, 1)
            scores.append(ours)
            rows.append((each.one, each.other, each.theirs, ours.score, rate(ours)))
            if each.theirs is not None:
                verdicts.append(lead_verdict(f"{each.one} behind {each.other}", ~ours))
        for (before, one), (after, other) in itertools.pairwise(
            zip(self.opponents, scores, strict=True)
        ):
            claim = f"{after.one} does better than {before.one}"
            verdicts.append(difference_verdict(claim, other, one, "points"))
        players = tuple((each.one, f"`{amount.text(each.specs[0])}`") for each in self.opponents)
        others = {each.other: f"`{amount.text(each.specs[1])}`" for each in self.opponents}
        return Outcome(
            f"{amount.games} games each, {amount.limit}, sides exchanged in pairs",
            (
                OutcomeTable(("player", "against", "theirs", "ours +−=", "points"), tuple(rows)),
                OutcomeTable(("player", "text"), (*players, *others.items()), "the players"),
            ),
            tuple(verdicts),
        )


@dataclass(frozen=True, slots=True)
class BookScale(MatchScale):
    """A match scale with a book of every n-th program game."""

    every: int = 1
    plies: int = 30


@dataclass(frozen=True)
class BookExperiment:
    """Table 7: book moves selected by tree search against moves drawn by frequency."""

    id: str
    title: str
    files: tuple[str, ...]
    scales: Mapping[str, BookScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Build the book from winners' moves, then play from the start."""
        amount = self.scales[scale]
        games = _games(context, self.files, amount.every)
        book = Book.from_records(_GAME, games, plies=amount.plies, whose="winners")
        file = context.place(self.id) / f"{scale}.book"
        book.save(file, Origin(f"hyoka experiment run {self.id}"))
        by = {
            "by UCT": amount.text(f"{_ALPHA_BETA},book={file},book_pick=uct"),
            "by frequency": amount.text(f"{_ALPHA_BETA},book={file},book_pick=frequency"),
        }
        plan = plan_match(
            *(f"{name}={text}" for name, text in by.items()),
            game=_GAME,
            openings="start",
            seed=context.seed,
        )
        result = context.play(plan, context.place(self.id) / plan.id, amount.games)
        ours = result.standing.duel(0, 1)
        points = rate(ours)
        after = _after_book(result, book, context.seed)
        even = same_within(100, "the evaluation is even where the book ends", [after], "centipawns")
        return Outcome(
            f"{amount.games} games from the start, {amount.time_s:g} s a move; the book has "
            f"{len(book):,} positions of the winners of {len(games):,} games, {amount.plies} plies "
            "deep; out of it αβ plays on for both",
            (
                OutcomeTable(
                    ("against", "theirs", "evaluation", "ours +−=", "points", "evaluation"),
                    (("by frequency", 0.61, -2.01, ours.score, points, after),),
                ),
            ),
            (
                lead_verdict("by UCT ahead of by frequency", ours),
                not_shown_if(too_few_reason(ours), even),
            ),
        )


def _after_book(result: MatchResult, book: Book, seed: int) -> Estimate:
    """The evaluation where the book ends, from the view of the UCT player."""
    evaluation = linear_evaluation(_GAME)
    scores, numbers = [], []
    for game in result.games:
        left = next((each for each in game.record.positions() if not book.moves(each)), None)
        if left is not None:
            sign = 1 if game.pairing.first == 0 else -1
            scores.append(sign * float(evaluation.score([left])[0]))
            numbers.append(game.pairing.pair_id)
    return mean_by_games(np.array(scores), np.array(numbers), Resampling(seed=seed))


# Table 9: lost positions that look even


@dataclass(frozen=True, slots=True)
class LostScale:
    """Number of games and search limits."""

    every: int
    sample: int
    playouts: int
    nodes: int


@dataclass(frozen=True)
class LostExperiment:
    """Detection of the winner where alpha-beta sees an even position near the end of a game."""

    id: str
    title: str
    files: tuple[str, ...]
    scales: Mapping[str, LostScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Evaluate endings with both searches."""
        amount = self.scales[scale]
        study = context.study(
            f"shogi-endings-{amount.every}",
            self.files,
            where=f"plies >= 60 and result in (0, 1) and number % {amount.every} = 0",
            columns="none",
        )
        mcts = MCTS.replace("time={time}", f"playouts={amount.playouts}").format(threads=1)
        specs = [f"ab:nodes={amount.nodes},eval=built-in", mcts]
        [engine] = context.evaluate(study, specs[:1], amount.sample, where=_NEAR_THE_END)
        every = measured(study, [engine], Question(where=_NEAR_THE_END, axis="value"))
        [alpha_beta] = every.samples
        correct = _right(alpha_beta)
        how = Resampling(seed=context.seed)
        even = np.abs(alpha_beta.values - 0.5) <= _EVEN
        rows: list[tuple[Value, ...]] = [
            ("αβ, all", len(every), mean_by_games(correct, alpha_beta.games, how))
        ]
        verdicts = []
        if even.any():
            pairs = zip(every.game_ids[even].tolist(), every.plies[even].tolist(), strict=True)
            where = f"(game_id, ply) in ({', '.join(map(str, pairs))})"
            engines = context.evaluate(study, specs, None, where=where)
            samples = measured(study, engines, Question(where=where, axis="value")).samples
            right = [_right(sample) for sample in samples]
            games = samples[0].games
            for name, each in zip(("αβ, where even", "MCTS, where even"), right, strict=True):
                rows.append((name, len(each), mean_by_games(each, games, how)))
            more = mean_by_games(right[1].astype(float) - right[0].astype(float), games, how)
            judged = verdict("where αβ sees it even, MCTS knows more often who wins", more)
            verdicts.append(not_shown_if_few(judged, len(np.unique(games))))
        return Outcome(
            f"{len(every):,} positions of {alpha_beta.game_count:,} games, 10 to 40 plies before "
            f"the end; αβ sees {int(even.sum()):,} of them within {_EVEN:g} of even; "
            f"{amount.playouts:,} playouts, {amount.nodes:,} nodes",
            (OutcomeTable(("evaluator", "positions", "winner predicted"), tuple(rows)),),
            tuple(verdicts),
        )


def _right(sample: Sample) -> NDArray[np.bool_]:
    """Whether the evaluator predicts the winner."""
    return np.asarray((sample.values > 0.5) == (sample.results > 0.5))


_NEAR_THE_END: Final = "ply between plies - 40 and plies - 10"
_EVEN: Final = 0.1

_ALL: Final = Sort("all", lambda problem: True)
_NO_MATES: Final = Sort("without mates", lambda problem: not _is_mate(problem))
_MATES: Final = Sort("mates", _is_mate)
_LADDER: Final = (
    Rung("MC/UCT (1 thread)", f"{_BARE},proofs=off", (Solved(4, 98), Solved(4, 86))),
    Rung("MC/UCT", f"{_CHECK},proofs=off", (Solved(9, 98), Solved(8, 86))),
    Rung("+ check", _CHECK, (Solved(12, 98), Solved(11, 86))),
    Rung("+ rating", _RATING, (Solved(36, 98), Solved(32, 86))),
    Rung("+ PW", _WIDENING, (Solved(41, 98), Solved(38, 86))),
    Rung("+ killer", _KILLER, (Solved(43, 98), Solved(41, 86))),
    Rung("+ history", MCTS, (Solved(49, 98), Solved(45, 86))),
    Rung("αβ", _ALPHA_BETA, (Solved(60, 98), Solved(48, 86))),
)
_LADDER_CLAIMS: Final = (
    *(
        (n + 1, n, f"{_LADDER[n + 1].name} solves more than the line before it")
        for n in range(len(_LADDER) - 1)
    ),
    (6, 0, "all of it solves more than the bare search"),
)

_MATE_SEARCH: Final = "mate=200"
_PLAYOUT_LADDER: Final = (
    Rung("MC/UCT", f"{_BARE},proofs=off"),
    Rung("+ check", _BARE),
    Rung("+ rating", _RATING),
    Rung("+ PW", _WIDENING),
    Rung("+ killer", _KILLER),
    Rung("+ history", MCTS),
    Rung("+ rating, mate search", f"{_RATING},{_MATE_SEARCH}"),
    Rung("+ history, mate search", f"{MCTS},{_MATE_SEARCH}"),
)
_PLAYOUT_CLAIMS: Final = (
    *(
        (n + 1, n, f"{_PLAYOUT_LADDER[n + 1].name} solves more than the line before it")
        for n in range(5)
    ),
    (5, 0, "all of it solves more than the bare search"),
    (6, 2, "rating solves more with a mate search than without"),
    (7, 5, "all of it solves more with a mate search than without"),
)
_QUIESCENCE: Final = f"{MCTS},root_quiescence=on"

EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    RatingsExperiment(
        "004-table3",
        "Shogi: ratings of the features of moves",
        {
            "tiny": RatingScale(1, 0),
            "small": RatingScale(1, 0),
            "medium": RatingScale(1, 0),
            "paper": RatingScale(1, 0),
        },
        "The paper learned from 300 games of the Meijin tournament; ours are 437 professionals' "
        "games of other titles. Of bands of which every move has one (the balance) only ratios "
        "say something: they are given relative to an even exchange. The tables of pieces by the "
        "kings' squares are learned from records, not KIRI's. A range is over the features of ours "
        "that a row is about; one feature alone has its 95 % interval.",
    ),
    PlayoutsExperiment(
        "004-table4",
        "Shogi: playouts by chance and by ratings",
        {
            "tiny": RatingScale(1, 20),
            "small": RatingScale(1, 2_000),
            "medium": RatingScale(1, 10_000),
            "paper": RatingScale(1, 10_000),
        },
        "Prediction: the chance that a playout draws the move of the record; that is what the "
        "paper's 0.037 of random moves must be. Likeliest: how often it is the move that the "
        "ratings put first. The built-in ratings are the paper's where it gives some. The speed is "
        "that of one core here; the paper had a Xeon of 2007.",
    ),
    LadderExperiment(
        "004-table5",
        "Shogi: tactical problems, one enhancement after another",
        tactical_problems,
        (_ALL, _NO_MATES),
        _LADDER,
        _LADDER_CLAIMS,
        {
            "tiny": LadderScale(4, 0.01),
            "small": LadderScale(200, 0.2, 2),
            "medium": LadderScale(240, 1, 2),
            "paper": LadderScale(240, 30, 8),
        },
        "The paper's 98 problems are of a book and a page that are not free; ours are drills made "
        "by people, half of them mates by their own words (the set of next moves that lies beside "
        "them does not give the answers). "
        "Check is `proofs=on`, rating `policy=strengths` with ratings learned from programs' and "
        "professionals' games, PW `widening=on`. αβ is ours; the paper's had a solver of mates.",
    ),
    LadderExperiment(
        "004-table5-playouts",
        "Shogi: tactical problems, one enhancement after another, at equal playouts",
        tactical_problems,
        (_ALL, _NO_MATES, _MATES),
        _PLAYOUT_LADDER,
        _PLAYOUT_CLAIMS,
        {
            "tiny": PlayoutLadderScale(4, 30),
            "small": PlayoutLadderScale(240, 3_000),
            "medium": PlayoutLadderScale(240, 30_000),
            "paper": PlayoutLadderScale(240, 216_000),
        },
        "The problems and searches of 004-table5 with equal playouts in place of equal time. Mate "
        f"search: `{_MATE_SEARCH}`, at most 200 nodes of a proof-number search at each leaf; the "
        "paper has none. The paper: 30 s a problem with 900 playouts a second and 8 threads.",
    ),
    OpponentsExperiment(
        "004-table6-readings",
        "Shogi: readings of root quiescence against alpha-beta, at equal playouts",
        (
            Opponents("MCTS", "αβ", (MCTS, _ALPHA_BETA), 0.04),
            Opponents("less 0.05 to 0.15, material lost", "αβ", (_QUIESCENCE, _ALPHA_BETA), 0.32),
            Opponents(
                "times 0.95 to 0.85, material lost",
                "αβ",
                (f"{_QUIESCENCE},root_penalty=multiply", _ALPHA_BETA),
                0.32,
            ),
            Opponents(
                "less 0.05 to 0.15, balance of material",
                "αβ",
                (f"{_QUIESCENCE},root_loss=balance", _ALPHA_BETA),
                0.32,
            ),
        ),
        {
            "tiny": PlayoutMatchScale(0, 2, openings=None, playouts=10, nodes=10),
            "small": PlayoutMatchScale(0, 40, playouts=1_000, nodes=300),
            "medium": PlayoutMatchScale(0, 200, playouts=5_000, nodes=1_000),
            "paper": PlayoutMatchScale(0, 200, playouts=72_000, nodes=100_000),
        },
        "The paper reduces the win rate of a move by 5 to 15 % by what captures after it lose, in "
        "words that can mean a difference or a factor, and material lost by the move or the "
        "balance of all material. αβ has few nodes, so that differences can show.",
    ),
    OpponentsExperiment(
        "004-table6",
        "Shogi: Monte-Carlo tree search against alpha-beta",
        (
            Opponents("MCTS", "αβ", (MCTS, _ALPHA_BETA), 0.04),
            Opponents(
                "MCTS with root quiescence", "αβ", (f"{MCTS},root_quiescence=on", _ALPHA_BETA), 0.32
            ),
            Opponents("our best uct", "αβ", ("uct:time={time},threads={threads}", _ALPHA_BETA)),
        ),
        {
            "tiny": MatchScale(0.01, 2, openings=None),
            "small": MatchScale(0.05, 10),
            "medium": MatchScale(0.2, 100),
            "paper": MatchScale(10, 200, 8),
        },
        "Our αβ stands where the paper has TOHMI. `our best uct` is what plays shogi if nobody "
        "says otherwise: it goes beyond the paper.",
    ),
    OpponentsExperiment(
        "004-table6-gps",
        "Shogi: Monte-Carlo tree search against GPS Shogi",
        (
            Opponents("MCTS", "GPS Shogi", (MCTS, _GPS)),
            Opponents(
                "our best uct",
                "GPS Shogi",
                ("uct:time={time},threads={threads}", _GPS),
            ),
        ),
        {
            "small": MatchScale(0.1, 10),
            "medium": MatchScale(1, 50),
            "paper": MatchScale(10, 200, 8),
        },
        "GPS Shogi is a program of the paper's time; Debian's `gpsshogi` has it. It searches four "
        "plies: it can't keep to less than a second a move. So times are not equal.",
    ),
    BookExperiment(
        "004-table7",
        "Shogi: a book's moves chosen by UCT against drawn by frequency",
        (_PROGRAMS, *_PROFESSIONALS),
        {
            "tiny": BookScale(0.01, 2, plies=6),
            "small": BookScale(0.05, 200, every=4),
            "medium": BookScale(0.5, 100),
            "paper": BookScale(2, 200),
        },
        "The paper's book is of 30,000 games of people, ours of programs (floodgate) and some "
        "professionals, winners' moves only. Out of the book the paper's KIRI plays on for both, "
        "ours is αβ. UCT is as it plays shogi if nobody says otherwise. The evaluation is the "
        "static one, where the book first ends, of the player by UCT; a pawn is about 100.",
    ),
    LadderExperiment(
        "004-table8",
        "Shogi: endings with both kings in a bear-in-the-hole",
        bear_in_the_hole_endings,
        (_ALL,),
        (Rung("MCTS", MCTS), Rung("αβ", _ALPHA_BETA)),
        ((0, 1, "MCTS finds the winner's move more often than αβ"),),
        {
            "tiny": LadderScale(2, 0.01),
            "small": LadderScale(60, 0.3),
            "medium": LadderScale(200, 1),
            "paper": LadderScale(200, 60, 8),
        },
        "The paper shows one position (figure 2) as a picture, which its text does not give. So "
        "these are its siblings: both kings in a corner, twenty moves before the end of programs' "
        "games, and the move that the winner played there. A move that was not played may be as "
        "good.",
    ),
    LadderExperiment(
        "004-table8-playouts",
        "Shogi: endings with both kings in a bear-in-the-hole, at the paper's playouts",
        bear_in_the_hole_endings,
        (_ALL,),
        (
            Rung("MCTS", MCTS),
            Rung("MCTS, mate search", f"{MCTS},{_MATE_SEARCH}"),
            Rung("αβ", _ALPHA_BETA),
        ),
        (
            (0, 2, "MCTS finds the winner's move more often than αβ"),
            (1, 0, "MCTS finds it more often with a mate search than without"),
        ),
        {
            "tiny": PlayoutLadderScale(2, 20, 100),
            "small": PlayoutLadderScale(60, 54_000, 300_000),
            "medium": PlayoutLadderScale(200, 54_000, 1_000_000),
            "paper": PlayoutLadderScale(200, 432_000, 10_000_000),
        },
        "The positions of 004-table8; 54,000 playouts are a minute of one thread of the paper's "
        "program. A move that was not played may be as good.",
    ),
    LostExperiment(
        "004-table9",
        "Shogi: endings that alpha-beta takes for even",
        (_PROGRAMS,),
        {
            "tiny": LostScale(1_000, 1, 10, 100),
            "small": LostScale(10, 4, 5_000, 5_000),
            "medium": LostScale(2, 4, 5_000, 20_000),
            "paper": LostScale(5, 4, 100_000, 200_000),
        },
        "The paper shows one position (figure 3) as a picture, which its text does not give: "
        "programs took it for even, MCTS saw that it is lost. So these are its siblings: positions "
        "near the end of programs' games, and among them those that our αβ takes for even.",
    ),
)
