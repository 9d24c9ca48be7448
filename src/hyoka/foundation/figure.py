# SPDX-License-Identifier: Apache-2.0
"""Options of figures for papers: size, range, title, legend and names."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from hyoka.foundation.errors import ParameterError
from hyoka.foundation.options import check_options, option, read_range

LegendPlace = Literal["top", "bottom", "left", "right", "inside", "none"]
_NAMES: Final = ("series", "name")
"""Fields of data that hold names of parts."""
_AND: Final = ", "
"""Separates an evaluator's name from a part's."""
_CONCATENATIONS: Final = ("vconcat", "hconcat", "concat")
_STRIP: Final = 60
"""Views up to this height are strips beside another view and keep their height."""


def _labels(texts: Sequence[str]) -> dict[str, str]:
    """Read labels as NAME=LABEL; names such as `ply = 3` contain `=`, labels do not."""
    for text in texts:
        if "=" not in text:
            raise ParameterError("labels", f"are NAME=LABEL, not '{text}'")
    return {text.rpartition("=")[0]: text.rpartition("=")[2] for text in texts}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Options of a chart in a file; unset ones keep the chart's values.

    >>> Figure(width=400, x_range=(-300, 300), labels={"ply < 20": "opening"}).legend
    'top'
    """

    title: str = option("", "Title of a picture.")
    width: int | None = option(
        None, "Width of a picture in pixels (1/96 inch), without axes.", min=10, max=10_000
    )
    height: int | None = option(
        None, "Height of a picture in pixels, without axes.", min=10, max=10_000
    )
    x_range: tuple[float, float] | None = option(
        None, "Range of a picture's x axis.", metavar="LOW,HIGH", parse=read_range
    )
    x_title: str = ""
    y_title: str = ""
    legend: LegendPlace = option("top", "Place of a picture's legend.")
    labels: Mapping[str, str] = option(
        default_factory=dict,
        help="New name of an evaluator or slice in pictures, repeatable.",
        name="label",
        metavar="NAME=LABEL",
        is_repeatable=True,
        parse=_labels,
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.x_range is not None:
            low, high = self.x_range
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ParameterError("x_range", f"is two rising numbers, not {low:g} and {high:g}")

    def applied(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Draw a Vega-Lite specification so; raises ParameterError for an unused label."""
        unused, names = set(self.labels), dict.fromkeys(_names(spec))
        for view in _views(spec):
            self._size(view)
            for channel, title in (("x", self.x_title), ("y", self.y_title)):
                encoded = view.get("encoding", {}).get(channel)
                if not isinstance(encoded, dict):
                    continue
                if title and encoded.get("title", "") is not None:
                    encoded["title"] = title
                if channel == "x" and self.x_range is not None and encoded.get("field"):
                    self._range(view, encoded)
        for holder in _dictionaries(spec):
            if self.legend in ("left", "right", "inside") and isinstance(
                holder.get("legend"), dict
            ):
                holder["legend"].pop("columns", None)
            unused -= self._rename(holder)
        if unused:
            there = f"names: {', '.join(names)}" if names else "it has no names"
            raise ParameterError(
                "labels", f"name no part of the figure: {', '.join(sorted(unused))}; {there}"
            )
        if self.legend == "inside":
            _keep_legends_in_views(spec)
        config = dict(spec.get("config", {}))
        if self.legend == "none":
            config["legend"] = {"disable": True}
        else:
            place = {"inside": "bottom-right"}.get(self.legend, self.legend)
            config["legend"] = {**config.get("legend", {}), "orient": place}
        spec["config"] = config
        if self.title:
            spec["title"] = self.title
        return spec

    def _size(self, view: dict[str, Any]) -> None:
        if self.width is not None and "width" in view:
            view["width"] = self.width
        height = view.get("height")
        if self.height is not None and isinstance(height, int) and height > _STRIP:
            view["height"] = self.height

    def _range(self, view: dict[str, Any], across: dict[str, Any]) -> None:
        if across.get("type", "quantitative") != "quantitative" or self.x_range is None:
            return
        scale = across.get("scale") or {}
        across["scale"] = {**scale, "domain": list(self.x_range), "nice": False}
        mark = view.get("mark")
        view["mark"] = (
            {"type": mark, "clip": True}
            if isinstance(mark, str)
            else {**(mark or {}), "clip": True}
        )

    def _rename(self, holder: dict[str, Any]) -> set[str]:
        """Replace names by labels in data and lists; return the labels used."""
        met: set[str] = set()

        def labeled(name: Any) -> Any:
            new, used = self._labeled(name) if isinstance(name, str) else (name, set())
            met.update(used)
            return new

        for key in _NAMES:
            if key in holder:
                holder[key] = labeled(holder[key])
        if isinstance(names := holder.get("domain"), list):
            holder["domain"] = [labeled(name) for name in names]
        return met

    def _labeled(self, name: str) -> tuple[str, set[str]]:
        """Return the label of a name, and the names that it uses.

        The name of an evaluator and a part (`comments, early`) may have its own label, or combine
        the labels of both.
        """
        if name in self.labels:
            return self.labels[name], {name}
        used: set[str] = set()
        for original, label in self.labels.items():
            if name.startswith(f"{original}{_AND}"):
                name, used = label + name.removeprefix(original), used | {original}
                break
        for original, label in self.labels.items():
            if name.endswith(f"{_AND}{original}"):
                name, used = name.removesuffix(original) + label, used | {original}
                break
        return name, used


def _views(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Iterate over a specification and all its views."""
    yield spec
    for key in (*_CONCATENATIONS, "layer"):
        for part in spec.get(key, ()):
            yield from _views(part)


def _names(spec: dict[str, Any]) -> Iterator[str]:
    """List the names of parts in a specification's data, in order."""
    for rows in spec.get("datasets", {}).values():
        for row in rows:
            yield from (row[key] for key in _NAMES if row.get(key))


def _keep_legends_in_views(spec: dict[str, Any]) -> None:
    """Give each of several views its own legend: a shared one would lie outside of all.

    Strips have no room for a legend.
    """
    for key in _CONCATENATIONS:
        if key not in spec:
            continue
        legends = dict.fromkeys(("color", "strokeDash"), "independent")
        spec["resolve"] = {**spec.get("resolve", {}), "legend": legends}
        for view in spec[key]:
            if isinstance(height := view.get("height"), int) and height <= _STRIP:
                for holder in _dictionaries(view):
                    if "legend" in holder:
                        holder["legend"] = None


def _dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = [each for key, each in value.items() if key != "config"]
    if isinstance(value, list):
        for each in value:
            yield from _dictionaries(each)
