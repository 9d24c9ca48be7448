# SPDX-License-Identifier: Apache-2.0
"""What a file that was learned holds, as facts, charts and tables; by kind, nothing executed."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import hyoka as hk
from hyoka.artefact import KINDS, number_of
from hyoka.evolving.page import CLASS_WORDS, shapes_chart, weights_chart
from hyoka.learning.objectives import objective_from
from hyoka.page.figures import Dot, Spot, dots, lines
from hyoka.studio import drawings
from hyoka.studio.pages import game_title, size_text
from hyoka.studio.parameters import is_whole_number
from hyoka.studio.rooms.blocks import Shown, ShownTable

_MOST_ROWS: Final = 500
_MOST_BARS: Final = 30
_SAID: Final = {"True": "yes", "False": "no"}


def facts_of(artefact: hk.Artefact) -> list[tuple[str, str]]:
    """What an artefact is."""
    kind = artefact.kind
    return [
        ("Kind", f"{kind}: {KINDS[kind].words}" if kind in KINDS else "unknown"),
        ("Game", game_title(artefact.game)),
        ("Size", size_text(len(artefact.content))),
        ("SHA-256", artefact.sha256),
    ]


def origin_of(artefact: hk.Artefact) -> list[tuple[str, str]]:
    """How an artefact was made."""
    origin = artefact.origin
    if origin is None:
        return []
    told = [("Command", origin.command)]
    if origin.seed is not None:
        told.append(("Seed", str(origin.seed)))
    told += [(_words(name), f"{count:,}") for name, count in origin.counts.items()]
    told += [(_words(name), _SAID.get(text, text)) for name, text in origin.choices.items()]
    told.append(("Made with", ", ".join(f"{n} {v}" for n, v in origin.versions.items())))
    return [(name, text) for name, text in told if text]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def contents_of(artefact: hk.Artefact) -> list[Shown]:
    """What an artefact holds, as far as it is numbers with names."""
    show = _SHOWN.get(artefact.kind or "")
    return [] if show is None else show(artefact)


def _named(artefact: hk.Artefact, key: str, words: str, reference: float) -> list[Shown]:
    """Numbers with names, the strongest first."""
    found = artefact.json_object().get(key)
    if not isinstance(found, dict):
        return []
    flat = _flat(found)
    rows = sorted(flat.items(), key=lambda row: -row[1])
    if not rows:
        return []
    half = _MOST_BARS // 2
    ends = rows if len(rows) <= _MOST_BARS else [*rows[:half], *rows[-half:]]
    chart = dots([Dot(name, value, value, value) for name, value in ends], x=words,
                 reference=reference)  # fmt: skip
    shown = (
        rows if len(rows) <= _MOST_ROWS else [*rows[: _MOST_ROWS // 2], *rows[-_MOST_ROWS // 2 :]]
    )
    notes = [f"{len(rows):,} in all; the {len(ends)} at the ends are drawn."] * (ends is not rows)
    if len(shown) < len(rows):
        notes.append(f"The table has the {len(shown)} at the ends.")
    table = ShownTable(words, ("name", words), [(name, f"{value:g}") for name, value in shown])
    title = words.capitalize()
    return [Shown("section", title, notes, drawings.chart(chart, f"{title} by name"), table)]


def _flat(found: Mapping[str, Any], before: str = "") -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, value in found.items():
        number = number_of(value)
        if isinstance(value, dict) and not before:
            numbers |= _flat(value, f"{name} ")
        elif isinstance(value, list) and not before:
            numbers |= _flat({str(i): each for i, each in enumerate(value)}, f"{name} ")
        elif math.isfinite(number):
            numbers[f"{before}{name}"[:80]] = number
    return numbers


def _objective(artefact: hk.Artefact) -> list[Shown]:
    objective = objective_from(artefact)
    if not isinstance(objective, hk.Parameterised):
        return _named(artefact, "objective", "constant", 0.0)
    charts = [
        (weights_chart(objective, name), f"Factors by {w}") for name, w in CLASS_WORDS.items()
    ]
    charts.append((shapes_chart(objective), "How moves are compared as the game goes on"))
    numbers = _named(artefact, "objective", "factor", 1.0)
    shown = [Shown("section", words, (), drawings.chart(chart, words)) for chart, words in charts]
    return [*shown, *numbers]


_SHOWN: Final[Mapping[str, Callable[[hk.Artefact], list[Shown]]]] = {
    "weights": lambda artefact: _named(artefact, "weights", "weight", 0.0),
    "strengths": lambda artefact: _named(artefact, "strengths", "strength", 1.0),
    "formula": lambda artefact: _named(artefact, "columns", "weight", 0.0),
    "objective": _objective,
}  # fmt: skip


def training_curve(log: str) -> Shown | None:
    r"""The losses that a run of learning has told so far, as lines; None if it told none.

    >>> shown = training_curve("epoch 1: loss of values 0.69\nepoch 2: loss of values 0.61\n")
    >>> shown.table.rows
    [('1', 'values', '0.69'), ('2', 'values', '0.61')]
    """
    spots: list[Spot] = []
    for line in log.splitlines():
        head, colon, said = line.strip().partition(": ")
        what, _, number = head.partition(" ")
        if not colon or what not in ("epoch", "pass") or not is_whole_number(number):
            continue
        said, _, held = said.partition("; held out: ")
        for part in said.replace(" = ", ", ").replace(" + ", ", ").split(", "):
            words, _, value = part.rpartition(" ")
            spots += _spot(words.removeprefix("loss ").removeprefix("of "), number, value)
        spots += _spot("held out", number, held.partition(",")[0])
    if not spots:
        return None
    series = list(dict.fromkeys(spot.series for spot in spots))[:8]
    spots = [spot for spot in spots if spot.series in series]
    rows = [(f"{spot.x:g}", spot.series, f"{spot.y:g}") for spot in spots]
    words = "Loss by epoch or pass"
    picture = drawings.chart(lines(spots, x="epoch or pass", y="loss"), words)
    return Shown("section", words, (), picture, ShownTable(words, ("step", "of", "loss"), rows))


def _spot(series: str, number: str, value: str) -> list[Spot]:
    try:
        y = float(value)
    except ValueError:
        return []
    return [Spot(series[:40] or "loss", float(number), y)] if math.isfinite(y) else []


def plan_words(text: str) -> list[tuple[str, str]]:
    """What a plan says, a line a choice."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict):
        return []
    return [(name.replace("_", " "), str(value)[:200]) for name, value in found.items()
            if not isinstance(value, dict | list)]  # fmt: skip
