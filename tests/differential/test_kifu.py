# SPDX-License-Identifier: Apache-2.0
"""KIF and KI2 against cshogi, the same games in CSA, and the texts as people wrote them."""

import lzma
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import cshogi
import numpy as np
import pytest
from cshogi import KI2, KIF

import hyoka as hk
from hyoka import _core

from .test_shogi import random_moves, scattered_sfen, usi

Archive = dict[str, str]


def decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp932")


@pytest.fixture(scope="module")
def archive(shared_data: Callable[[str], Path]) -> Archive:
    """Names of all files and what they say."""
    with zipfile.ZipFile(shared_data("shogi/kif_ki2_raw.zip")) as files:
        names = [name for name in files.namelist() if not name.endswith("/")]
        return {name: decoded(files.read(name)) for name in names}


def records(archive: Archive, *, ends: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in archive.items() if name.endswith(ends))


def read(text: str) -> _core.Table:
    data = text.encode()
    size, table = _core.Reader("kifu").read(data, True)
    assert size == len(data)
    return table


def moves_of(table: _core.Table) -> list[str]:
    """The moves of a table's only game, as USI."""
    assert table.refused == []
    assert len(table.winner) == 1
    return [str(hk.Shogi.Move.from_code(int(code))) for code in table.moves]


def moves_written(name: str, text: str) -> list[str]:
    """The texts that look like moves of the main line; KI2's still hold blanks."""
    main = text.split("変化：", maxsplit=1)[0]
    if name.endswith(".ki2"):
        lines = [line for line in main.splitlines() if line.startswith(("▲", "△"))]
        return [move for line in lines for move in re.findall("[▲△][^▲△]+", line)]
    return re.findall(r"^ *\d+ +([１-９同].*)", main, re.MULTILINE)


def test_every_file_is_read_to_its_last_move(archive: Archive) -> None:
    found = {name: read(text) for name, text in records(archive, ends=(".kif", ".kifu", ".ki2"))}
    assert len(found) == 343
    for name, table in found.items():
        two_pawns = name == "mixed/241.ki2"  # the last move is illegal, and the record says so
        written = len(moves_written(name, archive[name]))
        assert len(moves_of(table)) == written - two_pawns, name


def test_the_manifest_agrees_where_it_speaks_of_the_same_game(archive: Archive) -> None:
    # Of about fifty files it describes another version than the archive holds.
    rows = [line.split("\t") for line in archive["mixed/MANIFEST.tsv"].splitlines()[1:]]
    checked = 0
    for name, plies, end, black, white, _ in rows:
        text = archive[name]
        players = re.findall(r"^[先後]手：(.*?)[ 　]*$", text, re.MULTILINE)
        same_game = len(moves_written(name, text)) == int(plies)
        if not same_game or players not in ([], [black, white]):
            continue
        table = read(text)
        assert len(table.moves) == int(plies) - (end == "先手の反則勝ち"), name
        for field, said in (("first", black), ("second", white)):
            whole, bare = table.text(field)[0], said.rsplit(" ", 1)
            assert whole == said or [whole, table.text(f"{field}_rating")[0]] == bare, name
        ending = _core.Table.ending_names[table.ending[0]]
        wanted = {
            "投了": "resigned",
            "詰み": "normal",
            "千日手": "normal",
            "切れ負け": "time",
            "先手の反則勝ち": "illegal",
            "中断": "unfinished",
            "封じ手": "unfinished",
        }
        if end in wanted:
            assert ending == wanted[end], name
        elif end:
            assert table.winner[0] == (1 if end.startswith("先手") else -1), name
        checked += 1
    assert checked > 150


def test_kif_files_agree_with_cshogi(archive: Archive) -> None:
    files = list(records(archive, ends=(".kif", ".kifu")))
    assert len(files) == 194
    winners = {cshogi.BLACK_WIN: 1, cshogi.WHITE_WIN: -1, cshogi.DRAW: 0}
    decided = 0
    for name, text in files:
        expected = KIF.Parser.parse_str(re.sub("同　?", "同　", text))  # it wants the blank
        table = read(text)
        assert moves_of(table) == [usi(move) for move in expected.moves], name
        if expected.win is not None:
            assert table.winner[0] == winners[expected.win], name
            decided += 1
        for field, player in (("first", cshogi.BLACK), ("second", cshogi.WHITE)):
            said = expected.names[player] or ""
            assert said.rstrip().startswith(table.text(field)[0]), name
        if len(expected.times) >= len(expected.moves) and any(expected.times):
            spent = dict(zip(table.remark_ply, table.remark_spent_s, strict=True))
            for ply, time_s in enumerate(islice(expected.times, len(expected.moves)), 1):
                assert spent[ply] == time_s, (name, ply)
    assert decided > 170


def csa_games(path: Path) -> dict[tuple[str, ...], str]:
    """The games of a CSA file: from their moves to their end word."""
    games = {}
    for record in lzma.decompress(path.read_bytes()).decode().split("/\n"):
        board, moves = cshogi.Board(), []
        for csa in re.findall(r"^[+-](\d{4}[A-Z]{2})", record, re.MULTILINE):
            moves.append(usi(move := board.move_from_csa(csa)))
            board.push(move)
        (end,) = re.findall(r"^%.+", record, re.MULTILINE)
        games[tuple(moves)] = end
    return games


@pytest.mark.parametrize("folder", ["title_utf8", "title_cp932"])
def test_title_games_are_the_same_as_in_csa(
    folder: str, archive: Archive, shared_data: Callable[[str], Path]
) -> None:
    games = csa_games(shared_data("shogi/pro_title.csa.xz"))
    names = [name for name in archive if name.startswith(f"{folder}/") and name.endswith(".ki2")]
    assert len(names) == 60
    for name in names:
        table = read(archive[name])
        moves = moves_of(table)
        ending = _core.Table.ending_names[table.ending[0]]
        said = table.winner[0], ending
        if games[tuple(moves)] == "%SENNICHITE":
            assert said == (0, "normal"), name
        else:
            assert games[tuple(moves)] == "%TORYO"
            assert said == (1 if len(moves) % 2 else -1, "resigned"), name


def test_printed_ki2_is_what_we_write(archive: Archive) -> None:
    # Where 上 would do, some write 直 all the same.
    differing = total = 0
    for name, text in records(archive, ends=(".ki2",)):
        game, previous = hk.Shogi(), None
        printed = [word.rstrip(" 　").replace("竜", "龍") for word in moves_written(name, text)]
        for move, word in zip(moves_of(read(text)), printed, strict=False):
            ours = game.parse(move)
            if (written := game.ki2(ours, previous)) != word:
                assert written == word.replace("直", "上"), (name, game.text)
                differing += 1
            assert game.parse_ki2(word, previous) == ours, (name, game.text)
            game, previous = game.play(ours), ours
            total += 1
    assert total > 15_000
    assert differing < 10


def test_ki2_of_every_move_agrees_with_cshogi() -> None:
    rng = random.Random(1)
    boards = [cshogi.Board(sfen) for _ in range(800) if (sfen := scattered_sfen(rng))]
    for _ in range(10):
        board = cshogi.Board()
        boards += [board.copy() for _ in islice(random_moves(board, rng), 150)]
    longer = total = 0
    for board in boards:
        game = hk.Shogi.from_text(board.sfen())
        previous = None if board.peek() == cshogi.MOVE_NONE else game.parse(usi(board.peek()))
        for move in board.legal_moves:
            ours, theirs = game.parse(usi(move)), KI2.move_to_ki2(move, board)
            written = game.ki2(ours, previous)
            assert game.parse_ki2(written, previous) == ours
            if written != theirs:
                # cshogi leaves out how a piece moves though another on its side can go there too,
                # and 打 where a pinned piece could go but for the pin.
                assert re.sub("(?<=[左右])[上寄引]|打$", "", written) == theirs, board.sfen()
                longer += 1
            total += 1
    assert total > 100_000
    assert longer < 40


@pytest.mark.parametrize("name", [name for name in KIF.Parser.HANDYCAP_SFENS if name != "その他"])
def test_handicaps_begin_where_cshogi_begins(name: str) -> None:
    table = read(f"手合割：{name}\n下手：a\n上手：b\n手数----指手---------消費時間--\n   1 中断\n")
    sfen = KIF.Parser.HANDYCAP_SFENS[name]
    assert table.refused == []
    assert (table.text("start")[0] or hk.Shogi().text) == sfen
    missing = 40 - len(re.findall("[a-zA-Z]", sfen.split()[0]))
    assert table.handicap[0] == missing


def test_diagrams_of_cshogi_read_back() -> None:
    rng = random.Random(2)
    positions = [sfen for _ in range(300) if (sfen := scattered_sfen(rng))]
    assert len(positions) > 100
    for sfen in positions:
        board = cshogi.Board(sfen)
        table = read(f"手合割：その他\n{KIF.board_to_bod(board)}\n   1 中断\n")
        assert table.refused == []
        assert table.text("start") == [hk.Shogi.from_text(sfen).text]


def test_evaluations_of_kakinoki_shogi_are_blacks(archive: Archive) -> None:
    sides, files = {"先手": 1, "後手": -1}, 0
    for name, text in records(archive, ends=(".kif",)):
        main = re.split(r"^ *\d+ 投了", text, flags=re.MULTILINE)[0]
        said = re.findall(r"^\*形勢：(-?\d+) (先手|後手|互角)", main, re.MULTILINE)
        scores = read(text).remark_score
        assert [score for score in scores if not np.isnan(score)] == [int(n) for n, _ in said], name
        assert all(int(n) * sides.get(side, 0) >= 0 for n, side in said)
        files += bool(said)
    assert files == 2
