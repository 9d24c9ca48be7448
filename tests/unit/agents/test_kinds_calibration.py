# SPDX-License-Identifier: Apache-2.0
"""Agents with the setting `calibration`: specs, identities, and calibrated evaluations."""

import asyncio
import math
import pickle
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.agents import CalibratedSpec, RecordedGame, Turn, agent_of, calibrated, spec_of
from hyoka.apps.studio.allowed_engines import Engines
from hyoka.apps.studio.folder import Folder
from hyoka.models import CalibrationModel
from hyoka.models.calibration_model import BetaMap, CalibrationMap, PlattMap, WdlMap
from hyoka.search import SearchLimits
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import chosen_evaluators, evaluator_titles, measured

ENGINE = Path(__file__).parents[2] / "engines" / "fake_uci.py"
PGN = "1. e4 {+0.30/5 1s} e5 {-0.20/5 1s} 2. Nf3 {+1.10/6 1s} f6 {+1.50/7 1s} 1-0\n"
SCORES = PlattMap(0.1, 0.005)

Save = Callable[..., str]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Save:
    """Save a model in the current folder, and return its name."""
    monkeypatch.chdir(tmp_path)

    def saved(
        mapped: CalibrationMap = SCORES, unit: str = "centipawns", name: str = "a.json"
    ) -> str:
        CalibrationModel("chess", unit, mapped).save(name)
        return name

    return saved


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    (tmp_path / "games.pgn").write_text(PGN, encoding="utf-8")
    return hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")


def platt(score: float) -> float:
    return 1 / (1 + math.exp(-0.1 - 0.005 * score))


@pytest.mark.parametrize(
    ("text", "inner", "canonical"),
    [
        ("ab:calibration=a.json", "ab", "ab:calibration=a.json"),
        (
            "ab:nodes=9,calibration=a.json,hash=0",
            "ab:nodes=9,hash=0",
            "ab:nodes=9,hash=0,calibration=a.json",
        ),
        ("uct: calibration = a.json ,playouts=5", "uct:playouts=5", None),
        ("uci:calibration=a.json:stockfish", "uci:stockfish", "uci:calibration=a.json:stockfish"),
        (
            "uci:nodes=5,calibration=a.json,Hash=1:stockfish -a b=c:d",
            "uci:nodes=5,Hash=1:stockfish -a b=c:d",
            "uci:nodes=5,Hash=1,calibration=a.json:stockfish -a b=c:d",
        ),
        ("uci:calibration=a.json:x=1:2", "uci::x=1:2", "uci:calibration=a.json:x=1:2"),
        ("comments:calibration=a.json", "comments", None),
        (
            "comments:player=Carlsen, Magnus,calibration=a.json",
            "comments:player=Carlsen, Magnus",
            "comments:player=Carlsen, Magnus,calibration=a.json",
        ),
        ("table:calibration=a.json:mine.csv", "table:mine.csv", None),
        (
            "table:name=x,calibration=a.json:mine.csv",
            "table:name=x:mine.csv",
            "table:calibration=a.json,name=x:mine.csv",
        ),
        (
            "table:calibration=a.json,name=x,view=mover:mine.csv",
            "table:name=x,view=mover:mine.csv",
            "table:calibration=a.json,name=x,view=mover:mine.csv",
        ),
    ],
)
def test_any_kind_of_agent_has_the_setting(
    text: str, inner: str, canonical: str | None, save: Save
) -> None:
    save()
    spec = spec_of(text)
    assert isinstance(spec, CalibratedSpec)
    assert spec.spec == spec_of(inner)
    assert spec == calibrated(inner, "a.json")
    assert spec_of(spec.text) == spec
    assert spec.text == (canonical or spec.text)
    assert spec.id != spec_of(inner).id
    assert spec.title.endswith(", calibrated")
    assert pickle.loads(pickle.dumps(spec)) == spec
    agent = agent_of(spec)
    names = ("threads", "seed", "names_program", "has_limits", "replaces_evaluations")
    assert [getattr(agent, n) for n in names] == [getattr(agent_of(inner), n) for n in names]


def test_the_id_follows_the_content_of_the_model(save: Save) -> None:
    first = spec_of(f"ab:calibration={save()}")
    second = spec_of(f"ab:calibration={save(name='b.json')}")
    other = spec_of(f"ab:calibration={save(PlattMap(0.1, 0.006), name='c.json')}")
    assert first.id == second.id != other.id
    assert first.dependencies["calibration"] != other.dependencies["calibration"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ab:calibration=none.json", "none.json: No such file"),
        ("ab:calibration=", "no file is named"),
        ("ab:calibration=a.json,calibration=a.json", "no setting 'calibration'"),
        ("ab:calibrate=a.json", "no setting"),
    ],
)
def test_a_bad_setting_is_an_error(text: str, message: str, save: Save) -> None:
    save()
    with pytest.raises(hk.errors.Error, match=message):
        spec_of(text)


def test_other_models_and_calibrated_specs_are_refused(save: Save, tmp_path: Path) -> None:
    hk.models.linear_evaluation("chess").save("weights.json")
    with pytest.raises(hk.errors.SourceError, match="it holds weights, not calibration"):
        spec_of("ab:calibration=weights.json")
    spec = spec_of(f"ab:calibration={save()}")
    with pytest.raises(hk.errors.NotationError, match="has a calibration already"):
        calibrated(spec, "a.json")
    with pytest.raises(hk.errors.NotationError, match="file name with commas"):
        calibrated("ab", save(name="a,b.json"))
    with pytest.raises(hk.errors.SourceError, match="for chess, not for othello"):
        agent_of(spec).check("othello", here=True)


def test_a_search_has_calibrated_values_in_a_study(save: Save, study: hk.Study) -> None:
    spec = "ab:nodes=1,hash=0"
    evaluate(study, [spec, f"{spec},calibration={save()}"])
    rows = study.sql("select engine, ply, value, score, best from evaluations order by 1, 2, score")
    by_engine: dict[str, list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        by_engine.setdefault(row.pop("engine"), []).append(row)
    plain, mapped = by_engine.values()
    assert len(plain) == len(mapped) == 5
    assert [row["score"] for row in plain] == [row["score"] for row in mapped]
    assert [row["value"] for row in mapped] == pytest.approx([platt(r["score"]) for r in plain])
    assert [row["value"] for row in plain] != pytest.approx([row["value"] for row in mapped])
    # The calibrated values are the quantity to analyze, not the scores.
    of_study = measured(study, f"{spec},calibration=a.json").samples[0]
    assert of_study.unit == "value"
    assert measured(study, spec).samples[0].unit == "centipawns"


def test_comments_tables_and_functions_are_calibrated_in_a_study(
    save: Save, study: hk.Study
) -> None:
    Path("mine.csv").write_text("game_id,ply,score,mate\n0,1,30,\n0,2,,-2\n0,3,,\n", "utf-8")

    def material(position: hk.games.Position) -> float:
        return 12.0

    function = hk.PythonEvaluator(material, unit="centipawns")
    summaries = evaluate(study, ["comments", "table:mine.csv", function], calibrated_by=save())
    assert [each.title for each in summaries] == [
        "comments, calibrated",
        "mine, calibrated",
        "material, calibrated",
    ]
    assert all("does not say which games" in " ".join(each.notes) for each in summaries)

    def values(name: str, column: str = "value") -> list[float | None]:
        sql = f"select {column} from evaluations where engine = '{name}' and game_id = 0"
        return list(study.sql(f"{sql} order by ply")[column].to_pylist())

    by_comments, by_table, by_function = (values(each.engine) for each in summaries)
    assert by_comments == pytest.approx([platt(score) for score in (30, 20, 110, -150)])
    assert by_table == pytest.approx([platt(30), 0.0])
    assert by_function == pytest.approx([platt(12)] * 5)
    # A second run finds all of them.
    again = evaluate(study, ["comments"], calibrated_by="a.json")[0]
    assert (again.found, again.done) == (4, 0)


def test_a_player_and_its_calibrated_comments_have_different_names(
    save: Save, tmp_path: Path
) -> None:
    players = '[White "Alice"]\n[Black "Bob"]\n'
    (tmp_path / "games.pgn").write_text(players + PGN, encoding="utf-8")
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")
    evaluate(study, ["comments:by=player,games=1"])
    evaluate(study, ["comments:by=player,games=1"], calibrated_by=save())
    assert len(study.engines) == 4
    [name] = chosen_evaluators(study, "Alice")
    assert evaluator_titles(study, [name]) == ["comments by Alice"]
    [name] = chosen_evaluators(study, "comments:player=Alice,calibration=a.json")
    assert evaluator_titles(study, [name]) == ["comments by Alice, calibrated"]


def test_wins_and_losses_depend_on_the_move_number(save: Save, study: hk.Study) -> None:
    name = save(WdlMap((60.0, 40.0), (50.0,), 1, 3, 2))
    evaluate(study, [f"comments:calibration={name}"])
    rows = study.sql("select * from evaluations where game_id = 0 order by ply").to_pylist()
    model = CalibrationModel.load(name)
    for row in rows:
        assert row["value"] == pytest.approx(model.expected([row["score"]], row["ply"] // 2 + 1)[0])
        assert row["win"] + row["draw"] + row["loss"] == pytest.approx(1)
        assert row["win"] + row["draw"] / 2 == pytest.approx(row["value"])
    expected = [model.expected([row["score"]], 1)[0] for row in rows]
    assert [row["value"] for row in rows] != pytest.approx(expected)


def test_an_engine_has_calibrated_values(save: Save) -> None:
    command = shlex.join([sys.executable, str(ENGINE), "say=info depth 1 score cp 40"])
    agent = agent_of(f"uci:nodes=1,calibration={save()}:{command}")
    evaluator = agent.evaluator("chess")
    try:
        assert evaluator.identity() == ("Fake 1.0", "")
        line = hk.Chess().line().play("e4")
        [result] = evaluator.evaluate_each([RecordedGame.of_line("chess", line)])
    finally:
        evaluator.close()
    assert isinstance(result, hk.Evaluation)
    assert result.score == -40.0
    assert result.value == pytest.approx(platt(-40))


def test_a_player_plays_the_same_moves(save: Save) -> None:
    line = hk.Chess().line()

    def played(spec: str) -> hk.Evaluation:
        player = agent_of(spec).player("chess", "x", SearchLimits(nodes=50))

        async def first_move() -> hk.Evaluation:
            await player.new_game(1)
            return await player.play(Turn(line, None, None))

        return asyncio.run(first_move())

    plain, mapped = played("ab"), played(f"ab:calibration={save()}")
    assert (plain.best, plain.score) == (mapped.best, mapped.score)
    assert plain.score is not None
    assert mapped.value == pytest.approx(platt(plain.score))


def test_an_evaluator_without_the_input_is_an_error(save: Save, study: hk.Study) -> None:
    name = save(BetaMap(1.0, 2.0, 0.0), "value")
    message = "can't be calibrated by a.json: a value is needed"
    with pytest.raises(hk.errors.EngineError, match=message):
        evaluate(study, ["comments"], calibrated_by=name)

    def even(position: hk.games.Position) -> float:
        return 0.3

    save()
    with pytest.raises(hk.errors.EngineError, match="a score in centipawns is needed"):
        evaluate(study, [even], calibrated_by=name)


def test_the_studio_reads_the_model_in_its_folder(save: Save, tmp_path: Path) -> None:
    save()
    agent = Engines().agent("ab:nodes=1,calibration=a.json", Folder(tmp_path))
    assert agent.spec.title == "Alpha-beta, 1 node, calibrated"
    assert Path(str(agent.spec.model_file)).is_absolute()
    with pytest.raises(hk.errors.Error):
        Engines().agent("ab:nodes=1,calibration=../a.json", Folder(tmp_path))
