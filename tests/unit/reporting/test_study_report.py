# SPDX-License-Identifier: Apache-2.0
"""Reports of studies whose evaluations are made up, so that what must be found is known."""

import html
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka.analysis import Sample, open_bins
from hyoka.foundation.progress import Progress
from hyoka.reporting import Details, Explorer, Page, Table
from hyoka.reporting.study_report import (
    ReportOptions,
    StudyReport,
    save_figures,
    study_report,
    write_report,
)
from hyoka.storage.files import toml_text, write_text
from hyoka.storage.manifest import part_name
from hyoka.storage.table_files import write_parquet
from hyoka.study import append_to_study
from hyoka.study.tables import EVALUATION_SCHEMA

OPENING = [
    *("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7"),
    *("Re1", "b5", "Bb3", "d6", "c3", "O-O", "h3", "Nb8", "d4", "Nbd7"),
]
CommentAuthor = Callable[
    [NDArray[np.float64], NDArray[np.int64], np.random.Generator], NDArray[np.float64]
]
"""From results and plies to what an evaluator says."""


def made_study(folder: Path, results: list[float], *, name: str = "study") -> hk.Study:
    """A study of the same opening, which each game leaves by a move of its own, won as given."""
    texts = []
    for number, result in enumerate(results):
        said = {1.0: "1-0", 0.0: "0-1", 0.5: "1/2-1/2"}[result]
        # Different ends make different games: duplicates would be left out.
        game, moves = hk.Chess(), []
        for move in OPENING:
            moves.append(move)
            game = game.play(move)
        rest = number
        for _ in range(3):
            legal = game.legal_moves
            moves.append(game.san(legal[rest % len(legal)]))
            game = game.play(legal[rest % len(legal)])
            rest //= len(legal)
        texts.append(
            f'[White "Ann {number}"]\n[Black "Bob"]\n[WhiteElo "1500"]\n[BlackElo "1700"]\n'
            f'[Result "{said}"]\n\n1. {" ".join(moves)} {said}\n'
        )
    file = folder / f"{name}.pgn"
    file.write_text("\n".join(texts), encoding="utf-8")
    return hk.Study.create(folder / name, file)


def say(
    study: hk.Study,
    name: str,
    comment_author: CommentAuthor,
    *,
    where: str = "true",
    unit: str = "",
    seed: int = 1,
) -> None:
    """Write evaluations of a made-up evaluator."""
    rows = study.sql(
        f"select game_id, ply, result from positions where {where} order by game_id, ply"
    )
    plies, results = rows["ply"].to_numpy(), rows["result"].to_numpy()
    said = comment_author(results.astype(np.float64), plies, np.random.default_rng(seed))
    columns = {
        "game_id": rows["game_id"],
        "ply": rows["ply"],
        ("score" if unit else "value"): pa.array(said),
        "unit": pa.array([unit or "points"] * len(rows)),
    }
    table = pa.table(
        [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(len(rows), field.type)
            for field in EVALUATION_SCHEMA
        ],
        schema=EVALUATION_SCHEMA,
    )
    folder = study.path / "evaluations" / f"engine={name}"
    write_parquet(table, folder / part_name(0))
    write_text(
        folder / "engine.toml", toml_text({"spec": name, "name": f"Program {name}", "version": "7"})
    )


def knowing(knowledge: float) -> CommentAuthor:
    """Says a number that leans to the result by a number of standard deviations."""

    def comment_author(
        results: NDArray[np.float64], plies: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        signal = knowledge * (results - 0.5) + rng.normal(size=len(results))
        return 1 / (1 + np.exp(-signal))

    return comment_author


def late(
    results: NDArray[np.float64], plies: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Knows nothing before ply 10, much from there on."""
    signal = np.where(plies < 10, 0.0, 6.0) * (results - 0.5) + rng.normal(size=len(results))
    return 1 / (1 + np.exp(-signal))


def boastful(
    results: NDArray[np.float64], plies: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Says 0.95 of the winner in six cases of ten, and of the loser in the others."""
    right = rng.random(len(results)) < 0.6
    return np.where((results == 1) == right, 0.95, 0.05)


def fair_results(games: int, seed: int = 5) -> list[float]:
    return [float(won) for won in np.random.default_rng(seed).random(games) < 0.5]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    """Two evaluators on the same positions, of which one knows more."""
    made = made_study(tmp_path_factory.mktemp("report"), fair_results(120))
    say(made, "weak", knowing(1.0))
    say(made, "strong", knowing(3.0), seed=2)
    return made


@pytest.fixture(scope="module")
def report(study: hk.Study) -> StudyReport:
    return study_report(study, ReportOptions(resamples=100))


def text_of(report: StudyReport, kind: str) -> str:
    return " ".join(finding.text for finding in report.findings if finding.kind == kind)


def explorers(page: Page) -> list[Explorer]:
    found = []
    for section in page.sections:
        for block in section.blocks:
            inner = block.blocks if isinstance(block, Details) else (block,)
            found += [each for each in inner if isinstance(each, Explorer)]
    return found


def test_the_better_evaluator_is_named_first_with_a_difference_beyond_chance(
    report: StudyReport,
) -> None:
    assert str(report.page.findings[0]).startswith(
        "strong tells wins from losses best of 2 evaluators"
    )
    # Two normals three (one) standard deviations apart: ROC = Φ(3/√2) = 0.983, Φ(1/√2) = 0.760.
    shared = report.results.shared
    assert shared is not None
    strong, weak = (each.metrics["roc"] for each in shared.judged)
    assert strong.low <= 0.983 <= strong.high
    assert weak.low <= 0.760 <= weak.high
    [comparison] = shared.comparisons
    assert {each.metric.name: each.ahead for each in comparison.differences}["roc"] == "one"


def test_sections_come_in_order_and_methods_last(report: StudyReport) -> None:
    titles = [section.title for section in report.page.sections]
    assert titles == [
        "What was measured",
        "The curves",
        "As the game goes on",
        "Metrics",
        "Where no bias was found",
        "Where they disagree",
        "Calibration",
    ]
    assert report.page.methods
    unbiased = report.page.sections[titles.index("Where no bias was found")]
    assert [words.partition(":")[0] for words in unbiased.words] == ["strong", "weak"]


def test_caveats_come_once_at_the_end(report: StudyReport) -> None:
    text = html.unescape(report.page.html())
    assert report.page.caveats
    for caveat in report.page.caveats:
        assert text.count(caveat) == 1
        assert text.index(caveat) > text.index("<h3>Caveats</h3>")
    assert "Not confirmed is not absent" not in text


def test_what_was_measured_counts_the_records(study: hk.Study, report: StudyReport) -> None:
    records, evaluators = report.page.sections[0].blocks
    assert isinstance(records, Table)
    assert isinstance(evaluators, Table)
    rows = {row[0]: row[1] for row in records.rows}
    won = sum(fair_results(120))
    assert rows["Games"] == "120"
    assert rows["White won"].startswith(f"{won:.0f} ")
    assert rows["Ratings"] == "1500 to 1700 Elo"
    assert [row[0] for row in evaluators.rows] == ["strong", "weak"]
    assert "Program strong 7" in evaluators.rows[0]


def test_every_bin_of_a_curve_can_be_picked_and_shows_positions_of_its_own(
    study: hk.Study, report: StudyReport
) -> None:
    shared = report.results.shared
    assert shared is not None
    explorer = explorers(report.page)[0]
    shown = sum(len(each.curve.points) for each in shared.judged)
    assert len(explorer.picks) == shown
    rows = study.sql(
        "select engine, game_id, ply, value, result from evaluations join positions "
        "using (game_id, ply)"
    ).to_pylist()
    said = {(row["engine"], row["game_id"], row["ply"]): row for row in rows}
    for each in shared.judged:
        for point, examples in zip(each.curve.points, each.examples, strict=True):
            assert 1 <= len(examples) <= 4
            assert len({example.game_id for example in examples}) == len(examples)
            for example in examples:
                row = said[each.name, example.game_id, example.ply]
                assert point.lower <= row["value"] < point.upper
                assert row["result"] == example.result


def test_boards_are_the_positions_with_words(study: hk.Study, report: StudyReport) -> None:
    pick = explorers(report.page)[0].shown_first
    board = pick.boards[0]
    assert board.words.startswith("Ann ")
    assert "– Bob, ply " in board.words
    assert " says 0." in board.words
    assert board.words.endswith(("White won.", "Black won."))


def test_the_same_seed_gives_the_same_page_and_another_one_other_boards(study: hk.Study) -> None:
    once, again, other = (
        study_report(study, ReportOptions(evaluators="weak", resamples=20, seed=seed)).page
        for seed in (3, 3, 4)
    )
    assert once.html() == again.html()
    picks = [explorers(page)[0].picks for page in (once, other)]
    assert [pick.key for pick in picks[0]] == [pick.key for pick in picks[1]]
    assert [p.boards for p in picks[0]] != [p.boards for p in picks[1]]


def test_no_guide_is_said_up_to_where_the_evaluator_knows_nothing(tmp_path: Path) -> None:
    study = made_study(tmp_path, fair_results(300))
    say(study, "late", late)
    report = study_report(study, ReportOptions(resamples=100, slices=0))
    assert text_of(report, "no guide").startswith("late is no guide before ply 10:")


def test_nothing_is_said_of_a_guide_that_is_good_from_the_start(report: StudyReport) -> None:
    assert "strong is" not in text_of(report, "no guide")


def test_over_confidence_states_the_claim_and_the_outcome(tmp_path: Path) -> None:
    study = made_study(tmp_path, fair_results(200))
    say(study, "boastful", boastful)
    report = study_report(study, ReportOptions(resamples=100, slices=0))
    text = text_of(report, "confidence")
    assert "boastful is overconfident" in text
    assert "gives that side 95% on average" in text
    confidence = report.results.subjects[0].confidence
    assert confidence is not None
    assert confidence.got.low <= 0.6 <= confidence.got.high


def test_a_split_is_found_and_shown_with_its_curve_and_boards(tmp_path: Path) -> None:
    """The evaluator is blind to who is to move, which decides much more than it says."""
    rng = np.random.default_rng(3)
    study = made_study(tmp_path, fair_results(400))

    def blind(
        results: NDArray[np.float64], plies: NDArray[np.int64], _: np.random.Generator
    ) -> NDArray[np.float64]:
        shift = np.where(plies % 2 == 0, 0.25, -0.25)
        return np.clip(rng.normal(0.5 + 0.2 * (results - 0.5) - shift / 2, 0.1), 0.01, 0.99)

    say(study, "blind", blind)
    report = study_report(study, ReportOptions(resamples=50, slices=2))
    [subject] = report.results.subjects
    first = subject.shown_slices[0].slice
    assert first.condition.columns == {"first_to_play"}
    assert "when White is to move" in text_of(report, "slice")
    section = next(s for s in report.page.sections if s.title == "Where blind is wrong")
    explorer = next(block for block in section.blocks if isinstance(block, Explorer))
    assert explorer.shown_first.key == "against"
    against = subject.shown_slices[0].against
    # Underestimated: the boards are of games that White won though little was said for it.
    assert {example.result for example in against} == {1.0}
    assert all(example.ply % 2 == 0 for example in against)


def test_an_evaluator_of_many_more_positions_is_also_measured_on_all_of_its_own(
    tmp_path: Path,
) -> None:
    study = made_study(tmp_path, fair_results(120))
    say(study, "everywhere", knowing(2.0))
    say(study, "sample", knowing(2.0), where="ply % 4 = 1", seed=2)
    results = study_report(study, ReportOptions(resamples=50, slices=0)).results
    wide, narrow = sorted(results.subjects, key=lambda subject: subject.name)
    counted = study.sql("select count(*) as n from positions where ply % 4 = 1")["n"][0].as_py()
    assert results.common == counted
    assert (wide.is_wider, narrow.is_wider) == (True, False)
    assert wide.own.curve.positions == 120 * (len(OPENING) + 4)
    assert results.shared is not None
    assert {each.curve.positions for each in results.shared.judged} == {counted}


def test_evaluators_of_different_positions_are_not_compared(tmp_path: Path) -> None:
    study = made_study(tmp_path, fair_results(60))
    say(study, "even", knowing(2.0), where="ply % 2 = 0")
    say(study, "odd", knowing(2.0), where="ply % 2 = 1", seed=2)
    report = study_report(study, ReportOptions(resamples=20, slices=0))
    assert report.results.shared is None
    assert "judged different positions" in text_of(report, "not comparable")
    assert len(explorers(report.page)) == 2


def test_draws_are_left_out_of_curves_and_kept_in_win_draw_loss(tmp_path: Path) -> None:
    results = [*fair_results(60), *[0.5] * 60]
    study = made_study(tmp_path, results)
    say(
        study,
        "scores",
        lambda r, p, rng: 300 * (r - 0.5) + rng.normal(0, 100, len(r)),
        unit="centipawns",
    )
    report = study_report(study, ReportOptions(resamples=50, slices=0))
    [subject] = report.results.subjects
    plies = len(OPENING) + 4
    assert subject.own.curve.positions == 60 * plies
    counted = {row.of: row.positions for row in subject.calibration}
    assert counted == {"result": 60 * plies, "win": 120 * plies, "loss": 120 * plies}
    assert "60 of 120 games are drawn and left out" in report.page.sections[0].words[0]
    half = study_report(study, ReportOptions(draws="half", resamples=50, slices=0))
    [subject] = half.results.subjects
    assert subject.own.curve.positions == 120 * plies
    assert [row.of for row in subject.calibration] == ["result, draws as half a win", "win", "loss"]
    assert "counted as half a win each" in half.page.sections[0].words[0]
    assert "White scored on average" in half.page.sections[1].words[0]
    calibration = report.page.sections[-1]
    constants = next(b for b in calibration.blocks if isinstance(b, Table))
    assert [row[-2] for row in constants.rows] == [
        f"{positions:,}" for positions in counted.values()
    ]
    table = next(b for b in calibration.blocks if isinstance(b, Table) and "worth" in b.caption)
    assert table.columns[-3:] == ("Win", "Draw", "Loss")


def test_ten_games_are_said_to_be_too_few(tmp_path: Path) -> None:
    study = made_study(tmp_path, fair_results(10))
    say(study, "some", knowing(2.0))
    report = study_report(study, ReportOptions(resamples=50))
    assert str(report.page.findings[0]).startswith("10 games are too few to say much")
    assert report.results.subjects[0].slices is None


def test_a_report_shows_no_figure_of_few_games(tmp_path: Path) -> None:
    """Counts of games and positions are shown; curves, metrics and constants are not."""
    study = made_study(tmp_path, fair_results(19))
    for name, knowledge in (("weak", 1.0), ("strong", 6.0)):
        say(study, name, knowing(knowledge))
    say(study, "points", lambda *about: 400 * (knowing(2.0)(*about) - 0.5), unit="points")
    report = study_report(study, ReportOptions(resamples=50))
    assert {finding.kind for finding in report.findings} == {"few games"}
    _, curves, metrics, *_, calibration = report.page.sections
    assert "As the game goes on" not in [section.title for section in report.page.sections]
    assert not curves.blocks
    assert "Not shown, with fewer than 20 games: " in " ".join(curves.words)
    assert not explorers(report.page)
    tables = [
        block
        for section in (metrics, calibration)
        for block in section.blocks
        if isinstance(block, Table)
    ]
    assert tables
    numbers = [cell for table in tables for row in table.rows for cell in row if "." in cell]
    assert not [cell for cell in numbers if cell[0] in "+-−0123456789"]
    assert not [
        block for block in (*metrics.blocks, *calibration.blocks) if isinstance(block, Details)
    ]
    for name, rows in report.as_json().items():
        if name.startswith(("metrics", "curves", "calibration")):
            assert isinstance(rows, list)
            assert all(row.get("value") is None and row.get("k") is None for row in rows)


def test_games_that_all_ended_alike_make_a_page_that_says_so(tmp_path: Path) -> None:
    study = made_study(tmp_path, [1.0] * 40)
    say(study, "some", knowing(2.0))
    report = study_report(study, ReportOptions(resamples=50))
    assert "In all decided games that some judged White won" in str(report.page.findings[0])
    json.dumps(report.as_json(), allow_nan=False)


def test_without_evaluations_or_wins_and_losses_there_is_a_clear_error(tmp_path: Path) -> None:
    study = made_study(tmp_path, [0.5] * 12)
    with pytest.raises(hk.errors.StudyError, match="no evaluations yet; run: hyoka study evaluate"):
        study_report(study)
    say(study, "some", knowing(2.0))
    with pytest.raises(hk.errors.StudyError, match="all games that some evaluated are drawn"):
        study_report(study)
    with pytest.raises(hk.errors.StudyError, match="no evaluator 'other'"):
        study_report(study, ReportOptions(evaluators=["other"]))


def test_without_resamples_there_are_no_intervals_and_no_claims_beyond_numbers(
    study: hk.Study,
) -> None:
    report = study_report(study, ReportOptions(resamples=0, slices=0))
    [quality] = [finding for finding in report.findings if finding.kind == "quality"]
    assert "no interval says" in quality.text
    assert not text_of(report, "confidence")


def test_a_condition_narrows_what_is_measured(study: hk.Study) -> None:
    report = study_report(study, ReportOptions(where="ply >= 12", resamples=20, slices=0))
    assert report.results.common == 120 * (len(OPENING) + 4 - 12)
    assert "ply >= 12" in report.page.sections[0].words[1]


def test_json_has_the_findings_and_all_numbers(report: StudyReport) -> None:
    answer = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert [each["text"] for each in answer["findings"]] == [*map(str, report.page.findings)]
    assert {row["evaluator"] for row in answer["metrics"]} == {"strong", "weak"}
    roc = next(r for r in answer["metrics"] if (r["evaluator"], r["metric"]) == ("weak", "roc"))
    assert 0.5 < roc["low"] < roc["value"] < roc["high"] < 1


def test_figures_are_written_as_pictures(study: hk.Study, tmp_path: Path) -> None:
    page = study_report(study, ReportOptions(evaluators="weak", slices=0, resamples=0)).page
    files = save_figures(page, tmp_path / "figures")
    assert len(files) == 2 * len(page.charts)
    assert files[0].name == "01-the-curves.png"
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_text(encoding="utf-8").startswith("<!--")


def test_progress_reaches_the_end(study: hk.Study, tmp_path: Path) -> None:
    steps: list[Progress] = []
    write_report(
        study,
        tmp_path / "report.html",
        ReportOptions(resamples=0, slices=0),
        progress=steps.append,
    )
    assert [each.done for each in steps] == sorted(each.done for each in steps)
    assert steps[0].done == 0
    assert steps[-1].done == steps[-1].total
    assert {each.what for each in steps} == {"report"}
    assert len({each.note for each in steps}) == len(steps)


def test_names_from_records_stay_text(tmp_path: Path) -> None:
    study = made_study(tmp_path, fair_results(40))
    file = tmp_path / "evil.pgn"
    file.write_text('[White "<script>alert(1)</script>"]\n[Result "1-0"]\n\n1. a3 1-0\n')
    append_to_study(study.path, file)
    say(study, "some", knowing(1.0))
    html = study_report(study, ReportOptions(resamples=0, slices=0)).page.html()
    assert "<script>alert" not in html


def test_bins_of_scores_are_narrow_where_the_game_is_open() -> None:
    """A few enormous scores must not make all bins wide."""
    rng = np.random.default_rng(1)
    score = np.concatenate([rng.normal(0, 300, 20_000), rng.choice([-9000, 9000], 2_000)])
    won = rng.random(len(score)) < 1 / (1 + np.exp(-score / 200))
    sample = Sample.of("s", score, results=won, games=np.arange(len(score)), unit="centipawns")
    bins = open_bins(sample)
    assert bins.width <= 100
    assert -1500 < bins.low < -700
    edges = bins.cuts(sample)
    shown = edges.edges[:-1][edges.requested]
    # Bins of 1,000 positions each at -9000 and 9000 are not among them.
    assert bins.low - bins.width < shown.min() < -500
    assert 500 < shown.max() < bins.high


def test_a_report_loads_few_modules() -> None:
    program = (
        "import sys, hyoka.reporting.study_report; "
        "print(sum(name.partition('.')[0] == 'hyoka' for name in sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(answer.stdout) <= 90
