# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments: their numbers, the verdicts on ours, and a small run of each kind."""

import dataclasses
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyoka as hk
from experiments import (
    EXPERIMENTS,
    LEGEND,
    ExperimentContext,
    Outcome,
    RecordsFolder,
    cell_text,
    experiment_named,
)
from experiments.claims import differ, not_shown_if_few, same_within, verdict
from experiments.curve_differences import apart, falls, from_diagonal, simultaneous
from experiments.gaps import SliceSizes
from experiments.go_kos import KoExperiment, KoScale
from experiments.go_programs import OURS, GoExperiment, GoScale, Program
from experiments.go_ranks import Group, RanksExperiment
from experiments.gps_shogi import Amount, GpsExperiment
from experiments.matches import difference_verdict, duel_verdict, lead_verdict
from experiments.results_page import (
    Made,
    definition,
    outcome_page,
    read_results_page,
    write_results_page,
)
from experiments.strength import Bout, StrengthExperiment, TunedExperiment
from experiments.takeuchi_2010 import BISHOP_FACTORS, CHESS_MATCHES, GO, KING_WEIGHTS, SHOGI_MATCHES
from experiments.weight_records import RecordsScale, WeightExperiment, WeightRun
from hyoka.analysis import Sample
from hyoka.apps.cli.command_table import command_line
from hyoka.arena import MatchScore, PairScores, Score, rate
from hyoka.engines import spec
from hyoka.foundation.errors import EngineError, NotationError, SourceError
from hyoka.foundation.math import Estimate, independent_difference
from hyoka.foundation.progress import Progress
from hyoka.records import Record
from hyoka.records.samples import sample_path
from hyoka.reporting import Table
from hyoka.search import EXACT_METHODS
from hyoka.study import Study

ASKED_FOR = (
    *(f"table{number}" for number in (1, 2, 3, 5)),
    *(f"fig{number}" for number in (4, 5, 8, 9, 11, 13, 14)),
)
MONTE_CARLO = ("UCT", "MC", "MC-Score")


TINY_GO = GoScale(
    1,
    (
        Program(OURS, 500, "uct:playouts=15,formula=puct"),
        Program("UCT", 5000, "uct:playouts=30"),
        Program("UCT", 500, "uct:playouts=10"),
        Program("MC", 5000, "mc:playouts=400,divide=on"),
        Program("MC", 500, "mc:playouts=200,divide=on"),
        Program("MC-Score", 500, "mc-score:playouts=200,divide=on"),
    ),
)
TINY_WEIGHTS = RecordsScale(sample=8, games=2, nodes=30)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ExperimentContext:
    """A context with our own sample games where the experiments look for people's."""
    data = tmp_path_factory.mktemp("data")
    for game, name in (("go9", "go9/ogs9_human.sgf.xz"), ("chess", "chess/twic_human.pgn.xz")):
        (data / name).parent.mkdir()
        shutil.copy(sample_path(game), data / name)
    return ExperimentContext(tmp_path_factory.mktemp("made"), RecordsFolder(data), jobs=2)


def test_everything_asked_for_is_there_at_every_scale() -> None:
    assert {f"000-{name}" for name in ASKED_FOR} <= set(EXPERIMENTS)
    for name, experiment in EXPERIMENTS.items():
        assert experiment.id == name
        scales = [scale for scale in experiment.scales if scale != "large"]
        assert scales[-3:] == ["small", "medium", "paper"]
        assert experiment.title
        assert experiment.notes


def test_a_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(NotationError, match="did you mean 000-table1"):
        experiment_named("000-tabel1")


def test_the_command_lists_them() -> None:
    words = ["experiment", "list", "--json"]
    listed = json.loads(CliRunner().invoke(command_line(words), words).stdout)
    assert [each["experiment"] for each in listed] == list(EXPERIMENTS)


def test_missing_records_are_named(tmp_path: Path) -> None:
    context = ExperimentContext(tmp_path / "made", RecordsFolder(tmp_path))
    for name, file in (
        ("000-table1", "go9/ogs9_human.sgf.xz"),
        ("000-fig11", "chess/twic_human.pgn.xz"),
        ("000-table5", "shogi/floodgate2016.csa.xz"),
    ):
        with pytest.raises(SourceError, match=f"{file}.*`data`"):
            EXPERIMENTS[name].run(context, "small")


def test_records_are_looked_for_in_the_folders_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "shared" / "data" / "go9" / "games.sgf"
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / "one" / "two").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one" / "two")
    assert RecordsFolder().file("go9/games.sgf") == file
    with pytest.raises(SourceError, match="shared/data here or above"):
        RecordsFolder().file("go9/others.sgf")


@pytest.mark.parametrize("kind", ["mc", "mc-score"])
def test_divided_playouts_are_as_many_as_the_paper_has(kind: str) -> None:
    """N over the number of legal moves in all, each after another move."""
    game = hk.Go9(komi=5.5)
    found = hk.search_once(game, f"{kind}:playouts=500,divide=on")
    assert found.playouts == 500 // len(game.legal_moves)
    assert max(report.visits for report in found.moves) == 1
    tried = [report.value for report in found.moves if report.visits and report.value is not None]
    assert found.value == pytest.approx(sum(tried) / len(tried))
    other = hk.search_once(game, f"{kind}:playouts=500,divide=on,seed=1")
    first, second = ({str(r.move) for r in each.moves if r.visits} for each in (found, other))
    assert first != second  # which moves are tried is chance, not the order of a list
    assert hk.search_once(game, f"{kind}:playouts=5,divide=on").playouts == 1


class TestThePapersNumbers:
    """Our copy of tables I to VI, against what the text says of them."""

    def test_accuracies_named_in_our_specification(self) -> None:
        named = {
            ("GNU Go", 0): 0.647,
            ("UCT", 50_000): 0.631,
            ("MC", 50_000): 0.617,
            ("MC-Score", 50_000): 0.574,
        }
        assert {key: GO[key].accuracy for key in named} == named

    def test_every_program_has_three_levels(self) -> None:
        assert sorted(GO) == sorted(
            [(name, n) for name in ("Fuego", *MONTE_CARLO) for n in (500, 5_000, 50_000)]
            + [("GNU Go", level) for level in (0, 2, 4)]
        )

    @pytest.mark.parametrize("row", GO.values(), ids=map(str, GO))
    def test_tau_is_twice_roc_less_one_and_what_ties_add(self, row: tuple[float, ...]) -> None:
        named = dict(zip(GO["Fuego", 500]._fields, row, strict=True))
        assert -0.002 < named["tau"] - (2 * named["roc"] - 1) < 0.05

    def test_order_of_programs_and_of_playouts_by_accuracy(self) -> None:
        best = [GO["Fuego", 50_000], GO["GNU Go", 4], *(GO[n, 50_000] for n in MONTE_CARLO)]
        accuracies = [row.accuracy for row in best]
        assert accuracies == sorted(accuracies, reverse=True)
        for name in ("Fuego", *MONTE_CARLO):
            by_playouts = [GO[name, n].accuracy for n in (500, 5_000, 50_000)]
            assert by_playouts == sorted(by_playouts)

    def test_matches_have_a_thousand_games_as_the_text_has_them(self) -> None:
        assert all(s.games == 1000 for s in (*CHESS_MATCHES.values(), *SHOGI_MATCHES.values()))
        assert cell_text(CHESS_MATCHES["LS", "off"]) == "410-232-358"
        assert cell_text(CHESS_MATCHES["MLM", "off"]) == "423-290-287"
        assert cell_text(SHOGI_MATCHES["MLM", "off"]) == "600-392-8"
        assert BISHOP_FACTORS["MLM"] == (1.75,)
        assert KING_WEIGHTS["MLM"] == (-115, 83)


class TestVerdicts:
    def test_an_interval_decides(self) -> None:
        assert verdict("", Estimate(1, 0.5, 2)).answer == "yes"
        assert verdict("", Estimate(-1, -2, 0.5)).answer == "not shown"
        assert verdict("", Estimate(-1, -2, -0.5)).answer == "reversed"

    def test_the_same_player_ahead(self) -> None:
        theirs = Score(wins=60, draws=0, losses=20)
        assert duel_verdict("A", "B", theirs, Score(70, 0, 30)).answer == "yes"
        assert duel_verdict("A", "B", theirs, Score(52, 0, 48)).answer == "not shown"
        assert duel_verdict("A", "B", theirs, Score(30, 0, 70)).answer == "reversed"
        behind = duel_verdict("A", "B", ~theirs, Score(30, 0, 70))
        assert (behind.claim, behind.answer) == ("A behind B", "yes")

    def test_equals_should_stay_equal(self) -> None:
        theirs = Score(wins=499, draws=8, losses=493)
        few = duel_verdict("A", "B", theirs, Score(52, 0, 48))
        assert (few.claim, few.words) == ("A and B are equals", "not shown")
        many = duel_verdict("A", "B", theirs, Score(5020, 0, 4980))
        assert many.words == "same within 0.05"
        assert duel_verdict("A", "B", theirs, Score(80, 0, 20)).answer == "reversed"

    def test_not_shown_is_not_the_same(self) -> None:
        """An interval that holds zero and reaches beyond the bound shows nothing either way."""
        unsure = Estimate(0.01, -0.2, 0.22)
        assert same_within(0.05, "", [unsure]).words == "not shown"
        assert differ("", [unsure]).words == "not shown"
        assert verdict("", unsure).words == "not shown"
        sure = Estimate(0.01, -0.02, 0.04)
        assert same_within(0.05, "", [sure]).words == "same within 0.05"
        assert same_within(0.05, "", [sure, unsure]).words == "not shown"
        assert same_within(0.05, "", [sure, Estimate(0.2, 0.1, 0.3)]).words == "reversed"
        assert differ("", [sure]).words == "reversed"

    def test_nothing_measured_shows_nothing(self) -> None:
        nothing = Estimate(0.0, float("nan"), float("nan"))
        for each in (same_within(0.05, "", []), same_within(0.05, "", [nothing]), differ("", [])):
            assert each.words == "not shown"


class TestVerdictsOnScores:
    def test_three_losses_and_a_draw_show_nothing(self) -> None:
        judged = lead_verdict("A ahead of B", Score(wins=0, draws=1, losses=3))
        assert (judged.answer, judged.detail) == (
            "not shown",
            "points a game; fewer than 20 games",
        )

    def test_pairs_are_counted_where_there_are_pairs(self) -> None:
        pairs = PairScores((0, 0, 0, 0, 19))
        score = MatchScore(as_first=Score(19), as_second=Score(19), pairs=pairs)
        assert lead_verdict("", score).detail.endswith("fewer than 20 pairs")
        assert difference_verdict("", score, score).detail.endswith("fewer than 20 pairs")
        assert duel_verdict("", "", Score(1, 0, 1), score).detail.endswith("fewer than 20 pairs")
        more = MatchScore(Score(20), Score(20), pairs + PairScores((0, 0, 0, 0, 1)))
        assert lead_verdict("", more).answer == "yes"

    def test_a_difference_keeps_the_asymmetry_of_its_intervals(self) -> None:
        one, other = Score(wins=0, losses=20), Score(wins=3, losses=17)
        found = difference_verdict("", one, other).found
        assert found.high - found.value < found.value - found.low
        # Newcombe 1998, 56/70 and 48/80, his method 10.
        newcombe = independent_difference(rate(Score(56, 0, 14)), rate(Score(48, 0, 32)))
        assert newcombe.low == pytest.approx(0.0524, abs=5e-5)
        assert newcombe.high == pytest.approx(0.3339, abs=5e-5)

    @pytest.mark.parametrize("games", [10, 20, 40, 100])
    def test_false_verdicts_are_no_more_than_5_percent(self, games: int) -> None:
        """Exactly, of equal players: all scores with their chances."""
        wins = range(games + 1)
        scores = [Score(n, 0, games - n) for n in wins]
        chances = [math.comb(games, n) / 2**games for n in wins]
        one = sum(
            chance
            for chance, score in zip(chances, scores, strict=True)
            if lead_verdict("", score).answer != "not shown"
        )
        two = sum(
            a * b
            for (a, one_score), (b, other) in itertools.product(
                zip(chances, scores, strict=True), repeat=2
            )
            if a * b > 1e-12 and difference_verdict("", one_score, other).answer != "not shown"
        )
        assert one <= 0.05
        assert two <= 0.05

    def test_other_figures_of_few_games_show_nothing(self) -> None:
        certain = verdict("more", Estimate(0.2, 0.1, 0.3), "squares")
        assert not_shown_if_few(certain, 20).answer == "yes"
        assert not_shown_if_few(certain, 19).detail == "squares; fewer than 20 games"
        few = np.ones((19, 1))
        assert simultaneous(few[0], few, games=19) == []
        assert simultaneous(few[0], few, games=20)


class TestCurveDifferences:
    """Curves whose truth is known, of games with three positions each."""

    def sample(self, truth: str, seed: int = 1, games: int = 8000) -> Sample:
        rng = np.random.default_rng(seed)
        numbers = np.repeat(np.arange(games), 3)
        values = rng.uniform(0.1, 0.9, len(numbers))
        chance = {
            "diagonal": values,
            "higher": np.clip(values + 0.15, 0, 1),
            "falling": np.where(values > 0.7, values - 0.35, values),
        }[truth]
        return Sample.of(truth, values, results=rng.random(len(values)) < chance, games=numbers)

    def test_a_curve_on_the_diagonal(self) -> None:
        few = hk.Resampling(200)
        off = from_diagonal(self.sample("diagonal"), width=0.1, resampling=few)
        assert same_within(0.06, "", off).words == "same within 0.06"
        higher = from_diagonal(self.sample("higher"), width=0.1, resampling=few)
        assert same_within(0.06, "", higher).words == "reversed"

    def test_two_curves(self) -> None:
        few = hk.Resampling(200)
        diagonal, higher = self.sample("diagonal"), self.sample("higher")
        between = apart(higher, diagonal, width=0.1, resampling=few)
        assert differ("", between).words == "yes"
        assert np.median([each.value for each in between]) == pytest.approx(0.15, abs=0.02)
        others = apart(diagonal, self.sample("diagonal", seed=2), width=0.1, resampling=few)
        assert differ("", others).words != "yes"

    def test_falls(self) -> None:
        few = hk.Resampling(200)
        down = falls(self.sample("falling"), width=0.1, resampling=few)
        assert max(each.low for each in down) > 0.05
        up = falls(self.sample("diagonal"), width=0.1, resampling=few)
        assert max(each.low for each in up) <= 0

    def test_intervals_hold_together(self) -> None:
        """In most simulated studies none of the bins' intervals fails (nominally 95 of 100)."""
        right = 0
        for seed in range(60):
            sample = self.sample("diagonal", seed, games=1000)
            off = from_diagonal(sample, width=0.1, resampling=hk.Resampling(100))
            right += all(each.low <= 0 <= each.high for each in off)
        assert right >= 51  # 57 expected; fewer than 51 has a chance of 1 in 300


class TestSplitSizes:
    """Games of three positions each, made so that the split is known."""

    def samples(self) -> tuple[Sample, Sample, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(3)
        games = np.repeat(np.arange(3000), 3)
        kind = rng.integers(-1, 2, len(games))
        # The truth is known to the first evaluator; the second does not see the kind.
        plain = rng.uniform(0.2, 0.8, len(games))
        truth = plain + 0.1 * kind
        won = rng.random(len(games)) < truth
        seeing = Sample.of("seeing", truth, results=won, games=games)
        blind = Sample.of("blind", plain, results=won, games=games)
        return seeing, blind, kind > 0, kind < 0

    def test_a_known_split_is_found(self) -> None:
        seeing, blind, above, below = self.samples()
        sizes = SliceSizes(above, below)
        found = sizes.estimate(blind)
        assert found.low < 0.2 < found.high
        assert found.high - found.low < 0.1
        none = sizes.estimate(seeing)
        assert none.low < 0 < none.high

    def test_the_better_evaluator_splits_less(self) -> None:
        seeing, blind, above, below = self.samples()
        sizes = SliceSizes(above, below)
        assert sizes.shrinks(blind, seeing).low > 0
        assert sizes.shrinks(seeing, blind).high < 0
        itself = sizes.shrinks(blind, blind)
        assert (itself.value, itself.low, itself.high) == (0, 0, 0)


def tiny_go(name: str) -> GoExperiment:
    experiment = EXPERIMENTS[name]
    assert isinstance(experiment, GoExperiment)
    return dataclasses.replace(experiment, scales={"tiny": TINY_GO})


@pytest.mark.parametrize(
    "name", [name for name, each in EXPERIMENTS.items() if isinstance(each, GoExperiment)]
)
def test_go_on_our_sample_games(context: ExperimentContext, name: str) -> None:
    experiment = tiny_go(name)
    if experiment.names == ("GNU Go",):
        scale = GoScale(1, (Program("GNU Go", 0, "mc-score:playouts=20"),))
        experiment = dataclasses.replace(experiment, scales={"tiny": scale})
    outcome = experiment.run(context, "tiny")
    check(outcome)
    assert all(b"<svg" in figure.read_bytes() for figure in outcome.figures)


@pytest.mark.parametrize("name", ["000-fig17", "000-fig19"])
def test_groups_of_games(context: ExperimentContext, name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert isinstance(experiment, RanksExperiment)
    groups = (Group("even games", "number % 2 = 0", ""), Group("odd games", "number % 2 = 1", ""))
    outcome = dataclasses.replace(experiment, groups=groups).run(context, "tiny")
    check(outcome)
    counted = [row[1] for row in outcome.tables[1].rows]
    assert all(isinstance(games, int) and games > 10 for games in counted)


def test_programs_of_a_scale_are_different_evaluators() -> None:
    for experiment in EXPERIMENTS.values():
        if isinstance(experiment, GoExperiment | KoExperiment):
            for name, scale in experiment.scales.items():
                specs = [each.spec for each in scale.programs]
                assert len(specs) == len(set(specs)), (experiment.id, name)


def test_kos_keep_their_share_of_all_positions(context: ExperimentContext) -> None:
    experiment = EXPERIMENTS["000-fig9-kos"]
    assert isinstance(experiment, KoExperiment)
    tiny = KoScale(1, (Program("UCT", 500, "uct:playouts=10"),))
    outcome = dataclasses.replace(experiment, scales={"tiny": tiny}).run(context, "tiny")
    check(outcome)
    study = Study.open(context.folder / "go9-kos-tiny")
    [row] = study.sql(
        "select count(*) as positions, sum(ko_forbidden::int) as kos from positions"
    ).to_pylist()
    evaluated = int(outcome.about.split()[0].replace(",", ""))
    assert row["kos"] < evaluated < row["positions"]
    title = outcome.tables[0].title
    assert title.startswith(f"{row['kos']:,} positions where")  # all of them
    assert f"({row['kos'] / row['positions']:.1%};" in title  # and no more than their share


def test_go_goes_on_with_what_is_there(context: ExperimentContext) -> None:
    first = tiny_go("000-table1").run(context, "tiny")
    steps: list[Progress] = []
    watched = dataclasses.replace(context, progress=steps.append)
    again = tiny_go("000-table2").run(watched, "tiny")
    assert {each.total for each in steps} == {0}
    assert again.about == first.about


def test_table_1_sets_theirs_below_ours(context: ExperimentContext) -> None:
    table = tiny_go("000-table1").run(context, "tiny").tables[0]
    rows = list(table.rows)
    at = next(i for i, row in enumerate(rows) if row[0] == "MC 500")
    assert rows[at + 1][1:] == ("theirs", 0.577, 0.533, 2.591, 0.614, 0.601, 0.579)
    assert [row[1] for row in rows[:2]] == ["ours", "Fuego"]


class TestResultsPages:
    def test_a_page_says_what_made_it(self, context: ExperimentContext, tmp_path: Path) -> None:
        experiment = tiny_go("000-fig2")
        outcome = experiment.run(context, "tiny")
        made = Made(
            "hyoka experiment run 000-fig2 --scale tiny", "0123abc", "2026-01-31", "89abcdef"
        )
        file = tmp_path / "000-fig2.md"
        write_results_page(file, experiment, "tiny", outcome, made)
        page = read_results_page(file.read_text())
        assert page is not None
        assert (page.experiment, page.scale, page.made) == ("000-fig2", "tiny", made)
        assert page.answers.total() == len(outcome.verdicts)
        assert page.answers == Counter(each.answer for each in outcome.verdicts)
        pictures = sorted(tmp_path.glob("*.svg"))
        assert len(pictures) == len(outcome.figures)
        assert all(f"({picture.name})" in file.read_text() for picture in pictures)
        assert LEGEND in file.read_text()

    def test_a_report_has_verdicts_tables_and_figures(self, context: ExperimentContext) -> None:
        experiment = tiny_go("000-fig2")
        outcome = experiment.run(context, "tiny")
        made = Made("hyoka experiment run", "0123abc", "2026-01-31", "89abcdef")
        page = outcome_page(experiment, outcome, made)
        assert [section.title for section in page.sections] == ["Verdicts", "Results", "Figures"]
        verdicts, results, figures = page.sections
        [_, table] = verdicts.blocks
        assert isinstance(table, Table)
        assert [row[0] for row in table.rows] == [each.claim for each in outcome.verdicts]
        assert len(results.blocks) == len(outcome.tables)
        assert len(figures.blocks) == len(outcome.figures)
        assert f"Of {len(outcome.verdicts)} claims" in str(page.findings[0])
        reversed_ones = [str(v) for v in outcome.verdicts if v.answer == "reversed"]
        assert [*map(str, page.findings[1:])] == reversed_ones
        text = page.html()
        assert text.count("data:image/svg+xml;base64,") == len(outcome.figures)
        assert "commit 0123abc" in text

    def test_other_texts_are_no_pages(self) -> None:
        assert read_results_page("# Something else\n") is None

    def test_a_definition_changes_with_what_is_measured(self) -> None:
        one = tiny_go("000-table1")
        assert definition(one, "tiny") == definition(dataclasses.replace(one, notes="x"), "tiny")
        fewer = GoScale(2, TINY_GO.programs)
        other = dataclasses.replace(one, scales={"tiny": fewer})
        assert definition(one, "tiny") != definition(other, "tiny")
        assert definition(one, "tiny") != definition(tiny_go("000-table2"), "tiny")

    def test_it_is_the_same_in_every_process(self) -> None:
        words = (
            "from experiments import EXPERIMENTS\n"
            "from experiments.results_page import definition\n"
            "print(*(definition(e, 'small') for e in EXPERIMENTS.values()))"
        )
        texts = {
            subprocess.run(
                [sys.executable, "-c", words],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(texts) == 1
        assert " at 0x" not in texts.pop()


def tiny_weights(name: str) -> WeightExperiment:
    """An experiment of chess, or one of shogi turned to our sample games of chess."""
    bishops, experiment = EXPERIMENTS["000-fig13"], EXPERIMENTS[name]
    assert isinstance(experiment, WeightExperiment)
    assert isinstance(bishops, WeightExperiment)
    file = "chess/twic_human.pgn.xz"
    adjusted = dataclasses.replace(
        bishops.adjusted, where="result is not null and plies >= 20", others=(file,)
    )
    return dataclasses.replace(experiment, adjusted=adjusted, scales={"tiny": TINY_WEIGHTS})


@pytest.mark.parametrize(
    "name",
    [name for name, each in EXPERIMENTS.items() if isinstance(each, WeightExperiment)],
)
def test_weights_on_our_sample_games(context: ExperimentContext, name: str) -> None:
    outcome = tiny_weights(name).run(context, "tiny")
    check(outcome)
    if name in ("000-table3", "000-table5"):
        played = [row[3] for row in outcome.tables[0].rows]
        assert all(isinstance(score, Score) and score.games == 2 for score in played)


@pytest.mark.parametrize("name", ["000-table1", "strength-engines"])
def test_a_folder_of_any_experiment_is_continued(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "games.csv").touch()
    words = ["experiment", "run", "003-table1-text", "--scale", "tiny", "--output", str(tmp_path)]
    result = CliRunner().invoke(command_line(words), words)
    assert result.exit_code == 0, result.output


def test_strength_on_few_games(context: ExperimentContext) -> None:
    parts = EXPERIMENTS["strength-go9-parts"]
    assert isinstance(parts, TunedExperiment)
    bout = Bout("few", "othello", "uct:playouts=9,formula=puct", "uct:playouts=9")
    tuned = dataclasses.replace(parts, bout=bout, constants=(0.5, 1.0)).run(context, "tiny")
    check(tuned)
    assert [row[0] for row in tuned.tables[0].rows] == ["few"]
    assert {row[0] for row in tuned.tables[1].rows} == {"c 0.5", "c 1"}
    engines = EXPERIMENTS["strength-engines"]
    assert isinstance(engines, StrengthExperiment)
    others = Bout("random", "othello", "one=uct:playouts=9", "other=random")
    outcome = dataclasses.replace(engines, bouts=(others,)).run(context, "tiny")
    check(outcome)
    score = outcome.tables[0].rows[0][1]
    assert isinstance(score, Score)
    assert score.games == 2


def random_shogi(count: int) -> list[Record]:
    choose = random.Random(1)
    records = []
    for number in range(count):
        game, codes = hk.Shogi(), list[int]()
        while game.outcome is None and len(codes) < 70:
            move = choose.choice(game.legal_moves)
            codes.append(move.code)
            game = game.play(move)
        result = float(number % 2)
        records.append(
            Record("shogi", np.array(codes, np.uint16), result=result, ending="resigned")
        )
    return records


def test_gps_shogi_on_random_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a search of ours in its place, which starts at once."""
    experiment = EXPERIMENTS["000-fig14-gps"]
    assert isinstance(experiment, GpsExperiment)
    hk.write_records(random_shogi(60), tmp_path / "games.csa")
    context = ExperimentContext(tmp_path / "made", RecordsFolder(tmp_path))
    files = ("games.csa",)
    tiny = {"tiny": Amount(every=1, sample=4, depth=1)}
    # A mate search of every position takes too long here; what it finds is tested elsewhere.
    monkeypatch.setitem(EXACT_METHODS, "mate", EXACT_METHODS["rules"])
    ours = dataclasses.replace(
        experiment, programs=files, professionals=files, scales=tiny, engine="ab:depth={depth}"
    )
    outcome = ours.run(context, "tiny")
    check(outcome)
    assert "for another side than the record says" in outcome.about


def test_gps_shogi_is_missed_at_once(
    context: ExperimentContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spec, "_MORE_PLACES", ())
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EngineError, match="no program 'gpsusi' is on the PATH"):
        EXPERIMENTS["000-fig14-gps"].run(context, "small")


def test_the_original_of_shogi_has_no_king_safety_of_ours() -> None:
    experiment = EXPERIMENTS["000-fig14"]
    assert isinstance(experiment, WeightExperiment)
    run = WeightRun("", experiment.adjusted, ExperimentContext(Path()), "small", TINY_WEIGHTS)
    off = run.present.with_weights(dict.fromkeys(experiment.adjusted.terms, 0.0))
    weighed = {name for name in off.names if "king" in name and any(off[name])}
    assert weighed
    assert all("_king_beside_" in name or name.startswith("king_on_file_") for name in weighed)


def test_fits_are_kept_for_the_matches(context: ExperimentContext) -> None:
    tiny_weights("000-fig13").run(context, "tiny")
    folder = context.folder / "chess-evaluations-tiny"
    assert {file.stem for file in folder.glob("*.json")} == {"off", "MLM", "LS", "original"}
    off = json.loads((folder / "off.json").read_text())
    built_in = json.loads((folder / "original.json").read_text())
    assert off != built_in


def test_studies_are_shared(context: ExperimentContext) -> None:
    tiny_weights("000-table4").run(context, "tiny")
    assert Study.open(context.folder / "chess-tiny").game == "chess"


def check(outcome: Outcome) -> None:
    """What holds for every outcome."""
    assert outcome.about
    for table in outcome.tables:
        assert all(len(row) == len(table.headings) for row in table.rows)
        assert all(isinstance(text, str) for row in table.texts() for text in row)
    assert json.loads(json.dumps(outcome.as_json(), allow_nan=False))
    for each in outcome.verdicts:
        assert each.answer in ("yes", "same", "not shown", "reversed")
        assert each.claim in str(each)
