# SPDX-License-Identifier: Apache-2.0
"""Measure the size and the coupling of the Python package, as the table in docs/design.md states.

    python scripts/measures.py [MEASURE ...]

Prints one line per measure. A module counts as executed by a task if a function of it runs outside
of an import: that is what a reader meets who follows the task. `tests/unit/scripts` compares the
figures with their limits and with the page.
"""

import argparse
import functools
import html
import inspect
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import hyoka as hk
from hyoka.arena import plan_match, play_match
from hyoka.records.samples import sample_path
from hyoka.reporting.study_report import ReportOptions

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "hyoka"


def modules() -> int:
    """The number of modules of the package."""
    return len(list(SOURCE.rglob("*.py")))


def lines() -> int:
    """The number of lines of the package, without the generated stubs."""
    return sum(len(path.read_bytes().splitlines()) for path in SOURCE.rglob("*.py"))


def repeated_names() -> int:
    """The number of file names that occur in several folders."""
    names = Counter(path.name for path in SOURCE.rglob("*.py"))
    return sum(count > 1 for count in names.values())


def loaded_modules(module: str = "hyoka.reporting.study_report") -> int:
    """The number of modules of the package that an import of one loads."""
    program = f"import sys, {module}; print(sum(m.split('.')[0] == 'hyoka' for m in sys.modules))"
    return int(_output(program))


class ExecutedModules:
    """Collects the modules of the package whose functions run, in all threads.

    Functions that run during an import do not count.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._imports = threading.local()

    def __enter__(self) -> "ExecutedModules":
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            depth = getattr(self._imports, "depth", 0)
            if event in ("call", "return"):
                self._imports.depth = max(0, depth + (1 if event == "call" else -1))
        elif event == "call" and _is_written(code):
            name = frame.f_globals.get("__name__", "")
            if name.split(".")[0] == "hyoka" and not getattr(self._imports, "depth", 0):
                self.names.add(name)


def _is_written(code: CodeType) -> bool:
    """Whether code is a function of a file: no body of a class, no generated method."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_filename.startswith("<")


def _study(folder: Path) -> Any:
    return hk.Study.create(folder / "study", sample_path("othello"))


def evaluate(folder: Path) -> set[str]:
    """Evaluate a study with a search."""
    study = _study(folder)
    with ExecutedModules() as executed:
        study.evaluate("uct:playouts=2", sample=20)
    return executed.names


def report(folder: Path) -> set[str]:
    """Write the report of a study."""
    study = _study(folder)
    study.evaluate("uct:playouts=2", sample=200)
    with ExecutedModules() as executed:
        study.report(folder / "report.html", options=ReportOptions(resamples=50))
    return executed.names


def match(folder: Path) -> set[str]:
    """Play a match of two searches."""
    with ExecutedModules() as executed:
        plan = plan_match("uct:playouts=2", "random", game="othello")
        play_match(plan, folder / "match", games=2)
    return executed.names


def studio(folder: Path) -> set[str]:
    """Click on *Analyze* in the studio's board room, and read the events to the end."""
    # These need the extra `web`.
    from starlette.testclient import TestClient  # noqa: PLC0415

    from hyoka.apps.cli.command_table import COMMANDS  # noqa: PLC0415
    from hyoka.apps.studio import Engines, Folder, Studio, studio_app  # noqa: PLC0415

    app = studio_app(Studio.on(Folder(folder), Engines({}), COMMANDS), token="t")
    client = TestClient(app, "http://127.0.0.1", cookies={"hyoka-studio-80": "t"})
    headers = {"origin": "http://127.0.0.1", "hx-request": "true"}
    values = {"game": "othello", "with": "uct:playouts=20", "seconds": "5"}
    client.get("/board", params={"game": "othello"}, headers=headers).raise_for_status()
    with ExecutedModules() as executed:
        answer = client.post("/board/analyze", data=values, headers=headers).raise_for_status()
        events = re.search(r'sse-connect="([^"]*)"', answer.text)
        assert events is not None
        client.get(html.unescape(events[1])).raise_for_status()
    return executed.names


TASKS: Final[Mapping[str, Callable[[Path], set[str]]]] = {
    each.__name__: each for each in (evaluate, report, match, studio)
}
"""Tasks whose executed modules are counted."""


def executed_modules(task: str) -> list[str]:
    """The modules that a task executes, in a process of its own."""
    program = (
        "import sys, tempfile, pathlib; sys.path.insert(0, sys.argv[1]); import measures\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        f"    print(*sorted(measures.TASKS[{task!r}](pathlib.Path(folder))), sep='\\n')"
    )
    return _output(program, str(Path(__file__).parent)).split()


@dataclass(frozen=True)
class Addition:
    """Files to change or write for a new part, shown by a part that exists."""

    part: str
    example: str
    """A pattern of the existing part, which each file contains."""
    files: tuple[str, ...]


ADDITIONS: Final = (
    Addition(
        "UCT formula with priors",
        "[Pp]uct",
        ("core/search/selection.h", "docs/reference/search.md"),
    ),
    Addition(
        "engine protocol",
        "cecp",
        (
            "src/hyoka/engines/client/cecp.py",
            "src/hyoka/engines/spec.py",
            "src/hyoka/engines/client/session.py",
        ),
    ),
    Addition(
        "record format",
        "[Cc]sa",
        (
            "core/records/csa.h",
            "core/records/csa.cpp",
            "core/bindings/records.cpp",
            "src/hyoka/records/formats.py",
            "src/hyoka/records/writing.py",
        ),
    ),
    Addition("metric", "lift", ("src/hyoka/analysis/metrics.py", "docs/reference/metrics.md")),
)


MEASURES: Final[Mapping[str, Callable[[], int]]] = {
    "modules": modules,
    "lines": lines,
    "repeated-names": repeated_names,
    "loaded": loaded_modules,
    **{task: functools.partial(lambda task: len(executed_modules(task)), task) for task in TASKS},
}


def _output(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> None:
    """Print measures by name, by default all."""
    parser = argparse.ArgumentParser(description="Measure the Python package.")
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    names = parser.parse_args(arguments).measures or list(MEASURES)
    if unknown := set(names) - set(MEASURES):
        parser.error(f"no measure {', '.join(sorted(unknown))}; known: {', '.join(MEASURES)}")
    for name in names:
        print(f"{name:16}{MEASURES[name]():>8,}")


if __name__ == "__main__":
    main()
