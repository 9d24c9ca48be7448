# SPDX-License-Identifier: Apache-2.0
"""What can be set about each search: one table, from which specs, help and engine options come."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hyoka.artefact import BUILT_IN, Artefact, read_artefact
from hyoka.errors import NotationError, nearest

SettingKind = Literal["int", "float", "flag", "choice", "file"]
Value = int | float | bool | str | Artefact

_UNSPEAKABLE: Final = re.compile(r"[,\x00-\x1f\x7f]")
_FORMER_NAMES: Final = {"ratings": "strengths"}
"""A rating is a player's; texts and files of former times still say it of moves."""
_TRUTHS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set about a search."""

    name: str
    kind: SettingKind
    default: Value | None
    """None: not set, or the game's own."""
    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    artefact: str = ""
    """What kind of artefact a file holds."""

    def read(self, text: str) -> Value:
        """The value that a text names; raises NotationError with what would be right.

        A file is read at once; raises SourceError if it can't be, or holds something else.
        """
        if self.kind == "file":
            if text == self.default:  # what is built in
                return text
            if not text:
                raise NotationError(f"'{self.name}' names no file: {self.name}=…")
            if _UNSPEAKABLE.search(text) or text != text.strip():
                raise NotationError(f"a spec can't say a file's name with commas: {text!r}")
            return read_artefact(text, self.artefact)
        if self.kind == "choice":
            if text in self.choices:
                return text
            known = ", ".join(self.choices)
            hint = nearest(text, self.choices) or f"there are {known}"
            raise NotationError(f"no {self.name} '{text}'; {hint}")
        if self.kind == "flag":
            if text.lower() in _TRUTHS:
                return _TRUTHS[text.lower()]
            raise NotationError(f"'{self.name}' is on or off, not '{text}'")
        return self._number(text)

    def _number(self, text: str) -> Value:
        try:
            plain = text.replace("_", "")
            number = int(plain) if self.kind == "int" else float(plain)
        except ValueError:
            what = "a whole number" if self.kind == "int" else "a number"
            raise NotationError(f"'{self.name}' is {what}, not '{text}'") from None
        return self.checked(number)

    def checked(self, value: Value | Path) -> Value:
        """The value itself, if it may be; raises NotationError if not."""
        if self.kind in ("int", "float"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise NotationError(f"'{self.name}' is a number, not {value!r}")
            if self.kind == "int" and isinstance(value, float) and not value.is_integer():
                raise NotationError(f"'{self.name}' is a whole number, not {value}")
            low = self.minimum is not None and value < self.minimum
            high = self.maximum is not None and value > self.maximum
            if low or high or math.isnan(value):
                raise NotationError(f"'{self.name}' is {self.range}, not {value}")
            return int(value) if self.kind == "int" else float(value) + 0.0  # and no -0
        if self.kind == "flag" and isinstance(value, bool):
            return value
        if self.kind == "file" and isinstance(value, Artefact):
            value.check(self.artefact)
            return value
        return self.read(str(value))

    @property
    def range(self) -> str:
        """What numbers are allowed, in words."""
        if self.minimum is not None and self.maximum is not None:
            return f"{self.minimum:.12g} to {self.maximum:.12g}"
        if self.minimum is not None:
            return f"at least {self.minimum:.12g}"
        return "a number" if self.maximum is None else f"at most {self.maximum:.12g}"

    def text(self, value: Value) -> str:
        """The text that `read` reads as this value."""
        if isinstance(value, bool):
            return "on" if value else "off"
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _count(name: str, default: int | None, doc: str, maximum: float = 10**15) -> Setting:
    return Setting(name, "int", default, doc, minimum=0, maximum=maximum)


def _number(name: str, default: float | None, doc: str, low: float, high: float) -> Setting:
    return Setting(name, "float", default, doc, minimum=low, maximum=high)


def _flag(name: str, default: bool | None, doc: str) -> Setting:
    return Setting(name, "flag", default, doc)


def _file(name: str, default: str | None, doc: str) -> Setting:
    """A file named after the kind of artefact that it holds."""
    return Setting(name, "file", default, doc, artefact=name)


_TIME: Final = _number("time", None, "Seconds to think; 0: no limit of time.", 0, 10**7)
_THREADS: Final = Setting("threads", "int", 1, "Threads at work.", minimum=1, maximum=256)
_SEED: Final = _count("seed", 0, "Chance: the same seed on one thread, the same search.", 2**63)
_WEIGHTS: Final = _file("weights", BUILT_IN, "A file with the weights of the evaluation's terms.")
_PLAYOUTS: Final = [
    Setting(
        "policy",
        "choice",
        "uniform",
        "How playouts choose: all moves alike, by the strengths of features, or (Go) by captures, "
        "escapes and shapes.",
        choices=("uniform", "rated", "light"),
    ),
    _number(
        "epsilon", 0.0, "The share of playout moves that are random whatever the policy.", 0, 1
    ),
    _count("cut", None, "Plies after which a playout ends with an evaluation; 0 at once.", 10**4),
    _number("scale", None, "A score s is worth 1 / (1 + exp(-s / scale)).", 1e-6, 1e9),
    _file("strengths", BUILT_IN, "A file with the strengths of features of moves."),
    _WEIGHTS,
]
_VALUE_OF: Final = "Which value counts as the position's: that of the best move, or of the root."

UCT_SETTINGS: Final = [
    _count("playouts", None, "Simulations; 10,000 if no limit is given."),
    _TIME,
    _count("nodes", None, "Positions whose moves are in the tree."),
    Setting(
        "formula",
        "choice",
        "ucb1",
        "How moves are chosen in the tree.",
        choices=("ucb1", "ucb1-tuned", "puct"),
    ),
    _number("c", None, "How much is explored: 1, for puct 1.5.", 0, 1000),
    _flag("widening", False, "Progressive widening: moves join in by strength (paper 004)."),
    _number("widening_d", 4.0, "Widening: the weight of a move's strength.", 0, 1000),
    _number("widening_c", 0.5, "Widening: how much is explored.", 0, 1000),
    _number("widening_e", 10.0, "Widening: as if visited so often.", 1e-6, 10**9),
    _flag(
        "rated", None, "Try moves in the order of their strengths; by default for widening, puct."
    ),
    _flag("killer", False, "Explore the commonest best move of sibling nodes more (paper 004)."),
    _number("killer_c", 2.0, "Killer: its exploration.", 0, 1000),
    _flag("history", False, "Explore moves more that have often been best (paper 004)."),
    _number("history_threshold", 0.6, "History: from which share on.", 0, 1),
    _number("rave", 0.0, "All moves as first: its k, about 1000 in Go; 0: off.", 0, 10**9),
    _number("reduction", 0.0, "PUCT: by how much unvisited moves start below the node.", -1, 1),
    *_PLAYOUTS,
    _count("prior", 0, "Simulations that a node's static evaluation counts as (paper 003).", 10**6),
    Setting(
        "prior_when",
        "choice",
        "visit",
        "Whether a node is evaluated when first visited, or with all its siblings.",
        choices=("visit", "expansion"),
    ),
    _count("mate", 0, "Nodes for a mate search at each leaf (chess, shogi); 0: none.", 10**9),
    _count("ending", 0, "Empty squares at which leaves are solved (Othello); 0: none.", 16),
    _flag("proofs", True, "Back up results that are certain."),
    _file("book", None, "A file of records: while in it, only its moves are searched."),
    _count("book_plies", 30, "How far the book goes.", 10**4),
    Setting(
        "batch",
        "int",
        16,
        "Positions at a time for an evaluator in Python.",
        minimum=1,
        maximum=4096,
    ),
    _count("expand", 1, "Visits of a leaf before its moves join the tree.", 10**6),
    _THREADS,
    _SEED,
    _number("memory", 256.0, "MiB for the tree; when full it grows no further.", 0.001, 2**14),
    _flag("reuse", True, "Keep what was found below the position reached."),
    _flag("early", False, "Stop when the most visited move can't be overtaken."),
    Setting("value", "choice", "best", _VALUE_OF, choices=("best", "root")),
]
MC_SETTINGS: Final = [
    _count(
        "playouts",
        None,
        "Playouts in all, the same for each move, one at least; 5,000 if none.",
    ),
    _count("a_move", None, "Playouts a move, instead."),
    _TIME,
    *_PLAYOUTS,
    _THREADS,
    _SEED,
    Setting("value", "choice", "root", _VALUE_OF, choices=("best", "root")),
]
AB_SETTINGS: Final = [
    _count("depth", None, "Plies.", 120),
    _count("nodes", None, "Positions to visit; 100,000 if no limit is given."),
    _TIME,
    _flag("quiescence", True, "Go on with captures at the leaves (chess, shogi)."),
    _count("hash", 16, "MiB for the transposition table; 0: none.", 2**15),
    Setting("multipv", "int", 1, "So many best moves with exact scores.", minimum=1, maximum=500),
    _WEIGHTS,
    _number("scale", None, "A score s is worth 1 / (1 + exp(-s / scale)).", 1e-6, 1e9),
    _flag("exact", False, "Only what leaves the value that of minimax to the same depth."),
    _flag("plain", False, "No table, no ordering, no windows: alpha-beta and nothing else."),
    _flag("hash_move", True, "Try the table's move first."),
    _flag("captures", True, "Order captures by exchange."),
    _flag("killers", True, "Try moves early that cut off beside."),
    _flag("history", True, "Try moves early that have often cut off."),
    _flag("principal_variation", True, "Null windows for all but the first move."),
    _count("aspiration", 25, "Half the first window around the last score; 0: none.", 10**4),
    _flag("check_extensions", True, "A ply more in check."),
    _flag("null_move", True, "Who is well off after skipping a turn need not search on."),
    _flag("late_move_reductions", True, "Late quiet moves less deep at first."),
    _flag("late_move_pruning", True, "Leave out the last quiet moves near the leaves."),
    _flag("futility", True, "Leave out what is far from the window near the leaves."),
    _flag("exchange_pruning", True, "Leave out moves that lose material near the leaves."),
    _flag("unknown_reductions", True, "A ply less where the table has no move."),
    _flag("delta_pruning", True, "Leave out captures that can't reach the window."),
]
MATE_SETTINGS: Final = [
    _count("nodes", 1_000_000, "Positions to visit; 0: no limit."),
    _TIME,
    Setting("hash", "int", 64, "MiB for the table.", minimum=1, maximum=2**15),
]
EXACT_SETTINGS: Final = [
    _count("nodes", 1_000_000_000, "Positions to visit; 0: no limit."),
    _TIME,
    Setting("hash", "int", 64, "MiB for the table.", minimum=1, maximum=2**15),
]

KINDS: Final[dict[str, tuple[str, list[Setting]]]] = {
    "uct": ("Monte-Carlo tree search with every enhancement of the papers", UCT_SETTINGS),
    "mc": ("flat Monte Carlo: the same number of playouts for each move", MC_SETTINGS),
    "mc-score": ("the same by the mean final score instead of wins", MC_SETTINGS),
    "ab": ("alpha-beta with quiescence and a linear evaluation", AB_SETTINGS),
    "mate": ("df-pn search for a mate by checks (chess, shogi)", MATE_SETTINGS),
    "exact": ("exact solving of endings (Othello)", EXACT_SETTINGS),
    "random": ("any legal move", [_SEED]),
}
"""What searches there are, in words, and what can be set about each."""


def settings_of(kind: str) -> list[Setting]:
    """What can be set about a kind of search; a wrong kind gets the nearest right one."""
    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"there are {', '.join(KINDS)}"
        raise NotationError(f"no search '{kind}'; {hint}")
    return KINDS[kind][1]


def setting_named(kind: str, name: str) -> Setting:
    """One setting by its name; a wrong one gets the nearest right one."""
    settings = {setting.name: setting for setting in settings_of(kind)}
    if name in settings:
        return settings[name]
    if _FORMER_NAMES.get(name) in settings:
        hint = f"did you mean {_FORMER_NAMES[name]}?"
    else:
        hint = nearest(name, settings) or f"there are {', '.join(settings)}"
    raise NotationError(f"{kind} has no setting '{name}'; {hint}")
