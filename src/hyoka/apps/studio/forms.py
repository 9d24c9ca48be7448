# SPDX-License-Identifier: Apache-2.0
"""Forms made of the commands themselves: a field an option, and the words that they stand for.

What a request fills in can reach only what the user has allowed: files in the folder, searches of
Hyoka, and engines by the names that the user gave them. Numbers of requests are read here and
nowhere else: Python refuses to convert very long digit strings (over 4,300 digits).
"""

import functools
import math
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args, get_origin

import typer
import typer.main
from starlette.convertors import Convertor, register_url_convertor

import hyoka as hk
from hyoka.agents.kinds import AGENT_KINDS, roles_of
from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder, FolderItem
from hyoka.foundation.errors import escape_control_chars
from hyoka.foundation.text import shorten
from hyoka.games import FACTS
from hyoka.search import KINDS, SearchSpec
from hyoka.search.settings import Setting, setting_named
from hyoka.storage.model_file import BUILT_IN, LEARNED, NETWORK, ModelFile

_NOT_HERE: Final = frozenset({"as_json", "quiet", "cluster_address", "fastchess"})
"""Fields that no form has: a run's words go to its log, its work is done on this machine, and the
command line of another program names engines to start."""
_SQL: Final = "SQL"
_PATHS: Final = re.compile(r"FILE|FOLDER|STUDY|RECORDS|MATCH|MODEL")
_SPECS: Final = re.compile(r"SPEC|PLAYER|SEARCH")
_PLAYER: Final = re.compile(r"(?P<name>[^\\=:@]+=)?(?P<engine>[^\\=:@\s]+)(?P<clock>@[\d./+b]*)?")
_ENGINE_WORD: Final = re.compile(r"(?:[^=:@]*=)?\s*([^=:@\s]*)")
"""The word that stands where an engine's name would."""
_BEFORE_COLONS: Final = re.compile(r"([^\s:=,;@()\[\]\"']*)\s*:")
_WILD: Final = re.compile(r"[*?\[]")
_MOST_DIGITS: Final = 15
_MOST_SHOWN: Final = 40
_TITLES: Final = {
    "evaluators": "evaluators",
    "sprt": "sequential test (SPRT)",
    "folder": "output folder",
    "output": "output file",
    "outputs": "output files",
    "to": "output folder",
    "where": "condition (SQL)",
    "sample": "positions of a game",
    "jobs": "parallel jobs",
    "threads": "parallel jobs",
    "hold_out": "share of held-out games",
    "max_plies": "longest game, in plies",
    "margin_s": "tolerance of clocks, in seconds",
    "time_s": "time of a search, in seconds",
    "calibrated_by": "calibration model",
    "tournament": "pairings",
    "adjudicate": "rules that end games early",
    "width": "units of the network",
    "rate": "learning rate",
    "force": "replace other files",
}
"""Titles of fields whose option says too little."""
_AT_FIRST: Final = frozenset(
    {"evaluators", "game", "games", "folder", "to", "output", "outputs", "sprt"}
)


@dataclass(frozen=True)
class Task:
    """A command as people call it."""

    group: str
    title: str
    run: str
    """Title of a run; `{field}` stands for what is filled in."""


_TASKS: Final = """
study evaluate:   Evaluate: Evaluate positions: Evaluate {study} by {evaluators}
report:           Evaluate: Write a study's report: Report on {study}
study adjudicate: Evaluate: Find exact results: Find exact results in {study}
study annotate:   Evaluate: Add columns about moves and difficulty: Add columns to {study}
match run:        Play: Play a match: Match {players}
match ablate:     Play: Measure the enhancements of a search: Enhancements of {search}
improve:          Improve: Improve an evaluation: Improve {evaluator} by {study}
learn weights:    Learn evaluations: Fit weights to results: Fit weights to {study}
learn tune:       Learn evaluations: Tune your engine's features: Tune the features of {features}
learn offsets:    Learn evaluations: Fit corrections of a score: Correct {evaluator} by {study}
learn calibration: Learn evaluations: Calibrate an evaluator: Calibrate {evaluator} by {study}
learn comparison: Learn evaluations: Train an evaluation by moves: Train by the moves of {sources}
learn scores:     Learn evaluations: Train by an evaluator's scores: Train by the scores of {study}
learn objective:  Learn evaluations: Search for an objective: Search for an objective with {sources}
learn perceptrons: Learn evaluations: Train perceptrons by ply: Train perceptrons with {sources}
learn network:    Learn networks: Train a network with games: Train a network with {sources}
learn selfplay:   Learn networks: Learn by self-play: Learn {game} by self-play
learn strengths:  Learn move models: Fit strengths of move features: Fit move strengths to {records}
learn mets:       Learn move models: Grow a pattern tree (METS): Grow a METS tree from {records}
learn prior:      Learn move models: Tune virtual visits: Tune virtual visits of {search}
learn combine:    Learn move models: Combine move models: Combine {models}
study create:     Records: Make a study from records: Make the study {study}
study append:     Records: Add records to a study: Add records to {study}
records samples:  Records: Copy the sample records: Copy the sample records to {to}
demo:             Records: Run the demo: Demo in {to}
experiment run:   Experiments: Run a paper's experiment: Experiment {name}
"""
TASKS: Final[Mapping[str, Task]] = {
    command.strip(): Task(group.strip(), title.strip(), run.strip())
    for command, group, title, run in (line.split(":", 3) for line in _TASKS.strip().splitlines())
}
"""The commands that are runs, as people call them."""
_MOST_NAMED: Final = 3
_LONGEST_TITLE: Final = 120


def task_title(command: str, values: Mapping[str, Sequence[str]]) -> str:
    r"""What a run does, for people.

    >>> task_title("study evaluate", {"study": ["go9"], "evaluators": ["uct:playouts=250"]})
    'Evaluate go9 by UCT, 250 playouts'
    >>> task_title("match run", {"players": ["new=ab:depth=3\nrandom"], "game": ["chess"]})
    'Match new – Random'
    >>> task_title("study evaluate", {})
    'Evaluate positions'
    """
    task = TASKS.get(command)
    if task is None:
        return shorten(escape_control_chars(command), _LONGEST_TITLE)
    names = re.findall(r"{(\w+)}", task.run)
    texts = {name: _named(name, values.get(name, ())) for name in names}
    if not all(texts.values()):
        known = [text for text in texts.values() if text]
        return shorten(": ".join([task.title, *known]), _LONGEST_TITLE)
    return shorten(task.run.format(**texts), _LONGEST_TITLE)


def _named(name: str, texts: Sequence[str]) -> str:
    """What is filled into a field, for people."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    if name in ("players", "evaluators", "evaluator", "search"):
        lines = [agent_title(line) for line in lines]
    elif name == "game":
        lines = [FACTS[line].title if line in FACTS else line for line in lines]
    if len(lines) > _MOST_NAMED:
        lines = [*lines[: _MOST_NAMED - 1], f"{len(lines) - _MOST_NAMED + 1} more"]
    return escape_control_chars((" – " if name == "players" else ", ").join(lines))


def agent_title(text: str) -> str:
    """The title of an agent, or its text if it is an engine or names a file: none is opened.

    >>> agent_title("strong=uct:playouts=250"), agent_title("ab:eval=w.json,depth=2")
    ('strong', 'ab:eval=w.json,depth=2')
    """
    named = _TITLED.fullmatch(text)
    if named is not None:
        return named[1]
    kind, _, settings = text.partition(":")
    try:
        for part in settings.split(","):
            name, equals, value = part.partition("=")
            if equals and setting_named(kind, name.strip()).names_file(value.strip()):
                return text
        return SearchSpec.from_text(text).title
    except hk.Error:
        return text


_TITLED: Final = re.compile(r"([^\\:=@]+)=.+")


class CommandEntry(Protocol):
    """A command as the command line's table lists it."""

    @property
    def name(self) -> str:
        """The words that call it."""

    @property
    def help(self) -> str:
        """One-line summary."""

    def load(self) -> Callable[..., Any]:
        """The function, with all its options."""

    def __hash__(self) -> int:
        """Reject duplicate commands."""


@dataclass(frozen=True)
class Field:
    """A field of a form: an argument or an option of a command."""

    name: str
    option: str | None
    """As `--games`; None for an argument."""
    off: str | None
    """Option that turns it off, such as `--no-report`."""
    type: type
    many: bool
    required: bool
    default: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The option, or what an argument is called."""
        return self.option or self.name.replace("_", " ").capitalize()

    @property
    def title(self) -> str:
        """What it is called, in words."""
        words = _TITLES.get(self.name) or (self.option or self.name).strip("-")
        words = words.replace("-", " ").replace("_", " ")
        return f"{words[:1].upper()}{words[1:]}"

    @property
    def shape(self) -> str:
        """Kind of input: check, number, lines or text."""
        if self.type is bool:
            return "check"
        if self.many:
            return "lines"
        return "number" if self.type in (int, float) else "text"

    def is_unchanged(self, texts: Sequence[str]) -> bool:
        """Whether a submitted box is ticked; default if absent."""
        return self.shape == "check" and (texts[-1] == "on") == (self.default == "on")

    @property
    def is_path(self) -> bool:
        """Whether it names a file or folder, and nothing else."""
        return issubclass(self.type, Path) or (
            bool(_PATHS.search(self.metavar))
            and ("[" not in self.metavar and "NAME" not in self.metavar)
        )

    @property
    def is_spec(self) -> bool:
        """Whether it names who thinks."""
        return bool(_SPECS.search(self.metavar))

    @property
    def is_player(self) -> bool:
        """Whether agents may have a name and a clock there: NAME=SPEC@CLOCK."""
        return "PLAYER" in self.metavar

    @property
    def at_first(self) -> bool:
        """Whether it is shown before one asks for more."""
        return self.option is None or self.required or self.name in _AT_FIRST


@dataclass(frozen=True)
class Form:
    """A command as a form."""

    name: str
    help: str
    fields: tuple[Field, ...]
    command: Any = field(repr=False, compare=False)

    def words(self, values: Mapping[str, Sequence[str]], allow: "Allow") -> list[str]:
        """The command's words for what was filled in; raises Error for what may not be run."""
        names = {each.name for each in self.fields}
        for name in values:
            if name not in names:
                raise hk.errors.ParameterError(
                    escape_control_chars(name)[:40], "is no field of this form"
                )
        options: list[str] = []
        arguments: list[str] = []
        for each in self.fields:
            lines = [text.strip() for text in values.get(each.name, ()) if text.strip()]
            if each.type is bool:
                options += _switch(each, lines)
                continue
            if each.many:
                lines = [line.strip() for text in lines for line in text.splitlines()]
            texts = [allow(each, text) for text in lines if text]
            if each.option is None:
                arguments += texts
            elif texts and texts != [each.default]:
                for text in texts if each.many else texts[-1:]:
                    sticks = text.startswith("-")
                    options += [f"{each.option}={text}"] if sticks else [each.option, text]
        if any(text.startswith("-") for text in arguments):
            arguments.insert(0, "--")
        return [*self.name.split(), *options, *arguments]

    def check(self, words: Sequence[str]) -> None:
        """Raise Error if the command line would not take the words, as for a missing one."""
        arguments = list(words[len(self.name.split()) :])
        try:
            self.command.make_context(self.name, arguments)
        except typer.TyperException as error:
            raise hk.Error(error.format_message()) from None


def _switch(each: Field, texts: Sequence[str]) -> list[str]:
    """A switch's word: a form that was sent says `on` or `off`, one that was not says nothing."""
    is_on = texts[-1] == "on" if texts else each.default == "on"
    if is_on == (each.default == "on"):
        return []
    if is_on:
        return [each.option or ""]
    return [each.off] if each.off else []


@dataclass(frozen=True)
class Allow:
    """Validation of fields: texts must not access more than the user allows."""

    folder: Folder
    engines: Engines

    def __call__(self, each: Field, text: str) -> str:
        """The text as the command gets it; raises Error if it may not."""
        if any(ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in text):
            raise hk.errors.ParameterError(each.label, "is one line of text")
        if each.is_path:
            return self._path(each, text)
        if each.type is not str:
            return text
        if each.metavar == _SQL:  # asked in a locked database, which reaches no file
            return text
        if each.is_spec and (spec := self._engine(each, text)) is not None:
            return spec
        for word in _BEFORE_COLONS.findall(text):
            if any(word.lower() in kind.prefixes for kind in AGENT_KINDS if kind.names_program):
                names = ", ".join(self.engines.allowed) or "none yet"
                raise hk.errors.ParameterError(
                    each.label,
                    f"names an engine by its command, '{text}'; here an engine has a name that was "
                    f"given when the studio was started ({names}): hyoka studio --engine NAME=SPEC",
                )
        if _PATHS.search(each.metavar):
            _check_tame(each, text)
        self.folder.check_text(text)
        return text

    def _path(self, each: Field, text: str) -> str:
        """A path within the folder, and all that a command reads there."""
        path = self.folder.path(text, must_exist=False)
        if not os.path.exists(path):
            _check_tame(each, text)
        else:
            self.folder.check_reach(path)
        return self.folder.name(path) or "."

    def _engine(self, each: Field, text: str) -> str | None:
        """The spec of an allowed engine: of a player under its name, perhaps with a clock."""
        match = _ENGINE_WORD.match(text)
        name = match[1] if match else ""
        if name not in self.engines.allowed:
            return None
        spec = self.engines.allowed[name]
        if each.is_player and (parts := _PLAYER.fullmatch(text)) is not None:
            return f"{parts['name'] or name + '='}{spec}{parts['clock'] or ''}"
        if text == name:
            return spec
        more = f", or NAME={name}@CLOCK with a clock such as 60+0.6" if each.is_player else ""
        raise hk.errors.ParameterError(
            each.label,
            f"takes an engine by its name alone: {name}{more}; not '{escape_control_chars(text)}'",
        )


def _check_tame(each: Field, text: str) -> None:
    """Raise ParameterError if a text stands for any number of files: links may be among them."""
    if _WILD.search(text):
        raise hk.errors.ParameterError(
            each.label, f"names a file or a folder, not a pattern, '{escape_control_chars(text)}'"
        )


@dataclass(frozen=True)
class Forms:
    """The forms of all commands that are runs."""

    commands: Mapping[str, CommandEntry]

    @classmethod
    def of(cls, commands: Iterable[CommandEntry]) -> "Forms":
        """The forms of those of a table of commands that are tasks."""
        table = {each.name: each for each in commands}
        return cls({name: table[name] for name in TASKS if name in table})

    def form(self, name: str) -> Form:
        """A command's form; raises ParameterError if it is no run."""
        if name not in self.commands:
            raise hk.errors.ParameterError(
                "command", f"'{escape_control_chars(name)}' is nothing that is run here"
            )
        return _form(self.commands[name])

    def words(
        self, name: str, values: Mapping[str, Sequence[str]], allow: Allow, *, check: bool = True
    ) -> list[str]:
        """A command's words for what was filled in; raises Error if they may not be run."""
        form = self.form(name)
        words = form.words(values, allow)
        if check:
            form.check(words)
        return words


@functools.lru_cache(maxsize=64)
def _form(entry: CommandEntry) -> Form:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command()(entry.load())
    command = typer.main.get_command(alone)
    fields = tuple(_field(each) for each in command.params if _is_shown(each))
    return Form(entry.name, entry.help, fields, command)


def _is_shown(parameter: Any) -> bool:
    return parameter.name not in _NOT_HERE and not getattr(parameter, "hidden", False)


def _field(parameter: Any) -> Field:
    is_option = parameter.param_type_name == "option"
    kind = parameter.type_descriptor.annotation
    default = parameter.default
    if isinstance(default, bool):
        default = "on" if default else ""
    many = bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1
    return Field(
        name=parameter.name,
        option=max(parameter.opts, key=len) if is_option else None,
        off=parameter.secondary_opts[0] if parameter.secondary_opts else None,
        type=kind if isinstance(kind, type) else str,
        many=many,
        required=parameter.required,
        default="" if default is None or callable(default) else str(default),
        metavar=(parameter.metavar or "").upper(),
        help=(parameter.help or "").replace("\\[", "["),
        choices=get_args(kind) if get_origin(kind) is Literal else (),
    )


def command_text(words: Sequence[str]) -> str:
    """A command as one would type it.

    >>> command_text(["match", "run", "uct:playouts=100", "my player"])
    "hyoka match run uct:playouts=100 'my player'"
    """
    return shlex.join(["hyoka", *words])


def games() -> list[str]:
    """The names of all games, for fields that want one."""
    return list(FACTS)


@dataclass(frozen=True)
class AgentChoice:
    """An agent to pick from a list: an allowed engine, a search, or a search with a model."""

    text: str
    """What a spec begins with: the name of an engine, `uct`, `ab:eval=weights.json`."""
    title: str
    about: str
    kind: str
    """The kind of search; empty for an engine, which has settings of its own."""
    levels: tuple[tuple[str, str], ...] = ()
    """Limits as settings of a spec, such as `playouts=200`, and what they are called."""


_AMOUNTS: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "uct": (("playouts", 50), ("playouts", 200), ("playouts", 1_000), ("playouts", 5_000)),
    "mc": (("playouts", 200), ("playouts", 1_000), ("playouts", 5_000), ("playouts", 20_000)),
    "mc-score": (("playouts", 200), ("playouts", 1_000), ("playouts", 5_000), ("playouts", 20_000)),
    "ab": (("nodes", 500), ("nodes", 2_000), ("nodes", 10_000), ("nodes", 100_000)),
}
"""Limits of the levels of a search, from the quickest to the strongest."""
_LEVEL_TITLES: Final = ("Instant", "Quick", "Thorough", "Deep")
_AGENT_TITLES: Final = {
    "uct": "Tree search",
    "mc": "Flat Monte Carlo",
    "mc-score": "Flat Monte Carlo by score",
    "ab": "Alpha-beta",
    "random": "Random moves",
    "ranking": "Move model alone",
    "exact": "Exact solver",
    "mate": "Mate search",
}
_AGENT_WORDS: Final = {
    "uct": "Monte Carlo tree search (UCT, PUCT).",
    "mc": "The same number of playouts for each move.",
    "mc-score": "The same by the mean final score.",
    "ab": "Depth-first search with an evaluation.",
    "random": "Any legal move.",
    "ranking": "The move that a move model ranks first.",
    "exact": "Solves endings (Othello).",
    "mate": "Finds mates by checks (chess, shogi).",
}
_MODEL_SEARCHES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("network", "convolution"), ("eval", "strengths")),
    **dict.fromkeys(("weights", "evaluation", "perceptrons"), ("eval",)),
    **dict.fromkeys(("strengths", "mets", "latent", "combined"), ("strengths",)),
}
"""The settings of a search that a kind of model is for."""
_ALPHA_BETA_MODELS: Final = ("weights", "evaluation")
_NOT_IN_SPECS: Final = re.compile(r"[,=@\\\s\x00-\x1f\x7f]")
_MODELS_OFFERED: Final = 20
_IN_LOOP: Final = re.compile(r"(.+)/(?:generation-\d+/[^/]+|evaluations/\d+\.eval)")
"""Models of the generations and individuals of a loop."""


def levels_of(kind: str) -> tuple[tuple[str, str], ...]:
    """The levels of a kind of search, from the quickest to the strongest.

    >>> levels_of("uct")[1]
    ('playouts=200', 'Quick: 200 playouts')
    """
    amounts = _AMOUNTS.get(kind, ())
    return tuple(
        (f"{name}={amount}", f"{title}: {amount:,} {name}")
        for title, (name, amount) in zip(_LEVEL_TITLES, amounts, strict=False)
    )


def agent_choices(
    folder: Folder, engines: Engines, game: str, role: str = "player"
) -> list[AgentChoice]:
    """Agents with a role in a game: allowed engines, searches, and searches with a model."""
    choices = [
        AgentChoice(name, name, f"Engine: {spec}", "")
        for name, spec in engines.allowed.items()
        if role in engines.roles(name, game)
    ]
    kinds = [kind for kind in KINDS if role in roles_of(kind, game)]
    for kind in kinds:
        title, words = _AGENT_TITLES.get(kind, kind), _AGENT_WORDS.get(kind, KINDS[kind][0])
        choices.append(AgentChoice(kind, title, words, kind, levels_of(kind)))
    for model in _newest_models(folder, game):
        text = model_agent(model.path, model.facts["kind"])
        kind = text.partition(":")[0]
        if kind in kinds:
            about = f"{_AGENT_TITLES[kind]} with {model.path}, {model.facts['words']}."
            choices.append(AgentChoice(text, Path(model.path).name, about, kind, levels_of(kind)))
    return choices


def _newest_models(folder: Folder, game: str) -> list[FolderItem]:
    """The newest models of a game; of those that a loop made, the newest only."""
    models: dict[str, FolderItem] = {}
    for model in folder.items("model"):
        if model.facts["game"] == game:
            loop = _IN_LOOP.fullmatch(model.path)
            models.setdefault(model.path if loop is None else f"{loop[1]}/", model)
    return list(models.values())[:_MODELS_OFFERED]


def model_agent(path: str, kind: str) -> str:
    """The text of a search with a model; empty for models that no search uses.

    >>> model_agent("w.json", "weights"), model_agent("n.nn", "network")
    ('ab:eval=w.json', 'uct:eval=n.nn,strengths=n.nn')
    """
    settings = _MODEL_SEARCHES.get(kind, ())
    if not settings or _NOT_IN_SPECS.search(path):
        return ""
    search = "ab" if kind in _ALPHA_BETA_MODELS else "uct"
    return f"{search}:" + ",".join(f"{name}={path}" for name in settings)


def spec_text(base: str, settings: Mapping[str, str]) -> str:
    """The text of a spec with settings, which replace those that it has.

    >>> spec_text("ab:eval=w.json", {"nodes": "500", "eval": ""})
    'ab:eval=w.json,nodes=500'
    """
    kind, _, rest = base.partition(":")
    parts = dict(part.partition("=")[::2] for part in rest.split(",") if part)
    parts |= {name: value for name, value in settings.items() if value}
    text = ",".join(f"{name}={value}" for name, value in parts.items())
    return f"{kind}:{text}" if text else kind


@dataclass(frozen=True)
class SettingField:
    """A setting of a search as a field of a form."""

    name: str
    help: str
    default: str
    """The value without a choice, for people."""
    choices: tuple[tuple[str, str], ...]
    """Values and their titles; empty for a number."""
    is_limit: bool

    @property
    def label(self) -> str:
        """The name in words."""
        words = self.name.replace("_", " ")
        return f"{words[:1].upper()}{words[1:]}"


def setting_fields(spec: SearchSpec, game: str, folder: Folder) -> list[SettingField]:
    """The settings of a search in a game as fields, the limits first."""
    spec = spec.for_game(game)
    models = [each for each in folder.items("model") if each.facts["game"] in (game, None)]
    fields = []
    for setting in SearchSpec.settings_for(spec.kind):
        files = [
            (each.path, each.path)
            for each in models[:_MODELS_OFFERED]
            if each.facts["kind"] in setting.model_files and not _NOT_IN_SPECS.search(each.path)
        ]
        fields.append(
            SettingField(
                setting.name,
                setting.doc,
                _default_text(setting, spec[setting.name]),
                _setting_choices(setting, files),
                setting.is_limit,
            )
        )
    return sorted(fields, key=lambda each: not each.is_limit)


def _setting_choices(
    setting: Setting, files: Sequence[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    if setting.kind == "flag":
        return (("on", "On"), ("off", "Off"))
    if setting.kind == "choice":
        return tuple((choice, choice) for choice in setting.choices)
    if setting.kind == "file":
        bundled = () if setting.model_files == ("book",) else _BUNDLED_MODELS
        return (*bundled, *files)
    return ()


_BUNDLED_MODELS: Final = (
    (LEARNED, "The bundled model"),
    (NETWORK, "The bundled network"),
    (BUILT_IN, "None: by hand-made rules"),
)


def _default_text(setting: Setting, value: object) -> str:
    if value is None:
        return "none" if setting.kind == "file" else "automatic"
    if isinstance(value, ModelFile):
        return "a bundled model" if value.path is None else Path(str(value.path)).name
    return setting.text(value) if isinstance(value, bool | int | float | str) else str(value)


def whole_number(text: object, name: str, least: int, most: int) -> int:
    """Parse a whole number from `least` to `most`; raises ParameterError.

    >>> whole_number("12", "ply", 0, 20)
    12
    """
    digits = str(text).strip()
    if not is_whole_number(digits):
        raise hk.errors.ParameterError(name, f"is a whole number, not '{_shown(digits)}'")
    value = int(digits)
    if not least <= value <= most:
        raise hk.errors.ParameterError(name, f"is a whole number from {least:,} to {most:,} here")
    return value


def is_whole_number(text: str) -> bool:
    """Whether a text is a short run of the digits 0 to 9.

    >>> is_whole_number("12"), is_whole_number("-1"), is_whole_number("9" * 5000)
    (True, False, False)
    """
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def decimal_number(text: object, name: str, least: float, most: float) -> float:
    """Parse a number from `least` to `most`; raises ParameterError."""
    try:
        value = float(str(text))
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise hk.errors.ParameterError(
            name, f"is a number from {least:g} to {most:g}, not '{_shown(str(text))}'"
        )
    return value


def _shown(text: str) -> str:
    return escape_control_chars(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…")


class _Number(Convertor[int]):
    """The path parameter `{NAME:number}`: paths with more digits match no route."""

    regex = f"[0-9]{{1,{_MOST_DIGITS}}}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())
