# SPDX-License-Identifier: Apache-2.0
"""Go against sgfmill's boards, open_spiel, GNU Go's handicaps and real games."""

import os
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspiel
import pytest
from sgfmill import boards, common, sgf, sgf_moves

import hyoka as hk
from hyoka._core import Go5
from hyoka.games import game_type

from .real_records import SGF, text_of

Point = tuple[int, int]  # row and column, from the bottom left
Rows = tuple[tuple[int, ...], ...]


def go(size: int) -> Any:
    return game_type(f"go{size}")


def rows_of(board: boards.Board) -> Rows:
    """The stones as our `cells` draws them."""
    number = {"b": 1, "w": -1, None: 0}
    return tuple(tuple(number[color] for color in row) for row in reversed(board.board))


class GoTwin:
    """A game under way on an sgfmill board, with the rules that the board leaves to others."""

    def __init__(self, size: int) -> None:
        self.board = boards.Board(size)
        self.to_play = "b"
        self.ko: Point | None = None
        self.seen = {rows_of(self.board)}

    def after(self, point: Point) -> boards.Board | None:
        """The board after a stone on `point`; None if a stone is there or would kill itself."""
        if self.board.get(*point) is not None:
            return None
        board = self.board.copy()
        board.play(*point, self.to_play)
        return board if board.get(*point) == self.to_play else None

    def legal_moves(self) -> tuple[set[str], set[str]]:
        """By simple ko, and by positional superko."""
        simple, superko = {"pass"}, {"pass"}
        for point in self.board.board_points:
            board = self.after(point)
            if board is not None and point != self.ko:
                simple.add(common.format_vertex(point))
                if rows_of(board) not in self.seen:
                    superko.add(common.format_vertex(point))
        return simple, superko

    def chain(self, point: Point) -> tuple[int, int]:
        """How many stones and how many liberties the chain on `point` has."""
        stones = self.board._make_group(*point, self.board.get(*point)).points
        sides = (0, 1), (1, 0), (0, -1), (-1, 0)
        beside = {(row + up, column + right) for row, column in stones for up, right in sides}
        inside = beside & set(self.board.board_points)
        return len(stones), sum(self.board.get(*point) is None for point in inside)

    def random_move(self, rng: random.Random) -> Point | None:
        """A point that superko allows; seldom, and where nothing else is left, a pass."""
        points: list[Point] = rng.sample(self.board.board_points, self.board.side**2)
        for point in points if rng.random() < 0.98 else []:
            board = self.after(point)
            if board is not None and rows_of(board) not in self.seen:
                return point
        return None

    def play(self, point: Point | None) -> None:
        self.ko = None if point is None else self.board.play(*point, self.to_play)
        self.to_play = common.opponent_of(self.to_play)
        self.seen.add(rows_of(self.board))


def ko_of(game: Any) -> Point | None:
    point: Point | None = game.ko and common.move_from_vertex(str(game.ko), game.size)
    return point


def assert_same_board(game: Any, board: boards.Board) -> None:
    assert game.cells.tolist() == [list(row) for row in rows_of(board)]
    assert game.score == board.area_score() - game.komi


@pytest.mark.parametrize(
    ("size", "games", "plies", "komi", "check_every"),
    [
        (3, 60, 80, 0, 1),
        (4, 20, 120, 1, 1),
        (5, 10, 150, 24.5, 1),
        (6, 6, 150, -3.5, 1),
        (7, 5, 200, 9, 1),
        (9, 5, 250, 7.5, 3),
        (13, 2, 500, 6.5, 10),
        (19, 2, 900, 7.5, 40),
    ],
)
def test_random_games_agree_with_sgfmill(
    size: int, games: int, plies: int, komi: float, check_every: int
) -> None:
    rng = random.Random(size)
    for _ in range(games):
        line = go(size)(komi=komi).line()
        twin = GoTwin(size)
        for ply in range(plies):
            if line.outcome is not None:
                break
            game = line.position
            if ply % check_every == 0:
                simple, superko = twin.legal_moves()
                assert set(map(str, game.legal_moves)) == simple, line.text
                assert set(map(str, line.legal_moves)) == superko, line.text
                occupied = twin.board.list_occupied_points()
                for _, point in rng.sample(occupied, min(10, len(occupied))):
                    vertex = common.format_vertex(point)
                    assert (game.chain_size(vertex), game.liberties(vertex)) == twin.chain(point)
            assert ko_of(game) == twin.ko, line.text
            move = twin.random_move(rng)
            line = line.play(common.format_vertex(move))
            twin.play(move)
            assert_same_board(line.position, twin.board)
        while line.outcome is None:
            line = line.play("pass")
        score = twin.board.area_score() - komi
        assert line.position.passes == 2
        assert line.outcome.value == (score > 0) + (score == 0) / 2


@pytest.mark.parametrize(
    ("size", "games"), [(3, 1_000), (4, 300), (5, 200), (9, 80), (13, 20), (19, 8)]
)
def test_random_games_agree_with_open_spiel(size: int, games: int) -> None:
    """It forbids simple ko, and ends a game whose board comes back: what superko forbids."""
    rng = random.Random(size)
    settings = {"board_size": size, "komi": 6.5, "max_game_length": 2_000}
    game_of_spiel = pyspiel.load_game("go", settings)
    repetitions = 0

    def code(action: int) -> int:
        """Our number of a point; theirs counts from the bottom."""
        row, column = divmod(action, size)
        return action if action == size**2 else (size - 1 - row) * size + column

    for _ in range(games):
        state = game_of_spiel.new_initial_state()
        line = go(size)(komi=6.5).line()
        for _ in range(4 * size**2):
            if state.is_terminal():
                break
            actions = state.legal_actions()
            moves = {move.code for move in line.position.legal_moves}
            assert moves == set(map(code, actions)), line.text
            allowed = {move.code for move in line.legal_moves}
            for action in actions:
                if code(action) not in allowed:
                    assert state.child(action).is_terminal(), line.text
                    repetitions += 1
            stones = [action for action in actions[:-1] if code(action) in allowed]
            action = rng.choice(stones) if stones and rng.random() < 0.95 else actions[-1]
            state.apply_action(action)
            line = line.play(line.position.legal_moves[0].from_code(code(action)))
            assert state.is_terminal() == (line.outcome is not None), line.text
        if state.is_terminal():
            assert line.outcome is not None
            assert line.outcome.value == (state.returns()[0] + 1) / 2
    assert repetitions > 0 or size > 5


def test_superko_forbids_to_return_one_stone_after_two_were_sent() -> None:
    """Simple ko allows it, and so would situational superko: the same board, the other to move."""
    start = Go5.from_stones(["A2", "B2"], ["B1", "D1", "C2"], to_play=hk.Player.second)
    line = start.line().play("A1").play("C1")
    assert line.position.is_legal("B1")
    assert (line.position.play("B1").cells == start.cells).all()
    assert not line.is_legal("B1")
    assert "B1" not in map(str, line.legal_moves)
    with pytest.raises(hk.errors.IllegalMoveError):
        line.play("B1")


def test_superko_never_forbids_a_pass() -> None:
    line = Go5().line().play("C3").play("pass")
    assert line.is_legal("pass")
    assert line.play("pass").outcome is not None


def sampled_records(path: Path, count: int) -> list[sgf.Sgf_game]:
    lines = text_of(path, SGF).splitlines()
    return [sgf.Sgf_game.from_string(line) for line in random.Random(1).sample(lines, count)]


def set_up(board: boards.Board) -> Any:
    stones: dict[str, list[str]] = {"b": [], "w": []}
    for color, point in board.list_occupied_points():
        stones[color].append(common.format_vertex(point))
    return go(board.side).from_stones(stones["b"], stones["w"])


def with_to_play(game: Any, color: str) -> Any:
    """Records of handicap games, and some others, let a player move twice in a row."""
    player = hk.Player.first if color == "b" else hk.Player.second
    return game if game.to_play == player else game.with_to_play(player)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("go19/pro_aeb.sgf.xz", 25),
        ("go19/kgs_highdan.sgf.xz", 25),
        ("go9/ogs9_human.sgf.xz", 150),
        ("go9/pro_aeb_9x9.sgf.xz", 60),
    ],
)
def test_real_games_replay_as_on_sgfmill_boards(
    name: str, count: int, shared_data: Callable[[str], Path]
) -> None:
    for record in sampled_records(shared_data(name), count):
        board, plays = sgf_moves.get_setup_and_moves(record)
        game = set_up(board)
        for color, point in plays:
            if game.outcome is not None:  # people may go on after two passes
                game = set_up(board)
            game = with_to_play(game, color).play(common.format_vertex(point))
            if point is not None:
                ko = board.play(*point, color)
                assert ko_of(game) == ko
                assert game.cells.tolist() == [list(row) for row in rows_of(board)]
        assert_same_board(game, board)


def test_points_of_real_games_read_alike_in_sgf_and_gtp(shared_data: Callable[[str], Path]) -> None:
    for record in sampled_records(shared_data("go19/kgs_highdan.sgf.xz"), 10):
        for node in record.get_main_sequence():
            color, point = node.get_move()
            if color:
                move = hk.Go19().parse(common.format_vertex(point))
                text = node.get_raw(color.upper()).decode()
                assert move.sgf() == text
                assert hk.Go19().parse(text) == move


def test_illegal_games_are_refused_where_the_manifest_says(
    shared_data: Callable[[str], Path],
) -> None:
    """In three of them a player moves twice running and fills the ko: it is the other's turn."""
    refused = 0
    with zipfile.ZipFile(shared_data("go19/raw_samples.zip")) as archive:
        _, *rows = archive.read("illegal/MANIFEST.tsv").decode().splitlines()
        for row in rows:
            name, reason = row.split("\t")
            rule, number = reason.split("@")
            record = sgf.Sgf_game.from_bytes(archive.read(name))
            board, plays = sgf_moves.get_setup_and_moves(record)
            game = with_to_play(set_up(board), plays[0][0])
            *before, vertex = [common.format_vertex(point) for _, point in plays[: int(number)]]
            for played in before:
                game = game.play(played)
            with pytest.raises(hk.errors.IllegalMoveError):
                game.play(vertex)
            occupied, ko = game.chain_size(vertex) > 0, str(game.ko) == vertex
            assert {"occupied": occupied, "ko": ko, "suicide": not occupied and not ko}[rule], row
            refused += 1
    assert refused == 52


@pytest.mark.parametrize("size", [7, 9, 13, 19])
def test_handicap_stones_stand_where_gnu_go_puts_them(size: int) -> None:
    gnugo = shutil.which("gnugo", path=os.environ.get("PATH", "") + os.pathsep + "/usr/games")
    if gnugo is None:
        pytest.skip("GNU Go is not installed")
    stones = range(2, 10 if size > 7 else 5)
    commands = [f"boardsize {size}\nclear_board\nfixed_handicap {n}\n" for n in stones]
    run = subprocess.run(
        [gnugo, "--mode", "gtp"],
        input="".join(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [answer for answer in run.stdout.split("\n\n") if len(answer) > 2]
    for number, answer in zip(stones, answers, strict=True):
        expected = go(size).from_stones(
            answer.removeprefix("= ").split(), [], to_play=hk.Player.second
        )
        assert go(size)(handicap=number) == expected, number
