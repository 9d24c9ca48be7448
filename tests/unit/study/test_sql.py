# SPDX-License-Identifier: Apache-2.0
"""SQL from users reaches the tables and nothing else, and comes to an end."""

import ast
import contextlib
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hyoka as hk
from hyoka.apps.cli import run
from hyoka.foundation.errors import ConditionError, escape_control_chars
from hyoka.study import query_process, sql
from hyoka.study.evaluating import evaluate
from hyoka.study.sql import check_condition, connection, is_bounded, run_query

SOURCE = Path(__file__).parents[3] / "src" / "hyoka"
PGN = "".join(f"1. {move} {{[%eval 0.2]}} e5 2. d3 d6 *\n\n" for move in ("e4", "d4", "c4"))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("sql")
    file = folder / "games.pgn"
    file.write_text(PGN, encoding="utf-8")
    study = hk.Study.create(folder / "study", file)
    evaluate(study, ["comments"])
    return study


@pytest.fixture
def secret(study: hk.Study, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file whose one line nobody may see, also under names that DuckDB lets through."""
    folder = study.path.parent
    monkeypatch.chdir(folder)
    for name in (":memory:", ".tmp/x", "secret.csv"):
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("hidden treasure\nhidden treasure\n", encoding="utf-8")
    return str(folder / "secret.csv")


HOSTILE = [
    "exists (select (columns(*)).nosuch from read_csv('{file}', header=true))",
    "exists (select * from read_text('{file}'))",
    "exists (select * from read_text(':memory:'))",
    "exists (select * from read_text('.tmp/x'))",
    "exists (select * from '{file}')",
    "(select count(*) from glob('/*')) > 0",
    "(select count(*) from sniff_csv('{file}')) > 0",
    "(select count(*) from read_blob('{file}')) > 0",
    "(select count(*) from read_parquet('https://example.invalid/x.parquet')) > 0",
    "(select count(*) from query('select * from read_text(''{file}'')')) > 0",
    "(select count(*) from duckdb_extensions()) > 0",
    "(select count(*) from sqlite_scan('{file}', 'x')) > 0",
    "read_csv('{file}')",
    "1 = 1; copy (select 1) to 'out.csv'",
    "1 = 1) union all (select 1 from read_text('{file}')",
    "pragma import_database('{file}')",
]


@pytest.mark.parametrize("condition", HOSTILE)
def test_a_condition_reads_no_file(
    study: hk.Study, secret: str, condition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(study.path.parent.rglob("*"))
    for command in (
        ["analyze", "summary", "study", "--where"],
        ["analyze", "summary", "study", "--by"],
        ["study", "evaluate", "study", "--where"],
        ["study", "adjudicate", "study", "--where"],
        ["records", "info", "games.pgn", "--where"],
    ):
        assert run([*command, condition.format(file=secret)]) == 2
        shown = capsys.readouterr()
        assert "treasure" not in shown.out + shown.err
        assert shown.err.count("\n") == 1
    assert [path for path in study.path.parent.rglob("*") if path not in before] == []


def test_a_condition_over_files_is_refused_as_such(secret: str) -> None:
    with pytest.raises(hk.errors.ConditionError, match="conditions cannot read files"):
        check_condition(f"exists (select * from read_text('{secret}'))", ["ply"])


def test_every_duckdb_is_the_locked_one() -> None:
    """No other module may make a connection, or use the module's own."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "duckdb" not in text:
            continue
        tree = ast.parse(text)
        uses = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "duckdb"
        }
        renamed = [
            node
            for node in ast.walk(tree)
            if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("duckdb"))
            or (
                isinstance(node, ast.Import)
                and any(alias.name.startswith("duckdb") and alias.asname for alias in node.names)
            )
        ]
        assert not renamed, path
        wanted = {"connect"} if path.name == "sql.py" else set()
        assert {use for use in uses if not use.endswith(("Exception", "Error"))} == wanted, path


@pytest.mark.parametrize(
    "setting",
    ["set threads = 1", "set enable_external_access = true", "reset lock_configuration"],
)
def test_the_settings_are_locked_before_any_text_comes(setting: str) -> None:
    with pytest.raises(Exception, match="locked"):
        connection({}).execute(setting)


def test_an_extension_can_neither_be_loaded_nor_installed() -> None:
    opened = connection({})
    for statement in ("install httpfs", "load httpfs", "load '/tmp/x.duckdb_extension'"):
        with pytest.raises(Exception, match=r"disabled|Permission|not allowed"):
            opened.execute(statement)


def test_a_name_of_one_query_is_not_there_in_the_next() -> None:
    one = connection({"mine": pa.table({"x": [1]})}, {"view": "select x + 1 as y from mine"})
    for query in ("select y from view", "with v as (select y from view) select y from v"):
        assert run_query(one, query).to_pylist() == [{"y": 2}]
        with pytest.raises(hk.errors.ConditionError, match="view"):
            run_query(connection({}), query)


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from range(100000000000) a, range(100000) b where a.range * b.range = 7",
        "with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r",
        "select * from range(1000000000000)",
    ],
)
def test_an_endless_query_ends(
    study: hk.Study, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYOKA_SQL_SECONDS", "0.1")
    with pytest.raises(
        hk.errors.ConditionError, match=r"longer than 0.1 s; set HYOKA_SQL_SECONDS=1 "
    ):
        study.sql(query)
    monkeypatch.delenv("HYOKA_SQL_SECONDS")
    assert study.sql("select 1 as one").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize(
    "query",
    ["select range from range(10000000)", "select list(range) as all from range(10000000)"],
)
def test_the_error_of_a_query_that_fills_the_memory_explains_how_to_get_more(
    study: hk.Study, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYOKA_SQL_MEMORY", "30M")
    with pytest.raises(
        hk.errors.ConditionError, match=r"more memory than 0.03G; set HYOKA_SQL_MEMORY=0.06G"
    ):
        study.sql(query)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HYOKA_SQL_SECONDS", "soon"),
        ("HYOKA_SQL_SECONDS", "-1"),
        ("HYOKA_SQL_SECONDS", "nan"),
        ("HYOKA_SQL_MEMORY", "lots"),
        ("HYOKA_SQL_MEMORY", "3"),
    ],
)
def test_an_invalid_limit_is_refused(
    study: hk.Study, name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(hk.errors.ConditionError, match=name):
        study.sql("select 1")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select * from test_all_types()", "can't be shown"),
        ("select 1 as a, 2 as a", "two columns are called 'a'"),
        ("select 'x\x1b[31m'::int", r"x\x1b[31m"),
        ('select "x\x07" from games', r"x\x07"),
    ],
)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_what_can_not_be_shown_is_one_line(
    study: hk.Study,
    query: str,
    message: str,
    as_json: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["study", "sql", str(study.path), query, *as_json]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
    assert escape_control_chars(shown) == shown


def test_cells_move_no_cursor(study: hk.Study, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "sql", str(study.path), "select 'a' || chr(27) || '[2Jb' as x"]) == 0
    assert r"a\x1b[2Jb" in capsys.readouterr().out


def test_names_in_japanese_stay_as_they_are() -> None:
    assert escape_control_chars("羽生　善治 ≥ 九段") == "羽生　善治 ≥ 九段"


OVER_THE_LIMIT = [
    "length(repeat('a', 4000000000)) > 0",  # worked out before any row is seen
    "length(repeat('ab', 400000000 + ply)) > 3",
]


@pytest.mark.parametrize("condition", OVER_THE_LIMIT)
def test_memory_that_duckdb_does_not_count_has_a_limit_too(
    study: hk.Study, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYOKA_SQL_MEMORY", "100M")
    with pytest.raises(ConditionError, match="needs more memory"):
        study.select(condition)
    assert len(study.select("ply = 0")) > 0


@pytest.mark.parametrize("condition", ["ply = 0", OVER_THE_LIMIT[1], "'a' || ply = 'a0'"])
def test_no_limit_is_ever_set_on_this_process(
    study: hk.Study, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is started while a condition is at work inherits the limits of this process."""
    monkeypatch.setenv("HYOKA_SQL_MEMORY", "100M")
    before = resource.getrlimit(resource.RLIMIT_AS)
    limits = [subprocess.check_output(["sh", "-c", "ulimit -v"])]
    here, asked = sql.answer_here, query_process.QueryProcess.ask

    def answer_here(*given: Any, **more: Any) -> Any:
        limits.append(subprocess.check_output(["sh", "-c", "ulimit -v"]))
        return here(*given, **more)

    def ask(*given: Any) -> Any:
        limits.append(subprocess.check_output(["sh", "-c", "ulimit -v"]))
        return asked(*given)

    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(sql, "answer_here", answer_here)
    monkeypatch.setattr(query_process.QueryProcess, "ask", ask)
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with contextlib.suppress(ConditionError):
        study.select(condition)
    assert len(limits) > 1
    assert len(set(limits)) == 1
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_only_processes_of_their_own_limit_themselves() -> None:
    setting = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if "setrlimit" in path.read_text(encoding="utf-8")
    ]
    assert setting == ["engines/client/supervisor.py", "study/query_server.py"]


UNBOUNDED = [
    "repeat('a', 9)",
    "lpad('a', 9, 'b')",
    "'a' || 'b'",
    "concat('a', 'b')",
    "replace('aa', 'a', 'bb')",
    "hex(hex('a'))",
    "[1, 2]",
    "range(9)",
    "list_transform([1], lambda x: x)",
    "ply::int[3]",
    "columns('ply')",
    "printf('%9d', ply)",
    "(select max(range) from range(ply))",
    "sleep_ms(0)",
    "nothing(1)",
    "main.repeat('a', 9)",
    "\"repeat\"('a', 9)",
    "'a'.repeat(9)",
    "repeat /* comment */ ('a', 9)",
]


@pytest.mark.parametrize("expression", UNBOUNDED)
def test_what_could_fill_the_memory_runs_in_a_process_of_its_own(
    study: hk.Study, expression: str
) -> None:
    cursor = connection({}).cursor
    assert not is_bounded(cursor, f"select {expression} from positions")
    assert not is_bounded(cursor, f"select 1 from positions where {expression} is null")
    assert not is_bounded(cursor, f"select 1 from t where x in (select {expression} from t)")


@pytest.mark.parametrize(
    "query",
    [
        "with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r",
        "with a as (select 1), b as (from a, a), c as (from b, b) from c",
        f"select 1 as a0, {', '.join(f'a{i} + a{i} as a{i + 1}' for i in range(40))}",
        f"{'select *, * from (' * 9} select 1 {')' * 9}",
        "select ply from positions using sample reservoir(1000000000 rows)",
        "select count(*) from positions group by cube (ply, game_id)",
        "pivot positions on ply using count(*)",
        "select 1 where " + " or ".join(["ply = 1"] * 40_000),
    ],
)
def test_what_multiplies_runs_in_a_process_of_its_own(query: str) -> None:
    assert not is_bounded(connection({}).cursor, query)


@pytest.mark.parametrize(
    "query",
    [
        "select game_id, ply from positions where (ply >= 40 and not first_to_play\n)",
        "select * exclude (a), count(*) over () as n from positions order by n desc limit 3",
        "select engine, avg(value) as v from evaluations group by engine having count(*) > 3",
        "select max(range) from range(1000)",
        "select coalesce(tags['ECO'], '?') as e from games where first ilike 'a%' or ply in (1, 2)",
        "select case when abs(x - 1.5) < 2 then x::int end from (select 1 as x union all select 2)",
        "select fen(game_id, ply) as fen from positions where exists (select 1 from games)",
    ],
)
def test_usual_queries_run_here(query: str) -> None:
    assert is_bounded(connection({}).cursor, query)


def test_a_process_for_queries_says_what_this_one_would(
    study: hk.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = [
        "select game_id, ply, value from evaluations order by 1, 2",
        "select fen(game_id, ply) as f from positions order by game_id, ply",
        "select nothing from positions",
        "select 'x'::int",
        "select sfen(0, 1)",
        "select * from read_text('/etc/passwd')",
        "select tags, moves from games_ order by game_id",
        "select * from positions limit 0",
    ]

    def answers() -> list[Any]:
        outcomes: list[Any] = []
        for query in queries:
            try:
                outcomes.append(study.sql(query))
            except hk.Error as error:
                outcomes.append((type(error), str(error)))
        return outcomes

    here = answers()
    monkeypatch.setattr(sql, "is_bounded", lambda *_: False)
    assert answers() == here


def test_a_process_for_queries_that_ends_is_a_query_that_needs_more(
    study: hk.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = query_process.QueryProcess.ask

    def ask(process: query_process.QueryProcess, request: query_process.Request) -> Any:
        process.kill()
        return asked(process, request)

    with monkeypatch.context() as patch:
        patch.setattr(query_process.QueryProcess, "ask", ask)
        with pytest.raises(ConditionError, match="needs more memory"):
            study.sql("select 'a' || 'b' as x")
    assert study.sql("select 'a' || 'b' as x").to_pylist() == [{"x": "ab"}]


def test_a_process_for_queries_ends_with_who_asked() -> None:
    """Also in the middle of a query, and however that process ends."""
    code = (
        "import os, sys, threading\n"
        "from hyoka.study import query_process, sql\n"
        "opened = sql.connection({})\n"
        "query = \"select count(*) from range(100000000000) t(a) where 'a' || a = 'b'\"\n"
        "started = query_process.QueryProcess.start\n"
        "def start(process):\n"
        "    started(process)\n"
        "    print(process._process.pid, flush=True)\n"
        "query_process.QueryProcess.start = start\n"
        "threading.Thread(target=sql.run_query, args=(opened, query), daemon=True).start()\n"
        "sys.stdin.read()\n"
        "os._exit(0)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as asking:
        assert asking.stdout is not None
        pid = int(asking.stdout.readline())
        asking.kill()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}/cmdline").exists() and time.monotonic() < deadline:
        if not Path(f"/proc/{pid}/cmdline").read_bytes():  # a zombie
            break
        time.sleep(0.05)
    else:
        assert not Path(f"/proc/{pid}").exists()
