# SPDX-License-Identifier: Apache-2.0
"""Searches that play themselves, their games as studies, and the loop that learns from them."""

import dataclasses
import io
import json
import math
import pickle
import shutil
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka import _core
from hyoka.foundation.errors import NotationError, ParameterError, StudyError
from hyoka.foundation.progress import Progress
from hyoka.games import GAMES
from hyoka.learning import selfplay_loop as loop_module
from hyoka.learning.network_training import NetworkSettings
from hyoka.learning.selfplay_games import (
    PlayedGames,
    Player,
    games_of_study,
    of_records,
    play_games,
    study_of,
    without_doubles,
)
from hyoka.learning.selfplay_loop import (
    NETWORK,
    PLAN,
    REPORT,
    Generation,
    LoopPlan,
    PlayTask,
    SelfPlayLoop,
    play_part,
)
from hyoka.parallel import RunStopped, WorkerState
from hyoka.reporting.learning_report import selfplay_page, strength_by_generation
from hyoka.search import SearchSpec, uct
from hyoka.search.assembly import models_for, uct_options
from hyoka.storage.model_file import ModelFile, read_model_file
from hyoka.storage.run_folder import LOCK
from hyoka.study import Study
from hyoka.study.derived_columns import Visits, has_visits, keep_visits, stored_visits
from hyoka.study.verify import check_study

from ..small_networks import bits, random_network, random_records

PYTORCH = "learning needs PyTorch: pip install hyoka[learn]"
NO_KOMI = {"othello", "chess", "shogi", "blokus_duo"}


def player(spec: str, game: str) -> Player:
    said = SearchSpec.from_text(spec).for_game(game)
    return uct_options(said, game), models_for(said, game)


def plan_of(**more: Any) -> _core.SelfPlayPlan:
    plan = _core.SelfPlayPlan()
    settings = {"playouts": 12, "quick": 4, "full": 0.4, "random_plies": 3, "seed": 5} | more
    for name, value in settings.items():
        setattr(plan, name, value)
    return plan


def games_of(
    game: str, count: int, *, first: int = 0, specs: tuple[str, ...] = ("uct",), **more: Any
) -> PlayedGames:
    komi = np.full(count, np.nan if game in NO_KOMI else 6.5)
    return play_games(game, [player(each, game) for each in specs], komi, first, plan_of(**more))


def same(one: PlayedGames, two: PlayedGames) -> bool:
    return all(
        np.array_equal(getattr(one, each.name), getattr(two, each.name), equal_nan=True)
        if each.name in ("komi", "values")
        else np.array_equal(getattr(one, each.name), getattr(two, each.name))
        for each in fields(one)
        if each.name != "game"
    )


def numbers(count: int, *marked: int) -> NDArray[np.bool_]:
    return np.isin(np.arange(count), marked)


class TestPlaying:
    @pytest.mark.parametrize("game", ["othello", "go5", "blokus_duo"])
    def test_a_game_is_the_same_whichever_part_it_is_in(self, game: str) -> None:
        whole = games_of(game, 5)
        assert same(whole, PlayedGames.joined([games_of(game, 2), games_of(game, 3, first=2)]))
        assert same(whole.some(numbers(5, 3)), games_of(game, 1, first=3))
        assert not same(whole, games_of(game, 5, seed=6))

    @pytest.mark.parametrize("game", ["othello", "go5", "chess", "shogi", "blokus_duo"])
    def test_games_keep_to_the_rules_and_to_the_plan(self, game: str) -> None:
        limit = 30
        played = games_of(game, 4, max_plies=limit)
        some_full = full_visits = 0
        for number in range(4):
            begin, end = played.move_offsets[number : number + 2]
            start: Any = GAMES[game]()
            line = (start if game in NO_KOMI else start.with_komi(6.5)).line()
            random_moves = int(np.isnan(played.values[begin:end]).sum())
            assert random_moves <= 3
            assert not np.isnan(played.values[begin + random_moves : end]).any()
            for ply in range(begin, end):
                legal = {move.code: move for move in line.legal_moves}
                visits = slice(*played.visit_offsets[ply : ply + 2])
                assert set(played.visited[visits].tolist()) <= set(legal)
                if len(played.visits[visits]):
                    assert ply >= begin + random_moves
                    # Where the result is known sooner, the search ends.
                    full_visits += played.visits[visits].sum() >= 11
                    some_full += 1
                line = line.play(legal[int(played.moves[ply])])
            assert line.outcome is not None or end - begin == limit
            if line.outcome is not None:
                assert played.results[number] == {1.0: 1, 0.5: 0, 0.0: -1}[line.outcome.value]
        assert 0 < some_full < len(played.moves)
        assert full_visits > 0.7 * some_full

    def test_values_are_the_first_players(self) -> None:
        """Near the end a search knows who has won."""
        played = games_of("othello", 12, playouts=60, quick=60, full=1.0)
        ends = played.move_offsets[1:] - 2
        decided = played.results != 0
        predicted = np.sign(played.values[ends] - 0.5)[decided]
        assert np.mean(predicted == played.results[decided]) > 0.9

    def test_two_players_alternate_colors(self) -> None:
        """The one that searches wins as first player of even games and as second of odd ones."""
        strong, weak = "uct:preset=paper", "uct:preset=paper,c=50"
        specs = (strong, weak)
        played = games_of(
            "go3", 20, specs=specs, playouts=200, quick=200, full=1.0, sampled_plies=0
        )
        one = games_of("go3", 20, specs=(strong,), playouts=200, quick=200, full=1.0)
        other = games_of(
            "go3", 20, specs=(weak, strong), playouts=200, quick=200, full=1.0, sampled_plies=0
        )
        assert not same(played, one)
        assert not same(played, other)
        # How far visits are spread tells who was to move.
        even = np.repeat(np.arange(20) % 2 == 0, np.diff(played.move_offsets))
        ply = np.arange(len(played.moves)) - np.repeat(
            played.move_offsets[:-1], np.diff(played.move_offsets)
        )
        spread = _spread(played)
        is_strong = (ply % 2 == 0) == even
        known = ~np.isnan(spread)
        assert spread[known & is_strong].mean() > spread[known & ~is_strong].mean() + 0.1
        assert spread[known & ~is_strong].max() < spread[known & is_strong].max()

    def test_neither_none_nor_three_play(self) -> None:
        for count in (0, 3):
            with pytest.raises(ValueError, match="one player, or two"):
                games_of("go3", 1, specs=("uct",) * count)
        with pytest.raises(ValueError, match="random moves"):
            games_of("go3", 1, random_plies=-1)

    def test_searches_with_networks_play(self) -> None:
        found = random_network("othello")
        said = uct(cutoff=0, evaluation=found).for_game("othello")
        pair = (uct_options(said, "othello"), models_for(said, "othello"))
        one, two = (
            play_games("othello", [pair], np.full(2, np.nan), 0, plan_of()) for _ in range(2)
        )
        assert same(one, two)
        assert not same(one, games_of("othello", 2))


def _spread(played: PlayedGames) -> NDArray[np.float64]:
    """By ply: the share of visits of the move visited most; NaN where none are kept."""
    found = []
    for begin, end in zip(played.visit_offsets[:-1], played.visit_offsets[1:], strict=True):
        visits = played.visits[begin:end]
        found.append(visits.max() / visits.sum() if len(visits) > 1 else math.nan)
    return np.array(found)


class TestGames:
    def test_some_of_them(self) -> None:
        played = games_of("othello", 6)
        parts = [played.some(numbers(6, i)) for i in range(6)]
        assert same(PlayedGames.joined(parts), played)
        assert len(played.some(numbers(6))) == 0

    def test_doubles_are_dropped_whatever_their_komi(self) -> None:
        played = games_of("go3", 4)
        other = dataclasses.replace(played, komi=played.komi + 1)
        kept = without_doubles(PlayedGames.joined([played, other, played]))
        assert same(kept, without_doubles(played))

    @pytest.mark.parametrize("game", ["othello", "go5", "blokus_duo"])
    def test_examples_are_what_was_thought_and_what_came_of_it(self, game: str) -> None:
        played = games_of(game, 6)
        inputs, codes = _core.network_size(game)
        examples = played.examples(seed=1, blend=0.25, threads=2)
        counts = np.diff(played.visit_offsets)
        searched = ~np.isnan(played.values)
        assert len(examples) == searched.sum()
        assert examples.with_moves == (counts > 0).sum()
        assert examples.inputs.shape == (len(examples), (inputs + 7) // 8)
        legal = bits(examples.legal, codes)
        rows = np.repeat(np.arange(examples.with_moves), np.diff(examples.offsets))
        assert legal[rows, examples.moves].all()
        shares = np.add.reduceat(examples.shares, examples.offsets[:-1])
        assert shares == pytest.approx(np.ones(examples.with_moves), abs=1e-5)
        game_of = np.repeat(np.arange(len(played)), np.diff(played.move_offsets))
        ply = np.arange(len(played.moves)) - played.move_offsets[game_of]
        result = (played.results[game_of] + 1) / 2
        expected = 0.25 * played.values + 0.75 * result
        if game == "othello":  # whose turns don't alternate
            expected = np.maximum(expected, 1 - expected)
            own = np.maximum(examples.values, 1 - examples.values)
        else:
            expected = np.where(ply % 2 == 0, expected, 1 - expected)
            own = examples.values
        order = np.concatenate(
            [np.flatnonzero(searched & (counts > 0)), np.flatnonzero(searched & (counts == 0))]
        )
        assert own == pytest.approx(expected[order], abs=1e-6)
        again = played.examples(seed=1, blend=0.25, threads=1)
        assert (again.inputs == examples.inputs).all()
        assert (played.examples(seed=2).inputs != examples.inputs).any()

    def test_records_are_lessons_too(self) -> None:
        records = random_records("othello", 5, 3)
        started = dataclasses.replace(records[0], start=hk.Othello().text)
        unknown = dataclasses.replace(records[1], result=None)
        found = of_records([*records, started, unknown])
        assert len(found) == 5
        assert (found.moves == np.concatenate([record.moves for record in records])).all()
        assert (found.visited == found.moves).all()
        assert ((found.results + 1) / 2).tolist() == [record.result for record in records]
        examples = found.examples(blend=1)
        assert len(examples) == examples.with_moves == len(found.moves)

    def test_useless_records_are_refused(self) -> None:
        with pytest.raises(StudyError, match="games of one kind with results"):
            of_records([dataclasses.replace(random_records("othello", 1, 3)[0], result=None)])
        with pytest.raises(StudyError, match="games of one kind with results"):
            of_records(random_records("othello", 1, 3) + random_records("go3", 1, 3))


class TestStudies:
    @pytest.mark.parametrize("game", ["othello", "go5", "chess", "shogi", "blokus_duo"])
    def test_a_study_gives_back_what_it_was_given(self, game: str, tmp_path: Path) -> None:
        played = games_of(game, 6, max_plies=40)
        study = study_of(PlayedGames.joined([played, played]), tmp_path / "study", "somebody")
        back = games_of_study(Study.open(study.path))
        assert same(back, played)
        # Some games begin with a search: what it thought of the start is kept, too.
        assert not np.isnan(back.values[back.move_offsets[:-1]]).all()

    def test_checks_and_questions_know_of_visits(self, tmp_path: Path) -> None:
        played = games_of("othello", 4)
        study = study_of(played, tmp_path / "study", "somebody")
        assert check_study(study.path).is_whole
        found = study.sql(
            "select count(*) as searched, sum(list_sum(visits.visits)) as visits, "
            "max(len(visits.moves)) as most from visits join games using (game_id)"
        ).to_pylist()[0]
        assert found["searched"] == (np.diff(played.visit_offsets) > 0).sum()
        assert int(found["visits"]) == played.visits.sum()
        assert found["most"] == np.diff(played.visit_offsets).max()
        # A byte that was changed is found.
        part = next((study.path / "visits").rglob("*.parquet"))
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
        assert not check_study(study.path).is_whole

    def test_visits_are_replaced_and_found_in_any_order(self, tmp_path: Path) -> None:
        study = study_of(games_of("othello", 3), tmp_path / "study", "somebody")
        ids = study.sql("select game_id from games order by 1")["game_id"].to_numpy()
        visits = Visits(
            np.array([0, 2, 3]), np.array([19, 26, 37], np.uint16), np.array([5, 6, 7], np.uint32)
        )
        keep_visits(study, "another", ids[[0, 2]], np.array([1, 4], np.int32), visits)
        assert has_visits(study.path)
        back = stored_visits(study, ids[[2, 1, 0, 0]], np.array([4, 1, 1, 2]))
        assert back.offsets.tolist() == [0, 1, 1, 3, 3]
        assert back.moves.tolist() == [37, 19, 26]
        assert back.visits.tolist() == [7, 5, 6]

    def test_a_study_without_visits_teaches_the_moves_played(self, tmp_path: Path) -> None:
        file = tmp_path / "games.sgf"
        records = random_records("othello", 4, 7)
        hk.write_records(records, file)
        study = hk.Study.create(tmp_path / "study", file, columns="none")
        assert not has_visits(study.path)
        assert same(games_of_study(study), of_records(records))


TINY = LoopPlan(
    "othello",
    games=10,
    playouts=6,
    quick=3,
    full=0.3,
    window=2,
    gate_games=0,
    settings=NetworkSettings(width=64, value_units=4, policy_units=4, epochs=2, batch=256),
)


def whole_games(loop: SelfPlayLoop, number: int) -> PlayedGames:
    return games_of_study(Study.open(loop.place(number) / "study"))


class StoppedError(Exception):
    pass


def stopping_at(what: str, done: int) -> Callable[[Progress], None]:
    def listen(progress: Progress) -> None:
        if progress.what == what and progress.done >= done:
            raise StoppedError

    return listen


def tried(plan: LoopPlan, folder: Path, progress: Callable[[Progress], None]) -> None:
    with pytest.raises(StoppedError):
        SelfPlayLoop(plan, folder).run(2, progress=progress)


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    """Ten games are three parts."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(loop_module, "_PART_GAMES", 4)
        yield


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> SelfPlayLoop:
    """Two generations that nobody stopped."""
    pytest.importorskip("torch", reason=PYTORCH)
    found = SelfPlayLoop(TINY, tmp_path_factory.mktemp("loop") / "whole")
    found.run(2, jobs=2)
    return found


def times_in(folder: Path) -> dict[Path, int]:
    """When each file was last written; locks are taken and left."""
    files = (file for file in folder.rglob("*") if file.name != LOCK)
    return {file: file.stat().st_mtime_ns for file in files}


class TestLoop:
    def test_generations_learn_from_the_last_few(self, ended: SelfPlayLoop) -> None:
        assert [each.number for each in ended.generations] == [0, 1]
        assert all(each.accepted and each.score is None for each in ended.generations)
        games = [len(whole_games(ended, number)) for number in (0, 1)]
        # A twentieth of the newest is held out: here, one game.
        assert [each.games for each in ended.generations] == [games[0] - 1, sum(games) - 1]
        assert all(math.isfinite(each.value_loss) for each in ended.generations)
        assert ended.best == ended.place(1) / NETWORK
        for number in (0, 1):
            model_file = ModelFile.from_bytes(
                (ended.place(number) / NETWORK).read_bytes(), path="network"
            )
            assert model_file.sha256 == ended.generations[number].network
            origin = model_file.origin
            assert origin is not None
            assert origin.counts["generation"] == number
            first = ended.generations[0].network
            assert origin.parents == ({} if number == 0 else {"player of generation 1": first})
            assert check_study(ended.place(number) / "study").is_whole

    def test_games_are_those_of_one_go(self, ended: SelfPlayLoop) -> None:
        """Parts in two processes hold what one process plays at once."""
        core = TINY.core(0)
        pair = player(f"{TINY.search},memory=64", "othello")
        played = without_doubles(play_games("othello", [pair], np.full(10, np.nan), 0, core))
        back = whole_games(ended, 0)
        assert same(back, played)

    def test_the_second_generation_is_played_with_the_network(self, ended: SelfPlayLoop) -> None:
        one, two = (whole_games(ended, number) for number in (0, 1))
        assert not same(one, two)
        spec = TINY.spec(ended.place(0) / NETWORK)
        assert (spec["formula"], spec["cutoff"]) == ("puct", 0)
        assert TINY.spec(None) == TINY.first_spec

    def test_tasks_go_to_workers_elsewhere(self, ended: SelfPlayLoop) -> None:
        """With the network in them: no file need be there."""
        spec = TINY.spec(ended.place(0) / NETWORK)
        task = PlayTask(TINY, 1, spec, 4, 4)
        sent = pickle.loads(pickle.dumps(task))
        assert play_part(sent) == (ended.place(1) / "parts" / "0000004.npz").read_bytes()

    def agree(self, ended: SelfPlayLoop, folder: Path) -> None:
        """Goes on, and ends as if nobody had stopped it."""
        again = SelfPlayLoop(TINY, folder)
        again.run(2)
        assert again.generations == ended.generations
        for number in (0, 1):
            assert (again.place(number) / NETWORK).read_bytes() == (
                ended.place(number) / NETWORK
            ).read_bytes()
            assert same(whole_games(again, number), whole_games(ended, number))
            names = {file.name for file in (again.place(number) / "parts").iterdir()}
            assert names == {"0000000.npz", "0000004.npz", "0000008.npz"}

    @pytest.mark.parametrize(
        ("what", "done"),
        [("playing 0", 4), ("learning 0", 1), ("playing 1", 8), ("learning 1", 2)],
    )
    def test_stopped_anywhere_it_goes_on_to_the_same_end(
        self, what: str, done: int, ended: SelfPlayLoop, tmp_path: Path
    ) -> None:
        tried(TINY, tmp_path, stopping_at(what, done))
        self.agree(ended, tmp_path)

    def test_stopped_again_and_again(self, ended: SelfPlayLoop, tmp_path: Path) -> None:
        for what, done in [("playing 0", 4), ("playing 0", 8), ("learning 0", 1), ("playing 1", 4)]:
            tried(TINY, tmp_path, stopping_at(what, done))
        self.agree(ended, tmp_path)

    @pytest.mark.parametrize(
        "lost",
        [
            ["generation.json"],
            ["generation.json", "network.json"],
            ["generation.json", "network.nn"],
            ["generation.json", "network.nn", "network.json", "study/visits"],
            ["generation.json", "network.nn", "network.json", "study", "parts/0000004.npz"],
        ],
    )
    def test_what_was_not_yet_there_is_made_again(
        self, lost: list[str], ended: SelfPlayLoop, tmp_path: Path
    ) -> None:
        """As a kill between two files leaves it."""
        folder = tmp_path / "loop"
        shutil.copytree(ended.folder, folder)
        for name in lost:
            path = folder / "generation-001" / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        self.agree(ended, folder)

    def test_networks_of_convolutions_go_on_to_the_same_end(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason=PYTORCH)
        plan = replace(TINY, settings=replace(TINY.settings, blocks=1, channels=16))
        whole = SelfPlayLoop(plan, tmp_path / "whole")
        whole.run(2)
        tried(plan, tmp_path / "stopped", stopping_at("learning 1", 1))
        again = SelfPlayLoop(plan, tmp_path / "stopped")
        again.run(2)
        made, remade = (each.place(1) / NETWORK for each in (whole, again))
        assert made.read_bytes() == remade.read_bytes()
        player = {made.network for made in whole.generations[:1] if made.accepted}
        origin = read_model_file(remade).origin
        assert origin is not None
        assert set(origin.parents.values()) == player

    def test_killed_before_visits_are_kept(
        self, ended: SelfPlayLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from hyoka.learning import selfplay_games as records  # noqa: PLC0415

        def killed(*_: object) -> None:
            raise StoppedError

        with monkeypatch.context() as context:
            context.setattr(records, "keep_visits", killed)
            with pytest.raises(StoppedError):
                SelfPlayLoop(TINY, tmp_path).run(2)
        assert (tmp_path / "generation-000" / "study").exists()
        self.agree(ended, tmp_path)

    def test_the_same_again_has_nothing_to_do(self, ended: SelfPlayLoop) -> None:
        generations: list[Generation] = []
        before = times_in(ended.folder)
        again = SelfPlayLoop(TINY, ended.folder)
        again.run(2, on_generation=generations.append)
        again.run(2)
        assert generations == again.generations == ended.generations
        assert times_in(ended.folder) == before

    def test_another_plan_is_refused(self, ended: SelfPlayLoop) -> None:
        for changed in ({"playouts": 7}, {"seed": 1}, {"with_network": "eval_weight=0.5"}):
            other = SelfPlayLoop(dataclasses.replace(TINY, **changed), ended.folder)
            with pytest.raises(StudyError, match="another self-play loop"):
                other.run(2)
        # Where it learns is no part of a plan.
        device = dataclasses.replace(TINY.settings, device="cuda")
        assert dataclasses.replace(TINY, settings=device).text == TINY.text
        assert json.loads((ended.folder / PLAN).read_text())["game"] == "othello"

    def test_a_changed_network_is_noticed(self, ended: SelfPlayLoop, tmp_path: Path) -> None:
        folder = tmp_path / "loop"
        shutil.copytree(ended.folder, folder)
        random_network("othello").save(folder / "generation-000" / NETWORK)
        with pytest.raises(StudyError, match="network was changed"):
            SelfPlayLoop(TINY, folder).run(2)

    def test_a_page_tells_of_it(self, ended: SelfPlayLoop) -> None:
        html = selfplay_page(ended).html()
        assert "2 generations, of which 2 were let in." in html
        silent = [dataclasses.replace(each, policy_loss=math.nan, first=math.nan)
                  for each in ended.generations]  # fmt: skip
        other = SelfPlayLoop(TINY, ended.folder)
        other.generations = silent
        assert "nan" not in selfplay_page(other).html().partition("<script")[0].lower()

    def test_a_network_that_judges_no_moves_plays(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason=PYTORCH)
        settings = dataclasses.replace(TINY.settings, policy_units=0, epochs=1)
        plan = dataclasses.replace(TINY, settings=settings, games=4)
        found = SelfPlayLoop(plan, tmp_path)
        found.run(2)
        assert len(found.generations) == 2
        assert math.isnan(found.generations[0].policy_loss)

    def test_with_playouts_mixed_in(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason=PYTORCH)
        plan = dataclasses.replace(TINY, game="go3", games=6, with_network="eval_weight=0.5")
        found = SelfPlayLoop(plan, tmp_path)
        found.run(2)
        spec = plan.spec(found.best)
        assert (spec["eval_weight"], spec["cutoff"]) == (0.5, None)

    @pytest.mark.parametrize(
        ("changed", "name"),
        [
            ({"games": 0}, "games"),
            ({"quick": 0}, "quick"),
            ({"window": 0}, "window"),
            ({"full": 0.0}, "full"),
            ({"blend": 1.5}, "blend"),
            ({"random_plies": -1}, "random_plies"),
            ({"gate_games": -1}, "gate_games"),
            ({"search": "ab"}, "search"),
        ],
    )
    def test_plans_that_make_no_sense_are_refused(self, changed: dict[str, Any], name: str) -> None:
        with pytest.raises(ParameterError, match=name):
            dataclasses.replace(TINY, **changed)

    def test_invalid_plans_are_refused_before_anything_is_played(self) -> None:
        with pytest.raises(NotationError, match="a multiple of 64"):
            dataclasses.replace(TINY, settings=dataclasses.replace(TINY.settings, width=100))
        with pytest.raises(NotationError, match="eval_weight"):
            dataclasses.replace(TINY, with_network="mixed=0.5")


def verdicts(monkeypatch: pytest.MonkeyPatch, *said: str | None) -> list[tuple[str, ...]]:
    """Matches with scripted ends; which players they were of."""
    left = list(said)
    asked: list[tuple[str, ...]] = []

    def play(plan: Any, folder: Path, **_: object) -> Any:
        asked.append(tuple(str(each.spec) for each in plan.players))
        verdict = left.pop(0)
        elo = SimpleNamespace(
            value=100.0 if verdict == "H1" else -50.0, low=-math.inf, high=math.inf
        )
        duel = SimpleNamespace(rate=SimpleNamespace(value=0.6), elo=elo)
        folder.mkdir(parents=True, exist_ok=True)
        return SimpleNamespace(duels=[duel], verdict=verdict, standing=SimpleNamespace(games=8))

    monkeypatch.setattr(loop_module, "play_match", play)
    return asked


class TestGate:
    PLAN = dataclasses.replace(
        TINY, games=4, gate_games=8, settings=dataclasses.replace(TINY.settings, epochs=1)
    )

    def test_who_wins_plays_the_next_games(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("torch", reason=PYTORCH)
        asked = verdicts(monkeypatch, None, "H1", "H0")
        found = SelfPlayLoop(self.PLAN, tmp_path)
        found.run(3)
        assert [each.accepted for each in found.generations] == [False, True, False]
        assert found.best == found.place(1) / NETWORK
        assert strength_by_generation(found.generations) == [-50, 100, 50]
        assert [each.gate_games for each in found.generations] == [8, 8, 8]
        olds = [old for _, old in asked]
        assert olds[0] == olds[1] != olds[2]
        assert len({new for new, _ in asked}) == 3
        # The same results are read again from the files.
        again = SelfPlayLoop(self.PLAN, tmp_path)
        again.run(3)
        assert again.generations == found.generations

    def test_a_match_that_was_stopped_goes_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Real games: a few by each, and the same ones again."""
        pytest.importorskip("torch", reason=PYTORCH)
        plan = dataclasses.replace(self.PLAN, gate_games=6, gate_playouts=4)
        whole = SelfPlayLoop(plan, tmp_path / "whole")
        whole.run(1)
        made = whole.generations[0]
        assert 0 < made.gate_games <= 6
        assert made.score is not None
        assert made.elo is not None

        def killed(*_: object, **__: object) -> None:
            raise StoppedError

        folder = tmp_path / "stopped"
        with monkeypatch.context() as context:
            context.setattr(loop_module, "play_match", killed)
            with pytest.raises(StoppedError):
                SelfPlayLoop(plan, folder).run(1)
        assert not (folder / "generation-000" / REPORT).exists()
        again = SelfPlayLoop(plan, folder)
        again.run(1)
        assert again.generations == whole.generations


class StopsAfter(WorkerState):
    """A crew whose run is over after a number of looks."""

    def __init__(self, looks: int) -> None:
        super().__init__("a run of a test")
        self.looks = looks

    @property
    def is_stopped(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_a_part_is_the_same_game_by_game_and_ends_when_nobody_wants_it() -> None:
    plan = LoopPlan("othello", playouts=6, quick=2)
    spec = plan.spec(None)
    task = PlayTask(plan, 0, spec, first=5, games=4)
    options = uct_options(spec, "othello")
    players = [(options, models_for(spec, "othello"))]
    together = play_games("othello", players, np.full(4, plan.komi), 5, plan.core(0))
    file = io.BytesIO(play_part(task, StopsAfter(4)))
    with np.load(file, allow_pickle=False) as part:
        for name in part.files:
            np.testing.assert_array_equal(part[name], getattr(together, name))
    with pytest.raises(RunStopped):
        play_part(task, StopsAfter(3))
