# SPDX-License-Identifier: Apache-2.0
"""A game in C++, added exactly as docs/guides/new-game-cpp.md says, built and played."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nanobind
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "new-game-cpp.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
LAWS = ("tests/laws/test_game_laws.py", "tests/laws/test_chance_laws.py")


def blocks(language: str) -> list[str]:
    """The page's code in one language, in order."""
    return [text for found, text in BLOCK.findall(PAGE.read_text("utf-8")) if found == language]


def changed(before: str, lines: list[str]) -> str:
    """A file with the place that ` ` and `-` lines show changed to what ` ` and `+` lines say."""
    old = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    assert before.count(old) == 1, f"the page shows a place that is not there: {old}"
    return before.replace(old, new)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the game of the page in it, built."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("core", "src", "tests"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / folder, tree / folder, ignore=ignored)
    for file in ("CMakeLists.txt", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, tree / file)
    for text in blocks("cpp"):
        path, _, content = text.removeprefix("// ").partition("\n")
        (tree / path).write_text(content, encoding="utf-8")
    for text in blocks("diff"):
        path, *lines = text.splitlines()
        before = (tree / path).read_text("utf-8")
        (tree / path).write_text(changed(before, lines), encoding="utf-8")
    tools = Path(sys.executable).parent
    subprocess.run(
        [
            *(tools / "cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Debug", "-DHYOKA_NATIVE=OFF", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"),
            f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        ],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [tools / "cmake", "--build", tree / "build", "--target", "_core"],
        check=True,
        capture_output=True,
    )
    (module,) = (tree / "build").glob("_core*.so")
    shutil.copy(module, tree / "src" / "hyoka")
    return tree


def run(tree: Path, code: str) -> None:
    """Run Python on the copy of the project, whatever is installed beside it."""
    paths = [str(tree / "src"), sysconfig.get_path("purelib")]
    # Without `site`, which would bring the installed Hyoka in.
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys\nsys.path[:0] = {paths!r}\n{code}"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_laws_hold(tree: Path) -> None:
    words = ["-q", "-p", "no:cacheprovider", "-k", "breakthrough", *LAWS]
    run(tree, f"import pytest\nsys.exit(pytest.main({words!r}))")


def test_it_does_what_the_page_says(tree: Path) -> None:
    run(tree, "\n".join(blocks("python")))
