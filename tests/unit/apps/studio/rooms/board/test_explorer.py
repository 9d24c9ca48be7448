# SPDX-License-Identifier: Apache-2.0
"""The explorer: moves played in a position of a study, over transpositions."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

import numpy as np
from starlette.testclient import TestClient

import hyoka as hk
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.rooms.board import explorer
from hyoka.apps.studio.rooms.board.board_state import BoardState
from hyoka.apps.studio.rooms.board.explorer import PositionIndex
from hyoka.study.evaluating import evaluate

GAMES = (
    "1. Nf3 Nf6 2. g3 g6 3. Bg2 1-0",
    "1. g3 Nf6 2. Nf3 g6 3. d4 0-1",
    "1. g3 g6 2. Nf3 Nf6 3. Bg2 1/2-1/2",
    "1. Nf3 Nf6 2. g3 d5 1-0",
    "1. e4 e5 *",
)
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explorer") / "folder"
    place.mkdir()
    (place / "games.pgn").write_text("\n\n".join(f'[Event "x"]\n\n{game}' for game in GAMES))
    study = hk.Study.create(place / "openings", records=[place / "games.pgn"])
    evaluate(study, ["ab:depth=1"])
    hk.Study.create(place / "others", records=[place / "games.pgn"], where="plies < 3")
    return place


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    app = studio_app(Studio.on(Folder(folder), Engines({}), COMMANDS), token=TOKEN)
    cookies = {"hyoka-studio-80": TOKEN}
    with TestClient(app, "http://127.0.0.1", cookies=cookies) as opened:
        yield opened


def after(*moves: str) -> BoardState:
    table = BoardState("chess")
    for move in moves:
        table = table.play(move)
    return table


def test_moves_are_counted_over_transpositions(folder: Path) -> None:
    study = hk.Study.open(folder / "openings")
    index = PositionIndex.of(study)
    table = after("g1f3", "g8f6", "g2g3")
    found = {move.text: (move.games, move.results) for move in index.moves(table)}
    assert found == {"g6": (2, (1, 0, 1)), "d5": (1, (1, 0, 0))}
    table = after("g2g3", "g8f6", "g1f3", "g7g6")
    found = {move.text: (move.games, move.results) for move in index.moves(table)}
    assert found == {"Bg2": (2, (1, 1, 0)), "d4": (1, (0, 0, 1))}
    assert index.moves(after("a2a3")) == []
    [e5] = index.moves(after("e2e4"))
    assert (e5.games, e5.results, e5.share(0)) == (1, (0, 0, 0), 0.0)


def test_evaluators_are_averaged_after_the_move(folder: Path) -> None:
    study = hk.Study.open(folder / "openings")
    [name] = study.engines
    rows = study.sql(f"select game_id, value from evaluations where engine = '{name}' and ply = 5")
    values = dict(zip(rows["game_id"].to_pylist(), rows["value"].to_pylist(), strict=True))
    moves = PositionIndex.of(study).moves(after("g2g3", "g8f6", "g1f3", "g7g6"))
    by_text = {move.text: move.values for move in moves}
    assert by_text["Bg2"] == (f"{np.mean([values[0], values[2]]):.0%}",)
    assert by_text["d4"] == (f"{values[1]:.0%}",)


def test_the_first_games_of_a_large_study_are_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "MOST_POSITIONS", 13)
    index = PositionIndex.of(hk.Study.open(folder / "openings"))
    assert (index.games, index.is_part, len(index.hashes)) == (2, True, 12)


def test_the_part_of_the_page(client: TestClient) -> None:
    moves = "g1f3 g8f6 g2g3"
    query = {"game": "chess", "moves": moves, "study": "openings"}
    text = client.get("/explorer", params=query).text
    assert re.findall(r'name="play" value="(\w+)"', text) == ["g7g6", "d7d5"]
    assert "White won 1, drawn 0, Black won 1" in text
    other = client.get("/explorer", params=query | {"study": "others"})
    assert "goes on from this position" in other.text
    assert "No study of Othello" in client.get("/explorer?game=othello").text
    page = client.get("/board", params={"game": "chess", "study": "others"}).text
    assert "study=others" in html.unescape(page) or 'name="study" value="others"' in page
    assert client.get("/explorer?study=../secret&game=chess").status_code == 200
    assert client.get("/explorer?game=chess&moves=e2e5").status_code == 400
