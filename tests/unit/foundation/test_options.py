# SPDX-License-Identifier: Apache-2.0
"""Options as fields of a plan dataclass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from hyoka.foundation.errors import ParameterError
from hyoka.foundation.options import check_options, make_plan, option, options_of


def _pairs(texts: list[str]) -> dict[str, str]:
    return dict(text.split("=", 1) for text in texts)


@dataclass(frozen=True, kw_only=True)
class Plan:
    file: Path = option(help="A file.")
    games: int = option(100, "Games.", min=2, max=1000)
    rate: float = option(0.5, "Rate.", above=0)
    end: Literal["drop", "half"] = option("drop", "Draws.")
    limit: int | None = option(None, "Limit.", min=1)
    terms: Sequence[str] = option((), "A term.", name="term")
    bounds: Mapping[str, str] = option(
        default_factory=dict, help="Bounds.", is_repeatable=True, parse=_pairs
    )
    plays: bool = option(True, "Play.")
    internal: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_options(self)


def test_options_have_the_types_and_defaults_of_fields() -> None:
    options = {each.field: each for each in options_of(Plan)}
    assert "internal" not in options
    assert options["file"].default is ...
    assert options["file"].type is Path
    assert (options["games"].type, options["games"].default) == (int, 100)
    assert options["end"].choices == ("drop", "half")
    assert (options["limit"].type, options["limit"].is_optional) == (int, True)
    assert (options["terms"].name, options["terms"].is_repeatable) == ("term", True)
    assert options["bounds"].default == {}
    assert options["plays"].type is bool


def test_a_plan_s_values_are_defaults() -> None:
    options = {each.field: each for each in options_of(Plan(file=Path("a"), games=7))}
    assert options["games"].default == 7
    plan = make_plan(Plan(file=Path("a"), games=7), {"rate": "0.25"})
    assert (plan.games, plan.rate) == (7, 0.25)


def test_texts_of_forms_become_values() -> None:
    plan = make_plan(Plan, {"file": "x", "games": "5", "bounds": ["a=1"], "plays": ""})
    assert plan == Plan(file=Path("x"), games=5, bounds={"a": "1"}, plays=False)
    with pytest.raises(ParameterError, match="`games` is an integer, not 'some'"):
        make_plan(Plan, {"file": "x", "games": "some"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"games": 1}, "`games` is at least 2, not 1"),
        ({"games": 1001}, "`games` is at most 1000, not 1001"),
        ({"rate": 0.0}, "`rate` is above 0, not 0"),
        ({"rate": float("nan")}, "`rate` is a finite number, not nan"),
        ({"end": "some"}, "`end` is one of drop, half, not 'some'"),
        ({"limit": 0}, "`limit` is at least 1, not 0"),
    ],
)
def test_values_outside_of_the_range_are_errors(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Plan(file=Path("x"), **values)


def test_other_types_need_a_parser() -> None:
    @dataclass
    class Other:
        table: dict[str, int] = option(default_factory=dict, help="A table.")

    with pytest.raises(TypeError, match=r"Other\.table needs parse"):
        options_of(Other)
