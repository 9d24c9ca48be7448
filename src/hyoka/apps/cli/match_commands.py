# SPDX-License-Identifier: Apache-2.0
"""The match command: progress in the terminal; results as a table, JSON and a page."""

import contextlib
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hyoka.apps.cli.command_options import Cluster, Jobs, OutputFolder, Plan, option
from hyoka.apps.cli.output import answered, err, is_quiet, out, plain_table, progress_file
from hyoka.arena import (
    DuelSummary,
    MatchPlan,
    MatchResult,
    PlayedGame,
    RatingList,
    Sprt,
    Standing,
    match_ratings,
    match_so_far,
    odd_workers,
    plan_match,
    play_match,
    repeated_games,
    too_few_reason,
)
from hyoka.arena.match import DESCRIPTION
from hyoka.arena.plan import MatchOptions
from hyoka.foundation.math import Estimate
from hyoka.foundation.progress import Progress
from hyoka.parallel import cluster
from hyoka.reporting.match_report import write_match_report

_INTERRUPTED = 130

Games = Annotated[int, option("--games", min=1)]
OpeningsOption = Annotated[
    str | None,
    option("--openings", metavar="FILE[:PLIES]|random[:PLIES]|start"),
]


def match_run_command(
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYER...",
            help="\\[NAME=]SPEC\\[@CLOCK], two or more: a search (uct:playouts=1000, ab:time=0.1) "
            'or an engine ("uci:nodes=1000:stockfish", "gtp:gnugo --mode gtp --level 10"). '
            "@60+0.6 gives a clock of its own.",
            show_default=False,
        ),
    ] = None,
    options: Annotated[
        Callable[..., MatchOptions], Plan(MatchOptions, names={"format": "tournament"})
    ] = MatchOptions,
    games: Games = 100,
    folder: Annotated[
        Path | None,
        OutputFolder(DESCRIPTION, "a match"),
        option("--output", metavar="FOLDER"),
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            metavar="ELO0,ELO1",
            help="Stop when a sequential test has decided, e.g. 0,5 (also alpha=, beta=, "
            "model=normalized).",
        ),
    ] = None,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    report: Annotated[bool, typer.Option(help="Write the page report.html.")] = True,
) -> int:
    """Play a match: scores, Elo intervals, SPRT.

    All games are stored. If interrupted, the same command resumes; with a larger --games it plays
    more. Without players, tree search plays flat Monte Carlo.
    """
    plan = plan_match(
        *(players or ["uct:playouts=200", "mc:playouts=200"]),
        options=options(),
    )
    test = None if sprt is None else Sprt.from_text(sprt)
    folder = folder or _default_folder(plan)
    interrupted = False
    with contextlib.ExitStack() as stack:
        executor = None
        if cluster_address is not None:
            executor, jobs = stack.enter_context(cluster(cluster_address))
        shown = stack.enter_context(LiveStanding(plan, games, test))
        try:
            result = play_match(
                plan,
                folder,
                games=games,
                sprt=test,
                jobs=jobs or jobs_for(plan),
                executor=executor,
                on_games=shown.update,
            )
        except KeyboardInterrupt:
            if not shown.has_begun:
                raise  # the folder may not exist, or belong to another match
            interrupted = True
            result = match_so_far(plan, folder, games=games, sprt=test)
    if report:
        write_match_report(
            folder / "report.html",
            f"{plan.rules.game}: {' v '.join(player.title for player in plan.players)}",
            result.games,
            [player.title for player in plan.players],
            conditions=[*conditions_of(plan), *_test_in_words(result, test)],
        )
    if not answered(result_as_json(result, test)):
        print_result(result, test, with_report=report)
    if interrupted:
        err.print("what was played is kept; the same command goes on")
        return _INTERRUPTED
    return 0


def _default_folder(plan: MatchPlan) -> Path:
    """Return matches/ID, or the folder of an earlier version with the same key."""
    key = plan.id.rpartition("-")[2]
    return next(Path("matches").glob(f"*-{key}"), Path("matches") / plan.id)


def jobs_for(plan: MatchPlan) -> int:
    """Return the number of games for which the machine has enough cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) // max(player.agent.threads for player in plan.players))


def conditions_of(plan: MatchPlan) -> list[str]:
    """Describe how a match was played."""
    rules = plan.rules
    sentences = []
    for player in plan.players:
        clock = f" with {player.clock.text} on the clock" if player.clock else ""
        sentences.append(f"{player.title} is {player.spec.text}{clock}.")
    count = len(plan.openings)
    sentences.append(
        f"Games begin with one of {count:,} openings, each played from both sides."
        if count > 1
        else f"All games begin alike: {plan.openings[0].name}."
    )
    if rules.facts.disputed_ends:
        sentences.append(f"Komi is {rules.komi:g}; stones that stand at the end count as alive.")
    sentences += [f"Games may end early by {each.text}." for each in rules.adjudicators]
    return sentences


class LiveStanding:
    """A live view of the score in the terminal."""

    def __init__(self, plan: MatchPlan, games: int, sprt: Sprt | None) -> None:
        self._wanted = plan.total(games)
        self._sprt = sprt
        self._live = (
            None if is_quiet() or not err.is_terminal else Live(console=err, refresh_per_second=4)
        )
        self._file = progress_file()
        self._started = time.monotonic()
        self._before: int | None = None
        self._shown_at = 0.0
        self._last = ""

    def __enter__(self) -> "LiveStanding":
        if self._live is not None:
            self._live.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        if self._live is not None:
            self._live.update("")
            self._live.__exit__(*failure)

    @property
    def has_begun(self) -> bool:
        """Whether any game has been reported."""
        return self._before is not None

    def update(self, new: list[PlayedGame], standing: Standing) -> None:
        """Show the score after more games."""
        if self._before is None:
            self._before, self._started = standing.games, time.monotonic()
        if new:
            record = new[-1].record
            points = {1.0: "1–0", 0.5: "½–½", 0.0: "0–1"}[new[-1].result]
            self._last = f"{record.first} – {record.second} {points}, {new[-1].reason}"
        if self._file is not None:
            self._file.tell(Progress("match", standing.games, self._wanted, "games", self._last))
        now = time.monotonic()
        if self._live is None or now - self._shown_at < 0.2:
            return
        self._shown_at = now
        self._live.update(self._view(standing))

    def _view(self, standing: Standing) -> Group:
        seconds = time.monotonic() - self._started
        new = standing.games - (self._before or 0)
        rate = new / seconds if seconds > 0 else 0.0
        left = (self._wanted - standing.games) / rate if rate else math.inf
        words = f"{standing.games:,} of {self._wanted:,} games  {rate:.3g} a second"
        if math.isfinite(left):
            words += f"  {clock_text(left)} left"
        bar = ProgressBar(total=max(1, self._wanted), completed=standing.games, width=40)
        head = Table.grid(padding=(0, 2))
        head.add_row(bar, Text(words))
        return Group(head, standing_table(standing, self._sprt), Text(self._last, style="dim"))


def clock_text(seconds: float) -> str:
    """Format a duration as a clock shows it: 1:02:03, or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def workers(
    stack: contextlib.ExitStack, jobs: int | None, address: str | None
) -> tuple[Executor | None, int | None]:
    """Return a cluster's executor and parallelism; without a cluster, None and `jobs`."""
    if address is None:
        return None, jobs
    return stack.enter_context(cluster(address))


def match_player(
    executor: Executor | None, jobs: int | None
) -> Callable[[MatchPlan, Path, int], MatchResult]:
    """Build the function that plays the matches of a larger job, here or on a cluster."""

    def play(plan: MatchPlan, folder: Path, games: int) -> MatchResult:
        with LiveStanding(plan, games, None) as shown:
            result = play_match(
                plan,
                folder,
                games=games,
                jobs=jobs or jobs_for(plan),
                executor=executor,
                on_games=shown.update,
            )
        return result

    return play


def elo_text(elo: Estimate) -> str:
    """Format an Elo difference with its interval: a half-width if symmetric, else both ends."""
    if math.isfinite(elo.value) and math.isfinite(elo.low) and math.isfinite(elo.high):
        up, down = elo.high - elo.value, elo.value - elo.low
        if abs(up - down) < 0.1 * max(up, down, 1):
            return f"{elo.value:+.0f} ± {(up + down) / 2:.0f}"
    ends = [f"{end:+.0f}" if math.isfinite(end) else "∞" for end in (elo.low, elo.high)]
    value = f"{elo.value:+.0f}" if math.isfinite(elo.value) else ("+∞" if elo.value > 0 else "−∞")
    return f"{value} ({ends[0].replace('∞', '−∞')} to {ends[1]})"


def standing_table(standing: Standing, sprt: Sprt | None) -> Table:
    """Build a row for each pair of players, at most thirty."""
    headings = ["", "", "games", "+", "=", "−", "score", "Elo", "LOS"]
    table = plain_table(*headings, *(["LLR"] if sprt else []), right=range(2, 9 + bool(sprt)))
    for one, other in standing.duels()[:30]:
        duel = DuelSummary.of(standing, one, other, sprt)
        score = duel.score.score
        cells = [
            escape(duel.player),
            f"v {escape(duel.opponent)}",
            f"{score.games:,}",
            f"{score.wins:,}",
            f"{score.draws:,}",
            f"{score.losses:,}",
            f"{score.rate:.1%}",
            elo_text(duel.elo),
            f"{duel.superiority:.1%}",
        ]
        if duel.llr is not None and duel.bounds is not None:
            cells.append(f"{duel.llr:.2f} [{duel.bounds[0]:.2f}, {duel.bounds[1]:.2f}]")
        table.add_row(*map(str, cells))
    return table


def ratings_table(ratings: RatingList) -> Table:
    """Build the rating list of a match."""
    table = plain_table("", "player", "Elo", "games", "score", right=[0, 2, 3, 4])
    for place, rated in enumerate(ratings.players, 1):
        estimate = Estimate(rated.elo, rated.low, rated.high)
        table.add_row(
            str(place),
            escape(rated.name),
            elo_text(estimate),
            f"{rated.games:,}",
            f"{rated.score.rate:.1%}",
        )
    return table


def print_result(result: MatchResult, sprt: Sprt | None, *, with_report: bool) -> None:
    """Print a match's score, or its result."""
    standing = result.standing
    out.print(standing_table(standing, sprt))
    if len(standing.names) > 2 and standing.games:
        out.print(ratings_table(match_ratings(result.games, standing.names)))
    if len(standing.names) == 2 and standing.games:
        score = standing.duel(0, 1)
        duel = DuelSummary.of(standing, 0, 1)
        nelo = duel.normalized_elo
        out.print(
            f"going first {score.as_first}, going second {score.as_second}; pairs {score.pairs}; "
            f"normalised Elo {elo_text(nelo)}; p = {duel.permutation_p:.2g} (pairs), "
            f"{duel.binomial_p:.2g} (games)",
            style="dim",
            markup=False,
        )
    endings = ", ".join(f"{reason} {count:,}" for reason, count in standing.reasons.most_common())
    if endings:
        out.print(f"ended by {endings}", style="dim", markup=False)
    for name, count in standing.faults.most_common():
        out.print(f"{name} lost {count:,} by its own fault", style="red", markup=False)
    shown = {(game.reason, game.pairing.first): game.fault for game in result.games if game.fault}
    for fault in list(shown.values())[:5]:
        err.print(fault, style="dim", markup=False, soft_wrap=True)
    if (repeats := repeated_games(result.games)) > 0:
        err.print(
            f"{repeats:,} of {standing.games:,} games repeat others move for move and prove "
            "nothing new, so that intervals are too narrow: give more openings, or players with "
            "chance",
            style="red",
            markup=False,
            soft_wrap=True,
        )
    reasons = (too_few_reason(duel.score) for duel in result.duels if duel.score.games)
    for why in dict.fromkeys(filter(None, reasons)):
        out.print(f"{why} are too few to trust an interval", style="dim")
    for odd in odd_workers(result.games):
        err.print(f"not like the others: {odd}", style="red", markup=False)
    if result.verdict is not None and sprt is not None:
        out.print(f"the test has decided: {result.verdict}, {_nearer(sprt, result.verdict)}")
    elif sprt is not None and len(result.games) >= result.wanted:
        out.print("the test has not decided; the same command with more --games goes on")
    left = result.wanted - len(result.games)
    if left > 0 and result.verdict is None:
        out.print(f"{left:,} games are left to play")
    if left < 0:
        out.print(f"{-left:,} games more than asked for were there already")
    page = f", page in {result.folder / 'report.html'}" if with_report else ""
    out.print(f"games in {result.folder}{page}", style="dim", markup=False)


def _nearer(sprt: Sprt, verdict: str) -> str:
    taken, other = (sprt.elo1, sprt.elo0) if verdict == "H1" else (sprt.elo0, sprt.elo1)
    return f"{taken:+g} Elo rather than {other:+g}"


def _test_in_words(result: MatchResult, sprt: Sprt | None) -> list[str]:
    """Describe a match's sequential test for its page."""
    if sprt is None:
        return []
    llr = sprt.llr(result.standing.duel(0, 1).pairs)
    verdict = (
        f"decided for {result.verdict}: {_nearer(sprt, result.verdict)}"
        if result.verdict is not None
        else "has not decided"
    )
    return [
        f"A sequential test of {sprt.elo0:+g} against {sprt.elo1:+g} Elo {verdict}. Its log "
        f"likelihood ratio is {llr:.2f}, its bounds are {sprt.lower:.2f} and {sprt.upper:.2f}."
    ]


def estimate_as_json(estimate: Estimate) -> dict[str, float | None]:
    """Format an estimate for JSON: null for infinity."""
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {name: end if math.isfinite(end) else None for name, end in ends.items()}


def duel_as_json(duel: DuelSummary) -> dict[str, object]:
    """Convert two players' games to plain values."""
    score = duel.score
    return {
        "player": duel.player,
        "opponent": duel.opponent,
        "games": score.games,
        "wins": score.score.wins,
        "draws": score.score.draws,
        "losses": score.score.losses,
        "as_first": [score.as_first.wins, score.as_first.draws, score.as_first.losses],
        "as_second": [score.as_second.wins, score.as_second.draws, score.as_second.losses],
        "pairs": list(score.pairs.counts),
        "rate": estimate_as_json(duel.rate),
        "elo": estimate_as_json(duel.elo),
        "normalized_elo": estimate_as_json(duel.normalized_elo),
        "superiority": duel.superiority,
        "binomial_p": duel.binomial_p,
        "permutation_p": duel.permutation_p,
        "llr": duel.llr,
        "bounds": duel.bounds,
        "verdict": duel.verdict,
    }


def result_as_json(result: MatchResult, sprt: Sprt | None) -> dict[str, object]:
    """Convert a match to plain values."""
    standing = result.standing
    duels = [DuelSummary.of(standing, one, other, sprt) for one, other in standing.duels()]
    ratings = match_ratings(result.games, standing.names) if result.games else None
    return {
        "folder": str(result.folder),
        "players": list(standing.names),
        "games": len(result.games),
        "wanted": result.wanted,
        "finished": result.finished,
        "verdict": result.verdict,
        "duels": [duel_as_json(duel) for duel in duels],
        "ratings": [
            {"name": rated.name, **estimate_as_json(Estimate(rated.elo, rated.low, rated.high))}
            for rated in (ratings.players if ratings else ())
        ],
        "reasons": dict(standing.reasons),
        "faults": dict(standing.faults),
        "repeated_games": repeated_games(result.games),
        "odd_workers": [str(odd) for odd in odd_workers(result.games)],
    }
