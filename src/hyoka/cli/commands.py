# SPDX-License-Identifier: Apache-2.0
"""The commands by name; only the one that is called is loaded.

Loading all of them takes longer than most of them run, so that help knows the others by name and
first line alone.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple

import typer

import hyoka
from hyoka.cli.outputs import checked

STUDIES: Final = "Records and studies"
WORTH: Final = "What a study's evaluations are worth"
MENDING: Final = "Mending and learning"
BOARDS: Final = "Positions and searches"
MATCHES: Final = "Matches and engines"
GROUPS: Final = {
    "engine": ("Engines: try one out, or be one in a GUI or a match.", MATCHES),
    "book": ("Opening books: make one from records, and show one.", BOARDS),
    "learn": (
        "Learn from games: evaluations, objectives, networks, a prior, a ranking of moves.",
        MENDING,
    ),
}
"""Commands that have commands: what help says of them, and under what."""


class Command(NamedTuple):
    """A command as help lists it; a group's commands have names such as `engine check`."""

    name: str
    place: str  # module.function in this package
    help: str  # the first line of the function's docstring
    panel: str | None = None  # what help lists it under, if not all commands

    @property
    def words(self) -> list[str]:
        """The words that call it."""
        return self.name.split()

    def load(self) -> Callable[..., Any]:
        """The function with all its options, which checks numbers and outputs first."""
        module, function = self.place.split(".")
        found: Callable[..., Any] = getattr(
            importlib.import_module(f"hyoka.cli.{module}"), function
        )
        return checked(found)


COMMANDS: Final = (
    Command(
        "demo",
        "demo.demo_command",
        "The main job on sample records: evaluate, measure, find what is wrong, draw the report.",
    ),
    Command(
        "samples",
        "demo.samples_command",
        "Copy the sample records that come with Hyoka: games of its own players.",
    ),
    Command(
        "studio",
        "studio.studio_command",
        "Open the laboratory in a browser: boards, studies, matches, runs, all in one folder.",
    ),
    Command(
        "records",
        "records.records_command",
        "Read game records: SGF, PGN, CSA, KIF, KI2, USI lines, WTHOR, blksgf.",
        STUDIES,
    ),
    Command(
        "convert",
        "records.convert_command",
        "Write records in another notation of the same game, e.g. KIF files into one CSA file.",
        STUDIES,
    ),
    Command(
        "columns",
        "studies.columns_command",
        "List the columns that describe a game's positions, or all that a study has for "
        "conditions.",
        STUDIES,
    ),
    Command(
        "positions",
        "exports.positions_command",
        "Write a study's positions with results and evaluations: tables, EPD, data for trainers.",
        STUDIES,
    ),
    Command(
        "evaluate",
        "studies.evaluate_command",
        "Evaluate a study's positions; interrupted, the same command goes on where it stopped.",
        STUDIES,
    ),
    Command(
        "report",
        "reports.report_command",
        "Write a study's report: what its evaluators are worth, and where they are wrong.",
        STUDIES,
    ),
    Command(
        "analyse",
        "analyses.analyse_command",
        "Say in short what evaluations are worth: metrics, and what the curves are like.",
        WORTH,
    ),
    Command(
        "curves",
        "analyses.curves_command",
        "Evaluation curves: the win probability by what an evaluator said, with bands by games.",
        WORTH,
    ),
    Command(
        "metrics",
        "analyses.metrics_command",
        "How well evaluators tell wins from losses: ACC, FSC, LFT, ROC, APR, BEP, τ, E(v) and "
        "more.",
        WORTH,
    ),
    Command(
        "gaps",
        "analyses.gaps_command",
        "How far the curves of parts lie from the curve of all positions, with tests by games.",
        WORTH,
    ),
    Command(
        "splits",
        "analyses.splits_command",
        "Search all columns for the conditions where evaluations are wrong, the worst first.",
        WORTH,
    ),
    Command(
        "compare",
        "analyses.compare_command",
        "Differences of the first evaluator to the others on the same positions, with intervals.",
        WORTH,
    ),
    Command(
        "disagreements",
        "analyses.disagreements_command",
        "Where the first two evaluators differ most, and which of them was right.",
        WORTH,
    ),
    Command(
        "calibrate",
        "analyses.calibrate_command",
        "Score → win probability: the scores for 50%, 75% and 90%, K, and the fitted constants.",
        WORTH,
    ),
    Command(
        "wdl",
        "analyses.wdl_command",
        "Win, draw and loss by score and move number: Stockfish's WDL model, with intervals.",
        WORTH,
    ),
    Command(
        "improve",
        "improving.improve_command",
        "Find where an evaluation is wrong, name the terms, fit them, and prove the gain on the "
        "board.",
        MENDING,
    ),
    Command(
        "terms",
        "terms.terms_command",
        "The terms of a game's evaluation, what each counts, and its weights.",
        MENDING,
    ),
    Command(
        "artefact",
        "artefacts.artefact_command",
        "Tell what a file of weights, strengths, … holds and how it was made.",
        MENDING,
    ),
    Command(
        "learn weights",
        "learning.weights_command",
        "Fit weights of an evaluation to the results of a study's games, and say what it changes.",
    ),
    Command(
        "learn prior",
        "priors.prior_command",
        "Fit what an evaluation is worth to UCT on self-play: its sigmoid's scale and its weight.",
    ),
    Command(
        "learn mets",
        "move_models.mets_command",
        "Grow a tree over the stones around a point that ranks moves (METS; Go, Othello).",
    ),
    Command(
        "learn strengths",
        "strengths.strengths_command",
        "Learn how strong moves are by their features (Bradley-Terry), and say how well that does.",
    ),
    Command(
        "learn comparison",
        "evaluations.comparison_command",
        "Learn an evaluation from the moves and results of games (comparison training).",
    ),
    Command(
        "learn scores",
        "scores.scores_command",
        "Fit an evaluation to what a stronger evaluator says of a study's positions.",
    ),
    Command(
        "learn objective",
        "objectives.objective_command",
        "Evolve what comparison training makes small, for the strength of what it trains (PBILc).",
    ),
    Command(
        "learn perceptrons",
        "perceptrons.perceptrons_command",
        "Learn win rates of Blokus Duo from searches: patterns into a network a ply (Nakamura "
        "2007).",
    ),
    Command(
        "learn network",
        "networks.network_command",
        "Learn a network from games: what positions are worth, and which moves.",
    ),
    Command(
        "learn selfplay",
        "networks.selfplay_command",
        "Make a player from the rules alone: play, learn a network, prove the gain, again.",
    ),
    Command(
        "learn combined",
        "combining.combined_command",
        "Make one move model of several: learn how much each should count.",
    ),
    Command(
        "features",
        "strengths.features_command",
        "The features of a game's moves, by which they have strengths, and what each means.",
        MENDING,
    ),
    Command(
        "book make",
        "books.make_command",
        "Make an opening book from game records: by position, how often each move was played.",
    ),
    Command(
        "book show",
        "books.show_command",
        "Show what an opening book knows: the moves of a position, with how often they were "
        "played.",
    ),
    Command(
        "predict",
        "move_models.predict_command",
        "How often a move model ranks the move played first, or among the n best.",
        MENDING,
    ),
    Command(
        "playouts",
        "playout_qualities.playouts_command",
        "What playouts are like: moves foretold, games that end, playouts a second.",
        BOARDS,
    ),
    Command(
        "rank",
        "studies.rank_command",
        "Keep how a move model ranks the moves played, as columns to split a study's curves by.",
        STUDIES,
    ),
    Command(
        "categorise",
        "studies.categorise_command",
        "Keep how far, how restless and how hard positions are, as columns to split curves by.",
        STUDIES,
    ),
    Command(
        "adjudicate",
        "studies.adjudicate_command",
        "Store what exact methods know of positions beside the records' results.",
        STUDIES,
    ),
    Command(
        "sql",
        "studies.sql_command",
        "Ask a study by SQL. The query can reach no file and change no setting.",
        STUDIES,
    ),
    Command(
        "check",
        "studies.check_command",
        "Check that a study is still as it was written, and say what can be saved where it is not.",
        STUDIES,
    ),
    Command(
        "show",
        "games.show_command",
        "Draw a position in the terminal, and as SVG if asked: any position, or one of a study.",
        BOARDS,
    ),
    Command(
        "search",
        "positions.search_command",
        "Search a position: the best move, what it is worth, and the moves behind it.",
        BOARDS,
    ),
    Command(
        "mate",
        "positions.mate_command",
        "Look for a forced mate in which every move of the attacker is check (df-pn).",
        BOARDS,
    ),
    Command(
        "solve",
        "solutions.solve_command",
        "Let searches and engines solve problem sets: how many of how many, with what effort.",
        BOARDS,
    ),
    Command(
        "engine check",
        "engines.check_command",
        "Try an engine out: whether it keeps to its protocol, evaluates, moves legally and quits.",
    ),
    Command(
        "engine gtp",
        "as_engines.gtp_command",
        "Be a GTP engine: a GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "engine uci",
        "as_engines.uci_command",
        "Be a UCI engine: a chess GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "engine usi",
        "as_engines.usi_command",
        "Be a USI engine: a shogi GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "match",
        "matches.match_command",
        "Let players play a match, and say what is known and how surely.",
        MATCHES,
    ),
    Command(
        "ratings",
        "ratings.ratings_command",
        "Rate players from their games: Elo with 95 % intervals, draws, advantage of moving first.",
        MATCHES,
    ),
    Command(
        "ablate",
        "experiments.ablate_command",
        "Play each enhancement of a search against the search without it; a table with intervals.",
        MATCHES,
    ),
    Command(
        "perft",
        "games.perft_command",
        "Count the lines of exactly DEPTH moves: the classical test of rules and speed.",
        BOARDS,
    ),
    Command(
        "reproduce",
        "experiments.reproduce_command",
        "Repeat an experiment of the papers: our figures beside theirs, with intervals.",
    ),
    Command(
        "bench",
        "benchmarks.bench_command",
        "Measure rules, playouts and searches on one core, with a count for each job.",
    ),
)


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """All commands by name, and the one that the arguments call in full."""
    # Options before a command take no value, so that the first words are its name.
    called = [argument for argument in arguments if not argument.startswith("-")]
    program = typer.Typer(
        name="hyoka",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Hyoka (評価): find out where a game program's evaluation is wrong, mend it, and "
        "prove the gain on the board. Go, shogi, chess, Othello, Blokus Duo.",
        epilog="Start with: hyoka demo · hyoka match · hyoka records GAMES.pgn · hyoka show chess",
        callback=_options,
    )
    groups = {
        name: typer.Typer(help=text, no_args_is_help=True) for name, (text, _) in GROUPS.items()
    }
    for command in COMMANDS:
        *group, name = command.words
        add_to = groups[group[0]] if group else program
        if called[: len(command.words)] == command.words:
            add_to.command(name, rich_help_panel=command.panel)(command.load())
        else:
            add_to.command(name, help=command.help, rich_help_panel=command.panel)(_not_called)
    for name, commands in groups.items():
        program.add_typer(commands, name=name, rich_help_panel=GROUPS[name][1])
    return program


def _not_called() -> None:
    """Stand for a command that is only listed."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyoka {hyoka.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
