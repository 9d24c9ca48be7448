# SPDX-License-Identifier: Apache-2.0
"""Pictures of models of wins, draws and losses: what happened, under the lines of the model."""

from collections.abc import Sequence
from typing import Any, Final, Literal

import altair as alt
import numpy as np

from hyoka.analysis.wdl import WdlModel
from hyoka.page.charts import INK
from hyoka.page.figures import chart_data

_CONTOURS: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97)
"""Probabilities whose lines are drawn."""
_HEIGHT: Final = 260
_MOST: Final = 4
"""Models that one picture shows."""


def contours(models: Sequence[WdlModel]) -> alt.TopLevelMixin:
    """For each model two views: wins and draws, by score across and stage upwards."""
    views = [_view(model, outcome) for model in models[:_MOST] for outcome in ("win", "draw")]
    together: alt.VConcatChart = alt.vconcat(*views, spacing=12)
    return together


def _view(model: WdlModel, outcome: Literal["win", "draw"]) -> Any:
    stages, grid = model.stages, model.grid
    shares = grid.won if outcome == "win" else grid.drawn
    cells = [
        {
            "left": float(grid.scores[i]),
            "right": float(grid.scores[i + 1]),
            "below": float(grid.stages[j]),
            "above": float(grid.stages[j + 1]),
            "share": float(shares[i, j] / grid.positions[i, j]),
            "positions": int(grid.positions[i, j]),
        }
        for i in range(len(grid.scores) - 1)
        for j in range(len(grid.stages) - 1)
        if grid.positions[i, j] > 0
    ]
    reach = float(grid.scores[-1])
    who = ", ".join(word for word in (model.name, model.condition) if word)
    across = alt.Scale(domain=[-reach, reach], nice=False)
    up = alt.Scale(domain=[stages.low, stages.high], nice=False)
    happened = (
        alt.Chart(chart_data(cells))
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title=f"score ({model.unit})", scale=across),
            x2="right:Q",
            y=alt.Y("below:Q", title=stages.name, scale=up),
            y2="above:Q",
            color=alt.Color(
                "share:Q",
                title=f"{outcome}s",
                scale=alt.Scale(scheme="blues", domain=[0, 1]),
                legend=alt.Legend(format="%"),
            ),
            tooltip=[
                alt.Tooltip("share:Q", title=f"{outcome}s", format=".1%"),
                alt.Tooltip("positions:Q", title="positions", format=","),
                alt.Tooltip("left:Q", title="score from", format=".0f"),
                alt.Tooltip("below:Q", title="stage from", format=".3~r"),
            ],
        )
    )
    layers: list[alt.Chart] = [happened]
    if model.converged:
        layers += _lines(model, outcome, across, up, reach)
    words = f"{outcome}s, {who}: what happened, and the model's lines"
    return alt.layer(*layers).properties(width="container", height=_HEIGHT, title=words)


def _lines(
    model: WdlModel,
    outcome: Literal["win", "draw"],
    across: alt.Scale,
    up: alt.Scale,
    reach: float,
) -> list[alt.Chart]:
    """The model's scores for some probabilities, each with its name at one end."""
    at = np.linspace(model.stages.low, model.stages.high, 60)
    rows: list[dict[str, object]] = []
    for share in _CONTOURS:
        scores = model.contour(outcome, share, at.tolist())
        for side in (1, -1) if outcome == "draw" else (1,):
            for order, (stage, score) in enumerate(zip(at, side * scores, strict=True)):
                if abs(score) <= reach:
                    rows.append(
                        {
                            "line": f"{share:.0%}{'' if side > 0 else ' '}",
                            "order": order,
                            "score": float(score),
                            "stage": float(stage),
                        }
                    )
    base = alt.Chart(chart_data(rows)).encode(
        x=alt.X("score:Q", scale=across), y=alt.Y("stage:Q", scale=up)
    )
    drawn = base.mark_line(color=INK, strokeWidth=1).encode(
        detail="line:N", order="order:Q", tooltip=[alt.Tooltip("line:N", title=outcome)]
    )
    names = base.transform_filter("datum.order == 40").mark_text(color=INK, dx=12, fontSize=10)
    return [drawn, names.encode(text="line:N")]
