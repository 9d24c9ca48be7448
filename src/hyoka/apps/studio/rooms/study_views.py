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
from hyoka.apps.studio.forms import decimal_number
from hyoka.apps.studio.pages import result_text
from hyoka.apps.studio.rooms.study_query import (
    SECONDS,
    Answer,
    StudyQuery,
    answer,
    are_loaded,
    positions_of,
)
from hyoka.apps.studio.state import LruCache
from hyoka.reporting import Boards, Downloads, Section, Table
from hyoka.reporting.analysis_charts import evaluation_curves, pick_key, result_section
from hyoka.reporting.study_report.examples import (
    Example,
    bin_examples,
    boards_of,
    disputed_examples,
    examples_against,
    on_the_board,
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
    values: Callable[[StudyQuery], Values]
    """Values of its template `study/NAME.html`."""
    results: Callable[[StudyQuery], Mapping[str, Result]] | None = None
    """Results to save, by name."""
    is_quick: Callable[[StudyQuery], bool] = lambda _query: False
    """Whether it can be part of the page as it opens."""


def once(query: StudyQuery, name: str, make: Callable[[], Any]) -> Any:
    """A result that is kept until the study changes."""
    question = (query["where"], query["by"], query["draws"], query["resamples"])
    key = (name, query.path, str(query.study.path), query.stamp, tuple(query.engines), question)

    def compute() -> Any:
        with within_seconds(SECONDS * 3):
            return make()

    return _cache.get(key, compute)


def _some(query: StudyQuery) -> hk.Resampling:
    return query.resampling if query.resampling.resamples else hk.Resampling(_FEW)


SAVED: Final[Mapping[str, str]] = {
    "csv": "CSV",
    "parquet": "Parquet",
    "json": "JSON",
    "svg": "SVG",
    "png": "PNG",
    "html": "page",
}
"""Names of the formats of downloads, by suffix."""


def downloads(query: StudyQuery, result: str) -> list[tuple[str, str]]:
    """Download addresses of a result by format."""
    return [
        (words, query.to("/study/save", result=result, **{"as": ending}))
        for ending, words in SAVED.items()
    ]


# Curves


def _answer(query: StudyQuery) -> Answer:
    result: Answer = once(query, "curves", lambda: answer(query))
    return result


def _curve_values(query: StudyQuery) -> Values:
    result = _answer(query)
    bins = _bin_addresses(query, result.curves)
    drawn_first = list(bins.values())
    _heading, *rows = result.curves.lines()
    links = drawn_first if len(drawn_first) == len(rows) else []
    section = result_section(
        result.curves,
        chart=evaluation_curves(result.curves, bins),
        links=links,
        downloads=downloads(query, "curves"),
    )
    gaps = result.gaps
    by = [] if query.where is None else ["--by", query.where]
    return {
        "curves": section,
        "gaps": gaps,
        "gap_rows": [_gap_row(gaps, gap) for gap in gaps],
        "gap_downloads": Downloads("the gaps", downloads(query, "gaps")),
        "missing": result.missing,
        "common": once(query, "common", lambda: _common(query)),
        "bin": _bin(query) if query["at"] else None,
        "commands": [
            query.command("analyze", "curves", *by, "--resamples", str(query.resampling.resamples)),
            *([query.command("analyze", "gaps", *by)] if by else []),
        ],
    }


def _common(query: StudyQuery) -> list[str]:
    """Which positions the curves rest on, where that is not simply all there are."""
    if query.by is not None:
        return []
    positions = positions_of(query)
    groups = tuple(
        each.loaded.group(each.group.own_positions, each.group.common_positions)
        for each in positions
    )
    none = np.zeros(0, np.int64)
    games = functools.reduce(np.union1d, (each.loaded.joint_games for each in positions), none)
    drawn = functools.reduce(np.union1d, (each.loaded.drawn_games for each in positions), none)
    notes = tuple(dict.fromkeys(each.loaded.note for each in positions if each.loaded.note))
    covered = Coverage(groups, query.draws, len(games), len(drawn), notes=notes)
    is_some = len(query.engines) > 1 or len(drawn) or notes
    return [covered.text(hint=False)] if is_some else []


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


def _bin_addresses(query: StudyQuery, curves: Curves) -> dict[str, str]:
    """The address of each bin by its pick."""
    return {
        pick_key(number, index): query.to(
            at=part.name,
            low=repr(point.lower),
            part="all" if not part.condition else None,
            draw=None,
        )
        + "#bin"
        for number, part in enumerate(curves.drawn)
        for index, point in enumerate(part.points)
    }


def _bin(query: StudyQuery) -> Values | None:
    """Boards of one bin of a curve."""
    if query.by is not None:
        return None
    low = decimal_number(query["low"], "low", -math.inf, math.inf)  # the first bin is open below
    of_all = query["part"] == "all" or query.where is None
    for positions in positions_of(query):
        for sample in positions.loaded.samples:
            if sample.name != query["at"]:
                continue
            curves = [
                part
                for part in _answer(query).curves
                if part.name == sample.name and bool(part.condition) != of_all
            ]
            points = [point for part in curves for point in part.points]
            if not points or not all(map(_answer(query).curves.has_enough_games, curves)):
                return None
            part = sample
            if not of_all and query.where is not None:
                part = sample.where(positions.holding(query.study, query.where))
            point = min(points, key=lambda each: 0 if each.lower == low else abs(each.value - low))
            draw = query.number("draw", 0, 0, 10_000)
            of_bin = replace(curves[0], points=(point,))
            [examples] = bin_examples(positions.loaded, part, of_bin, _BOARDS, draw)
            return {
                "name": sample.name,
                "value": value_text(point.value, sample.unit),
                "share": f"{point.share:.1%}",
                "interval": f"{point.low:.1%} to {point.high:.1%}",
                "positions": point.positions,
                "games": point.games,
                "condition": "" if of_all else query.where,
                "boards": boards(query, examples),
                "more": query.to(draw=draw + 1) + "#bin",
            }
    return None


def boards(query: StudyQuery, examples: Iterable[Example]) -> Boards:
    """Boards of positions, each leading to its game."""
    listed = list(examples)
    plain = boards_of(query.study, listed)
    return Boards([replace(plain[e], link=game_address(query, e.game_id, e.ply)) for e in listed])


def game_address(query: StudyQuery, game: int, ply: int | None = None) -> str:
    """Address of a game in the viewer."""
    return query.to("/study/game", game=game, ply=ply, at=None, low=None, part=None, draw=None,
                    page=None, slice=None)  # fmt: skip


# Splits


def _chosen(query: StudyQuery) -> str:
    """The evaluator that a view of one is about."""
    name = query["of"]
    if name and name not in query.study.engines:
        raise hk.errors.StudyError(f"this study has no evaluator '{name}'")
    return name or query.engines[0]


def _slices_of(query: StudyQuery) -> Slices:
    name = _chosen(query)
    question = query.question.also(by=None, resampling=_some(query))
    slices: Slices = once(query, f"slices {name}", lambda: query.study.slices(name, question))
    return slices


def _slice_values(query: StudyQuery) -> Values:
    name = _chosen(query)
    total = query.study.sql("select count(*) as n from positions")["n"][0].as_py()
    command = query.command(
        "analyze", "slices", *(["--where", query.where] if query.where else []), evaluators=[name]
    )
    [label] = evaluator_titles(query.study, [name])
    values: Values = {"of": name, "label": label, "commands": [command]}
    if total > _AT_ONCE and not query["search"]:
        return values | {"ask_first": total, "slices": None}
    slices = _slices_of(query)
    chosen = query.number("slice", 1, 1, max(len(slices), 1))
    listed = [
        {
            "number": number,
            "sentence": biased.sentence,
            "is_sure": biased.is_sure,
            "q": probability_text(biased.q_value),
            "positions": biased.gap.positions,
            "games": biased.gap.games,
            "also": biased.also_text,
            "sql": biased.condition.sql,
            "curves": query.to(view=None, where=_both(query.where, biased.condition.sql),
                               engine=[name], of=None, slice=None, search=None),
            "boards_at": query.to(slice=number) + f"#slice-{number}",
            "boards": _slice_boards(query, name, slices, number) if number == chosen else None,
        }
        for number, biased in enumerate(slices, 1)
    ]  # fmt: skip
    shown = result_section(slices, downloads=downloads(query, "slices")) if listed else None
    return values | {"ask_first": None, "slices": listed, "shown": shown, "notes": slices.notes()}


def _both(one: str | None, other: str) -> str:
    return other if one is None else f"({one}) and ({other})"


def _slice_boards(query: StudyQuery, name: str, slices: Slices, number: int) -> Boards:
    from hyoka.study.sampling import measured, slice_columns  # noqa: PLC0415

    question = query.question.also(by=None)
    columns = slice_columns(query.study)  # With these, the same positions fit in memory.
    loaded = once(
        query,
        f"slices of {name}",
        lambda: measured(query.study, name, question, columns=columns),
    )
    ended, biased = on_the_board(query.study), slices[number - 1]
    return boards(query, examples_against(loaded, loaded.samples[0], biased, ended, _BOARDS))


# Games


def _game_values(query: StudyQuery) -> Values:
    page = query.number("page", 1, 1, 1_000_000)
    study = query.study
    condition = "true"
    if query.where is not None:
        checked = check_condition(query.where, study.condition_columns())
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
            [game_address(query, row["game_id"]) for row in listed],
        ),
        "page": page,
        "before": query.to(page=page - 1) if page > 1 else "",
        "after": query.to(page=page + 1) if more else "",
        "commands": [],
    }


# Where two disagree


def _two(query: StudyQuery) -> tuple[str, str]:
    evaluators = query.study.engines
    chosen = [name for name in (query["one"], query["other"]) if name in evaluators]
    names = list(dict.fromkeys([*chosen, *query.engines, *evaluators]))
    if len(names) < 2:
        raise hk.errors.StudyError(
            "two evaluators are needed to disagree: evaluate the study with another one"
        )
    return names[0], names[1]


def _disagreements(query: StudyQuery) -> Disagreement:
    one, other = _two(query)
    question = query.question.also(by=None, resampling=_some(query))
    disagreement: Disagreement = once(
        query,
        f"disagreement {one} {other}",
        lambda: query.study.disagreements(one, other, question, top=_BOARDS),
    )
    return disagreement


def _disagreement_values(query: StudyQuery) -> Values:
    from hyoka.study.sampling import measured  # noqa: PLC0415

    one, other = _two(query)
    disagreement = _disagreements(query)
    question = query.question.also(by=None)
    loaded = once(
        query, f"of {one} and {other}", lambda: measured(query.study, [one, other], question)
    )
    examples = disputed_examples(
        loaded, disagreement, loaded.samples[0], loaded.samples[1], _BOARDS
    )
    where = ["--where", query.where] if query.where else []
    return {
        "one": one,
        "other": other,
        "shown": result_section(disagreement, downloads=downloads(query, "disagreements")),
        "boards": boards(query, examples),
        "commands": [query.command("analyze", "disagreements", *where, evaluators=[one, other])],
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
    make: Mapping[str, Callable[[StudyQuery], Result]], *commands: str
) -> tuple[Callable[[StudyQuery], Values], Callable[[StudyQuery], Mapping[str, Result]]]:
    """A view of results, one below the other."""

    def results(query: StudyQuery) -> Mapping[str, Result]:
        return {name: _made(query, name, of) for name, of in make.items()}

    def values(query: StudyQuery) -> Values:
        sections: list[Section] = []
        problems: list[str] = []
        for name, of in make.items():
            try:
                result = _made(query, name, of)
            except hk.errors.StudyError as error:
                problems.append(f"{_NAMED.get(name, name)}: {error}.")
                continue
            saved = downloads(query, name)
            sections.append(result_section(result, downloads=saved, opened=name == "metrics"))
        where = ["--where", query.where] if query.where else []
        return {
            "results": sections,
            "problems": problems,
            "commands": [query.command(command, *where) for command in commands],
        }

    return values, results


def _made(query: StudyQuery, name: str, make: Callable[[StudyQuery], Result]) -> Result:
    result: Result = once(query, name, lambda: make(query))
    return result


def _question(query: StudyQuery) -> Question:
    return query.question.also(resampling=_some(query))


_metrics: Final = _with_results(
    {"metrics": lambda query: query.study.metrics(query.engines, _question(query))}, "metrics"
)
_calibration: Final = _with_results(
    {
        "calibration": lambda query: query.study.calibration(query.engines, _question(query)),
        "wdl-curves": lambda query: query.study.curve(query.engines, _question(query), wdl=True),
        "wdl": lambda query: query.study.wdl(query.engines, _question(query)),
    },
    "calibrate",
    "wdl",
)

VIEWS: Final[Mapping[str, View]] = {
    "curves": View(
        "Curves",
        "How often the first player won, by what evaluators said.",
        _curve_values,
        lambda query: {"curves": _answer(query).curves, "gaps": _answer(query).gaps},
        lambda query: query.by is None and are_loaded(query),
    ),
    "slices": View(
        "Slices",
        "Conditions under which an evaluator is most wrong.",
        _slice_values,
        lambda query: {"slices": _slices_of(query)},
    ),
    "games": View(
        "Games",
        "All games, or those in which the condition holds somewhere.",
        _game_values,
        is_quick=lambda _query: True,
    ),
    "disagreements": View(
        "Disagreements",
        "Where two evaluators differ most, and who was right.",
        _disagreement_values,
        lambda query: {"disagreements": _disagreements(query)},
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
