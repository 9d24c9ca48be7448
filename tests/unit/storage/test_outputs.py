# SPDX-License-Identifier: Apache-2.0
"""Which files may be written: never an input, and nothing that Hyoka did not write itself."""

import errno
import inspect
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args

import pyarrow as pa
import pytest
import typer

import hyoka as hk
from hyoka.apps.cli import run
from hyoka.apps.cli.command_options import Output, OutputFolder, declared, name_of, output_of
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.foundation.errors import OutputError
from hyoka.records import read_record
from hyoka.reporting import Page, write_page
from hyoka.storage import check_output, check_output_folder, kind_of_file, mark_png
from hyoka.storage.model_file import ModelFile
from hyoka.storage.result import write_table

GAME = "(;GM[1]FF[4]SZ[9]PB[A]PW[B]RE[B+R];B[ee];W[cc];B[gg])\n"
MODEL = ModelFile.of("weights", {"game": "chess", "weights": {"bishop_pair": 30}})
# The smallest PNG: one pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def commands_with_parameters() -> Iterator[tuple[str, inspect.Parameter]]:
    for command in COMMANDS:
        for parameter in inspect.signature(command.load()).parameters.values():
            yield command.name, parameter


def kinds_of_value(parameter: inspect.Parameter) -> set[Any]:
    """The types in an annotation, whatever it is a list or an alternative of."""
    waiting, found = [parameter.annotation], set()
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting += get_args(each)[: 1 if hasattr(each, "__metadata__") else None]
    return found


INPUTS = {"--from", "--study", "--config", "--data", "--model", "--calibrated-by"}
"""Options with paths that are read."""


def test_every_option_with_a_path_says_whether_it_is_an_output() -> None:
    """Otherwise a new command could write to a file that nobody has checked."""
    unmarked = []
    for name, parameter in commands_with_parameters():
        if Path not in kinds_of_value(parameter) or output_of(parameter) is not None:
            continue
        if (word := name_of(parameter)).startswith("-") and word not in INPUTS:
            unmarked.append(f"{name} {word}")
    assert unmarked == []


def test_every_command_with_an_output_file_has_the_same_force() -> None:
    helps = set()
    for command in COMMANDS:
        parameters = inspect.signature(command.load()).parameters
        has_output = any(isinstance(output_of(each), Output) for each in parameters.values())
        assert not has_output or "force" in parameters, command.name
        if "force" in parameters:
            (info,) = parameters["force"].annotation.__metadata__
            helps.add(info.help)
    assert len(helps) == 1


def test_a_new_file_may_be_written_and_nothing_stays_of_the_check(tmp_path: Path) -> None:
    check_output(tmp_path / "new.sgf")
    check_output(tmp_path / ("x" * 255))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere/x.csv", "no such folder"),
        ("file/x.csv", "can't be written|is a file"),
        ("folder", "is a folder"),
        ("x" * 256, "too long"),
        ("nul\0", "not a file name"),
        ("loop", "can't be written"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for force in (False, True):
        with pytest.raises(OutputError, match=problem):
            check_output(tmp_path / name, force=force)


def test_what_is_write_protected_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permissions as everybody but root has them."""
    model = tmp_path / "weights.json"
    MODEL.save(model)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != model)
    with pytest.raises(OutputError, match="write-protected"):
        check_output(model, kinds=["weights"])
    model.unlink()

    def refuse(*_: object, **__: object) -> tuple[int, str]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(OutputError, match="can't be written: Permission denied"):
        check_output(model)


def test_an_ending_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    check_output(tmp_path / "x.CSV", endings=[".csv"])
    with pytest.raises(OutputError, match=r"must end in one of \.csv"):
        check_output(tmp_path / "x.cvs", endings=[".csv"])


def test_another_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "thesis.html"
    file.write_text("<!doctype html>\n<p>mine")
    with pytest.raises(OutputError, match=r"already a file.*`force=True`"):
        check_output(file, kinds=["page"])
    check_output(file, force=True)


def test_what_hyoka_wrote_is_replaced_by_the_same_kind(tmp_path: Path) -> None:
    files = {
        "weights": tmp_path / "a.json",
        "page": tmp_path / "a.html",
        "table": tmp_path / "a.parquet",
        "picture": tmp_path / "a.png",
    }
    MODEL.save(files["weights"])
    write_page(Page("title"), files["page"])
    write_table(pa.table({"a": [1]}), files["table"])
    files["picture"].write_bytes(mark_png(PNG))
    for kind, file in files.items():
        assert kind_of_file(file) == kind
        check_output(file, kinds=[kind])
        with pytest.raises(OutputError, match=f"of kind '{kind}'"):
            check_output(file, kinds=["strengths"])


def test_files_of_others_are_of_no_kind(tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(pa.table({"generator": ["Hyoka"]}), tmp_path / "a.parquet")
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "a.json").write_text('{"bishop_pair": 30}')
    MODEL.save(tmp_path / "edited.json")
    edited = (tmp_path / "edited.json").read_text().replace("30", "31")
    (tmp_path / "edited.json").write_text(edited)
    (tmp_path / "a.h").write_text("// by hand\n")
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "a.pq").write_bytes(b"PAR1" * 3)
    (tmp_path / "empty").write_bytes(b"")
    assert {path.name: kind_of_file(path) for path in tmp_path.iterdir()} == dict.fromkeys(
        [path.name for path in tmp_path.iterdir()]
    )


@pytest.mark.parametrize("link", ["same", "symlink", "hard link", "folder"])
def test_an_input_is_never_replaced(tmp_path: Path, link: str) -> None:
    source = tmp_path / "records" / "go.sgf"
    source.parent.mkdir()
    source.write_text(GAME)
    output, read = tmp_path / "out.sgf", source
    if link == "symlink":
        output.symlink_to(source)
    elif link == "hard link":
        output.hardlink_to(source)
    else:
        output = source
    if link == "folder":
        read = source.parent
    with pytest.raises(OutputError, match="reads this file"):
        check_output(output, inputs=[read], force=True)


def test_files_of_a_study_are_inputs_and_reports_in_it_are_not(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "part-000000.parquet").write_text("PAR1")
    (tmp_path / "study.toml").write_text("version = 2\n")
    (tmp_path / "curves.csv").write_text("x\n")
    for name in ("games/part-000000.parquet", "study.toml"):
        with pytest.raises(OutputError, match="reads this file"):
            check_output(tmp_path / name, inputs=[tmp_path], force=True)
    check_output(tmp_path / "curves.csv", inputs=[tmp_path], force=True)


def test_pipes_and_devices_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    check_output(tmp_path / "pipe")
    check_output(Path("/dev/null"))


def test_a_folder_with_other_files_is_no_place_for_output(tmp_path: Path) -> None:
    check_output_folder(tmp_path / "new" / "folder", "match.toml")
    check_output_folder(tmp_path, "match.toml")
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"no match\.toml"):
        check_output_folder(tmp_path, "match.toml")
    for name in ("thesis.txt", "thesis.txt/match"):
        with pytest.raises(OutputError, match="file"):
            check_output_folder(tmp_path / name)
    (tmp_path / "match.toml").write_text("")
    check_output_folder(tmp_path, "match.toml")


def command(
    count: int = 1,
    text: str = "",
    output: Annotated[Path | None, Output(("weights",))] = None,
    other: Annotated[Path | None, Output()] = None,
    folder: Annotated[Path | None, OutputFolder("mark")] = None,
) -> None:
    """A command that does nothing."""


def call(**options: Any) -> None:
    usual = {"count": 1, "text": "", "output": None, "other": None, "folder": None, "force": False}
    declared(command)(**usual | options)


def test_files_in_texts_are_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    MODEL.save("w.json")
    call(output=Path("w.json"))
    for text in ("w.json", "ab:eval=w.json,depth=1", "name=ab:eval=./w.json@60", "*.json"):
        with pytest.raises(OutputError, match="reads this file"):
            call(output=Path("w.json"), text=text, force=True)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="the same file"):
        call(output=tmp_path / "a", other=tmp_path / "x" / ".." / "a")


def test_numbers_are_bounded() -> None:
    call(count=2**31 - 1)
    for number in (2**31, -(2**31), 10**30):
        with pytest.raises(typer.BadParameter, match="not in the range up to 2147483647") as caught:
            call(count=number)
        assert caught.value.param_hint == "'COUNT'"


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "mets", "GO", "--min-patterns", "99999999999999999999999"],
        ["learn", "mets", "GO", "--min-patterns", "9" * 5000],
        ["learn", "mets", "GO", "--min-patterns", str(2**31)],
        ["learn", "mets", "GO", "--smoothing", "1e309"],
        ["match", "run", "--margin", "nan"],
        ["position", "perft", "chess", str(10**30)],
    ],
)
def test_numbers_that_are_too_large_are_an_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    said = capsys.readouterr().err
    assert "hyoka" in said
    assert len(said.splitlines()) == 1


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "go.sgf"
    file.write_text(GAME + "(;GM[1]SZ[9];B[zz])\n")
    return file


@pytest.mark.parametrize("source", ["/dev/null", "model.json", "folder"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_converting_nothing_writes_nothing(records: Path, source: str, force: list[str]) -> None:
    MODEL.save("model.json")
    Path("folder").mkdir()
    before = records.read_bytes()
    assert run(["records", "convert", source, "-o", "new.sgf", *force]) == 2
    assert run(["records", "convert", source, "-o", "go.sgf", *force]) == 2
    assert records.read_bytes() == before
    assert not Path("new.sgf").exists()


def test_reading_nothing_is_no_success(records: Path) -> None:
    Path("empty.sgf").write_text("")
    for source in ("empty.sgf", "/dev/null"):
        assert run(["records", "info", source]) == 1
    assert run(["records", "info", str(records)]) == 0


def test_an_empty_file_name_is_not_the_folder_here(records: Path) -> None:
    assert records.exists()
    with pytest.raises(hk.errors.SourceError, match="a file name is empty"):
        list(hk.read_records(""))
    assert run(["records", "convert", "", "-o", "new.sgf"]) == 2


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "words",
    [
        ["records", "convert", "go.sgf", "-o", "go.sgf"],
        ["records", "convert", ".", "-o", "go.sgf"],
        ["records", "convert", "*.sgf", "-o", "go.sgf"],
        ["records", "convert", "go.sgf", "-o", "./link.sgf"],
        ["learn", "strengths", "--output", "go.sgf", "--", "go.sgf"],
        ["learn", "strengths", "--table", "go.sgf", "--", "go.sgf"],
        ["learn", "mets", "--output", "go.sgf", "go.sgf"],
        ["learn", "comparison", "--state", "go.sgf", "go.sgf"],
        ["book", "make", "--output", "go.sgf", "go.sgf"],
    ],
)
def test_no_command_replaces_its_input(records: Path, words: list[str], force: list[str]) -> None:
    Path("link.sgf").symlink_to("go.sgf")
    before = records.read_bytes()
    assert run([*words, *force]) == 2
    assert records.read_bytes() == before


def test_a_converted_file_is_replaced_by_force(records: Path) -> None:
    Path("out.sgf").write_text("mine")
    assert run(["records", "convert", "go.sgf", "-o", "out.sgf"]) == 2
    assert Path("out.sgf").read_text() == "mine"
    assert run(["records", "convert", "go.sgf", "-o", "out.sgf", "--force"]) == 0
    assert len(read_record("out.sgf")) == 3


def test_samples_are_copied_over_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["records", "samples"]) == 0
    assert run(["records", "samples"]) == 0
    changed = next(Path("samples").iterdir())
    changed.write_text("mine")
    assert run(["records", "samples"]) == 2
    assert changed.read_text() == "mine"
    assert run(["records", "samples", "--force"]) == 0
    assert changed.read_bytes() != b"mine"


def test_a_board_replaces_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run(["position", "show", "go9", "--svg", "board.svg"]) == 0
    Path("board.svg").write_text("<svg><!-- mine --></svg>")
    assert run(["position", "show", "go9", "--svg", "board.svg"]) == 2
    for _ in range(2):
        assert (
            run(
                ["position", "search", "go9", "--with", "mc:playouts=1", "--tree", "tree.dot", "-q"]
            )
            == 0
        )


def test_a_match_is_played_in_no_folder_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("thesis").mkdir()
    Path("thesis", "report.html").write_text("mine")
    words = ["match", "run", "mc:playouts=1", "uct:playouts=1", "--game", "go3", "--games", "2"]
    assert run([*words, "--output", "thesis", "-q"]) == 2
    assert [path.name for path in Path("thesis").iterdir()] == ["report.html"]
    plan = hk.plan_match("mc:playouts=1", "uct:playouts=1", game="go3")
    with pytest.raises(OutputError, match=r"no match\.toml"):
        hk.play_match(plan, "thesis", games=2)


@pytest.mark.parametrize(
    "words",
    [
        ["study", "create", "thesis", "go.sgf"],
        ["learn", "prior", "uct:preset=paper,playouts=2", "--game", "othello", "-o", "thesis"],
        ["match", "ablate", "uct:preset=paper", "--game", "othello", "-o", "thesis"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("name", ["notes.txt", "data/notes.txt", "data/study.toml"])
def test_runs_are_stored_in_no_folder_of_others(
    records: Path, words: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(words, records.parent, name, capsys)


@pytest.mark.parametrize("words", [["demo"], ["experiment", "run", "000-table3"]], ids=" ".join)
@pytest.mark.parametrize("name", ["notes.txt", "data/notes.txt"])
def test_several_studies_are_stored_in_no_folder_of_others(
    records: Path, words: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused([*words, "-o", "thesis"], records.parent, name, capsys)


def check_refused(
    words: list[str], here: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command writes nothing to the folder `thesis` that has a file of this name."""
    file = here / "thesis" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert run([*words, "--quiet"]) == 2
    assert "choose a new folder" in capsys.readouterr().err
    assert [each for each in Path("thesis").rglob("*") if each.is_file()] == [
        file.relative_to(here)
    ]


def test_a_folder_of_matches_is_known_by_the_matches_in_it(tmp_path: Path) -> None:
    interrupted = tmp_path / "interrupted"
    interrupted.mkdir()
    (interrupted / ".lock").write_text("")
    check_output_folder(tmp_path, "*/match.toml")
    with pytest.raises(OutputError, match=r"no match\.toml"):
        check_output_folder(tmp_path, "match.toml")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"no \*/match\.toml"):
        check_output_folder(tmp_path, "*/match.toml")
    (interrupted / "match.toml").write_text("")
    check_output_folder(tmp_path, "*/match.toml")


def test_a_study_is_created_in_no_existing_folder(records: Path) -> None:
    for name in ("empty", "thesis"):
        Path(name).mkdir()
    Path("thesis", "notes.txt").write_text("mine")
    for name in ("empty", "thesis", "."):
        with pytest.raises(hk.errors.StudyError, match="is not a study; choose another name"):
            hk.Study.create(name, records)
    assert [each.name for each in Path("thesis").iterdir()] == ["notes.txt"]


def test_an_input_folder_is_no_output_folder(tmp_path: Path) -> None:
    folder = tmp_path / "matches"
    folder.mkdir()
    (folder / "match.toml").write_text("")
    (tmp_path / "link").symlink_to(folder)
    check_output_folder(folder, "match.toml", inputs=[tmp_path, folder / "match.toml"])
    for name in ("matches", "link", "./matches"):
        for mark in ("match.toml", ""):
            with pytest.raises(OutputError, match="reads this folder"):
                check_output_folder(tmp_path / name, mark, inputs=[folder])


def test_experiments_are_not_stored_in_the_folder_of_their_records(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = records.parent / "data" / "000-table3"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    words = ["experiment", "run", "000-table3", "--data", "data", "-o", "data", "--quiet"]
    assert run(words) == 2
    assert "reads this folder" in capsys.readouterr().err
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]


def test_pictures_of_others_are_found_before_the_work(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", "create", "study", "go.sgf", "-q"]) == 0
    pictures = [Path("figures", "01-the-curves.png"), Path("page.curves.svg")]
    pictures[0].parent.mkdir()
    for picture in pictures:
        picture.write_text("mine")
    report = ["report", "study", "--figures", "figures", "-q"]
    experiment = ["experiment", "run", "000-table3", "--markdown", "page.md", "-q"]
    for words, picture in zip((report, experiment), pictures, strict=True):
        assert run(words) == 2
        assert f"{picture}: there is already a file" in capsys.readouterr().err
        assert picture.read_text() == "mine"
    # Other files may be there.
    pictures[0].rename(Path("figures", "photo.png"))
    pictures[1].rename("page2.curves.svg")
    for words in (report, experiment):
        run(words)
        assert "already a file" not in capsys.readouterr().err
    assert not Path("study", "report.html").exists()
    assert not Path("page.md").exists()
