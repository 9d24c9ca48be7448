# SPDX-License-Identifier: Apache-2.0
"""Commands that train networks: from records, and from self-play."""

import contextlib
import math
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hyoka import _core
from hyoka.apps.cli.command_options import (
    Cluster,
    HoldOut,
    Jobs,
    Output,
    OutputFolder,
    Plan,
    option,
)
from hyoka.apps.cli.evaluation_commands import Lesson, Threads
from hyoka.apps.cli.match_commands import workers
from hyoka.apps.cli.move_model_commands import HOLD_OUT, games_of, split
from hyoka.apps.cli.output import (
    answered,
    command_line,
    is_quiet,
    kept_when_interrupted,
    out,
    plain_table,
    progress_bars,
)
from hyoka.foundation.errors import Error
from hyoka.foundation.progress import Tally
from hyoka.games import game_facts
from hyoka.learning.network_training import (
    EpochReport,
    NetworkSettings,
    check_device,
    check_size,
    learn_network,
)
from hyoka.learning.perceptrons import (
    LabeledPositions,
    PerceptronSettings,
    PlyError,
    TrainedPerceptrons,
    errors_by_ply,
    learn_perceptrons,
)
from hyoka.learning.selfplay_games import PlayedGames, games_of_study, of_records
from hyoka.learning.selfplay_loop import NETWORK, PLAN, Generation, LoopPlan, SelfPlayLoop
from hyoka.reporting.learning_report import selfplay_page
from hyoka.storage.files import write_text
from hyoka.storage.game_ids import GameIds
from hyoka.storage.manifest import DESCRIPTION
from hyoka.storage.model_file import Origin
from hyoka.study import Study

PAGE = "report.html"
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
        Path,
        Output(("network", "convolution")),
        option("--output", metavar="FILE"),
    ] = Path("network.nn"),
    network: Network = NetworkSettings,
    blend: Annotated[
        float,
        typer.Option(min=0, max=1, help="The share of the evaluation in a position's value."),
    ] = 0.5,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
) -> None:
    """Train a neural network on games: value and policy.

    From records it learns the moves played and the results; from a study of `learn selfplay` also
    the search's visits and values. Games from set-up positions are excluded. Needs PyTorch, from
    the extra `learn`. Play with it: uct:eval=FILE,strengths=FILE,cut=0 or ab:eval=FILE.
    """
    check_device(network().device)
    learned, held_out = _played(sources, hold_out)
    settings = _sized(learned.game, network())
    check_size(learned.game, settings)
    cores = threads or os.cpu_count() or 1
    with progress_bars() as progress:
        tally = Tally(progress, "learning", settings.epochs, "epochs")

        def tell(report: EpochReport) -> None:
            tally.add()
            if not is_quiet():
                out.print(_epoch_text(report))

        found = learn_network(
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
    found.network.save(output, origin)
    if answered(
        {
            "file": str(output),
            "games": len(learned),
            "held_out": len(held_out) if held_out else 0,
            "epochs": [_finite(vars(report)) for report in found.reports],
        }
    ):
        return
    judges = f",strengths={output}" if found.network.judges_moves else ""
    out.print(
        f"{output}: from {len(learned):,} games; play with it: uct:eval={output}{judges},cut=0"
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
    learned, unseen = split(games_of(sources), hold_out)
    return of_records(learned), of_records(unseen) if unseen else None


def _size_text(settings: NetworkSettings) -> dict[str, str]:
    if settings.blocks:
        return {"blocks": str(settings.blocks), "channels": str(settings.channels)}
    return {"width": str(settings.width)}


def _epoch_text(report: EpochReport) -> str:
    text = f"epoch {report.epoch}: loss of values {report.value_loss:.4f}"
    if report.policy_loss:
        text += f", of moves {report.policy_loss:.4f}"
    if not math.isnan(report.held_value_loss):
        text += f"; held out: {report.held_value_loss:.4f}"
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
    game: Annotated[str, typer.Argument(metavar="GAME", help="Such as blokus_duo, go9, othello.")],
    folder: Annotated[
        Path,
        OutputFolder(PLAN, "generations of self-play"),
        option("--output", metavar="FOLDER"),
    ] = Path("selfplay"),
    generations: Annotated[int, typer.Option(min=1, help="How many there are to be.")] = 4,
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
        out.print(f"no network was let in yet; {page} tells more")
    else:
        out.print(f"the player is {loop.best.parent / NETWORK}; {page} shows its training")


def _generation_text(generation: Generation) -> str:
    text = (
        f"generation {generation.number}: {generation.positions:,} positions of "
        f"{generation.games:,} games"
    )
    if generation.score is not None and generation.elo is not None:
        text += (
            f"; {generation.score:.1%} of {generation.gate_games} games against who played before"
        )
    return f"{text}; {'let in' if generation.accepted else 'not let in'}"


def learn_perceptrons_command(
    context: typer.Context,
    sources: Lesson,
    output: Annotated[
        Path,
        Output(("perceptrons",)),
        option("--output", metavar="FILE"),
    ] = Path("perceptrons.eval"),
    evaluator: Annotated[
        str | None,
        option("--evaluator", metavar="NAME"),
    ] = None,
    settings: Annotated[
        Callable[..., PerceptronSettings], Plan(PerceptronSettings)
    ] = PerceptronSettings,
    seed: Annotated[int, option("--seed", min=0)] = 0,
    hold_out: HoldOut = HOLD_OUT,
    threads: Threads = None,
) -> None:
    """Train a perceptron per ply on searches (Blokus Duo).

    The records are those of a match whose players report values, such as `hyoka match run` stores;
    from a study, an evaluator's evaluations are used. Equal positions are merged and their win
    rates averaged. Needs PyTorch, from the extra `learn`. Play with it: uct:prior=40,eval=FILE.
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
    _tell(trained, games, errors, output)


def _labeled(
    sources: list[Path], evaluator: str | None, hold_out: float
) -> tuple[LabeledPositions, LabeledPositions]:
    """Read training and held-out games of studies and records."""
    studies = [source for source in sources if (source / DESCRIPTION).exists()]
    records = [source for source in sources if source not in studies]
    if evaluator is not None and not studies:
        raise Error("--evaluator is for a study; records have what their players said")
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
            "no position of these games has a value: the players of a match say some if they "
            "search (uct:playouts=500), and `hyoka study evaluate` gives a study's positions some"
        )
    return learned, held_out


def _tell(trained: TrainedPerceptrons, games: int, errors: list[PlyError], output: Path) -> None:
    networks = trained.networks
    out.print(
        f"{len(networks.plies)} networks for {networks.plies[0]} to {networks.plies[-1]} pieces "
        f"laid, from {trained.positions:,} different positions of {games:,} games",
        markup=False,
    )
    if errors:
        table = plain_table("pieces laid", "held out", "MSE", "of the mean", right=range(4))
        for each in errors:
            table.add_row(
                str(each.ply), f"{each.positions:,}", f"{each.squared:.4f}", f"{each.variance:.4f}"
            )
        out.print(table)
    limits = "uct:preset=paper,playouts=1000"
    words = ["hyoka", "match", "run", f"new={limits},prior=40,eval={output}", f"old={limits}"]
    words += ["--game", networks.game]
    out.print(f"try it: {shlex.join(words)}", style="dim", markup=False)
