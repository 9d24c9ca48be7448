# SPDX-License-Identifier: Apache-2.0
"""Positions on a GTP engine's board, and evaluations by its profile."""

import asyncio
from pathlib import Path

import pytest

import hyoka as hk
from engines import fake
from hyoka.engines import EnginePosition, EngineSpec, Limits, start_engine
from hyoka.engines.client.gtp import GtpEngine
from hyoka.engines.profiles import bundled_profiles, choose_profile, read_profiles
from hyoka.foundation.errors import EngineError, NotationError, SourceError
from hyoka.games.evaluation import Evaluation
from hyoka.storage.model_file import read_model_file

BLACK = EnginePosition("go9")
WHITE = EnginePosition("go9", moves=["E5"])


def evaluated(
    spec: str, *positions: EnginePosition, limits: Limits | None = None
) -> list[Evaluation]:
    async def run() -> list[Evaluation]:
        engine = await start_engine(spec)
        try:
            return [await engine.evaluate(position, limits) for position in positions]
        finally:
            await engine.close()

    return asyncio.run(run())


def heard_by(tmp_path: Path, *words: str, positions: list[EnginePosition]) -> list[str]:
    """What an engine hears between the handshake and the farewell."""
    log = tmp_path / "heard"
    log.unlink(missing_ok=True)
    evaluated(fake("gtp", f"log={log}", *words), *positions)
    return log.read_text().splitlines()[3:-1]


# Positions


def test_a_position_that_extends_the_last_costs_only_its_new_moves(tmp_path: Path) -> None:
    moves = ["E5", "C3", "G7", "pass", "C7"]
    positions = [EnginePosition("go9", moves=moves[:n]) for n in (1, 2, 2, 5)]
    assert heard_by(tmp_path, positions=positions) == [
        "boardsize 9",
        "clear_board",
        "komi 7.5",
        "play b E5",
        "reg_genmove w",
        "play w C3",
        "reg_genmove b",
        "reg_genmove b",
        "play b G7",
        "play w pass",
        "play b C7",
        "reg_genmove w",
    ]


@pytest.mark.parametrize(
    "other",
    [
        EnginePosition("go9", moves=["C3"]),
        EnginePosition("go9", moves=[]),
        EnginePosition("go9", moves=["E5", "C3"], komi=0.5),
        EnginePosition("go13", moves=["E5", "C3"]),
        EnginePosition("go9", start="9/9/9/9/9/9/9/9/9 b - 0 7.5", moves=["E5", "C3"]),
    ],
)
def test_any_other_position_is_set_up_from_the_start(tmp_path: Path, other: EnginePosition) -> None:
    heard = heard_by(tmp_path, positions=[WHITE, other])
    assert heard.count("clear_board") == 2
    assert [line for line in heard if line.startswith("play")][1:] == [
        f"play {color} {move}" for color, move in zip("bw", other.moves, strict=False)
    ]


def test_stones_and_komi_of_a_set_up_position_are_sent(tmp_path: Path) -> None:
    text = "X7O/9/9/9/4X4/9/9/9/O8 w - 0 0.5"
    heard = heard_by(tmp_path, positions=[EnginePosition("go9", start=text, moves=["D4", "F6"])])
    assert heard == [
        "boardsize 9",
        "clear_board",
        "komi 0.5",
        "play b A9",
        "play b E5",
        "play w J9",
        "play w A1",
        "play w D4",
        "play b F6",
        "reg_genmove w",
    ]


def test_sizes_komi_and_handicaps_are_those_of_the_position(tmp_path: Path) -> None:
    start = hk.Go19(komi=0.5, handicap=2)
    heard = heard_by(tmp_path, positions=[EnginePosition("go", start=start.text)])
    assert heard[:3] == ["boardsize 19", "clear_board", "komi 0.5"]
    assert sorted(heard[3:5]) == ["play b D4", "play b Q16"]
    assert heard[5] == "reg_genmove w"


def test_a_refused_move_is_a_refused_position_and_no_more() -> None:
    async def run() -> EngineError:
        engine = await start_engine(fake("gtp", "refuse=play w C3"))
        assert (await engine.evaluate(WHITE)).best == "A1"
        with pytest.raises(EngineError) as refused:
            await engine.evaluate(EnginePosition("go9", moves=["E5", "C3", "C7"]))
        assert engine.alive
        assert (await engine.evaluate(EnginePosition("go9", moves=["E5", "D3"]))).best == "A1"
        await engine.close()
        return refused.value

    error = asyncio.run(run())
    assert error.reason == "refused"
    assert "refuses 'play w C3': cannot do that" in str(error)


def test_a_refused_board_is_a_refused_position() -> None:
    with pytest.raises(EngineError, match="refuses 'boardsize 9'") as refused:
        evaluated(fake("gtp", "refuse=boardsize 9"), BLACK)
    assert refused.value.reason == "refused"


def test_othello_and_blokus_are_played_from_the_start(tmp_path: Path) -> None:
    othello = EnginePosition("othello", moves=["d3", "c3"])
    words = ["knows=set_game", "answer:reg_genmove=C4"]
    assert heard_by(tmp_path, *words, positions=[othello]) == [
        "set_game Othello",
        "boardsize 8",
        "clear_board",
        "play b d3",
        "play w c3",
        "reg_genmove b",
    ]
    move = "e8,d9,e9,f9,e10"
    blokus = EnginePosition("blokus_duo", moves=[move])
    words = ["knows=set_game", "answer:reg_genmove=j4,i5,j5,k5,j6"]
    assert heard_by(tmp_path, *words, positions=[blokus]) == [
        "set_game Blokus Duo",
        "clear_board",
        f"play b {move}",
        "reg_genmove w",
    ]
    with pytest.raises(EngineError, match="cannot set up a position of othello"):
        evaluated(fake("gtp"), EnginePosition("othello", start=hk.Othello().text))
    with pytest.raises(EngineError, match="not chess"):
        evaluated(fake("gtp"), EnginePosition("chess"))


WITH_A_PASS = [
    *("e6", "f6", "f5", "f4", "g7", "f7", "g5", "e7", "e3", "e2", "f3", "d6", "c7", "f2", "c3"),
    *("h8", "f8", "e8", "g2", "b2", "g3", "h5", "d3", "h4", "h6", "c5", "d2", "g4", "b3", "e1"),
    *("a1", "h2", "d8", "b8", "g1", "d1", "c4", "c2", "b4", "h7", "c1", "c6", "f1", "a2", "b5"),
    *("a4", "g6", "h3", "b1", "b6", "c8", "b7", "a8", "d7", "g8", "a7", "a6", "a5", "h1", "pass"),
]


def test_passes_are_left_out_for_engines_that_make_them_themselves(tmp_path: Path) -> None:
    position = EnginePosition("othello", moves=WITH_A_PASS)
    words = ["answer:reg_genmove=a3"]
    heard = heard_by(tmp_path, "name=GTP GRhino", *words, positions=[position])
    assert heard[-2:] == ["play b h1", "reg_genmove b"]
    heard = heard_by(tmp_path, *words, positions=[position])
    assert heard[-3:] == ["play b h1", "play w pass", "reg_genmove b"]


def test_the_board_is_left_as_it_was(tmp_path: Path) -> None:
    positions = [WHITE, EnginePosition("go9", moves=["E5", "C3"])]
    heard = heard_by(tmp_path, "lacks=reg_genmove", positions=positions)
    assert heard[3:] == ["play b E5", "genmove w", "undo", "play w C3", "genmove b", "undo"]
    heard = heard_by(tmp_path, "lacks=reg_genmove", "lacks=undo", positions=positions)
    assert heard.count("clear_board") == 2
    # Nothing was played, so that there is nothing to take back.
    heard = heard_by(
        tmp_path, "lacks=reg_genmove", "answer:genmove=resign", positions=positions[:1]
    )
    assert heard[-1] == "genmove w"


def test_moves_are_written_our_way_and_checked() -> None:
    assert evaluated(fake("gtp", "answer:reg_genmove=c3"), BLACK)[0].best == "C3"
    assert evaluated(fake("gtp", "answer:reg_genmove=PASS"), BLACK)[0].best == "pass"
    assert evaluated(fake("gtp", "answer:reg_genmove=Resign"), BLACK)[0].best == "resign"
    with pytest.raises(EngineError, match="'Z99', no move") as refused:
        evaluated(fake("gtp", "answer:reg_genmove=Z99"), BLACK)
    assert refused.value.reason == "unplayable"
    with pytest.raises(EngineError, match="illegal move a1"):
        evaluated(fake("gtp", "answer:reg_genmove=a1"), EnginePosition("othello"))


@pytest.mark.parametrize("game", ["go9", "othello", "blokus_duo"])
def test_an_answer_without_a_move_is_nonsense_and_no_pass(game: str) -> None:
    position = EnginePosition(game)

    async def run() -> list[str]:
        reasons = []
        for ask in ("evaluate", "best_move", "play"):
            words = ["knows=set_game", "answer:genmove=", "answer:reg_genmove="]
            engine = await start_engine(fake("gtp", *words))
            with pytest.raises(EngineError, match="answers without a move") as failed:
                await getattr(engine, ask)(position)
            reasons.append(failed.value.reason)
            engine.kill()
        return reasons

    assert asyncio.run(run()) == ["nonsense"] * 3


def test_best_moves_are_asked_for_whatever_the_profile() -> None:
    async def run() -> str | None:
        engine = await start_engine(fake("gtp", "name=GNU Go", "answer:reg_genmove=G3"))
        try:
            return await engine.best_move(WHITE)
        finally:
            await engine.close()

    assert asyncio.run(run()) == "G3"


def test_talk_between_the_answers_is_not_heard() -> None:
    assert evaluated(fake("gtp", "chatty"), BLACK, WHITE)[1].best == "A1"


def test_a_finished_game_is_known_except_in_go() -> None:
    passed = EnginePosition("go9", moves=["E5", "pass", "pass"])
    [found] = evaluated(
        fake("gtp", "name=GNU Go", "knows=estimate_score", "answer:estimate_score=B+73.5"), passed
    )
    assert found.score == 73.5
    [found] = evaluated(fake("gtp"), EnginePosition("othello", moves=[*WITH_A_PASS, "a3"]))
    assert (found.value, found.score, found.unit, found.best) == (1.0, 20.0, "points", None)


# Profiles: what each engine's manual shows


def test_gnu_go_estimates_points() -> None:
    words = ["name=GNU Go", "knows=estimate_score"]
    text = "answer:estimate_score=W+5.5 (upper bound: 7.5, lower: 3.5)"
    black, white = evaluated(fake("gtp", *words, text), BLACK, WHITE)
    assert (black.score, white.score, black.unit) == (-5.5, -5.5, "points")
    assert (black.value, black.best) == (None, None)
    text = "answer:estimate_score=B+12.0 (upper bound: -12.0, lower: -12.0)"
    assert evaluated(fake("gtp", *words, text), WHITE)[0].score == 12.0


def test_fuego_gives_blacks_value() -> None:
    words = ["name=Fuego", "knows=uct_value_black", "answer:uct_value_black=0.61"]
    for found in evaluated(fake("gtp", *words, "answer:reg_genmove=D4"), BLACK, WHITE):
        assert (found.value, found.best, found.score) == (0.61, "D4", None)


def test_fuego_forgets_its_book_and_takes_playouts_and_options(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    words = ["name=Fuego", "knows=uct_value_black", "answer:uct_value_black=0.5", f"log={log}"]
    words += ["knows=book_clear", "knows=uct_param_player"]
    evaluated(fake("gtp", *words, settings="playouts=100,Ponder=0"), BLACK)
    assert log.read_text().splitlines()[3:6] == [
        "book_clear",
        "uct_param_player Ponder 0",
        "uct_param_player max_games 100",
    ]


KATAGO = (
    "\\ninfo move E5 visits 10 utility -0.1 winrate 0.9 scoreLead 9 order 0 pv E5 "
    "rootInfo visits 11 utility -0.1 winrate 0.9 scoreMean 9 scoreLead 9 weight 2"
    "\\ninfo move D4 visits 487 utility -0.0408357 winrate 0.480018 scoreMean -0.611848 "
    "scoreStdev 24.7058 scoreLead -0.611848 scoreSelfplay -0.515178 prior 0.221121 lcb 0.477221 "
    "utilityLcb -0.0486664 weight 7 order 0 pv D4 E3 F3 rootInfo visits 500 utility -0.05 "
    "winrate 0.47 scoreMean -0.5 scoreStdev 24 scoreLead -0.55 scoreSelfplay -0.5 weight 12"
    "\\nplay D4"
)


def test_katago_gives_the_movers_value_and_points(tmp_path: Path) -> None:
    words = ["name=KataGo", "knows=kata-search_analyze", f"answer:kata-search_analyze={KATAGO}"]
    black, white = evaluated(fake("gtp", *words), BLACK, WHITE)
    assert (black.value, black.score, black.unit) == (0.47, -0.55, "points")
    assert (black.nodes, black.best) == (500, "D4")
    assert white.value == pytest.approx(0.53)
    assert white.score == 0.55
    log = tmp_path / "heard"
    words += ["knows=kata-set-param", f"log={log}"]
    evaluated(fake("gtp", *words, settings="nodes=50,time=0.5,numSearchThreads=1"), WHITE)
    heard = log.read_text().splitlines()
    assert heard[3:6] == [
        "kata-set-param numSearchThreads 1",
        "kata-set-param maxTime 0.5",
        "kata-set-param maxVisits 50",
    ]
    assert "undo" not in heard
    assert heard[-2].startswith("kata-search_analyze w ")


def test_leela_zero_gives_the_movers_ten_thousandths(tmp_path: Path) -> None:
    text = (
        "\\ninfo move Q16 visits 8 winrate 1000 prior 839 lcb 4640 order 0 pv Q16"
        "\\ninfo move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16 "
        "info move Q4 visits 10 winrate 9999 prior 1 lcb 1 order 1 pv Q4\\nplay D4"
    )
    log = tmp_path / "heard"
    words = ["name=Leela Zero", "knows=lz-genmove_analyze", f"answer:lz-genmove_analyze={text}"]
    black, white = evaluated(fake("gtp", *words, f"log={log}"), BLACK, WHITE)
    assert (black.value, black.best, black.nodes) == (0.4656, "D4", 836)
    assert white.value == pytest.approx(0.5344)
    heard = log.read_text().splitlines()
    assert heard[-5:-1] == [
        "undo",
        "play b E5",
        "lz-genmove_analyze w 10000",
        "undo",
    ]


def test_leela_zeros_value_is_that_of_the_move_it_plays() -> None:
    listed = (
        "info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 C3 "
        "info move J1 visits 5 winrate 7777 prior 1 lcb 1 order 1 pv J1 "
        "info move C3 visits 90 winrate 5100 prior 1 lcb 1 order 2 pv C3"
    )
    values = []
    for played in ("C3", "resign"):
        words = [
            "name=Leela Zero",
            "knows=lz-genmove_analyze",
            f"answer:lz-genmove_analyze=\\n{listed}\\nplay {played}",
        ]
        (found,) = evaluated(fake("gtp", *words), BLACK)
        values.append((found.best, found.value, found.nodes))
    assert values == [("C3", 0.51, 90), ("resign", 0.4656, 836)]


@pytest.mark.parametrize("place", ["", "(4,4) "])
def test_pachi_tells_its_standard_error(place: str) -> None:
    line = (
        f"*** WINNER is D4 {place}with score 0.5123 (5000/10000:10000/10000 games), "
        "extra komi 0.000000"
    )
    board = "\\n".join(["Move:   2  Komi: 7.5", *[". . . . ."] * 30])
    words = ["name=Pachi", "answer:genmove=D4", "lacks=reg_genmove"]
    black, white = evaluated(
        fake("gtp", *words, f"stderr:genmove=[1] 50%\\n{line}\\n{board}"), BLACK, WHITE
    )
    assert (black.value, black.best, black.nodes) == (0.5123, "D4", 10000)
    assert white.value == pytest.approx(1 - 0.5123)


@pytest.mark.parametrize(
    ("line", "value", "nodes"),
    [
        # The two ways of 12.90, as its source prints them.
        ("C3 with score 53.2% (451/2645 games, 2645 new), extra komi 0.0", 0.532, 2645),
        ("C3 with score 53.2% (451/2645 games), extra komi 0.0", 0.532, 2645),
        ("C3 with score 100.0% (451/2645 games)", 1.0, 2645),
        ("C3 with score 0.5% (451/2645 games)", 0.005, 2645),
        ("C3 with score 0.5324 (4230/10204:8712/8712 games), extra komi 0.95", 0.5324, 10204),
    ],
)
def test_pachis_percentages_and_probabilities_are_distinguished(
    line: str, value: float, nodes: int
) -> None:
    words = ["name=Pachi", "answer:genmove=C3", "lacks=reg_genmove"]
    [found] = evaluated(fake("gtp", *words, f"stderr:genmove=*** WINNER is {line}"), BLACK)
    assert (found.best, found.nodes) == ("C3", nodes)
    assert found.value == pytest.approx(value)


def test_pentobi_gives_the_movers_value(tmp_path: Path) -> None:
    move = "e8,d9,e9,f9,e10"
    answer = "j4,i5,j5,k5,j6"
    log = tmp_path / "heard"
    words = ["name=Pentobi", "knows=set_game", "knows=get_value", "knows=param", f"log={log}"]
    words += [f"answer:reg_genmove={answer}", "answer:get_value=0.25"]
    spec = fake("gtp", *words, settings="playouts=100")
    [white] = evaluated(spec, EnginePosition("blokus_duo", moves=[move]))
    assert (white.value, white.best) == (0.75, answer)
    heard = log.read_text().splitlines()
    assert heard[3:5] == ["param use_book 0", "param fixed_simulations 100"]


def test_other_engines_give_moves_only() -> None:
    [found] = evaluated(fake("gtp"), BLACK)
    assert (found.best, found.value, found.score, found.unit) == ("A1", None, None, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["name=GNU Go", "knows=estimate_score", "answer:estimate_score=hm"], "no evaluation in"),
        (
            ["name=Fuego", "knows=uct_value_black", "answer:uct_value_black=1e9"],
            "gives 1e9 for a probability",
        ),
        (
            ["name=Fuego", "knows=uct_value_black", "answer:uct_value_black=1e"],
            "gives '1e' for a number",
        ),
    ],
)
def test_what_a_profile_cannot_read_is_nonsense(words: list[str], message: str) -> None:
    with pytest.raises(EngineError) as refused:
        evaluated(fake("gtp", *words), BLACK)
    assert refused.value.reason == "nonsense"
    assert message in str(refused.value)


def test_an_engine_plays_the_games_of_its_profile() -> None:
    with pytest.raises(EngineError, match="plays go, not othello") as refused:
        evaluated(fake("gtp", "name=GNU Go"), EnginePosition("othello"))
    assert refused.value.reason == "game"


# Limits and options


def test_levels_and_whole_seconds_are_known_to_all(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    words = ["knows=level", "knows=time_settings", f"log={log}"]
    spec = fake("gtp", *words, settings="level=0,time=1.2")
    evaluated(spec, BLACK)
    assert log.read_text().splitlines()[3:5] == ["time_settings 0 2 1", "level 0"]
    log.unlink()
    evaluated(spec, BLACK, WHITE, limits=Limits(level=5))
    assert log.read_text().splitlines()[5] == "level 5"
    assert log.read_text().count("level") == 2


@pytest.mark.parametrize(
    ("settings", "reason", "message"),
    [
        ("nodes=5", "limit", "knows no limit 'nodes', as its profile 'moves' says; known: time"),
        ("level=3", "limit", "refuses 'level 3'"),
        ("lvl=3", "option", "no option 'lvl'; did you mean level?"),
        ("Threads=2", "option", "go into its command"),
    ],
)
def test_unsupported_settings_are_refused(settings: str, reason: str, message: str) -> None:
    with pytest.raises(EngineError) as refused:
        evaluated(fake("gtp", settings=settings), BLACK)
    assert refused.value.reason == reason
    assert message in str(refused.value)


def test_a_fresh_engine_is_cleared_before_each_position(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    words = ["name=Leela Zero", "knows=lz-genmove_analyze", "knows=clear_cache", f"log={log}"]
    words += ["answer:lz-genmove_analyze=\\ninfo move D4 visits 8 winrate 1 order 0 pv\\nplay D4"]
    evaluated(fake("gtp", *words, settings="fresh=true"), BLACK, WHITE)
    assert log.read_text().count("clear_cache") == 2


# The table


def test_a_user_adds_a_profile_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        """
        [mine]
        ask = ["think {color}", "winrate"]
        pattern = 'White: (?P<value>[0-9.]+)%'
        view = "white"
        unit = "percent"
        limit.playouts = "sims {playouts}"
        """
    )
    words = ["knows=think", "knows=winrate", "knows=sims", "answer:winrate=White: 40.0%"]
    spec = fake("gtp", *words, settings=f"playouts=9,profile={file}")
    assert [found.value for found in evaluated(spec, BLACK, WHITE)] == [0.6, 0.6]


def test_profiles_are_chosen_by_name_file_or_match(tmp_path: Path) -> None:
    names = ["GNU Go 3.8", "gnugo --mode gtp"]
    assert choose_profile(None, names, []).name == "gnugo"
    assert choose_profile("moves", names, []).name == "moves"
    assert choose_profile(None, ["Strange 1"], []).name == "moves"
    assert choose_profile(None, ["Strange 1"], ["lz-genmove_analyze"]).name == "leela"
    assert choose_profile(None, ["KataGo 1.2"], []).name == "moves"
    file = tmp_path / "mine.toml"
    file.write_text('[one]\nmatch="One"\n[two]\nmatch="Two"\n')
    given = read_model_file(file)
    assert choose_profile(given, ["Two 1.0"], []).name == "two"
    with pytest.raises(NotationError, match="no profile matches Three"):
        choose_profile(given, ["Three"], [])
    with pytest.raises(NotationError, match="did you mean katago"):
        choose_profile("katgo", names, [])
    file.write_bytes(b"\xff")
    with pytest.raises(NotationError, match="cannot read profiles"):
        choose_profile(read_model_file(file), names, [])
    with pytest.raises(SourceError, match="No such file"):
        EngineSpec.from_text(f"gtp:profile={tmp_path / 'none.toml'}:gnugo --mode gtp")


def test_a_file_of_profiles_is_read_with_the_spec_and_counts_by_content(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[one]\nmatch="One"\n')
    text = f"gtp:profile={file}:gnugo --mode gtp"
    before = EngineSpec.from_text(text)
    assert before.text == text
    file.write_text('[two]\nmatch="Two"\n')
    after = EngineSpec.from_text(text)
    assert before != after
    assert before.id != after.id
    assert choose_profile(before.profile, ["x"], []).name == "one"
    file.unlink()
    assert choose_profile(after.profile, ["x"], []).name == "two"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no profile in it"),
        ("[a", "a.toml"),
        (f"a = {'[' * 10**5}", "nested too deeply"),
        (f"a = {'9' * 5000}", "digits"),
        ("a = 1", "a profile is a table"),
        ("[a]\nakk = []", "no key 'akk'; did you mean ask?"),
        ("[a]\nask = 'x'", "a list of texts"),
        ("[a]\nundo = 1", "true or false"),
        ("[a]\nview = 'red'", "one of black, white, mover"),
        ("[a]\nunit = 3", "a text, not 3"),
        ("[a]\nread = 'tea leaves'", "one of answers, stderr"),
        ("[a]\npattern = '('", "[a], pattern"),
        ("[a]\npattern = '(?P<vlue>x)'", "no group 'vlue'"),
        ("[a]\nask = ['genmove {side}']", "no {side}"),
        ("[a]\nask = ['{']", "'{'"),
        ("[a]\nlimit.plies = 'x'", "no limit 'plies'"),
        ("[a]\nlimit = 'x'", "a table of texts"),
        ("[a]\noption = '{key}'", "no {key}; known: {name}, {value}"),
    ],
)
def test_a_wrong_profile_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(NotationError) as refused:
        read_profiles(text, "a.toml")
    assert message in str(refused.value)
    assert str(refused.value).startswith("a.toml")


def test_the_shipped_table_ends_with_a_profile_for_all() -> None:
    profiles = bundled_profiles()
    assert [profile.name for profile in profiles if profile.fits(["Any"], [])] == ["moves"]
    assert len({profile.name for profile in profiles}) == len(profiles)


def test_names_versions_and_commands_come_from_the_engine() -> None:
    async def run() -> GtpEngine:
        engine = await start_engine(fake("gtp", "name=Some Engine"))
        assert isinstance(engine, GtpEngine)
        await engine.new_game()
        await engine.close()
        return engine

    engine = asyncio.run(run())
    assert (engine.name, engine.version) == ("Some Engine", "1.0")
    assert "genmove" in engine.commands


def test_an_engine_that_lists_nothing_still_plays() -> None:
    words = ["lacks=list_commands", "lacks=version", "lacks=name"]
    assert evaluated(fake("gtp", *words), BLACK, WHITE)[1].best == "A1"
