# SPDX-License-Identifier: Apache-2.0
"""The demo: studies of the sample records, and what several evaluators say of their positions.

Four evaluators judge the same positions of the Go games: the static evaluation, flat Monte Carlo,
and UCT at two strengths. The players' own words, which cost nothing, are taken from all positions
of the Go and the chess games.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka.foundation.progress import OnProgress
from hyoka.records.samples import sample_path
from hyoka.study import COMMENTS, EvaluationReport, Study, evaluate, make_study

STATIC: Final = "ab:nodes=1,hash=0"
"""At one node alpha-beta has seen the position alone: this is the linear evaluation itself."""
MONTE_CARLO: Final = "mc:playouts=250"
UCT_WEAK: Final = "uct:preset=paper,playouts=250,formula=puct"
UCT_STRONG: Final = "uct:preset=paper,playouts=2500,formula=puct"
EVALUATORS: Final = (STATIC, MONTE_CARLO, UCT_WEAK, UCT_STRONG)
"""Who judges the Go positions, the quickest first."""
POSITIONS_A_GAME: Final = 5
WHERE: Final = "ply between 4 and 60 and ply < plies"
"""After the random stones at the start, and before most games are decided."""
_SEED: Final = 1


@dataclass(frozen=True)
class DemoResult:
    """What the demo has made; everything is on the disk."""

    go: Study
    """600 games of Go on 9×9; the evaluators have judged some positions of each."""
    chess: Study
    """312 games of chess with the players' own scores."""
    engines: dict[str, str]
    """By an evaluator's text, the name under which the Go study keeps its evaluations."""
    evaluations: tuple[EvaluationReport, ...]
    """Of the Go positions, an evaluator each."""
    go_comments: EvaluationReport
    """The players' own words, of all positions."""
    chess_comments: EvaluationReport
    seconds: float
    """How long this run took; a finished demo has little to do."""


def run_demo(
    folder: Path | str,
    *,
    jobs: int = 1,
    progress: OnProgress | None = None,
    evaluators: Sequence[str] = EVALUATORS,
    positions_a_game: int = POSITIONS_A_GAME,
) -> DemoResult:
    """Make both studies in `folder` and evaluate their positions, `jobs` side by side.

    Interrupted, the same call goes on; finished, it computes nothing again.
    """
    began = time.monotonic()
    go = _study_of("go9", Path(folder))
    chess = _study_of("chess", Path(folder))
    [go_comments] = evaluate(go, [COMMENTS])
    [chess_comments] = evaluate(chess, [COMMENTS])
    evaluations = evaluate(
        go,
        evaluators,
        where=WHERE,
        sample=positions_a_game,
        seed=_SEED,
        jobs=jobs,
        progress=progress,
    )
    return DemoResult(
        go,
        chess,
        {text: report.engine for text, report in zip(evaluators, evaluations, strict=True)},
        tuple(evaluations),
        go_comments,
        chess_comments,
        time.monotonic() - began,
    )


def _study_of(name: str, folder: Path) -> Study:
    """The study of a game's samples, made if it is not there; it is there whole or not at all."""
    place = folder / name
    if place.exists():
        return Study.open(place)
    study, _ = make_study(place, sample_path(name))
    return study
