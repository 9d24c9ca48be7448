# SPDX-License-Identifier: Apache-2.0
"""Whether new weights play better than the old ones: a match under a sequential test."""

import random
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from hyoka.arena import Sprt, plan_match, play_match
from hyoka.arena.openings import Opening, is_playable
from hyoka.arena.plan import MatchPlan
from hyoka.arena.players import PlayerSpec
from hyoka.arena.summary import DuelSummary
from hyoka.artefact import Artefact
from hyoka.games import game_facts
from hyoka.improving.plan import ImprovePlan
from hyoka.improving.story import Candidate, Proof
from hyoka.learning import is_held_out
from hyoka.progress import OnProgress
from hyoka.study import Study

_MOST_OPENINGS: Final = 2000
_LEAST_OPENINGS: Final = 50
"""Fewer lines would be played over and over; random moves give more."""
_LONGEST: Final = 400
"""Plies; then a game is drawn, or scored as it stands."""


def planned(
    study: Study, candidate: Candidate, plan: ImprovePlan, folder: Path
) -> tuple[MatchPlan, str]:
    """The match of new weights against the old ones, and where its games begin, in words."""
    old = plan.player(study.game)
    # Named by the file alone, the match is the same wherever the folder lies.
    data = (folder / candidate.file).read_bytes()
    new = old.with_settings(eval=Artefact.from_bytes(data, path=candidate.file))
    openings, words = _openings(study, plan)
    match = plan_match(
        PlayerSpec("new", new),
        PlayerSpec("old", old),
        game=study.game,
        openings=openings,
        max_plies=_LONGEST,
        seed=plan.seed,
    )
    return match, words


def shared_risk(test: Sprt, tried: int) -> Sprt:
    """The test of one of several: together they take what is no gain as rarely as one alone."""
    return replace(test, alpha=test.alpha / tried)


def prove(  # noqa: PLR0913 - a keyword for each choice
    match: MatchPlan,
    words: str,
    candidate: Candidate,
    folder: Path,
    *,
    games: int,
    sprt: Sprt,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> Proof:
    """Play the match, or what is left of it."""
    result = play_match(
        match,
        folder / f"match-{candidate.name}",
        games=games,
        sprt=sprt,
        jobs=jobs,
        executor=executor,
        progress=progress,
    )
    duel = DuelSummary.of(result.standing, 0, 1, sprt)
    score = duel.score
    return Proof(
        candidate.name,
        match.players[0].spec.text,
        match.players[1].spec.text,
        words,
        f"{sprt.elo0:+g} against {sprt.elo1:+g} Elo, risks {sprt.alpha:g} and {sprt.beta:g}",
        duel.verdict,
        score.score.wins,
        score.score.draws,
        score.score.losses,
        tuple(score.pairs.counts),
        duel.elo,
        duel.rate,
        0.0 if duel.llr is None else duel.llr,
        (sprt.lower, sprt.upper),
    )


def _openings(study: Study, plan: ImprovePlan) -> tuple[str | list[Opening] | None, str]:
    """The openings that were asked for, or the first moves of the games held out."""
    if plan.openings is not None:
        return plan.openings, f"openings of {plan.openings}"
    plies = game_facts(study.game).record_plies
    ids = study.sql("select game_id from games order by game_id")["game_id"].to_numpy()
    apart = ids[is_held_out(ids.astype(np.int64), plan.hold_out, plan.seed)].tolist()
    random.Random(plan.seed).shuffle(apart)
    lines: dict[tuple[str, tuple[str, ...]], Opening] = {}
    for game_id, record in study.records(apart[:_MOST_OPENINGS]):
        moves = tuple(record.move_texts()[:plies])
        opening = Opening(f"game {game_id}", record.start, moves)
        if len(moves) == plies and is_playable(opening, study.game):
            lines.setdefault((record.start, moves), opening)
    if len(lines) < _LEAST_OPENINGS:
        return None, "lines of random moves"
    found = list(lines.values())
    random.Random(plan.seed).shuffle(found)
    return found, f"the first {plies} plies of {len(found):,} games held out"
