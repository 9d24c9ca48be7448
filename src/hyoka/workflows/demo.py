# SPDX-License-Identifier: Apache-2.0
"""The demo: studies of the sample records with the evaluations of several evaluators.

Four evaluators evaluate the same positions of the Go games: the static evaluation, flat Monte
Carlo, and UCT at two strengths. The players' comments are free, so all positions of the Go and
chess games have them.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka.foundation.progress import OnProgress
from hyoka.records.samples import sample_path
from hyoka.study import COMMENTS, Study, make_study
from hyoka.study.evaluating import EvaluationSummary, evaluate

STATIC: Final = "ab:nodes=1,hash=0"
"""At one node, alpha-beta is the linear evaluation itself."""
MONTE_CARLO: Final = "mc:playouts=250"
UCT_WEAK: Final = "uct:preset=paper,playouts=250,formula=puct"
UCT_STRONG: Final = "uct:preset=paper,playouts=2500,formula=puct"
EVALUATORS: Final = (STATIC, MONTE_CARLO, UCT_WEAK, UCT_STRONG)
"""Evaluators of the Go positions, the fastest first."""
POSITIONS_A_GAME: Final = 5
WHERE: Final = "ply between 4 and 60 and ply < plies"
"""Skips the random opening stones, and stops before most games are decided."""
_SEED: Final = 1


@dataclass(frozen=True)
class DemoResult:
    """The result of the demo; all of it is stored on disk."""

    go: Study
    """600 games of Go on 9×9, with evaluations of a few positions per game."""
    chess: Study
    """312 games of chess with the players' own scores."""
    engines: dict[str, str]
    """Names of the evaluators in the Go study, by their specs."""
    evaluations: tuple[EvaluationSummary, ...]
    """One table of Go positions for each evaluator."""
    go_comments: EvaluationSummary
    """The players' comments on all positions."""
    chess_comments: EvaluationSummary
    seconds: float
    """The duration of this run; short if the demo was already complete."""


def run_demo(
    folder: Path | str,
    *,
    jobs: int = 1,
    progress: OnProgress | None = None,
    evaluators: Sequence[str] = EVALUATORS,
    positions_a_game: int = POSITIONS_A_GAME,
) -> DemoResult:
    """Create both studies in `folder` and evaluate their positions with `jobs` in parallel.

    An interrupted call resumes; a completed one computes nothing again.
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
    """Open the study of a game's samples, or create it atomically."""
    place = folder / name
    if place.exists():
        return Study.open(place)
    study, _ = make_study(place, sample_path(name))
    return study
