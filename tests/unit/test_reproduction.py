# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments: their numbers, what is said of ours, and a small run of each kind."""

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyoka as hk
from hyoka.analysis import Sample
from hyoka.arena import Score
from hyoka.cli.commands import command_line
from hyoka.errors import NotationError, SourceError
from hyoka.estimate import Estimate
from hyoka.progress import Progress
from hyoka.reproduction import (
    EXPERIMENTS,
    Outcome,
    RecordsFolder,
    Workshop,
    cell_text,
    experiment_named,
)
from hyoka.reproduction.gaps import SplitSizes
from hyoka.reproduction.go_records import (
    MC_BY_MOVES,
    OURS,
    GoExperiment,
    GoScale,
    Program,
    programs,
)
from hyoka.reproduction.matches import duel_verdict
from hyoka.reproduction.outcome import verdict
from hyoka.reproduction.takeuchi_2010 import (
    BISHOP_FACTORS,
    CHESS_MATCHES,
    GO,
    KING_WEIGHTS,
    SHOGI_MATCHES,
)
from hyoka.reproduction.weight_records import RecordsScale, WeightExperiment
from hyoka.samples import sample_path
from hyoka.study import Study

ASKED_FOR = (
    *(f"table{number}" for number in (1, 2, 3, 5)),
    *(f"fig{number}" for number in (4, 5, 8, 9, 11, 13, 14)),
)
MONTE_CARLO = ("UCT", "MC", "MC-Score")


def program(name: str, level: int, spec: str) -> Program:
    return Program(name, level, spec)


TINY_GO = GoScale(
    1,
    (
        program(OURS, 500, "uct:playouts=30,formula=puct"),
        program("UCT", 5000, "uct:playouts=60"),
        program("UCT", 500, "uct:playouts=20"),
        program("MC", 5000, "mc:playouts=60"),
        program("MC", 500, "mc:playouts=20"),
        program(MC_BY_MOVES, 500, "uct:playouts=5,c=1000,value=root"),
        program("MC-Score", 500, "mc-score:playouts=20"),
    ),
)
TINY_WEIGHTS = RecordsScale(sample=8, games=2, nodes=30)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A workshop with our own sample games where the experiments look for people's."""
    data = tmp_path_factory.mktemp("data")
    for game, name in (("go9", "go9/ogs9_human.sgf.xz"), ("chess", "chess/twic_human.pgn.xz")):
        (data / name).parent.mkdir()
        shutil.copy(sample_path(game), data / name)
    return Workshop(tmp_path_factory.mktemp("made"), RecordsFolder(data), jobs=2)


def test_everything_asked_for_is_there_at_every_scale() -> None:
    assert {f"000-{name}" for name in ASKED_FOR} <= set(EXPERIMENTS)
    for name, experiment in EXPERIMENTS.items():
        assert experiment.id == name
        assert list(experiment.scales) == ["small", "medium", "paper"]
        assert experiment.title
        assert experiment.notes


def test_a_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(NotationError, match="did you mean 000-table1"):
        experiment_named("000-tabel1")


def test_the_command_lists_them() -> None:
    words = ["reproduce", "--json"]
    listed = json.loads(CliRunner().invoke(command_line(words), words).stdout)
    assert [each["experiment"] for each in listed] == list(EXPERIMENTS)


def test_missing_records_are_named(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "made", RecordsFolder(tmp_path))
    for name, file in (
        ("000-table1", "go9/ogs9_human.sgf.xz"),
        ("000-fig11", "chess/twic_human.pgn.xz"),
        ("000-table5", "shogi/floodgate2016.csa.xz"),
    ):
        with pytest.raises(SourceError, match=f"{file}.*`data`"):
            EXPERIMENTS[name].run(workshop, "small")


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


def test_monte_carlo_by_moves_is_the_mean_of_so_many_playouts() -> None:
    """The first playout of each of nine moves, whatever they are worth."""
    [by_moves] = [each for each in programs((500,), ()) if each.name == MC_BY_MOVES]
    found = hk.search_once(hk.Go9(komi=5.5), by_moves.spec)
    assert found.playouts == round(500 / 58)
    assert sum(report.visits for report in found.moves) == found.playouts
    assert max(report.visits for report in found.moves) == 1
    tried = [report.value for report in found.moves if report.visits and report.value is not None]
    assert found.value == pytest.approx(sum(tried) / len(tried))


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
        same = duel_verdict("A", "B", theirs, Score(52, 0, 48))
        assert (same.claim, same.answer) == ("A and B not told apart", "yes")
        assert duel_verdict("A", "B", theirs, Score(80, 0, 20)).answer == "reversed"


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
        sizes = SplitSizes(above, below)
        found = sizes.estimate(blind)
        assert found.low < 0.2 < found.high
        assert found.high - found.low < 0.1
        none = sizes.estimate(seeing)
        assert none.low < 0 < none.high

    def test_the_better_evaluator_splits_less(self) -> None:
        seeing, blind, above, below = self.samples()
        sizes = SplitSizes(above, below)
        assert sizes.shrinks(blind, seeing).low > 0
        assert sizes.shrinks(seeing, blind).high < 0
        itself = sizes.shrinks(blind, blind)
        assert (itself.value, itself.low, itself.high) == (0, 0, 0)


def tiny_go(name: str) -> GoExperiment:
    experiment = EXPERIMENTS[name]
    assert isinstance(experiment, GoExperiment)
    return dataclasses.replace(experiment, scales={"tiny": TINY_GO})


@pytest.mark.parametrize(
    "name",
    # One of each kind: figures 5 to 7 are drawn as figure 4 is, figure 9 as figure 8.
    ["000-table1", "000-table2", "000-fig4", "000-fig8"],
)
def test_go_on_our_sample_games(workshop: Workshop, name: str) -> None:
    experiment = tiny_go(name)
    if experiment.names == ("GNU Go",):
        scale = GoScale(1, (program("GNU Go", 0, "mc-score:playouts=20"),))
        experiment = dataclasses.replace(experiment, scales={"tiny": scale})
    outcome = experiment.run(workshop, "tiny")
    check(outcome)
    assert all(figure.read_bytes().startswith(b"\x89PNG") for figure in outcome.figures)


def test_go_goes_on_with_what_is_there(workshop: Workshop) -> None:
    first = tiny_go("000-table1").run(workshop, "tiny")
    told: list[Progress] = []
    watched = dataclasses.replace(workshop, progress=told.append)
    again = tiny_go("000-table2").run(watched, "tiny")
    assert {each.total for each in told} == {0}
    assert again.about == first.about


def test_table_1_sets_theirs_below_ours(workshop: Workshop) -> None:
    table = tiny_go("000-table1").run(workshop, "tiny").tables[0]
    rows = list(table.rows)
    at = next(i for i, row in enumerate(rows) if row[0] == "MC 500")
    assert rows[at + 1][1:] == ("theirs", 0.577, 0.533, 2.591, 0.614, 0.601, 0.579)
    assert [row[1] for row in rows[:2]] == ["ours", "Fuego"]


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
    [
        name
        for name, each in EXPERIMENTS.items()
        if isinstance(each, WeightExperiment)
        and name not in ("000-fig14", "000-fig16", "000-table6")  # as figure 13, in shogi
    ],
)
def test_weights_on_our_sample_games(workshop: Workshop, name: str) -> None:
    outcome = tiny_weights(name).run(workshop, "tiny")
    check(outcome)
    if name in ("000-table3", "000-table5"):
        played = [row[3] for row in outcome.tables[0].rows]
        assert all(isinstance(score, Score) and score.games == 2 for score in played)


def test_fits_are_kept_for_the_matches(workshop: Workshop) -> None:
    tiny_weights("000-fig13").run(workshop, "tiny")
    folder = workshop.folder / "chess-weights-tiny"
    assert {file.stem for file in folder.glob("*.json")} == {"off", "MLM", "LS", "original"}
    off = json.loads((folder / "off.json").read_text())
    built_in = json.loads((folder / "original.json").read_text())
    assert off != built_in


def test_studies_are_shared(workshop: Workshop) -> None:
    tiny_weights("000-table4").run(workshop, "tiny")
    assert Study.open(workshop.folder / "chess-tiny").game == "chess"


def check(outcome: Outcome) -> None:
    """What holds for every outcome."""
    assert outcome.about
    for table in outcome.tables:
        assert all(len(row) == len(table.headings) for row in table.rows)
        assert all(isinstance(text, str) for row in table.texts() for text in row)
    assert json.loads(json.dumps(outcome.as_json(), allow_nan=False))
    for each in outcome.verdicts:
        assert each.answer in ("yes", "not shown", "reversed")
        assert each.claim in str(each)
