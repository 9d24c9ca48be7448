# SPDX-License-Identifier: Apache-2.0
"""Opening books: what is in them, how files hold them, and how they are played."""

import json
import os
import threading
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import chisquare
from typer.testing import CliRunner

import hyoka as hk
from hyoka.apps.cli.command_table import command_line
from hyoka.models.book import Whose
from hyoka.records.samples import sample_path
from hyoka.search import Book, SearchLimits, ab, uct
from hyoka.search.searcher import Searcher
from hyoka.storage.model_file import ModelFile, Origin, read_model_file

PGN = """[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 1-0

[Result "0-1"]

1. e4 c5 2. Nf3 d6 0-1

[Result "1/2-1/2"]

1. d4 d5 2. c4 1/2-1/2

[Result "1-0"]

1. Nf3 e5 2. e4 Nc6 1-0

[Result "*"]

1. c4 *
"""


def records() -> list[hk.Record]:
    return hk.parse_records(PGN, format="pgn")


def moves(book: Book, *played: str) -> dict[str, int]:
    position = hk.Chess()
    for move in played:
        position = position.play(move)
    return {str(move): count for move, count in book.moves(position).items()}


@pytest.mark.parametrize(
    ("whose", "at_start", "after_e4"),
    [
        ("winners", {"e2e4": 1, "g1f3": 1}, {"c7c5": 1}),
        ("decided", {"e2e4": 2, "g1f3": 1}, {"e7e5": 1, "c7c5": 1}),
        ("all", {"e2e4": 2, "g1f3": 1, "d2d4": 1, "c2c4": 1}, {"e7e5": 1, "c7c5": 1}),
    ],
)
def test_whose_moves_count(
    whose: Whose, at_start: dict[str, int], after_e4: dict[str, int]
) -> None:
    book = Book.from_records("chess", records(), whose=whose)
    assert moves(book) == at_start
    assert moves(book, "e4") == after_e4


def test_positions_that_transpose_are_one() -> None:
    book = Book.from_records("chess", records())
    assert moves(book, "e4", "e5", "Nf3") == {"b8c6": 2}
    assert moves(book, "Nf3", "e5", "e4") == {"b8c6": 2}


def test_rare_moves_and_late_moves_are_left_out() -> None:
    assert moves(Book.from_records("chess", records(), least=2)) == {"e2e4": 2}
    short = Book.from_records("chess", records(), plies=1)
    assert moves(short, "e4") == {}
    with pytest.raises(hk.errors.ParameterError, match=r"whose.*losers"):
        Book.from_records("chess", records(), whose="losers")  # type: ignore[arg-type]


def test_a_book_is_counted_as_a_slow_twin_counts_it() -> None:
    samples = list(hk.read_records(sample_path("othello")))[:60]
    book = Book.from_records("othello", samples, plies=12, whose="winners")
    twin: dict[str, Counter[str]] = {}
    for record in samples:
        position = hk.Othello()
        for move in record.move_texts()[:12]:
            won = record.result == (1.0 if position.to_play is hk.Player.first else 0.0)
            if won:
                twin.setdefault(position.text, Counter())[move] += 1
            position = position.play(move)
    found = {
        text: {str(move): count for move, count in book.moves(hk.Othello.from_text(text)).items()}
        for text in book.texts.values()
    }
    assert found == twin


def test_a_file_holds_the_book_and_says_how_it_was_made(tmp_path: Path) -> None:
    book = Book.from_records("chess", records(), whose="winners")
    book.save(tmp_path / "chess.book", Origin("a test"))
    again = Book.from_file("chess", tmp_path / "chess.book")
    assert again == book
    assert again.texts == book.texts
    model_file = read_model_file(tmp_path / "chess.book", "book")
    assert model_file.game == "chess"
    assert model_file.origin is not None
    assert Book.from_file("chess", model_file).fingerprint == book.fingerprint
    with pytest.raises(hk.errors.SourceError, match="book for chess, not for shogi"):
        Book.from_file("shogi", model_file)


@pytest.mark.parametrize(
    "line",
    [
        "no position\te2e4\t1",
        f"{hk.Chess().text}\te2e4",
        f"{hk.Chess().text}\te2e4\t0",
        f"{hk.Chess().text}\te2e4\tmany",
        hk.Chess().text,
    ],
)
def test_a_damaged_line_is_refused(line: str) -> None:
    content = f"positions and moves\n{line}\n".encode()
    with pytest.raises(hk.errors.SourceError, match="line 2"):
        Book.from_file("chess", ModelFile.of("book", content, game="chess"))


def test_a_book_comes_from_records_in_a_pipe(tmp_path: Path) -> None:
    """A pipe can be read only once."""
    pipe = tmp_path / "games.pgn"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PGN,), daemon=True)
    writer.start()
    assert Book.from_file("chess", pipe).counts == Book.from_records("chess", records()).counts


def test_by_frequency_moves_are_drawn_with_the_probability_of_their_counts() -> None:
    lines = ["1. e4 *"] * 6 + ["1. d4 *"] * 3 + ["1. c4 *"]
    book = Book.from_records("chess", hk.parse_records("\n\n".join(lines), format="pgn"))
    for spec in (uct(book=book, book_pick="frequency"), ab(book=book, seed=3)):
        searcher = Searcher(spec, "chess")
        drawn = Counter(str(searcher.search(hk.Chess()).best) for _ in range(1000))
        seen = [drawn[move] for move in ("e2e4", "d2d4", "c2c4")]
        assert sum(seen) == 1000
        assert chisquare(seen, [600, 300, 100]).pvalue > 1e-3
        searcher.clear()
        again = [str(searcher.search(hk.Chess()).best) for _ in range(50)]
        searcher.clear()
        assert again == [str(searcher.search(hk.Chess()).best) for _ in range(50)]
        result = searcher.search(hk.Chess())
        assert result.stopped_by == "book"
        first, *others = result.moves
        assert first.move == result.best
        counts = [report.visits for report in others]
        assert counts == sorted(counts, reverse=True)
        assert sorted([first.visits, *counts]) == [1, 3, 6]
        only = [hk.Chess().parse("c2c4")]
        assert str(searcher.search(hk.Chess(), only=only).best) == "c2c4"


def test_out_of_the_book_the_search_plays() -> None:
    book = Book.from_records("chess", records())
    after = hk.Chess().play("a3")
    plain = hk.search_once(after, "ab:nodes=500")
    for pick in ("frequency", "search", "uct"):
        found = hk.search_once(after, ab(nodes=500, book=book, book_pick=pick))
        assert found.best == plain.best
        assert found.nodes == plain.nodes


@pytest.mark.parametrize("pick", ["search", "uct"])
def test_alpha_beta_and_a_tree_choose_among_the_books_moves(pick: str) -> None:
    book = Book.from_records("chess", records())
    spec = ab(nodes=500, book=book, book_pick=pick)
    result = hk.search_once(hk.Chess(), spec, limits=SearchLimits(nodes=500))
    assert str(result.best) in moves(book)
    assert (result.playouts > 0) == (pick == "uct")


def test_settings_of_a_book_need_one() -> None:
    with pytest.raises(hk.errors.NotationError, match="'book_pick' has no effect without book"):
        uct(book_pick="frequency")
    with pytest.raises(hk.errors.NotationError, match="'seed' has no effect without book"):
        ab(seed=3)


def run(*words: str) -> str:
    result = CliRunner().invoke(command_line(words), [*words], obj=list(words))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_commands_make_and_show_a_book(tmp_path: Path) -> None:
    file, source = str(tmp_path / "my.book"), tmp_path / "games.pgn"
    source.write_text(PGN)
    made = json.loads(run("book", "make", str(source), "-o", file, "--json"))
    assert (made["game"], made["games"], made["whose"]) == ("chess", 3, "winners")
    shown = json.loads(run("book", "show", file, "--json"))
    assert {each["move"]: each["share"] for each in shown["moves"]} == {"e2e4": 0.5, "g1f3": 0.5}
    assert "100.0%" in run("book", "show", file, "--moves", "e4 e5")
    assert "not in the book" in run("book", "show", file, "--moves", "a3")
    result = hk.search_once(hk.Chess(), f"uct:playouts=20,book={file}")
    assert {str(report.move) for report in result.moves} == {"e2e4", "g1f3"}
