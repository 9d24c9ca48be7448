# SPDX-License-Identifier: Apache-2.0
"""The match command: progress in the terminal; results as a table, JSON and a page."""

import contextlib
import math
import os
import shlex
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hyoka.apps.cli.command_options import Cluster, Jobs, Output, OutputFolder, Plan, option
from hyoka.apps.cli.command_table import in_options
from hyoka.apps.cli.output import (
    answered,
    complain,
    err,
    hint,
    is_quiet,
    kept_when_interrupted,
    out,
    plain_table,
    print_columns,
    progress_bars,
    progress_file,
)
from hyoka.apps.cli.record_commands import Format
from hyoka.arena import (
    AblationPlan,
    Contest,
    DuelSummary,
    MatchPlan,
    MatchResult,
    PlayedGame,
    PlayerSpec,
    RatingList,
    Sprt,
    Standing,
    ablate,
    match_ratings,
    match_so_far,
    odd_workers,
    openings_of,
    plan_match,
    play_match,
    repeated_games,
    too_few_reason,
)
from hyoka.arena.fastchess import read_fastchess
from hyoka.arena.match import DESCRIPTION
from hyoka.arena.plan import MatchOptions
from hyoka.arena.ratings import MOST_WITH_INTERVALS, Rated, rate_players
from hyoka.arena.whole_history import HistorySettings, RatingHistory, rating_history
from hyoka.foundation.errors import Error, ParameterError
from hyoka.foundation.math import Estimate
from hyoka.foundation.options import options_of
from hyoka.foundation.progress import Progress
from hyoka.games import DEFAULT_GAME, game_facts
from hyoka.parallel import cluster
from hyoka.reporting.match_report import write_match_report
from hyoka.search import SearchSpec
from hyoka.storage.outputs import PAGE, PICTURE, TABLE
from hyoka.storage.result import FORMATS
from hyoka.workflows.rating_sources import Results, read_results

_INTERRUPTED = 130

Matches = Annotated[
    Path,
    OutputFolder(f"*/{DESCRIPTION}", "matches"),
    option("--output", "Output folder.", metavar="FOLDER"),
]
"""A folder with a folder for each match."""
Games = Annotated[int, option("--games", "Number of games per pair of players.", min=1)]
OpeningsOption = Annotated[
    str | None, option("--openings", metavar="FILE[:PLIES]|random[:PLIES]|start")
]


Preset = Literal["stc", "ltc"]
_PRESETS: Final[dict[Preset, tuple[str, str]]] = {
    "stc": ("10+0.1", "0,2,model=normalized"),
    "ltc": ("60+0.6", "0.5,2.5,model=normalized"),
}
"""Clocks and sequential tests of presets."""


def match_run_command(
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYER...",
            help="Two or more players, each \\[NAME=]SPEC\\[@CLOCK]: a search (uct:playouts=1000, "
            'ab:time=0.1) or an engine ("uci:nodes=1000:stockfish", "gtp:gnugo --mode gtp --level '
            '10"). @60+0.6 sets the clock of this player.',
            show_default=False,
        ),
    ] = None,
    options: Annotated[
        Callable[..., MatchOptions], Plan(MatchOptions, names={"format": "tournament"})
    ] = MatchOptions,
    games: Annotated[
        int | None,
        option(
            "--games",
            "Number of games per pair of players; by default 100, or 100,000 with a test.",
            min=1,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        OutputFolder(DESCRIPTION, "a match"),
        option("--output", "Output folder.", metavar="FOLDER"),
    ] = None,
    sprt: Annotated[str | None, option("--sprt", metavar="ELO0,ELO1")] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="Test a patch as Stockfish's developers do: stc is --clock 10+0.1 --sprt "
            "0,2,model=normalized, ltc --clock 60+0.6 --sprt 0.5,2.5,model=normalized; both "
            "adjudicate with resign=600,3 and draw=20,8,68. Options given override these.",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    cluster_address: Cluster = None,
    report: Annotated[bool, typer.Option(help="Write report.html.")] = True,
    fastchess: Annotated[
        str | None,
        typer.Option(
            help="Play what this command line of fastchess or cutechess-cli describes.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Play a match: scores, Elo intervals, SPRT.

    All games are stored. If interrupted, the same command resumes; with a larger --games it plays
    more. Without players, tree search plays flat Monte Carlo.
    """
    if fastchess is not None:
        if players:
            raise ParameterError("fastchess", "names the players, so give no others")
        match = read_fastchess(fastchess)
        hint("the same: " + shlex.join(["hyoka", "match", "run", *match.words]))
        if match.left_out:
            complain(f"left out of the command line: {', '.join(match.left_out)}")
        players, options = list(match.players), lambda: match.options
        games, sprt, jobs = match.games, match.sprt, jobs or match.jobs
    chosen = options()
    if preset is not None:
        clock, usual_sprt = _PRESETS[preset]
        sprt = sprt or usual_sprt
        adjudicate = chosen.adjudicate or ("resign=600,3", "draw=20,8,68")
        chosen = replace(chosen, clock=chosen.clock or clock, adjudicate=adjudicate)
    games = games or (100 if sprt is None else 100_000)
    plan = plan_match(*(players or ["uct:playouts=200", "mc:playouts=200"]), options=chosen)
    test = None if sprt is None else Sprt.from_text(sprt)
    folder = folder or _default_folder(plan)
    interrupted = False
    with contextlib.ExitStack() as stack:
        executor, jobs = workers(stack, jobs, cluster_address)
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
            " v ".join(player.title for player in plan.players),
            result.games,
            [player.title for player in plan.players],
            conditions=[*plan.sentences(), *_test_in_words(result, test)],
        )
    if not answered(result_as_json(result, test)):
        print_result(result, test, with_report=report)
    if interrupted:
        err.print("the games played are stored; the same command resumes")
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
        words = f"{standing.games:,} of {self._wanted:,} games  {rate:.3g} per second"
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
            duel.elo.elo_text(),
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
            estimate.elo_text(),
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
        hint(
            f"going first {score.as_first}, going second {score.as_second}; pairs {score.pairs}; "
            f"normalized Elo {nelo.elo_text()}; p = {duel.permutation_p:.2g} (pairs), "
            f"{duel.binomial_p:.2g} (games)"
        )
    endings = ", ".join(f"{reason} {count:,}" for reason, count in standing.reasons.most_common())
    if endings:
        hint(f"ended by {endings}")
    for name, count in standing.faults.most_common():
        out.print(f"{name} lost {count:,} by fault", style="red", markup=False)
    shown = {(game.reason, game.pairing.first): game.fault for game in result.games if game.fault}
    for fault in list(shown.values())[:5]:
        complain(fault)
    if (repeats := repeated_games(result.games)) > 0:
        err.print(
            f"{repeats:,} of {standing.games:,} games repeat others move for move, so "
            "intervals are too narrow: use more openings, or players with random choices",
            style="red",
            markup=False,
            soft_wrap=True,
        )
    reasons = (too_few_reason(duel.score) for duel in result.duels if duel.score.games)
    for why in dict.fromkeys(filter(None, reasons)):
        hint(f"{why} are too few for a reliable interval")
    for odd in odd_workers(result.games):
        err.print(f"different from the other workers: {odd}", style="red", markup=False)
    if result.verdict is not None and sprt is not None:
        out.print(f"the test accepts {result.verdict}: {_nearer(sprt, result.verdict)}")
    elif sprt is not None and len(result.games) >= result.wanted:
        out.print("the test is undecided; the same command with more --games continues it")
    left = result.wanted - len(result.games)
    if left > 0 and result.verdict is None:
        out.print(f"{left:,} games are left to play")
    if left < 0:
        out.print(f"{-left:,} games more than requested were already played")
    page = f", page in {result.folder / 'report.html'}" if with_report else ""
    hint(f"games in {result.folder}{page}")


def _nearer(sprt: Sprt, verdict: str) -> str:
    taken, other = (sprt.elo1, sprt.elo0) if verdict == "H1" else (sprt.elo0, sprt.elo1)
    return f"{taken:+g} Elo rather than {other:+g}"


def _test_in_words(result: MatchResult, sprt: Sprt | None) -> list[str]:
    """Describe a match's sequential test for its page."""
    if sprt is None:
        return []
    llr = sprt.llr(result.standing.duel(0, 1).pairs)
    verdict = (
        f"accepts {result.verdict}: {_nearer(sprt, result.verdict)}"
        if result.verdict is not None
        else "is undecided"
    )
    return [
        f"A sequential test of {sprt.elo0:+g} against {sprt.elo1:+g} Elo {verdict}. Its log "
        f"likelihood ratio is {llr:.2f}, its bounds are {sprt.lower:.2f} and {sprt.upper:.2f}."
    ]


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
        "duels": [duel.as_json() for duel in duels],
        "ratings": [
            {"name": rated.name, **Estimate(rated.elo, rated.low, rated.high).as_json()}
            for rated in (ratings.players if ratings else ())
        ],
        "reasons": dict(standing.reasons),
        "faults": dict(standing.faults),
        "repeated_games": repeated_games(result.games),
        "odd_workers": [str(odd) for odd in odd_workers(result.games)],
    }


def match_ratings_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES...",
            help="Records in any notation (files, folders, patterns, archives, -), folders of "
            "matches, studies, or Parquet tables with the columns first, second, result and "
            "optionally pair_id and date.",
            show_default=False,
        ),
    ],
    settings: Annotated[
        Callable[..., HistorySettings], Plan(HistorySettings, without=("prior", "intervals"))
    ] = HistorySettings,
    over_time: Annotated[
        bool, option("--over-time", "Rate players by date (Whole-History Rating).")
    ] = False,
    advantage_by: Annotated[
        str | None,
        option(
            "--advantage-by",
            "With --over-time, a first-move advantage for each value of a column of the games, "
            "such as time_control, handicap or event.",
            metavar="COLUMN",
        ),
    ] = None,
    min_games: Annotated[
        int, option("--min-games", "Minimum number of games per player.", min=1, metavar="N")
    ] = 1,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge",
            metavar="PATTERN",
            help='Treat all players with matching names as one, such as "Stockfish*"; repeatable.',
        ),
    ] = None,
    format: Format = None,
    output: Annotated[
        list[Path] | None,
        Output((PAGE, PICTURE, TABLE), FORMATS),
        option(
            "--output",
            "Output file of --over-time; its extension selects the format.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Rate players from their games: Elo with 95% intervals.

    Players that no games connect are listed apart, each list with its own zero. The interval is
    open on a side that games do not bound, for example for a player who lost no points. LOS is the
    likelihood that a player is stronger than the next.

    With --over-time, ratings drift from day to day, and all games of a player, earlier and later,
    determine each rating. Games without a date are left out.

    For example: hyoka match ratings games.pgn --over-time -o ratings.html
    """
    chosen = settings()
    if not over_time:
        for name, value in (
            ("--drift", chosen.drift),
            ("--advantage-by", advantage_by),
            ("--output", output),
        ):
            if value:
                raise typer.BadParameter(f"{name} needs --over-time")
    columns = [name for name in ("date", advantage_by) if name] if over_time else []
    with progress_bars() as progress:
        everything = read_results(
            files, columns=list(dict.fromkeys(columns)), format=format, progress=progress
        )
    if merge:
        everything = everything.with_merged(merge)
    results = everything.of_frequent_players(min_games) if min_games > 1 else everything
    if not len(results):
        reasons = _reasons(results)
        raise Error(f"no games to rate{': ' if reasons else ''}{reasons}")
    if over_time:
        history = rating_history(
            results.first,
            results.second,
            results.result,
            results.names,
            chosen,
            dates=results.dates,
            conditions=_conditions(results, advantage_by),
        )
        for file in output or ():
            history.save(file)
        if not answered(_history_as_json(history, results)):
            _print_history(history, results)
        return
    ratings = rate_players(
        results.first,
        results.second,
        results.result,
        results.names,
        settings(intervals=len(results.names) <= MOST_WITH_INTERVALS),
        clusters=results.clusters,
    )
    if not answered(_as_json(ratings, results)):
        _print_ratings(ratings, results)


def _conditions(results: Results, column: str | None) -> list[str] | None:
    """Return the condition of each game, such as `handicap 2`."""
    if column is None:
        return None
    return [f"{column} {text}" if text else f"no {column}" for text in results.columns[column]]


def _print_history(history: RatingHistory, results: Results) -> None:
    heading, *rows = history.lines()
    out.print(history.title, style="bold", markup=False)
    print_columns(heading, rows, right=range(1, len(heading)))
    for note in history.notes():
        hint(in_options(note, {"drift": "--drift"}))
    if results.left_out:
        complain(f"excluded: {_reasons(results)}")


def _history_as_json(history: RatingHistory, results: Results) -> dict[str, object]:
    return {
        "games": history.games,
        "undated": history.undated,
        "left_out": dict(results.left_out),
        "draw_rate": history.draw_rate,
        "drift": history.drift.as_json(),
        "advantages": {name: each.as_json() for name, each in history.advantages.items()},
        "players": [
            {
                "name": player.name,
                "games": int(player.games.sum()),
                "component": player.component,
                "latest": player.latest.as_json(),
                "change": player.change.as_json(),
            }
            for player in history.players
        ],
        "rows": history.rows(),
        "notes": list(history.notes()),
    }


def _print_ratings(ratings: RatingList, results: Results) -> None:
    for component in range(ratings.components):
        players = [player for player in ratings.players if player.component == component]
        if ratings.components > 1:
            title = f"component {component + 1} of {ratings.components}"
            out.print(f"{title}: not comparable with the others", style="bold")
        _print_players(players, ratings)
    facts = [f"{ratings.games:,} games", f"draws between equals {ratings.draw_rate:.1%}"]
    facts.append(f"moving first is worth {_with_interval(ratings.advantage)} Elo")
    hint("; ".join(facts))
    if ratings.virtual:
        hint(
            "some players won or lost all games against the others: virtual draws bound their "
            "ratings, and their intervals are open on one side"
        )
    if ratings.covariance is None:
        hint(f"no intervals for more than {MOST_WITH_INTERVALS:,} players; see --min-games")
    if results.left_out:
        complain(f"excluded: {_reasons(results)}")


def _print_players(players: Sequence[Rated], ratings: RatingList) -> None:
    headings = ("", "player", "Elo", "95 %", "games", "score", "draws", "LOS")
    table = plain_table(*headings, right=[0, 2, 3, 4, 5, 6, 7])
    for rank, (player, after) in enumerate(zip(players, [*players[1:], None], strict=True), 1):
        sure = _superiority(ratings, player, after)
        table.add_row(
            str(rank),
            escape(player.name),
            f"{player.elo:.0f}",
            _margin(player),
            f"{player.games:,}",
            f"{player.score.rate:.1%}",
            f"{player.score.draw_rate:.1%}",
            "" if sure is None else f"{sure:.1%}",
        )
    out.print(table)


def _margin(player: Rated) -> str:
    """Format the interval as ±, or as open on a side."""
    up, down = player.high - player.elo, player.elo - player.low
    if math.isinf(up) and math.isinf(down):
        return "–"
    if math.isinf(up):
        return f"−{down:.0f} +∞"
    return f"−∞ +{up:.0f}" if math.isinf(down) else f"±{up:.0f}"


def _with_interval(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return f"{estimate.value:.0f}"
    if math.isinf(estimate.low) and math.isinf(estimate.high):
        return "an unknown number of"
    ends = [f"{end:.0f}" if math.isfinite(end) else "∞" for end in (estimate.low, estimate.high)]
    if math.isinf(estimate.low):
        ends[0] = "−∞"
    return f"{estimate.value:.0f} ({ends[0]} to {ends[1]})"


def _reasons(results: Results) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in results.left_out.items())


def _finite(value: float) -> float | None:
    """Replace infinity by null for JSON."""
    return value if math.isfinite(value) else None


def _superiority(ratings: RatingList, player: Rated, after: Rated | None) -> float | None:
    if after is None or after.component != player.component or ratings.covariance is None:
        return None
    return ratings.superiority(player.name, after.name)


def _as_json(ratings: RatingList, results: Results) -> dict[str, object]:
    following = [*ratings.players[1:], None]
    return {
        "games": ratings.games,
        "left_out": dict(results.left_out),
        "draw_rate": ratings.draw_rate,
        "advantage": {
            "value": ratings.advantage.value,
            "low": _finite(ratings.advantage.low),
            "high": _finite(ratings.advantage.high),
        },
        "players": [
            {
                "name": player.name,
                "elo": player.elo,
                "low": _finite(player.low),
                "high": _finite(player.high),
                "games": player.games,
                "wins": player.score.wins,
                "draws": player.score.draws,
                "losses": player.score.losses,
                "component": player.component,
                "superiority_over_next": _superiority(ratings, player, after),
            }
            for player, after in zip(ratings.players, following, strict=True)
        ],
    }


_LEFT_OUT = {each.field for each in options_of(MatchOptions)} - {"openings", "komi", "seed"}


def match_ablate_command(
    search: Annotated[
        str,
        typer.Argument(
            metavar="SEARCH",
            help="uct or ab, optionally with settings: uct:preset=paper,c=0.7. Without "
            "`preset=paper`, uct has the default settings of the game.",
        ),
    ] = "uct:preset=paper",
    game: Annotated[str, option("--game")] = DEFAULT_GAME,
    ablation: Annotated[Callable[..., AblationPlan], Plan(AblationPlan)] = AblationPlan,
    options: Annotated[
        Callable[..., MatchOptions], Plan(MatchOptions, without=_LEFT_OUT)
    ] = MatchOptions,
    folder: Matches = Path("matches"),
    jobs: Jobs = None,
    cluster_address: Cluster = None,
) -> None:
    """Play each enhancement of a search against the rest.

    Matches are played at equal playouts and at equal time. If interrupted, the same command
    resumes.
    """
    kind = game_facts(game).name
    spec = SearchSpec.from_text(search).for_game(kind)
    chosen, fields = ablation(), options(game=kind)
    planned = chosen.contests(spec)
    with contextlib.ExitStack() as stack:
        play = match_player(*workers(stack, jobs, cluster_address))
        stack.enter_context(kept_when_interrupted("played"))
        starts = openings_of(fields.openings, kind, seed=fields.seed)

        def meet(players: tuple[PlayerSpec, PlayerSpec]) -> MatchResult:
            plan = plan_match(*players, options=fields, openings=starts)
            return play(plan, folder / plan.id, chosen.games)

        duels = ablate(planned, meet)
    if answered(
        [
            {
                "switch": contest.switch,
                "limit": contest.limit,
                "with": contest.with_it.text,
                "without": contest.without.text,
                **duel.as_json(),
            }
            for contest, duel in duels
        ]
    ):
        return
    _print_ablation(duels)


def _print_ablation(duels: list[tuple[Contest, DuelSummary]]) -> None:
    limits = list(dict.fromkeys(contest.limit for contest, _ in duels))
    headings = [f"{word} at {limit}" for limit in limits for word in ("score", "Elo")]
    table = plain_table("enhancement", *headings, right=range(1, 1 + len(headings)))
    for switch in dict.fromkeys(contest.switch for contest, _ in duels):
        cells = [escape(switch)]
        for limit in limits:
            (duel,) = [duel for each, duel in duels if (each.switch, each.limit) == (switch, limit)]
            score = duel.score.score
            cells += [
                f"{score.wins}/{score.draws}/{score.losses} {score.rate:.1%}",
                duel.elo.elo_text(),
            ]
        table.add_row(*cells)
    out.print(table)
    hint("+/=/−: wins, draws and losses of the search with the enhancement; games are stored")
