# SPDX-License-Identifier: Apache-2.0
"""What a match is: players, clocks, openings, early ends, and which game is whose."""

import collections
import gzip
import itertools
import math
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka.arena import (
    MatchPlan,
    MatchRules,
    Opening,
    PlayerSpec,
    TimeControl,
    adjudicator_of,
    contests,
    openings_of,
    plan_match,
)
from hyoka.arena.adjudication import DrawByScore, Exact, Resign, WinByScore
from hyoka.arena.openings import digest, read_openings
from hyoka.arena.plan import named_apart
from hyoka.engines import EngineSpec, Limits
from hyoka.foundation.errors import NotationError, SourceError
from hyoka.records import Remark
from hyoka.search import SearchSpec

GAMES = ["chess", "shogi", "othello", "blokus_duo", "go9"]

# Players.

PRINTABLE = st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])
NAMES = st.text(PRINTABLE, max_size=12)
COMMANDS = st.from_regex(r"[a-z./]{1,6}( [-a-z=:,@+0-9.]{1,8}){0,3}", fullmatch=True)
ENGINES = st.builds(
    EngineSpec,
    protocol=st.sampled_from(["gtp", "uci", "usi"]),
    command=COMMANDS,
    limits=st.builds(Limits, nodes=st.none() | st.integers(1, 10**9)),
    options=st.dictionaries(st.sampled_from(["Hash", "Skill Level"]), NAMES).map(
        lambda options: tuple(options.items())
    ),
    title=NAMES,
)
SEARCHES = st.sampled_from(["uct:playouts=500,c=0.7", "ab:time=0.1", "random", "mc", "mc-score"])
SECONDS = st.integers(0, 10**9).map(lambda milliseconds: milliseconds / 1000) | st.floats(0, 9e6)
CLOCKS = st.builds(
    TimeControl,
    main_s=SECONDS.filter(bool),
    increment_s=SECONDS,
    period_s=SECONDS,
    moves=st.none() | st.integers(1, 9999),
)
PLAYERS = st.builds(
    PlayerSpec, NAMES, ENGINES | SEARCHES.map(SearchSpec.from_text), st.none() | CLOCKS
)


@given(PLAYERS)
def test_a_player_is_what_its_text_says(player: PlayerSpec) -> None:
    again = PlayerSpec.from_text(player.text)
    assert again == player
    assert PlayerSpec.from_text(f"  {player.text}  ") == player
    assert pickle.loads(pickle.dumps(player)) == player
    assert player.title


@given(PLAYERS, CLOCKS)
def test_a_common_clock_is_for_players_without_one(player: PlayerSpec, clock: TimeControl) -> None:
    again = PlayerSpec.from_text(player.text, clock)
    if player.clock is not None or player.text.endswith("@"):
        assert again.clock == player.clock
    else:
        assert again.clock == clock


@pytest.mark.parametrize(
    ("text", "title", "rest", "clock"),
    [
        ("random", "Random", "random", None),
        ("uct:playouts=500", "UCT, 500 playouts", "uct:playouts=500", None),
        ("new=uct:playouts=500@60+0.6", "new", "uct:playouts=500", "60+0.6"),
        (" new = ab:depth=3 @ 5", None, None, None),
        ("uci:nodes=1:stockfish@40/60", "stockfish, 1 node", "uci:nodes=1:stockfish", "40/60"),
        ("gtp:ssh me@10.0.0.1@", "ssh", "gtp:ssh me@10.0.0.1", None),
        ("gtp:ssh me@host gnugo", "ssh", "gtp:ssh me@host gnugo", None),
        (r"a\=b\:c\@d=random", "a=b:c@d", "random", None),
        ("GNU Go 10=gtp:gnugo --level 10", "GNU Go 10", "gtp:gnugo --level 10", None),
        ("uci:name=fish:stockfish", "fish", "uci:name=fish:stockfish", None),
    ],
)
def test_players_are_read_as_they_are_meant(
    text: str, title: str | None, rest: str | None, clock: str | None
) -> None:
    if title is None:
        with pytest.raises(NotationError):
            PlayerSpec.from_text(text)
        return
    player = PlayerSpec.from_text(text)
    assert (player.title, player.spec.text) == (title, rest)
    assert (player.clock.text if player.clock else None) == clock


@pytest.mark.parametrize(
    "text", ["", "x", "=random", "name=", "a=b=random", "uct:x=1", "random@1x"]
)
def test_invalid_players_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        PlayerSpec.from_text(text)


@given(st.lists(st.sampled_from(["a", "b", "a 2", "a 3", "b 2"]), min_size=2, max_size=6))
def test_players_are_called_differently_or_refused(names: list[str]) -> None:
    players = [PlayerSpec(name, SearchSpec.from_text("random")) for name in names]
    try:
        apart = named_apart(players)
    except NotationError:
        assert len(set(names)) < len(names)
        return
    assert len({player.stored_name for player in apart}) == len(names)
    assert len({player.title for player in apart}) == len(names)
    assert [player.spec for player in apart] == [player.spec for player in players]
    if len(set(names)) == len(names):
        assert apart == players


def test_threads_are_those_of_the_text() -> None:
    texts = ["random", "uct:threads=4", "uci:Threads=8:x", "uci:threads=3:x", "uci:Threads=x:x"]
    assert [PlayerSpec.from_text(text).agent.threads for text in texts] == [1, 4, 8, 3, 1]


# Clocks.


@given(CLOCKS)
def test_a_time_control_is_what_its_text_says(control: TimeControl) -> None:
    assert TimeControl.from_text(control.text) == control


@pytest.mark.parametrize("text", ["0.00001", "1234567.125", "0b0.5", "1/9999999"])
def test_small_and_large_times_keep_their_texts(text: str) -> None:
    assert TimeControl.from_text(text).text == text


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "0", "0+5", "1e3", "5+", "5b", "/5", "0/5", "1+2+3", "5b5+1", "inf"]
)
def test_invalid_time_controls_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        TimeControl.from_text(text)


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, 1e7])
def test_a_clock_has_some_time_and_no_endless_one(seconds: float) -> None:
    with pytest.raises(NotationError):
        TimeControl(main_s=seconds)


@given(CLOCKS, st.lists(st.floats(0, 1e4), max_size=30), st.floats(0, 10))
def test_a_clock_is_never_below_nothing_and_falls_when_more_was_spent(
    control: TimeControl, spent: list[float], margin_s: float
) -> None:
    clock = control.start()
    assert (clock.main_s, clock.moves_to_go) == (control.main_s, control.moves)
    for moves, seconds in enumerate(spent, 1):
        after = control.after(clock, seconds, margin_s)
        too_late = seconds > clock.main_s + clock.period_s + margin_s
        assert (after is None) == too_late
        if after is None:
            return
        assert after.main_s >= 0
        assert (after.period_s, after.increment_s) == (control.period_s, control.increment_s)
        most = clock.main_s + control.increment_s
        if control.moves is not None:
            assert after.moves_to_go == control.moves - moves % control.moves
            most += control.main_s if moves % control.moves == 0 else 0.0
        assert after.main_s <= most
        clock = after


def test_increments_sessions_and_byo_yomi_come_as_they_should() -> None:
    fischer = TimeControl.from_text("10+2")
    after = fischer.after(fischer.start(), 4, 0)
    assert after is not None
    assert after.main_s == 8
    session = TimeControl.from_text("2/10")
    once = session.after(session.start(), 3, 0)
    assert once is not None
    assert (once.main_s, once.moves_to_go) == (7, 1)
    twice = session.after(once, 3, 0)
    assert twice is not None
    assert (twice.main_s, twice.moves_to_go) == (14, 2)
    japanese = TimeControl.from_text("1b5")
    late = japanese.after(japanese.start(), 6, 0)
    assert late is not None
    assert (late.main_s, late.period_s) == (0, 5)
    assert japanese.after(late, 5, 0) == late
    assert japanese.after(late, 5.1, 0) is None
    assert japanese.after(late, 5.1, 0.2) == late


# Which game is whose.


@st.composite
def plans(draw: st.DrawFn) -> MatchPlan:
    count = draw(st.integers(2, 6))
    players = tuple(PlayerSpec(f"p{n}", SearchSpec.from_text("random")) for n in range(count))
    openings = [Opening(f"o{n}") for n in range(draw(st.integers(1, 7)))]
    form = draw(st.sampled_from(["round-robin", "gauntlet"]))
    return MatchPlan(MatchRules("go5"), players, openings, form, draw(st.integers(0, 5)))


@given(plans(), st.integers(1, 40))
def test_every_duel_gets_its_games_in_both_orders_from_the_same_openings(
    plan: MatchPlan, games: int
) -> None:
    total = plan.total(games)
    pairings = [plan.pairing(number) for number in range(total)]
    each = total // len(plan.duels)
    assert each in (games, games + 1)
    assert each % 2 == 0
    assert [pairing.number for pairing in pairings] == list(range(total))
    orders = collections.Counter((pairing.first, pairing.second) for pairing in pairings)
    assert orders == {
        order: each // 2 for one, other in plan.duels for order in ((one, other), (other, one))
    }
    players = range(len(plan.players))
    if plan.format == "gauntlet":
        assert plan.duels == [(0, other) for other in players[1:]]
    else:
        assert plan.duels == list(itertools.combinations(players, 2))
    by_pair = collections.defaultdict(list)
    for pairing in pairings:
        by_pair[pairing.pair_id].append(pairing)
    used = collections.defaultdict(list)
    for one, other in by_pair.values():
        assert (one.first, one.second) == (other.second, other.first)
        assert one.opening_id == other.opening_id
        used[one.first, one.second].append(one.opening_id)
    # All duels play the same openings, and none twice before all were played.
    assert len(set(map(tuple, used.values()))) == 1
    for openings in used.values():
        assert openings == [turn % len(plan.openings) for turn in range(each // 2)]


@given(plans(), st.integers(0, 500))
def test_a_game_is_the_same_however_many_there_will_be(plan: MatchPlan, number: int) -> None:
    again = MatchPlan(plan.rules, plan.players, plan.openings, plan.format, plan.seed)
    assert plan.pairing(number) == again.pairing(number)
    assert plan.id == again.id
    assert plan.description() == again.description()


@given(plans())
def test_chance_differs_by_game_and_player(plan: MatchPlan) -> None:
    pairings = [plan.pairing(number) for number in range(plan.total(4))]
    seeds = [
        plan.seed_of(pairing, player)
        for pairing in pairings
        for player in (pairing.first, pairing.second)
    ]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_seed_of_the_players_own_is_heeded() -> None:
    plans = [plan_match("a=random", f"b=uct:seed={seed}", openings="start") for seed in (1, 2)]
    one, other = ([plan.seed_of(plan.pairing(0), player) for player in (0, 1)] for plan in plans)
    assert one[0] == other[0]
    assert one[1] != other[1]


def test_a_plans_name_is_readable_and_tells_plans_apart() -> None:
    base: dict[str, Any] = {"game": "go5", "openings": "start"}
    changed: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"komi": 0.5},
        {"max_plies": 9},
        {"margin_s": 1},
        {"openings": "random:1"},
        {"format": "gauntlet"},
        {"adjudicate": ["win=0.9,3"]},
        {"clock": "10"},
        {"game": "go4"},
    ]
    ids = [plan_match("uct", "random", **base | change).id for change in changed]
    ids.append(plan_match("random", "uct", **base).id)
    assert len(set(ids)) == len(ids)
    assert ids[0] == plan_match("uct", "random", **base).id
    assert ids[0].startswith("go5-uct-v-random-")
    many = plan_match("a=random", "Bö!=random", "c=random", **base)
    assert many.id.startswith("go5-a-v-b-and-1-")


def test_invalid_matches_are_refused() -> None:
    wrong: list[tuple[list[str], dict[str, Any], str]] = [
        (["random"], {}, "two players at least"),
        (["random", "random"], {"format": "swiss"}, "round-robin, gauntlet"),
        (["random", "random"], {"game": "chess", "handicap": 2}, "for Go"),
        (["random", "random"], {"game": "go5", "handicap": 2}, "no fixed handicap"),
        (["random", "random"], {"game": "nonsense"}, "no game 'nonsense'"),
        (["random", "random"], {"max_plies": 0}, "a ply at least"),
        (["random", "random"], {"margin_s": -1}, "margin"),
        (["random", "random"], {"komi": math.nan}, "komi"),
        (["random", "random"], {"openings": []}, "at least one opening"),
        (["random", "random"], {"game": "othello", "adjudicate": ["exact=mate"]}, "mates"),
        (["uci:a", "usi:b"], {}, "choose agents of one game"),
    ]
    for players, choices, message in wrong:
        with pytest.raises(hk.Error, match=message):
            plan_match(*players, **{"openings": "start", **choices})


def test_the_game_is_the_engines_own() -> None:
    games = {
        plan_match("random", text, openings="start").rules.game: text
        for text in ("uci:x", "usi:x", "gtp:x", "uct")
    }
    assert games == {"chess": "uci:x", "shogi": "usi:x", "go9": "uct"}
    assert plan_match("random", "random", game="reversi", openings="start").rules.game == "othello"


# Openings.


def test_the_usual_start_is_an_opening_without_moves() -> None:
    assert read_openings("start", "chess") == [Opening("start")]


@pytest.mark.parametrize("game", GAMES)
def test_random_openings_differ_from_each_other_and_none_is_over(game: str) -> None:
    found = read_openings("random", game, seed=5)
    assert len(found) > 1000
    assert len({opening.moves for opening in found}) == len(found)
    assert len({len(opening.moves) for opening in found}) == 1
    for opening in found[:50]:
        assert opening.line(game, 7.5).outcome is None
    assert found == read_openings(None, game, seed=5)
    assert found != read_openings("random", game, seed=6)
    assert digest(found) == digest(read_openings("random", game, seed=5))


@given(st.integers(0, 3), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_few_random_plies_give_all_there_are(plies: int, seed: int) -> None:
    found = read_openings(f"random:{plies}", "othello", seed=seed)
    counts = {0: 1, 1: 4, 2: 12, 3: 56}
    assert len(found) <= counts[plies]
    assert len(found) >= counts[plies] - counts[plies] // 10
    assert all(len(opening.moves) == plies for opening in found)


@pytest.mark.parametrize("text", ["random:", "random:x", "random:-1", "random:1001"])
def test_a_number_of_plies_is_one(text: str) -> None:
    if text == "random:":
        assert read_openings(text, "go5")
        return
    with pytest.raises(NotationError, match="number of plies"):
        read_openings(text, "go5")


PGN = "\n\n".join(
    f'[Event "x"]\n[Opening "{name}"]\n\n{moves} *'
    for name, moves in (
        ("Spanish", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6"),
        ("Spanish too", "1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6"),
        ("mated", "1. f3 e5 2. g4 Qh4#"),
    )
)


def test_the_beginnings_of_records_are_openings_each_once(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(PGN + "\n", encoding="utf-8")
    whole = read_openings(str(file), "chess")
    assert {opening.name for opening in whole} == {"Spanish", "Spanish too"}
    assert {len(opening.moves) for opening in whole} == {6}
    four = read_openings(f"{file}:4", "chess")
    moves = {opening.moves for opening in four}
    assert moves == {("e2e4", "e7e5", "g1f3", "b8c6")}
    # The order is the seed's, the openings are not.
    orders = [tuple(read_openings(str(file), "chess", seed=seed)) for seed in range(8)]
    assert len(set(orders)) == 2
    assert len({frozenset(order) for order in orders}) == 1
    compressed = tmp_path / "games.pgn.gz"
    compressed.write_bytes(gzip.compress(file.read_bytes()))
    assert {each.moves for each in read_openings(f"{compressed}:4", "chess")} == moves


def test_records_of_go_are_openings_too(tmp_path: Path) -> None:
    file = tmp_path / "games.sgf"
    file.write_text("(;GM[1]SZ[9];B[ee];W[gc];B[cc])(;GM[1]SZ[19];B[dd])", encoding="utf-8")
    [opening] = read_openings(str(file), "go9")
    assert opening.moves == ("E5", "G7", "C7")
    [short] = read_openings(f"{file}:1", "go9")
    assert short.moves == ("E5",)
    assert [each.moves for each in read_openings(str(file), "go19")] == [("D16",)]


def test_positions_are_openings(tmp_path: Path) -> None:
    file = tmp_path / "positions.epd"
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq -"
    lines = [f'6k1/5ppp/8/8/8/8/8/R5K1 w - - id "one"; bm Ra8;\n{mated} id "over";']
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    [opening] = read_openings(str(file), "chess")
    assert (opening.name, opening.moves) == ("one", ())
    assert opening.line("chess", 0).position.text.startswith("6k1/5ppp/8/8/8/8/8/R5K1 w")


def test_lines_of_moves_are_openings_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "lines.sfen"
    file.write_text("startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d 2f2e\n", encoding="utf-8")
    found = read_openings(str(file), "shogi")
    assert {opening.moves for opening in found} == {("7g7f", "3c3d"), ("2g2f", "8c8d", "2f2e")}
    assert {each.moves for each in read_openings(f"{file}:1", "shogi")} == {("7g7f",), ("2g2f",)}
    compressed = tmp_path / "lines.sfen.gz"
    compressed.write_bytes(gzip.compress(file.read_bytes()))
    assert {opening.moves for opening in read_openings(str(compressed), "shogi")} == {
        opening.moves for opening in found
    }


def test_files_with_nothing_for_the_game_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(PGN + "\n", encoding="utf-8")
    with pytest.raises(SourceError, match="no openings for go9"):
        read_openings(str(file), "go9")
    empty = tmp_path / "empty.pgn"
    empty.touch()
    with pytest.raises(SourceError, match="no openings for chess"):
        read_openings(str(empty), "chess")
    nonsense = tmp_path / "nonsense.txt"
    nonsense.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(SourceError, match="chess"):
        read_openings(str(nonsense), "chess")
    with pytest.raises(SourceError, match="no such file"):
        read_openings(str(tmp_path / "none.pgn"), "chess")
    with pytest.raises(SourceError, match="no such file"):
        read_openings(f"{tmp_path / 'none.pgn'}:8", "chess")


def test_a_file_may_be_called_like_one_with_plies(tmp_path: Path) -> None:
    file = tmp_path / "games:4"
    file.write_text(PGN + "\n", encoding="utf-8")
    assert {len(opening.moves) for opening in read_openings(str(file), "chess")} == {6}
    assert {len(opening.moves) for opening in read_openings(f"{file}:2", "chess")} == {2}


def test_openings_given_as_values_are_taken_as_they_are() -> None:
    given_openings = [Opening("start"), Opening("e4", "", ("e2e4",))]
    assert openings_of(given_openings, "chess", seed=3) == given_openings
    with pytest.raises(NotationError):
        openings_of([], "chess", seed=0)


@pytest.mark.parametrize(
    ("name", "count", "plies"),
    [("shogi/taya36.sfen.gz", 1_957, 36), ("shogi/floodgate_openings.sfen.gz", 10_831, 24)],
)
def test_books_of_shogi_are_openings(
    shared_data: Callable[[str], Path], name: str, count: int, plies: int
) -> None:
    found = read_openings(str(shared_data(name)), "shogi")
    assert count * 0.98 < len(found) <= count
    assert {len(opening.moves) for opening in found} == {plies}


def test_win_at_chess_is_full_of_openings(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(shared_data("chess/epd_suites.zip")) as archive:
        archive.extract("wac.epd", tmp_path)
    found = read_openings(str(tmp_path / "wac.epd"), "chess")
    assert len(found) == 150
    assert all(opening.start and not opening.moves for opening in found)
    assert "WAC.004" in {opening.name for opening in found}


# Early ends.

AMOUNTS = st.integers(1, 10**7).map(lambda thousandths: thousandths / 1000)
ADJUDICATORS = (
    st.builds(WinByScore, AMOUNTS, st.integers(1, 9999))
    | st.builds(Resign, AMOUNTS, st.integers(1, 9999))
    | st.builds(DrawByScore, AMOUNTS, st.integers(1, 9999), st.integers(0, 9999))
    | st.builds(Exact, st.sampled_from(["rules", "mate", "ending"]))
)


@given(ADJUDICATORS)
def test_an_adjudicator_is_what_its_text_says(adjudicator: Any) -> None:
    assert adjudicator_of(adjudicator.text) == adjudicator


def test_what_is_left_out_of_an_adjudication_is_usual() -> None:
    assert adjudicator_of("win=600") == WinByScore(600.0, 3)
    assert adjudicator_of("draw=10") == DrawByScore(10.0, 8, 80)
    assert adjudicator_of("resign=0.95") == Resign(0.95, 3)


@pytest.mark.parametrize(
    "text",
    ["", "win", "win=", "win=x", "win=-5", "win=5,0", "win=5,3,80", "draw=5,0", "exact=", "lose=5"],
)
def test_invalid_adjudications_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        adjudicator_of(text)


def said(*numbers: float, kind: str = "score") -> list[Remark]:
    if kind == "value":
        return [Remark(ply, value=number) for ply, number in enumerate(numbers, 1)]
    return [Remark(ply, score=number) for ply, number in enumerate(numbers, 1)]


def line_of(plies: int) -> Any:
    line = hk.Chess().line()
    for ply in range(plies):
        line = line.play(("g1f3", "g8f6", "f3g1", "f6g8")[ply % 4])
    return line


@pytest.mark.parametrize(
    ("remarks", "result"),
    [
        (said(600, 600, 600, 600), 1.0),
        (said(-600, -700, -600, -9000), 0.0),
        (said(0, 0, 600, 600, 600, 600), 1.0),
        (said(600, 600, 600), None),
        (said(600, 600, 599, 600), None),
        (said(600, -600, 600, -600), None),
        (said(600, 600, 600, 600, 0), None),
        ([*said(600, 600, 600), Remark(4, mate=3)], 1.0),
        ([*said(600, 600, 600), Remark(4, mate=-3)], None),
        ([Remark(ply, mate=-ply) for ply in range(1, 5)], 0.0),
        ([*said(600, 600, 600), Remark(4)], None),
        (said(0.99, 0.99, 0.99, 0.99, kind="value"), None),
        ([], None),
    ],
)
def test_a_win_is_one_when_both_have_agreed_long_enough(
    remarks: list[Remark], result: float | None
) -> None:
    judged = adjudicator_of("win=600,2").judge(line_of(len(remarks)), remarks)
    assert judged == (None if result is None else (result, "adjudicated by score"))


def test_a_score_of_at_most_one_is_a_value() -> None:
    rule = adjudicator_of("win=0.95,1")
    assert rule.judge(line_of(2), said(0.95, 0.99, kind="value")) == (1.0, "adjudicated by score")
    assert rule.judge(line_of(2), said(0.05, 0.0, kind="value")) == (0.0, "adjudicated by score")
    assert rule.judge(line_of(2), said(0.95, 0.94, kind="value")) is None
    assert rule.judge(line_of(2), said(9000, 9000)) is None
    level = adjudicator_of("draw=0.1,1,0")
    assert level.judge(line_of(2), said(0.45, 0.6, kind="value")) == (0.5, "adjudicated as a draw")
    assert level.judge(line_of(2), said(0.45, 0.7, kind="value")) is None


@pytest.mark.parametrize(
    ("remarks", "plies", "drawn"),
    [
        (said(5, -5, 0, 10), 4, True),
        (said(5, -5, 0, 10), 3, False),
        (said(5, -5, 0, 11), 4, False),
        (said(0, 0, 0), 4, False),
        ([*said(0, 0, 0), Remark(4, mate=5)], 4, False),
        ([*said(0, 0, 0), Remark(4)], 4, False),
    ],
)
def test_a_draw_is_one_late_enough_and_level_long_enough(
    remarks: list[Remark], plies: int, drawn: bool
) -> None:
    judged = adjudicator_of("draw=10,2,4").judge(line_of(plies), remarks)
    assert judged == ((0.5, "adjudicated as a draw") if drawn else None)


@pytest.mark.parametrize(
    ("numbers", "result"),
    [
        ((0, -600, 0, -600), None),  # Black is content
        ((0, 600, 0, 600), 1.0),
        ((-600, 0, -600), 0.0),
        ((-600, -600, -600, -600), None),
        ((-600, 0, 0), None),
        ((600, 0, 600), None),
    ],
)
def test_a_player_resigns_by_its_own_word_alone(
    numbers: tuple[float, ...], result: float | None
) -> None:
    rule = adjudicator_of("resign=500,2")
    judged = rule.judge(line_of(len(numbers)), said(*numbers))
    assert judged == (None if result is None else (result, "resigned"))
    # After a forced pass, the last word is not that of the side that passed.
    assert rule.judge(line_of(len(numbers) + 1), said(*numbers)) is None


def test_exact_methods_end_a_game_that_they_know() -> None:
    mate = adjudicator_of("exact=mate")
    white, black = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1"
    for text, result in ((white, 1.0), (black, 0.0)):
        line = hk.position("chess", text).line()
        assert mate.judge(line, []) == (result, "adjudicated by mate")
    assert mate.judge(hk.Chess().line(), []) is None
    ending = adjudicator_of("exact=ending")
    assert ending.judge(hk.Othello().line(), []) is None
    text = f"{'X' * 60}OO-- X"
    judged = ending.judge(hk.position("othello", text).line(), [])
    assert judged == (1.0, "adjudicated by ending")
    with pytest.raises(NotationError, match="is for othello, not for chess"):
        ending.judge(hk.Chess().line(), [])


def test_one_player_who_moves_alone_does_not_speak_for_both() -> None:
    line = hk.Othello().line()
    alone = [Remark(ply, 0.99) for ply in range(1, 12, 2)]
    level = [Remark(ply, 0.5) for ply in range(1, 12, 2)]
    assert adjudicator_of("win=0.9,3").judge(line, alone) is None
    assert adjudicator_of("draw=0.1,3,0").judge(line, level) is None
    both = [*alone, *(Remark(ply, 0.99) for ply in (12, 14, 16))]
    assert adjudicator_of("win=0.9,3").judge(line, both) == (1.0, "adjudicated by score")


# Ablations.


@given(
    st.lists(st.sampled_from(["rave", "killer", "history", "widening"]), min_size=1, unique=True),
    st.sampled_from(["added", "removed", "ladder"]),
)
@settings(max_examples=30, deadline=None)
def test_the_two_sides_of_a_contest_differ_by_its_switch_alone(
    switches: list[str], how: str
) -> None:
    found = contests(SearchSpec.from_text("uct"), switches, [("playouts", 100), ("time", 0.1)], how)
    assert [(contest.switch, contest.limit) for contest in found] == [
        (switch, limit) for limit in ("playouts=100", "time=0.1") for switch in switches
    ]
    for contest in found:
        name = contest.switch
        differing = {
            key
            for key in {**dict(contest.with_it.chosen), **dict(contest.without.chosen)}
            if contest.with_it[key] != contest.without[key]
        }
        assert differing == {name}
        assert contest.players[0].title == f"with {name}"
    if how == "ladder":
        for before, after in itertools.pairwise(found[: len(switches)]):
            assert after.without == before.with_it
