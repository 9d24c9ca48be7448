# SPDX-License-Identifier: Apache-2.0
"""Nakamura 2007: its experiments at their tiniest, and the prior's scale against other fits."""

import dataclasses
import json
import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy import optimize
from typer.testing import CliRunner

import hyoka as hk
from experiments import EXPERIMENTS, ExperimentContext, nakamura_2007
from experiments.matches import MatchExperiment
from experiments.nakamura_2007 import READINGS, ReadingsExperiment, ReadingsScale
from hyoka.apps.cli.command_table import command_line
from hyoka.arena import MatchPlan, MatchResult, play_match, rate_players
from hyoka.foundation.errors import NotationError, StudyError
from hyoka.foundation.progress import Progress
from hyoka.learning.prior import NewNodes, PriorSettings, tune_prior
from hyoka.search import SearchSpec, linear_evaluation


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> NewNodes:
    """Positions beside a few games of Othello."""
    plan = hk.plan_match("one=uct:playouts=20", "other=uct:playouts=20", game="othello", seed=5)
    games = play_match(plan, tmp_path_factory.mktemp("own"), games=10, jobs=2).games
    return NewNodes.beside(games, seed=1)


class TestScale:
    def test_a_planted_scale_is_found(self, nodes: NewNodes) -> None:
        evaluation = linear_evaluation("othello")
        planted = 1 / (1 + np.exp(-evaluation.score(nodes.positions) / 37.0))
        found = dataclasses.replace(nodes, values=planted).scale(evaluation)
        assert found.value == pytest.approx(37.0, rel=1e-6)

    def test_it_is_the_most_likely_one(self, nodes: NewNodes) -> None:
        evaluation = linear_evaluation("othello")
        scores = evaluation.score(nodes.positions)

        def loss(scale: float) -> float:
            return float(np.sum(np.logaddexp(0, scores / scale) - nodes.values * scores / scale))

        other = optimize.minimize_scalar(loss, bounds=(1, 1000), method="bounded")
        found = nodes.scale(evaluation)
        assert found.value == pytest.approx(other.x, rel=1e-3)
        assert found.low < found.value < found.high

    def test_an_evaluation_that_is_always_wrong_has_none(self, nodes: NewNodes) -> None:
        evaluation = linear_evaluation("othello")
        with pytest.raises(StudyError, match="a higher score does not go with more wins"):
            nodes.scale(evaluation.with_weights(-evaluation.weights))

    def test_positions_are_beside_what_players_thought_about(self, nodes: NewNodes) -> None:
        assert nodes.games == 10
        assert len(set(nodes.pairs.tolist())) == 5
        assert all(position.outcome is None for position in nodes.positions)
        assert ((nodes.values >= 0) & (nodes.values <= 1)).all()
        # Six random plies are nobody's choice, and a move more leads beside the game.
        empty = [64 - np.count_nonzero(each.cells) for each in nodes.positions]
        assert max(empty) == 60 - 6 - 1


def test_some_new_nodes_are_among_all(tmp_path: Path) -> None:
    search = "uct:preset=paper,playouts=5"
    plan = hk.plan_match(f"one={search}", f"other={search}", game="othello", seed=5)
    games = play_match(plan, tmp_path, games=4).games
    heard: list[Progress] = []
    some = NewNodes.beside(games, most=7, seed=1, progress=heard.append)
    everything = NewNodes.beside(games, seed=1)
    places = [everything.positions.index(each) for each in some.positions]
    assert len(some) == 7
    assert places == sorted(set(places))
    assert some.values.tolist() == everything.values[places].tolist()
    assert some.pairs.tolist() == everything.pairs[places].tolist()
    assert (heard[-1].done, heard[-1].total) == (7, 7)


def test_intervals_for_all_pairs_at_once_are_wider() -> None:
    first, second = [0, 1, 1, 2, 2, 0] * 9, [1, 0, 2, 1, 0, 2] * 9
    ratings = rate_players(first, second, [1, 0.5, 1, 0.5, 0, 0] * 9, ["Aoi", "Ben", "Chi"])
    alone, together = (ratings.difference("Aoi", "Chi", comparisons=n) for n in (1, 3))
    quantile = NormalDist().inv_cdf
    ratio = quantile(1 - 0.025 / 3) / quantile(0.975)
    assert together.value == alone.value
    assert together.high - together.value == pytest.approx(ratio * (alone.high - alone.value))
    assert together.value - together.low == pytest.approx(ratio * (alone.value - alone.low))


class TestExperiments:
    def test_all_readings_are_terms(self) -> None:
        names = linear_evaluation("blokus_duo").names
        assert set(READINGS) == {name for name in names if name.startswith("influence")}

    def test_readings_play_all_leagues(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        some = (READINGS[0], READINGS[2], READINGS[3])
        monkeypatch.setattr(nakamura_2007, "READINGS", some)
        experiment = EXPERIMENTS["003-readings"]
        assert isinstance(experiment, ReadingsExperiment)
        tiny = dataclasses.replace(experiment, scales={"small": ReadingsScale(8, 2, 20, 20, 0.001)})
        outcome = tiny.run(ExperimentContext(tmp_path), "small")
        scales, *leagues, means = outcome.tables
        assert [row[0] for row in scales.rows] == list(some)
        assert len(leagues) == 4
        for table in (*leagues, means):
            assert {row[0] for row in table.rows} == set(some)
        assert outcome.verdicts[-1].claim.startswith("all leagues: ")
        for reading, fitted in scales.rows:
            saved = linear_evaluation(
                "blokus_duo", tmp_path / "003-readings" / "small-weights" / f"{reading}.json"
            )
            assert isinstance(fitted, hk.Estimate)
            assert saved.scale == float(f"{fitted.value:.3g}")
            assert saved.weights.sum() == 2
            assert saved[str(reading)] == (1, 1)

    @pytest.mark.parametrize("name", ["003-table1", "003-table2"])
    def test_tables_have_a_verdict_for_each_order_at_each_limit(
        self, name: str, tmp_path: Path
    ) -> None:
        experiment = EXPERIMENTS[name]
        assert isinstance(experiment, MatchExperiment)
        tiny = tuple(
            dataclasses.replace(
                duel, one="uct:playouts=20,eval_visits=40", other="ab:nodes=20", games=2
            )
            for duel in experiment.scales["medium"]
        )
        outcome = dataclasses.replace(experiment, scales={"small": tiny}).run(
            ExperimentContext(tmp_path), "small"
        )
        [table] = outcome.tables
        assert len(table.rows) == len(outcome.verdicts) == 2 * len(tiny)
        assert all("ahead of" in each.claim for each in outcome.verdicts)
        fingerprint = linear_evaluation("blokus_duo").fingerprint
        [folder] = (tmp_path / name).iterdir()  # the same players, whatever the limit is called
        assert folder.name.endswith(fingerprint)


class TestTuning:
    def test_it_goes_on_and_says_who_is_best(self, tmp_path: Path) -> None:
        def play(plan: MatchPlan, games: int) -> MatchResult:
            return play_match(plan, tmp_path / plan.id, games=games, jobs=2)

        search = SearchSpec.from_text("uct:playouts=20")
        settings = PriorSettings(priors=(0, 10, 40), games=4, self_play=8)
        once, again = (tune_prior(search, "othello", play, settings) for _ in range(2))
        assert again.scale == once.scale
        assert again.ratings == once.ratings
        assert {each.name for each in once.ratings.players} == {
            f"eval_visits={visits}" for visits in (0, 10, 40)
        }
        assert once.player("eval_visits=0") == search.with_settings(eval_visits=0)
        assert once.player("eval_visits=40")["scale"] == float(f"{once.scale.value:.3g}")
        for name in once.as_strong:
            assert once.behind_best(name).low <= 0 <= once.behind_best(name).value

    @pytest.mark.parametrize(
        ("search", "priors", "message"),
        [
            ("ab:nodes=10", (0, 5), "ab has no prior"),
            ("uct:playouts=10,eval_visits=5", (0, 5), "'eval_visits' is what is fitted"),
            ("uct:playouts=10", (5, 5), "two different weights"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, search: str, priors: tuple[int, ...], message: str
    ) -> None:
        def play(plan: MatchPlan, games: int) -> MatchResult:
            raise AssertionError("nothing is to be played")

        with pytest.raises(NotationError, match=message):
            tune_prior(
                SearchSpec.from_text(search),
                "othello",
                play,
                PriorSettings(priors=priors, games=2, self_play=2),
            )

    def test_the_command_tells_it_as_json(self, tmp_path: Path) -> None:
        words = [
            *("learn", "prior", "uct:playouts=20", "--game", "othello", "--visits", "0,10"),
            *("--games", "4", "--self-play", "8", "--output", str(tmp_path), "--json"),
        ]
        result = CliRunner().invoke(command_line(words), words)
        assert result.exit_code == 0, result.output
        shown = json.loads(result.stdout)
        assert {each["name"] for each in shown["players"]} == {"eval_visits=0", "eval_visits=10"}
        assert shown["scale"]["low"] < shown["scale"]["value"]
        assert sum(each["wins"] + each["losses"] + each["draws"] for each in shown["players"]) == 8
        assert math.isclose(sum(each["elo"]["value"] for each in shown["players"]), 0, abs_tol=1e-6)
