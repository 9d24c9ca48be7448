# SPDX-License-Identifier: Apache-2.0
"""Command lines and configurations of fastchess as matches; docs/guides/matches.md lists them."""

import json
import re
from pathlib import Path

import pytest

from hyoka.arena import plan_match
from hyoka.arena.fastchess import OPTIONS, read_fastchess
from hyoka.foundation.errors import NotationError

TWO = "-engine cmd=a name=new -engine cmd=b name=base"
PAGE = Path(__file__).parents[3] / "docs" / "guides" / "matches.md"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-each tc=8+0.08", "new=uci:a@8+0.08 base=uci:b@8+0.08"),
        ("-each tc=40/1:30+0.5", "new=uci:a@40/90+0.5"),
        ("-each tc=inf nodes=5000", "new=uci:nodes=5000:a base="),
        ("-each st=0.1", "new=uci:time=0.1:a"),
        ("-each plies=6 option.Hash=16", "new=uci:depth=6,Hash=16:a"),
        ("-each dir=/opt/it args='--eval x.nnue'", "new=uci:cwd=/opt/it:a --eval x.nnue"),
        ("-each proto=xboard st=1", "new=cecp:time=1:a"),
        ("-each timemargin=500", "--margin 0.5"),
        ("-rounds 50 -games 2 -repeat", None),
        ("-rounds 100 -repeat", "--games 200"),
        ("-concurrency 4", "--jobs 4"),
        ("-openings file=book.epd format=epd order=random plies=8", "--openings book.epd:8"),
        ("-openings file=book.pgn order=sequential", "--opening-order file"),
        ("-sprt elo0=0 elo1=2 alpha=0.05 beta=0.1", "--sprt 0,2,alpha=0.05,beta=0.1,model=norm"),
        ("-sprt elo0=0 elo1=5 model=logistic", "--sprt 0,5 --jobs"),
        ("-resign movecount=3 score=600", "--adjudicate resign=600,3"),
        ("-resign movecount=3 score=600 twosided=true", "--adjudicate win=600,3"),
        ("-draw movenumber=34 movecount=8 score=20", "--adjudicate draw=20,8,68"),
        ("-maxmoves 200", "--max-plies 400"),
        ("-tournament gauntlet", "--tournament gauntlet"),
        ("-srand 7", "--seed 7"),
        ("-variant fischerandom -openings file=960.epd", "--openings 960.epd"),
        ("-recover -ratinginterval 10 -pgnout file=x.pgn notation=san", "--openings start"),
    ],
)
def test_options_have_a_counterpart(text: str, words: str | None) -> None:
    match = read_fastchess(f"fastchess {TWO} {text}")
    said = " ".join(match.words)
    assert (words or "new=uci:a base=uci:b") in said
    if words is None:
        assert match.games == 100
    assert match.left_out == ()


def test_options_without_counterpart_are_named_or_refused() -> None:
    match = read_fastchess(f"{TWO} -each restart=on -log file=x.txt -use-affinity")
    assert match.left_out == ("-log", "-use-affinity", "restart=on")
    for text, words in (
        ("-noswap", "played from both sides"),
        ("-tb /syzygy", "no adjudication by tablebases"),
        ("-openings file=x.epd start=100", "cut the file"),
        ("-sprt elo0=0 elo1=5 model=bayesian", "bayesian"),
        ("-each tc=1/hg", "no time control '1/hg'"),
        ("-rouns 5", "did you mean rounds"),
        ("-sprt elo=5", "no value 'elo=5'"),
        ("-maxmoves many", "maxmoves is a number"),
        ("-variant atomic", "standard or fischerandom"),
        ("-engine cmd='a", "No closing quotation"),
    ):
        with pytest.raises(NotationError, match=re.escape(words)):
            read_fastchess(f"{TWO} {text}")
    with pytest.raises(NotationError, match="two options -engine"):
        read_fastchess("-engine cmd=a -rounds 2")


def test_the_words_give_the_same_players_again() -> None:
    match = read_fastchess(
        "-engine cmd='./my engine' 'name=a:b=c@d' 'option.Path=/x,y:z' "
        "-engine cmd=uct -each nodes=9"
    )
    again = [plan for plan in match.words if not plan.startswith("--")][:2]
    assert again == list(match.players)
    assert match.players[0] == r"a\:b\=c\@d=uci:nodes=9,Path=/x\,y\:z:'./my engine'"


def configuration(**changes: object) -> dict[str, object]:
    """A configuration as fastchess writes it."""
    limit = {
        "tc": {"increment": 80, "fixed_time": 0, "time": 8000, "moves": 0, "timemargin": 0},
        **{"nodes": 0, "plies": 0},
    }
    engine = {"dir": "", "args": "", "restart": False, "limit": limit, "variant": 0}
    return {
        "engines": [
            engine | {"name": "new", "cmd": "a", "options": [["Hash", "16"]]},
            engine | {"name": "base", "cmd": "b", "options": []},
        ],
        "opening": {"file": "book.epd", "format": 0, "order": 1, "plies": -1, "start": 1},
        "resign": {"move_count": 3, "score": 600, "twosided": False, "enabled": True},
        "draw": {"move_number": 34, "move_count": 8, "score": 20, "enabled": True},
        "maxmoves": {"move_count": 1, "enabled": False},
        "tb_adjudication": {"syzygy_dirs": "", "enabled": False},
        "sprt": {
            **{"alpha": 0.05, "beta": 0.05, "elo0": 0.0, "elo1": 2.0, "model": "normalized"},
            "enabled": True,
        },
        **{"seed": 5, "variant": 0, "type": 0, "games": 2, "rounds": 500, "concurrency": 4},
        **{"noswap": False},
        **changes,
    }


def test_a_configuration_is_its_command_line(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(configuration()), encoding="utf-8")
    assert read_fastchess(f"-config file={file}") == read_fastchess(
        "-engine cmd=a name=new option.Hash=16 -engine cmd=b name=base -each tc=8+0.08 "
        "-openings file=book.epd order=sequential -resign movecount=3 score=600 "
        "-draw movenumber=34 movecount=8 score=20 -rounds 500 -games 2 -concurrency 4 "
        "-srand 5 -sprt elo0=0 elo1=2 alpha=0.05 beta=0.05 model=normalized"
    )
    for text in (json.dumps(configuration(engines=[{}, {}])), "[]", "{", json.dumps({"x": 1})):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(NotationError, match="no configuration of fastchess"):
            read_fastchess(f"-config file={file}")


def test_openings_keep_the_order_of_their_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    moves = ("e2e4", "d2d4", "c2c4", "g1f3", "b1c3", "a2a3", "h2h3")
    file.write_text("".join(f"startpos moves {move}\n" for move in moves), encoding="utf-8")
    ordered = plan_match("random", "random", game="chess", openings=str(file), opening_order="file")
    assert [each.moves for each in ordered.openings] == [(move,) for move in moves]
    shuffled = plan_match("random", "random", game="chess", openings=str(file))
    assert sorted(each.moves for each in shuffled.openings) == sorted((move,) for move in moves)
    assert list(shuffled.openings) != list(ordered.openings)


def test_the_page_lists_every_option_that_is_known() -> None:
    rows = re.findall(r"^\| `(-[^|]*)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"-([a-z][a-z0-9-]*)", row)} == {*OPTIONS}
