# SPDX-License-Identifier: Apache-2.0
"""Commands that learn evaluations from moves, results and scores."""

import math
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hyoka.apps.cli.command_options import (
    HoldOut,
    Output,
    Plan,
    StudyPath,
    Where,
    check_outputs,
    option,
)
from hyoka.apps.cli.match_commands import clock_text
from hyoka.apps.cli.move_model_commands import HOLD_OUT, games_of, split
from hyoka.apps.cli.output import (
    answered,
    command_line,
    is_quiet,
    kept_when_interrupted,
    out,
    plain_table,
    progress_bars,
    wants_json,
)
from hyoka.foundation.errors import Error, ParameterError
from hyoka.foundation.progress import OnProgress
from hyoka.learning.comparison_training import (
    Judgment,
    Lessons,
    PassReport,
    Training,
    TrainingSettings,
    learn_comparison,
    origin_of,
)
from hyoka.learning.objectives import objective_from
from hyoka.learning.prediction import ids_in, ids_of, learned_origin
from hyoka.learning.scores import ScoredLeaves, ScoreFit, ScoreSettings, fit_scores
from hyoka.models.sparse import SparseEvaluation
from hyoka.models.training_games import LearnedGames
from hyoka.storage.game_ids import GameIds
from hyoka.storage.manifest import DESCRIPTION
from hyoka.storage.model_file import read_model_file
from hyoka.storage.outputs import TRAINING
from hyoka.study import Study

POSITIONS = 200_000
HELD_OUT_POSITIONS = 20_000
Lesson = Annotated[
    list[Path],
    typer.Argument(
        metavar="RECORDS|STUDY…",
        help="Files, folders or archives of game records; or a study.",
        show_default=False,
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Over which set of features: terms, relations or kpp (shogi), places (chess), "
        "patterns (Othello); the first one if none is named.",
    ),
]
Threads = Annotated[int | None, option("--jobs", min=1)]


def learn_comparison_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path,
        Output(("evaluation",)),
        option("--output", metavar="FILE"),
    ] = Path("learned.eval"),
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="What is made small: comparison (moves), combination (moves and outcomes), "
            "parameterised (the same by kind of position), or a file of `hyoka learn objective`.",
        ),
    ] = "combination",
    features: Features = None,
    where: Where = None,
    positions: Annotated[int, option("--positions", min=1)] = POSITIONS,
    settings: Annotated[
        Callable[..., TrainingSettings], Plan(TrainingSettings, without=("reach",))
    ] = TrainingSettings,
    start: Annotated[
        Path | None,
        option("--from", metavar="FILE"),
    ] = None,
    state: Annotated[
        Path | None,
        Output((TRAINING,)),
        typer.Option(
            "--state",
            metavar="FILE",
            help="Where the training is kept after every pass; FILE.state of --output, if not "
            "said. Interrupted, the same command goes on.",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", min=0)] = 0,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
) -> None:
    """Train an evaluation on the moves of games.

    Each pass searches all legal moves to quiescence, then changes the weights so that the moves
    played rank first (and, with outcomes, so that scores predict results). Held-out games measure
    each pass, and the best pass is kept. Play with it: ab:eval=FILE.
    """
    chosen = objective_from(objective)
    cores = threads or os.cpu_count() or 1
    training_settings = settings(objective=chosen)
    file = state or output.with_name(f"{output.name}.state")
    check_outputs(output, file, kinds=("evaluation", TRAINING))
    going_on = file.exists()
    parent = None
    if start is not None:
        parent = LearnedGames.of_origin(read_model_file(start).origin, str(start))
    with progress_bars() as progress:
        learned, held_out = lessons_of(
            sources,
            hold_out,
            positions,
            seed,
            start=parent,
            where=where,
            by_category=chosen.by_category,
            threads=cores,
            progress=progress,
        )
        begun = _starting(learned.games.game, start, features)
        if not is_quiet():
            _tell_beginning(learned, held_out, going_on)
        with kept_when_interrupted("learned", file):
            training = learn_comparison(
                learned,
                held_out,
                settings=training_settings,
                start=begun,
                state=file,
                threads=cores,
                progress=progress,
                on_pass=None if wants_json() else _PassTeller(training_settings.passes),
            )
    choices = {"hold_out": f"{hold_out:g}", "positions": str(positions)}
    evaluation = training.evaluation()
    origin = origin_of(command_line(context), training, learned, choices)
    parents = [] if parent is None else [parent]
    evaluation.save(output, learned_origin(origin, ids_in(learned.games), parents))
    file.unlink(missing_ok=True)
    if answered(
        {
            "game": evaluation.game,
            "features": evaluation.features.name,
            "weights": len(evaluation.weights),
            "nonzero": evaluation.nonzero,
            "games": len(learned.games.ids),
            "positions": learned.moves,
            "best_pass": training.best_pass,
            "passes": [_report_json(each) for each in training.reports],
            "file": str(output),
        }
    ):
        return
    _tell_end(training, output)


def lessons_of(
    sources: list[Path],
    hold_out: float,
    positions: int,
    seed: int,
    *,
    start: LearnedGames | None = None,
    where: str | None = None,
    by_category: bool,
    threads: int,
    progress: OnProgress | None,
) -> tuple[Lessons, Lessons | None]:
    """Read training and held-out games of records or a study.

    Games from which the evaluation `start` was fitted are never held out.
    """
    held_out: Lessons | None = None
    if (sources[0] / DESCRIPTION).exists():
        if len(sources) > 1:
            raise Error("one study at a time, or records")
        study = Study.open(sources[0])
        learned = Lessons.of_study(
            study, where=where, hold_out=hold_out, start=start, positions=positions, seed=seed
        )
        if hold_out:
            held_out = Lessons.of_study(
                study,
                where=where,
                hold_out=hold_out,
                start=start,
                held_out=True,
                positions=HELD_OUT_POSITIONS,
                seed=seed,
            )
    else:
        if where is not None:
            raise Error("--where is for positions of a study: make one with `hyoka import`")
        first, apart = split(games_of(sources), hold_out, start)
        learned = Lessons.of_records(first, positions=positions, seed=seed)
        if apart:
            held_out = Lessons.of_records(apart, positions=HELD_OUT_POSITIONS, seed=seed)
    if by_category:
        learned = learned.with_categories(threads=threads, progress=progress)
        held_out = held_out and held_out.with_categories(threads=threads, progress=progress)
    return learned, held_out


def _tell_beginning(learned: Lessons, held_out: Lessons | None, going_on: bool) -> None:
    known = int((~np.isnan(learned.results)).sum())
    out.print(
        f"{learned.moves:,} positions of {len(learned.games.ids):,} games"
        + ("" if known == len(learned) else f", {known:,} of games with a result")
        + ("" if held_out is None else f"; {held_out.moves:,} held out"),
        markup=False,
    )
    if going_on:
        out.print("going on where it was interrupted", style="dim")


class _PassTeller:
    """Prints each pass, and the estimated time for the rest."""

    def __init__(self, passes: int) -> None:
        self._passes = passes
        self._begun = time.monotonic()
        self._told = 0

    def __call__(self, report: PassReport) -> None:
        """Print a line."""
        self._told += 1
        left = (self._passes - report.number) * (time.monotonic() - self._begun) / self._told
        more = f"; at most {clock_text(left)} left" if report.number < self._passes else ""
        out.print(f"{_pass_text(report)}{more}", markup=False)


def _pass_text(report: PassReport) -> str:
    said = (
        f"pass {report.number}: J {report.objective:.4f} = moves {report.moves:.4f} + outcomes "
        f"{report.outcomes:.4f} + L1 {report.l1:.4f}; {report.nonzero:,} weights"
    )
    if report.held_out is not None:
        said += f"; held out: {_words(report.held_out)}"
    return said


def _words(judged: Judgment) -> str:
    loss = "" if math.isnan(judged.log_loss) else f", log-loss {judged.log_loss:.4f}"
    return f"first {judged.first:.1%}, within 3 {judged.within:.1%}{loss}"


def _tell_end(training: Training, output: Path) -> None:
    evaluation = training.evaluation()
    best = training.reports[training.best_pass - 1]
    out.print(
        f"{evaluation.nonzero:,} of {len(evaluation.weights):,} weights over "
        f"{evaluation.features.name}, from pass {training.best_pass}",
        markup=False,
    )
    if best.held_out is not None:
        begun = training.reports[0].learned
        table = plain_table("", "first", "within 3", "log-loss", right=range(1, 4))
        for name, each in (("before", begun), ("held out", best.held_out)):
            table.add_row(name, f"{each.first:.1%}", f"{each.within:.1%}", f"{each.log_loss:.4f}")
        out.print(table)
    words = ["hyoka", "match", "run", f"new=ab:eval={output}", "old=ab:eval=built-in"]
    words += ["--game", evaluation.game]
    out.print(f"prove it: {shlex.join(words)}", style="dim", markup=False)


def _starting(game: str, start: Path | None, features: str | None) -> SparseEvaluation:
    """The initial evaluation of a training."""
    if start is None:
        return SparseEvaluation.starting(game, features)
    begun = SparseEvaluation.load(game, start)
    if features is not None and features != begun.features.name:
        raise ParameterError("start", f"is over {begun.features.name}")
    return begun


def _report_json(report: PassReport) -> dict[str, Any]:
    held_out = report.held_out
    return {
        "pass": report.number,
        "objective": report.objective,
        "moves": report.moves,
        "outcomes": report.outcomes,
        "l1": report.l1,
        "nonzero": report.nonzero,
        "held_out": None
        if held_out is None
        else {
            "positions": held_out.positions,
            "first": held_out.first,
            "within_3": held_out.within,
            "log_loss": held_out.log_loss,
        },
    }


def learn_scores_command(
    context: typer.Context,
    study: StudyPath,
    evaluator: Annotated[
        str | None,
        option("--evaluator", metavar="SPEC"),
    ] = None,
    output: Annotated[
        Path,
        Output(("evaluation",)),
        option("--output", metavar="FILE"),
    ] = Path("learned.eval"),
    features: Features = None,
    settings: Annotated[Callable[..., ScoreSettings], Plan(ScoreSettings)] = ScoreSettings,
    start: Annotated[
        Path | None,
        option("--from", metavar="FILE"),
    ] = None,
    where: Where = None,
    hold_out: HoldOut = HOLD_OUT,
) -> None:
    """Fit an evaluation to the scores of a stronger evaluator.

    First evaluate the positions: hyoka study evaluate STUDY --with uci:nodes=1000:stockfish.
    All weights are fitted on quiescent positions, with a penalty on changes from the initial
    weights. Play with it: ab:eval=FILE.
    """
    opened = Study.open(study)
    begun, parent = None, None
    if start is not None:
        begun = SparseEvaluation.load(opened.game, start)
        parent = LearnedGames.of_origin(read_model_file(start).origin, str(start))
    with progress_bars() as progress:
        leaves = ScoredLeaves.of_study(
            opened,
            evaluator,
            features=features,
            where=where,
            hold_out=hold_out,
            start=parent,
            progress=progress,
        )
        fit = fit_scores(leaves, settings(), start=begun, progress=progress)
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
    if answered(_as_json(fit, output)):
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
    words = ["hyoka", "match", "run", f"new=ab:eval={output}", "old=ab:eval=built-in"]
    words += ["--game", fit.evaluation.game]
    out.print(f"prove it: {shlex.join(words)}", style="dim", markup=False, soft_wrap=True)
