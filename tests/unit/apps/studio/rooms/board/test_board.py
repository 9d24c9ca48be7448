# SPDX-License-Identifier: Apache-2.0
"""The board room: its state is its address, and what thinks about it is limited and allowed."""

import html
import itertools
import json
import math
import re
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

pytest.importorskip("starlette", reason="needs the extra `web`")

from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

import hyoka as hk
from e2e.studio import HOSTILE, furnished
from engines import fake
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.apps.studio import Engines, Folder, Studio, studio_app
from hyoka.apps.studio.rooms.board.board_agents import COUNTED, measured_levels
from hyoka.apps.studio.rooms.board.board_state import BoardState, table_of
from hyoka.apps.studio.rooms.board.live_analyses import ValueCurve, marks
from hyoka.apps.studio.rooms.board.picture import picture, turned
from hyoka.apps.studio.rooms.board.setup import Draft
from hyoka.games import game_facts
from hyoka.learning.mets import Mets, learn_mets
from hyoka.records.bulk import GameTable
from hyoka.records.samples import sample_path
from hyoka.search import SearchSpec

OURS = "http://127.0.0.1"
OWN_PAGE = {"origin": OURS, "sec-fetch-site": "same-origin"}
PART = {**OWN_PAGE, "hx-request": "true"}
FIVE = ("go9", "othello", "chess", "shogi", "blokus_duo")
ALLOWED = {
    "none": "uci:no-such-engine",
    "fake": fake("uci", "say=info depth 1 score cp 5"),
    "crashes": fake("uci", "crash=1"),
    "streams": fake("uci", "say=info depth 7 nodes 900 score cp -12 pv e7e5 g1f3 h8h1"),
}
TAKEN = "7g7f 3c3d 8h2b+ 3a2b"
"""Each side has taken a bishop."""
PROMOTES = "1r5k/P7/8/8/8/8/8/7K w - - 0 1"
MATED = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(tmp_path_factory.mktemp("studio") / "folder")


@pytest.fixture(scope="module")
def client(folder: Path) -> TestClient:
    studio = Studio.on(Folder(folder), Engines(ALLOWED), COMMANDS)
    return TestClient(
        studio_app(studio, token="t"),
        OURS,
        cookies={"hyoka-studio-80": "t"},
        follow_redirects=False,
        raise_server_exceptions=False,
    )


def state_of(text: str) -> dict[str, list[str]]:
    """What the hidden fields of a page's form hold."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', text):
        found.setdefault(name, []).append(value)
    return found


def table(**values: object) -> BoardState:
    pairs = [
        (name.rstrip("_"), str(each))
        for name, value in values.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return BoardState.of(QueryParams(pairs))


def again(given: BoardState) -> BoardState:
    return BoardState.of(QueryParams(parse_qsl(urlsplit(given.address).query)))


@pytest.mark.parametrize("game", FIVE)
def test_the_address_has_everything(game: str) -> None:
    given = table(game=game, against="uct", level="club", you="second", with_=["mc", "uct"])
    line = hk.position(game).line()
    for seed in range(6):
        move = line.random_move(seed)
        assert move is not None
        line = line.play(move)
        given = given.play(str(move))
    assert given.line.position == line.position
    assert again(given) == given
    back = given.at(2)
    assert again(back) == back
    assert back.line.moves == line.moves[:2]


def test_another_move_makes_a_variation_and_the_same_one_does_not() -> None:
    given = table(game="chess").play("e4 e5 Nf3").at(1)
    assert given.play("e7e5").others == ()
    varied = given.play("c5")
    assert varied.moves == ("e2e4", "c7c5")
    assert varied.others == (("e2e4", "e7e5", "g1f3"),)
    assert varied.variations == [(1, ["e5", "Nf3"])]
    assert again(varied) == varied
    back = varied.switched(0)
    assert (back.moves, back.ply) == (("e2e4", "e7e5", "g1f3"), 2)
    assert back.others == (("e2e4", "c7c5"),)
    assert back.dropped(0).others == ()
    # To go on in a line of which a variation is the beginning leaves no variation behind.
    assert varied.play("d4").others == varied.others


def test_undo_takes_back_the_reply_as_well() -> None:
    alone = table(game="othello").play("d3 c3")
    assert alone.undone().moves == ("d3",)
    against = table(game="othello", against="uct").play("d3 c3")
    assert against.undone().moves == ()
    second = table(game="othello", against="uct", you="second").play("d3 c3 c4")
    assert second.undone().moves == ("d3",)
    assert alone.undone().undone().undone().moves == ()


def test_whose_turn_it_is() -> None:
    given = table(game="othello", against="uct")
    assert not given.awaits_reply
    assert given.play("d3").awaits_reply
    assert not given.play("d3").at(0).awaits_reply
    assert not table(game="othello", against="uct", you="both").play("d3").awaits_reply
    assert table(game="othello", against="uct", you="second").awaits_reply


@pytest.mark.parametrize("game", FIVE)
def test_the_page_of_each_game_says_what_may_be_played(client: TestClient, game: str) -> None:
    text = client.get("/board", params={"game": game}).text
    shown = re.search(r'data-moves="([^"]*)"', text)
    assert shown is not None
    assert shown[1].count("[[") == 1
    moves = len(re.findall(r"\[&#34;", shown[1]))
    assert moves == hk.position(game).count_moves()
    assert 'role="application"' in text


def test_a_move_leads_to_its_address(client: TestClient) -> None:
    answer = client.get("/board?game=chess&play=e4")
    assert (answer.status_code, answer.headers["location"]) == (303, "/board?game=chess&moves=e2e4")
    part = client.get("/board?game=chess&play=e4", headers=PART)
    assert part.headers["hx-push-url"] == "/board?game=chess&moves=e2e4"
    assert "<html" not in part.text
    wrong = client.get("/board?game=chess&play=e5", headers=PART)
    assert 'role="alert"' in wrong.text
    assert "moves" not in state_of(wrong.text)
    assert client.get("/board?game=chess&play=e5").status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "game=chess&moves=e5",
        "game=no-such-game",
        "game=chess&start=nonsense",
        "game=chess&moves=e4&ply=7",
        "game=chess&moves=e4&ply=x",
        "seconds=1e9",
        "seconds=nan",
        "line=99+D3",
        "path=../x",
        "path=a+study&number=99",
        f"game={HOSTILE}",
        "game=go9&moves=" + "pass+" * 2000,
        "game=chess&switch=4",
    ],
)
def test_invalid_queries_are_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/board?{query}")
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert HOSTILE not in answer.text


def test_the_other_side_replies(client: TestClient) -> None:
    values = {"game": "othello", "moves": "d3", "against": "uct:playouts=1", "level": "own"}
    answer = client.post("/board/reply", data=values, headers=PART)
    moves = state_of(answer.text)["moves"][0].split()
    assert len(moves) == 2
    assert hk.Othello().line().play("d3").is_legal(moves[1])
    assert "moves=d3+" in answer.headers["hx-push-url"]
    for level in ("beginner", "casual"):
        answer = client.post("/board/reply", data=values | {"level": level}, headers=PART)
        assert len(state_of(answer.text)["moves"][0].split()) == 2
    # Nothing happens when it is not its turn.
    answer = client.post("/board/reply", data=values | {"you": "second"}, headers=PART)
    assert state_of(answer.text)["moves"] == ["d3"]


@pytest.mark.parametrize(
    "who",
    [
        *("uci:evil", "gtp:evil --now", "x=uci:evil", "uct:eval=/etc/passwd", "uct:book=../x"),
        *("uct:threads=999", "uct:memory=900000", "ab:hash=90000", "nobody", "none"),
        "uct:playouts=1,level=2",
    ],
)
def test_nobody_thinks_who_may_not(client: TestClient, who: str) -> None:
    values = {"game": "chess", "moves": "e2e4", "against": who, "with": who}
    answer = client.post("/board/reply", data=values, headers=PART)
    assert 'role="alert"' in answer.text
    assert state_of(answer.text)["moves"] == ["e2e4"]
    assert 'hx-trigger="load"' not in answer.text, "it would ask for ever"
    if who != "none":
        assert client.post("/board/analyze", data=values, headers=PART).status_code == 400


@pytest.mark.parametrize("who", ["nobody", "uci:evil", "uct:playouts=x", "mate", "fake"])
def test_who_can_not_play_is_refused_at_once(client: TestClient, who: str) -> None:
    for headers in (PART, {}):
        answer = client.get("/board", params={"game": "go9", "against": who}, headers=headers)
        assert 'role="alert"' in answer.text
        assert re.search(r'id="against" [^>]*name="against" form="state" value=""', answer.text)
    assert 'role="alert"' not in client.get("/board?game=go9&against=uct:playouts=2").text


def offered(client: TestClient, game: str, slot: str) -> dict[str, str]:
    """The agents of a list, and their titles."""
    text = client.get("/board", params={"game": game}).text
    listed = re.search(rf'<select data-agent="{slot}"[^>]*>(.*?)</select>', text, re.DOTALL)
    assert listed is not None
    return dict(re.findall(r'<option value="([^"]*)"[^>]*>([^<]*)<', listed[1]))


def test_only_those_are_offered_who_play_the_game(client: TestClient) -> None:
    assert "fake" in offered(client, "chess", "against")
    assert "fake" not in offered(client, "go9", "against")
    assert not {"mate", "exact"} & set(offered(client, "chess", "against"))
    assert "mate" in offered(client, "chess", "with-0")
    assert not {"mate", "exact", "fake"} & set(offered(client, "go9", "with-0"))
    assert "exact" in offered(client, "othello", "with-0")
    assert offered(client, "go9", "against")["uct"] == "Tree search", "titles are for people"


def test_levels_are_stated_in_elo_where_they_were_measured(client: TestClient) -> None:
    def levels(**query: str) -> str:
        return client.get("/board", params=query).text

    elo = round(measured_levels()["go9"]["levels"]["casual"]["elo"], -1)
    assert f">Casual · about {elo:,} Elo above Beginner</option>" in levels(game="go9")
    assert f">Casual · about {elo:,} Elo" in levels(game="go9", against="uct")
    assert ">Casual</option>" in levels(game="go9", against="ab")
    assert ">Casual</option>" in levels(game="go13")
    assert ">Strongest (thinks 5 s)</option>" in levels(game="go9")
    assert ">Strong (thinks 1 s)</option>" in levels(game="chess", against="fake")


def test_the_table_of_levels_is_that_of_the_guide() -> None:
    """Written by `scripts/levels.py`, which plays the matches."""
    rows = []
    for game, measured in measured_levels().items():
        facts = game_facts(game)
        assert measured["search"] == SearchSpec.from_text(facts.search.spec).kind
        found = measured["levels"]
        assert list(found) == list(COUNTED)
        elos = [each["elo"] for each in found.values()]
        assert elos == sorted(set(elos))
        assert all(
            (each["low"] is None or each["low"] <= each["elo"])
            and (each["high"] is None or each["elo"] <= each["high"])
            for each in found.values()
        )
        cells = [
            f"{each['elo']:,} ({_end(each['low'])} to {_end(each['high'])})"
            for each in list(found.values())[1:]
        ]
        names = [facts.heading, f"`{measured['search']}`", f"{measured['games']:,}"]
        rows.append(" | ".join([*names, *cells]))
    assert len(rows) == 5
    guide = (Path(__file__).parents[6] / "docs/guides/studio.md").read_text()
    for row in rows:
        assert f"| {row} |" in guide, row


def _end(elo: int | None) -> str:
    return "∞" if elo is None else f"{elo:,}"


def test_an_agent_with_settings_stays_picked(client: TestClient) -> None:
    def lists(against: str) -> str:
        text = client.get("/board", params={"game": "chess", "against": against}).text
        return text[text.index('data-agent="against"') :].partition("</span>")[0]

    assert re.search(
        r'value="ab:nodes=500" selected title="[^"]*">Alpha-beta<', lists("ab:nodes=500")
    )
    assert "<option data-other>" in lists("ab:nodes=500")
    other = lists("ab:nodes=500,calibration=none.json")
    assert "<option data-other" in other


def test_settings_of_a_search_are_a_form_that_makes_a_spec(client: TestClient) -> None:
    asked = {"game": "chess", "slot": "against", "spec": "ab:nodes=500"}
    text = client.get("/board/agent", params=asked, headers=PART).text
    names = re.findall(r'name="set-(\w+)"', text)
    assert set(names) == {setting.name for setting in hk.search.settings.settings_of("ab")}
    assert re.search(r'name="set-nodes" value="500"', text)
    filled = asked | {"filled": "1", "set-depth": "6", "set-null_move": "off"}
    text = client.get("/board/agent", params=filled, headers=PART).text
    assert '<code id="agent-text" data-slot="against">ab:depth=6,null_move=off</code>' in text
    assert "Alpha-beta, depth 6" in text
    wrong = client.get("/board/agent", params=filled | {"set-depth": "x"}, headers=PART).text
    assert 'role="alert"' in wrong
    assert "data-use data-close disabled" in wrong
    engine = client.get("/board/agent", params=asked | {"spec": "fake"}, headers=PART).text
    assert "settings of its own" in engine
    for text in ("uci:evil", "ab:eval=/etc/passwd", HOSTILE):
        answer = client.get("/board/agent", params=asked | {"spec": text}, headers=PART)
        assert 'role="alert"' in answer.text
        assert HOSTILE not in answer.text


@pytest.mark.parametrize(("game", "moves"), [("chess", "e2e4 d7d5 e4d5"), ("shogi", TAKEN)])
def test_a_board_is_turned_and_stays_the_same(game: str, moves: str) -> None:
    given = table(game=game).play(moves)
    upright, drawn = picture(given), picture(replace(given, flip=True))
    assert json.loads(drawn.names) == json.loads(upright.names)[::-1]
    assert json.loads(drawn.pieces) == json.loads(upright.pieces)[::-1]
    beside = [[(each[1:], side.color) for each in side.items] for side in drawn.sides]
    assert beside == [[(each[1:], side.color) for each in side.items]
                      for side in upright.sides[::-1]]  # fmt: skip
    count = len(json.loads(upright.names))
    mirrored = [[word, [count - 1 - cell for cell in cells]]
                for word, cells in json.loads(upright.moves)]  # fmt: skip
    assert json.loads(drawn.moves) == mirrored
    assert drawn.svg != upright.svg
    assert drawn.caption == upright.caption
    board = hk.diagram(given.line, marks=["5e" if game == "shogi" else "e5"], heat={(0, 0): 0.5})
    assert turned(turned(board)) == board
    assert again(replace(given, flip=True)).flip


def test_who_plays_second_sees_the_board_from_there() -> None:
    assert table(game="chess", against="uct", you="second").is_turned
    assert not table(game="chess", against="uct", you="second", flip=1).is_turned
    assert not table(game="chess", you="second").is_turned
    assert table(game="shogi", flip=1).is_turned
    assert not table(game="go9", flip=1, against="uct", you="second").is_turned


DRAFTS = {
    "go9": ("XO7/9/9/9/9/9/9/9/9 w - 0 6.5", "E5", "X"),
    "go19": ("19/" * 18 + "19 b - 0 7.5", "Q16", "O"),
    "othello": ("-" * 27 + "OX------XO" + "-" * 27 + " O", "a1", "X"),
    "chess": ("4k3/8/8/8/8/8/8/R3K2R b KQ - 3 20", "d4", "q"),
    "shogi": ("4k4/9/9/9/4+P4/9/9/9/4K4 w 2Pb3p 1", "1a", "+r"),
}


@pytest.mark.parametrize("game", DRAFTS)
def test_a_position_is_set_up_by_hand(client: TestClient, game: str) -> None:
    start, cell, sign = DRAFTS[game]
    assert hk.position(game, start).text == start
    text = client.get("/board/setup", params={"game": game, "start": start}).text
    assert f'href="{html.escape(table(game=game, start=start).address)}"' in text
    assert text.count('name="put"') == {"chess": 13, "shogi": 29}.get(game, 3)
    assert "style=" not in text
    # What the page's script sends for a click, and for another one.
    query = {"game": game, "start": start, "was": start, "put": sign, "on": cell}
    query |= dict(re.findall(r'<input id="\S+" name="(\S+)"[^>]* value="([^"]*)"', text))
    part = client.get("/board/setup", params=query, headers=PART)
    draft = Draft.of(QueryParams(urlsplit(part.headers["hx-replace-url"]).query))
    row, column = hk.diagram(hk.position(game)).cell(cell)
    assert draft.cells[row][column] == sign
    assert draft.fields == Draft.read(game, start).fields
    assert hk.position(game, draft.text).text == draft.text
    assert draft.put(cell, sign).text == start
    assert draft.put(cell, "").text == start
    assert "<html" not in part.text


def test_what_the_rules_object_to_is_said_in_a_line(client: TestClient) -> None:
    empty = client.get("/board/setup?game=chess&clear=1").text
    assert "Not yet a position: White must have exactly one king." in empty
    assert 'id="use" disabled' in empty
    assert client.get("/board/setup?game=chess&start=nonsense").status_code == 400
    assert client.get("/board/setup?game=blokus_duo").status_code == 400
    assert client.get("/board/setup?game=go9&on=Z9&put=X").status_code == 400
    assert client.get("/board/setup?game=go9&on=A9&put=K").status_code == 400
    assert client.get("/board/setup", params={"start": HOSTILE}).status_code == 400
    assert HOSTILE not in client.get("/board/setup", params={"start": HOSTILE}).text


def test_a_draft_keeps_together(client: TestClient) -> None:
    draft = Draft.read("chess", "")
    assert draft.castling == "KQkq"
    assert draft.put("h1", "").castling == "Qkq"
    moved = draft.put("e5", "K")
    assert moved.castling == "kq"
    assert moved.problem == "", "a side has one king: it moves"
    # A typed text goes before the fields beside it, which are still those of the text before.
    typed = MATED.replace(" w ", " b ")
    query = {"game": "chess", "start": typed, "was": MATED, "turn": "0", "castling": "KQkq"}
    assert Draft.of(QueryParams(query)).text == typed
    query |= {"was": typed}
    assert Draft.of(QueryParams(query)).to_play == 0
    hand = {"game": "shogi", "start": "", "hand-P": "2", "hand-r": "1", "hand-G": "x"}
    start = Draft.read("shogi", "").text
    draft = Draft.of(QueryParams(hand | {"start": start, "was": start}))
    assert draft.fields[1] == "2Pr"


def finished(client: TestClient, text: str) -> str:
    """All that the events of an analysis say."""
    found = re.search(r'sse-connect="([^"]*)"', text)
    assert found is not None
    return client.get(found[1]).text


def test_an_analysis_has_visits_values_and_a_tree(client: TestClient) -> None:
    values = {"game": "go9", "moves": "E5", "with": ["uct", "mc"], "seconds": "0.1"}
    begun = client.post("/board/analyze", data=values, headers=PART)
    assert begun.status_code == 200
    said = finished(client, begun.text)
    assert said.count("event: end") == 1
    last = said.rpartition("event: lines")[2]
    assert 'data-over="1"' in last
    assert re.search(r"playouts in 0\.\d s", last)
    orders = re.findall(r'aria-label="Moves by [^"]*, ([^"]*)"', last)
    assert orders == ["most visited first", "best first"]
    first = last.partition("</article>")[0]
    assert first.count("<li>") == 4
    lines = re.findall(r'name="shown" value="\d+ ([^"]+)"', first)
    assert all(hk.Go9().line().play("E5").is_legal(line.split()[0]) for line in lines)
    drawn = re.search(r'data-drawn="([^"]*)"', last)
    assert drawn is not None
    assert "&#34;heat&#34;: [[" in drawn[1]
    tree = re.search(r'hx-get="([^"]*node[^"]*)"', last)
    assert tree is not None
    node = client.get(tree[1].replace("&amp;", "&"))
    words = re.findall(r'name="shown" value="\d+ ([^"]+)"', node.text)
    assert words
    assert all(hk.Go9().line().play("E5").is_legal(word) for word in words)
    below = client.get(tree[1].replace("&amp;", "&") + "&node=0")
    deeper = re.findall(r'name="shown" value="\d+ ([^"]+)"', below.text)
    assert all(len(word.split()) == 2 and word.split()[0] == words[0] for word in deeper)
    assert client.get(tree[1].replace("&amp;", "&") + "&node=0.999").status_code == 400


def test_an_analysis_stays_while_other_positions_are_looked_at(client: TestClient) -> None:
    values = {"game": "go9", "moves": "E5 C3", "ply": "1", "with": "random", "seconds": "0.05"}
    begun = client.post("/board/analyze", data=values, headers=PART).text
    assert "after 1: E5" in begun
    finished(client, begun)
    found = re.search(r'name="shown" value="(\d+)"', begun)
    assert found is not None
    # From wherever the board is by now, its moves are those of the position that it is of.
    query = {"game": "go9", "moves": "E5 C3 G7", "shown": f"{found[1]} D4 F6"}
    part = client.get("/board", params=query, headers=PART)
    assert state_of(part.text)["moves"] == ["E5 D4 F6"]
    assert state_of(part.text)["line"] == ["1 C3 G7"]
    assert '<div id="analysis" hx-preserve="true"' in part.text
    back = client.get("/board", params=query | {"shown": found[1]})
    assert back.headers["location"] == "/board?game=go9&moves=E5+C3+G7&ply=1"
    for wrong in ("999", "x", f"{found[1]} E5"):
        answer = client.get("/board", params=query | {"shown": wrong})
        assert answer.status_code == 400
        part = client.get("/board", params=query | {"shown": wrong}, headers=PART)
        assert 'role="alert"' in part.text
        assert state_of(part.text)["moves"] == ["E5 C3 G7"]
    other = client.get("/board", params={"game": "chess", "shown": found[1]})
    assert other.status_code == 400


def test_lines_are_sorted_by_value_at_equal_depth(client: TestClient) -> None:
    for moves, best in (("", max), ("e2e4", min)):  # values are White's
        values = {"game": "chess", "moves": moves, "with": "ab:multipv=4", "seconds": "0.1"}
        said = finished(client, client.post("/board/analyze", data=values, headers=PART).text)
        last = said.rpartition("event: lines")[2]
        shares = [int(text) for text in re.findall(r'class="share">(\d+)%', last)]
        assert len(shares) == 4
        assert shares[0] == best(shares)
        assert shares == sorted(shares, reverse=best is max)
        assert re.search(r"depth \d+, [\d,]+ nodes", last)


def test_the_answer_to_a_new_analysis_has_lines(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyoka.apps.studio.rooms.board._FIRST_S", 60.0)
    values = {"game": "chess", "with": "ab", "seconds": "0.5"}
    begun = client.post("/board/analyze", data=values, headers=PART).text
    assert 'class="share"' in begun
    finished(client, begun)


def test_one_of_two_evaluators_is_on_the_board(client: TestClient) -> None:
    both = {"game": "go9", "with": ["uct", "mc"], "seconds": "0.05"}
    said = finished(client, client.post("/board/analyze", data=both, headers=PART).text)
    last = said.rpartition("event: lines")[2]
    assert re.findall(r'data-show="\d" aria-pressed="(\w+)"', last) == ["true", "false"]


def test_an_analysis_that_fails_says_so(client: TestClient) -> None:
    values = {"game": "chess", "with": ["none", "ab:depth=1"], "seconds": "0.05"}
    said = finished(client, client.post("/board/analyze", data=values, headers=PART).text)
    assert "no-such-engine" in said
    assert re.search(r"depth \d+, [\d,]+ nodes in 0\.\d s", said)
    assert client.get("/board/analysis/999/events").status_code == 400
    over = {"game": "othello", "start": "-" * 64 + " X"}
    assert client.post("/board/analyze", data=over, headers=PART).status_code == 400


def test_an_analysis_that_nobody_looks_at_ends(client: TestClient) -> None:
    values = {"game": "go9", "with": "uct", "seconds": "30"}
    begun = client.post("/board/analyze", data=values, headers=PART).text
    found = re.search(r'data-job="(\d+)"', begun)
    assert found is not None
    job = client.app.state.analyses.get(int(found[1]))  # type: ignore[attr-defined]
    job.seen -= 1000
    job.workers[0].join(10)
    assert job.is_over
    assert job.analysis_lines[0].result is not None
    begun = client.post("/board/analyze", data=values, headers=PART).text
    found = re.search(r'data-job="(\d+)"', begun)
    assert found is not None
    assert client.post(f"/board/analysis/{found[1]}/stop", headers=OWN_PAGE).status_code == 204
    job = client.app.state.analyses.get(int(found[1]))  # type: ignore[attr-defined]
    job.workers[0].join(10)
    assert job.is_over


def test_an_allowed_engine_plays_and_thinks(client: TestClient) -> None:
    values = {"game": "chess", "moves": "e2e4", "against": "fake", "with": "fake", "seconds": "0.1"}
    answer = client.post("/board/reply", data=values, headers=PART)
    assert state_of(answer.text)["moves"] == ["e2e4 a7a6"]
    said = finished(client, client.post("/board/analyze", data=values, headers=PART).text)
    assert "−0.05" in said  # it reported Black's view
    graph = finished(client, client.post("/board/graph", data=values, headers=PART).text)
    assert "2 of 2 positions" in graph
    answer = client.post("/board/reply", data=values | {"against": "crashes"}, headers=PART)
    assert "died" in answer.text
    assert state_of(answer.text)["moves"] == ["e2e4"]
    answer = client.post("/board/reply", data=values | {"game": "go9", "moves": "E5"}, headers=PART)
    assert 'role="alert"' in answer.text


def test_variations_of_an_engine_are_shown(client: TestClient) -> None:
    values = {"game": "chess", "moves": "e2e4", "with": "streams", "seconds": "0.1"}
    said = finished(client, client.post("/board/analyze", data=values, headers=PART).text)
    last = said.rpartition("event: lines")[2]
    assert re.findall(r'name="shown" value="\d+ ([^"]+)"', last) == ["e7e5", "e7e5 g1f3"]
    assert 'class="score">+0.12<' in last, "White's view, and no illegal move"
    assert "depth 7, 900 nodes" in last


def curves_of(text: str) -> dict[str, list[float | None]]:
    """The curves of the graph that a page has last."""
    return dict(json.loads(html.unescape(re.findall(r'data-curves="([^"]*)"', text)[-1])))


def test_the_graph_of_a_game_has_every_position(client: TestClient) -> None:
    values = {"game": "othello", "moves": "d3 c3", "with": "ranking"}
    begun = client.post("/board/graph", data=values, headers=PART)
    assert curves_of(finished(client, begun.text)) == {}  # it has no values
    values |= {"with": "uct"}
    said = finished(client, client.post("/board/graph", data=values, headers=PART).text)
    assert "UCT: 3 of 3 positions" in said
    [(name, curve)] = curves_of(said).items()
    assert name == "UCT"
    assert all(value is not None and 0 < value < 1 for value in curve)
    # The page shows what is known of each position, also of another line with the same beginning.
    assert curves_of(client.get("/board?game=othello&moves=d3+c3").text) == {"UCT": curve}
    assert curves_of(client.get("/board?game=othello&moves=d3+c5").text) == {
        "UCT": [*curve[:2], None]
    }
    assert client.post("/board/graph", data={"game": "go9"}, headers=PART).status_code == 400


def test_stored_values_are_in_the_graph_and_mark_moves(client: TestClient) -> None:
    for path in ("games.pgn", "a study"):
        answer = client.get("/board", params={"path": path, "number": 0}, follow_redirects=True)
        stored, *_ = curves_of(answer.text).values()
        assert len(stored) == 6
        assert stored[1] == pytest.approx(1 / (1 + math.exp(-30 / 180)), abs=0.1)
        assert stored[0] is None
        other = f"{answer.url}&play=d1h5".replace(
            "moves=e2e4+e7e5+d1h5+e8e7+h5e5", "moves=e2e4+e7e6"
        )
        cut, *_ = curves_of(client.get(other, follow_redirects=True).text).values()
        assert cut[1] == stored[1]
        assert cut[2:] == [None] * len(cut[2:]), "the record went on otherwise"


def test_moves_that_lose_much_are_marked() -> None:
    line = table(game="chess").play("e4 f6 d4 g5 Nc3")
    values = ValueCurve("one", [0.5, 0.52, 0.6, None, 0.62, 0.4])
    others = ValueCurve("other", [0.5, 0.1, 0.5, 0.49, 0.65, 0.65])
    assert marks(line, [values]) == ["", "?!", "", "", "??"]
    assert marks(line, [values, others]) == ["", "?!", "", "??", "??"], "the first that knows"
    black = table(game="chess", start="4k3/8/8/8/8/8/8/4K2R b - - 0 1").play("Kd8")
    assert marks(black, [ValueCurve("one", [0.5, 0.62])]) == ["?"]
    assert marks(black, [ValueCurve("one", [0.5, 0.3])]) == [""]


def test_what_is_beside_the_board() -> None:
    def beside(**values: object) -> list[tuple[str, str, list[tuple[str, int]]]]:
        sides = picture(table(**values)).sides
        return [(s.color, s.words, [(name, count) for _, _, name, count in s.items]) for s in sides]

    assert beside(game="chess", moves="e2e4 d7d5 e4d5 d8d5") == [
        ("Black", "", [("White pawn", 1)]),
        ("White", "", [("Black pawn", 1)]),
    ]
    promoted = {"game": "chess", "start": PROMOTES, "moves": "a7b8q"}
    assert beside(**promoted)[1][2] == [("Black rook", 1)], "the pawn is a queen, not taken"
    assert beside(game="shogi", moves=TAKEN)[0] == ("White", "", [("bishop", 1)])
    assert beside(game="othello", moves="d3")[1][1] == "4 discs"
    corner = {"game": "go9", "moves": "A1 A2 E5 B1"}
    assert beside(**corner) == [("White", "1 prisoner", []), ("Black", "0 prisoners", [])]


@pytest.mark.parametrize("game", FIVE)
def test_sprites_are_the_pieces_of_the_picture(game: str) -> None:
    given = table(game=game)
    drawn = picture(given)
    standing = json.loads(drawn.standing)
    assert [number is not None for number in standing] == [
        bool(p) for p in json.loads(drawn.pieces)
    ]
    assert all(number is None or number < len(drawn.sprites) for number in standing)
    assert all(re.match(r"<(path|rect|circle|g)", sprite) for sprite in drawn.sprites)
    assert "<text" in drawn.ground or game == "othello", "labels are drawn"
    for sprite in drawn.sprites:
        assert str(sprite) not in drawn.ground


def test_a_king_in_check_is_pointed_out() -> None:
    checked = table(game="chess", moves="e2e4 f7f6 d1h5")
    assert picture(checked).check == 4
    assert picture(replace(checked, flip=True)).check == 59
    assert picture(checked.at(2)).check is None


def test_solvers_say_what_is_certain(client: TestClient) -> None:
    mate = client.post("/board/solve", data={"game": "chess", "start": MATED}, headers=PART).text
    assert "Mate in 1 ply." in mate
    assert 'value="a1a8"' in mate
    ending = {"game": "othello", "start": "X" * 62 + "O- X"}
    assert "Black wins by 64" in client.post("/board/solve", data=ending, headers=PART).text


def test_mates_are_counted_as_in_the_game(client: TestClient) -> None:
    for start, words in (
        (MATED, "White wins in 1 move<"),
        ("7k/8/5K2/6Q1/8/8/8/8 b - - 0 1", "White wins in 1 move<"),
        ("7k/8/4K3/6Q1/8/8/8/8 w - - 0 1", "White wins in 2 moves<"),
    ):
        values = {"game": "chess", "start": start, "with": "ab", "seconds": "0.1"}
        said = finished(client, client.post("/board/analyze", data=values, headers=PART).text)
        assert words in said.rpartition("event: lines")[2]


def test_a_move_model_is_drawn(client: TestClient, folder: Path) -> None:
    plain = client.get("/board?game=othello").text
    drawn = client.get("/board?game=othello&model=built-in").text
    picture = re.compile(r'<div id="picture">.*?</svg>', re.DOTALL)
    assert picture.findall(plain) != picture.findall(drawn)
    assert drawn.count('class="chip" form="state" name="play"') == 4
    assert "is not in the studio" in client.get("/board?model=../x").text


def test_the_tenth_rank_is_ten(client: TestClient) -> None:
    text = client.get("/board?game=go9&moves=E5&model=built-in").text
    ranks = re.findall(r"<tr><td>(\d+)</td>", text)
    assert ranks == [str(rank) for rank in range(1, 11)]
    drawn = re.search(r'<div id="picture">(.*?)</svg>', text, re.DOTALL)
    assert drawn is not None
    assert ">10</text>" in drawn[1]
    assert ">0</text>" not in drawn[1]
    assert "data-ranked" in text, "visits then have no numbers in the same place"


def test_files_that_are_taken_along_have_different_names(client: TestClient) -> None:
    names = {
        client.get("/board/export", params={"game": "chess", "as": name}).headers[
            "content-disposition"
        ]
        for name in ("pgn", "lines", "svg", "text")
    }
    assert len(names) == 4


@pytest.mark.parametrize(
    ("game", "moves", "formats"),
    [
        ("go9", "E5 C3", ["sgf"]),
        ("othello", "d3 c3", ["sgf"]),
        ("chess", "e4 e5", ["pgn", "lines"]),
        ("shogi", "7g7f 3c3d", ["csa", "kif", "lines"]),
        ("blokus_duo", "66r0", ["sgf"]),
    ],
)
def test_what_is_taken_along_reads_as_the_same_game(
    client: TestClient, game: str, moves: str, formats: list[str]
) -> None:
    line = hk.position(game).line()
    for move in moves.split():
        line = line.play(move)
    for name in formats:
        answer = client.get("/board/export", params={"game": game, "moves": moves, "as": name})
        assert answer.headers["content-disposition"].startswith("attachment")
        [record] = hk.parse_records(answer.text)
        assert (record.game, record.position().cells.tolist()) == (game, line.cells.tolist())
    svg = client.get("/board/export", params={"game": game, "moves": moves, "as": "svg"})
    assert svg.text == hk.svg(line)
    text = client.get("/board/export", params={"game": game, "moves": moves, "as": "text"})
    assert hk.terminal(line) in text.text
    assert client.get("/board/export", params={"game": game, "as": "exe"}).status_code == 400


def test_shogi_has_drawn_kanji_or_letters(client: TestClient) -> None:
    drawn = client.get("/board/export?game=shogi&as=svg").text
    assert drawn == hk.svg(hk.Shogi().line())
    letters = client.get("/board/export?game=shogi&as=svg&pieces=letters").text
    assert letters == hk.svg(hk.Shogi().line(), pieces="letters")
    assert ">K</text>" not in client.get("/board?game=shogi").text
    assert ">K</text>" in client.get("/board?game=shogi&pieces=letters").text


def test_games_of_the_folder(client: TestClient) -> None:
    for path in ("games.pgn", "a study"):
        listed = client.get("/board/games", params={"path": path})
        assert HOSTILE not in listed.text
        assert "&lt;script&gt;" in listed.text
        answer = client.get("/board", params={"path": path, "number": 0, "ply": 2})
        assert answer.status_code == 303
        shown = client.get(answer.headers["location"])
        assert state_of(shown.text)["moves"] == ["e2e4 e7e5 d1h5 e8e7 h5e5"]
        assert state_of(shown.text)["ply"] == ["2"]
        assert '<span class="who">&lt;script&gt;alert(1)&lt;/script&gt;</span>' in shown.text
        assert HOSTILE not in shown.text
    opened = client.get("/board?path=games.pgn&live=1&tab=explorer").headers["location"]
    assert "&live=1&" in opened
    assert "&tab=explorer" in opened
    assert client.get("/board/games?path=../x").status_code == 400


def test_games_of_a_match(client: TestClient) -> None:
    listed = client.get("/board/games?path=matches/short").text
    assert HOSTILE not in listed
    assert listed.count("/board?path=matches") == 2
    answer = client.get("/board?path=matches/short&number=1")
    assert answer.status_code == 303
    assert client.get(answer.headers["location"]).status_code == 200
    assert client.get("/board?path=matches/short&number=9").status_code == 400


def test_the_viewer_of_a_study_leads_to_the_board(client: TestClient) -> None:
    text = client.get("/study/game?path=a+study&game=0&ply=3").text
    link = re.search(r'href="(/board\?[^"]*)"', text)
    assert link is not None
    shown = client.get(link[1].replace("&amp;", "&"))
    assert state_of(shown.text)["moves"] == ["e2e4 e7e5 d1h5 e8e7 h5e5"]
    assert state_of(shown.text)["ply"] == ["3"]


def test_a_tree_of_mets_shows_what_it_asks_about(client: TestClient, folder: Path) -> None:
    games = list(itertools.islice(hk.read_records(sample_path("go9")), 20))
    learn_mets(GameTable.from_records(games), threshold=10).save(folder / "tree.mets")
    text = client.get("/board?game=go9&moves=E5&model=tree.mets").text
    assert '<option value="tree.mets" selected>' in text
    assert text.count("what it asks") == 10
    word = re.search(r'name="area" value="([^"]+)"', text)
    assert word is not None
    asked = client.get(f"/board?game=go9&moves=E5&model=tree.mets&area={word[1]}").text
    stones = Mets.load(folder / "tree.mets").questions(
        hk.Go9().line().play("E5"), hk.Go9().parse(word[1])
    )
    assert f"About {word[1]} it asks for {len(stones.stones)} points" in asked


def test_moves_after_the_end_of_a_record_are_dropped_with_a_message(client: TestClient) -> None:
    [record] = hk.parse_records("(;GM[1]SZ[9]KM[6.5];B[ee];W[];B[];W[cc])")
    found = table_of(record)
    assert found.left_out == 1
    assert found.first_position.komi == 6.5  # type: ignore[attr-defined]
    assert "goes on for 1 more" in client.get(found.address).text


def test_pages_are_quick(client: TestClient) -> None:
    line = hk.position("go19").line()
    for seed in range(250):
        move = line.random_move(seed)
        assert move is not None
        line = line.play(move)
    began = time.process_time()
    text = client.get(
        "/board", params={"game": "go19", "moves": " ".join(map(str, line.moves))}
    ).text
    assert time.process_time() - began < 1
    assert len(text) < 200_000, "no address with all moves for each move"
