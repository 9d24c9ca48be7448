# SPDX-License-Identifier: Apache-2.0
"""Playing strength of our searches: matches against engines, and ablations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from experiments.context import Experiment, ExperimentContext
from experiments.outcome import Outcome, OutcomeTable, Value
from hyoka.arena import MatchScore, Opening, elo, match_ratings, openings_of, plan_match, rate
from hyoka.foundation.math import Estimate


@dataclass(frozen=True, slots=True)
class Bout:
    """Two players, the openings, and the adjudication of games."""

    title: str
    game: str
    one: str
    other: str
    openings: str | None = None
    """A file of the records with a number of plies; None: random openings."""
    adjudicate: tuple[str, ...] = ()


@dataclass(frozen=True)
class StrengthExperiment:
    """A series of matches with intervals; there are no paper results to compare with."""

    id: str
    title: str
    bouts: tuple[Bout, ...]
    scales: Mapping[str, int]
    """Games per match."""
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Play the missing games."""
        games = self.scales[scale]
        bouts = tuple(map(_hurried, self.bouts)) if scale == "tiny" else self.bouts
        rows = []
        for bout in bouts:
            score = _play(context, bout, (bout.one, bout.other), self.id, games)
            rows.append((bout.title, *score_cells(score)))
        commands = tuple(
            (bout.title, f"`{bout.one}`", f"`{bout.other}`", bout.openings or "random")
            for bout in bouts
        )
        return Outcome(
            f"{games} games each, sides exchanged in pairs",
            (
                OutcomeTable(("match", *SCORE_HEADINGS), tuple(rows)),
                OutcomeTable(("match", "one", "other", "openings"), commands, "the players"),
            ),
        )


SCORE_HEADINGS: Final = ("+−=", "points", "Elo")


def score_cells(score: MatchScore) -> tuple[Value, ...]:
    """A match's cells under `SCORE_HEADINGS`."""
    return score.score, rate(score), elo(score)


def _hurried(bout: Bout) -> Bout:
    """The same match with a tenth of the time and of the playouts.

    >>> bout = Bout("go", "go9", "uct:time=0.5", "gtp:gnugo --level 10")
    >>> _hurried(bout).one, _hurried(bout).other
    ('uct:time=0.05', 'gtp:gnugo --level 10')
    """

    def tenth(limit: re.Match[str]) -> str:
        less = float(limit[2]) / 10
        return f"{limit[1]}={less if limit[1] == 'time' else max(1, round(less)):g}"

    one, other = (
        re.sub(r"\b(time|playouts)=([\d.]+)", tenth, spec) for spec in (bout.one, bout.other)
    )
    return replace(bout, one=one, other=other)


def _play(
    context: ExperimentContext, bout: Bout, players: tuple[str, str], name: str, games: int
) -> MatchScore:
    """Play a match from the bout's openings; return the first player's score."""
    plan = plan_match(
        *players,
        game=bout.game,
        openings=_starts(context, bout, context.seed),
        adjudicate=bout.adjudicate,
        seed=context.seed,
    )
    return context.play(plan, context.folder / name / plan.id, games).standing.duel(0, 1)


def _starts(context: ExperimentContext, bout: Bout, seed: int) -> Sequence[Opening] | None:
    if bout.openings is None:
        return None
    file, _, plies = bout.openings.partition(":")
    text = f"{context.records.file(file)}:{plies}" if plies else str(context.records.file(file))
    return openings_of(text, bout.game, seed=seed)


@dataclass(frozen=True, slots=True)
class TunedScale:
    """Numbers of games for tuning and for the match."""

    tuning: int
    """Games per pair of constants."""
    games: int


@dataclass(frozen=True)
class TunedExperiment:
    """A search against the plain one with its tuned exploration constant.

    A league tunes the constant on other openings and seeds, so the match is unbiased.
    """

    id: str
    title: str
    bout: Bout
    """`other` is the plain search, without its constant."""
    constants: tuple[float, ...]
    scales: Mapping[str, TunedScale]
    notes: str = ""

    def run(self, context: ExperimentContext, scale: str) -> Outcome:
        """Tune the plain search, then play."""
        amount, bout = self.scales[scale], self.bout
        if scale == "tiny":
            bout = _hurried(bout)
        texts = {f"c {c:g}": f"{bout.other},c={c:g}" for c in self.constants}
        plan = plan_match(
            *(f"{name}={text}" for name, text in texts.items()),
            game=bout.game,
            openings=_starts(context, bout, context.seed + 1),
            adjudicate=bout.adjudicate,
            seed=context.seed + 1,
        )
        league = context.play(plan, context.folder / self.id / plan.id, amount.tuning)
        ratings = match_ratings(league.games, list(texts))
        best = ratings.players[0].name
        tuned = tuple(
            (each.name, each.score, each.score.rate, Estimate(each.elo, each.low, each.high))
            for each in ratings.players
        )
        players = (f"ours={bout.one}", f"plain={texts[best]}")
        score = _play(context, bout, players, self.id, amount.games)
        return Outcome(
            f"{amount.games} games against the plain search at {best}, which {amount.tuning} games "
            "of each two constants from other openings found best",
            (
                OutcomeTable(("match", *SCORE_HEADINGS), ((bout.title, *score_cells(score)),)),
                OutcomeTable(("constant", "+−=", "points", "Elo"), tuned, "the plain search"),
            ),
        )


_GO_OPENINGS: Final = "go9/pro_aeb_9x9.sgf.xz:4"
_GNU_GO: Final = (
    "GNU Go=gtp:gnugo --mode gtp --level 10 --chinese-rules --capture-all-dead --positional-superko"
)
_RESIGN: Final = ("resign=0.98,3",)
EXPERIMENTS: Final[tuple[Experiment, ...]] = (
    TunedExperiment(
        "strength-go9-parts",
        "Go 9×9: the best of our parts against plain UCT at its best constant, equal time",
        Bout(
            "PUCT, light playouts v plain UCT",
            "go9",
            "uct:preset=paper,time=0.05,formula=puct,policy=light",
            "uct:preset=paper,time=0.05",
            _GO_OPENINGS,
            _RESIGN,
        ),
        (0.1, 0.2, 0.35, 0.5, 0.7, 1.0),
        {
            "tiny": TunedScale(2, 2),
            "small": TunedScale(4, 40),
            "medium": TunedScale(40, 200),
            "paper": TunedScale(200, 1_000),
        },
        "The papers' constant, c = 1, is far too much in Go: against it everything wins.",
    ),
    StrengthExperiment(
        "strength-engines",
        "Our searches against engines of Debian's",
        (
            Bout(
                "Go 9×9: UCT, 5,000 playouts v GNU Go 3.8 level 10",
                "go9",
                "ours=uct:preset=paper,playouts=5000,formula=puct,policy=light",
                _GNU_GO,
                _GO_OPENINGS,
                _RESIGN,
            ),
            Bout(
                "chess: αβ v Stockfish at UCI_Elo 2000, 0.1 s a move",
                "chess",
                "ours=ab:time=0.1",
                "Stockfish 2000=uci:time=0.1,UCI_LimitStrength=true,UCI_Elo=2000:stockfish",
                "chess/twic_human.pgn.xz:8",
                ("resign=900,4", "draw=10,8,100"),
            ),
            Bout(
                "shogi: αβ, 0.1 s a move v Fairy-Stockfish, 0.18 s byo-yomi",
                "shogi",
                "ours=ab:time=0.1",
                "Fairy-Stockfish 20=usi:time=0.18,UCI_Variant=shogi,Skill Level=20:fairy-stockfish",
                "shogi/taya36.sfen.gz",
                ("resign=1500,3",),
            ),
            Bout(
                "Othello: αβ, 0.1 s a move v GRhino as it comes",
                "othello",
                "ours=ab:time=0.1",
                "GRhino=gtp:gtp-rhino",
            ),
        ),
        {"tiny": 2, "small": 10, "medium": 100, "paper": 1_000},
        "Fairy-Stockfish leaves much of a short byo-yomi unused: of 0.18 s it takes some 0.10 s. "
        "`UCI_LimitStrength` makes Stockfish err on purpose. The engines are those of Debian 12.",
    ),
)
