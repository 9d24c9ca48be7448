# SPDX-License-Identifier: Apache-2.0
"""Results of the tuner: feature weights with errors, and weight files for engines."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from hyoka.foundation.errors import NotationError, StudyError
from hyoka.foundation.math import Estimate
from hyoka.learning.sigmoid import Method
from hyoka.learning.weights import FittedWeight
from hyoka.search import LinearEvaluation, linear_evaluation
from hyoka.storage.files import write_text
from hyoka.storage.model_file import ModelFile, Origin
from hyoka.storage.outputs import GENERATOR
from hyoka.storage.result import plain_json

ENDINGS: Final = (".json", ".csv", ".h", ".hpp")
"""File extensions of weight files."""
_OWN_WORDS: Final = ("TUNED_FEATURES", "TUNED_SCALE", "TUNED_WEIGHTS_H")
"""Identifiers reserved by the header itself."""


@dataclass(frozen=True)
class TunedFeature:
    """A feature and its weight, or its weights in the opening and in the ending."""

    name: str
    weights: tuple[FittedWeight, ...]
    frozen: bool
    tapered: bool
    """Whether it has two weights, for opening and ending."""

    @property
    def pair(self) -> tuple[float, float]:
        """Weights in the opening and in the ending."""
        return self.weights[0].weight, self.weights[-1].weight

    @property
    def amount(self) -> float | list[float]:
        """The weight in files: a number, or a pair if tapered."""
        return list(self.pair) if self.tapered else self.weights[0].weight


@dataclass(frozen=True)
class Change:
    """A metric on held-out games: before, after, and the difference, clustered by game."""

    measure: str
    before: float
    after: float
    difference: Estimate


@dataclass(frozen=True, eq=False)
class TunedWeights:
    """Tuned weights: win probability = 1 / (1 + exp(-score / scale))."""

    method: Method
    features: tuple[TunedFeature, ...] = field(repr=False)
    scale: float
    scale_error: float
    """Standard error of the scale; 0 if it was fixed."""
    scale_before: float
    """Scale of the initial weights; NaN without any."""
    unit: str
    source: str
    game: str
    """Name of the game; empty if the table is not from a study."""
    games: int
    positions: int
    held_out_positions: int
    held_out_games: int
    loss: float
    """Mean training loss per position, without the penalty."""
    steps: int
    confidence: float
    changes: tuple[Change, ...]
    """On held-out games; without initial weights, *before* is even chances."""
    origin: Origin = field(repr=False)

    def __getitem__(self, name: str) -> TunedFeature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(f"{name}; there are {', '.join(each.name for each in self.features[:20])}")

    def __str__(self) -> str:
        error = f" ± {self.scale_error:.2g}" if self.scale_error else ""
        lines = [
            f"{self.method.upper()} on {self.positions:,} positions of {self.games:,} games, scale "
            f"{self.scale:.4g}{error} {self.unit}"
        ]
        for weight in self.weights():
            error = "" if math.isnan(weight.error) else f" ± {weight.error:.2g}"
            former = "" if weight.former is None else f", formerly {weight.former:.4g}"
            lines.append(f"{weight.name}: {weight.weight:.4g}{error}{former}")
        for each in self.changes:
            change = each.difference.text("+.5f")
            lines.append(
                f"{each.measure}, held out: {each.before:.5f}, then {each.after:.5f}: {change}"
            )
        return "\n".join(lines)

    def weights(self) -> Iterator[FittedWeight]:
        """All fitted weights, in the order of the features."""
        for feature in self.features:
            if not feature.frozen:
                yield from feature.weights

    def as_json(self) -> dict[str, Any]:
        """JSON representation."""
        left_out = ("features", "changes", "origin")
        plain: dict[str, Any] = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out
        }
        plain["weights"] = [asdict(each) for each in self.weights()]
        plain["held_out"] = [asdict(each) for each in self.changes]
        found: dict[str, Any] = plain_json(plain)
        return found

    def evaluation(self) -> LinearEvaluation | None:
        """The game's evaluation with these weights, if all features are terms of it.

        Other terms get weight 0, so only fitted terms count.
        """
        if not self.game:
            return None
        present = linear_evaluation(self.game)
        if not {each.name for each in self.features} <= set(present.names):
            return None
        weights = dict.fromkeys(present.names, (0.0, 0.0))
        weights |= {each.name: each.pair for each in self.features}
        return present.with_weights(weights, scale=self.scale)

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Write the weights in the format of the file extension: `.json`, `.csv`, `.h` or `.hpp`.

        If all features are terms of the game's evaluation, JSON is a file for `eval=FILE`.
        """
        file = Path(path)
        if file.suffix.lower() in (".h", ".hpp"):
            write_text(file, self._header())
        elif file.suffix.lower() == ".csv":
            write_text(file, self._csv())
        elif file.suffix.lower() == ".json":
            origin = self.origin if command is None else replace(self.origin, command=command)
            evaluation = self.evaluation()
            if evaluation is not None:
                evaluation.save(file, origin)
            else:
                ModelFile.of("formula", self._formula(), origin=origin).save(file)
        else:
            raise StudyError(f"'{file.name}' must end in one of {', '.join(ENDINGS)}")

    def _formula(self) -> dict[str, Any]:
        return {
            "game": self.game or None,
            "scores": self.source,
            "scale": self.scale,
            "columns": {each.name: each.amount for each in self.features},
        }

    def _csv(self) -> str:
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        phases = any(each.tapered for each in self.features)
        columns = ("opening", "ending") if phases else ("weight",)
        rows.writerow(["name", *columns, *(f"{each}_error" for each in columns)])
        for each in self.features:
            amounts = each.pair if phases else each.pair[:1]
            errors = (each.weights[0].error, each.weights[-1].error)[: len(amounts)]
            said = ["" if math.isnan(error) else error for error in errors]
            rows.writerow([each.name, *amounts, *said])
        return text.getvalue()

    def _header(self) -> str:
        """Weights as a C and C++ header, with one identifier per feature."""
        phases = any(each.tapered for each in self.features)
        places = _identifiers([each.name for each in self.features])
        enum = "\n".join(f"    {place}," for place in places)
        amounts = "\n".join(
            f"    {{{each.pair[0]!r}, {each.pair[1]!r}}}, /* {place} */"
            if phases
            else f"    {each.pair[0]!r}, /* {place} */"
            for each, place in zip(self.features, places, strict=True)
        )
        each = "[2]" if phases else ""
        about = " Of each feature: in the opening, in the ending." if phases else ""
        return (
            f"/* {GENERATOR}: fitted by hyoka learn weights to {self.positions:,} positions "
            f"of {self.games:,} games.{about}\n"
            "   Win probability = 1 / (1 + exp(-score / TUNED_SCALE)). */\n"
            f"#ifndef TUNED_WEIGHTS_H\n#define TUNED_WEIGHTS_H\n\nenum {{\n{enum}\n"
            f"    TUNED_FEATURES\n}};\n\n#define TUNED_SCALE {self.scale!r}\n\n"
            f"static const double tuned_weights[TUNED_FEATURES]{each} = {{\n{amounts}\n}};\n\n"
            "#endif\n"
        )


def _identifiers(names: list[str]) -> list[str]:
    """Unique C identifiers for names.

    >>> _identifiers(["bishop pair", "bishop-pair", "2nd rank", "scale"])
    ['TUNED_BISHOP_PAIR', 'TUNED_BISHOP_PAIR_2', 'TUNED_2ND_RANK', 'TUNED_SCALE_2']
    """
    taken: list[str] = []
    for name in names:
        plain = "TUNED_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
        place, number = plain, 1
        while place in taken or place in _OWN_WORDS:
            number += 1
            place = f"{plain}_{number}"
        taken.append(place)
    return taken


def read_weights(path: str | Path) -> dict[str, float | tuple[float, float]]:
    """Read initial weights from a JSON or CSV file, written by `save` or by hand.

    CSV has a column `name` and either `weight`, or `opening` and `ending`. JSON has an object of
    numbers and pairs, at the top level or under `columns` or `weights`.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{file}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    try:
        if file.suffix == ".csv":
            rows = list(csv.DictReader(io.StringIO(text)))
            found: dict[str, Any] = {
                row["name"]: float(row["weight"])
                if "weight" in row
                else [float(row["opening"]), float(row["ending"])]
                for row in rows
            }
        else:
            found = json.loads(text)
            found = found.get("columns", found.get("weights", found))
        return {
            str(name): (float(each[0]), float(each[1])) if isinstance(each, list) else float(each)
            for name, each in found.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NotationError(f"{file}: no weights by name: {error}") from error
