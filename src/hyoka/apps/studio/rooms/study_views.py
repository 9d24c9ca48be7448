# SPDX-License-Identifier: Apache-2.0
"""Views of a study: each returns the values of its template."""

import functools
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

import hyoka as hk
from hyoka import analysis
from hyoka.analysis import (
    MIN_GAMES,
    TOO_FEW,
    Certainty,
    Comparison,
    Coverage,
    Curve,
    Disagreement,
    Gaps,
    Result,
    Slices,
    value_text,
)
from hyoka.analysis.curves import share_of
from hyoka.analysis.gaps import NamedGap
from hyoka.analysis.metrics import number_text
from hyoka.analysis.sample import probability_text
from hyoka.apps.studio.blocks import DrawnCurve, color_number, panels, sparkline
from hyoka.apps.studio.pages import LruCache, result_text
from hyoka.apps.studio.rooms.study_query import (
    MEMORY,
    SECONDS,
    ChosenRange,
    StudyQuery,
    answer_of,
    are_loaded,
    once,
    positions_of,
    range_positions,
)
from hyoka.reporting import Boards, Chart, Details, Downloads, Section, Table
from hyoka.reporting.analysis_charts import result_section, unique_labels
from hyoka.reporting.study_report.examples import (
    Example,
    bin_examples,
    boards_of,
    disputed_examples,
    examples_against,
    on_the_board,
)
from hyoka.storage.manifest import derived_files, read_manifest
from hyoka.study import Question
from hyoka.study.sampling import evaluator_text, evaluator_titles, measured
from hyoka.study.sql import check_condition, within_seconds

_BOARDS: Final = 8
_RANGE_WIDTH: Final = 460
"""Pixels beside the chart, for the positions of a range."""
_GAMES_A_PAGE: Final = 50
_FEW: Final = 100
"""Resamples where a result needs some, so that a page comes soon."""
_AT_ONCE: Final = 1_000_000
"""Default number of positions for slice discovery."""

Values = dict[str, Any]


@dataclass(frozen=True)
class View:
    """Something to be seen of a study."""

    title: str
    purpose: str
    values: Callable[[StudyQuery], Values]
    """Values of its template `study/NAME.html`."""
    results: Mapping[str, Callable[[StudyQuery], Result]] = field(default_factory=dict)
    """Results to save, by name."""
    is_quick: Callable[[StudyQuery], bool] = lambda _query: False
    """Whether it can be part of the page as it opens."""
    has_condition: bool = True
    """Whether it is about the positions under a condition."""
    columns: int = 1
    """The number of its charts side by side on a wide page."""


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


# Overview


_figures: Final[LruCache[Values]] = LruCache(2000)
_one_at_a_time: Final = threading.Lock()
"""Held while the positions of an evaluator are loaded, because they take memory."""


def _overview_values(query: StudyQuery) -> Values:
    names = query.study.engines
    rows = []
    for name, title in zip(names, evaluator_titles(query.study, names), strict=True):
        is_known = _figures_key(query, name) in _figures
        figures = figures_of(query, name) if is_known else None
        rows.append(overview_row(query, name, title, figures))
    return {
        "rows": rows,
        "downloads": Downloads("the metrics", downloads(query, "overview")),
        "commands": [f"{query.command('metrics', evaluators=names)}"],
    }


def _all_metrics(query: StudyQuery) -> Result:
    """The metrics of all evaluators of the study."""
    question = query.question.also(where=None, by=None, resampling=_some(query))
    metrics: Result = once(query, "all metrics", lambda: query.study.metrics(None, question))
    return metrics


def overview_row(
    query: StudyQuery, name: str, title: str, figures: Values | None, problem: str = ""
) -> Values:
    """An evaluator's row; without figures or a problem, the page asks for it."""
    spec = evaluator_text(query.study, name)
    return {"name": name, "title": title, "spec": spec, "figures": figures, "problem": problem}


def _figures_key(query: StudyQuery, name: str) -> tuple[object, ...]:
    return str(query.study.path), query.stamp, name, query.draws


def figures_of(query: StudyQuery, name: str) -> Values:
    """An evaluator's curve and figures on all its positions; raises Error if there are none."""

    def compute() -> Values:
        question = Question(draws=query.draws, resampling=hk.Resampling(0), memory=MEMORY)
        with _one_at_a_time, within_seconds(SECONDS * 3):
            loaded = measured(query.study, name, question)
            [sample] = loaded.samples
            curve = analysis.measure_curve(sample, resampling=hk.Resampling(0))
            metrics = analysis.measure(sample, resampling=hk.Resampling(_FEW))
        is_enough = metrics.games >= MIN_GAMES
        accuracy = metrics.figure("accuracy", MIN_GAMES)
        error = metrics.figure("calibration_error", MIN_GAMES)
        return {
            "spark": sparkline(curve) if is_enough else "",
            "is_value": curve.unit == analysis.VALUE,
            "sorting": (accuracy.value, error.value),
            "accuracy": f"{accuracy.value:.1%}" if math.isfinite(accuracy.value) else TOO_FEW,
            "accuracy_ends": _ends(accuracy, ".1%"),
            "error": number_text(error.value),
            "error_ends": _ends(error, ".3f"),
            "positions": metrics.positions,
            "games": metrics.games,
            "note": loaded.note,
        }

    return _figures.get(_figures_key(query, name), compute)


def _ends(estimate: Any, spec: str) -> str:
    if not math.isfinite(estimate.low):
        return ""
    return f"{estimate.low:{spec}} to {estimate.high:{spec}}"


# Curves


def _curve_values(query: StudyQuery) -> Values:
    result = answer_of(query)
    curves, gaps = result.curves, result.gaps
    links = [
        query.to(at=part.name, low=repr(point.lower), high=repr(point.upper),
                 part="all" if not part.condition else None, draw=None)
        for part in curves if curves.has_enough_games(part) for point in part.points
    ]  # fmt: skip
    heading, *rows = curves.lines()
    table = Table(curves.title, heading, rows, links if len(links) == len(rows) else ())
    names = list(dict.fromkeys(part.name for part in curves))
    shown = curves.drawn
    drawn = [
        DrawnCurve(
            _label(query, label, part),
            part,
            color_number(index if query.by else names.index(part.name)),
            query.by is None and query.where is not None and not part.condition,
        )
        for index, (label, part) in enumerate(zip(unique_labels(shown), shown, strict=True))
    ]
    by = [] if query.where is None else ["--by", query.where]
    return {
        "panels": panels(drawn, beside=0 if query.by else _RANGE_WIDTH),
        "in_numbers": Details("The same in numbers", curves.notes(), (table,)),
        "downloads": Downloads("the curves", downloads(query, "curves")),
        "gap_notes": gaps.notes() if gaps.parts else (),
        "gap_rows": [_gap_row(gaps, gap) for gap in gaps],
        "gap_downloads": Downloads("the gaps", downloads(query, "gaps")),
        "missing": result.missing,
        "common": once(query, "common", lambda: _common(query)),
        "chosen": range_of(query) if query["at"] else None,
        "commands": [
            query.command("analyze", "curves", *by, "--resamples", str(query.resampling.resamples)),
            *([query.command("analyze", "gaps", *by)] if by else []),
        ],
    }


def _label(query: StudyQuery, label: str, curve: Curve) -> str:
    """A curve's name in the legend; the page says the condition above."""
    if query.by is not None or query.where is None:
        return label
    return curve.name if curve.condition else f"{curve.name}, all positions"


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


def range_of(query: StudyQuery) -> Values | None:
    """Figures and boards of a range of values."""
    chosen = ChosenRange.of(query)
    if chosen is None:
        return None
    sample, low, high = chosen.sample, chosen.low, chosen.high
    inside = chosen.inside
    of_all = not chosen.curve.condition
    found: Values = {
        "name": sample.name,
        "unit": sample.unit,
        "low": value_text(low, sample.unit),
        "high": value_text(high, sample.unit),
        "from": low,
        "to": high,
        "condition": "" if of_all else query.where,
        "positions": int(inside.sum()),
        "other_part": query.where and query.to(part=None if of_all else "all", draw=None),
        "of_all": of_all,
        "others": [
            (each.name, query.to(at=each.name, draw=None))
            for positions in positions_of(query)
            for each in positions.loaded.samples
            if each.unit == sample.unit and each.name != sample.name
        ],
    }
    if not found["positions"]:
        return found | {"boards": Boards([])}
    share = share_of(sample.results[inside], sample.games[inside], hk.Resampling(_FEW))
    draw = query.number("draw", 0, 0, 10_000)
    point = replace(chosen.curve.points[0], lower=low, upper=high)
    of_range = replace(chosen.curve, points=(point,))
    [examples] = bin_examples(chosen.positions.loaded, sample, of_range, _BOARDS, draw)
    return found | {
        "share": f"{share.share:.1%}",
        "interval": f"{share.low:.1%} to {share.high:.1%}",
        "games": share.games,
        "boards": boards(query, examples),
        "draw": draw,
        "downloads": Downloads("the positions", downloads(query, "range")),
    }


def boards(query: StudyQuery, examples: Iterable[Example]) -> Boards:
    """Boards of positions, each leading to its game."""
    listed = list(examples)
    plain = boards_of(query.study, listed)
    return Boards([replace(plain[e], link=game_address(query, e.game_id, e.ply)) for e in listed])


def game_address(query: StudyQuery, game: int, ply: int | None = None) -> str:
    """Address of a game in the viewer."""
    return query.to("/study/game", game=game, ply=ply, draw=None, page=None, slice=None)


# Slices


def _chosen(query: StudyQuery) -> str:
    """The evaluator that a view of one is about; by default the one with the most positions."""
    name = query["of"]
    if name and name not in query.study.engines:
        raise hk.errors.StudyError(f"this study has no evaluator '{name}'")
    files = derived_files(query.study.path, "evaluations")
    return name or max(query.engines, key=lambda each: _rows_in(files.get(each)))


def _rows_in(manifest: Path | None) -> int:
    return 0 if manifest is None else sum(part.rows for part in read_manifest(manifest).parts)


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
    opened = query.number("slice", 0, 0, len(slices))
    listed: list[Values] = [
        {
            "number": number,
            "words": biased.condition.words,
            "verdict": biased.verdict,
            "effect": f"{100 * biased.effect.value:+.1f}",
            "sentence": biased.sentence,
            "is_sure": biased.is_sure,
            "q": probability_text(biased.q_value),
            "positions": biased.gap.positions,
            "games": biased.gap.games,
            "also": biased.also_text,
            "sql": biased.condition.sql,
            "curves": query.to(view="curves", where=_both(query.where, biased.condition.sql),
                               engine=[name], of=None, slice=None, search=None),
            "boards_at": query.to(slice=number) + f"#slice-{number}",
            "is_opened": number == opened,
            "boards": _slice_boards(query, name, slices, number, number == opened),
        }
        for number, biased in enumerate(slices, 1)
    ]  # fmt: skip
    heading, *rows = slices.lines()
    table = Details("The same in numbers", (), (Table(slices.title, heading, rows),))
    chart = Chart(slices.chart(), "", " ".join(each["sentence"] for each in listed))
    covered = () if slices.coverage is None else (slices.coverage.text(hint=False),)
    return values | {
        "ask_first": None,
        "slices": listed,
        "shown": Section(slices.title, (), (chart, table)) if listed else None,
        "saved": Downloads(slices.title, downloads(query, "slices")),
        "notes": (*covered, *slices.notes()),
    }


def _both(one: str | None, other: str) -> str:
    return other if one is None else f"({one}) and ({other})"


def _slice_boards(
    query: StudyQuery, name: str, slices: Slices, number: int, is_opened: bool
) -> Boards:
    """The worst position of a slice, or several if it is opened."""
    from hyoka.study.sampling import slice_columns  # noqa: PLC0415

    count = _BOARDS if is_opened else 1

    def look() -> tuple[Example, ...]:
        question = query.question.also(by=None)
        columns = slice_columns(query.study)  # With these, the same positions fit in memory.
        loaded = once(
            query,
            f"slices of {name}",
            lambda: measured(query.study, name, question, columns=columns),
        )
        ended = once(query, "ended", lambda: on_the_board(query.study))
        return examples_against(loaded, loaded.samples[0], slices[number - 1], ended, count)

    return boards(query, once(query, f"boards {name} {number} {count}", look))


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


# Two evaluators


def _two(query: StudyQuery) -> tuple[str, str]:
    evaluators = query.study.engines
    chosen = [name for name in (query["one"], query["other"]) if name in evaluators]
    names = list(dict.fromkeys([*chosen, *query.engines, *evaluators]))
    if len(names) < 2:
        raise hk.errors.StudyError(
            "two evaluators are needed for a comparison: evaluate the study with another one"
        )
    return names[0], names[1]


def _comparison(query: StudyQuery) -> Comparison:
    one, other = _two(query)
    question = query.question.also(by=None, resampling=_some(query))
    comparison: Comparison = once(
        query,
        f"comparison {one} {other}",
        lambda: query.study.compare(one, other, question),
    )
    return comparison


def _disagreements(query: StudyQuery) -> Disagreement:
    one, other = _two(query)
    question = query.question.also(by=None, resampling=_some(query))
    disagreement: Disagreement = once(
        query,
        f"disagreement {one} {other}",
        lambda: query.study.disagreements(one, other, question, top=_BOARDS),
    )
    return disagreement


def _compare_values(query: StudyQuery) -> Values:
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
    comparison = result_section(
        _comparison(query), downloads=downloads(query, "comparison"), opened=True
    )
    shown = result_section(disagreement, downloads=downloads(query, "disagreements"))
    return {
        "one": one,
        "other": other,
        "swapped": query.to(one=other, other=one),
        "results": [
            replace(comparison, title="Differences of metrics"),
            replace(shown, title="Who was closer to the result"),
        ],
        "boards": boards(query, examples),
        "commands": [
            query.command("analyze", "compare", *where, evaluators=[one, other]),
            query.command("analyze", "disagreements", *where, evaluators=[one, other]),
        ],
    }


# One evaluator


def _certainty(query: StudyQuery) -> Certainty:
    name = _chosen(query)
    question = query.question.also(by=None, resampling=_some(query))
    certainty: Certainty = once(
        query,
        f"certainty {name}",
        lambda: query.study.certainty(name, question, top=_BOARDS),
    )
    return certainty


def _certainty_values(query: StudyQuery) -> Values:
    certainty = _certainty(query)
    examples = [
        Example(
            each.game, each.ply, f"{certainty.name} {each.value:.1%} for the first player",
            each.result,
        )
        for each in certainty.errors
    ]  # fmt: skip
    where = ["--where", query.where] if query.where else []
    return {
        "of": _chosen(query),
        "results": [result_section(certainty, downloads=downloads(query, "certainty"))],
        "boards": boards(query, examples),
        "commands": [
            query.command("analyze", "certainty", *where, evaluators=[_chosen(query)]),
        ],
    }


# Other results


_NAMED: Final[Mapping[str, str]] = {
    "metrics": "Metrics",
    "reliability": "Reliability: how often claims hold",
    "calibration": "Win probabilities of scores",
    "wdl-curves": "Win, draw and loss by value",
    "wdl": "Win and draw by score and move",
}
"""Titles of results."""


def _with_results(
    make: Mapping[str, Callable[[StudyQuery], Result]],
    *commands: str,
    names: Callable[[StudyQuery], list[str]] = lambda query: query.engines,
) -> tuple[Callable[[StudyQuery], Values], Mapping[str, Callable[[StudyQuery], Result]]]:
    """A view of results, each with its chart."""

    def values(query: StudyQuery) -> Values:
        sections: list[Section] = []
        problems: list[str] = []
        for name, result_of in results.items():
            try:
                result = result_of(query)
            except hk.errors.StudyError as error:
                problems.append(f"{_NAMED[name]}: {error}.")
                continue
            saved = downloads(query, name)
            section = result_section(result, downloads=saved, opened=name == "metrics")
            sections.append(replace(section, title=_NAMED[name]))
        where = ["--where", query.where] if query.where else []
        return {
            "results": sections,
            "problems": problems,
            "commands": [
                query.command(command, *where, evaluators=names(query)) for command in commands
            ],
        }

    def kept(name: str, of: Callable[[StudyQuery], Result]) -> Callable[[StudyQuery], Result]:
        return lambda query: once(query, f"{name} {names(query)}", lambda: of(query))

    results = {name: kept(name, of) for name, of in make.items()}
    return values, results


def _question(query: StudyQuery) -> Question:
    return query.question.also(resampling=_some(query))


_metrics: Final = _with_results(
    {"metrics": lambda query: query.study.metrics(query.engines, _question(query))}, "metrics"
)
_calibration: Final = _with_results(
    {
        "reliability": lambda query: query.study.reliability(query.engines, _question(query)),
        "calibration": lambda query: query.study.calibration(query.engines, _question(query)),
    },
    "analyze reliability",
    "calibrate",
)


def _only(query: StudyQuery) -> list[str]:
    return [_chosen(query)]


_wdl: Final = _with_results(
    {
        "wdl": lambda query: query.study.wdl(_only(query), _question(query).also(by=None)),
        "wdl-curves": lambda query: query.study.curve(
            _only(query), _question(query).also(by=None), wdl=True
        ),
    },
    "wdl",
    names=_only,
)

VIEWS: Final[Mapping[str, View]] = {
    "overview": View(
        "Overview",
        "Who has judged the positions, and how well.",
        _overview_values,
        {"overview": _all_metrics},
        is_quick=lambda _query: True,
        has_condition=False,
    ),
    "curves": View(
        "Curves",
        "How often the first player won, by what evaluators said.",
        _curve_values,
        {
            "curves": lambda query: answer_of(query).curves,
            "gaps": lambda query: answer_of(query).gaps,
            "range": range_positions,
        },
        lambda query: query.by is None and are_loaded(query),
    ),
    "slices": View(
        "Slices",
        "Conditions under which an evaluator is most wrong.",
        _slice_values,
        {"slices": _slices_of},
    ),
    "compare": View(
        "Compare",
        "Two evaluators on the same positions: who is better, and who was right.",
        _compare_values,
        {"comparison": _comparison, "disagreements": _disagreements},
        columns=2,
    ),
    "certainty": View(
        "Certainty",
        "How often the side that an evaluator prefers scores, and where it was sure and wrong.",
        _certainty_values,
        {"certainty": _certainty},
    ),
    "calibration": View(
        "Calibration",
        "What scores are worth, and how far claims hold.",
        *_calibration,
        columns=2,
    ),
    "wdl": View(
        "Win, draw, loss",
        "The chances of a win, a draw and a loss by score and move number.",
        *_wdl,
        columns=2,
    ),
    "metrics": View(
        "Metrics", "How well evaluators tell wins from losses.", *_metrics
    ),
    "games": View(
        "Games",
        "All games, or those in which the condition holds somewhere.",
        _game_values,
        is_quick=lambda _query: True,
    ),
}  # fmt: skip

RESULTS: Final[Mapping[str, Callable[[StudyQuery], Result]]] = {
    name: result for view in VIEWS.values() for name, result in view.results.items()
}
"""All results that can be saved."""
