# SPDX-License-Identifier: Apache-2.0
"""All commands by name; only the called one is imported."""

import ast
import importlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import typer
import typer.main

import hyoka
from hyoka.apps.cli.output_files import checked

STUDIES: Final = "Records and studies"
WORTH: Final = "What a study's evaluations are worth"
LEARNING: Final = "Improvement and learning"
BOARDS: Final = "Positions and searches"
MATCHES: Final = "Matches and engines"
GROUPS: Final = {
    "engine": ("Engines: try one out, or be one in a GUI or a match.", MATCHES),
    "book": ("Opening books: make one from records, and show one.", BOARDS),
    "learn": (
        "Learn from games: evaluations, objectives, networks, a prior, a ranking of moves.",
        LEARNING,
    ),
}
"""Groups of commands, with their help and panel."""


class Command(NamedTuple):
    """A command in the help; a group's commands have names such as `engine check`."""

    name: str
    place: str  # module.function in this package
    help: str  # the first line of the function's docstring
    panel: str | None = None  # the heading in the help; None for commands in a group

    @property
    def words(self) -> list[str]:
        """The words of the command."""
        return self.name.split()

    def load(self) -> Callable[..., Any]:
        """Import the function and add the checks of numbers and outputs."""
        module, function = self.place.split(".")
        found: Callable[..., Any] = getattr(
            importlib.import_module(f"hyoka.apps.cli.{module}"), function
        )
        return checked(found)


COMMANDS: Final = (
    Command(
        "demo",
        "workflow_commands.demo_command",
        "The main job on sample records: evaluate, measure, find what is wrong, draw the report.",
    ),
    Command(
        "samples",
        "workflow_commands.samples_command",
        "Copy the sample records that come with Hyoka: games of its own players.",
    ),
    Command(
        "studio",
        "workflow_commands.studio_command",
        "Open the laboratory in a browser: boards, studies, matches, runs, all in one folder.",
    ),
    Command(
        "records",
        "record_commands.records_command",
        "Read game records: SGF, PGN, CSA, KIF, KI2, USI lines, WTHOR, blksgf.",
        STUDIES,
    ),
    Command(
        "convert",
        "record_commands.convert_command",
        "Write records in another notation of the same game, e.g. KIF files into one CSA file.",
        STUDIES,
    ),
    Command(
        "columns",
        "study_commands.columns_command",
        "List the columns that describe a game's positions, or all that a study has for "
        "conditions.",
        STUDIES,
    ),
    Command(
        "positions",
        "report_commands.positions_command",
        "Write a study's positions with results and evaluations: tables, EPD, data for trainers.",
        STUDIES,
    ),
    Command(
        "evaluate",
        "study_commands.evaluate_command",
        "Evaluate a study's positions; interrupted, the same command goes on where it stopped.",
        STUDIES,
    ),
    Command(
        "report",
        "report_commands.report_command",
        "Write a study's report: what its evaluators are worth, and where they are wrong.",
        STUDIES,
    ),
    Command(
        "analyse",
        "analyze_commands.analyze_command",
        "Summarize evaluators: metrics, and the shape of their curves.",
        WORTH,
    ),
    Command(
        "curves",
        "analyze_commands.curves_command",
        "Evaluation curves: the win probability by evaluation, with bands by games.",
        WORTH,
    ),
    Command(
        "metrics",
        "analyze_commands.metrics_command",
        "How well evaluators tell wins from losses: ACC, FSC, LFT, ROC, APR, BEP, τ, E(v) and "
        "more.",
        WORTH,
    ),
    Command(
        "gaps",
        "analyze_commands.gaps_command",
        "How far the curves of parts lie from the curve of all positions, with tests by games.",
        WORTH,
    ),
    Command(
        "splits",
        "analyze_commands.slices_command",
        "Search all columns for the conditions where evaluations are wrong, the worst first.",
        WORTH,
    ),
    Command(
        "compare",
        "analyze_commands.compare_command",
        "Differences of the first evaluator to the others on the same positions, with intervals.",
        WORTH,
    ),
    Command(
        "disagreements",
        "analyze_commands.disagreements_command",
        "Where the first two evaluators differ most, and which of them was right.",
        WORTH,
    ),
    Command(
        "calibrate",
        "analyze_commands.calibrate_command",
        "Score → win probability: the scores for 50%, 75% and 90%, K, and the fitted constants.",
        WORTH,
    ),
    Command(
        "wdl",
        "analyze_commands.wdl_command",
        "Win, draw and loss by score and move number: Stockfish's WDL model, with intervals.",
        WORTH,
    ),
    Command(
        "improve",
        "workflow_commands.improve_command",
        "Find where an evaluation is wrong, name the terms, fit them, and prove the gain on the "
        "board.",
        LEARNING,
    ),
    Command(
        "terms",
        "model_commands.terms_command",
        "The terms of a game's evaluation, what each counts, and its weights.",
        LEARNING,
    ),
    Command(
        "model",
        "model_commands.model_show_command",
        "Show what a model file holds and how it was made.",
        LEARNING,
    ),
    Command(
        "learn weights",
        "weight_commands.weights_command",
        "Fit weights of an evaluation to the results of a study's games, and say what it changes.",
    ),
    Command(
        "learn prior",
        "rating_commands.prior_command",
        "Fit what an evaluation is worth to UCT on self-play: its sigmoid's scale and its weight.",
    ),
    Command(
        "learn mets",
        "move_model_commands.mets_command",
        "Grow a tree over the stones around a point that ranks moves (METS; Go, Othello).",
    ),
    Command(
        "learn strengths",
        "move_model_commands.strengths_command",
        "Learn how strong moves are by their features (Bradley-Terry), and say how well that does.",
    ),
    Command(
        "learn comparison",
        "evaluation_commands.comparison_command",
        "Learn an evaluation from the moves and results of games (comparison training).",
    ),
    Command(
        "learn scores",
        "evaluation_commands.scores_command",
        "Fit an evaluation to what a stronger evaluator says of a study's positions.",
    ),
    Command(
        "learn objective",
        "objective_commands.objective_command",
        "Evolve what comparison training makes small, for the strength of what it trains (PBILc).",
    ),
    Command(
        "learn perceptrons",
        "network_commands.perceptrons_command",
        "Learn win rates of Blokus Duo from searches: patterns into a network a ply (Nakamura "
        "2007).",
    ),
    Command(
        "learn network",
        "network_commands.network_command",
        "Learn a network from games: what positions are worth, and which moves.",
    ),
    Command(
        "learn selfplay",
        "network_commands.selfplay_command",
        "Make a player from the rules alone: play, learn a network, prove the gain, again.",
    ),
    Command(
        "learn combined",
        "move_model_commands.combined_command",
        "Make one move model of several: learn how much each should count.",
    ),
    Command(
        "features",
        "move_model_commands.features_command",
        "The features of a game's moves, by which they have strengths, and what each means.",
        LEARNING,
    ),
    Command(
        "book make",
        "model_commands.make_command",
        "Make an opening book from game records: by position, how often each move was played.",
    ),
    Command(
        "book show",
        "model_commands.show_command",
        "Show what an opening book knows: the moves of a position, with how often they were "
        "played.",
    ),
    Command(
        "predict",
        "move_model_commands.predict_command",
        "How often a move model ranks the move played first, or among the n best.",
        LEARNING,
    ),
    Command(
        "playouts",
        "solve_commands.playouts_command",
        "Measure playouts: predicted moves, games that end, playouts a second.",
        BOARDS,
    ),
    Command(
        "rank",
        "study_commands.rank_command",
        "Keep how a move model ranks the moves played, as columns to split a study's curves by.",
        STUDIES,
    ),
    Command(
        "categorise",
        "study_commands.categorize_command",
        "Keep how far, how restless and how hard positions are, as columns to split curves by.",
        STUDIES,
    ),
    Command(
        "adjudicate",
        "study_commands.adjudicate_command",
        "Store what exact methods know of positions beside the records' results.",
        STUDIES,
    ),
    Command(
        "sql",
        "study_commands.sql_command",
        "Ask a study by SQL. The query can reach no file and change no setting.",
        STUDIES,
    ),
    Command(
        "check",
        "study_commands.check_command",
        "Check that a study is still as it was written, and say what can be saved where it is not.",
        STUDIES,
    ),
    Command(
        "show",
        "position_commands.show_command",
        "Draw a position in the terminal, and as SVG if asked: any position, or one of a study.",
        BOARDS,
    ),
    Command(
        "search",
        "position_commands.search_command",
        "Search a position: the best move, what it is worth, and the moves behind it.",
        BOARDS,
    ),
    Command(
        "mate",
        "position_commands.mate_command",
        "Look for a forced mate in which every move of the attacker is check (df-pn).",
        BOARDS,
    ),
    Command(
        "solve",
        "solve_commands.solve_command",
        "Let searches and engines solve problem sets: how many of how many, with what effort.",
        BOARDS,
    ),
    Command(
        "engine check",
        "engine_commands.check_command",
        "Try an engine out: whether it keeps to its protocol, evaluates, moves legally and quits.",
    ),
    Command(
        "engine gtp",
        "engine_commands.gtp_command",
        "Be a GTP engine: a GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "engine uci",
        "engine_commands.uci_command",
        "Be a UCI engine: a chess GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "engine usi",
        "engine_commands.usi_command",
        "Be a USI engine: a shogi GUI or a match runner starts this command and talks to it.",
    ),
    Command(
        "match",
        "match_commands.match_command",
        "Let players play a match, and report the score with its uncertainty.",
        MATCHES,
    ),
    Command(
        "ratings",
        "rating_commands.ratings_command",
        "Rate players from their games: Elo with 95 % intervals, draws, advantage of moving first.",
        MATCHES,
    ),
    Command(
        "ablate",
        "experiment_commands.ablate_command",
        "Play each enhancement of a search against the search without it; a table with intervals.",
        MATCHES,
    ),
    Command(
        "perft",
        "position_commands.perft_command",
        "Count the lines of exactly DEPTH moves: the classical test of rules and speed.",
        BOARDS,
    ),
    Command(
        "reproduce",
        "experiment_commands.reproduce_command",
        "Repeat an experiment of the papers: our figures beside theirs, with intervals.",
    ),
    Command(
        "bench",
        "workflow_commands.bench_command",
        "Measure rules, playouts and searches on one core, with a count for each job.",
    ),
)


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """Build the command line with full options for the called command only."""
    # Options before a command take no value, so its name is the first words.
    called = [argument for argument in arguments if not argument.startswith("-")]
    program = typer.Typer(
        name="hyoka",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Hyoka (評価): find out where a game program's evaluation is wrong, fix it, and "
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
    """A placeholder for commands that are only listed."""


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


_NAMED: Final = re.compile(
    r"""`(?P<name>\w+)(?:=(?P<value>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^`'"]+))?`"""
)
"""The format of `hyoka.foundation.errors.named`."""
_FUNCTIONS: Final = {"append_to_study": "append"}
"""Library functions that correspond to a command's option."""


def command_of(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the command in the arguments, and its options by parameter."""
    command, path = typer.main.get_command(command_line(arguments)), ["hyoka"]
    for word in arguments:
        known = getattr(command, "commands", {})
        if word not in known:
            break
        command = known[word]
        path.append(word)
    options = {
        parameter.name: max(parameter.opts, key=len)
        for parameter in command.params
        if parameter.name is not None and parameter.param_type_name == "option"
    }
    return " ".join(path), options


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Replace the parameters that a message names by a command's options.

    >>> in_options("say which with `by`, as `by='in check'`; not `other`", {"by": "--by"})
    "say which with --by, as --by 'in check'; not `other`"
    """

    def option(named: re.Match[str]) -> str:
        name = _FUNCTIONS.get(named["name"], named["name"])
        if name not in options:
            return named.group()
        return " ".join([options[name], *_words(named["value"])])

    return _NAMED.sub(option, message)


def _words(value: str | None) -> list[str]:
    """Quote a parameter's value for a shell; a flag has none."""
    if value is None or value == "True":
        return []
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return [shlex.quote(value)]
    if isinstance(read, list | tuple):
        return [shlex.quote(",".join(map(str, read)))]
    return [shlex.quote(str(read))]
