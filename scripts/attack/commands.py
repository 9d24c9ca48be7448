# SPDX-License-Identifier: Apache-2.0
"""Attacks on the command line: every command, with one argument at a time made hostile.

    python scripts/attack/commands.py [--share F] [--seed S] [--sample N] [--only "COMMAND"]

The tree of commands is walked, so that a new command is attacked once it is listed. Inputs
are missing, folders, binary, empty, devices, of another kind or endless loops of links; outputs are
files of others, folders, and places where nothing can be written; each input is given as each
output as well (by name, by links, inside of an input folder); numbers are negative, infinite, none,
or far too large; texts are empty, long, or no UTF-8. No command may end in a traceback, end with 0
after a failure, or change a file that is not its own. `--share` tries this share of the attacks,
drawn by the seed, but at least one on each parameter and on each pair of an input and an output.
Ends with 1 if anything failed.

Each attempt runs in a fork of a process that has imported everything: that takes milliseconds. An
attempt that is still at work when its time is up was not refused, and is not judged, except where
it must be refused before the work: then it gets a minute.
"""

import argparse
import contextlib
import gc
import importlib
import inspect
import io
import os
import pkgutil
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest import mock

import typer.main
import typer.models

from hyoka.apps import cli
from hyoka.apps.cli.command_options import Output, OutputFolder, output_of
from hyoka.apps.cli.command_table import COMMANDS, Command, command_line, command_of
from hyoka.study.evaluating import evaluate

PRECIOUS: Final = b"precious: not written by Hyoka\n"
BINARY: Final = bytes(range(256)) * 8
CPU_S: Final = 1.0
"""Processor time of an attempt; one that must be refused gets more."""
PATIENT_S: Final = 60.0
MEMORY: Final = 8 << 30
ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Read when NumPy is imported: forks of a process with threads of its own would wait for them."""
BUSY: Final = -1
"""The status of an attempt that was still at work."""
TRACEBACK: Final = 70

WHOLE: Final = [
    "1.5",
    "nan",
    "-1",
    "0",
    str(2**31),
    str(2**32),
    str(2**63 - 1),
    str(2**63),
    "9" * 23,
    "9" * 5000,
]
REAL: Final = ["-1", "0", "nan", "inf", "-inf", "1e309", "1e308", "1e-320", "9" * 400]
TOO_LARGE: Final = {
    str(2**63), "9" * 23, "9" * 5000, "9" * 400, "nan", "inf", "-inf", "1e309"
}  # fmt: skip
"""Numbers that no option takes."""
TEXTS: Final = [
    "",
    " ",
    "-",
    ",",
    "=",
    "x" * 300,
    "%s%n{0}",
    "\x1b[31m",
    "\udcff",
    "nan",
    "-1",
    "9" * 23,
    "a'b",
    "/dev/null",
    "folder",
    "missing/file",
]
SPECS: Final = [
    "ab:depth=-1",
    "ab:nodes=" + "9" * 23,
    "uct:playouts=1e309",
    "uct:playouts=nan",
    "uct:c=inf",
    "mc:playouts=",
    "ab:eval=missing.eval",
    "ab:eval=binary",
    "ab:eval=folder",
    "uct:book=empty",
    "uct:strengths=records.txt",
    "uci:missing-engine",
    "table:binary",
    "::::",
]
INPUTS: Final = [
    "missing.sgf",
    "missing/file.sgf",
    "records.txt/file",
    "folder",
    "binary",
    "empty",
    "/dev/null",
    "loop",
    "x" * 300,
    "",
    "study",
    "model.json",
    "precious.txt",
]
NOTHING: Final = {*INPUTS} - {"", "folder", "study", "model.json"}
"""Inputs of which nothing can be read."""
READ_WHOLE: Final = {
    "STUDY", "[STUDY]", "FILES...", "RECORDS…", "[RECORDS…]", "RECORDS|STUDY…", "SUITE",
}  # fmt: skip
"""Parameters that name nothing but files to be read."""
NAMING_SPECS: Final = ("SPEC", "SEARCH", "PLAYER", "EVALUATOR")
DEFAULT: Final = {
    "STUDY": "study",
    "[STUDY]": "study",
    "GAME": "othello",
    "GAME|STUDY": "othello",
    "FILES...": "records.txt",
    "RECORDS…": "records.txt",
    "RECORDS|STUDY…": "records.txt",
    "QUERY": "select count(*) from games",
    "DEPTH": "2",
    "SUITE": "suite.epd",
    "CMD": "gtp:false",
    "FEATURES": "features.csv",
    "EXPERIMENT": "000-table3",
    "FILE": "model.json",
}
"""Values of required parameters, by what help calls them."""
MATE: Final = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
BASE: Final = {
    "demo": ["--output", "demo", "--jobs", "1", "--sample", "1"],
    "studio": ["folder", "--no-browser", "--port", "0"],
    "records convert": ["records.txt", "-o", "out.sgf"],
    "study create": ["made", "records.txt"],
    "study append": ["study", "records.txt"],
    "study export": ["study", "-o", "out.csv", "-e", "mc:playouts=2"],
    "study evaluate": ["study", "--with", "mc:playouts=2", "--sample", "1"],
    "report": ["study", "--resamples", "0", "--slices", "0"],
    "analyze gaps": ["study", "--by", "ply"],
    "analyze slices": ["study", "-e", "ab:depth=1"],
    "improve": ["study", "--games", "2", "--sample", "1", "--jobs", "1"],
    "learn calibration": ["study", "-e", "ab:depth=1", "--min-games", "1"],
    "learn weights": ["study", "--term", "mobility"],
    "learn offsets": ["study", "-e", "ab:depth=1", "--column", "mobility"],
    "learn tune": ["features.csv"],
    "learn prior": ["uct:preset=paper,playouts=2", "--visits", "0,1", "-n", "2", "--jobs", "1"],
    "learn mets": ["records.txt", "--min-patterns", "10"],
    "learn strengths": ["records.txt", "--positions", "50"],
    "learn comparison": ["records.txt", "--positions", "20", "--passes", "1", "-j", "1"],
    "learn scores": ["study", "--evaluator", "ab:depth=1", "--steps", "1"],
    "learn objective": ["records.txt", "--positions", "20", "--steps", "1", "--jobs", "1"],
    "learn perceptrons": ["study", "--epochs", "1", "--jobs", "1"],
    "learn network": ["records.txt", "--epochs", "1", "--jobs", "1"],
    "learn selfplay": ["othello", "--games", "1", "--generations", "1", "--jobs", "1"],
    "learn combine": ["-m", "model.json", "-m", "model.json", "records.txt"],
    "book make": ["records.txt", "-o", "out.book"],
    "book show": ["book.book"],
    "model predict": ["-m", "model.json", "records.txt", "--all", "--resamples", "1"],
    "position playouts": ["othello", "records.txt", "--count", "5"],
    "study annotate": ["study", "--model", "model.json"],
    "study adjudicate": ["study", "--where", "ply > 58"],
    "position show": ["othello"],
    "position search": ["othello", "--with", "ab:depth=1"],
    "position mate": ["shogi", "--position", MATE, "--nodes", "10", "--hash", "1"],
    "solve": ["suite.epd", "--with", "ab:depth=1"],
    "match run": ["mc:playouts=1", "uct:playouts=1", "--game", "othello", "--games", "2"],
    "match ablate": ["uct:preset=paper", "--games", "2", "--playouts", "1", "--time", "0"],
    "match ratings": ["games.sgf"],
    "experiment run": ["000-table3", "--jobs", "1"],
    "bench": ["othello", "--rounds", "1"],
}
"""Arguments with which a command does little; of others the required ones are given."""
CHANGES_STUDIES: Final = {
    "study append", "study columns", "study evaluate", "report", "study adjudicate",
    "study annotate", "study verify",
}  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """Words of a command line, and what must come of them."""

    words: list[str]
    what: str
    refused: bool
    """Whether it must end with an error."""
    because: str = ""
    """A pattern of what the error must say."""


@dataclass
class Tally:
    """What was tried, and what went wrong."""

    tried: int = 0
    busy: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command as its command line has it."""

    name: str
    word: str | None
    """The option's name; None for an argument."""
    types: frozenset[Any]
    metavar: str
    is_flag: bool
    required: bool
    output: Output | OutputFolder | None

    @classmethod
    def all_of(cls, command: Command) -> "list[Parameter]":
        """The parameters of a command, without the help."""
        built = typer.main.get_command(command_line(command.words))
        for word in command.words:
            built = built.commands[word]  # type: ignore[attr-defined]
        declared = inspect.signature(command.load()).parameters
        found = []
        for each in built.params:
            if each.name not in declared:
                continue
            is_option = each.param_type_name == "option"
            found.append(
                cls(
                    each.name,
                    max(each.opts, key=len) if is_option else None,
                    frozenset(_types(declared[each.name].annotation)),
                    getattr(each, "metavar", None) or "",
                    bool(getattr(each, "is_flag", False)),
                    each.required,
                    output_of(declared[each.name]),
                )
            )
        return found

    @property
    def names_files(self) -> bool:
        """Whether its value is a file or a folder to be read."""
        words = ("FILE", "RECORDS", "STUDY", "SUITE", "FOLDER", "OPENINGS")
        return self.output is None and (
            Path in self.types or any(word in self.metavar for word in words)
        )

    @property
    def names_specs(self) -> bool:
        """Whether its value may be a spec, which may name files."""
        return any(word in self.metavar for word in NAMING_SPECS)


def _types(annotation: Any) -> Iterator[Any]:
    yield annotation
    inner = getattr(annotation, "__args__", ())
    for each in inner:
        yield from _types(each)


def base_words(command: Command, parameters: Sequence[Parameter]) -> list[str]:
    """Arguments with which a command works."""
    if command.name in BASE:
        words = list(BASE[command.name])
    else:
        words = []
        for each in parameters:
            if each.required:
                value = "out.csv" if each.output is not None else DEFAULT[each.metavar]
                words += [value] if each.word is None else [each.word, value]
    game = next((each for each in parameters if each.name == "game" and each.required), None)
    if game is not None and game.word is not None and game.word not in words:
        words += [game.word, "othello"]
    return words


def replaced(
    command: Command,
    parameters: Sequence[Parameter],
    parameter: Parameter,
    value: str,
    words: Sequence[str] | None = None,
) -> list[str]:
    """Arguments, by default the base's, with another value of a parameter."""
    words = base_words(command, parameters) if words is None else words
    if parameter.word is not None:
        return [f"{parameter.word}={value}", *_without(words, parameter, parameters)]
    places = [each for each in parameters if each.word is None]
    index = places.index(parameter)
    options: list[str] = []
    arguments: list[str] = []
    waiting = iter(words)
    for word in waiting:
        option = _option(word, parameters)
        if word == "--":
            arguments += waiting
        elif option is None:
            arguments.append(word)
        else:
            options += [word] if option.is_flag else [word, next(waiting)]
    arguments = [*arguments[:index], value, *arguments[index + 1 :]]
    return [*options, "--", *arguments]


def _option(word: str, parameters: Sequence[Parameter]) -> Parameter | None:
    if not word.startswith("-") or word == "-":
        return None
    return next((each for each in parameters if each.word and _is_called(each, word)), FLAG)


def _is_called(parameter: Parameter, word: str) -> bool:
    shorts = {"-o": "output", "-e": "evaluator", "-n": "games", "-j": "threads", "-m": "model"}
    return word in (parameter.word, f"-{(parameter.word or '')[2:3]}") or (
        shorts.get(word, "?") in (parameter.word or "")
    )


FLAG: Final = Parameter("", "--", frozenset(), "", True, False, None)


def _without(
    words: Sequence[str], parameter: Parameter, parameters: Sequence[Parameter]
) -> list[str]:
    """Words without those of an option."""
    kept, waiting = [], iter(words)
    for word in waiting:
        option = _option(word, parameters)
        if option is None or option is FLAG:
            kept.append(word)
        elif option == parameter:
            next(waiting)
        else:
            kept += [word] if option.is_flag else [word, next(waiting)]
    return kept


def attacks_on(command: Command) -> dict[str, list[Attack]]:
    """What is tried on each parameter of a command, and on each pair of an input and an output."""
    parameters = Parameter.all_of(command)
    attacks = {
        each.name: list(_attacks(command, parameters, each))
        for each in parameters
        if not each.is_flag
    }
    return attacks | {
        f"{read.name} as {written.name}": list(_pair_attacks(command, parameters, read, written))
        for read, written in inputs_and_outputs(parameters)
    }


def inputs_and_outputs(parameters: Sequence[Parameter]) -> list[tuple[Parameter, Parameter]]:
    """All pairs of a parameter that may name a file to be read and one that names an output.

    An output folder is paired with those that may name a folder.
    """
    return [
        (read, written)
        for written in parameters
        for read in parameters
        if written.output is not None
        and read.output is None
        and (read.names_files or read.names_specs)
        and (isinstance(written.output, Output) or (_values_of(read).keys() & FOLDERS))
    ]


READ: Final = {
    "STUDY": "study",
    "RECORDS": "records.txt",
    "FILES...": "records.txt",
    "FOLDER": "records",
    "FEATURES": "features.csv",
    "SUITE": "suite.epd",
    "OPENINGS": "records.txt",
    "FILE": "model.json",
    "EVALUATOR": "ab:eval=model.json",
    "SPEC": "ab:eval=model.json",
    "SEARCH": "uct:strengths=model.json",
    "PLAYER": "ab:eval=model.json",
}
"""What an input may name, by words of its metavar."""
FOLDERS: Final = {"study", "records"}
FILES_IN: Final = {
    "study": ["study/study.toml", "study/games/part-000000.parquet"],
    "records": ["records/records.txt"],
    "records.txt": ["records.txt", "./records.txt", "hard-records.txt"],
}
"""Files by which an input is overwritten."""
READ_THIS: Final = r"the command reads this (file|folder)|choose a new folder|name a folder"


def _values_of(parameter: Parameter) -> dict[str, str]:
    """Values of an input, and the file or folder that each names."""
    values = [value for word, value in READ.items() if word in parameter.metavar]
    if "FILE[" in parameter.metavar:
        values = ["records.txt"]
    if parameter.metavar in ("FILES...", "RECORDS…"):
        values.append("records")
    return {value: value.partition("=")[2] or value for value in values}


def _pair_attacks(
    command: Command, parameters: Sequence[Parameter], read: Parameter, written: Parameter
) -> Iterator[Attack]:
    """An input that is given as an output as well."""

    def attack(value: str, output: str, *more: str) -> Attack:
        words = replaced(command, parameters, written, output)
        words = replaced(command, parameters, read, value, words)
        named = f"{read.word or read.metavar} {value} as {written.word or written.metavar} {output}"
        return Attack([*command.words, *more, *words], named, True, READ_THIS)

    for value, source in _values_of(read).items():
        if isinstance(written.output, OutputFolder):
            yield attack(value, source)
            yield attack(value, f"soft-{source}")
            continue
        for ending in endings_of(command, written):
            yield attack(value, f"read-{source}-{ending}", "--force")
        for name in FILES_IN.get(source, [source]):
            if endings_of(command, written) == ("",) or name.endswith(endings_of(command, written)):
                yield attack(value, name, "--force")


def _attacks(
    command: Command, parameters: Sequence[Parameter], parameter: Parameter
) -> Iterator[Attack]:
    def attack(value: str, *more: str, refused: bool = False) -> Attack:
        words = replaced(command, parameters, parameter, value)
        named = parameter.word or parameter.metavar or parameter.name
        shown = value if len(value) <= 40 else f"{value[:20]}… ({len(value)} characters)"
        return Attack([*command.words, *more, *words], f"{named} {shown!a}", refused)

    if isinstance(parameter.output, Output):
        yield from _output_attacks(command, parameter, attack)
    elif isinstance(parameter.output, OutputFolder):
        for value in ("precious.txt", "precious.txt/new", "/dev/null", "loop", "/proc/new/x"):
            yield attack(value, refused=True)
        for value in ("", "precious"):
            yield attack(value, refused=bool(parameter.output.mark))
    elif parameter.types & {int, float}:
        values = WHOLE if int in parameter.types else REAL
        for value in values:
            yield attack(value, refused=value in TOO_LARGE)
        for value in ("x", ""):
            yield attack(value, refused=True)
    else:
        for value in INPUTS if parameter.names_files else []:
            missing = value.startswith("missing") and Path in parameter.types
            nothing = value in NOTHING and parameter.metavar in READ_WHOLE
            yield attack(value, refused=missing or nothing)
        for value in [*TEXTS, *(SPECS if parameter.names_specs else [])]:
            yield attack(value)


def _output_attacks(
    command: Command,
    parameter: Parameter,
    attack: Callable[..., Attack],
) -> Iterator[Attack]:
    """Outputs that must be refused, whatever they are called."""
    assert isinstance(parameter.output, Output)
    for ending in endings_of(command, parameter):
        yield attack(f"precious{ending}", refused=True)
        yield attack(f"link{ending}", refused=True)
        yield attack(f"folder/new{ending}/x{ending}", refused=True)
        yield attack(f"missing/x{ending}", refused=True)
    for value in ("folder", "loop", "/proc/x", "x" * 300, "", "precious.txt/x"):
        yield attack(value, refused=True)


def endings_of(command: Command, parameter: Parameter) -> tuple[str, ...]:
    """The endings of names that an output may have; an empty one if it may have any."""
    assert isinstance(parameter.output, Output)
    named = TABLES if parameter.word == "--curves" else ENDINGS_OF.get(command.name, ("",))
    return parameter.output.endings or named


TABLES: Final = (".csv", ".html", ".parquet")
ENDINGS_OF: Final = {
    "records convert": (".sgf", ".txt", ".pgn"),
    "study export": (".csv", ".parquet", ".json", ".txt"),
    "learn calibration": (".json",),
    "learn weights": (".json", ".h"),
    "learn offsets": (".json", ".h"),
    "learn tune": (".json", ".h", ".csv"),
    "analyze curves": (".csv", ".parquet", ".json", ".html", ".png", ".svg"),
    "analyze wdl": (".h", ".py", ".json"),
} | dict.fromkeys(
    (
        *("analyze metrics", "analyze gaps", "analyze slices", "analyze compare"),
        *("analyze disagreements", "analyze calibrate", "analyze accuracy", "analyze reliability"),
    ),
    TABLES,
)


class Ground:
    """A folder with everything that commands read, and files that nobody may change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._prepare()
        self._before = self._state()
        self._study = folder.with_name(f"{folder.name}-study")
        shutil.copytree(folder / "study", self._study)

    def _prepare(self) -> None:
        here = self.folder
        for name in ("folder", "precious"):
            (here / name).mkdir()
        (here / "binary").write_bytes(BINARY)
        (here / "empty").write_bytes(b"")
        (here / "loop").symlink_to("loop")
        (here / "precious" / "report.html").write_bytes(PRECIOUS)
        (here / "suite.epd").write_text('6k1/5ppp/8/8/8/8/8/R6K w - - bm Ra8#; id "mate";\n')
        game = "(;GM[1]SZ[9]PB[{}]PW[{}]RE[{}+R];B[ee];W[cc])"
        games = [game.format("one", "two", "B"), game.format("two", "one", "B")]
        (here / "games.sgf").write_text("\n".join(games))
        # In a fork: threads that work here would be missing in later forks.
        status, said = forked(lambda: _prepare_data(here), here, PATIENT_S)
        if status != 0:
            raise RuntimeError(f"the ground can't be prepared: {said}")
        endings = {ending for command in COMMANDS for ending in _endings(command)} | {
            ".txt",
            ".sgf",
            "",
        }
        for ending in endings:
            (here / f"precious{ending}" if ending else here / "precious-file").write_bytes(PRECIOUS)
            (here / f"link{ending}").symlink_to(f"precious{ending}" if ending else "precious-file")
        (here / "records").mkdir()
        shutil.copy(here / "records.txt", here / "records")
        for name in ("records.txt", "model.json", "features.csv", *FOLDERS):
            (here / f"soft-{name}").symlink_to(name)
            for ending in endings:
                (here / f"read-{name}-{ending}").symlink_to(FILES_IN.get(name, [name])[0])
        (here / "hard-records.txt").hardlink_to(here / "records.txt")

    def changed(self, command: Command) -> list[str]:
        """What an attempt changed of what was there, after which all is as it was before."""
        now = self._state()
        changed = [name for name, state in self._before.items() if now.get(name) != state]
        for name in sorted(now.keys() - self._before.keys(), reverse=True):
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if any(name == "study" or name.startswith("study/") for name in changed):
            shutil.rmtree(self.folder / "study")
            shutil.copytree(self._study, self.folder / "study")
            if command.name in CHANGES_STUDIES:
                changed = [name for name in changed if not name.startswith("study")]
            self._before |= {k: v for k, v in self._state().items() if k.startswith("study")}
        return changed

    def _state(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for folder, folders, names in os.walk(self.folder):
            for name in [*folders, *names]:
                path = Path(folder, name)
                status = path.lstat()
                state = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)
                relative = str(path.relative_to(self.folder))
                found[relative] = status.st_mode if path.is_dir() else state
        return found


def _endings(command: Command) -> set[str]:
    declared = inspect.signature(command.load()).parameters.values()
    marks = [mark for each in declared if isinstance(mark := output_of(each), Output)]
    return {ending for mark in marks for ending in mark.endings} | set(
        ENDINGS_OF.get(command.name, ())
    )


def _prepare_data(here: Path) -> int:
    """Records, a study with two evaluators, models and a book: of games of chance."""
    import hyoka as hk  # noqa: PLC0415

    draw = random.Random(5)
    lines = []
    for _ in range(20):
        line = hk.Othello().line()
        moves = []
        while line.outcome is None:
            move = draw.choice(line.legal_moves)
            moves.append(str(move))
            line = line.play(move)
        lines.append("".join(move for move in moves if move != "pass"))
    (here / "records.txt").write_text("\n".join(lines) + "\n")
    hk.Study.create(here / "study", here / "records.txt")
    rows = [f"{g},{(g + p) % 2},{p * g % 7 - 3},{p}" for g in range(20) for p in range(9)]
    (here / "features.csv").write_text("\n".join(["game_id,result,pawn,pair", *rows]) + "\n")
    study = hk.Study.open(here / "study")
    evaluate(study, ["ab:depth=1", "mc:playouts=2"], sample=2)
    for words in (
        ["learn", "strengths", "records.txt", "--positions", "50", "-o", "model.json", "-q"],
        ["book", "make", "records.txt", "-o", "book.book", "-q"],
    ):
        if status := cli.run(words):
            return status
    return 0


def forked(work: Callable[[], int], folder: Path, cpu_s: float) -> tuple[int, str]:
    """The status of work in a fork, and what it printed; `BUSY` if its time was up."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            _become(work, folder, said.fileno(), cpu_s)
        status = _waited(child, cpu_s)
        said.seek(0)
        return status, said.read(1 << 20).decode(errors="replace")


def _become(work: Callable[[], int], folder: Path, said: int, cpu_s: float) -> None:
    """What a fork does; never returns."""
    status = TRACEBACK
    try:
        os.setsid()
        os.chdir(folder)
        # Not the address space, of which V8 (it draws charts) takes terabytes and uses little.
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
        sys.stdout = io.TextIOWrapper(
            io.FileIO(1, "w", closefd=False), errors="replace", write_through=True
        )
        sys.stderr = sys.stdout
        status = work()
    except SystemExit as end:
        status = int(end.code or 0) if isinstance(end.code, int | None) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(status)


def _waited(child: int, cpu_s: float) -> int:
    """A fork's status; one that sleeps too long is ended."""
    end = time.monotonic() + 10 * cpu_s
    pause = 0.0005
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return BUSY
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it started and left behind
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return BUSY if number in (signal.SIGPROF, signal.SIGXCPU) else 128 + number
    return os.WEXITSTATUS(status)


def tried(attack: Attack, ground: Ground, cpu_s: float) -> tuple[int, str]:
    """The status of an attack, and what was printed."""
    status, said = forked(lambda: cli.run(attack.words), ground.folder, cpu_s)
    if status == BUSY and attack.refused:
        status, said = forked(lambda: cli.run(attack.words), ground.folder, PATIENT_S)
    return status, said


def wrong(attack: Attack, status: int, said: str, changed: Sequence[str]) -> str:
    """What is wrong with how an attack ended; nothing if all is well."""
    if "Traceback (most recent call last)" in said or status == TRACEBACK:
        return f"a traceback: {said[-800:]}"
    if status > 128 and status != 130:
        return f"ended by signal {status - 128}: {said[-300:]}"
    if changed:
        return f"changed {', '.join(changed[:3])}"
    if status not in (0, BUSY) and not said.strip():
        return f"status {status} without a word"
    return _not_refused(attack, status, said) if attack.refused else ""


def _not_refused(attack: Attack, status: int, said: str) -> str:
    if status in (0, BUSY):
        return "was not refused" if status == 0 else "was not refused before the work"
    if not re.search(attack.because, " ".join(said.split())):
        return f"refused for another reason: {said.strip()[-300:]}"
    return ""


@contextlib.contextmanager
def built(command: Command) -> Iterator[None]:
    """Let `cli.run` take this command as it was built here: to build it takes most time."""
    program = typer.main.get_command(command_line(command.words))
    described = command_of(command.words)
    with mock.patch.multiple(cli, command_line=lambda _: program, command_of=lambda _: described):
        yield


def import_everything() -> None:
    """All modules of the program, so that forks begin with them."""
    import hyoka as package  # noqa: PLC0415

    for module in pkgutil.walk_packages(package.__path__, "hyoka."):
        if module.name.endswith("__main__"):
            continue
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)
    for command in COMMANDS:
        command.load()
    with contextlib.redirect_stderr(io.StringIO()):
        cli.run(["book", "show", "missing"])  # Typer imports more when it is used first
    gc.freeze()  # forks need not look through it


def chosen(command: Command, share: float, seed: int) -> list[Attack]:
    """A share of the attacks on a command, but at least one on each parameter."""
    found = []
    for name, attacks in attacks_on(command).items():
        draw = random.Random(f"{seed} {command.name} {name}")
        count = max(1, round(share * len(attacks)))
        found += draw.sample(attacks, min(count, len(attacks)))
    return found


class Walk:
    """Attacks on commands, and what came of them."""

    def __init__(self, ground: Ground, cpu_s: float, *, verbose: bool) -> None:
        self.tally = Tally()
        self._ground = ground
        self._cpu_s = cpu_s
        self._verbose = verbose

    def attack(self, command: Command, attacks: Sequence[Attack]) -> None:
        """Run a command as it should be, then attack it."""
        words = base_words(command, Parameter.all_of(command))
        base = Attack([*command.words, *words], "as it should be", refused=False)
        for attack in [base, *attacks]:
            with built(command):
                status, said = tried(attack, self._ground, self._cpu_s)
            problem = wrong(attack, status, said, self._ground.changed(command))
            if attack is base and status not in (0, BUSY) and command.name not in MAY_FAIL:
                problem = problem or f"does not work at all: {said[-300:]}"
            self.tally.tried += 1
            self.tally.busy += status == BUSY
            if self._verbose:
                print(f"{command.name:18} {attack.what:50} {status:4} {said.strip()[-150:]!r}")
            if problem:
                self.tally.failures.append(f"hyoka {command.name}: {attack.what}: {problem}")
                print(f"FAILED {self.tally.failures[-1]}", flush=True)


MAY_FAIL: Final = {
    "engine check", "learn network", "learn selfplay", "learn perceptrons", "experiment run",
}  # fmt: skip
"""Commands that need an engine, PyTorch or records: what they say without is tested as well."""


def main() -> None:
    """Walk the commands, and print what went wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, help="number of commands, drawn by the seed")
    parser.add_argument("--only", choices=[command.name for command in COMMANDS])
    parser.add_argument("--cpu", type=float, default=CPU_S, help="seconds of an attempt")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    if any(os.environ.get(name) != count for name, count in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    import_everything()
    names = {command.name for command in COMMANDS}
    if unknown := {*BASE, *ENDINGS_OF, *CHANGES_STUDIES, *MAY_FAIL} - names:
        parser.error(f"this script names commands that are gone: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "ground")
        place.mkdir()
        ground = Ground(place)
        walker = Walk(ground, given.cpu, verbose=given.verbose)
        commands = list(COMMANDS)
        if given.sample is not None:
            commands = random.Random(given.seed).sample(commands, given.sample)
        for command in commands:
            if given.only in (None, command.name):
                walker.attack(command, chosen(command, given.share, given.seed))
    tally = walker.tally
    used = sum(os.times()[:4])
    print(
        f"{tally.tried:,} command lines tried, {tally.busy:,} still at work when their time was "
        f"up, {len(tally.failures):,} failed; {used:.0f} s of processor time, seed {given.seed}"
    )
    sys.exit(bool(tally.failures))


if __name__ == "__main__":
    main()
