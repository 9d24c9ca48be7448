# SPDX-License-Identifier: Apache-2.0
"""The command that fits an evaluation to a stronger evaluator's scores."""

import math
import shlex
from pathlib import Path
from typing import Annotated

import typer

from hyoka.artefact import read_artefact
from hyoka.cli.evaluations import Features
from hyoka.cli.move_models import HOLD_OUT, HoldOut
from hyoka.cli.output import (
    AsJson,
    Quiet,
    command_line,
    out,
    print_json,
    progress_bars,
)
from hyoka.cli.outputs import Output
from hyoka.cli.studies import StudyPath, Where
from hyoka.game_ids import GameIds
from hyoka.learning.predicting import ids_of, learned_origin
from hyoka.learning.scores import ScoredLeaves, ScoreFit, ScoreSettings, fit_scores
from hyoka.search.learned_games import LearnedGames
from hyoka.search.sparse_evaluations import sparse_evaluation
from hyoka.study import Study


def scores_command(
    context: typer.Context,
    study: StudyPath,
    evaluator: Annotated[
        str | None,
        typer.Option(
            "--evaluator",
            metavar="SPEC",
            help="Whose scores: as `hyoka evaluate --with` had it, or as the study names it.",
        ),
    ] = None,
    output: Annotated[
        Path,
        Output(("evaluation",)),
        typer.Option("--output", "-o", metavar="FILE", help="Where the evaluation goes."),
    ] = Path("learned.eval"),
    features: Features = None,
    teacher_scale: Annotated[
        float,
        typer.Option(
            min=1e-6,
            help="The evaluator's score s stands for a result of 1 / (1 + exp(-s / SCALE)): the "
            "less it is, the less decided positions count.",
        ),
    ] = ScoreSettings.teacher_scale,
    freedom: Annotated[
        float,
        typer.Option(
            min=1e-6,
            help="How far weights that begin at 0 go by themselves: a standard deviation, in the "
            "score's unit.",
        ),
    ] = ScoreSettings.freedom,
    known_freedom: Annotated[
        float, typer.Option(min=1e-6, help="The same of weights that begin at something.")
    ] = ScoreSettings.known_freedom,
    steps: Annotated[
        int, typer.Option(min=1, help="Of L-BFGS, down the gradient of all positions.")
    ] = ScoreSettings.steps,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Begin with this evaluation's weights."),
    ] = None,
    where: Where = None,
    hold_out: HoldOut = HOLD_OUT,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit an evaluation to what a stronger evaluator says of a study's positions.

    First let it score them: hyoka evaluate STUDY --with uci:nodes=1000:stockfish --sample 8. All
    weights are fitted, where captures rest, with a price on leaving those that it begins with.
    Play with it: ab:eval=FILE.
    """
    settings = ScoreSettings(teacher_scale, freedom, known_freedom, steps)
    opened = Study.open(study)
    begun, parent = None, None
    if start is not None:
        begun = sparse_evaluation(opened.game, start)
        parent = LearnedGames.of_origin(read_artefact(start).origin, str(start))
    with progress_bars(quiet or as_json) as progress:
        leaves = ScoredLeaves.of_study(
            opened,
            evaluator,
            features=features,
            where=where,
            hold_out=hold_out,
            start=parent,
            progress=progress,
        )
        fit = fit_scores(leaves, settings, start=begun, progress=progress)
    choices = {
        "study": opened.path.name,
        "evaluator": evaluator or "the study's only one",
        "hold_out": f"{hold_out:g}",
    }
    learned = set(leaves.games[~leaves.held_out].tolist())
    ids = ids_of(record for number, record in opened.records() if number in learned)
    origin = fit.origin(command_line(context), choices)
    parents = [] if parent is None else [parent]
    fit.evaluation.save(output, learned_origin(origin, GameIds.of(ids), parents))
    if as_json:
        print_json(_as_json(fit, output))
        return
    _tell(fit, output)


def _as_json(fit: ScoreFit, output: Path) -> dict[str, object]:
    return {
        "game": fit.evaluation.game,
        "features": fit.evaluation.features.name,
        "weights": len(fit.evaluation.weights),
        "games": fit.games,
        "positions": fit.positions,
        "held_out": fit.held_out,
        "scale": fit.scale,
        "loss_before": fit.loss_before,
        "loss": fit.loss,
        "least_loss": fit.least_loss,
        "file": str(output),
    }


def _tell(fit: ScoreFit, output: Path) -> None:
    out.print(
        f"{fit.positions:,} positions of {fit.games:,} games; {len(fit.evaluation.weights):,} "
        f"weights over {fit.evaluation.features.name}, written to {output}",
        markup=False,
        soft_wrap=True,
    )
    if not math.isnan(fit.loss):
        out.print(
            f"log-loss of {fit.held_out:,} positions held out: {fit.loss_before:.4f}, then "
            f"{fit.loss:.4f}; the evaluator's own is {fit.least_loss:.4f}",
            markup=False,
        )
    words = ["hyoka", "match", f"new=ab:eval={output}", "old=ab:eval=built-in"]
    words += ["--game", fit.evaluation.game]
    out.print(f"prove it: {shlex.join(words)}", style="dim", markup=False, soft_wrap=True)
