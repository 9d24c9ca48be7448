# SPDX-License-Identifier: Apache-2.0
"""`hyoka learn network` and `hyoka learn selfplay`, as people run them."""

import json
import sys
from pathlib import Path

import pytest

from hyoka.records.samples import sample_path

from .commands import hyoka_here

PYTORCH = "learning needs PyTorch: pip install hyoka[learn]"
RECORDS = str(sample_path("othello"))
SMALL = ("--units", "64", "--value-units", "4", "--policy-units", "4", "--epochs", "1")
LOOP = (
    *("--games", "6", "--playouts", "6", "--quick", "3", "--generations", "2", "-j", "1"),
    *SMALL,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason=PYTORCH)
    found = tmp_path_factory.mktemp("network") / "othello.nn"
    result = hyoka_here("learn", "network", RECORDS, "-o", str(found), *SMALL)
    assert result.returncode == 0, result.stderr
    said = result.stdout.replace("\n", "")
    assert "epoch 1: loss of values" in said
    assert "held-out" in said
    assert f"play with it: uct:eval={found},strengths={found},cutoff=0" in said.replace(" ", " ")
    return found


def test_a_network_is_learned_and_plays(file: Path, tmp_path: Path) -> None:
    shown = json.loads(hyoka_here("model", "show", str(file), "--json").stdout)
    assert (shown["kind"], shown["game"]) == ("network", "othello")
    assert shown["made_by"]["command"].startswith("hyoka learn network")
    assert shown["made_by"]["counts"]["games"] > 10
    match = hyoka_here(
        *("match", "run", f"a=uct:playouts=8,eval={file},strengths={file},cutoff=0"),
        *(f"b=ab:depth=1,eval={file}", f"c=uct:playouts=8,eval={file},eval_weight=0.5"),
        *(
            "--game",
            "othello",
            "--games",
            "2",
            "-q",
            "--output",
            str(tmp_path / "match"),
            "-j",
            "1",
        ),
    )
    assert match.returncode == 0, match.stderr


def test_it_says_the_same_as_json_and_learns_the_same(file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.nn"
    result = hyoka_here("learn", "network", RECORDS, "-o", str(again), *SMALL, "--json")
    found = json.loads(result.stdout)
    assert found["file"] == str(again)
    assert found["held_out"] > 0
    assert [each["epoch"] for each in found["epochs"]] == [1]
    assert 0 < found["epochs"][0]["held_value_loss"] < 2
    one, two = (
        json.loads(hyoka_here("model", "show", str(each), "--json").stdout)
        for each in (file, again)
    )
    assert one["sha256"] == two["sha256"]


def test_without_games_held_out_nothing_is_said_of_them(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=PYTORCH)
    result = hyoka_here(
        *("learn", "network", RECORDS, "-o", str(tmp_path / "x.nn"), *SMALL),
        *("--hold-out", "0", "--policy-units", "0", "--json"),
    )
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    assert found["held_out"] == 0
    assert found["epochs"][0]["held_value_loss"] is None


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason=PYTORCH)
    folder = tmp_path_factory.mktemp("selfplay") / "loop"
    result = hyoka_here(
        "learn", "selfplay", "othello", *LOOP, "--gate", "0", "--output", str(folder)
    )
    assert result.returncode == 0, result.stderr
    said = result.stdout.replace("\n", "")
    assert "generation 0: " in said
    assert "generation 1: " in said
    assert "accepted" in said
    return folder


def test_a_player_comes_of_its_own_games(loop: Path, tmp_path: Path) -> None:
    network = loop / "generation-001" / "network.nn"
    assert (loop / "report.html").read_text().startswith("<!")
    for number in (0, 1):
        study = loop / f"generation-{number:03}" / "study"
        query = "select count(*) as n from visits"
        rows = hyoka_here("study", "sql", str(study), query, "--json")
        assert rows.returncode == 0, rows.stderr
        assert json.loads(rows.stdout)[0]["n"] > 0
        assert hyoka_here("study", "verify", str(study)).returncode == 0
    shown = json.loads(hyoka_here("model", "show", str(network), "--json").stdout)
    assert shown["made_by"]["parents"]["player of generation 1"]
    match = hyoka_here(
        *("match", "run", f"a=uct:playouts=8,eval={network},strengths={network},cutoff=0"),
        "b=random",
        *(
            "--game",
            "othello",
            "--games",
            "2",
            "-q",
            "--output",
            str(tmp_path / "match"),
            "-j",
            "1",
        ),
    )
    assert match.returncode == 0, match.stderr


def test_the_same_command_has_nothing_left_to_do(loop: Path) -> None:
    words = ("learn", "selfplay", "othello", *LOOP, "--gate", "0", "--output", str(loop))
    before = {each: each.stat().st_mtime_ns for each in loop.rglob("*.nn")}
    result = hyoka_here(*words, "--json")
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    assert found["network"] == str(loop / "generation-001" / "network.nn")
    assert [each["number"] for each in found["generations"]] == [0, 1]
    assert {each: each.stat().st_mtime_ns for each in loop.rglob("*.nn")} == before
    other = hyoka_here(*words, "--seed", "3")
    assert other.returncode != 0
    assert "its seed is 0, not 3" in other.stderr.replace("\n", " ")


def test_a_study_of_self_play_teaches_what_was_visited(loop: Path, tmp_path: Path) -> None:
    file = tmp_path / "network.nn"
    study = str(loop / "generation-000" / "study")
    result = hyoka_here("learn", "network", study, "-o", str(file), *SMALL, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["games"] > 0
    both = hyoka_here("learn", "network", study, RECORDS, "-o", str(file), *SMALL)
    assert both.returncode != 0
    assert "either studies or records" in both.stderr.replace("\n", " ")


def test_a_match_lets_networks_in_or_not(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=PYTORCH)
    words = (*LOOP, "--generations", "1", "--gate", "4", "--output", str(tmp_path / "loop"))
    result = hyoka_here("learn", "selfplay", "go3", *words, "--json")
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout, parse_constant=pytest.fail)["generations"][0]
    assert 0 < made["gate_games"] <= 4
    assert len(made["elo"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("network", "nowhere.sgf"), "nowhere.sgf"),
        (("network", RECORDS, "--units", "100"), "a multiple of 64"),
        (("network", RECORDS, "-o", "nowhere/x.nn"), "nowhere"),
        (("network", RECORDS, "--device", "abacus"), "abacus"),
        (("selfplay", "othelo"), "othello"),
        (("selfplay", "othello", "--search", "ab"), "uct, not ab"),
        (("selfplay", "othello", "--search", "uct:playoutz=3"), "did you mean playouts?"),
        (("selfplay", "othello", "--with-network", "eval_weigth=1"), "did you mean eval_weight?"),
        (("selfplay", "othello", "--with-network", "eval_weight=0.5,cutoff=0"), "cutoff=0"),
        (("selfplay", "othello", "--units", "100"), "a multiple of 64"),
        (("selfplay", "othello", "--device", "abacus"), "abacus"),
    ],
)
def test_invalid_input_is_refused(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=PYTORCH)
    result = hyoka_here("learn", *words, "-q", cwd=tmp_path)
    assert result.returncode != 0
    said = result.stderr.replace("\n", " ")
    assert message in said
    assert "Traceback" not in said
    assert not list(tmp_path.rglob("*.npz")), "refused after games were played"


@pytest.mark.parametrize("words", [("network", RECORDS), ("selfplay", "othello")])
def test_without_pytorch_it_says_what_to_install(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = hyoka_here("learn", *words, cwd=tmp_path)
    assert result.returncode != 0
    assert "pip install 'hyoka[learn]'" in result.stderr.replace("\n", " ")
    assert not list(tmp_path.iterdir())
