# SPDX-License-Identifier: Apache-2.0
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyoka.engines import EnginePosition, EngineSpec, Limits
from hyoka.engines.spec import Replayer
from hyoka.foundation.errors import EngineError, IllegalMoveError, NotationError


def spec(text: str) -> EngineSpec:
    return EngineSpec.from_text(text)


def test_a_protocol_and_a_command_are_enough() -> None:
    given_spec = spec("gtp:gnugo --mode gtp --level 0")
    assert (given_spec.protocol, given_spec.command) == ("gtp", "gnugo --mode gtp --level 0")
    assert given_spec.options == ()
    assert not given_spec.limits


def test_settings_are_limits_ours_or_the_engines() -> None:
    given_spec = spec(
        "uci:nodes=1,time=0.5,name=old,timeout=7,fresh=true,Hash=16,Skill Level=3:stockfish"
    )
    assert given_spec.limits == Limits(nodes=1, time_s=0.5)
    assert given_spec.title == "old"
    assert (given_spec.timeout_s, given_spec.fresh) == (7.0, True)
    assert given_spec.options == (("Hash", "16"), ("Skill Level", "3"))


@pytest.mark.parametrize(
    "text",
    [
        "gtp:katago gtp -model a=b:c",
        "uci:/opt/a=b/engine",
        "gtp:engine --option x=1,y=2 --log a:b",
        "uci:wine C:/engines/x.exe",
    ],
)
def test_a_command_may_look_a_little_like_settings(text: str) -> None:
    assert spec(text).command == text.partition(":")[2]
    assert spec(text).text == text


def test_an_empty_list_of_settings_guards_the_command() -> None:
    assert spec("gtp::a=b:c").command == "a=b:c"
    assert spec("gtp::a=b:c").text == "gtp::a=b:c"


def test_a_folder_and_variables_are_part_of_the_engine(tmp_path: Path) -> None:
    given_spec = spec(rf"uci:cwd={tmp_path},env.A=1,env.PATHS=/a\:/b,Hash=1:./engine")
    assert given_spec.cwd == str(tmp_path)
    assert given_spec.env == (("A", "1"), ("PATHS", "/a:/b"))
    assert given_spec.options == (("Hash", "1"),)
    assert spec(given_spec.text) == given_spec
    plain = spec("uci:Hash=1:./engine")
    assert len({plain.id, given_spec.id, replace(given_spec, env=()).id}) == 3
    with pytest.raises(EngineError, match="no program"):
        given_spec.program()
    (tmp_path / "engine").write_text("#!/bin/sh\n")
    (tmp_path / "engine").chmod(0o755)
    assert given_spec.program() == [str(tmp_path / "engine")]
    with pytest.raises(EngineError, match="no folder"):
        spec(f"uci:cwd={tmp_path / 'missing'}:./engine").program()
    with pytest.raises(NotationError, match="no environment variable"):
        EngineSpec(protocol="uci", command="x", env=(("A=B", "c"),))
    with pytest.raises(NotationError, match="one printable line"):
        EngineSpec(protocol="uci", command="x", env=(("A", "b\nc"),))


def test_values_keep_their_commas_and_colons_behind_a_backslash() -> None:
    given_spec = spec(r"uci:SyzygyPath=/a\:/b\,c\\d:stockfish")
    assert given_spec.options == (("SyzygyPath", r"/a:/b,c\d"),)
    assert spec(given_spec.text) == given_spec


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=12)
KEYS = st.from_regex(r"[A-Z][A-Za-z_]{0,6}( [A-Z][a-z]{1,4})?", fullmatch=True)


@given(
    st.sampled_from(["gtp", "uci", "usi"]),
    st.from_regex(r"[a-z./]{1,8}( [-a-z=:,0-9]{1,8}){0,3}", fullmatch=True),
    st.builds(
        Limits,
        time_s=st.none() | st.sampled_from([0.001, 0.1, 1 / 3, 60.0]),
        nodes=st.none() | st.integers(1, 10**9),
        level=st.none() | st.integers(0, 10),
    ),
    st.dictionaries(KEYS, WORDS, max_size=3),
    st.none() | WORDS,
    st.booleans(),
)
def test_a_spec_is_what_its_text_says(
    protocol: str,
    command: str,
    limits: Limits,
    options: dict[str, str],
    name: str | None,
    fresh: bool,
) -> None:
    if limits.time_s == 1 / 3:
        limits = replace(limits, time_s=0.333333333333)
    given_spec = EngineSpec(
        protocol=protocol,
        command=command,
        limits=limits,
        options=tuple(options.items()),
        title=name or "",
        fresh=fresh,
        stderr=fresh,
    )
    again = spec(given_spec.text)
    assert again == given_spec
    assert hash(again) == hash(given_spec)
    assert again.id == given_spec.id
    assert re.fullmatch(r"[a-z0-9._-]{8,}", again.id)
    assert pickle.loads(pickle.dumps(given_spec)) == given_spec


def test_an_id_is_readable_and_tells_engines_apart() -> None:
    texts = [
        "uci:stockfish",
        "usi:stockfish",
        "uci:nodes=1:stockfish",
        "uci:nodes=2:stockfish",
        "uci:nodes=1,Hash=16:stockfish",
        "uci:nodes=1,Hash=32:stockfish",
        "uci:nodes=1,fresh=true:stockfish",
        "uci:nodes=1,name=new:stockfish",
        "uci:nodes=1:/opt/stockfish",
        "gtp:profile=moves:stockfish",
        "uci:stockfish --other",
    ]
    ids = [spec(text).id for text in texts]
    assert len(set(ids)) == len(texts)
    assert ids[4].startswith("stockfish-nodes1-hash16-")
    assert spec("uci:name=../../etc:x").id.startswith("etc-")


def test_what_changes_no_answer_changes_no_id() -> None:
    one = spec("uci:Hash=1,Threads=2:sf")
    other = spec("uci:timeout=5,grace=3,stderr=true,threads=2,hash=1:sf")
    assert one.id.split("-")[-1] == other.id.split("-")[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stockfish", "uci:stockfish"),
        ("uki:stockfish", "uci, usi, gtp"),
        ("xboard:crafty", "uci, usi, gtp"),
        ("uci:", "names no command"),
        ("uci:nodes=1:", "names no command"),
        ("uci:nodes=many:x", "whole number, not 'many'"),
        ("uci:nodes=0:x", "at least 1, not 0"),
        ("uci:time=-1:x", "seconds, not -1"),
        ("uci:time=nan:x", "seconds, not nan"),
        ("uci:timeout=0:x", "timeout"),
        ("uci:timeout=soon:x", "'soon'"),
        ("uci:grace=0:x", "grace must be a positive number"),
        ("uci:grace=soon:x", "'soon'"),
        ("uci:fresh=1:x", "true or false"),
        ("uci:stderr=1:x", "'stderr' is true or false"),
        ("uci:a 'b", "quotation"),
        ("uci:a\nb", "one printable line"),
        ("uci:Hash=1\n2:x", "one printable line"),
    ],
)
def test_a_text_that_names_no_engine_is_refused_with_a_reason(text: str, words: str) -> None:
    with pytest.raises(NotationError) as refused:
        spec(text)
    assert words in str(refused.value)


def test_an_option_named_like_a_setting_of_ours_is_written_otherwise() -> None:
    with pytest.raises(NotationError, match="no option of an engine is called '-x'"):
        EngineSpec(protocol="uci", command="x", options=(("-x", "1"),))
    with pytest.raises(NotationError, match="write the engine's as 'Level'"):
        EngineSpec(protocol="uci", command="x", options=(("level", "1"),))
    assert spec("uci:Level=1:x").options == (("Level", "1"),)


def test_a_missing_program_gets_the_nearest_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "superfish"
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="'superfsh' is on the PATH; did you mean superfish") as e:
        spec("uci:superfsh").program()
    assert e.value.reason == "missing"
    with pytest.raises(EngineError, match="chmod"):
        spec(f"uci:{program}").program()
    with pytest.raises(EngineError, match="no program"):
        spec(f"uci:{tmp_path}/nothing").program()
    program.chmod(0o755)
    assert spec("uci:superfish -x 'a b'").program() == [str(program), "-x", "a b"]


def test_a_position_is_replayed_by_the_rules() -> None:
    first, last, moves = EnginePosition("chess", moves=["e4", "e7e5"]).replay()
    assert first.play("e2e4").play("e7e5") == last
    assert moves == ("e2e4", "e7e5")
    with pytest.raises(IllegalMoveError):
        EnginePosition("chess", moves=["e2e5"]).replay()
    with pytest.raises(NotationError):
        EnginePosition("chess", start="nonsense").replay()
    assert EnginePosition("reversi").game == "othello"
    with pytest.raises(NotationError, match="did you mean chess"):
        EnginePosition("ches")


def test_no_count_of_moves_ends_a_game_for_engines() -> None:
    there_and_back = ["g1f3", "g8f6", "f3g1", "f6g8"]
    repeated = EnginePosition("chess", moves=[*there_and_back * 3, "e2e4"])
    assert repeated.replay().last.outcome is None
    bare_kings = EnginePosition("chess", start="8/8/8/8/8/8/6k1/4K3 w - - 99 90")
    assert bare_kings.replay().last.outcome is None


def test_replaying_goes_on_where_it_ended_and_survives_an_error() -> None:
    replay = Replayer()
    moves = ["e2e4", "e7e5", "g1f3"]
    for end in (1, 2, 3, 2, 0, 3):
        position = EnginePosition("chess", moves=moves[:end])
        assert replay(position) == position.replay()
    with pytest.raises(IllegalMoveError):
        replay(EnginePosition("chess", moves=[*moves, "a1a8"]))
    start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    with pytest.raises(IllegalMoveError):
        replay(EnginePosition("chess", start=start, moves=["e1g1", "a1a8"]))
    for position in (
        EnginePosition("chess", start=start, moves=moves[:0]),
        EnginePosition("chess", start=start, moves=["e1g1"]),
        EnginePosition("shogi", moves=["7g7f"]),
        EnginePosition("chess", moves=moves),
    ):
        assert replay(position) == position.replay()


@pytest.mark.parametrize(
    ("settings", "time_s", "wait_s"),
    [
        ("", None, 60.0),
        ("", 2.0, 12.0),
        ("timeout=5", None, 5.0),
        ("timeout=5", 2.0, 7.0),
        ("grace=30", 2.0, 32.0),
        ("timeout=5,grace=30", 2.0, 32.0),
        ("grace=30", None, 60.0),
    ],
)
def test_a_search_has_its_time_limit_and_a_grace(
    settings: str, time_s: float | None, wait_s: float
) -> None:
    engine = spec(f"uci:{settings}:x")
    assert engine.wait_s(time_s) == wait_s
    assert spec(engine.text) == engine
