# SPDX-License-Identifier: Apache-2.0
"""Who an evaluator is: another function or another file is another one, in studies and matches."""

import json
import pickle
import threading
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from engines import fake
from hyoka.arena import MatchPlan, MatchResult, PlayerSpec
from hyoka.engines import EngineSpec
from hyoka.search import Searcher, SearchSpec, ab, linear_evaluation, uct
from hyoka.storage.model_file import Origin
from hyoka.study.evaluating import evaluate
from hyoka.study.sampling import chosen_evaluators

PGN = "1. e4 e5 2. Nf3 Nc6 1-0\n"
POSITIONS = 5


@pytest.fixture
def study(tmp_path: Path) -> hk.Study:
    file = tmp_path / "games.pgn"
    file.write_text(PGN, encoding="utf-8")
    return hk.Study.create(tmp_path / "study", file)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "w.json"
    file.write_text(json.dumps({"weights": {"pawn": 100}}))
    return file


def values(study: hk.Study, engine: str) -> list[Any]:
    rows = study.sql("select engine, ply, value from evaluations order by ply").to_pylist()
    return [row["value"] for row in rows if row["engine"] == engine]


def advanced(position: hk.Chess) -> float:
    """Says more the further the game has gone."""
    return 0.1 + position.text.count("p") / 100


# Functions


def test_a_plain_function_evaluates_a_study(study: hk.Study) -> None:
    [report] = evaluate(study, [advanced])
    assert (report.wanted, report.done) == (POSITIONS, POSITIONS)
    assert values(study, report.engine) == pytest.approx([0.18] * POSITIONS)
    [again] = evaluate(study, [advanced])
    assert (again.found, again.done) == (POSITIONS, 0)
    known = tomllib.loads(
        (study.path / "evaluations" / f"engine={report.engine}" / "engine.toml").read_text()
    )
    assert known["spec"] == "advanced"
    assert known["contents"]["function"]


def test_two_functions_of_one_name_do_not_share_values(study: hk.Study) -> None:
    made = [hk.PythonEvaluator(lambda p: 0.25, "f"), hk.PythonEvaluator(lambda p: 0.75, "f")]
    one, other = (evaluate(study, [each])[0] for each in made)
    assert (other.found, other.done) == (0, POSITIONS)
    assert values(study, one.engine) == [0.25] * POSITIONS
    assert values(study, other.engine) == [0.75] * POSITIONS
    assert one.notes == []
    [note] = other.notes
    assert note.startswith("function of f has changed since ")
    assert note.endswith(f"; stored as a new evaluator {other.engine}")
    with pytest.raises(hk.errors.StudyError, match="'f' is ambiguous: python-f-"):
        chosen_evaluators(study, "f")
    assert chosen_evaluators(study, other.engine) == [other.engine]


def test_searches_with_functions_do_not_share_values_either(study: hk.Study) -> None:
    def made(value: float) -> SearchSpec:
        return uct(playouts=8, evaluator=lambda positions: [value] * len(positions))

    one, same, other = (evaluate(study, [made(value)])[0] for value in (0.2, 0.2, 0.6))
    assert (same.found, same.done) == (POSITIONS, 0)
    assert (other.found, other.done) == (0, POSITIONS)
    assert values(study, one.engine) == pytest.approx([0.2] * POSITIONS)
    assert values(study, other.engine) == pytest.approx([0.6] * POSITIONS)


def test_a_fingerprint_of_ones_own_is_believed(study: hk.Study) -> None:
    first = hk.PythonEvaluator(lambda p: 0.25, "net", fingerprint="12")
    second = hk.PythonEvaluator(lambda p: 0.75, "net", fingerprint="12")
    assert first == second
    evaluate(study, [first])
    assert evaluate(study, [second])[0].done == 0


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        (lambda position: 0.5, 'a lambda has no name; add a title: .*title="…"'),
        (3, "no search, engine or function: 3"),
    ],
)
def test_invalid_evaluators_are_refused(study: hk.Study, evaluator: Any, message: str) -> None:
    with pytest.raises(hk.Error, match=message):
        evaluate(study, [evaluator])


def test_what_a_function_says_is_checked(study: hk.Study) -> None:
    def wrong(position: Any) -> float:
        return 1.7

    def not_a_number(position: Any) -> float:
        return float("nan")

    def text(position: Any) -> str:
        return "good for White"

    def broken(position: Any) -> float:
        return 1 / len("")

    reasons: dict[Callable[[Any], Any], str] = {
        wrong: "wrong: gave 1.7 at ply 0 of game 0: an expected result is 0 to 1",
        not_a_number: "not_a_number: gave nan at ply 0 of game 0: an expected result is 0 to 1",
        text: "text: gave 'good for White' at ply 0 of game 0: neither a number nor an Evaluation",
        broken: "broken: raised ZeroDivisionError('division by zero') at ply 0 of game 0",
    }
    for function, message in reasons.items():
        with pytest.raises(hk.errors.EngineError) as caught:
            evaluate(study, [function])
        assert str(caught.value).startswith(message)


def test_a_function_may_give_whole_evaluations(study: hk.Study) -> None:
    def material(position: hk.Chess) -> hk.Evaluation:
        return hk.Evaluation(score=30.0, unit="centipawns", depth=2)

    evaluate(study, [material])
    rows = study.sql("select score, unit, depth, value from evaluations").to_pylist()
    assert rows == [{"score": 30.0, "unit": "centipawns", "depth": 2, "value": None}] * POSITIONS


class Elsewhere(Executor):
    """Runs tasks at once, with what comes out when they are sent as Dask sends them."""

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
        cloudpickle = pytest.importorskip("cloudpickle")
        there = pickle.loads(cloudpickle.dumps((function, arguments, more)))
        future: Future[Any] = Future()
        future.set_result(there[0](*there[1], **there[2]))
        return future


def test_functions_travel(study: hk.Study) -> None:
    table = {"a": 0.3}
    specs: list[Any] = [
        hk.PythonEvaluator(lambda position: table["a"], "table"),
        uct(playouts=4, evaluator=lambda positions: [table["a"]] * len(positions)),
    ]
    reports = evaluate(study, specs, executor=Elsewhere())
    for report in reports:
        assert values(study, report.engine) == pytest.approx([0.3] * POSITIONS)
    assert [r.done for r in evaluate(study, specs)] == [0, 0]


def test_a_function_that_cannot_be_sent_is_refused(study: hk.Study) -> None:
    lock = threading.Lock()

    def locked(position: Any) -> float:
        with lock:
            return 0.5

    evaluator = hk.PythonEvaluator(locked, fingerprint="1")
    with pytest.raises(
        hk.errors.ParallelError, match=r"locked can't be sent to the workers: .*pickle"
    ):
        evaluate(study, [evaluator], executor=Elsewhere())


# Files


def test_a_file_that_changed_is_another_evaluator(study: hk.Study, weights: Path) -> None:
    spec = f"ab:depth=1,eval={weights}"
    [before] = evaluate(study, [spec])
    [same] = evaluate(study, [spec])
    assert (same.found, same.done, same.notes) == (POSITIONS, 0, [])
    weights.write_text(json.dumps({"weights": {"knight": 900}}))
    [after] = evaluate(study, [spec])
    assert (after.found, after.done) == (0, POSITIONS)
    assert after.engine != before.engine
    [note] = after.notes
    assert note.startswith(f"eval of {spec} has changed since ")
    assert note.endswith(f"; stored as a new evaluator {after.engine}")
    assert values(study, before.engine) != values(study, after.engine)


def test_the_same_content_under_another_name_is_the_same_evaluator(
    study: hk.Study, weights: Path
) -> None:
    evaluate(study, [f"ab:depth=1,eval={weights}"])
    copy = weights.with_name("copy.json")
    copy.write_bytes(weights.read_bytes())
    assert evaluate(study, [f"ab:depth=1,eval={copy}"])[0].done == 0


@pytest.mark.parametrize("name", ["eval", "strengths", "book"])
def test_all_files_of_a_spec_count_by_content(name: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    beside = {"eval": "eval_visits=3", "strengths": "policy=strengths", "book": "killer=on"}[name]
    texts = {"eval": ('{"pawn": 90}', '{"pawn": 91}'), "book": (PGN, PGN + "\n" + PGN)}
    one, other = texts.get(name, ('{"capture_pawn": 2}', '{"capture_pawn": 3}'))
    text = f"uct:{beside},{name}={file}"
    file.write_text(one)
    before = SearchSpec.from_text(text)
    file.write_text(other)
    after = SearchSpec.from_text(text)
    assert before.text == after.text
    assert before.id != after.id
    assert before.dependencies != after.dependencies
    file.write_text(one)
    assert SearchSpec.from_text(text).id == before.id


def test_a_file_is_read_where_the_spec_is_and_never_again(study: hk.Study, weights: Path) -> None:
    spec = SearchSpec.from_text(f"ab:depth=1,eval={weights}")
    heavy = linear_evaluation("chess", weights)
    weights.unlink()
    [report] = evaluate(study, [spec], executor=Elsewhere())
    expected = evaluate(study, [ab(depth=1, evaluation=heavy)])[0]
    assert values(study, report.engine) == values(study, expected.engine)


def test_a_book_is_read_where_the_spec_is(tmp_path: Path) -> None:
    file = tmp_path / "book.pgn"
    file.write_text(PGN)
    spec = uct(playouts=20, book=file)
    file.unlink()
    assert str(Searcher(spec, "chess").search(hk.Chess()).best) == "e2e4"
    with pytest.raises(hk.errors.SourceError, match="no othello games for a book"):
        Searcher(spec, "othello")


# Matches


def games_of(result: MatchResult) -> int:
    return len(result.games)


def test_a_match_stops_before_its_next_game_if_a_file_has_changed(
    tmp_path: Path, weights: Path
) -> None:
    def plan() -> MatchPlan:
        return hk.plan_match(f"new=ab:depth=1,eval={weights}", "random", game="chess", max_plies=6)

    first = plan()
    assert games_of(hk.play_match(first, tmp_path / "match", games=2)) == 2
    before = weights.read_bytes()
    weights.write_text(json.dumps({"weights": {"knight": 900}}))
    changed = plan()
    assert changed.id != first.id
    with pytest.raises(hk.errors.StudyError) as caught:
        hk.play_match(changed, tmp_path / "match", games=4)
    assert f"{weights} has changed since it began" in str(caught.value)
    assert games_of(hk.play_match(first, tmp_path / "match", games=2)) == 2
    weights.write_bytes(before)
    assert games_of(hk.play_match(plan(), tmp_path / "match", games=4)) == 4


def test_a_changed_file_of_profiles_stops_a_match_too(tmp_path: Path) -> None:
    profiles = tmp_path / "mine.toml"
    profiles.write_text("[mine]\n")

    def plan() -> MatchPlan:
        engine = fake("gtp", "moves=pass", settings=f"name=passer,profile={profiles}")
        return hk.plan_match(engine, "random", game="go5", max_plies=4)

    hk.play_match(plan(), tmp_path / "match", games=2)
    profiles.write_text("[mine]\npasses = false\n")
    with pytest.raises(hk.errors.StudyError, match=r"profile of .*mine\.toml.* has changed"):
        hk.play_match(plan(), tmp_path / "match", games=4)


def test_how_weights_were_made_makes_no_other_evaluator(study: hk.Study, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    heavy = linear_evaluation("chess").with_weights({"pawn": 90})
    heavy.save(file, Origin("one command"))
    [before] = evaluate(study, [f"ab:depth=1,eval={file}"])
    heavy.save(file, Origin("another command", seed=7))
    [after] = evaluate(study, [f"ab:depth=1,eval={file}"])
    assert (after.engine, after.done, after.notes) == (before.engine, 0, [])
    [named] = evaluate(study, ["ab:depth=1,eval=built-in"])
    [unnamed] = evaluate(study, ["ab:depth=1"])
    assert (unnamed.engine, unnamed.done) == (named.engine, 0)


def test_searches_made_in_python_play_matches(tmp_path: Path) -> None:
    def made(value: float) -> MatchPlan:
        search = uct(playouts=4, evaluator=lambda positions: [value] * len(positions))
        return hk.plan_match(search, "random", game="othello", max_plies=10)

    one, other = made(0.5), made(0.6)
    assert one.id == made(0.5).id != other.id
    titles = [player.title for player in one.players]
    assert titles == ["UCT, 4 playouts, custom evaluation", "Random"]
    hk.play_match(one, tmp_path / "match", games=2)
    with pytest.raises(
        hk.errors.StudyError, match=r"evaluator of uct.* has changed since it began"
    ):
        hk.play_match(other, tmp_path / "match", games=4)


def test_players_in_a_match_are_specs(tmp_path: Path) -> None:
    engine = EngineSpec(protocol="uci", command="stockfish")
    plan = hk.plan_match(engine, ab(depth=1), PlayerSpec("x", ab(depth=2)), clock="5+0")
    assert plan.rules.game == "chess"
    assert [player.clock is not None for player in plan.players] == [True, True, False]
    with pytest.raises(hk.errors.NotationError, match="no search, engine or function: 3"):
        hk.plan_match(ab(), 3)  # type: ignore[arg-type]


# Names as errors list them


def test_patterns_match_the_names_that_errors_list(study: hk.Study) -> None:
    reports = evaluate(study, ["mc:playouts=2", "uct:playouts=2"])
    first, second = (report.engine for report in reports)
    with pytest.raises(hk.errors.StudyError) as error:
        chosen_evaluators(study, "gnugo*")
    message = str(error.value)
    titles = ("Monte Carlo, 2 playouts", "UCT, 2 playouts")
    specs = ("mc:playouts=2", "uct:playouts=2")
    for engine, spec, title in zip((first, second), specs, titles, strict=True):
        assert title in message
        patterns = (f"{engine[:-4]}*", f"*{engine[-8:]}", spec[:3] + "*", f"{title[:3]}*")
        for pattern in (*patterns, engine, spec, title):
            assert chosen_evaluators(study, pattern) == [engine]
    assert sorted(chosen_evaluators(study, ["*playouts*"])) == sorted([first, second])


def test_a_program_is_found_by_a_pattern_of_its_name(study: hk.Study) -> None:
    [report] = evaluate(study, [fake("uci")])
    program = report.engine.partition("-")[0]
    assert not report.engine.startswith("uci")
    assert chosen_evaluators(study, f"{program}*") == [report.engine]
