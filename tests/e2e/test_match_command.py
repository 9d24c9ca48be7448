# SPDX-License-Identifier: Apache-2.0
"""`hyoka match run` and `ablate` as commands, and a match that is killed all the time."""

import json
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from engines import fake
from hyoka.apps.cli import run
from hyoka.arena import Standing, open_match

from .commands import hyoka_here as hyoka

PATIENCE_S = 120.0
"""Forever, on any machine."""


def json_of(*words: str, cwd: Path) -> Any:
    result = hyoka(*words, "--json", cwd=cwd)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_without_players_tree_search_meets_flat_monte_carlo(tmp_path: Path) -> None:
    result = hyoka("match", "run", "--games", "2", "-q", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "UCT, 200 playouts" in result.stdout
    assert "v Monte Carlo, 200 playouts" in result.stdout
    [folder] = (tmp_path / "matches").iterdir()
    assert folder.name.startswith("go9-uct-playouts-200-v-mc-playouts-200-")
    assert str(folder.relative_to(tmp_path)) in result.stdout.replace("\n", "")
    assert {file.name for file in folder.iterdir()} == {
        "games.parquet",
        ".lock",
        "games.sgf",
        "journal.jsonl",
        "match.toml",
        "moves.parquet",
        "report.html",
    }
    assert len(list(hk.read_records(folder / "games.sgf"))) == 2
    # The same again has nothing to play.
    again = hyoka("match", "run", "--games", "2", "-q", cwd=tmp_path)
    assert again.stdout == result.stdout
    assert list((tmp_path / "matches").iterdir()) == [folder]


def test_a_preset_tests_a_patch(tmp_path: Path) -> None:
    for name in ("new", "base"):
        program = tmp_path / f"engine-{name}"
        program.write_text(
            f"#!/bin/sh\nexec {fake('uci').removeprefix('uci::')}\n", encoding="utf-8"
        )
        program.chmod(0o755)
    words = (
        "match",
        "run",
        "new=uci:./engine-new",
        "base=uci:./engine-base",
        "-n",
        "2",
        "-o",
        "test",
    )
    result = hyoka(*words, "--preset", "stc", "--openings", "start", "-q", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "[-2.94, 2.94]" in result.stdout  # the bounds of the LLR
    plan = tomllib.loads((tmp_path / "test" / "match.toml").read_text(encoding="utf-8"))["match"]
    assert plan["players"] == ["new=uci:./engine-new@10+0.1", "base=uci:./engine-base@10+0.1"]
    assert plan["adjudicate"] == ["resign=600,3", "draw=20,8,68"]
    other = hyoka(
        *(*words[:-1], "other", "--preset", "ltc", "--openings", "start", "-q"),
        *("--sprt", "0,5", "--clock", "1", "--adjudicate", "win=900"),
        cwd=tmp_path,
    )
    assert other.returncode == 0, other.stderr
    plan = tomllib.loads((tmp_path / "other" / "match.toml").read_text(encoding="utf-8"))["match"]
    assert plan["players"][0] == "new=uci:./engine-new@1"
    assert plan["adjudicate"] == ["win=900,3"]


def test_json_adds_up(tmp_path: Path) -> None:
    players = ("random", "uct:playouts=5", "mc:playouts=10")
    titles = ("Random", "UCT, 5 playouts", "Monte Carlo, 10 playouts")
    found = json_of(
        "match", "run", *players, "-g", "othello", "-n", "3", "--no-report", cwd=tmp_path
    )
    assert (found["games"], found["wanted"], found["finished"]) == (12, 12, True)
    assert found["players"] == list(titles)
    assert found["verdict"] is None
    assert sum(found["reasons"].values()) == 12
    assert (found["faults"], found["odd_workers"]) == ({}, [])
    assert len(found["duels"]) == 3
    for duel in found["duels"]:
        assert duel["wins"] + duel["draws"] + duel["losses"] == duel["games"] == 4
        orders = zip(duel["as_first"], duel["as_second"], strict=True)
        assert [one + other for one, other in orders] == [
            duel["wins"],
            duel["draws"],
            duel["losses"],
        ]
        assert sum(duel["pairs"]) == 2
        rate = duel["rate"]["value"]
        assert rate == pytest.approx((duel["wins"] + duel["draws"] / 2) / 4)
        assert 0 <= duel["binomial_p"] <= 1
    assert {rated["name"] for rated in found["ratings"]} == set(titles)
    folder = tmp_path / found["folder"]
    assert not (folder / "report.html").exists()
    description, games = open_match(folder)
    assert description["match"]["players"] == list(players)
    standing = Standing.of(players, games)
    assert standing.games == 12
    for duel in found["duels"]:
        one, other = titles.index(duel["player"]), titles.index(duel["opponent"])
        assert standing.duel(one, other).score.wins == duel["wins"]


def test_more_games_go_on_where_fewer_ended(tmp_path: Path) -> None:
    words = ("match", "run", "random", "random", "-g", "go5", "--no-report", "--output", "here")
    first = json_of(*words, "-n", "4", cwd=tmp_path)
    assert first["players"] == ["Random", "Random 2"]
    before = (tmp_path / "here" / "journal.jsonl").read_bytes()
    second = json_of(*words, "-n", "10", cwd=tmp_path)
    assert (first["games"], second["games"]) == (4, 10)
    assert (tmp_path / "here" / "journal.jsonl").read_bytes().startswith(before)
    other = hyoka(*words, "--komi", "0.5", cwd=tmp_path)
    assert other.returncode == 2
    assert "holds another match: its komi is 7.5, not 0.5" in other.stderr
    assert "choose another folder" in other.stderr


def test_a_sequential_test_says_what_it_has_decided(tmp_path: Path) -> None:
    words = (
        "match",
        "run",
        "ab:nodes=300",
        "random",
        "-g",
        "othello",
        "--sprt",
        "0,300",
        "--no-report",
    )
    found = json_of(*words, "-n", "500", cwd=tmp_path)
    assert (found["verdict"], found["finished"]) == ("H1", True)
    assert found["games"] < 200
    [duel] = found["duels"]
    assert duel["verdict"] == "H1"
    assert duel["llr"] >= duel["bounds"][1]
    result = hyoka(*words, "-n", "500", cwd=tmp_path)
    assert "the test accepts H1: +300 Elo rather than +0" in result.stdout
    assert "left to play" not in result.stdout


def test_faults_are_listed(tmp_path: Path) -> None:
    bad = f"bad={fake('uci', 'best=e2e5')}"
    result = hyoka("match", "run", bad, "random", "-n", "2", "-q", "--no-report", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "bad lost 2 by fault" in result.stdout
    assert "ended by illegal move 2" in result.stdout
    assert "illegal move e2e5" in result.stderr
    assert "Traceback" not in result.stderr


RANDOM = ("random", "random", "-g", "go5")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("random", "random", "-g", "chesss"), "no game 'chesss'; did you mean chess?"),
        (("randm", "random"), "no search or engine 'randm'; did you mean random?"),
        (("random",), "two players at least"),
        (("uct:playots=5", "random"), "playouts"),
        (("uci:no-such-engine", "random"), "no program 'no-such-engine'"),
        (("uci:a", "usi:b"), "choose agents of one game"),
        ((*RANDOM, "--openings", "none.pgn"), "none.pgn: no such file"),
        ((*RANDOM, "--openings", "random:many"), "number of plies"),
        ((*RANDOM, "--tournament", "swiss"), "'round-robin', 'gauntlet'"),
        ((*RANDOM, "--clock", "fast"), "no time control 'fast'"),
        (("random@x+1", "random"), "'random@x+1'"),
        ((*RANDOM, "--adjudicate", "win"), "no adjudication 'win'"),
        ((*RANDOM, "--adjudicate", "exact=magic"), "no exact method 'magic'"),
        ((*RANDOM, "--adjudicate", "exact=mate"), "mates are looked for in chess and shogi"),
        ((*RANDOM, "--sprt", "5"), "ELO0,ELO1"),
        ((*RANDOM, "--sprt", "5,0"), "below"),
        ((*RANDOM, "--handicap", "2"), "handicap"),
        (("random", "random", "-g", "chess", "--handicap", "2"), "handicap stones are for Go"),
        ((*RANDOM, "--komi", "nan"), "komi"),
        ((*RANDOM, "--games", "0"), "--games"),
        ((*RANDOM, "random", "--sprt", "0,5"), "two players"),
    ],
)
def test_wrong_words_get_one_clear_line(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    # Not `main`, which would watch this process's signals from then on.
    assert run(["match", "run", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
    assert not (tmp_path / "matches").exists()


def test_openings_and_rules_come_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "book.pgn").write_text("1. e4 e5 2. Nf3 Nc6 *\n\n1. d4 d5 *\n", encoding="utf-8")
    words = (
        "match",
        "run",
        "random",
        "random",
        "-g",
        "chess",
        "-n",
        "4",
        "--openings",
        "book.pgn:2",
    )
    found = json_of(*words, "--max-plies", "9", "--output", "here", "--no-report", cwd=tmp_path)
    assert found["games"] == 4
    starts = [record.move_texts()[:2] for record in hk.read_records(tmp_path / "here/games.pgn")]
    assert sorted(map(tuple, starts)) == [("d2d4", "d7d5")] * 2 + [("e2e4", "e7e5")] * 2


def test_ablate_plays_each_switch_against_the_search_without_it(tmp_path: Path) -> None:
    words = (
        "match",
        "ablate",
        "uct",
        "--game",
        "othello",
        "--switches",
        "rave,killer",
        "--games",
        "2",
    )
    found = json_of(*words, "--playouts", "20", "--time", "0", cwd=tmp_path)
    assert [(each["switch"], each["limit"], each["games"]) for each in found] == [
        ("rave", "playouts=20", 2),
        ("killer", "playouts=20", 2),
    ]
    assert found[0]["with"] == "uct:playouts=20,rave=1000"
    assert found[1]["without"] == "uct:playouts=20"
    table = hyoka(*words, "--playouts", "20", "--time", "0", "-q", cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    assert "score at playouts=20" in table.stdout
    wrong = hyoka("match", "ablate", "uct", "--switches", "rav", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "did you mean rave?" in wrong.stderr


def test_reproduce_lists_its_experiments_and_suggests(tmp_path: Path) -> None:
    listed = hyoka("experiment", "list", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "003-table1" in listed.stdout
    wrong = hyoka("experiment", "run", "003-tabl1", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 003-table1?" in wrong.stderr
    scale = hyoka("experiment", "run", "003-table1", "--scale", "huge", cwd=tmp_path)
    assert scale.returncode == 2
    assert "known: tiny, small" in scale.stderr


def lines_of(journal: Path) -> int:
    try:
        return journal.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def wait_for_lines(journal: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while lines_of(journal) < count:
        assert time.monotonic() < deadline, "the match does not get on"
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_the_same_command_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    words = ["match", "run", "random", "random", "-g", "othello", "--output", "here", "--no-report"]
    journal = tmp_path / "here" / "journal.jsonl"
    with subprocess.Popen(
        [sys.executable, "-m", "hyoka", *words, "-n", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
    ) as running:
        try:
            wait_for_lines(journal, 5)
            meanwhile = hyoka(*words, cwd=tmp_path)
            assert meanwhile.returncode == 2
            assert "another process is writing here" in meanwhile.stderr
            assert "playing a match since" in meanwhile.stderr
            running.send_signal(how)
            output, errors = running.communicate(timeout=PATIENCE_S)
        finally:
            running.kill()
    assert running.returncode == 128 + how, errors
    assert "the games played are stored; the same command resumes" in errors
    assert "games are left to play" in output
    kept = lines_of(journal)
    assert kept >= 5
    found = json_of(*words, "-n", str(kept + 4), cwd=tmp_path)
    assert found["games"] == found["wanted"] == kept + 4 + kept % 2


def test_interrupted_before_it_begins_a_match_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hyoka.apps.cli.match_commands.play_match", interrupted)
    result = hyoka(
        "match", "run", "random", "random", "-g", "othello", "--output", "x", cwd=tmp_path
    )
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "hyoka: interrupted\n"
    assert list(tmp_path.iterdir()) == []


# Forks a process that plays the match, kills it when the journal has grown by some lines, and does
# so some times; then lets one play to the end. Imported once, so that each start is quick.
KILLED_AGAIN_AND_AGAIN = """
import os, random, signal, sys, time
from pathlib import Path
from hyoka.arena import plan_match, play_match

folder, games, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
plan = plan_match("one=random", "two=random", game="othello", seed=7)
journal = folder / "journal.jsonl"
chance = random.Random(1)

def size():
    return journal.stat().st_size if journal.exists() else 0

def fork():
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            play_match(plan, folder, games=games, jobs=2)
            status = 0
        finally:
            os._exit(status)
    return pid

killed = 0
for _ in range(kills):
    before = size()
    pid = fork()
    growth = chance.randrange(1, 15_000)
    while size() < before + growth:
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "the match ended too early"
        time.sleep(0.0005)
    for _ in range(chance.randrange(20_000)):
        pass
    os.kill(pid, signal.SIGKILL)
    killed += os.waitpid(pid, 0)[1] == signal.SIGKILL
assert os.waitpid(fork(), 0)[1] == 0
print(killed)
"""


def test_a_match_killed_six_times_has_each_game_once(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "match"
    result = subprocess.run(
        [sys.executable, "-c", KILLED_AGAIN_AND_AGAIN, str(folder), "400", "6"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "6\n"), result.stderr
    # As the file stands, read by nobody but us: whole lines, each game in one.
    lines = (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    numbers = [json.loads(line.partition(" ")[2])["pairing"][0] for line in lines]
    assert sorted(numbers) == list(range(400))
    found = json_of(
        *("match", "run", "one=random", "two=random", "-g", "othello", "--seed", "7", "-n", "400"),
        *("--output", str(folder), "--no-report"),
        cwd=tmp_path,
    )
    assert (found["games"], found["finished"]) == (400, True)
    assert lines_of(folder / "journal.jsonl") == 400
    [duel] = found["duels"]
    _, games = open_match(folder)
    mine = [game.result if game.pairing.first == 0 else 1 - game.result for game in games]
    assert [mine.count(1), mine.count(0.5), mine.count(0)] == [
        duel["wins"],
        duel["draws"],
        duel["losses"],
    ]
    assert sum(duel["pairs"]) == 200
    assert len({game.worker for game in games}) >= 6
