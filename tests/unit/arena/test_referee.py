# SPDX-License-Identifier: Apache-2.0
"""One game under the referee: time, legality, ends, and what the record says."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hyoka.agents import Turn
from hyoka.arena import MatchRules, Opening, PlayedGame, PlayerSpec, adjudicator_of
from hyoka.arena.journal import Pairing
from hyoka.arena.referee import GameTask, Referee
from hyoka.foundation.errors import EngineError
from hyoka.games.evaluation import Evaluation
from hyoka.parallel import RunStopped

from ..arena_matches import START


class Scripted:
    """A player that plays moves from a list, and says how long each has taken."""

    def __init__(self, moves: Sequence[str], *, seconds: Sequence[float] = (), **said: Any) -> None:
        self._moves = iter(moves)
        self._seconds = iter(seconds)
        self._said = said
        self.turns: list[Turn] = []
        self.seeds: list[int] = []

    async def new_game(self, seed: int) -> None:
        self.seeds.append(seed)

    async def play(self, turn: Turn) -> Evaluation:
        self.turns.append(turn)
        return Evaluation(best=next(self._moves), time_s=next(self._seconds, 0.0), **self._said)

    async def close(self) -> None: ...

    def stop(self) -> None: ...


def refereed(
    one: Scripted,
    other: Scripted,
    game: str = "chess",
    *,
    players: tuple[str, str] = ("one=random", "two=random"),
    opening: Opening = START,
    is_stopped: Callable[[], bool] = lambda: False,
    **rules: Any,
) -> PlayedGame:
    first, second = map(PlayerSpec.from_text, players)
    task = GameTask(
        MatchRules(game, **rules), Pairing(0, 0, 0, 0, 1), opening, (first, second), (5, 6)
    )
    return asyncio.run(Referee(task, (one, other), is_stopped).play())


WHITE, BLACK = ["g1f3", "f3g1"] * 9, ["g8f6", "f6g8"] * 9


def test_a_player_that_oversteps_its_time_loses() -> None:
    timed = ("one=random@10", "two=random@10")
    slow = Scripted(WHITE, seconds=[4, 4, 1.9, 0.2])
    played = refereed(slow, Scripted(BLACK), players=timed, margin_s=0)
    assert (played.result, played.record.ending, played.reason) == (0.0, "time", "time")
    assert played.fault == "thought 0.200 s with 0.100 s left"
    assert len(played.record) == 6
    # The clocks that were shown: White's runs down, Black's stands.
    clocks = [turn.clocks for turn in slow.turns]
    assert [pair[0].main_s for pair in clocks if pair] == pytest.approx([10, 6, 2, 0.1])
    assert [pair[1].main_s for pair in clocks if pair] == [10, 10, 10, 10]
    left = [remark.clock_s for remark in played.record.remarks]
    assert left == pytest.approx([6, 10, 2, 10, 0.1, 10])
    spent = [remark.spent_s for remark in played.record.remarks]
    assert spent == [4, 0, 4, 0, 1.9, 0]


def test_a_margin_forgives_a_little() -> None:
    timed = ("one=random@10", "two=random@10")
    late = [10.25, *[0.0] * 9]
    played = refereed(Scripted(WHITE, seconds=late), Scripted(BLACK), players=timed)
    assert played.reason == "repetition"
    played = refereed(Scripted(WHITE), Scripted(BLACK, seconds=[10.26]), players=timed)
    assert (played.result, played.reason) == (1.0, "time")


def test_time_goes_before_a_mate_and_before_resigning() -> None:
    timed = ("one=random@10", "two=random@10")
    mate = Scripted(["e7e5", "d8h4"], seconds=[0, 99])
    played = refereed(Scripted(["f2f3", "g2g4"]), mate, players=timed)
    assert (played.result, played.reason) == (1.0, "time")
    played = refereed(Scripted(["resign"], seconds=[99]), Scripted([]), players=timed)
    assert played.reason == "time"


def test_a_fixed_time_for_an_engines_move_is_kept_too() -> None:
    engines = ("one=uci:time=0.5:some-engine", "two=random")
    played = refereed(Scripted(WHITE, seconds=[0.7, 0.76]), Scripted(BLACK), players=engines)
    assert (played.result, played.reason, len(played.record)) == (0.0, "time", 2)
    assert "instead of 0.5 s" in played.fault


def test_byo_yomi_comes_anew_with_every_move() -> None:
    timed = ("one=random@1b5", "two=random")
    played = refereed(
        Scripted(WHITE, seconds=[6, 5, 5, 5.1]), Scripted(BLACK), players=timed, margin_s=0
    )
    assert (played.reason, len(played.record)) == ("time", 6)


def test_moves_that_the_rules_forbid_lose() -> None:
    for move in ("e2e5", "nonsense", "", "win"):
        played = refereed(Scripted([move]), Scripted([]))
        assert (played.result, played.record.ending) == (0.0, "illegal")
    played = refereed(Scripted(["e2e4"]), Scripted(["e2e4"]))
    assert (played.result, played.reason) == (1.0, "illegal move")


def test_the_rules_end_a_game() -> None:
    mated = refereed(Scripted(["f2f3", "g2g4"]), Scripted(["e7e5", "d8h4"]))
    assert (mated.result, mated.record.ending, mated.reason) == (0.0, "normal", "checkmate")
    assert mated.record.move_texts() == ["f2f3", "e7e5", "g2g4", "d8h4"]
    drawn = refereed(Scripted(WHITE), Scripted(BLACK))
    assert (drawn.result, drawn.reason, len(drawn.record)) == (0.5, "repetition", 8)


@pytest.mark.parametrize(("komi", "result"), [(0.5, 1.0), (1.5, 1.0), (25, 0.5), (25.5, 0.0)])
def test_go_is_scored_with_its_komi(komi: float, result: float) -> None:
    played = refereed(Scripted(["C3", "pass"]), Scripted(["pass"]), "go5", komi=komi)
    assert (played.result, played.reason, played.record.komi) == (result, "score", komi)
    assert played.record.margin == 25 - komi


def test_the_ply_limit_draws_or_scores_the_game_as_it_stands() -> None:
    drawn = refereed(Scripted(WHITE), Scripted(BLACK), max_plies=3)
    assert (drawn.result, drawn.record.ending, drawn.reason) == (0.5, "adjudicated", "ply limit")
    assert len(drawn.record) == 3
    scored = refereed(Scripted(["C3"]), Scripted([]), "go5", max_plies=1, komi=0.5)
    assert (scored.result, scored.record.margin) == (1.0, 24.5)
    assert scored.reason == "ply limit, scored as it stands"
    assert scored.record.ending == "adjudicated"


def test_an_opening_is_book_and_belongs_to_nobody() -> None:
    one, two = Scripted(["f1b5"]), Scripted([])
    opening = Opening("Spanish", moves=("e2e4", "e7e5", "g1f3", "b8c6"))
    played = refereed(one, two, opening=opening, max_plies=5)
    assert played.record.opening == "Spanish"
    assert [remark.book for remark in played.record.remarks] == [True] * 4 + [False]
    assert played.record.move_texts() == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"]
    position = one.turns[0].position
    assert position is not None
    assert list(position.moves)[:4] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert (one.seeds, two.seeds) == ([5], [6])


def test_an_opening_may_have_black_begin() -> None:
    start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    one, two = Scripted([]), Scripted(["e7e5"])
    played = refereed(one, two, opening=Opening("1. e4", start), max_plies=1)
    assert (len(one.turns), len(two.turns)) == (0, 1)
    assert played.record.position(0).text.startswith(start)


def test_players_views_stand_in_the_record_unchanged() -> None:
    one = Scripted(["e2e4"], value=0.6, score=30.0, depth=5)
    played = refereed(one, Scripted(["e7e5"], mate=-3), max_plies=2)
    mine, theirs = played.record.remarks
    assert (mine.ply, mine.value, mine.score, mine.mate, mine.depth) == (1, 0.6, 30.0, None, 5)
    assert (theirs.ply, theirs.mate, theirs.clock_s) == (2, -3, None)


def test_what_both_players_say_may_end_a_game() -> None:
    rule = (adjudicator_of("win=500,2"),)
    one, two = Scripted(WHITE, score=600.0), Scripted(BLACK, score=550.0)
    played = refereed(one, two, adjudicators=rule)
    assert (played.result, played.reason) == (1.0, "adjudicated by score")
    assert (played.record.ending, len(played.record)) == ("adjudicated", 4)
    one, two = Scripted(WHITE, score=600.0), Scripted(BLACK, score=450.0)
    assert refereed(one, two, adjudicators=rule).reason == "repetition"
    # What the opening says is nobody's word.
    opening = Opening("knights", moves=("g1f3", "g8f6"))
    one, two = Scripted(WHITE[1:], score=600.0), Scripted(BLACK[1:], score=600.0)
    assert len(refereed(one, two, adjudicators=rule, opening=opening).record) == 6


def test_a_game_that_is_stopped_has_no_result() -> None:
    for after in range(6):
        looks = iter([False] * after)
        with pytest.raises(RunStopped):
            refereed(Scripted(WHITE), Scripted(BLACK), is_stopped=lambda: next(looks, True))  # noqa: B023


def test_a_player_that_was_killed_to_stop_the_game_has_not_lost_it() -> None:
    class Killed(Scripted):
        async def play(self, turn: Turn) -> Evaluation:
            raise EngineError("engine", "died (signal SIGKILL)", reason="died")

    class KilledAtOnce(Killed):
        async def new_game(self, seed: int) -> None:
            raise EngineError("engine", "died (signal SIGKILL)", reason="died")

    for killed, before in ((Killed([]), 2), (KilledAtOnce([]), 0)):
        looks = iter([False] * before)
        with pytest.raises(RunStopped):
            refereed(killed, Scripted(BLACK), is_stopped=lambda: next(looks, True))  # noqa: B023
        assert refereed(killed, Scripted(BLACK)).reason == "died"


def test_nobody_is_asked_where_passing_is_all_there_is() -> None:
    opening = Opening("two corners", f"XO------{'-' * 48}XO------ X")
    one, two = Scripted(["c1", "c8"]), Scripted([])
    played = refereed(one, two, "othello", opening=opening)
    assert played.record.move_texts() == ["c1", "pass", "c8"]
    assert (played.result, played.reason) == (1.0, "score")
    assert [remark.ply for remark in played.record.remarks] == [1, 3]
    assert two.turns == []
