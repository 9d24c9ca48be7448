# SPDX-License-Identifier: Apache-2.0
"""Files that are given to searches, and others that are read: errors are one line."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.arena.journal import read_journal
from hyoka.arena.match import open_match
from hyoka.search import Searcher, SearchSpec, ab, linear_evaluation, move_strengths
from hyoka.storage.model_file import read_model_file

DEEP = "[" * 100_000
WRONG = [
    ("", "no JSON: Expecting value"),
    ("{", "no JSON"),
    (b"\xff\xfe{", "no JSON: it is not UTF-8"),
    ("[1]", "not an object with names and numbers"),
    ('{"a": ' + DEEP, "nested too deeply"),
    ('{"pawn": 1, "pawn": 2}', "'pawn' stands there twice"),
    ('{"game": "shogi", "weights": {}, "strengths": {}}', "for shogi, not for chess"),
    ('{"game": 3, "weights": {}, "strengths": {}}', "for 3, not for chess"),
    (f'{{"pawn": {"9" * 5000}}}', "no JSON"),
]
WRONG_WEIGHTS = [
    *WRONG,
    (f'{{"pawn": 1{"0" * 400}}}', "'pawn' needs a finite number or two, not 1000"),
    (f'{{"pawn": [1, -1{"0" * 400}]}}', "'pawn' needs a finite number or two"),
    ('{"pawn": 1e400}', "'pawn' needs a finite number or two, not Infinity"),
    ('{"pawn": 1e39}', "'pawn' needs a finite number"),  # more than 32 bits hold
    ('{"pawn": NaN}', "'pawn' needs a finite number or two, not NaN"),
    ('{"pawn": [1, 2, 3]}', "'pawn' needs a finite number or two, not [1, 2, 3]"),
    ('{"pawn": []}', "'pawn' needs a finite number"),
    ('{"pawn": "100"}', "'pawn' needs a finite number or two, not 100"),
    ('{"pawn": true}', "'pawn' needs a finite number or two, not true"),
    ('{"pwn": 1}', "did you mean pawn?"),
    ('{"a\\nb": 1}', "chess has no term '\"a\\nb\"'"),
    ('{"weights": [1]}', "'weights' is no object"),
    ('{"scale": NaN, "weights": {}}', "'scale' needs a positive number, not NaN"),
    ('{"scale": -3, "weights": {}}', "'scale' needs a positive number, not -3"),
    ('{"scale": 0, "weights": {}}', "'scale' needs a positive number, not 0"),
    ('{"scale": null, "weights": {}}', "'scale' needs a positive number, not null"),
    ('{"scale": 1e400, "weights": {}}', "'scale' needs a positive number, not Infinity"),
    (f'{{"scale": 1{"0" * 400}}}', "'scale' needs a positive number, not 1000"),
]
FEATURE = next(iter(move_strengths("chess")))
WRONG_STRENGTHS = [
    *WRONG,
    ('{"strengths": [1]}', "'strengths' is no object"),
    ('{"no such": 1}', "chess has no feature 'no such'"),
    ('{"a\\nb": 1}', "chess has no feature '\"a\\nb\"'"),
    *(
        (f'{{"{FEATURE}": {number}}}', f"'{FEATURE}' needs a positive number")
        for number in ("0", "-1", "NaN", "1e400", f"1{'0' * 400}", "1e39", "true", '"2"', "null")
    ),
]


def written(folder: Path, content: str | bytes) -> Path:
    file = folder / "given.json"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def assert_one_line_error(error: BaseException, file: Path, message: str) -> None:
    text = str(error)
    assert str(file) in text
    assert message in text
    assert "\n" not in text
    assert len(text) < 400


@pytest.mark.parametrize(("content", "message"), WRONG_WEIGHTS)
def test_invalid_weights_are_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    file = written(tmp_path, content)
    for ask in (
        lambda: linear_evaluation("chess", file),
        lambda: Searcher(f"ab:eval={file}", "chess"),
    ):
        with pytest.raises(hk.errors.SourceError) as caught:
            ask()
        assert_one_line_error(caught.value, file, message)


@pytest.mark.parametrize(("content", "message"), WRONG_STRENGTHS)
def test_invalid_strengths_are_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    file = written(tmp_path, content)
    with pytest.raises(hk.errors.SourceError) as caught:
        Searcher(f"uct:policy=strengths,strengths={file}", "chess")
    assert_one_line_error(caught.value, file, message)


def test_what_is_right_is_taken(tmp_path: Path) -> None:
    file = written(tmp_path, '{"game": "chess", "scale": 300, "weights": {"pawn": [90, 110]}}')
    found = linear_evaluation("chess", file)
    assert (found["pawn"], found.scale) == ((90.0, 110.0), 300.0)
    file = written(tmp_path, f'\ufeff{{"{FEATURE}": 7}}')
    assert move_strengths("chess", file)[FEATURE] == 7.0


def test_files_that_cannot_be_read_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, message in [
        (tmp_path / "none", "No such file"),
        (tmp_path, "Is a directory"),
        (tmp_path / "nul\0", "null byte"),
    ]:
        with pytest.raises(hk.errors.SourceError, match=message):
            read_model_file(path)
    with pytest.raises(hk.errors.SourceError, match="No such file"):
        SearchSpec.from_text(f"ab:eval={tmp_path / 'none'}")
    with pytest.raises(hk.errors.NotationError, match="'eval' names no file"):
        SearchSpec.from_text("ab:eval=")
    (tmp_path / "a,b").write_text("{}")
    with pytest.raises(hk.errors.NotationError, match="can't say"):
        ab(eval=tmp_path / "a,b")
    large = tmp_path / "large"
    large.write_bytes(b"12345")
    monkeypatch.setattr("hyoka.storage.model_file._LARGEST", 4)
    with pytest.raises(hk.errors.SourceError, match="too large"):
        read_model_file(large)


def test_a_file_without_a_book_is_refused(tmp_path: Path) -> None:
    for content, message in [("nonsense", "no records"), ("", "no chess games")]:
        file = written(tmp_path, content)
        with pytest.raises(hk.errors.SourceError, match=message):
            Searcher(f"uct:book={file}", "chess")


def test_a_scale_in_python_is_checked_too() -> None:
    chess = linear_evaluation("chess")
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(hk.errors.NotationError, match="a scale is a positive number"):
            chess.with_weights({}, scale=scale)
    for weight in (1e39, float("nan"), 10**400):
        with pytest.raises(hk.errors.NotationError, match="finite"):
            chess.with_weights({"pawn": weight})
    with pytest.raises(hk.errors.NotationError, match="finite"):
        chess.with_weights(np.full((len(chess), 2), 1e39))


def test_scores_out_of_reach_are_worth_0_or_1() -> None:
    steep = linear_evaluation("chess").with_weights({}, scale=0.01)
    down = hk.Chess.from_text("4k3/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1")
    up = hk.Chess.from_text("rnbqkbnr/pppppppp/8/8/8/8/8/4K3 w kq - 0 1")
    assert steep.value([down, up]).tolist() == [1.0, 0.0]


def test_saved_weights_are_read_as_they_were(tmp_path: Path) -> None:
    chess = linear_evaluation("chess")
    chance = np.random.default_rng(1)
    wild = chess.with_weights(chance.standard_normal((len(chess), 2)) * 1e-7, scale=1 / 3)
    wild.save(tmp_path / "w.json")
    read = linear_evaluation("chess", tmp_path / "w.json")
    assert (read.weights == wild.weights).all()
    assert read.fingerprint == wild.fingerprint


# What else is read


def journal_line(values: object) -> bytes:
    text = json.dumps(values)
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


@pytest.mark.parametrize("values", [{}, [], 3, {"pairing": 1, "moves": "", "remarks": []}])
def test_a_journal_of_something_else_is_refused(tmp_path: Path, values: object) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(journal_line(values))
    with pytest.raises(hk.errors.StudyError, match="line 1: no game of a match"):
        read_journal(file)


def test_a_deeply_nested_journal_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    file.write_bytes(f"{zlib.crc32(DEEP.encode()):08x} {DEEP}\n".encode())
    with pytest.raises(hk.errors.StudyError, match="line 1: no game of a match: RecursionError"):
        read_journal(file)


@pytest.mark.parametrize(
    "content", [b"a = [", b"\xff", b"a = " + DEEP.encode(), b"a = " + b"9" * 5000, b"match = 3"]
)
def test_a_description_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    for name in ("match.toml", "study.toml"):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(hk.errors.StudyError, match=r"match\.toml"):
        open_match(tmp_path)
    with pytest.raises(hk.errors.StudyError, match=r"study\.toml"):
        hk.Study.open(tmp_path)
