# SPDX-License-Identifier: Apache-2.0
"""Results of WDL models: a table, a chart, and exported code."""

import math
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hyoka.analysis.wdl import DEGREE, WdlModel
from hyoka.analysis.wdl_code import LANGUAGES
from hyoka.foundation.errors import StudyError
from hyoka.foundation.figure import Figure
from hyoka.foundation.math import Estimate
from hyoka.storage.files import write_text
from hyoka.storage.result import FORMATS, MIN_GAMES, TOO_FEW, Coverage, Result, too_few_note


@dataclass(frozen=True, repr=False)
class WdlModels(Result):
    """WDL models of evaluators and conditions."""

    drawn_by = "wdl_contours"

    parts: tuple[WdlModel, ...]
    caveats: tuple[str, ...] = ()
    coverage: Coverage | None = None
    min_games: int = MIN_GAMES
    """Minimum number of games for a figure to be shown; `parts` has all figures."""

    def has_enough_games(self, part: WdlModel) -> bool:
        """Whether a part has enough games for figures."""
        return part.games >= self.min_games

    @property
    def title(self) -> str:
        """One-line title."""
        return "Win = 1 / (1 + exp((a - score) / b)), loss the same of -score, draw what is left"

    def table(self) -> pa.Table:
        """One row per model, with coefficients and intervals."""
        rows = []
        for part in self.parts:
            row: dict[str, object] = {
                "evaluator": part.name,
                "condition": part.condition,
                "unit": part.unit,
                "along": part.stages.name,
                "reference": part.stages.reference,
                "low": part.stages.low,
                "high": part.stages.high,
                "most": part.most,
                "positions": part.positions,
                "games": part.games,
                "log_loss": part.loss,
                "verdict": part.verdict,
            }
            named = {"half": part.half, "spread": part.spread, "draws": part.draws}
            for side, estimates in (("a", part.a), ("b", part.b)):
                named |= {f"{side}{power}": each for power, each in enumerate(estimates)}
            if not self.has_enough_games(part):
                named = dict.fromkeys(named, Estimate(math.nan, math.nan, math.nan))
                row["log_loss"] = math.nan
            for name, each in named.items():
                row |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
            rows.append(row)
        return pa.Table.from_pylist(rows)

    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Rows of the text table."""
        heading = (
            "evaluator", "condition", "50 % wins at", "spread", "draws at 0", "log loss",
            "positions", "games",
        )  # fmt: skip
        return (heading, *(_cells(part, self.has_enough_games(part)) for part in self.parts))

    def notes(self) -> tuple[str, ...]:
        """The fitted range, the coefficients, and reasons for missing models."""
        notes = [*self.caveats]
        enough = [part for part in self.parts if self.has_enough_games(part)]
        if few := len(self.parts) - len(enough):
            notes.append(too_few_note(few, self.min_games))
        if not enough:
            return tuple(notes)
        for part in enough:
            who = ", ".join(word for word in (part.name, part.condition) if word)
            if not part.converged:
                notes.append(f"{who}: no model fits, {part.missing_reason}.")
                continue
            for side, estimates in (("a", part.a), ("b", part.b)):
                numbers = ", ".join(f"{each.value:.6g}" for each in reversed(estimates))
                notes.append(f"{who}: {side} = {numbers}")
            if len(part.a) <= DEGREE:
                notes.append(f"{who}: polynomials of degree {len(part.a) - 1}.")
        stages = enough[0].stages
        beyond = sorted({part.most for part in enough if math.isfinite(part.most)})
        low = min(part.stages.low for part in enough)
        high = max(part.stages.high for part in enough)
        notes.append(
            f"Coefficients are of the powers of x = stage / {stages.reference:g}, highest first; "
            f"the stage is {stages.name}, from {low:g} to {high:g}; scores up to "
            f"±{' or ±'.join(f'{most:,.0f}' for most in beyond)} were fitted. The columns are of "
            f"stage {stages.reference:g}, or the nearest there is. -o FILE.h, .py or .json has the "
            "coefficients."
        )
        return tuple(notes)

    def save(self, path: str | Path, figure: Figure | None = None) -> None:
        """Write a result file, or code for the suffixes `.h`, `.hpp` and `.py`."""
        file = Path(path)
        language = LANGUAGES.get(file.suffix.lower())
        if language is None:
            if file.suffix.lower() not in FORMATS:
                suffixes = ", ".join([*FORMATS, *LANGUAGES])
                raise StudyError(f"'{file.name}' must end in one of {suffixes}")
            super().save(file, figure)
            return
        if len(self.parts) != 1:
            raise StudyError(f"'{file.name}' holds one model: ask for one evaluator, in one part")
        write_text(file, self.parts[0].code(language))


def _cells(part: WdlModel, has_enough: bool) -> tuple[str, ...]:
    who = (part.name, part.condition or "all")
    counts = (f"{part.positions:,}", f"{part.games:,}")
    if not has_enough:
        return (*who, *[TOO_FEW] * 4, *counts)
    if not part.converged:
        return (*who, "no model fits", "", "", "", *counts)
    texts = (part.half.text(".1f"), part.spread.text(".1f"), part.draws.text(".3f"))
    return (*who, *texts, f"{part.loss:.4f}", *counts)
