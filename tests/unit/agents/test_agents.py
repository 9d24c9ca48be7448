# SPDX-License-Identifier: Apache-2.0
"""Kinds of agents: a new one is a class and an entry, and then appears everywhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.agents import (
    ROLES,
    Agent,
    Answer,
    RecordedGame,
    Turn,
    agent_of,
    roles_of,
    spec_of,
)
from hyoka.agents.kinds import AGENT_KINDS
from hyoka.arena.solve import solve
from hyoka.games.evaluation import Evaluation
from hyoka.records.problems import Exercise, read_problems
from hyoka.search import SearchLimits
from hyoka.study.evaluating import evaluate

START = "6k1/5ppp/8/8/8/8/8/R5K1 w - -"
MATE = f'{START} bm Ra8#; id "back rank";'


@dataclass(frozen=True)
class LastMoveSpec:
    """Names a contestant that plays the last move of a list; it has no memory and no shame."""

    text: str
    id: str = "last-move"
    title: str = "the last move"
    dependencies: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> "LastMoveSpec":
        return cls(text)


class LastMove(Agent[LastMoveSpec]):
    """All three at once, since nothing of it is ever at work."""

    prefixes = ("last-move",)
    spec_type = LastMoveSpec

    def evaluator(self, game: str, limits: SearchLimits | None = None) -> "LastMove":
        return self

    def player(self, game: str, name: str, limits: SearchLimits | None = None) -> "SeatedPlayers":
        return SeatedPlayers()

    def solver(self, limits: SearchLimits | None = None) -> "LastMove":
        return self

    def identity(self) -> tuple[str, str]:
        return "the last move", "1"

    def evaluate_each(self, games: Sequence[RecordedGame]) -> Iterator[Evaluation]:
        for game in games:
            for ply, position in zip(game.plies, game.positions(), strict=True):
                yield Evaluation(value=ply / 10, best=str(position.legal_moves[-1]))

    def start(self) -> None: ...

    def answer(self, exercise: Exercise) -> Answer:
        return Answer(str(exercise.to_solve().legal_moves[-1]))

    def stop(self) -> None: ...

    def close(self) -> None: ...


class SeatedPlayers:
    """The same at the board."""

    async def new_game(self, seed: int) -> None: ...

    async def play(self, turn: Turn) -> Evaluation:
        return Evaluation(value=0.5, best=str(turn.line.legal_moves[-1]))

    async def close(self) -> None: ...

    def stop(self) -> None: ...


@pytest.fixture
def _a_new_kind() -> Iterator[None]:
    AGENT_KINDS.append(LastMove)
    yield
    AGENT_KINDS.remove(LastMove)


@pytest.mark.usefixtures("_a_new_kind")
def test_a_new_kind_evaluates_plays_and_solves(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text("1. e4 e5 2. d4 *\n", encoding="utf-8")
    study = hk.Study.create(tmp_path / "study", tmp_path / "game.pgn")
    [report] = evaluate(study, ["last-move"])
    assert (report.engine, report.done) == ("last-move", 4)
    found = study.sql("select value from evaluations order by ply")["value"].to_pylist()
    assert found == pytest.approx([0.0, 0.1, 0.2, 0.3])
    plan = hk.plan_match("last-move:x", "random", game="othello", openings="start")
    assert [player.title for player in plan.players] == ["the last move", "Random"]
    result = hk.play_match(plan, tmp_path / "match", games=2, jobs=2)
    assert (result.standing.games, result.standing.faults) == (2, {})
    solved = solve(read_problems(MATE).problems, "last-move")
    assert solved.verdicts[0].move == str(hk.position("chess", f"{START} 0 1").legal_moves[-1])
    with pytest.raises(hk.errors.NotationError, match="did you mean last-move"):
        spec_of("last-mover")


@pytest.mark.parametrize(
    ("text", "game", "roles"),
    [
        ("uct:playouts=5", "go9", ROLES),
        ("mate", "chess", ("evaluator", "solver")),
        ("mate", "go9", ()),
        ("uci:stockfish", "chess", ROLES),
        ("CECP:gnuchess", "shogi", ROLES),
        ("usi:gpsusi", "chess", ()),
        ("comments:by=player", "go9", ()),
        ("table:mine.csv", "go9", ()),
    ],
)
def test_roles_depend_on_the_kind_and_the_game(
    text: str, game: str, roles: tuple[str, ...]
) -> None:
    assert roles_of(text, game) == set(roles)


def test_comments_and_tables_evaluate_studies_only() -> None:
    for text in ("comments", "comments:player=A", "table:mine.csv"):
        agent = agent_of(text)
        with pytest.raises(hk.errors.NotationError, match="can't evaluate single positions"):
            agent.evaluator("chess")
        with pytest.raises(hk.errors.NotationError, match="can't play games"):
            agent.player("chess", "x")
        assert spec_of(agent.spec.text) == agent.spec


@pytest.mark.parametrize(
    ("text", "title", "threads", "is_single_threaded", "default_game"),
    [
        ("uct:playouts=5", "UCT, 5 playouts", 1, True, None),
        ("uct:threads=4", "UCT", 4, False, None),
        ("UCI:nodes=1,Hash=16:sf bench", "sf, 1 node", 1, True, "chess"),
        ("usi:Threads=3,name=x:fairy", "x", 3, False, "shogi"),
        ("gtp:gnugo --mode gtp", "gnugo", 1, False, None),
    ],
)
def test_what_is_known_of_a_contestant_before_it_begins(
    text: str, title: str, threads: int, is_single_threaded: bool, default_game: str | None
) -> None:
    agent = agent_of(spec_of(text))
    assert (agent.spec.title, agent.threads) == (title, threads)
    assert (agent.is_single_threaded, agent.default_game) == (is_single_threaded, default_game)


def test_what_a_kind_cannot_do_it_refuses(tmp_path: Path) -> None:
    def even(position: object) -> float:
        return 0.5

    function = hk.PythonEvaluator(even)
    with pytest.raises(hk.errors.NotationError, match="even can't play games"):
        hk.plan_match("random", function)
    with pytest.raises(hk.errors.NotationError, match="even can't solve problems"):
        solve(read_problems(MATE).problems, function)
    with pytest.raises(hk.errors.NotationError, match="no search, engine or function: 3"):
        agent_of(3)  # type: ignore[arg-type]
