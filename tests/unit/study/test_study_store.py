# SPDX-License-Identifier: Apache-2.0
"""What lies on the disk: one writer at a time, all of a change or nothing, damage is noticed."""

import contextlib
import fcntl
import json
import multiprocessing
import random
import shutil
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hyoka as hk
from hyoka.apps.cli import run
from hyoka.storage import manifest, run_folder
from hyoka.storage.files import read_toml, toml_text, write_sealed_toml, write_text
from hyoka.storage.run_folder import is_held, locked
from hyoka.storage.table_files import write_parquet
from hyoka.study import append_to_study, importing
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate
from hyoka.study.tables import Snapshot
from hyoka.study.verify import check_study

TABLES = ("games", "positions", "remarks", "refused", "evaluations", "adjudications")


def pgn(count: int, seed: int) -> str:
    """Random games, some twice, some that can't be taken, some with values."""
    choose = random.Random(seed)
    texts = []
    for number in range(count):
        game, moves = hk.Chess(), []
        for _ in range(choose.randrange(1, 12)):
            move = choose.choice(game.legal_moves)
            moves.append(game.san(move) + (" {[%eval 0.3]}" if number % 3 == 0 else ""))
            game = game.play(move)
        texts.append(f"1. {' '.join(moves)} *\n\n")
        if number % 4 == 0:
            texts += ["1. e4 e5 2. Ke3 *\n\n", texts[-1]]
    return "".join(texts)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_PART_MOVES", 1)
    monkeypatch.setattr(manifest, "_PART_ROWS", 3)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two folders of games; a file is a part. The second has some of the first's games."""
    folder = tmp_path_factory.mktemp("records")
    for number, seeds in enumerate([(1, 2), (3, 1, 4)]):
        (folder / str(number)).mkdir()
        for seed in seeds:
            file = folder / str(number) / f"{seed}.pgn"
            file.write_text(pgn(2, seed), encoding="utf-8")
    return [folder / "0", folder / "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, files: list[Path]) -> hk.Study:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importing, "_PART_MOVES", 1)
        study = hk.Study.create(tmp_path_factory.mktemp("made") / "study", files[0])
    evaluate(study, ["comments"])
    adjudicate(study, "mine", where="ply = 0", solver=lambda _position: 0.5)
    return study


@pytest.fixture
def study(tmp_path: Path, made: hk.Study) -> hk.Study:
    return hk.Study.open(shutil.copytree(made.path, tmp_path / "study"))


def content(study: hk.Study) -> dict[str, list[Any]]:
    """Everything that is in a study, without when it was written."""
    snapshot = Snapshot.of(study.path)
    rows = {
        table: sorted(map(repr, snapshot.query(f"select * from {table}").to_pylist()))
        for table in TABLES
    }
    described = dict(snapshot.study.values)
    del described["created"]
    return {**rows, "described": [described]}


# Two at once -----------------------------------------------------------------------------------

APPEND = "append"
ANALYZE = "analyze"
COMMANDS: dict[str, Callable[[Path, Path], object]] = {
    APPEND: append_to_study,
    "evaluate comments": lambda study, _: evaluate(hk.Study.open(study), ["comments"]),
    "evaluate ab": lambda study, _: evaluate(hk.Study.open(study), ["ab:depth=1"]),
    "adjudicate rules": lambda study, _: adjudicate(hk.Study.open(study), "rules"),
    "adjudicate mate": lambda study, _: adjudicate(hk.Study.open(study), "mate"),
    ANALYZE: lambda study, _: hk.Study.open(study).sql("select count(*) from positions"),
    "check": lambda study, _: check_study(study),
}
PAIRS = [(one, other) for one in COMMANDS for other in COMMANDS if one <= other]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_commands_at_the_same_moment_leave_a_whole_study(
    study: hk.Study, files: list[Path], one: str, other: str
) -> None:
    """Each is done whole, or failed because somebody else is writing."""
    started = threading.Barrier(2)
    errors: dict[int, Exception] = {}

    def work(number: int, name: str) -> None:
        started.wait()
        try:
            COMMANDS[name](study.path, files[1])
        except hk.errors.StudyError as error:
            errors[number] = error

    threads = [threading.Thread(target=work, args=each) for each in enumerate((one, other))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) <= (1 if one == other else 0)
    assert all("another process is writing here (" in str(each) for each in errors.values())
    found = check_study(study.path)
    assert found.damage == []
    # What a second adjudication has replaced stays for those who still read it.
    assert [each for each in found.leftovers if not each.startswith("adjudications/")] == []
    games = study.sql("select count(*) as n from games")["n"][0].as_py()
    times = [one, other].count(APPEND) - sum((one, other)[number] == APPEND for number in errors)
    assert games == 6 + 9 * times


@pytest.mark.parametrize("name", [APPEND, "evaluate comments", "adjudicate rules"])
def test_the_second_process_learns_who_holds_the_lock(
    study: hk.Study, files: list[Path], name: str
) -> None:
    places = {
        APPEND: study.path,
        "evaluate comments": study.path / "evaluations" / "engine=comments",
        "adjudicate rules": study.path / "adjudications" / "method=rules",
    }
    places[name].mkdir(parents=True, exist_ok=True)
    before = content(study)
    with (
        locked(places[name], "painting it green"),
        pytest.raises(hk.errors.StudyError, match=r"process \d+, painting it green since \d{4}-"),
    ):
        COMMANDS[name](study.path, files[1])
    assert content(study) == before
    COMMANDS[name](study.path, files[1])


def test_a_lock_goes_with_its_process(study: hk.Study) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=hold, args=(study.path, ready))
    holder.start()
    assert ready.wait(60)
    assert is_held(study.path)
    holder.kill()
    holder.join()
    assert not is_held(study.path)


def hold(folder: Path, ready: Any) -> None:
    with locked(folder, "waiting"):
        ready.set()
        threading.Event().wait()


def test_a_lock_of_a_folder_that_was_taken_away_is_none(tmp_path: Path) -> None:
    """Between opening the lock and holding it, its folder went and came again."""
    with locked(tmp_path, "leaving"):
        old = (tmp_path / ".lock").open("rb")
        (tmp_path / ".lock").unlink()
    with (
        old,
        locked(tmp_path, "coming"),
        pytest.raises(hk.errors.StudyError, match="coming"),
        locked(tmp_path, "too late"),
    ):
        pass


def test_the_second_of_two_who_create_a_study_is_refused(
    tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read their records before either puts its study in place."""
    meeting = threading.Barrier(2)
    put = hk.study.study._put_in_place
    results: list[object] = []

    def put_together(partial: Path, folder: Path) -> None:
        meeting.wait(60)
        put(partial, folder)

    monkeypatch.setattr(hk.study.study, "_put_in_place", put_together)

    def make(file: Path) -> None:
        try:
            results.append(hk.Study.create(tmp_path / "new", file))
        except hk.errors.StudyError as error:
            results.append(str(error))

    threads = [threading.Thread(target=make, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refusals = [each for each in results if isinstance(each, str)]
    assert len(refusals) == 1
    assert "another process has just created it" in refusals[0]
    assert check_study(tmp_path / "new").is_whole
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


# All or nothing --------------------------------------------------------------------------------


class Killed(BaseException):
    """Nobody catches it, as nobody catches a kill."""


def killed_at(monkeypatch: pytest.MonkeyPatch, moment: int) -> list[int]:
    """Let the process die at the n-th time that a file would be put in place."""
    count = [0]
    lock = threading.Lock()
    write_manifest = manifest.write_manifest

    def tick() -> None:
        with lock:
            count[0] += 1
            if count[0] >= moment:
                raise Killed

    def part(*given: Any) -> Any:
        written = write_parquet(*given)
        tick()
        return written

    def whole(*given: Any) -> None:
        tick()
        write_manifest(*given)

    monkeypatch.setattr(manifest, "write_parquet", part)
    monkeypatch.setattr(manifest, "write_manifest", whole)
    return count


def added(study: Path, files: list[Path]) -> None:
    append_to_study(study, files[1])


def evaluated(study: Path, _: list[Path]) -> None:
    evaluate(hk.Study.open(study), ["ab:depth=1"], where="ply < 2", flush_s=0)


def adjudicated(study: Path, _: list[Path]) -> None:
    adjudicate(hk.Study.open(study), "mine", where="ply < 2", solver=lambda _position: 1.0)


@pytest.mark.parametrize("change", [added, evaluated, adjudicated])
def test_a_change_that_was_killed_anywhere_and_done_again_is_as_if_never_killed(
    study: hk.Study,
    files: list[Path],
    change: Callable[[Path, list[Path]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hyoka.study.evaluating._FIRST_TASK", 4)
    monkeypatch.setattr("hyoka.study.evaluating._LARGEST_TASK", 4)
    before = content(study)
    after = shutil.copytree(study.path, study.path.with_name("after"))
    with monkeypatch.context() as counting:
        count = killed_at(counting, sys.maxsize)
        change(after, files)
    [last] = count
    assert last > 3
    wanted = content(hk.Study.open(after))
    wanted["evaluations"] = untimed(wanted["evaluations"])
    assert wanted != before
    # Every third of many: a part has four tables, so that each of them is met.
    for moment in sorted({*range(1, last, 3 if last > 8 else 1), last}):
        path = shutil.copytree(study.path, study.path.with_name(f"killed-{moment}"))
        copy = hk.Study.open(path)
        with monkeypatch.context() as dying:
            killed_at(dying, moment)
            try:
                change(path, files)
            except Killed:
                pass
            else:  # answers that came together are put in place together
                break
        now = content(copy)
        if change is evaluated:  # what it has said so far stays
            assert set(untimed(now["evaluations"])) <= set(wanted["evaluations"])
            now["evaluations"] = before["evaluations"]
        assert now == before
        assert check_study(path).damage == []
        change(path, files)
        now = content(copy)
        now["evaluations"] = untimed(now["evaluations"])
        assert now == wanted
        found = check_study(path)
        assert (found.damage, found.leftovers) == ([], []) or change is adjudicated


def untimed(rows: list[str]) -> list[str]:
    """What was said, without how long it took."""
    return [row.partition("'time_s'")[0] + row.partition("'author'")[2] for row in rows]


def test_answers_of_a_method_stay_unless_asked_again(study: hk.Study) -> None:
    """The second question keeps the first one's answers; the newer answer counts."""

    def ask(where: str, answer: float | None) -> None:
        adjudicate(study, "mine", where=where, solver=lambda _position: answer)

    games = study.sql("select count(*) as n from games where duplicate_of is null")["n"][0].as_py()
    ask("ply = 1", 1.0)
    counts = "select result, count(*) as n from adjudications group by result order by result"
    assert study.sql(counts).to_pylist() == [
        {"result": 0.5, "n": games},
        {"result": 1.0, "n": games},
    ]
    ask("ply = 0 and game_id = 0", 0.0)
    assert study.sql(counts)["n"].to_pylist() == [1, games - 1, games]
    ask("ply = 1", None)  # it knows no longer
    assert study.sql(counts)["n"].to_pylist() == [1, games - 1]


def test_readers_of_the_former_list_can_finish(study: hk.Study) -> None:
    snapshot = Snapshot.of(study.path)
    adjudicate(study, "mine", where="ply = 0", solver=lambda _position: 1.0)
    assert set(snapshot.query("select result from adjudications")["result"].to_pylist()) == {0.5}
    assert set(study.sql("select result from adjudications")["result"].to_pylist()) == {1.0}


def test_what_a_study_says_of_itself_counts_what_was_added(
    study: hk.Study, files: list[Path]
) -> None:
    _, report = append_to_study(study.path, files[1])
    described = manifest.read_description(study.path)
    counted = study.sql(
        "select (select count(*) from games) as games, (select count(*) from positions) as "
        "positions, (select count(duplicate_of) from games) as duplicates"
    ).to_pylist()[0]
    assert {name: described[name] for name in counted} == counted
    assert described["refused"] == {"illegal move": 2 + report.refused["illegal move"]}


# Damage ----------------------------------------------------------------------------------------


def study_files(study: hk.Study) -> Iterator[Path]:
    for path in sorted(study.path.rglob("*")):
        if path.is_file() and path.name != ".lock":
            yield path


def test_a_flipped_bit_anywhere_is_noticed(study: hk.Study) -> None:
    choose = random.Random(7)
    sound = content(study)
    for path in study_files(study):
        data = path.read_bytes()
        for _ in range(2):
            at = choose.randrange(len(data))
            path.write_bytes(
                data[:at] + bytes([data[at] ^ 1 << choose.randrange(8)]) + data[at + 1 :]
            )
            assert not check_study(study.path).is_whole, (path, at)
            with contextlib.suppress(hk.errors.StudyError):
                assert content(study) == sound
        path.write_bytes(data)
    assert check_study(study.path).is_whole


def test_pages_are_compared_with_their_checksums_when_they_are_read(study: hk.Study) -> None:
    """In the middle of a column's data, where nothing but the checksum would tell."""
    path = study.path / "positions" / "part-000000.parquet"
    column = pq.read_metadata(path).row_group(0).column(0)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(hk.errors.StudyError, match=r"part-000000\.parquet: damaged: its checksum"):
        study.sql("select game_id from positions")


@pytest.mark.parametrize("table", ["games", "positions", "remarks", "refused", "evaluations"])
@pytest.mark.parametrize("how", ["missing", "cut"])
def test_a_part_that_is_gone_does_not_shrink_answers(
    study: hk.Study, files: list[Path], table: str, how: str
) -> None:
    part = next((study.path / table).rglob("part-*.parquet"))
    data = part.read_bytes()
    part.unlink() if how == "missing" else part.write_bytes(data[:-1])
    others = sorted(study_files(study))
    with pytest.raises(hk.errors.StudyError, match=part.name):
        study.sql(f"select * from {table}")
    if table != "evaluations":
        with pytest.raises(hk.errors.StudyError, match=part.name):
            append_to_study(study.path, files[1])
    assert sorted(study_files(study)) == others
    [damage] = check_study(study.path).damage
    assert damage.what.endswith(part.name)
    part.write_bytes(data)
    assert check_study(study.path).is_whole


@pytest.mark.parametrize("name", ["study.toml", "engine.toml", "method.toml"])
@pytest.mark.parametrize("how", ["changed", "cut", "empty", "binary", "other type", "gone"])
def test_a_damaged_manifest_is_one_line_that_names_it(
    study: hk.Study, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [file] = study.path.rglob(name)
    text = file.read_text(encoding="utf-8")
    if how == "gone":
        file.unlink()
    else:
        damaged = {
            "changed": text.replace("part-000000", "part-000001", 1),
            "cut": text[: len(text) // 2],
            "empty": "parts = 3\n",
            "binary": "\0\1\2",
            "other type": 'version = 2\ngame = 7\ncolumns = "x"\nparts = [1]\n',
        }
        file.write_text(damaged[how], encoding="utf-8")
    assert run(["study", "sql", str(study.path), "select count(*) from positions"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert name in shown
    assert run(["study", "verify", str(study.path), "--json"]) == 1
    [damage] = json.loads(capsys.readouterr().out)["damage"]
    assert damage["what"].endswith(name)


@pytest.mark.parametrize("table", ["games", "positions", "evaluations", "adjudications"])
def test_a_bad_footer_is_one_line_that_names_the_file(
    study: hk.Study, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = next((study.path / table).rglob("part-*.parquet"))
    data = part.read_bytes()
    part.write_bytes(data[:-8] + b"\xff\xff\xff\x7fPAR1")
    assert run(["study", "sql", str(study.path), f"select * from {table}"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert str(part) in shown


@pytest.mark.parametrize(
    ("table", "change", "problem"),
    [
        ("games", "game_id", "do not run from 0"),
        ("games", "duplicate_of", "a duplicate does not refer to an earlier game"),
        ("games", "plies", "number of moves differs from its column plies"),
        ("positions", "ply", "does not have one position per ply"),
        ("evaluations", "game_id", "positions that do not exist"),
        ("evaluations", "ply", "positions that do not exist"),
        ("adjudications", "game_id", "positions that do not exist"),
        ("remarks", "ply", "positions that do not exist"),
    ],
)
def test_tables_that_do_not_fit_one_another_are_noticed(
    study: hk.Study, table: str, change: str, problem: str
) -> None:
    """Written as they should be, with checksums and all, but with nonsense in them."""
    part = next((study.path / table).rglob("part-*.parquet"))
    rows = pq.read_table(part)
    values = [10_000, *rows[change].to_pylist()[1:]]
    index = rows.schema.get_field_index(change)
    kind = rows.schema.field(index)
    column = pa.array(values, kind.type)
    folder = part.parents[1] if table in manifest.TABLES else part.parent
    with locked(folder, "lying"):
        write_parquet(rows.set_column(index, kind, column), part)
        file = next(folder.glob("*.toml"))
        former = manifest.read_manifest(file)
        parts = [manifest.Part.on_disk(folder, each.name) for each in former.parts]
        manifest.write_manifest(file, former.values, parts)
    problems = [damage.problem for damage in check_study(study.path).damage]
    assert any(problem in each for each in problems), problems


def test_damaged_evaluations_can_be_dropped_and_asked_for_again(
    study: hk.Study, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = content(study)
    part = next((study.path / "evaluations").rglob("part-*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])
    assert run(["study", "verify", str(study.path)]) == 1
    assert "--seal` drops it, then hyoka study evaluate" in capsys.readouterr().err
    assert run(["study", "verify", str(study.path), "--seal"]) == 0
    assert study.engines == []
    evaluate(study, ["comments"])
    assert content(study)["evaluations"] == sound["evaluations"]


def test_games_that_are_damaged_are_not_sealed(study: hk.Study) -> None:
    part = study.path / "games" / "part-000000.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(hk.errors.StudyError, match=r"create it again: hyoka study create NEW .*/0"):
        check_study(study.path, seal=True)


def test_a_manifest_that_was_changed_by_hand_can_be_accepted(study: hk.Study) -> None:
    file = study.path / "study.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('/0"', '/first"'))
    with pytest.raises(hk.errors.StudyError, match="changed by hand"):
        hk.Study.open(study.path)
    assert check_study(study.path, seal=True).is_whole
    assert read_toml(file)["sources"][0].endswith("/first")


# Earlier versions ------------------------------------------------------------------------------


def as_version_1(study: hk.Study) -> None:
    """Take from a study what its first version did not have."""
    for file in study.path.rglob("*.toml"):
        values = tomllib.loads(file.read_text(encoding="utf-8"))
        del values["parts"]
        if file.name == "study.toml":
            values["version"] = 1
        write_text(file, toml_text(values))
    for part in (study.path / "evaluations").rglob("part-*.parquet"):
        pq.write_table(pq.read_table(part).drop_columns(["author"]), part)


def test_a_study_of_the_first_version_opens_and_says_that_it_has_no_checksums(
    study: hk.Study, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = content(study)
    as_version_1(study)
    with pytest.warns(
        UserWarning,
        match=r"checksums; `hyoka study verify .* --seal` or the next command .* adds them",
    ):
        old = hk.Study.open(study.path)
    assert old.sql("select distinct author from evaluations").to_pylist() == [{"author": None}]
    assert run(["study", "verify", str(study.path)]) == 0
    assert "no checksums" in capsys.readouterr().err
    assert check_study(study.path, seal=True).sealed
    assert content(hk.Study.open(study.path)) == sound


def test_the_next_writer_gives_an_older_study_its_checksums(
    study: hk.Study, files: list[Path]
) -> None:
    as_version_1(study)
    with pytest.warns(UserWarning, match="without checksums"):
        append_to_study(study.path, files[1])
    evaluate(study, ["comments"])
    adjudicate(study, "mine", where="ply = 0", solver=lambda _position: 0.5)
    assert check_study(study.path).sealed
    assert check_study(study.path).is_whole


def test_positions_of_an_older_study_whose_games_were_lost_are_not_thrown_away(
    study: hk.Study, files: list[Path]
) -> None:
    as_version_1(study)
    lost = sorted((study.path / "games").glob("part-*.parquet"))[-1]
    lost.unlink()
    with pytest.warns(UserWarning, match="without checksums"):
        append_to_study(study.path, files[1])
    assert (study.path / "positions" / f"orphan-{lost.name}").exists()


# Numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("positions", "material"),
        ("positions", "ply"),
        ("games", "plies"),
        ("evaluations", "depth"),
        ("evaluations", "mate"),
        ("evaluations", "ply"),
        ("remarks", "mate"),
        ("adjudications", "ply"),
    ],
)
def test_whole_numbers_have_room(study: hk.Study, table: str, column: str) -> None:
    """Two bytes, as they have on the disk, would not do for a product of two columns."""
    product = f"(coalesce({column}, 0) + 30000::smallint) * (coalesce({column}, 0) + 30000::int)"
    found = study.sql(f"select max({product} * 1000::int) as x from {table}")
    assert found["x"][0].as_py() >= 9 * 10**11
    if table == "positions":
        assert len(study.select(f"{product} * 1000::int > 0")) > 0


def test_a_sealed_file_keeps_any_text(tmp_path: Path) -> None:
    values = {"a": "# sha256 of the lines above: x\n", "parts": ["x", "y"], "t": {"k": 1}}
    write_sealed_toml(tmp_path / "x.toml", values)
    assert read_toml(tmp_path / "x.toml") == values


def test_looking_at_a_lock_blocks_nobody(study: hk.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look holds the lock for a moment; a writer who comes in that moment tries again."""
    monkeypatch.setattr(run_folder, "_PATIENCE_S", 1.0)
    looking = (study.path / ".lock").open("rb")
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.01, looking.close).start()
    with locked(study.path, "writing"):
        assert is_held(study.path)


def test_an_older_study_that_miscounted_is_counted_anew(study: hk.Study) -> None:
    """The first version did not count what was added."""
    as_version_1(study)
    values = tomllib.loads((study.path / "study.toml").read_text(encoding="utf-8"))
    write_text(study.path / "study.toml", toml_text({**values, "games": 1, "positions": 2}))
    assert check_study(study.path, seal=True).is_whole
    described = manifest.read_description(study.path)
    games = study.sql("select count(*) as n from games")["n"][0].as_py()
    assert (described["games"], described["positions"]) == (games, len(study.select(None)))
