# SPDX-License-Identifier: Apache-2.0
"""How charts look and how they are drawn: in a page by the browser, in a file by vl-convert."""

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.resources
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import altair
import vl_convert

from hyoka.figure import Figure
from hyoka.files import write_bytes, write_text
from hyoka.storage.outputs import mark_png, mark_svg

INK: Final = "var(--ink)"
"""The colour of the page's text. A chart names its colours so: the page decides what they are."""
QUIET: Final = "var(--quiet)"
"""For what stands in the background: references, draws."""
COLOURS: Final = tuple(f"var(--series-{number})" for number in range(1, 9))
"""To tell series apart, in this order."""
PICKED: Final = altair.param(name="picked", value="")
"""The key of the pick that an `Explorer` shows.

A chart that takes it (`chart.add_params(PICKED)`) can set the picked mark apart from the others
(`altair.when(altair.datum.pick == PICKED)`). In a picture of its own nothing is picked.
"""

_PICTURE_WIDTH: Final = 640
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
_QUIET_AXIS: Final = {
    "labelColor": QUIET,
    "titleColor": INK,
    "domainColor": QUIET,
    "tickColor": "var(--line)",
    "gridColor": "var(--line)",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "titlePadding": 8,
    "labelLimit": 150,
    "labelOverlap": True,
}
_LOOK: Final[dict[str, Any]] = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": "transparent", "continuousWidth": _PICTURE_WIDTH, "continuousHeight": 280},
    "axis": _QUIET_AXIS,
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "orient": "top",
        "labelFontSize": 12,
        "labelLimit": 0,  # none: names are told apart by their ends
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
        "title": None,
    },
    "title": {"color": INK, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "range": {"category": list(COLOURS)},
    "line": {"strokeWidth": 2},
    "area": {"opacity": 0.18},
    "bar": {"color": COLOURS[0]},
    "point": {"color": COLOURS[0], "filled": True, "opacity": 1, "size": 60},
    "rule": {"color": COLOURS[0], "strokeWidth": 2},
    "text": {"color": INK, "fontSize": 12},
}


def specification(chart: altair.TopLevelMixin, description: str = "") -> dict[str, Any]:
    """The chart as Vega-Lite, in the page's colours and with words for who cannot see it.

    Vega-Lite makes only single charts as wide as the page. Charts above one another that ask for it
    get the width of a picture, and a note for `draw.js`, which then keeps them as wide as the page.
    """
    spec: dict[str, Any] = chart.to_dict()
    spec["config"] = _LOOK
    parts = spec.get("vconcat", [])
    if parts and all(part.get("width") == "container" for part in parts):
        spec["usermeta"] = {"fit": True}
        spec["vconcat"] = [part | {"width": _PICTURE_WIDTH} for part in parts]
    if description:
        spec["description"] = description
    return spec


@functools.cache
def styles() -> str:
    """The style sheet of every page; its first rule has the colours in the light."""
    return (importlib.resources.files("hyoka.page") / "page.css").read_text(encoding="utf-8")


@functools.cache
def drawing_script() -> str:
    """Everything the browser needs to draw the charts of a page: Vega, Vega-Lite and `draw.js`.

    Taken from vl-convert, so it needs no network; made safe to stand inside an HTML page.
    """
    ours = (importlib.resources.files("hyoka.page") / "draw.js").read_text(encoding="utf-8")
    version = vega_lite_version()
    made_of = f"{importlib.metadata.version('vl-convert-python')} {version} {ours}"
    # Bundling takes seconds and always gives the same: it is kept where caches are.
    kept = _cache() / f"charts-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.js"
    with contextlib.suppress(OSError):
        return kept.read_text(encoding="utf-8")
    bundle = vl_convert.javascript_bundle(ours, version)
    script = re.sub(r"<(?=/script|script|!--)", r"\\x3c", bundle, flags=re.IGNORECASE)
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_text(kept, script)
    return script


def _cache() -> Path:
    """Where programs keep what they can make again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyoka"


def save_chart(
    chart: altair.TopLevelMixin, path: Path, *, scale: float = 2.0, figure: Figure | None = None
) -> None:
    """Write the chart as a picture on white, `.png`, `.svg` or `.pdf` as the path ends.

    A chart as wide as its page becomes 640 pixels wide, times `scale` in a PNG, unless `figure`
    says how it is to be. Raises ValueError for another ending.
    """
    spec = _on_paper(chart, figure)
    if path.suffix.lower() == ".svg":
        svg = vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version())
        write_text(path, mark_svg(svg))
    elif path.suffix.lower() == ".png":
        png = vl_convert.vegalite_to_png(spec, vl_version=vega_lite_version(), scale=scale)
        write_bytes(path, mark_png(png))
    elif path.suffix.lower() == ".pdf":
        write_bytes(path, vl_convert.vegalite_to_pdf(spec, vl_version=vega_lite_version()))
    else:
        raise ValueError(f"a chart is saved as .png, .svg or .pdf, not as '{path.name}'")


@dataclass(frozen=True, repr=False)
class Picture:
    """A chart as it is drawn on white: SVG, which notebooks show."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


def drawn(chart: altair.TopLevelMixin, figure: Figure | None = None) -> Picture:
    """The chart as a picture, as `save_chart` writes it."""
    spec = _on_paper(chart, figure)
    return Picture(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite_version()))


def _on_paper(chart: altair.TopLevelMixin, figure: Figure | None) -> dict[str, Any]:
    """A chart's specification with colours of its own, as wide as a picture."""
    spec = specification(chart)
    if spec.get("width") == "container":
        spec["width"] = _PICTURE_WIDTH
    if figure is not None:
        spec = figure.applied(spec)
    text = re.sub(r"var\(--([a-z0-9-]+)\)", _paper_colour, json.dumps(spec))
    spec = dict(json.loads(text))
    spec["config"]["background"] = "white"
    spec["config"]["font"] = "sans-serif"
    return spec


def _paper_colour(name: re.Match[str]) -> str:
    return _light_colours().get(name[1], name[0])


@functools.cache
def _light_colours() -> dict[str, str]:
    """The colours of the light page by name; a chart in a file of its own has them too."""
    light = styles().partition("}")[0]
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]+);", light))


def vega_lite_version() -> str:
    """The version of Vega-Lite that Altair writes, as vl-convert spells it: `6.4`."""
    return ".".join(altair.VEGALITE_VERSION.split(".")[:2])
