# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pytest

import hyoka as hk
from hyoka._core import Reason

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"


def shogi(sfen: str, *moves: str) -> Any:
    game: Any = hk.Shogi.from_text(sfen)
    for move in moves:
        game = game.play(move)
    return game


def line(sfen: str, *moves: str) -> Any:
    game: Any = hk.Shogi.from_text(sfen).line()
    for move in moves:
        game = game.play(move)
    return game


def names(game: Any) -> set[str]:
    return {str(move) for move in game.legal_moves}


def test_black_begins_with_thirty_moves() -> None:
    game: Any = hk.Shogi()
    assert game.text == START
    assert game.to_play == hk.Player.first
    assert len(names(game)) == 30
    assert game.ply == 0
    assert game.play("7g7f").ply == 1


# Drops


def test_a_captured_piece_may_be_dropped_and_is_used_up() -> None:
    game = shogi("4k4/9/9/4p4/4R4/9/9/9/4K4 b - 1", "5e5d")
    assert game.hand(hk.Player.first) == {"P": 1}
    later = game.play("5a4a").play("P*1e")
    assert later.hand(hk.Player.first) == {}
    assert later.cells[4, 8] == 1
    assert not game.is_legal("P*9e")


def test_a_captured_promoted_piece_is_plain_in_hand() -> None:
    game = shogi("4k4/9/9/4+p4/4R4/9/9/9/4K4 b - 1", "5e5d")
    assert game.hand(hk.Player.first) == {"P": 1}
    assert shogi("4k4/9/9/4+r4/4R4/9/9/9/4K4 b - 1", "5e5d").hand(hk.Player.first) == {"R": 1}


def test_a_piece_is_dropped_on_an_empty_square_only() -> None:
    game = shogi("4k4/9/9/9/4p4/9/9/4G4/4K4 b R 1")
    assert not game.is_legal("R*5e")
    assert not game.is_legal("R*5h")
    assert game.is_legal("R*5d")


def test_two_unpromoted_pawns_never_share_a_file() -> None:
    game = shogi("4k4/9/9/9/9/9/4P4/9/4K4 b P 1")
    assert not any(name.startswith("P*5") for name in names(game))
    assert not game.is_legal("P*5e")
    assert game.is_legal("P*4e")


def test_a_promoted_pawn_or_the_enemys_does_not_hinder_a_pawn_drop() -> None:
    assert shogi("4k4/9/9/9/9/9/4+P4/9/4K4 b P 1").is_legal("P*5e")
    assert shogi("4k4/9/4p4/9/9/9/9/9/4K4 b P 1").is_legal("P*5e")


@pytest.mark.parametrize(
    ("piece", "dead_ranks"),
    [("P", "a"), ("L", "a"), ("N", "ab"), ("S", ""), ("G", ""), ("B", ""), ("R", "")],
)
def test_no_piece_is_dropped_where_it_could_never_move(piece: str, dead_ranks: str) -> None:
    black = shogi(f"9/9/9/9/k8/9/9/9/K8 b {piece} 1")
    white = shogi(f"9/9/9/9/k8/9/9/9/K8 w {piece.lower()} 1")
    mirrored = dict(zip("abcdefghi", "ihgfedcba", strict=True))
    for rank in "abcdefghi":
        assert black.is_legal(f"{piece}*1{rank}") == (rank not in dead_ranks)
        assert white.is_legal(f"{piece}*1{mirrored[rank]}") == (rank not in dead_ranks)


@pytest.mark.parametrize(
    ("sfen", "drop", "legal"),
    [
        pytest.param("7nk/9/7G1/9/9/9/9/9/K8 b P 1", "P*1b", False, id="mate"),
        pytest.param("8k/9/7G1/9/9/9/9/9/K8 b P 1", "P*1b", True, id="the king can step aside"),
        pytest.param("7nk/9/9/9/9/9/9/9/K8 b P 1", "P*1b", True, id="the king can take the pawn"),
        pytest.param("7sk/9/7G1/9/9/9/9/9/K8 b P 1", "P*1b", True, id="a silver can take the pawn"),
        pytest.param("4R2sk/9/7G1/9/9/9/9/9/K8 b P 1", "P*1b", False, id="the silver is pinned"),
        pytest.param("7nk/9/7G1/9/9/9/9/9/K8 b L 1", "L*1b", True, id="a lance may mate"),
        pytest.param(
            "k8/9/9/9/9/9/1g7/9/1N6K w p 1", "P*1h", True, id="White's pawn, the king steps aside"
        ),
        pytest.param("k8/9/9/9/9/9/7g1/9/7NK w p 1", "P*1h", False, id="White's pawn, mate"),
    ],
)
def test_a_dropped_pawn_may_not_mate(sfen: str, drop: str, legal: bool) -> None:
    game = shogi(sfen)
    assert game.is_legal(drop) == (drop in names(game)) == legal
    if not legal:
        with pytest.raises(hk.errors.IllegalMoveError):
            game.play(drop)


def test_a_pawn_that_moves_may_mate() -> None:
    over = shogi("7nk/9/7GP/9/9/9/9/9/K8 b - 1", "1c1b")
    assert over.outcome.reason == Reason.checkmate
    assert over.outcome.winner == hk.Player.first


# Promotion


def test_promotion_is_open_on_entering_leaving_and_moving_inside_the_zone() -> None:
    game = shogi("4k4/9/8S/8S/9/9/9/9/4K4 b - 1")
    assert {"1d1c"} & names(game) == set()  # its own silver stands there
    assert {"1c1b", "1c1b+", "1c2b", "1c2b+", "1c2d", "1c2d+"} <= names(game)
    assert {"1d2c", "1d2c+"} <= names(game)
    assert "1d2e+" not in names(game)


@pytest.mark.parametrize(
    ("sfen", "plain", "legal"),
    [
        ("9/4P4/9/9/k8/9/9/9/K8 b - 1", "5b5a", False),
        ("9/9/4P4/9/k8/9/9/9/K8 b - 1", "5c5b", True),
        ("9/4L4/9/9/k8/9/9/9/K8 b - 1", "5b5a", False),
        ("9/9/4L4/9/k8/9/9/9/K8 b - 1", "5c5b", True),
        ("9/9/4N4/9/k8/9/9/9/K8 b - 1", "5c4a", False),
        ("9/9/9/4N4/k8/9/9/9/K8 b - 1", "5d4b", False),
        ("9/9/9/9/k3N4/9/9/9/K8 b - 1", "5e4c", True),
        ("9/4S4/9/9/k8/9/9/9/K8 b - 1", "5b5a", True),
        ("k8/9/9/9/K8/9/9/4p4/9 w - 1", "5h5i", False),
        ("k8/9/9/9/K8/9/4n4/9/9 w - 1", "5g4i", False),
    ],
)
def test_a_piece_that_could_never_move_again_must_promote(
    sfen: str, plain: str, legal: bool
) -> None:
    game = shogi(sfen)
    assert game.is_legal(plain) == (plain in names(game)) == legal
    assert game.is_legal(plain + "+")


def test_gold_king_and_promoted_pieces_do_not_promote() -> None:
    game = shogi("9/9/K3G+P3/9/k8/9/9/9/9 b - 1")
    assert not any(name.endswith("+") for name in names(game))


@pytest.mark.parametrize(
    ("piece", "targets"),
    [
        ("+P", {"4d", "5d", "6d", "4e", "6e", "5f"}),
        ("+L", {"4d", "5d", "6d", "4e", "6e", "5f"}),
        ("+N", {"4d", "5d", "6d", "4e", "6e", "5f"}),
        ("+S", {"4d", "5d", "6d", "4e", "6e", "5f"}),
        ("G", {"4d", "5d", "6d", "4e", "6e", "5f"}),
        ("S", {"4d", "5d", "6d", "4f", "6f"}),
        ("N", {"4c", "6c"}),
        ("P", {"5d"}),
        ("L", {"5d", "5c", "5b", "5a"}),
        ("K", {"4d", "5d", "6d", "4e", "6e", "4f", "5f", "6f"}),
    ],
)
def test_pieces_step_as_they_should(piece: str, targets: set[str]) -> None:
    rest = "" if piece == "K" else "K"
    game = shogi(f"k8/9/9/9/4{piece}4/9/9/9/{rest or 1}8 b - 1")
    assert {name[2:4] for name in names(game) if name.startswith("5e")} == targets


def test_horse_and_dragon_add_the_kings_steps() -> None:
    horse = shogi("1k7/9/9/9/4+B4/9/9/9/1K7 b - 1")
    dragon = shogi("1k7/9/9/9/4+R4/9/9/9/1K7 b - 1")
    horse_to = {name[2:4] for name in names(horse) if name.startswith("5e")}
    dragon_to = {name[2:4] for name in names(dragon) if name.startswith("5e")}
    assert len(horse_to) == 16 + 4
    assert {"5d", "5f", "4e", "6e"} <= horse_to
    assert len(dragon_to) == 16 + 4
    assert {"4d", "6d", "4f", "6f"} <= dragon_to


# The end


def test_mate_wins_and_leaves_no_move() -> None:
    over = shogi("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "G*5b")
    assert over.in_check
    assert over.outcome.winner == hk.Player.first
    assert over.outcome.reason == Reason.checkmate
    assert over.score == 1
    assert over.legal_moves == []


def test_a_side_without_a_move_loses_even_out_of_check() -> None:
    over = shogi("8k/9/8G/9/7R1/9/9/9/K8 w - 1")
    assert not over.in_check
    assert over.outcome.reason == Reason.stalemate
    assert over.outcome.winner == hk.Player.first


def test_a_pinned_piece_stays_on_its_line() -> None:
    game = shogi("4r3k/9/9/9/4S4/9/9/9/4K4 b - 1")
    assert {name for name in names(game) if name.startswith("5e")} == {"5e5d"}


def test_a_lance_pins_too_and_only_forwards() -> None:
    assert "5e4d" not in names(shogi("4l3k/9/9/9/4S4/9/9/9/4K4 b - 1"))
    assert "5e4d" in names(shogi("4K3k/9/9/9/4S4/9/9/4l4/9 b - 1"))


def test_check_is_answered_by_capture_block_or_flight() -> None:
    game = shogi("8k/9/9/9/4r4/9/9/4G4/3K5 b P 1")
    assert not game.in_check
    check = shogi("8k/9/9/9/4r4/9/9/9/3GK4 b P 1")
    assert names(check) == {"P*5f", "P*5g", "P*5h", "6i5h", "5i4i", "5i4h", "5i6h"}


ROOK_CYCLE = ("2h3h", "8b7b", "3h2h", "7b8b")
# White's king steps between 1a and 1b, Black's dragon follows with check.
DRAGON_CHECKS = "8k/4+R4/9/9/9/9/9/9/K8 b - 1"
CHECK_CYCLE = ("5b5a", "1a1b", "5a5b", "1b1a")


def test_the_fourth_occurrence_of_a_position_is_a_draw() -> None:
    assert line(START, *(ROOK_CYCLE * 2)).outcome is None
    assert line(START, *(ROOK_CYCLE * 3)[:-1]).outcome is None
    over = line(START, *(ROOK_CYCLE * 3))
    assert over.outcome.reason == Reason.repetition
    assert over.outcome.winner is None
    assert over.legal_moves == []
    assert over.position.outcome is None


def test_occurrences_need_not_follow_each_other() -> None:
    other = ("4i4h", "4a4b", "4h4i", "4b4a")
    over = line(START, *ROOK_CYCLE, *other, *ROOK_CYCLE)
    assert over.outcome.reason == Reason.repetition


def test_positions_that_differ_in_hand_are_no_repetition() -> None:
    sfen = "k8/9/9/9/9/9/9/9/K7R b 9P9p 1"
    moves = []
    for file, rank in ((5, "d"), (6, "d"), (7, "d"), (8, "d")):
        moves += [f"P*{file}{rank}", "9a8a", "9i8i", f"P*{file}f", "8i9i", "8a9a"]
    assert line(sfen, *moves).outcome is None


@pytest.mark.parametrize("first", [0, 1])
def test_who_gives_perpetual_check_loses(first: int) -> None:
    """Whether the position that repeats is the checker's to move or the other's."""
    start = line(DRAGON_CHECKS, *CHECK_CYCLE[:first]).position
    cycle = CHECK_CYCLE[first:] + CHECK_CYCLE[:first]
    assert line(start.text, *(cycle * 3)[:-1]).outcome is None
    over = line(start.text, *(cycle * 3))
    assert over.outcome.reason == Reason.perpetual_check
    assert over.outcome.winner == hk.Player.second
    assert over.score == -1


def test_white_loses_by_perpetual_check_as_well() -> None:
    moves = ("5h5i", "9i9h", "5i5h", "9h9i") * 3
    over = line("8k/9/9/9/9/9/9/4+r4/K8 w - 1", *moves)
    assert over.outcome.reason == Reason.perpetual_check
    assert over.outcome.winner == hk.Player.first


def test_one_quiet_move_makes_perpetual_check_a_draw() -> None:
    quiet = ("9i9h", "1a2a", "9h9i", "2a1a")
    over = line(DRAGON_CHECKS, *CHECK_CYCLE, *quiet, *CHECK_CYCLE)
    assert over.outcome.reason == Reason.repetition
    assert over.outcome.winner is None


def test_quiet_moves_before_the_first_occurrence_do_not_excuse_perpetual_check() -> None:
    over = line("8k/9/4+R4/9/9/9/9/9/K8 b - 1", "5c4c", "1a2a", "4c5b", "2a1a", *(CHECK_CYCLE * 3))
    assert over.outcome.reason == Reason.perpetual_check
    assert over.outcome.winner == hk.Player.second


def test_checks_before_the_first_occurrence_do_not_matter() -> None:
    quiet = ("9i9h", "1b1c", "9h9i", "1c1b")
    over = line(DRAGON_CHECKS, *CHECK_CYCLE[:2], *(quiet * 3))
    assert over.outcome.reason == Reason.repetition


def test_outcome_and_score_agree_when_the_limit_meets_perpetual_check() -> None:
    over = line(DRAGON_CHECKS + " limit=12", *(CHECK_CYCLE * 3))
    assert (over.score + 1) / 2 == over.outcome.value


def test_the_limit_of_plies_is_a_draw() -> None:
    game: Any = hk.Shogi(ply_limit=2)
    over = game.play("7g7f").play("3c3d")
    assert over.outcome.reason == Reason.ply_limit
    assert over.outcome.winner is None
    assert over.legal_moves == []
    assert game.play("7g7f").outcome is None


def test_mate_on_the_last_ply_of_the_limit_counts() -> None:
    over = shogi("4k4/9/4P4/9/9/9/9/9/4K4 b G 1 limit=1", "G*5b")
    assert over.outcome.reason == Reason.checkmate


@pytest.mark.parametrize("ply_limit", [-1, 60001])
def test_a_limit_outside_its_range_is_refused(ply_limit: int) -> None:
    with pytest.raises(ValueError, match="ply_limit"):
        hk.Shogi(ply_limit=ply_limit)
    with pytest.raises(ValueError, match="ply_limit"):
        hk.Shogi().with_rules(ply_limit=ply_limit)


# An entering king: 4 big pieces at 5 points and 6 small ones in the zone are 26 points, 2 in hand.
DECLARABLE = "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 b 2P 1"


def test_an_entering_king_may_be_declared_where_that_is_played() -> None:
    game = shogi(DECLARABLE + " declaration")
    assert game.may_declare
    assert "win" in names(game)
    over = game.play("win")
    assert over.outcome.winner == hk.Player.first
    assert over.outcome.reason == Reason.declaration
    assert over.legal_moves == []
    assert over.score == 1


def test_a_declaration_is_no_move_where_it_is_not_played() -> None:
    game = shogi(DECLARABLE)
    assert game.may_declare
    assert "win" not in names(game)
    assert not game.is_legal("win")


@pytest.mark.parametrize(
    ("sfen", "may"),
    [
        pytest.param(
            "K+R+R+B+B4/GGGGSS3/9/9/9/9/9/9/k8 b P 1",
            False,
            id="27 points are not enough for Black",
        ),
        pytest.param(
            "K+R+R+B+B4/GGGGS4/9/9/9/9/9/9/k8 b 3P 1", False, id="nine pieces in the zone"
        ),
        pytest.param(
            "K+R+R+B+B4/GGGGS4/9/5S3/9/9/9/9/k8 b 4P 1", False, id="a tenth outside the zone"
        ),
        pytest.param(
            "1+R+R+B+B4/GGGGSS3/9/K8/9/9/9/9/k8 b 2P 1", False, id="the king outside the zone"
        ),
        pytest.param("K+R+R+B+B4/gGGGSSS2/9/9/9/9/9/9/k8 b 2P 1", False, id="in check"),
        pytest.param(
            "K8/9/9/9/9/9/9/3ssgggg/4+b+b+r+rk w p 1", True, id="27 points are enough for White"
        ),
        pytest.param("K8/9/9/9/9/9/9/3ssgggg/4+b+b+r+rk w - 1", False, id="26 are not"),
        pytest.param(START, False, id="the start"),
    ],
)
def test_a_declaration_needs_king_pieces_points_and_no_check(sfen: str, may: bool) -> None:
    assert shogi(sfen).may_declare == may


# Handicaps


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("lance", {"1a"}),
        ("right-lance", {"9a"}),
        ("bishop", {"2b"}),
        ("rook", {"8b"}),
        ("rook-lance", {"8b", "1a"}),
        ("two-piece", {"8b", "2b"}),
        ("four-piece", {"8b", "2b", "1a", "9a"}),
        ("five-piece", {"8b", "2b", "1a", "9a", "8a"}),
        ("six-piece", {"8b", "2b", "1a", "9a", "2a", "8a"}),
        ("eight-piece", {"8b", "2b", "1a", "9a", "2a", "8a", "3a", "7a"}),
        ("ten-piece", {"8b", "2b", "1a", "9a", "2a", "8a", "3a", "7a", "4a", "6a"}),
    ],
)
def test_a_handicap_takes_whites_pieces_and_gives_white_the_first_move(
    name: str, missing: set[str]
) -> None:
    even: Any = hk.Shogi()
    game: Any = hk.Shogi(handicap=name)
    rows, columns = (even.cells != game.cells).nonzero()
    assert {
        f"{9 - column}{'abcdefghi'[row]}" for row, column in zip(rows, columns, strict=True)
    } == missing
    assert game.to_play == hk.Player.second
    assert game.hand(hk.Player.first) == game.hand(hk.Player.second) == {}
    assert name in hk.Shogi.handicap_names()


def test_there_are_no_other_handicaps() -> None:
    assert len(hk.Shogi.handicap_names()) == 11
    with pytest.raises(hk.errors.NotationError, match=r"no handicap 'queen' \(known: lance, "):
        hk.Shogi(handicap="queen")


# Positions without a king


def test_a_tsume_problem_may_lack_blacks_king() -> None:
    game = shogi("4k4/9/4P4/9/9/9/9/9/9 b G 1")
    assert not game.in_check
    assert game.play("G*5b").outcome.reason == Reason.checkmate
    assert shogi(game.text) == game


def test_without_a_king_no_move_is_forbidden_by_check() -> None:
    game = shogi("4r3k/9/9/9/4S4/9/9/9/9 b - 1")
    assert {"5e4d", "5e5d", "5e6d", "5e4f", "5e6f"} <= names(game)


# Notation


@pytest.mark.parametrize(
    ("sfen", "usi", "csa", "kif"),
    [
        (START, "7g7f", "+7776FU", "７六歩(77)"),
        (START, "2h7h", "+2878HI", "７八飛(28)"),
        (
            "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3",
            "8h2b+",
            "+8822UM",
            "２二角成(88)",
        ),
        ("4k4/9/9/9/9/9/9/9/4K4 b B 1", "B*5e", "+0055KA", "５五角打"),
        ("4k4/9/9/9/9/9/9/9/4K4 w g 2", "G*5b", "-0052KI", "５二金打"),
        ("4k4/9/9/9/9/9/9/9/4K4 w - 2", "5a5b", "-5152OU", "５二玉(51)"),
        ("4k4/9/9/9/4+S4/9/9/9/4K4 b - 1", "5e5d", "+5554NG", "５四成銀(55)"),
        ("3k5/9/9/9/4+R4/9/9/9/4K4 b - 1", "5e5d", "+5554RY", "５四龍(55)"),
        (DECLARABLE + " declaration", "win", "%KACHI", "入玉勝ち"),
    ],
)
def test_moves_are_written_and_read_as_usi_csa_and_kif_do(
    sfen: str, usi: str, csa: str, kif: str
) -> None:
    game = shogi(sfen)
    move = game.parse(usi)
    assert str(move) == usi
    assert game.csa(move) == csa
    assert game.kif(move) == kif
    assert game.parse(csa) == game.parse(kif) == game.parse_kif(kif) == move


def test_kif_says_same_for_the_square_just_played_to() -> None:
    before: Any = hk.Shogi().play("7g7f").play("3c3d")
    taking = before.parse("8h2b+")
    game = before.play(taking)
    retake = game.parse("3a2b")
    assert game.kif(retake, taking) == "同　銀(31)"
    assert game.parse_kif("同　銀(31)", taking) == retake
    assert game.parse_kif("同銀(31)", taking) == retake
    assert game.parse_kif("同 銀(31)", taking) == retake
    with pytest.raises(hk.errors.NotationError, match="同"):
        game.parse_kif("同　銀(31)")


@pytest.mark.parametrize(
    ("sfen", "kif", "usi"),
    [
        ("3k5/9/9/9/4+R4/9/9/9/4K4 b - 1", "５四竜(55)", "5e5d"),
        ("4k4/9/9/9/4+S4/9/9/9/4K4 b - 1", "５四全(55)", "5e5d"),
        ("4k4/9/9/9/4+N4/9/9/9/4K4 b - 1", "５四圭(55)", "5e5d"),
        ("4k4/9/9/9/4+L4/9/9/9/4K4 b - 1", "５四杏(55)", "5e5d"),
        ("4k4/9/9/9/9/9/9/9/4K4 b - 1", "５八王(59)", "5i5h"),
        ("4k4/9/9/9/9/9/9/9/4K4 b - 1", "5八玉(59)", "5i5h"),
        ("4k4/9/9/4S4/9/9/9/9/4K4 b - 1", "５三銀不成(54)", "5d5c"),
    ],
)
def test_kif_has_other_names_for_the_same(sfen: str, kif: str, usi: str) -> None:
    assert str(shogi(sfen).parse(kif)) == usi


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7g",
        "7g7",
        "7g7j",
        "0g7f",
        "7g7f*",
        "X*5e",
        "K*5e",
        "P*5j",
        "+7776XX",
        "７六",
        "７六歩",
        "七6歩(77)",
        "７六歩(7)",
        "+5554*!",
        "５五玉打",
        "７六と打",
        "同　歩(77)",
        "é",
    ],
)
def test_what_is_no_move_is_refused(text: str) -> None:
    with pytest.raises(hk.errors.NotationError):
        hk.Shogi().parse(text)


@pytest.mark.parametrize(
    "text", ["7g7e", "5i5g", "P*5e", "7g7f+", "-3334FU", "+7776KI", "７六金(77)", "win", "5e5d"]
)
def test_a_move_that_reads_well_but_may_not_be_made_is_illegal(text: str) -> None:
    game: Any = hk.Shogi()
    assert not game.is_legal(text)
    with pytest.raises(hk.errors.IllegalMoveError):
        game.play(text)


@pytest.mark.parametrize(
    "sfen",
    [
        "",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1 b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL/9 b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/8/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/91/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/4x4/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "4k4/9/9/9/4+G4/9/9/9/4K4 b - 1",
        "4k4/9/9/9/4+/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/9/4KK3 b - 1",
        "4k4/9/9/9/9/9/4P4/4P4/4K4 b - 1",
        "4P4/9/k8/9/9/9/9/9/4K4 b - 1",
        "9/4N4/k8/9/9/9/9/9/4K4 b - 1",
        "4k4/9/9/9/9/9/9/4l4/4K3l w - 1",
        "4k4/9/9/9/9/9/9/9/4K4 x - 1",
        "4k4/9/9/9/9/9/9/9/4K4 b X 1",
        "4k4/9/9/9/9/9/9/9/4K4 b K 1",
        "4k4/9/9/9/9/9/9/9/4K4 b 3R 1",
        "4k4/9/9/9/9/9/9/9/4K4 b 19P 1",
        "4k4/9/9/9/9/9/9/9/4K4 b 0P 1",
        "4k4/9/9/9/9/9/9/9/4K4 b P2 1",
        "4k4/9/9/9/9/9/9/9/4K4 b - 1x",
        "4k4/9/9/9/9/9/9/9/4K4 b - 1 limit=0",
        "4k4/9/9/9/9/9/9/9/4K4 b - 1 limit=x",
        "4k4/9/9/9/9/9/9/9/4K4 b - 1 tomorrow",
        "4k4/9/9/9/9/9/9/9/4R3K b - 1",
        "4k4/9/9/9/é8/9/9/9/4K4 b - 1",
    ],
)
def test_an_sfen_that_is_no_position_is_refused_in_one_line(sfen: str) -> None:
    with pytest.raises(hk.errors.NotationError, match=r"\A[^\n]+\Z"):
        hk.Shogi.from_text(sfen)


def test_the_rules_are_written_after_the_move_number() -> None:
    assert hk.Shogi(declaration=True, ply_limit=256).text == START + " declaration limit=256"
    assert hk.Shogi.from_text(START + " limit=256 declaration") == hk.Shogi(
        declaration=True, ply_limit=256
    )
    assert hk.Shogi(ply_limit=9).with_rules().text == START


# Attacks and exchanges


def test_attackers_of_a_square_are_named() -> None:
    game: Any = hk.Shogi()
    assert set(game.attackers("7h", hk.Player.first)) == {"2h", "6i", "7i"}
    assert game.attackers("5e", hk.Player.first) == []
    assert game.attackers("3d", hk.Player.second) == ["3c"]
    with pytest.raises(hk.errors.NotationError):
        game.attackers("5j", hk.Player.first)


@pytest.mark.parametrize(
    ("sfen", "move", "value"),
    [
        ("4k4/9/9/4p4/4R4/9/9/9/4K4 b - 1", "5e5d", 100),
        ("4k4/9/4l4/4p4/4R4/9/9/9/4K4 b - 1", "5e5d", 100 - 700),
        ("4k4/9/4l4/4p4/4R4/4R4/9/9/4K4 b - 1", "5e5d", 100 - 700 + 280),
        ("4k4/9/9/9/9/9/9/9/4K4 b G 1", "G*5b", -530),
        (START, "7g7f", 0),
    ],
)
def test_static_exchange_counts_what_the_mover_nets(sfen: str, move: str, value: int) -> None:
    assert shogi(sfen).see(move) == value


def test_a_csa_move_of_the_other_side_is_refused() -> None:
    with pytest.raises(hk.errors.IllegalMoveError, match="other side"):
        hk.Shogi().parse("-3334FU")
    with pytest.raises(hk.errors.IllegalMoveError, match="other side"):
        hk.Shogi.from_text("4k4/9/9/9/9/9/9/9/4K4 b P 1").parse("-0055FU")


def test_a_line_reads_the_same_square_of_kif() -> None:
    over = hk.Shogi().line().play("7g7f").play("3c3d").play("8h2b+").play("同　銀(31)")
    assert str(over.moves[-1]) == "3a2b"


def test_a_declaration_wins_even_where_the_board_has_come_back() -> None:
    """Declaring leaves the board as it was: here the other side sees it for the fourth time."""
    start = "1K+R+R+B+B3/9/PPPPPPPPP/9/9/9/9/9/8k b 4G4S 1 declaration"
    triangle = ["8a9a", "1i1h", "9a9b", "1h1i", "9b8a"]
    back_again = ["1i1h", "8a9a", "1h1i", "9a8a"]
    white_loses_a_move = ["1i2i", "8a9a", "2i2h", "9a8a", "2h1i"]
    before = line(start, *triangle, *back_again, *back_again, *white_loses_a_move)
    assert before.outcome is None
    assert before.play("win").outcome == before.play("win").position.outcome
    assert before.play("win").outcome.reason == Reason.declaration


@pytest.mark.parametrize("number", [1, 9999, 60000, 65535])
def test_any_move_number_survives_a_move(number: int) -> None:
    game = hk.Shogi.from_text(f"4k4/9/9/9/9/9/9/9/4K4 b - {number}").play("5i5h")
    assert hk.Shogi.from_text(game.text) == game
