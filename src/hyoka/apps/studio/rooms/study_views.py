# SPDX-License-Identifier: Apache-2.0
"""Views of a study: each returns the values of its template."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

import hyoka as hk
from hyoka.analysis import (
    TOO_FEW,
    Coverage,
    Curves,
    Disagreement,
    Gaps,
    Result,
    Slices,
    value_text,
)
from hyoka.analysis.gaps import NamedGap
from hyoka.analysis.sample import probability_text
from hyoka.apps.studio.pages import result_text
from hyoka.apps.studio.parameters import decimal_number
from hyoka.apps.studio.rooms.study_query import (
    SECONDS,
    Answer,
    Asked,
    answer,
    are_loaded,
    positions_of,
)
from hyoka.apps.studio.state import LruCache
from hyoka.reporting import Boards, Downloads, Section, Table
from hyoka.reporting.analysis_charts import evaluation_curves, pick_key, result_section
from hyoka.reporting.study_report.examples import (
    NOT_ON_THE_BOARD,
    Example,
    bin_examples,
    boards_of,
    disputed_examples,
    examples_against,
)
from hyoka.study import Question
from hyoka.study.sampling import evaluator_titles
from hyoka.study.sql import check_condition, within_seconds

_BOARDS: Final = 8
_GAMES_A_PAGE: Final = 50
_FEW: Final = 100
"""Resamples where a result needs some, so that a page comes soon."""
_AT_ONCE: Final = 1_000_000
"""Default number of positions for slice discovery."""

Values = dict[str, Any]
_cache: Final[LruCache[Any]] = LruCache(24)


@dataclass(frozen=True)
class View:
    """Something to be seen of a study."""

    title: str
    purpose: str
    values: Callable[[Asked], Values]
    """Values of its template `study/NAME.html`."""
    results: Callable[[Asked], Mapping[str, Result]] | None = None
    """Results to save, by name."""
    is_quick: Callable[[Asked], bool] = lambda _asked: False
    """Whether it can be part of the page as it opens."""


def once(asked: Asked, name: str, make: Callable[[], Any]) -> Any:
    """A result that is kept until the study changes."""
    question = (asked["where"], asked["by"], asked["draws"], asked["resamples"])
    key = (name, asked.path, str(asked.study.path), asked.stamp, tuple(asked.engines), question)

    def made() -> Any:
        with within_seconds(SECONDS * 3):
            return make()

    return _cache.get(key, made)


def _some(asked: Asked) -> hk.Resampling:
    return asked.resampling if asked.resampling.resamples else hk.Resampling(_FEW)


SAVED: Final[Mapping[str, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "svg": "SVG",
    "png": "PNG",
    "html": "page",
}
"""Names of the formats of downloads, by suffix."""


def downloads(asked: Asked, result: str) -> list[tuple[str, str]]:
    """Download addresses of a result by format."""
    return [
        (words, asked.to("/study/save", result=result, **{"as": ending}))
        for ending, words in SAVED.items()
    ]


# Curves


def _answer(asked: Asked) -> Answer:
    result: Answer = once(asked, "curves", lambda: answer(asked))
    return result


def _curve_values(asked: Asked) -> Values:
    result = _answer(asked)
    bins = _bin_addresses(asked, result.curves)
    drawn_first = list(bins.values())
    _heading, *rows = result.curves.lines()
    links = drawn_first if len(drawn_first) == len(rows) else []
    section = result_section(
        result.curves,
        chart=evaluation_curves(result.curves, bins),
        links=links,
        downloads=downloads(asked, "curves"),
    )
    gaps = result.gaps
    by = [] if asked.where is None else ["--by", asked.where]
    return {
        "curves": section,
        "gaps": gaps,
        "gap_rows": [_gap_row(gaps, gap) for gap in gaps],
        "gap_downloads": Downloads("the gaps", downloads(asked, "gaps")),
        "missing": result.missing,
        "common": once(asked, "common", lambda: _common(asked)),
        "bin": _bin(asked) if asked["at"] else None,
        "commands": [
            asked.command("analyze", "curves", *by, "--resamples", str(asked.resampling.resamples)),
            *([asked.command("analyze", "gaps", *by)] if by else []),
        ],
    }


def _common(asked: Asked) -> list[str]:
    """Which positions the curves rest on, where that is not simply all there are."""
    if asked.by is not None:
        return []
    positions = positions_of(asked)
    groups = tuple(
        each.loaded.group(each.group.own_positions, each.group.common_positions)
        for each in positions
    )
    none = np.zeros(0, np.int64)
    games = functools.reduce(np.union1d, (each.loaded.joint_games for each in positions), none)
    drawn = functools.reduce(np.union1d, (each.loaded.drawn_games for each in positions), none)
    covered = Coverage(groups, asked.draws, len(games), len(drawn))
    return [covered.text(hint=False)] if len(asked.engines) > 1 or len(drawn) else []


def _gap_row(gaps: Gaps, gap: NamedGap) -> Values:
    level, lean = gap.gap.level, gap.gap.lean
    described: Values = {
        "name": gap.evaluator,
        "condition": gap.condition,
        "positions": gap.gap.positions,
        "games": gap.gap.games,
    }
    if not gaps.has_enough_games(gap):
        texts = dict.fromkeys(("level", "level_p", "lean", "lean_p"), TOO_FEW)
        return described | texts | {"level_sure": False, "lean_sure": False, "largest": ""}
    return described | {
        "level": level.effect.text("+.3f"),
        "level_p": probability_text(level.p_value),
        "level_sure": level.p_value < 0.05,
        "lean": lean.effect.text("+.3f"),
        "lean_p": probability_text(lean.p_value),
        "lean_sure": lean.p_value < 0.05,
        "largest": "" if gap.distance is None else f"{gap.distance.largest_gap:+.3f}",
        "largest_p": "" if gap.distance is None else probability_text(gap.distance.p_value),
    }


def _bin_addresses(asked: Asked, curves: Curves) -> dict[str, str]:
    """The address of each bin by its pick."""
    return {
        pick_key(number, index): asked.to(
            at=part.name,
            low=repr(point.lower),
            part="all" if not part.condition else None,
            draw=None,
        )
        + "#bin"
        for number, part in enumerate(curves.drawn)
        for index, point in enumerate(part.points)
    }


def _bin(asked: Asked) -> Values | None:
    """Boards of one bin of a curve."""
    if asked.by is not None:
        return None
    low = decimal_number(asked["low"], "low", -math.inf, math.inf)  # the first bin is open below
    of_all = asked["part"] == "all" or asked.where is None
    for positions in positions_of(asked):
        for sample in positions.loaded.samples:
            if sample.name != asked["at"]:
                continue
            curves = [
                part
                for part in _answer(asked).curves
                if part.name == sample.name and bool(part.condition) != of_all
            ]
            points = [point for part in curves for point in part.points]
            if not points or not all(map(_answer(asked).curves.has_enough_games, curves)):
                return None
            part = sample
            if not of_all and asked.where is not None:
                part = sample.where(positions.holding(asked.study, asked.where))
            point = min(points, key=lambda each: 0 if each.lower == low else abs(each.value - low))
            draw = asked.number("draw", 0, 0, 10_000)
            wanted = replace(curves[0], points=(point,))
            [examples] = bin_examples(positions.loaded, part, wanted, _BOARDS, draw)
            return {
                "name": sample.name,
                "value": value_text(point.value, sample.unit),
                "share": f"{point.share:.1%}",
                "interval": f"{point.low:.1%} to {point.high:.1%}",
                "positions": point.positions,
                "games": point.games,
                "condition": "" if of_all else asked.where,
                "boards": boards(asked, examples),
                "more": asked.to(draw=draw + 1) + "#bin",
            }
    return None


def boards(asked: Asked, examples: Iterable[Example]) -> Boards:
    """Boards of positions, each leading to its game."""
    wanted = list(examples)
    plain = boards_of(asked.study, wanted)
    return Boards([replace(plain[e], link=game_address(asked, e.game_id, e.ply)) for e in wanted])


def game_address(asked: Asked, game: int, ply: int | None = None) -> str:
    """Address of a game in the viewer."""
    return asked.to("/study/game", game=game, ply=ply, at=None, low=None, part=None, draw=None,
                    page=None, slice=None)  # fmt: skip


# Splits


def _chosen(asked: Asked) -> str:
    """The evaluator that a view of one is about."""
    name = asked["of"]
    if name and name not in asked.study.engines:
        raise hk.errors.StudyError(f"this study has no evaluator '{name}'")
    return name or asked.engines[0]


def _slices_of(asked: Asked) -> Slices:
    name = _chosen(asked)
    question = asked.question.also(by=None, resampling=_some(asked))
    slices: Slices = once(asked, f"slices {name}", lambda: asked.study.slices(name, question))
    return slices


def _slice_values(asked: Asked) -> Values:
    name = _chosen(asked)
    total = asked.study.sql("select count(*) as n from positions")["n"][0].as_py()
    command = asked.command(
        "analyze", "slices", *(["--where", asked.where] if asked.where else []), evaluators=[name]
    )
    [label] = evaluator_titles(asked.study, [name])
    values: Values = {"of": name, "label": label, "commands": [command]}
    if total > _AT_ONCE and not asked["search"]:
        return values | {"ask_first": total, "slices": None}
    slices = _slices_of(asked)
    chosen = asked.number("slice", 1, 1, max(len(slices), 1))
    listed = [
        {
            "number": number,
            "sentence": biased.sentence,
            "is_sure": biased.is_sure,
            "q": probability_text(biased.q_value),
            "positions": biased.gap.positions,
            "games": biased.gap.games,
            "sql": biased.condition.sql,
            "curves": asked.to(view=None, where=_both(asked.where, biased.condition.sql),
                               engine=[name], of=None, slice=None, search=None),
            "boards_at": asked.to(slice=number) + f"#slice-{number}",
            "boards": _slice_boards(asked, name, slices, number) if number == chosen else None,
        }
        for number, biased in enumerate(slices, 1)
    ]  # fmt: skip
    shown = result_section(slices, downloads=downloads(asked, "slices")) if listed else None
    return values | {"ask_first": None, "slices": listed, "shown": shown, "notes": slices.notes()}


def _both(one: str | None, other: str) -> str:
    return other if one is None else f"({one}) and ({other})"


def _slice_boards(asked: Asked, name: str, slices: Slices, number: int) -> Boards:
    from hyoka.study.sampling import measured  # noqa: PLC0415

    question = asked.question.also(by=None)
    loaded = once(asked, f"of {name}", lambda: measured(asked.study, name, question))
    endings = asked.study.sql("select game_id, ending from games order by game_id")
    ids = endings["game_id"].to_numpy()
    on_the_board = np.ones(int(ids.max(initial=-1)) + 1, bool)
    on_the_board[ids] = ~np.isin(endings["ending"].to_numpy(zero_copy_only=False), NOT_ON_THE_BOARD)
    biased = slices[number - 1]
    return boards(asked, examples_against(loaded, loaded.samples[0], biased, on_the_board, _BOARDS))


# Games


def _game_values(asked: Asked) -> Values:
    page = asked.number("page", 1, 1, 1_000_000)
    study = asked.study
    condition = "true"
    if asked.where is not None:
        checked = check_condition(asked.where, study.condition_columns())
        condition = f"game_id in (select game_id from positions where {checked})"
    with within_seconds(SECONDS):
        rows = study.sql(
            "select game_id, first, second, date, result, ending, plies from games where "
            f"{condition} order by game_id limit {_GAMES_A_PAGE + 1} "
            f"offset {(page - 1) * _GAMES_A_PAGE}"
        ).to_pylist()
    more = len(rows) > _GAMES_A_PAGE
    listed = rows[:_GAMES_A_PAGE]
    return {
        "games": Table(
            "Games",
            ("Game", "First player", "Second player", "Result", "Plies", "Date"),
            [
                (
                    f"{row['game_id']:,}",
                    row["first"] or "?",
                    row["second"] or "?",
                    result_text(row["result"], row["ending"]),
                    f"{row['plies']:,}",
                    row["date"] or "",
                )
                for row in listed
            ],
            [game_address(asked, row["game_id"]) for row in listed],
        ),
        "page": page,
        "before": asked.to(page=page - 1) if page > 1 else "",
        "after": asked.to(page=page + 1) if more else "",
        "commands": [],
    }


# Where two disagree


def _two(asked: Asked) -> tuple[str, str]:
    known = asked.study.engines
    chosen = [name for name in (asked["one"], asked["other"]) if name in known]
    names = list(dict.fromkeys([*chosen, *asked.engines, *known]))
    if len(names) < 2:
        raise hk.errors.StudyError(
            "two evaluators are needed to disagree: evaluate the study with another one"
        )
    return names[0], names[1]


def _disagreements(asked: Asked) -> Disagreement:
    one, other = _two(asked)
    question = asked.question.also(by=None, resampling=_some(asked))
    disagreement: Disagreement = once(
        asked,
        f"disagreement {one} {other}",
        lambda: asked.study.disagreements(one, other, question, top=_BOARDS),
    )
    return disagreement


def _disagreement_values(asked: Asked) -> Values:
    from hyoka.study.sampling import measured  # noqa: PLC0415

    one, other = _two(asked)
    disagreement = _disagreements(asked)
    question = asked.question.also(by=None)
    loaded = once(
        asked, f"of {one} and {other}", lambda: measured(asked.study, [one, other], question)
    )
    examples = disputed_examples(
        loaded, disagreement, loaded.samples[0], loaded.samples[1], _BOARDS
    )
    where = ["--where", asked.where] if asked.where else []
    return {
        "one": one,
        "other": other,
        "shown": result_section(disagreement, downloads=downloads(asked, "disagreements")),
        "boards": boards(asked, examples),
        "commands": [asked.command("analyze", "disagreements", *where, evaluators=[one, other])],
    }


# Other results


_NAMED: Final[Mapping[str, str]] = {
    "metrics": "Metrics",
    "calibration": "Win probabilities",
    "wdl-curves": "Win, draw and loss by value",
    "wdl": "Win, draw and loss over the game",
}
"""Results as people call them, where one cannot be had."""


def _with_results(
    make: Mapping[str, Callable[[Asked], Result]], *commands: str
) -> tuple[Callable[[Asked], Values], Callable[[Asked], Mapping[str, Result]]]:
    """A view of results, one below the other."""

    def results(asked: Asked) -> Mapping[str, Result]:
        return {name: _made(asked, name, of) for name, of in make.items()}

    def values(asked: Asked) -> Values:
        sections: list[Section] = []
        problems: list[str] = []
        for name, of in make.items():
            try:
                result = _made(asked, name, of)
            except hk.errors.StudyError as error:
                problems.append(f"{_NAMED.get(name, name)}: {error}.")
                continue
            saved = downloads(asked, name)
            sections.append(result_section(result, downloads=saved, opened=name == "metrics"))
        where = ["--where", asked.where] if asked.where else []
        return {
            "results": sections,
            "problems": problems,
            "commands": [asked.command(command, *where) for command in commands],
        }

    return values, results


def _made(asked: Asked, name: str, make: Callable[[Asked], Result]) -> Result:
    result: Result = once(asked, name, lambda: make(asked))
    return result


def _question(asked: Asked) -> Question:
    return asked.question.also(resampling=_some(asked))


_metrics: Final = _with_results(
    {"metrics": lambda asked: asked.study.metrics(asked.engines, _question(asked))}, "metrics"
)
_calibration: Final = _with_results(
    {
        "calibration": lambda asked: asked.study.calibration(asked.engines, _question(asked)),
        "wdl-curves": lambda asked: asked.study.curve(asked.engines, _question(asked), wdl=True),
        "wdl": lambda asked: asked.study.wdl(asked.engines, _question(asked)),
    },
    "calibrate",
    "wdl",
)

VIEWS: Final[Mapping[str, View]] = {
    "curves": View(
        "Curves",
        "How often the first player won, by what evaluators said.",
        _curve_values,
        lambda asked: {"curves": _answer(asked).curves, "gaps": _answer(asked).gaps},
        lambda asked: asked.by is None and are_loaded(asked),
    ),
    "slices": View(
        "Slices",
        "Conditions under which an evaluator is most wrong.",
        _slice_values,
        lambda asked: {"slices": _slices_of(asked)},
    ),
    "games": View(
        "Games",
        "All games, or those in which the condition holds somewhere.",
        _game_values,
        is_quick=lambda _asked: True,
    ),
    "disagreements": View(
        "Disagreements",
        "Where two evaluators differ most, and who was right.",
        _disagreement_values,
        lambda asked: {"disagreements": _disagreements(asked)},
    ),
    "metrics": View(
        "Metrics", "How well evaluators tell wins from losses.", *_metrics
    ),
    "calibration": View(
        "Calibration",
        "What scores are worth: win probabilities, and win, draw and loss over the game.",
        *_calibration,
    ),
}  # fmt: skip
