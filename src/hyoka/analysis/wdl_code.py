# SPDX-License-Identifier: Apache-2.0
"""Source code and JSON of WDL models."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hyoka.foundation.errors import ParameterError
from hyoka.storage.outputs import GENERATOR

if TYPE_CHECKING:
    from hyoka.analysis.wdl import WdlModel

LANGUAGES: Final = {".h": "c++", ".hpp": "c++", ".py": "python"}
"""Languages by file suffix."""


def model_code(language: str, model: "WdlModel") -> str:
    """Export the model as `c++`, `python` or `json`."""
    if language not in _WRITERS:
        raise ParameterError("language", f"is {', '.join(_WRITERS)}, not '{language}'")
    return _WRITERS[language](model)


def _about(model: "WdlModel") -> str:
    """One line about the model, without user text, so that it is safe in a comment."""
    return (
        f"{GENERATOR}: fitted by hyoka wdl to {model.positions:,} positions of "
        f"{model.games:,} games; scores in {model.unit}."
    )


def _numbers(model: "WdlModel") -> tuple[list[str], list[str]]:
    """Coefficients of a and b from the highest power down, for Horner's method."""
    a, b = ([repr(each.value) for each in reversed(side)] for side in (model.a, model.b))
    return a, b


def _stages(model: "WdlModel") -> tuple[str, str, str]:
    """The lowest, highest and reference stages as floating-point literals."""
    stages = model.stages
    return repr(float(stages.low)), repr(float(stages.high)), repr(float(stages.reference))


def _cpp(model: "WdlModel") -> str:
    a, b = (", ".join(numbers) for numbers in _numbers(model))
    low, high, reference = _stages(model)
    return f"""// {_about(model)}
// The stage is what the model was fitted along, such as the move number.
#pragma once

#include <algorithm>
#include <cmath>

namespace wdl {{

inline constexpr double as[] = {{{a}}};
inline constexpr double bs[] = {{{b}}};

struct Params {{
    double a, b;
}};

struct Probabilities {{
    double win, draw, loss;
}};

inline Params params(double stage) {{
    const double x = std::clamp(stage, {low}, {high}) / {reference};
    Params p{{0, 0}};
    for (const double c : as) p.a = p.a * x + c;
    for (const double c : bs) p.b = p.b * x + c;
    return p;
}}

inline Probabilities probabilities(double score, double stage) {{
    const auto [a, b] = params(stage);
    const double win = 1 / (1 + std::exp((a - score) / b));
    const double loss = 1 / (1 + std::exp((a + score) / b));
    return {{win, 1 - win - loss, loss}};
}}

/// 100 wins half of the games at the reference stage.
inline double normalised(double score) {{
    return 100 * score / {model.half.value!r};
}}

}}  // namespace wdl
"""


def _python(model: "WdlModel") -> str:
    a, b = (", ".join(numbers) for numbers in _numbers(model))
    low, high, reference = _stages(model)
    return f'''# {_about(model)}
"""Win, draw and loss by score and stage of the game, such as the move number."""

import math

AS = [{a}]
BS = [{b}]


def params(stage):
    """The score that wins half of the games, and the spread."""
    x = min(max(stage, {low}), {high}) / {reference}
    a = b = 0.0
    for c, d in zip(AS, BS):
        a, b = a * x + c, b * x + d
    return a, b


def probabilities(score, stage):
    """Of a win, a draw and a loss."""
    a, b = params(stage)
    win, loss = _logistic((score - a) / b), _logistic((-score - a) / b)
    return win, 1 - win - loss, loss


def normalised(score):
    """100 wins half of the games at the reference stage."""
    return 100 * score / {model.half.value!r}


def _logistic(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))
'''


def _json(model: "WdlModel") -> str:
    stages = model.stages
    content = {
        "along": stages.name,
        "reference": stages.reference,
        "low": stages.low,
        "high": stages.high,
        "unit": model.unit,
        "half": model.half.value,
        "as": [each.value for each in reversed(model.a)],
        "bs": [each.value for each in reversed(model.b)],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


_WRITERS: Final[dict[str, Callable[["WdlModel"], str]]] = {
    "c++": _cpp,
    "python": _python,
    "json": _json,
}
