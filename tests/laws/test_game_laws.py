# SPDX-License-Identifier: Apache-2.0
"""What holds in every game: Hypothesis picks the moves, one test a law serves all games."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka.games import GO, game_facts, name_of

from .walks import (
    CODES,
    FEW,
    LAW,
    LONGEST,
    MANY,
    NAMES,
    PLIES,
    Walk,
    all_codes,
    codes,
    for_every_game,
    for_every_go,
    for_every_notation,
    games,
    line_walks,
    lines,
    positions,
    starts,
    walk,
    walks,
)


@for_every_game
@LAW
@given(st.data())
def test_taking_back_every_move_gives_the_very_game(name: str, data: st.DataObject) -> None:
    for start, moves, _ in (data.draw(walks(name)), data.draw(line_walks(name))):
        back = start.undo_all(moves)
        assert back == start
        assert (back.hash, back.text, back.outcome) == (start.hash, start.text, start.outcome)
        assert codes(back.legal_moves) == codes(start.legal_moves)
        assert (back.cells == start.cells).all()


@for_every_game
@LAW
@given(st.data())
def test_what_is_kept_incrementally_is_right_at_every_step(name: str, data: st.DataObject) -> None:
    start, moves, _ = data.draw(walks(name))
    at = start
    for move in moves:
        at = at.play(move)
        at.check_consistency()
    data.draw(lines(name)).check_consistency()


@for_every_game
@LAW
@given(st.data())
def test_the_incremental_hash_is_that_of_the_game_read_afresh(
    name: str, data: st.DataObject
) -> None:
    start, moves, _ = data.draw(walks(name))
    at = start
    for move in moves:
        at = at.play(move)
        assert at.hash == type(at).from_text(at.text).hash


def hashed_content(game: Any) -> tuple[str, ...]:
    """The part of a position's text that its hash stands for: no komi, no clocks and no options."""
    fields = game.text.split()
    match game:
        case hk.Chess():
            return tuple(fields[:4])
        case hk.Shogi():
            return tuple(fields[:3])
        case hk.BlokusDuo():
            return tuple(fields[:2])
        case hk.Othello():
            return tuple(fields)
    return tuple(fields[:4])


@for_every_game
def test_hash_and_content_determine_each_other(name: str) -> None:
    hash_of: dict[tuple[str, ...], int] = {}
    content_of: dict[int, tuple[str, ...]] = {}

    @LAW
    @given(walks(name))
    def holds(drawn: Walk) -> None:
        at = drawn.start
        for move in drawn.moves:
            at = at.play(move)
            content = hashed_content(at)
            assert hash_of.setdefault(content, at.hash) == at.hash
            assert content_of.setdefault(at.hash, content) == content

    holds()


@for_every_game
@LAW
@given(st.data())
def test_games_are_equal_exactly_when_their_texts_are(name: str, data: st.DataObject) -> None:
    a, x, b, y = (data.draw(st.integers(0, 9999)) for _ in range(4))
    game = data.draw(positions(name))
    one = walk(game, [a, x, b, y])
    other = game
    for move in [one.moves[i] for i in (2, 1, 0, 3) if i < len(one.moves)]:
        if other.is_legal(move):
            other = other.play(move)
    assert (one.end == other) == (one.end.text == other.text)
    if one.end == other:
        assert one.end.hash == other.hash
        assert hash(one.end) == hash(other)
    assert one.end.line() != one.end
    assert one.start.line() == game.line()


def legal_moves_one_by_one(name: str, game: Any) -> set[int]:
    """The codes of the moves that a game, asked about every code there is, calls legal."""
    of_code = game_facts(name).move
    return {code for code in all_codes(name) if game.is_legal(of_code(code))}


@for_every_game
def test_at_the_starts_each_move_is_legal_exactly_when_it_is_listed(name: str) -> None:
    for game in starts(name):
        assert legal_moves_one_by_one(name, game) == codes(game.legal_moves)


@for_every_game
@FEW
@given(st.data())
def test_each_move_is_legal_exactly_when_it_is_listed(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    assert legal_moves_one_by_one(name, game) == codes(game.legal_moves)


@for_every_game
@LAW
@given(st.data())
def test_an_illegal_move_is_refused_in_one_line(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    of_code = game_facts(name).move
    for code in data.draw(st.lists(st.sampled_from(all_codes(name)), max_size=20)):
        move = of_code(code)
        if not game.is_legal(move):
            with pytest.raises(hk.errors.IllegalMoveError, match=r"\Aillegal move [^\n]+\Z"):
                game.play(move)
            with pytest.raises(hk.errors.IllegalMoveError, match=r"\Aillegal move [^\n]+\Z"):
                game.undo_all([move])


@for_every_game
def test_a_number_that_stands_for_no_move_is_refused(name: str) -> None:
    of_code = game_facts(name).move
    assert all(of_code(code).code == code for code in all_codes(name))
    beyond = {CODES[name], 2**16 + 1, 2**32 - 1}
    holes = set(range(CODES[name])) - set(all_codes(name))
    for code in beyond | holes:
        with pytest.raises(hk.errors.NotationError, match=f"{code}"):
            of_code(code)


@for_every_game
@LAW
@given(st.data())
def test_all_counts_of_the_legal_moves_agree(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        moves = game.legal_moves
        assert (
            game.count_moves()
            == len(moves)
            == len(codes(moves))
            == len({str(move) for move in moves})
        )
    free = data.draw(positions(name)).movement_only()
    finished = 1 if name == "othello" and free.outcome else 0
    assert free.perft(1) == free.count_moves() + finished


def slow_perft(game: Any, depth: int) -> int:
    if depth == 0:
        return 1
    moves = game.legal_moves
    if not moves and isinstance(game, hk.Othello | hk.Othello.Line):
        return 1
    return sum(slow_perft(game.play(move), depth - 1) for move in moves)


@for_every_game
@settings(LAW, max_examples=8)
@given(st.data())
def test_perft_counts_what_playing_every_line_counts(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    free = game.movement_only()
    assert game.perft(0) == 1
    depth = 3 if free.count_moves() < 12 else 2 if free.count_moves() < 90 else 1
    assert game.perft(depth) == slow_perft(free, depth)


@for_every_game
@LAW
@given(st.data())
def test_a_game_is_read_back_from_its_text(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        read = type(game).from_text(game.text)
        assert read == game
        assert (read.text, read.hash, read.to_play) == (game.text, game.hash, game.to_play)
        assert (read.outcome, read.score) == (game.outcome, game.score)
        assert codes(read.legal_moves) == codes(game.legal_moves)
        assert str(game) == game.text
        assert game.text in repr(game)
        assert "\n" not in game.text


@for_every_game
@LAW
@given(st.data())
def test_games_and_moves_survive_pickling(name: str, data: st.DataObject) -> None:
    for game in (data.draw(positions(name)), data.draw(lines(name))):
        value = (game, game.text, game.legal_moves[:5], game.to_play)
        assert pickle.loads(pickle.dumps(value)) == value


def other_notations(game: Any, move: Any, previous: Any) -> list[Any]:
    """The move as read back from every way to write it that is not str()."""
    match game:
        case hk.Chess():
            return [game.parse(game.san(move))]
        case hk.Shogi():
            kif = game.kif(move, previous)
            return [
                game.parse(game.csa(move)),
                game.parse(game.kif(move)),
                game.parse_kif(kif, previous),
            ]
        case hk.BlokusDuo():
            return [game.parse(move.short_code())]
        case hk.Othello():
            return [game.parse(str(move).upper())]
    if game_facts(name_of(game)).family == GO:
        return [game.parse(move.sgf()), game.parse(str(move).lower())]
    return []


@for_every_game
@LAW
@given(st.data())
def test_a_move_is_read_back_from_its_texts_and_its_code(name: str, data: st.DataObject) -> None:
    _, past, game = data.draw(walks(name))
    for move in game.legal_moves[:120]:
        assert game.parse(str(move)) == move
        assert game.line().parse(str(move)) == move
        assert game.is_legal(str(move))
        assert type(move).from_code(move.code) == move
        assert hash(type(move).from_code(move.code)) == hash(move)
        assert str(move) in repr(move)
        for read in other_notations(game, move, past[-1] if past else None):
            assert read == move


@for_every_game
@LAW
@given(st.data())
def test_symmetries_commute_with_play_and_keep_legality_and_outcome(
    name: str, data: st.DataObject
) -> None:
    game = data.draw(positions(name))
    kind = type(game)
    if kind.symmetries == 1:
        assert not hasattr(kind, "transformed")
        assert name not in {"go9", "othello", "shogi", "blokus_duo"}
        return
    moves = game.legal_moves
    for s in range(kind.symmetries):
        seen = game.transformed(s)
        seen.check_consistency()
        assert seen.text == kind.from_text(seen.text).text
        assert (seen.outcome, seen.score, seen.to_play) == (game.outcome, game.score, game.to_play)
        assert sorted(seen.cells.ravel()) == sorted(game.cells.ravel())
        assert codes(seen.legal_moves) == codes(kind.transformed_move(move, s) for move in moves)
        assert any(seen.transformed(back) == game for back in range(kind.symmetries))
        for move in moves[:: max(1, len(moves) // 4)]:
            there = seen.play(kind.transformed_move(move, s))
            assert there == game.play(move).transformed(s)
            assert there.hash == game.play(move).transformed(s).hash
    assert game.transformed(0) == game
    assert len({game.transformed(s).text for s in range(kind.symmetries)}) in (1, 2, 4, 8)
    for outside in (-1, kind.symmetries):
        with pytest.raises(IndexError):
            game.transformed(outside)


@for_every_game
@settings(LAW, max_examples=8)
@given(st.data())
def test_random_games_end(name: str, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from([s for s in starts(name) if not s.text.endswith("ignored")]))
    line = start.line()
    at = start
    seed = data.draw(st.integers(0, 2**32))
    while (move := line.random_move(seed + len(line))) is not None:
        assert len(line) < LONGEST[name]
        assert at.is_legal(move)
        line = line.play(move)
        at = at.play(move)
    assert line.outcome is not None
    assert line.position == at


@for_every_game
@LAW
@given(st.data())
def test_a_game_is_over_exactly_when_there_is_no_move(name: str, data: st.DataObject) -> None:
    start, moves, _ = data.draw(walks(name))
    at, line = start, start.line()
    for move in moves:
        for game in (at, line):
            assert (game.outcome is None) == bool(game.legal_moves)
            assert (game.outcome is None) == (game.random_move(len(line)) is not None)
        at = at.play(move)
        if line.is_legal(move):
            line = line.play(move)


@for_every_game
@LAW
@given(st.data())
def test_the_final_score_names_the_winner(name: str, data: st.DataObject) -> None:
    """In playouts the score alone decides who won."""
    drawn = data.draw(games(name))
    game = drawn
    seed = data.draw(st.integers(0, 2**32))
    for ply in range(LONGEST[name]):
        move = game.random_move(seed + ply)
        if move is None:
            break
        game = game.play(move)
    if game.outcome is None:
        assert "ignored" in game.text
        return
    value = {None: 0.5, hk.Player.first: 1.0, hk.Player.second: 0.0}[game.outcome.winner]
    assert game.outcome.value == value
    assert (np.sign(game.score) + 1) / 2 == value


@for_every_game
@LAW
@given(st.data())
def test_playing_changes_nothing_in_the_game_played_from(name: str, data: st.DataObject) -> None:
    game = data.draw(games(name))
    before = (
        game.text,
        game.hash,
        game.to_play,
        game.outcome,
        game.cells.tobytes(),
        codes(game.legal_moves),
    )
    moves = game.legal_moves
    for move in moves[:: max(1, len(moves) // 8)]:
        after = game.play(move)
        assert after != game
        assert after.to_play == game.to_play.other
    game.legal_moves.clear()
    game.cells[:] = 1
    assert before == (
        game.text,
        game.hash,
        game.to_play,
        game.outcome,
        game.cells.tobytes(),
        codes(game.legal_moves),
    )


@for_every_game
@LAW
@given(st.data())
def test_undo_of_a_line_is_the_inverse_of_play(name: str, data: st.DataObject) -> None:
    start, moves, line = data.draw(line_walks(name))
    assert line.moves == moves
    assert len(line) == len(moves)
    if moves:
        shorter = line.undo()
        assert shorter.play(moves[-1]) == line
        assert shorter.moves == moves[:-1]
    for move in line.legal_moves[:3]:
        back = line.play(move).undo()
        assert back == line
        assert (back.text, back.hash, back.outcome) == (line.text, line.hash, line.outcome)
        assert codes(back.legal_moves) == codes(line.legal_moves)
    with pytest.raises(ValueError, match="no move to take back"):
        start.undo()


@for_every_game
@LAW
@given(st.data())
def test_a_line_is_its_position_and_rules_that_only_take_away(
    name: str, data: st.DataObject
) -> None:
    start, moves, line = data.draw(line_walks(name))
    at = start.position
    assert line.start == at
    for move in moves:
        at = at.play(move)
    assert line.position == at
    assert line.to_play == at.to_play
    assert line.hash == at.hash
    assert (line.cells == at.cells).all()
    assert codes(line.legal_moves) <= codes(at.legal_moves)
    if at.outcome is not None:
        assert line.outcome == at.outcome
    if line.outcome is None and not name.startswith("go"):
        assert codes(line.legal_moves) == codes(at.legal_moves)


@for_every_go
@LAW
@given(st.data())
def test_superko_forbids_exactly_the_stones_that_bring_back_a_board(
    name: str, data: st.DataObject
) -> None:
    start, moves, line = data.draw(line_walks(name))
    at = start.position
    boards = {at.cells.tobytes()}
    for move in moves:
        at = at.play(move)
        boards.add(at.cells.tobytes())
    for move in at.legal_moves:
        repeats = str(move) != "pass" and at.play(move).cells.tobytes() in boards
        assert line.is_legal(move) == (not repeats)


def mangled(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, length, put in edits:
        at = start % (len(text) + 1)
        text = text[:at] + put + text[at + length :]
    return text


def texts_near(text: str) -> st.SearchStrategy[str]:
    """The text with a few of its characters deleted, moved about or replaced."""
    pieces = (
        st.text(sorted(set(text)), max_size=3)
        | st.text("kKpPxXoO-/ 0123456789+*(),", max_size=2)
        | st.sampled_from(["é", "玉", "∞", "\0", "\n", "\t", "-1", "99999999999"])
    )
    edits = st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 3), pieces), min_size=1, max_size=3
    )
    return edits.map(lambda made: mangled(text, made))


@for_every_notation
@MANY
@given(st.data())
def test_any_text_is_either_a_lawful_game_or_a_notation_error(
    name: str, data: st.DataObject
) -> None:
    start = data.draw(st.sampled_from(starts(name)))
    kind = data.draw(st.sampled_from([type(start), type(start.line())]))
    text = data.draw(
        st.text() | texts_near(start.text) | texts_near(walk(start.line(), [1, 4, 7]).end.text)
    )
    try:
        game = kind.from_text(text)
    except hk.Error:
        return
    game.check_consistency()
    assert kind.from_text(game.text) == game
    assert (game.outcome is None) == bool(game.legal_moves)
    assert game.count_moves() == len(game.legal_moves)
    for move in game.legal_moves[:3]:
        game.play(move).check_consistency()


@for_every_notation
@MANY
@given(st.data())
def test_any_text_is_either_a_move_or_an_error_of_ours(name: str, data: st.DataObject) -> None:
    game = data.draw(st.sampled_from(starts(name)))
    written = [str(move) for move in game.legal_moves[:20]]
    near = st.sampled_from(
        [*written, "Nbxd7=Q+", "O-O-O", "+7776FU", "５五角打", "７六歩(77)", "66r0"]
    )
    text = data.draw(st.text() | near.flatmap(texts_near))
    for at in (game, game.line()):
        try:
            move = at.parse(text)
        except hk.Error:
            with pytest.raises(hk.Error):
                at.play(text)
        else:
            assert at.is_legal(text) == at.is_legal(move) == (move.code in codes(at.legal_moves))


def test_the_walks_reach_what_the_laws_are_about() -> None:
    """Laws over walks that never castle, drop, pass or end would be hollow."""
    seen: set[str] = set()
    for name, seed in product(NAMES, range(40)):
        numbers = np.random.default_rng(seed).integers(0, 9999, PLIES[name]).tolist()
        at, moves, end = walk(starts(name)[seed % len(starts(name))], numbers)
        for move in moves:
            written = at.san(move) if name == "chess" else str(move)
            seen |= {f"{name} {mark}" for mark in ("O-O", "=", "+", "*", "pass") if mark in written}
            at = at.play(move)
            if getattr(at, "ko", None) is not None:
                seen.add("ko")
        seen.add(f"{name} {end.outcome.reason.name if end.outcome else 'goes on'}")
    assert seen >= {"chess O-O", "chess =", "shogi +", "shogi *", "othello pass", "blokus_duo pass"}
    assert seen >= {"ko", "go3 score", "go5 score", "othello score", "blokus_duo score"}
    assert seen >= {"chess checkmate", "chess move_rule", "chess insufficient_material"}
    assert seen >= {"shogi checkmate", "shogi ply_limit", "shogi declaration"}
