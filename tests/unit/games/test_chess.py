# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Reason


def chess(fen: str, *moves: str) -> Any:
    game: Any = hk.Chess.from_text(fen)
    for move in moves:
        game = game.play(move)
    return game


def line(fen: str, *moves: str) -> Any:
    game: Any = hk.Chess.from_text(fen).line()
    for move in moves:
        game = game.play(move)
    return game


def names(game: Any) -> set[str]:
    return {str(move) for move in game.legal_moves}


def sans(game: Any) -> set[str]:
    return {game.san(move) for move in game.legal_moves}


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
BOTH_CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
OUT_AND_BACK = ("Nf3", "Nf6", "Ng1", "Ng8")


def test_white_begins_with_twenty_moves() -> None:
    game: Any = hk.Chess()
    assert game.text == START
    assert game.to_play == hk.Player.first
    assert len(names(game)) == 20
    assert game.cells[7].tolist() == [4, 2, 3, 5, 6, 3, 2, 4]
    assert game.cells[0].tolist() == [-4, -2, -3, -5, -6, -3, -2, -4]


# Castling


def test_castling_puts_king_and_rook_side_by_side() -> None:
    assert chess(BOTH_CASTLE, "O-O").text == "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 1 1"
    assert chess(BOTH_CASTLE, "O-O-O").text == "r3k2r/8/8/8/8/8/8/2KR3R b kq - 1 1"
    assert chess(BOTH_CASTLE, "O-O", "O-O-O").text == "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2"


@pytest.mark.parametrize("text", ["O-O", "0-0", "e1g1", "e1h1"])
def test_castling_has_several_names(text: str) -> None:
    game = chess(BOTH_CASTLE)
    assert game.parse(text) == game.parse("e1g1")
    assert game.is_legal(text)


@pytest.mark.parametrize(
    ("fen", "kingside", "queenside"),
    [
        pytest.param(
            "4k3/8/8/8/8/5r2/8/R3K2R w KQ - 0 1", False, True, id="not through check, king's side"
        ),
        pytest.param(
            "4k3/8/8/8/8/3r4/8/R3K2R w KQ - 0 1", True, False, id="not through check, queen's side"
        ),
        pytest.param(
            "4k3/8/8/8/8/6r1/8/R3K2R w KQ - 0 1", False, True, id="not into check, king's side"
        ),
        pytest.param(
            "4k3/8/8/8/8/2r5/8/R3K2R w KQ - 0 1", True, False, id="not into check, queen's side"
        ),
        pytest.param("3k4/8/8/8/8/4r3/8/R3K2R w KQ - 0 1", False, False, id="not out of check"),
        pytest.param(
            "4k3/8/8/8/8/7r/8/R3K2R w KQ - 0 1", True, True, id="the rook may be attacked"
        ),
        pytest.param(
            "4k3/8/8/8/8/1r6/8/R3K2R w KQ - 0 1",
            True,
            True,
            id="the rook may pass an attacked square",
        ),
        pytest.param("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", False, False, id="not over pieces"),
        pytest.param("4k3/8/8/8/8/8/8/R1b1K2R w KQ - 0 1", True, False, id="not over the enemy's"),
        pytest.param(
            "4k3/8/8/8/8/8/4p3/R3K2R w KQ - 0 1", False, False, id="a pawn guards both ways"
        ),
        pytest.param("4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1", False, True, id="a pawn guards one way"),
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", False, False, id="not without the right"),
        pytest.param("4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", False, True, id="one right"),
    ],
)
def test_castling_is_refused_where_the_rules_refuse_it(
    fen: str, kingside: bool, queenside: bool
) -> None:
    game = chess(fen)
    assert game.is_legal("O-O") == ("e1g1" in names(game)) == kingside
    assert game.is_legal("O-O-O") == ("e1c1" in names(game)) == queenside


def test_a_king_or_rook_that_has_moved_never_castles_again() -> None:
    assert chess(BOTH_CASTLE, "Ke2", "Ke7", "Ke1", "Ke8").text.split()[2] == "-"
    assert chess(BOTH_CASTLE, "Rh2", "Rb8", "Rh1", "Ra8").text.split()[2] == "Qk"


def test_a_captured_rook_takes_the_right_with_it() -> None:
    assert chess(BOTH_CASTLE, "Rxh8").text.split()[2] == "Qq"


def test_a_rook_that_comes_to_the_corner_of_a_captured_one_can_not_castle() -> None:
    game = chess(
        "r3k2r/8/8/8/8/6n1/8/R3K2R b KQkq - 0 1", "Nxh1", "Ke2", "Ng3", "Ke1", "Nh5", "Rd1"
    )
    assert game.text.split()[2] == "kq"


def test_chess960_castles_king_takes_rook() -> None:
    game = chess("4k3/8/8/8/8/8/8/1RK3R1 w GB - 0 1")
    assert chess(game.text, "c1g1").text.startswith("4k3/8/8/8/8/8/8/1R3RK1 b")
    assert chess(game.text, "c1b1").text.startswith("4k3/8/8/8/8/8/8/2KR2R1 b")


def test_chess960_may_not_uncover_a_check_by_castling() -> None:
    """The rook on b1 shields the king's way from the rook on a1."""
    assert not chess("4k3/8/8/8/8/8/8/rRK5 w B - 0 1").is_legal("c1b1")


# Pawns


def test_en_passant_takes_the_pawn_that_has_just_passed() -> None:
    game = chess("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d5")
    assert game.text == "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
    assert "exd6" in sans(game)
    assert game.play("exd6").text == "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"


def test_en_passant_waits_for_no_one() -> None:
    game = chess("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d5", "Kd1", "Kd8")
    assert not game.is_legal("e5d6")
    assert "e5d6" not in names(game)


def test_a_single_step_can_not_be_taken_en_passant() -> None:
    assert "e5d6" not in names(chess("4k3/8/3p4/3Pp3/8/8/8/4K3 w - - 0 1"))


@pytest.mark.parametrize(
    ("fen", "capture", "legal"),
    [
        pytest.param(
            "7k/8/8/K2pP2r/8/8/8/8 w - d6 0 2",
            "e5d6",
            False,
            id="both pawns leave the rank of the king",
        ),
        pytest.param("4r2k/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", False, id="pinned on the file"),
        pytest.param(
            "7k/8/8/b2pP3/8/2K5/8/8 w - d6 0 2", "e5d6", False, id="in check from elsewhere"
        ),
        pytest.param("7k/2b5/8/3pP3/5K2/8/8/8 w - d6 0 2", "e5d6", True, id="along the pin"),
        pytest.param(
            "7k/8/8/3pP3/4K3/8/8/8 w - d6 0 2", "e5d6", True, id="takes the pawn that checks"
        ),
        pytest.param(
            "7k/6b1/8/3pP3/3K4/8/8/8 w - d6 0 2", "e5d6", False, id="pinned on a diagonal"
        ),
        pytest.param(
            "b6k/8/8/3pP3/8/8/6K1/8 w - d6 0 2", "e5d6", False, id="the taken pawn was a shield"
        ),
    ],
)
def test_en_passant_may_not_leave_the_king_in_check(fen: str, capture: str, legal: bool) -> None:
    game = chess(fen)
    assert game.is_legal(capture) == (capture in names(game)) == legal


def test_the_en_passant_square_is_written_only_where_the_capture_is_legal() -> None:
    assert chess(START, "e4").text == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert chess("7k/8/8/K2pP2r/8/8/8/8 w - d6 0 2").text == "7k/8/8/K2pP2r/8/8/8/8 w - - 0 2"


def test_a_pawn_on_the_last_rank_becomes_one_of_four_pieces() -> None:
    game = chess("1r5k/P7/8/8/8/8/8/K7 w - - 0 1")
    pawn_moves = {name for name in names(game) if name.startswith("a7")}
    assert pawn_moves == {square + piece for square in ("a7a8", "a7b8") for piece in "nbrq"}
    assert not game.is_legal("a7a8")
    assert game.play("a8=N").text.startswith("Nr5k/8/")
    assert game.play("axb8=Q").text.startswith("1Q5k/8/")
    assert game.play("a7a8r").text.startswith("Rr5k/8/")


def test_pawns_step_twice_only_from_home_and_over_nothing() -> None:
    assert names(chess("4k3/8/8/8/8/4p3/4P3/K7 w - - 0 1")) == {"a1a2", "a1b1", "a1b2"}
    assert not chess("4k3/8/8/8/4p3/8/4P3/K7 w - - 0 1").is_legal("e2e4")
    assert not chess("4k3/8/8/8/8/4P3/8/K7 w - - 0 1").is_legal("e3e5")


# Check and the end


def test_double_check_is_answered_by_the_king_alone() -> None:
    game = chess("4r2k/8/8/8/7b/8/3Q4/4K3 w - - 0 1")
    assert game.in_check
    assert all(name.startswith("e1") for name in names(game))


def test_a_pinned_piece_stays_on_its_line() -> None:
    game = chess("4r2k/8/8/8/8/4R3/8/4K3 w - - 0 1")
    rook_moves = {name for name in names(game) if name.startswith("e3")}
    assert rook_moves == {"e3e2", "e3e4", "e3e5", "e3e6", "e3e7", "e3e8"}


def test_the_fools_mate_is_mate() -> None:
    over = chess(START, "f3", "e5", "g4", "Qh4")
    assert over.in_check
    assert over.outcome.winner == hk.Player.second
    assert over.outcome.reason == Reason.checkmate
    assert over.outcome.value == 0
    assert over.score == -1
    assert over.legal_moves == []


def test_stalemate_is_a_draw() -> None:
    over = chess("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    assert not over.in_check
    assert over.outcome.winner is None
    assert over.outcome.reason == Reason.stalemate


def test_the_third_occurrence_of_a_position_ends_a_line() -> None:
    twice = line(START, *OUT_AND_BACK)
    assert twice.outcome is None
    thrice = line(START, *OUT_AND_BACK, *OUT_AND_BACK)
    assert thrice.outcome.reason == Reason.repetition
    assert thrice.outcome.winner is None
    assert thrice.legal_moves == []
    assert thrice.position.outcome is None
    with pytest.raises(hk.errors.IllegalMoveError):
        thrice.play("e4")


def test_the_fifth_occurrence_ends_a_line_where_nobody_claims() -> None:
    fen = START + " automatic"
    assert line(fen, *(OUT_AND_BACK * 3)).outcome is None
    assert line(fen, *(OUT_AND_BACK * 4)).outcome.reason == Reason.repetition


def test_no_repetition_ends_a_line_that_ignores_draws() -> None:
    assert line(START + " ignored", *(OUT_AND_BACK * 6)).outcome is None


def test_positions_that_differ_in_castling_rights_are_no_repetition() -> None:
    cycle = ("Ke2", "Ke7", "Ke1", "Ke8")
    assert line(BOTH_CASTLE, *cycle, *cycle).outcome is None
    over = line(BOTH_CASTLE, *cycle, *cycle, "Ke2", "Ke7")
    assert over.outcome.reason == Reason.repetition


def test_positions_that_differ_in_en_passant_are_no_repetition() -> None:
    start = "4k3/3p4/8/4P3/8/8/8/R3K3 b - - 0 1"
    cycle = ("Kd1", "Kd8", "Ke1", "Ke8")
    assert line(start, "d5", *cycle, *cycle).outcome is None
    assert line(start, "d5", *cycle, *cycle, "Kd1").outcome.reason == Reason.repetition


def test_an_en_passant_square_nobody_can_use_does_not_hinder_repetition() -> None:
    start = "4k3/3p4/8/8/8/8/8/R3K3 b - - 0 1"
    cycle = ("Kd1", "Kd8", "Ke1", "Ke8")
    assert line(start, "d5", *cycle, *cycle).outcome.reason == Reason.repetition


def test_fifty_moves_without_capture_or_pawn_move_are_a_draw() -> None:
    before = chess("4k3/8/8/8/8/8/4P3/4K2R w - - 99 80")
    assert before.outcome is None
    over = before.play("Rh2")
    assert over.outcome.reason == Reason.move_rule
    assert over.outcome.winner is None
    assert over.legal_moves == []
    assert before.play("e3").halfmove_clock == 0
    assert before.play("e3").outcome is None


def test_mate_on_the_last_of_the_fifty_moves_counts() -> None:
    over = chess("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8")
    assert over.outcome.reason == Reason.checkmate


def test_seventy_five_moves_are_a_draw_where_nobody_claims() -> None:
    assert chess("4k3/8/8/8/8/8/4P3/4K2R w - - 148 99 automatic", "Rh2").outcome is None
    over = chess("4k3/8/8/8/8/8/4P3/4K2R w - - 149 99 automatic", "Rh2")
    assert over.outcome.reason == Reason.move_rule


def test_draw_rules_are_chosen_by_value() -> None:
    game: Any = hk.Chess()
    assert game.draws == hk.Chess.Draws.claimed
    other = game.with_draws(hk.Chess.Draws.automatic)
    assert other.draws == hk.Chess.Draws.automatic
    assert other.text == START + " automatic"
    assert other != game


@pytest.mark.parametrize(
    ("pieces", "insufficient"),
    [
        ("8/8/8/8", True),
        ("8/8/8/4N3", True),
        ("8/8/8/4b3", True),
        ("8/8/4b3/3B4", True),
        ("8/8/3b4/4B3", True),
        ("8/8/3b4/3B4", False),
        ("8/8/4b3/4B3", False),
        ("8/8/2b5/4B3", False),
        ("8/8/2B5/3B4", True),
        ("8/8/8/3BB3", False),
        ("8/8/8/3NN3", False),
        ("8/8/3n4/3N4", False),
        ("8/8/3n4/3B4", False),
        ("8/8/8/3P4", False),
        ("8/8/8/3r4", False),
        ("8/8/8/3Q4", False),
    ],
)
def test_material_that_can_not_mate_is_a_draw(pieces: str, insufficient: bool) -> None:
    game = chess(f"7k/8/{pieces}/8/K7 w - - 0 1")
    assert (game.outcome is not None) == insufficient
    if insufficient:
        assert game.outcome.reason == Reason.insufficient_material
        assert game.outcome.winner is None
        assert game.legal_moves == []


# Notation


@pytest.mark.parametrize(
    ("fen", "uci", "san"),
    [
        (START, "g1f3", "Nf3"),
        (START, "e2e4", "e4"),
        ("4k3/8/8/8/8/8/8/RR2K3 w - - 0 1", "a1a2", "Ra2"),
        ("8/7k/8/8/8/8/8/R3R1K1 w - - 0 1", "a1d1", "Rad1"),
        ("7k/8/R7/8/8/8/8/R6K w - - 0 1", "a1a3", "R1a3"),
        ("6K1/8/k7/8/4Q2Q/8/8/7Q w - - 0 1", "h4e1", "Qh4e1"),
        ("6K1/8/k7/8/4Q2Q/8/8/7Q w - - 0 1", "h1e1", "Q1e1"),
        ("6K1/8/k7/8/4Q2Q/8/8/7Q w - - 0 1", "e4e1", "Qee1"),
        ("4r2k/8/8/8/8/2N5/4N3/4K3 w - - 0 1", "c3d5", "Nd5"),
        ("4r2k/8/8/8/8/2N5/4N3/4K3 w - - 0 1", "c3b5", "Nb5"),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exd5"),
        ("7k/R7/8/8/8/8/8/1R4K1 w - - 0 1", "b1b8", "Rb8#"),
        ("7k/8/8/8/8/8/8/1R4K1 w - - 0 1", "b1b8", "Rb8+"),
        ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"),
        ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "O-O-O+"),
        ("1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7b8q", "axb8=Q+"),
        ("1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8n", "a8=N"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "exd6"),
    ],
)
def test_san_says_just_enough(fen: str, uci: str, san: str) -> None:
    game = chess(fen)
    assert game.san(uci) == san
    assert str(game.parse(san)) == uci


def test_a_pinned_rival_needs_no_disambiguation() -> None:
    """The knight on e2 is pinned, so only c3 can go to d1."""
    assert chess("4r2k/8/8/8/8/2N5/4N3/4K3 w - - 0 1").san("c3d1") == "Nd1"


@pytest.mark.parametrize(
    "text", ["Nf3", "Ngf3", "N1f3", "Ng1f3", "Nf3!", "Nf3?!", "Nf3+", "Ng1-f3"]
)
def test_san_is_read_generously(text: str) -> None:
    assert str(hk.Chess().parse(text)) == "g1f3"


def test_an_ambiguous_move_is_refused() -> None:
    with pytest.raises(hk.errors.NotationError, match="ambiguous"):
        chess("8/7k/8/8/8/8/8/R3R1K1 w - - 0 1").parse("Rd1")


@pytest.mark.parametrize("text", ["e5", "Nf4", "O-O", "Qh5", "exd3", "e8=Q"])
def test_san_of_an_illegal_move_is_refused_as_illegal(text: str) -> None:
    with pytest.raises(hk.errors.IllegalMoveError):
        hk.Chess().play(text)
    assert not hk.Chess().is_legal(text)


@pytest.mark.parametrize(
    "text", ["", "e9", "i4", "Xf3", "e2e", "e2e4x", "O-O-O-O", "=Q", "e4 ", "é4", "Nf", "0000"]
)
def test_what_is_no_move_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.Chess().parse(text)


def test_a_fen_may_leave_out_its_last_fields() -> None:
    assert chess("4k3/8/8/8/8/8/4P3/4K3").text == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "fen",
    [
        "",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1",
        "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/7/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/44p/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1",
        "rnbkkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1",
        "rnbqkbnr/pppppppp/p7/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbPr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQxq - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
        "4k3/8/8/8/8/8/4K3/7R w K - 0 1",
        "4k3/8/8/8/8/8/8/4KR2 b - - 0 1/",
        "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1",
        "4k3/4K3/8/8/8/8/8/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e4 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - x 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 99999",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 sometimes",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 claimed too",
        "rnbqkbnr/pppppppp/8/8/é7/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ],
)
def test_a_fen_that_is_no_position_is_refused_in_one_line(fen: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=r"\A[^\n]+\Z"):
        hk.Chess.from_text(fen)


# Attacks and exchanges


def test_attackers_of_a_square_are_named() -> None:
    game = chess("4k3/8/2n5/4p3/3P4/5N2/8/4K3 w - - 0 1")
    assert set(game.attackers("e5", hk.Player.first)) == {"d4", "f3"}
    assert set(game.attackers("d4", hk.Player.second)) == {"e5", "c6"}
    assert game.attackers("a1", hk.Player.first) == []
    with pytest.raises(hk.errors.NotationError):
        game.attackers("i1", hk.Player.first)


@pytest.mark.parametrize(
    ("fen", "move", "centipawns"),
    [
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "Rxe5", 100),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "Nxe5", 100 - 320),
        ("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", "Rxd5", 900),
        ("4k3/2p5/3q4/8/8/8/8/3RK3 w - - 0 1", "Rxd6", 900 - 500),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6", 100),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=Q", 900 - 100),
        ("1r5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=Q", -100),
        (BOTH_CASTLE, "O-O", 0),
    ],
)
def test_static_exchange_counts_what_the_mover_nets(fen: str, move: str, centipawns: int) -> None:
    assert chess(fen).see(move) == centipawns


@pytest.mark.parametrize("clock", [0, 99, 9999, 65535])
def test_any_clock_survives_a_move(clock: int) -> None:
    start = hk.Chess.from_text(f"4k3/8/8/8/8/8/8/R3K3 b Q - {clock} {max(clock, 1)} ignored")
    game = start.play("e8d8")
    assert hk.Chess.from_text(game.text) == game


@pytest.mark.parametrize("rights", ["KK", "K-", "-K", "KQkqK", "--"])
def test_castling_rights_are_named_once(rights: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.Chess.from_text(f"r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1")


def test_a_pawn_that_passed_has_left_its_square() -> None:
    with pytest.raises(hk.errors.NotationError, match="passed"):
        hk.Chess.from_text("4k3/8/8/8/3pP3/8/4P3/4K3 b - e3 0 1")


@pytest.mark.parametrize("depth", [-1, 100, 100_000])
def test_a_depth_nobody_can_count_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        hk.Chess().perft(depth)


def test_perft_of_a_line_ignores_draw_rules_like_that_of_a_position() -> None:
    near = hk.Chess.from_text("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 99 60")
    assert near.line().perft(2) == near.perft(2) == 400
