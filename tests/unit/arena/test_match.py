# SPDX-License-Identifier: Apache-2.0
"""Whole matches: who meets whom, what is kept, interrupted, resumed and refused."""

import asyncio
import re
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines import QUICK_S, await_end, fake
from hyoka.arena import (
    MatchPlan,
    MatchResult,
    Opening,
    PlayedGame,
    Sprt,
    Standing,
    TimeControl,
    match_so_far,
    open_match,
    plan_match,
    play_match,
    repeated_games,
)
from hyoka.foundation.errors import EngineError, NotationError, OutputError, StudyError
from hyoka.parallel import task_pool as worker_state
from hyoka.records import Record, read_records
from hyoka.storage.run_folder import locked

from ..arena_matches import KNIGHTS, QUIET, match


def test_komi_and_handicap_reach_the_engines_and_the_records(tmp_path: Path) -> None:
    log = tmp_path / "log"
    passer = f"passer={fake('gtp', 'moves=pass', f'log={log}')}"
    result = match(tmp_path, passer, "random", game="go9", komi=0.5, handicap=2, games=1)
    heard = log.read_text().splitlines()
    assert "boardsize 9" in heard
    assert "komi 0.5" in heard
    stones = [line for line in heard if line.startswith("play b")][:2]
    at = heard.index("komi 0.5")
    assert heard[at + 1 : at + 3] == stones
    for game in result.games:
        record = game.record
        assert (record.komi, record.handicap) == (0.5, 2)
        assert int((record.position(0).cells != 0).sum()) == 2
        assert str(record.position(0).to_play) == "Player.second"


def test_openings_that_handicap_stones_forbid_are_left_out(tmp_path: Path) -> None:
    plan = plan_match("random", "random", game="go9", handicap=3, openings="random:4")
    assert 0 < len(plan.openings) < 10_000
    result = play_match(plan, tmp_path / "match", games=10)
    assert result.standing.faults == {}
    with pytest.raises(NotationError, match="handicap"):
        plan_match("random", "random", game="go9", handicap=2, openings=[Opening("x", "", ("G7",))])


def test_players_of_all_kinds_meet_in_one_match(tmp_path: Path) -> None:
    players = ["random", "ab:nodes=50", "uct:playouts=5", QUIET]
    result = match(tmp_path, *players, game="chess", max_plies=12, jobs=2)
    assert result.finished
    assert len(result.games) == 12
    assert {game.record.first for game in result.games} == {
        "Random",
        "Alpha-beta, 50 nodes",
        "UCT, 5 playouts",
        "quiet",
    }
    # A knight that was taken cannot come back.
    assert set(result.standing.faults) <= {"quiet"}


def test_players_may_be_renamed_while_a_match_goes_on(tmp_path: Path) -> None:
    specs = ["uct:playouts=2", "uct:playouts=2,c=2"]
    match(tmp_path, *specs, game="go5", max_plies=4, games=2)
    description, games = open_match(tmp_path / "match")
    assert description["titles"] == ["UCT, 2 playouts", "UCT, 2 playouts (c=2)"]
    assert {game.record.first for game in games} == set(description["titles"])
    named = [f"{name}={spec}" for name, spec in zip(["old", "new"], specs, strict=True)]
    result = match(tmp_path, *named, game="go5", max_plies=4, games=4)
    assert {game.record.first for game in result.games} == {"old", "new"}
    description, games = open_match(tmp_path / "match")
    assert [len(games), *description["titles"]] == [4, "old", "new"]
    records = read_records(tmp_path / "match" / "games.sgf")
    assert {record.first for record in records} == {"old", "new"}


def test_a_match_of_an_early_version_goes_on(tmp_path: Path) -> None:
    """Its description has no titles, and names players by their specs."""
    match(tmp_path, "uct:playouts=2", "random", game="go5", max_plies=4, games=2)
    file = tmp_path / "match" / "match.toml"
    file.write_text(re.sub(r"titles = \[.*?\]\n", "", file.read_text(), flags=re.DOTALL))
    assert "titles" not in open_match(tmp_path / "match").description
    result = match(tmp_path, "uct:playouts=2", "random", game="go5", max_plies=4, games=4)
    assert result.standing.games == 4
    assert open_match(tmp_path / "match").description["titles"] == ["UCT, 2 playouts", "Random"]


def test_a_gauntlet_is_the_first_player_against_each(tmp_path: Path) -> None:
    result = match(tmp_path, "a=random", "b=random", "c=random", game="go5", format="gauntlet")
    assert result.standing.duels() == [(0, 1), (0, 2)]
    assert len(result.games) == 4


def comparable(games: list[PlayedGame]) -> list[tuple[Any, ...]]:
    """Games in order, without what the clock and the machine have put there."""

    def timeless(record: Record) -> Record:
        remarks = tuple(replace(remark, spent_s=None) for remark in record.remarks)
        return replace(record, remarks=remarks, date="")

    ordered = sorted(games, key=lambda game: game.pairing.number)
    return [(game.pairing, timeless(game.record), game.reason, game.fault) for game in ordered]


@pytest.mark.parametrize("game", ["othello", "go5"])
def test_the_same_seed_gives_the_same_games_whatever_the_jobs(tmp_path: Path, game: str) -> None:
    players = ["uct:playouts=20", "ab:nodes=60" if game == "othello" else "mc:playouts=40"]
    found = [
        match(tmp_path / str(number), *players, game=game, games=6, jobs=jobs, seed=seed)
        for number, (jobs, seed) in enumerate([(1, 1), (3, 1), (1, 2)])
    ]
    once, again, other = (comparable(result.games) for result in found)
    assert once == again
    assert once != other
    # Chance differs from game to game, though all begin alike.
    assert len({tuple(record.moves.tolist()) for _, record, _, _ in once}) > 1


def test_the_standing_is_a_recount_of_the_journal(tmp_path: Path) -> None:
    plan = plan_match("a=random", "b=uct:playouts=5", "c=random", game="go5", seed=3)
    result = play_match(plan, tmp_path, games=6, jobs=2)
    _, games = open_match(tmp_path)
    assert [game.pairing.number for game in games] == [game.pairing.number for game in result.games]
    recount = Standing.of([player.title for player in plan.players], games)
    assert recount.duels() == result.standing.duels() == [(0, 1), (0, 2), (1, 2)]
    for one, other in recount.duels():
        assert recount.duel(one, other) == result.standing.duel(one, other)
        assert recount.duel(other, one) == ~recount.duel(one, other)
        assert recount.duel(one, other).pairs.pairs == 3
    assert recount.reasons == result.standing.reasons
    assert sum(recount.total(player).points for player in range(3)) == 18
    so_far = match_so_far(plan, tmp_path, games=6)
    assert so_far.finished
    assert so_far.standing.duel(0, 1) == recount.duel(0, 1)


def quick_plan(**choices: Any) -> MatchPlan:
    choices = {"game": "go5", "seed": 1, "openings": "random:2", **choices}
    return plan_match("a=random", "b=random", **choices)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_match_that_is_interrupted_keeps_its_games_and_goes_on(tmp_path: Path, jobs: int) -> None:
    plan = quick_plan()

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if standing.games >= 5 and new:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(plan, tmp_path, games=20, jobs=jobs, on_games=interrupt)
    assert not worker_state._worker_states
    kept = open_match(tmp_path)[1]
    assert 5 <= len(kept) < 20
    assert not match_so_far(plan, tmp_path, games=20).finished
    counted: list[PlayedGame] = []
    result = play_match(
        plan, tmp_path, games=20, jobs=jobs, on_games=lambda new, standing: counted.extend(new)
    )
    assert len(counted) == 20 - len(kept)
    assert sorted(game.pairing.number for game in result.games) == list(range(20))
    assert result.games[: len(kept)] == kept
    # What was interrupted is the same match as one that was not.
    whole = play_match(plan, tmp_path / "whole", games=20)
    assert comparable(result.games) == comparable(whole.games)


def test_a_match_that_is_interrupted_lets_its_engines_go(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    engine = fake("uci", KNIGHTS, f"pids={pids}")
    plan = plan_match(f"one={engine}", f"two={engine}", openings="start")

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if new:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(plan, tmp_path / "match", games=1000, jobs=2, on_games=interrupt)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) >= 2
    for pid in started:
        await_end(pid)


def test_a_match_that_is_interrupted_does_no_harm_to_another(tmp_path: Path) -> None:
    engine = fake("uci", KNIGHTS)
    plan = plan_match(f"one={engine}", f"two={engine}", openings="start")
    interrupted = threading.Event()

    def interrupt(new: list[PlayedGame], standing: Standing) -> None:
        if new:
            raise KeyboardInterrupt

    def wait(new: list[PlayedGame], standing: Standing) -> None:
        if standing.games == 2:
            interrupted.wait(QUICK_S)

    with ThreadPoolExecutor(1) as other:
        long = other.submit(play_match, plan, tmp_path / "long", games=20, jobs=2, on_games=wait)
        for number in range(3):
            with pytest.raises(KeyboardInterrupt):
                play_match(plan, tmp_path / str(number), games=1000, jobs=2, on_games=interrupt)
        interrupted.set()
        assert long.result().standing.reasons == {"repetition": 20}


def test_a_match_that_is_complete_plays_nothing_and_may_be_made_longer(tmp_path: Path) -> None:
    plan = quick_plan()
    before = play_match(plan, tmp_path, games=4)
    new_games: list[int] = []
    again = play_match(
        plan, tmp_path, games=4, on_games=lambda new, standing: new_games.append(len(new))
    )
    assert new_games == [0]
    assert again.games == before.games
    longer = play_match(plan, tmp_path, games=10)
    assert longer.games[:4] == before.games
    assert len(longer.games) == 10
    shorter = play_match(plan, tmp_path, games=2)
    assert len(shorter.games) == 10


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        ("game", {"game": "go4", "openings": "start"}),
        ("seed", {"seed": 2, "openings": "start"}),
        ("openings", {"openings": "random:1"}),
        ("komi", {"komi": 0.5}),
        ("max_plies", {"max_plies": 99}),
        ("margin_s", {"margin_s": 1}),
        ("adjudicate", {"adjudicate": ["win=0.9,2"]}),
        ("format", {"format": "gauntlet"}),
    ],
)
def test_another_match_in_the_same_folder_is_refused_by_what_differs(
    tmp_path: Path, key: str, choice: dict[str, Any]
) -> None:
    usual = {"openings": "start"} if choice.get("openings") == "start" else {}
    play_match(quick_plan(**usual), tmp_path, games=2)
    with pytest.raises(StudyError, match=f"another match: its {key} is"):
        play_match(quick_plan(**usual, **choice) if not usual else quick_plan(**choice), tmp_path)
    assert len(open_match(tmp_path)[1]) == 2


def test_other_players_are_another_match(tmp_path: Path) -> None:
    play_match(quick_plan(), tmp_path, games=2)
    other = plan_match("a=random", "b=mc:playouts=5", game="go5", seed=1, openings="random:2")
    with pytest.raises(StudyError, match="its players is"):
        play_match(other, tmp_path, games=2)


def test_invalid_matches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"no match\.toml"):
        open_match(tmp_path)
    (tmp_path / "match.toml").write_text("= nonsense")
    with pytest.raises(StudyError, match="toml"):
        open_match(tmp_path)


def test_a_sequential_test_ends_a_match_early_and_stays_decided(tmp_path: Path) -> None:
    plan = plan_match("strong=ab:nodes=300", "weak=random", game="othello", seed=1)
    test = Sprt(0, 300)
    result = play_match(plan, tmp_path, games=1000, sprt=test, jobs=2)
    assert result.verdict == "H1"
    assert result.finished
    assert len(result.games) < 200
    assert test.decision(result.standing.duel(0, 1).pairs) == "H1"
    again = play_match(plan, tmp_path, games=1000, sprt=test, jobs=2)
    assert (again.verdict, len(again.games)) == ("H1", len(result.games))
    assert match_so_far(plan, tmp_path, games=1000, sprt=test).verdict == "H1"


def test_a_sequential_test_is_for_two(tmp_path: Path) -> None:
    plan = plan_match("a=random", "b=random", "c=random", game="go5")
    with pytest.raises(StudyError, match="two players"):
        play_match(plan, tmp_path / "match", sprt=Sprt(0, 5))
    assert not (tmp_path / "match").exists()


def test_our_searches_play_by_the_clock(tmp_path: Path) -> None:
    result = match(tmp_path, "uct", "ab", game="othello", clock="0.3", margin_s=1000, games=1)
    assert result.standing.faults == {}
    clocks = [remark.clock_s for game in result.games for remark in game.record.remarks]
    assert all(clock_s is not None and clock_s < 0.3 for clock_s in clocks)


def test_time_controls_stand_in_the_record(tmp_path: Path) -> None:
    result = match(tmp_path, "a=random@60+1", "b=random@30b5", game="go5", games=1)
    assert {game.record.time_control for game in result.games} == {"60+1 / 30b5", "30b5 / 60+1"}
    result = match(tmp_path / "same", "a=random", "b=random", game="go5", clock="60+1", games=1)
    assert {game.record.time_control for game in result.games} == {"60+1"}
    assert TimeControl.from_text("60+1").increment_s == 1


def test_a_match_is_played_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    engine = fake("uci", KNIGHTS, f"pids={pids}")

    async def notebook() -> MatchResult:
        return match(tmp_path, f"one={engine}", f"two={engine}")

    assert asyncio.run(notebook()).standing.games == 2
    for pid in pids.read_text().split():
        await_end(int(pid))


def test_games_that_were_over_are_kept_when_another_cannot_be_played(tmp_path: Path) -> None:
    class Batches(Executor):
        """Plays nothing until four games are asked for; the fourth fails."""

        def __init__(self) -> None:
            self.asked: list[tuple[Future[PlayedGame], tuple[Any, ...]]] = []

        def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Any:
            future: Future[PlayedGame] = Future()
            self.asked.append((future, arguments))
            if len(self.asked) == 4:
                for other, each in self.asked[:3]:
                    other.set_result(function(*each))
                future.set_exception(EngineError("x", "is not there", reason="missing"))
            return future

    with pytest.raises(EngineError, match="is not there"):
        play_match(quick_plan(), tmp_path, games=8, jobs=2, executor=Batches())
    assert len(open_match(tmp_path)[1]) == 3


def test_killed_before_it_is_described_a_match_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "match"
    plan = plan_match("random", "random", game="othello")
    with monkeypatch.context() as context:
        context.setattr("hyoka.storage.run_folder.write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            play_match(plan, folder, games=2)
    assert [path.name for path in folder.iterdir()] == [".lock"]
    assert len(play_match(plan, folder, games=2).games) == 2


def test_a_second_match_in_a_folder_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    plan = plan_match("random", "random", game="othello")
    with (
        locked(tmp_path, "playing a match"),
        pytest.raises(StudyError, match="another process is writing here"),
    ):
        play_match(plan, tmp_path, games=2)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_journal_without_a_description_is_nobodys(tmp_path: Path) -> None:
    play_match(quick_plan(), tmp_path, games=2)
    (tmp_path / "match.toml").unlink()
    with pytest.raises(OutputError, match=r"has no match\.toml"):
        play_match(quick_plan(), tmp_path, games=4)


def test_games_that_repeat_others_are_counted(tmp_path: Path) -> None:
    engine = fake("uci", KNIGHTS)
    result = match(tmp_path, f"one={engine}", f"two={engine}", games=6)
    assert repeated_games(result.games) == 4
