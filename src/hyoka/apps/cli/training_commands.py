# SPDX-License-Identifier: Apache-2.0
"""Commands that learn evaluations from moves, results and scores."""

import contextlib
import functools
import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape

from hyoka import _core
from hyoka.apps.cli.command_options import (
    Cluster,
    HoldOut,
    Jobs,
    Output,
    OutputFolder,
    Plan,
    Seed,
    StudyPath,
    Where,
    check_outputs,
    option,
)
from hyoka.apps.cli.match_commands import Matches, clock_text, match_player, workers
from hyoka.apps.cli.model_commands import HOLD_OUT, games_of, split
from hyoka.apps.cli.output import (
    answered,
    command_line,
    hint,
    is_quiet,
    kept_when_interrupted,
    match_hint,
    out,
    plain_table,
    print_table,
    progress_bars,
    tell,
    wants_json,
)
from hyoka.arena import MatchPlan, MatchResult
from hyoka.arena.elo import Sprt
from hyoka.arena.match import play_match
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.errors import Error, ParameterError
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import OnProgress, Tally
from hyoka.games import game_facts
from hyoka.learning.comparison_training import (
    Judgment,
    Lessons,
    PassMetrics,
    Training,
    TrainingSettings,
    learn_comparison,
    origin_of,
)
from hyoka.learning.network_training import (
    EpochMetrics,
    NetworkSettings,
    check_device,
    check_size,
    learn_network,
)
from hyoka.learning.objective_search import PLAN as SEARCH_PLAN
from hyoka.learning.objective_search import (
    ObjectiveSearch,
    SearchPlan,
    Step,
    save_objective,
    verify,
)
from hyoka.learning.objectives import PARAMETERS, class_starts, objective_from
from hyoka.learning.perceptrons import (
    LabeledPositions,
    PerceptronSettings,
    PlyError,
    TrainedPerceptrons,
    errors_by_ply,
    learn_perceptrons,
)
from hyoka.learning.prediction import ids_in, ids_of, learned_origin
from hyoka.learning.prior import PriorSettings, TunedPrior, tune_prior
from hyoka.learning.scores import ScoredLeaves, ScoreFit, ScoreSettings, fit_scores
from hyoka.learning.selfplay_games import PlayedGames, games_of_study, of_records
from hyoka.learning.selfplay_loop import NETWORK, Generation, LoopPlan, SelfPlayLoop
from hyoka.learning.selfplay_loop import PLAN as LOOP_PLAN
from hyoka.models.sparse import SparseEvaluation, feature_set
from hyoka.models.training_games import LearnedGames
from hyoka.reporting.learning_report import selfplay_page
from hyoka.search import SearchSpec, static_evaluation
from hyoka.search.difficulty import CLASSES
from hyoka.storage.files import write_text
from hyoka.storage.game_ids import GameIds
from hyoka.storage.manifest import DESCRIPTION
from hyoka.storage.model_file import Origin, read_model_file
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
        help="Feature set: terms, relations or kpp (shogi), places (chess), patterns (Othello); by "
        "default the first of the game.",
    ),
]
Threads = Annotated[int | None, option("--jobs", "Number of parallel threads.", min=1)]


def learn_comparison_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path, Output(("evaluation",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("learned.eval"),
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Objective to minimize: comparison (moves), combination (moves and outcomes), "
            "parameterised (combination with factors per class of positions), or a file of "
            "`hyoka learn objective`.",
        ),
    ] = "combination",
    features: Features = None,
    where: Where = None,
    positions: Annotated[int, option("--positions", min=1)] = POSITIONS,
    settings: Annotated[
        Callable[..., TrainingSettings], Plan(TrainingSettings, without=("reach",))
    ] = TrainingSettings,
    start: Annotated[Path | None, option("--from", metavar="FILE")] = None,
    state: Annotated[
        Path | None,
        Output((TRAINING,)),
        typer.Option(
            "--state",
            metavar="FILE",
            help="Checkpoint written after every pass; by default the --output file with .state "
            "appended. If interrupted, the same command resumes from it.",
        ),
    ] = None,
    seed: Seed = 0,
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
            "passes": [each.as_json() for each in training.passes],
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
            raise Error("give one study, or records")
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
            raise Error("--where needs a study: make one with `hyoka study create`")
        first, apart = split(games_of(sources), hold_out, start)
        learned = Lessons.of_records(first, positions=positions, seed=seed)
        if apart:
            held_out = Lessons.of_records(apart, positions=HELD_OUT_POSITIONS, seed=seed)
    if by_category:
        learned = learned.with_categories(threads=threads, progress=progress)
        held_out = held_out and held_out.with_categories(threads=threads, progress=progress)
    return learned, held_out


def _tell_beginning(learned: Lessons, held_out: Lessons | None, going_on: bool) -> None:
    finished = int((~np.isnan(learned.results)).sum())
    tell(
        f"{learned.moves:,} positions of {len(learned.games.ids):,} games"
        + ("" if finished == len(learned) else f", {finished:,} of games with a result")
        + ("" if held_out is None else f"; {held_out.moves:,} held-out")
    )
    if going_on:
        hint("resuming from the checkpoint")


class _PassTeller:
    """Prints each pass, and the estimated time for the rest."""

    def __init__(self, passes: int) -> None:
        self._passes = passes
        self._begun = time.monotonic()
        self._shown = 0

    def __call__(self, report: PassMetrics) -> None:
        """Print a line."""
        self._shown += 1
        left = (self._passes - report.number) * (time.monotonic() - self._begun) / self._shown
        more = f"; at most {clock_text(left)} left" if report.number < self._passes else ""
        tell(f"{_pass_text(report)}{more}")


def _pass_text(report: PassMetrics) -> str:
    text = (
        f"pass {report.number}: J {report.objective:.4f} = moves {report.moves:.4f} + outcomes "
        f"{report.outcomes:.4f} + L1 {report.l1:.4f}; {report.nonzero:,} weights"
    )
    if report.held_out is not None:
        text += f"; held-out: {_words(report.held_out)}"
    return text


def _words(judged: Judgment) -> str:
    loss = "" if math.isnan(judged.log_loss) else f", log-loss {judged.log_loss:.4f}"
    return f"first {judged.first:.1%}, within 3 {judged.within:.1%}{loss}"


def _tell_end(training: Training, output: Path) -> None:
    evaluation = training.evaluation()
    best = training.passes[training.best_pass - 1]
    tell(
        f"{evaluation.nonzero:,} of {len(evaluation.weights):,} weights over "
        f"{evaluation.features.name}, from pass {training.best_pass}"
    )
    if best.held_out is not None:
        begun = training.passes[0].learned
        rows = [
            (name, f"{each.first:.1%}", f"{each.within:.1%}", f"{each.log_loss:.4f}")
            for name, each in (("before", begun), ("held-out", best.held_out))
        ]
        print_table(("", "first", "within 3", "log-loss"), rows, right=range(1, 4))
    hint(f"test it: {match_hint(f'ab:eval={output}', 'ab:eval=built-in', evaluation.game)}")


def _starting(game: str, start: Path | None, features: str | None) -> SparseEvaluation:
    """The initial evaluation of a training."""
    if start is None:
        return SparseEvaluation.starting(game, features)
    begun = SparseEvaluation.load(game, start)
    if features is not None and features != begun.features.name:
        raise ParameterError("start", f"is over {begun.features.name}")
    return begun


def learn_scores_command(
    context: typer.Context,
    study: StudyPath,
    evaluator: Annotated[str | None, option("--evaluator", metavar="SPEC")] = None,
    output: Annotated[
        Path, Output(("evaluation",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("learned.eval"),
    features: Features = None,
    settings: Annotated[Callable[..., ScoreSettings], Plan(ScoreSettings)] = ScoreSettings,
    start: Annotated[Path | None, option("--from", metavar="FILE")] = None,
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
    tell(
        f"{fit.positions:,} positions of {fit.games:,} games; {len(fit.evaluation.weights):,} "
        f"weights over {fit.evaluation.features.name}, written to {output}"
    )
    if not math.isnan(fit.loss):
        tell(
            f"log-loss on {fit.held_out:,} held-out positions: {fit.loss_before:.4f} before, "
            f"{fit.loss:.4f} after; the evaluator's own is {fit.least_loss:.4f}"
        )
    hint(f"test it: {match_hint(f'ab:eval={output}', 'ab:eval=built-in', fit.evaluation.game)}")


PAGE = "report.html"
OBJECTIVE = "objective.json"


_TRAINING = Plan(
    TrainingSettings(passes=3),
    without=("reach", "decay", "descent", "damping", "outcome_scale", "patience"),
    names={"steps": "training-steps", "rate": "training-rate"},
)


def learn_objective_command(
    context: typer.Context,
    sources: Lesson,
    folder: Annotated[
        Path,
        OutputFolder(SEARCH_PLAN, "a search for an objective"),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = Path("objective"),
    features: Features = None,
    where: Where = None,
    positions: Annotated[int, option("--positions", min=1)] = 30_000,
    plan: Annotated[Callable[..., SearchPlan], Plan(SearchPlan, without=("start",))] = SearchPlan,
    training: Annotated[Callable[..., TrainingSettings], _TRAINING] = TrainingSettings,
    verified: Annotated[
        int,
        typer.Option(
            "--verify",
            min=0,
            help="Maximum number of games of the final match against each of Comparison and "
            "Combination; 0: no match.",
        ),
    ] = 2000,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Evolve the objective of comparison training (PBILc).

    A population of objectives trains one evaluation each, and the evaluations play each other; a
    new one drawn near the best replaces the worst. At the end the distribution's mean plays
    evaluations trained with the default objectives, from new openings. If interrupted, the same
    command resumes. Train with the result: hyoka learn comparison … --objective
    FOLDER/objective.json.
    """
    chosen = plan(features="")  # known when the records are read
    cores = jobs or os.cpu_count() or 1
    with contextlib.ExitStack() as stack:
        executor, at_once = workers(stack, cores, cluster_address)
        progress = stack.enter_context(progress_bars())
        lessons, _ = lessons_of(
            sources,
            0.0,
            positions,
            chosen.seed,
            where=where,
            by_category=True,
            threads=cores,
            progress=progress,
        )
        chosen = replace(
            chosen, features=feature_set(lessons.games.game, features).name, training=training()
        )
        search = ObjectiveSearch(chosen, lessons, folder)
        stack.enter_context(kept_when_interrupted("done", folder))
        search.run(
            jobs=at_once or cores,
            executor=executor,
            progress=progress,
            on_step=None if is_quiet() else _tell_step,
        )
        origin = Origin(
            command_line(context),
            seed=chosen.seed,
            counts={"steps": len(search.steps), "games": search.games},
            choices={"optimiser": chosen.optimiser, "features": chosen.features},
        )
        save_objective(search, folder / OBJECTIVE, origin)
        matches: list[MatchResult] = []
        test = Sprt(0, 20)
        if verified:
            matches = verify(
                search.mean,
                lessons,
                replace(chosen, steps=0),
                folder / f"verified-{len(search.steps)}",
                functools.partial(
                    play_match,
                    games=verified,
                    sprt=test,
                    jobs=at_once or cores,
                    executor=executor,
                    progress=progress,
                ),
                jobs=at_once or cores,
                executor=executor,
                progress=progress,
            )
        write_report(search, matches, folder / PAGE)
    if answered(_objective_as_json(search, matches, folder)):
        return
    _print(search, matches, test, folder)


def write_report(search: ObjectiveSearch, matches: list[MatchResult], path: Path) -> None:
    """Build the page of an objective search."""
    from hyoka.reporting import write_page  # noqa: PLC0415
    from hyoka.reporting.learning_report import objective_page  # noqa: PLC0415 - slow to import

    write_page(objective_page(search, matches), path)


def _tell_step(search: ObjectiveSearch, step: Step) -> None:
    best = step.best
    tell(
        f"step {step.number} of {search.plan.steps}: best {best} at {step.elo[best]:+.0f}, "
        f"{', '.join(map(str, step.dropped))} gone, {', '.join(map(str, step.new))} new; "
        f"{search.games:,} games"
    )


def _objective_as_json(
    search: ObjectiveSearch, matches: list[MatchResult], folder: Path
) -> dict[str, Any]:
    return {
        "game": search.game,
        "features": search.plan.features,
        "steps": len(search.steps),
        "games": search.games,
        "objective": search.mean.as_json(),
        "file": str(folder / OBJECTIVE),
        "page": str(folder / PAGE),
        "verified": [
            {
                "player": match.standing.names[0],
                "opponent": match.standing.names[1],
                "wins": match.standing.duel(0, 1).score.wins,
                "draws": match.standing.duel(0, 1).score.draws,
                "losses": match.standing.duel(0, 1).score.losses,
                "verdict": match.verdict,
            }
            for match in matches
        ],
    }


def _print(search: ObjectiveSearch, matches: list[MatchResult], test: Sprt, folder: Path) -> None:
    table = plain_table("class", "category", *PARAMETERS, right=range(1, 2 + len(PARAMETERS)))
    factors = search.mean.factors
    for (name, size), start in zip(CLASSES.items(), class_starts(), strict=True):
        for index in range(size):
            numbers = (f"{row[start + index]:.2f}" for row in factors)
            table.add_row(name, str(index + (name == "correct_depth")), *numbers)
    out.print(table)
    for match in matches:
        tell(str(DuelSummary.of(match.standing, 0, 1, test)))
    hint(
        f"train with it: hyoka learn comparison RECORDS --objective {folder / OBJECTIVE}; "
        f"page in {folder / PAGE}"
    )


_LARGEST_CODES = 20_000
"""Networks of games with more move codes have no policy head by default."""

Network = Annotated[Callable[..., NetworkSettings], Plan(NetworkSettings)]


def _sized(game: str, settings: NetworkSettings) -> NetworkSettings:
    """Games with many move codes have no policy head by default."""
    _, codes = _core.network_size(game)
    if codes > _LARGEST_CODES and settings.policy_units == NetworkSettings.policy_units:
        return replace(settings, policy_units=0)
    return settings


def learn_network_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path, Output(("network", "convolution")), option("--output", "Output file.", metavar="FILE")
    ] = Path("network.nn"),
    network: Network = NetworkSettings,
    blend: Annotated[
        float, typer.Option(min=0, max=1, help="Weight of the search's value in the target.")
    ] = 0.5,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
) -> None:
    """Train a neural network on games: value and policy.

    From records it learns the moves played and the results; from a study of `learn selfplay` also
    the search's visits and values. Games from set-up positions are excluded. Needs PyTorch, from
    the extra `learn`. Play with it: uct:eval=FILE,strengths=FILE,cutoff=0 or ab:eval=FILE.
    """
    check_device(network().device)
    learned, held_out = _played(sources, hold_out)
    settings = _sized(learned.game, network())
    check_size(learned.game, settings)
    cores = threads or os.cpu_count() or 1
    with progress_bars() as progress:
        tally = Tally(progress, "learning", settings.epochs, "epochs")

        def tell(report: EpochMetrics) -> None:
            tally.add()
            if not is_quiet():
                out.print(_epoch_text(report))

        fit = learn_network(
            lambda epoch: learned.examples(
                seed=settings.seed + 2 * epoch, blend=blend, threads=cores
            ),
            held_out=held_out.examples(blend=blend, threads=cores) if held_out else None,
            settings=settings,
            tell=tell,
        )
    origin = Origin(
        command_line(context),
        seed=settings.seed,
        counts={"games": len(learned), "positions": int((~np.isnan(learned.values)).sum())},
        choices={"hold_out": f"{hold_out:g}", "blend": f"{blend:g}"} | _size_text(settings),
        learned_games=GameIds.of_moves(learned.moves, learned.move_offsets),
    )
    fit.network.save(output, origin)
    if answered(
        {
            "file": str(output),
            "games": len(learned),
            "held_out": len(held_out) if held_out else 0,
            "epochs": [_finite(vars(each)) for each in fit.epochs],
        }
    ):
        return
    judges = f",strengths={output}" if fit.network.has_policy else ""
    out.print(
        f"{output}: from {len(learned):,} games; play with it: uct:eval={output}{judges},cutoff=0"
    )


def _played(sources: list[Path], hold_out: float) -> tuple[PlayedGames, PlayedGames | None]:
    """Read the fitting games and the held-out games; None without any."""
    studies = [source for source in sources if (source / DESCRIPTION).exists()]
    if studies and len(studies) < len(sources):
        raise Error("either studies or records, not both")
    if studies:
        games = PlayedGames.joined([games_of_study(Study.open(source)) for source in studies])
        apart = np.arange(len(games)) < round(hold_out * len(games))
        rng = np.random.default_rng(0)
        apart = rng.permutation(apart)
        return games.some(~apart), games.some(apart) if apart.any() else None
    learned, held_out = split(games_of(sources), hold_out)
    return of_records(learned), of_records(held_out) if held_out else None


def _size_text(settings: NetworkSettings) -> dict[str, str]:
    if settings.blocks:
        return {"blocks": str(settings.blocks), "channels": str(settings.channels)}
    return {"width": str(settings.width)}


def _epoch_text(report: EpochMetrics) -> str:
    text = f"epoch {report.epoch}: loss of values {report.value_loss:.4f}"
    if report.policy_loss:
        text += f", of moves {report.policy_loss:.4f}"
    if not math.isnan(report.held_value_loss):
        text += f"; held-out: {report.held_value_loss:.4f}"
        if not math.isnan(report.held_policy_loss):
            text += f", {report.held_policy_loss:.4f}, first {report.held_first:.1%}"
    return text


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Convert to numbers that JSON supports."""
    return {name: _known(value) for name, value in values.items()}


def _known(value: object) -> object:
    if isinstance(value, tuple):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def learn_selfplay_command(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="Game, such as blokus_duo, go9, othello.")
    ],
    folder: Annotated[
        Path,
        OutputFolder(LOOP_PLAN, "generations of self-play"),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = Path("selfplay"),
    generations: Annotated[int, typer.Option(min=1, help="Total number of generations.")] = 4,
    plan: Annotated[
        Callable[..., LoopPlan], Plan(LoopPlan, without=("max_plies", "blend", "gate_playouts"))
    ] = LoopPlan,
    network: Annotated[
        Callable[..., NetworkSettings], Plan(NetworkSettings, without=("seed",))
    ] = NetworkSettings,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Train a network by self-play, from the rules alone.

    A search plays itself, and a network is trained on the games of the last generations. If it
    beats the current player in a sequential test, it plays the next games. Each generation is a
    study, a network and a match. If interrupted, the same command resumes; more --generations
    continue the run.
    """
    settings = network()
    check_device(settings.device)
    name = game_facts(game).name
    chosen = plan(game=name, settings=_sized(name, settings))
    settings = replace(chosen.settings, seed=chosen.seed)
    chosen = replace(chosen, settings=settings, gate_playouts=chosen.playouts)
    cores = jobs or os.cpu_count() or 1
    loop = SelfPlayLoop(chosen, folder)
    with contextlib.ExitStack() as stack:
        executor, at_once = workers(stack, cores, cluster_address)
        progress = stack.enter_context(progress_bars())
        stack.enter_context(kept_when_interrupted("done", folder))
        loop.run(
            generations,
            jobs=at_once or cores,
            executor=executor,
            progress=progress,
            on_generation=None
            if is_quiet()
            else lambda generation: out.print(_generation_text(generation)),
        )
    page = folder / PAGE
    write_text(page, selfplay_page(loop).html())
    if answered(
        {
            "folder": str(folder),
            "network": None if loop.best is None else str(loop.best),
            "generations": [_finite(vars(each)) for each in loop.generations],
        }
    ):
        return
    if loop.best is None:
        out.print(f"no network was accepted yet; {page} has the details")
    else:
        out.print(f"the player is {loop.best.parent / NETWORK}; {page} shows its training")


def _generation_text(generation: Generation) -> str:
    text = (
        f"generation {generation.number}: {generation.positions:,} positions of "
        f"{generation.games:,} games"
    )
    if generation.score is not None and generation.elo is not None:
        text += (
            f"; {generation.score:.1%} of {generation.gate_games} games against the player before"
        )
    return f"{text}; {'accepted' if generation.accepted else 'rejected'}"


def learn_perceptrons_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path, Output(("perceptrons",)), option("--output", "Output file.", metavar="FILE")
    ] = Path("perceptrons.eval"),
    evaluator: Annotated[str | None, option("--evaluator", metavar="NAME")] = None,
    settings: Annotated[
        Callable[..., PerceptronSettings], Plan(PerceptronSettings)
    ] = PerceptronSettings,
    seed: Seed = 0,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
) -> None:
    """Train a perceptron per ply on searches (Blokus Duo).

    The records are those of a match whose players report values, such as `hyoka match run` stores;
    from a study, an evaluator's evaluations are used. Equal positions are merged and their win
    rates averaged. Needs PyTorch, from the extra `learn`. Play with it:
    uct:eval_visits=40,eval=FILE.
    """
    chosen = settings()
    learned, held_out = _labeled(sources, evaluator, hold_out)
    with progress_bars() as progress:
        trained = learn_perceptrons(
            learned, chosen, seed=seed, jobs=threads or os.cpu_count() or 1, progress=progress
        )
    games = len(np.unique(learned.games))
    choices = {
        "hold_out": f"{hold_out:g}",
        "hands": str(chosen.hands),
        "hidden": str(chosen.hidden),
    }
    origin = trained.origin(command_line(context), seed, games, **choices)
    trained.networks.save(output, origin)
    errors = errors_by_ply(trained.networks, held_out) if len(held_out) else []
    if answered(
        {
            "file": str(output),
            "games": games,
            "positions": trained.positions,
            "networks": len(trained.networks.plies),
            "held_out": [
                {
                    "pieces_laid": each.ply,
                    "positions": each.positions,
                    "mse": each.squared,
                    "variance": each.variance,
                }
                for each in errors
            ],
        }
    ):
        return
    _print_perceptrons(trained, games, errors, output)


def _labeled(
    sources: list[Path], evaluator: str | None, hold_out: float
) -> tuple[LabeledPositions, LabeledPositions]:
    """Read training and held-out games of studies and records."""
    studies = [source for source in sources if (source / DESCRIPTION).exists()]
    records = [source for source in sources if source not in studies]
    if evaluator is not None and not studies:
        raise Error("--evaluator needs a study; with records, the values of the players are used")
    parts = []
    for source in studies:
        study = Study.open(source)
        parts.append(
            tuple(
                LabeledPositions.of_study(study, evaluator, hold_out=hold_out, held_out=apart)
                for apart in (False, True)
            )
        )
    if records:
        parts.append(tuple(map(LabeledPositions.of_records, split(games_of(records), hold_out))))
    learned, held_out = (reduce(add, each) for each in zip(*parts, strict=True))
    if not len(learned):
        raise Error(
            "no position of these games has a value: in a match, searches store values "
            "(uct:playouts=500); in a study, `hyoka study evaluate` adds them"
        )
    return learned, held_out


def _print_perceptrons(
    trained: TrainedPerceptrons, games: int, errors: list[PlyError], output: Path
) -> None:
    networks = trained.networks
    tell(
        f"{len(networks.plies)} networks for {networks.plies[0]} to {networks.plies[-1]} pieces "
        f"laid, from {trained.positions:,} different positions of {games:,} games"
    )
    if errors:
        rows = [
            (str(each.ply), f"{each.positions:,}", f"{each.squared:.4f}", f"{each.variance:.4f}")
            for each in errors
        ]
        print_table(("pieces laid", "positions", "MSE", "variance"), rows, right=range(4))
    limits = "uct:preset=paper,playouts=1000"
    hint(f"test it: {match_hint(f'{limits},eval_visits=40,eval={output}', limits, networks.game)}")


def learn_prior_command(
    game: Annotated[str, option("--game", show_default=False)],
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="UCT with a limit, optionally with other settings: uct:playouts=1000,eval=FILE.",
        ),
    ] = "uct:preset=paper,playouts=1000",
    settings: Annotated[Callable[..., PriorSettings], Plan(PriorSettings)] = PriorSettings,
    folder: Matches = Path("matches"),
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Tune an evaluation's sigmoid scale and virtual visits in UCT.

    The scale is fitted to random playouts from positions one random move away from self-play
    games. Then the search plays a match between each two weights of the prior. If interrupted, the
    same command resumes.
    """
    spec = SearchSpec.from_text(search)
    chosen = settings()
    with contextlib.ExitStack() as stack:
        play = match_player(*workers(stack, jobs, cluster_address))
        stack.enter_context(kept_when_interrupted("played"))
        # The specs do not state which evaluation is bundled.
        evaluation = static_evaluation(game, spec["eval"]).fingerprint

        def meet(plan: MatchPlan, count: int) -> MatchResult:
            return play(plan, folder / f"{plan.id}-{evaluation}", count)

        tuned = tune_prior(spec, game, meet, chosen, progress=stack.enter_context(progress_bars()))
    if answered(tuned.as_json()):
        return
    _print_prior(tuned, chosen.seed)


def _print_prior(tuned: TunedPrior, seed: int) -> None:
    tell(
        f"scale {tuned.scale.text('.3g')}, from random playouts at {len(tuned.nodes):,} positions "
        f"beside {tuned.nodes.games:,} games of {tuned.search.text} against itself"
    )
    table = plain_table("", "+/=/−", "score", "Elo", "behind the best", right=range(1, 5))
    for each in tuned.ratings.players:
        score = each.score
        table.add_row(
            escape(each.name),
            f"{score.wins}/{score.draws}/{score.losses}",
            f"{score.rate:.1%}",
            Estimate(each.elo, each.low, each.high).elo_text(),
            "" if each is tuned.best else tuned.behind_best(each.name).elo_text(),
        )
    out.print(table)
    best = tuned.best
    rivals = f"; not significantly weaker: {', '.join(tuned.as_strong)}" if tuned.as_strong else ""
    tell(f"strongest: {tuned.player(best.name).text}{rivals}")
    hint(
        "The Elo of the best is biased upward, since it was selected. `behind the best` has "
        "simultaneous intervals for all pairs."
    )
    if tuned.player(best.name) != tuned.search:
        new, old = tuned.player(best.name).text, tuned.search.text
        command = match_hint(new, old, tuned.game, "--seed", str(seed + 1))
        tell(f"measure its strength in new games: {command}")
