# SPDX-License-Identifier: Apache-2.0
import ast
import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hyoka as hk
from hyoka.games import FACTS

SOURCE = Path(__file__).parents[2] / "src" / "hyoka"
LAYERS = [
    "foundation",
    "storage",
    "parallel",
    "_core",
    "games",
    "records",
    "models",
    "search",
    "engines",
    "agents",
    "analysis",
    "study",
    "arena",
    "learning",
    "reporting",
    "workflows",
    "__init__",
    "apps",
    "__main__",
]
"""Lowest first: a package imports only packages above it in this list."""
NAMED_EDGES = {
    ("storage/result.py", "reporting"): "results draw and save themselves",
    ("study/study.py", "reporting"): "studies write their reports",
}
"""The only imports against the order: (module or package, package): why."""
STRANGERS = {("study", "arena"), ("arena", "study"), ("analysis", "study")}
"""(package, package): the first does not import the second, although the order allows it."""
MODULES = sorted(SOURCE.rglob("*.py"))

for_every_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(SOURCE))
)


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    """The layers of ours that a module imports, wherever in its text."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name their module in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    ours = [[*name.split("."), ""][1] for name in names if name.split(".")[0] == "hyoka"]
    return {part if part in LAYERS else "__init__" for part in ours}


@for_every_module
def test_a_layer_imports_only_lower_layers(path: Path) -> None:
    layer, module = layer_of(path), path.relative_to(SOURCE).as_posix()
    assert layer in LAYERS, f"{layer} has no place among the layers"
    others = imported_layers(path) - {layer}
    upward = {other for other in others if LAYERS.index(other) > LAYERS.index(layer)}
    upward -= {to for start, to in NAMED_EDGES if start in (module, layer)}
    assert not upward, f"{module} imports {', '.join(sorted(upward))} above it"
    strangers = {other for other in others if (layer, other) in STRANGERS}
    strangers -= {to for start, to in NAMED_EDGES if start == module}
    assert not strangers, f"{module} imports {', '.join(sorted(strangers))}"


@for_every_module
def test_only_reporting_imports_altair(path: Path) -> None:
    if layer_of(path) != "reporting":
        assert not re.search(r"^\s*(from|import) altair", path.read_text("utf-8"), re.MULTILINE)


def test_every_result_names_the_function_that_draws_it() -> None:
    for path in MODULES:
        if "(Result):" in path.read_text(encoding="utf-8"):
            module = path.relative_to(SOURCE.parent).with_suffix("")
            importlib.import_module(".".join(module.parts))
    subclasses = hk.analysis.Result.__subclasses__()
    names = {each.drawn_by for each in subclasses if each.__module__.startswith("hyoka.")}
    charts = importlib.import_module("hyoka.reporting.analysis_charts")
    assert len(names) > 5
    assert all(callable(getattr(charts, name)) for name in names)


@for_every_module
def test_a_module_is_named_after_what_it_is(path: Path) -> None:
    parts = {part.removesuffix(".py").strip("_") for part in path.relative_to(SOURCE).parts}
    assert not parts & {"util", "utils", "common", "helper", "helpers", "misc", "base", "config"}


@for_every_module
def test_a_source_file_names_its_licence_and_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert ast.get_docstring(ast.parse(text))


GAME_WORDS = {word for facts in FACTS.values() for word in (facts.name, *facts.other_names)} | {
    facts.family for facts in FACTS.values()
}
GAME_TYPES = {facts.position_type.__name__ for facts in FACTS.values()} | {"GAMES"}
# Who may spell games: the list itself, what is about one game, and tables of code by family.
SPELLING_GAMES = {
    "games/registry.py": "the one list",
    "games/__init__.py": "exports the list",
    "__init__.py": "exports the types, which type checkers want by name",
    "arena/fastchess.py": "fastchess plays chess",
    "workflows/demo.py": "its two studies are of two games, and it says what they show",
    "games/diagram/builders.py": "one drawing a family, and a plain one for any other",
    "games/feature_descriptions.py": "each game's evaluation has terms of its own",
    "engines/client/uci.py": "`go` is a command of UCI",
    "engines/server/uci_server.py": "`go` is a command of UCI",
    "records/problems/line_sets.py": "notations of chess, Othello and shogi",
    "records/problems/reading.py": "the notations by name, one of which is called after its game",
    "models/ply_perceptrons.py": "its networks see patterns of one game",
    "apps/studio/rooms/board/setup.py": "each family writes its positions in its own way",
}


def spelled_games(path: Path) -> set[str]:
    """The games that a module names in its code, by a text or by a type."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= {node.value} & GAME_WORDS
        elif isinstance(node, ast.Attribute | ast.Name | ast.alias):
            name = {ast.Attribute: "attr", ast.Name: "id", ast.alias: "name"}[type(node)]
            found |= {getattr(node, name)} & GAME_TYPES
    return found


@for_every_module
def test_only_the_list_of_games_and_what_is_about_one_spells_games(path: Path) -> None:
    module = path.relative_to(SOURCE).as_posix()
    games = spelled_games(path)
    if module in SPELLING_GAMES:
        assert games, f"{module} spells no game any more: take it off the list above"
    else:
        assert not games, f"{module} spells {', '.join(sorted(games))}: ask hyoka.games for facts"


def test_the_type_of_every_game_is_exported() -> None:
    for facts in FACTS.values():
        assert getattr(hk.games, facts.position_type.__name__) is facts.position_type


PUBLIC_NAMES: list[str] = getattr(hk, "__all__")  # noqa: B009


def test_the_table_of_public_names_agrees_with_the_imports_for_type_checkers() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    pairs = [(str(node.module), alias) for node in imports for alias in node.names]
    assert all(alias.asname == alias.name for module, alias in pairs if module != "typing")
    table: dict[str, str] = vars(hk)["_PUBLIC_NAMES"]
    assert sorted((module, alias.name) for module, alias in pairs if module != "typing") == sorted(
        (module, name) for module, names in table.items() for name in names.split()
    )
    assert (
        len(set(PUBLIC_NAMES)) == len(PUBLIC_NAMES) == sum(map(len, map(str.split, table.values())))
    )


def test_a_public_name_is_what_its_module_defines_whatever_was_imported() -> None:
    for path in SOURCE.iterdir():
        if path.name == "__main__.py" or (path / "__init__.py").exists():
            importlib.import_module(f"hyoka.{path.stem}")
    for module, names in vars(hk)["_PUBLIC_NAMES"].items():
        for name in names.split():
            assert inspect.ismodule(getattr(hk, name)) == (name == "errors"), name
            assert getattr(hk, name) is getattr(importlib.import_module(module), name)


def test_a_name_is_loaded_when_it_is_asked_for() -> None:
    program = (
        "import sys, hyoka as hk; hk.Chess(); print('hyoka.games' in sys.modules, hk.games.GAMES)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("False {'")


def test_the_package_knows_its_modules_and_nothing_else() -> None:
    assert inspect.ismodule(hk.analysis)
    assert {"Chess", "playouts", "__version__"} <= set(dir(hk))
    assert not hasattr(hk, "no_such_name")
    assert not hasattr(hk, "_no_such_name")


def test_at_most_forty_names_are_public_at_the_top() -> None:
    assert len(PUBLIC_NAMES) <= 40


def test_the_version_is_that_of_the_installed_package() -> None:
    assert hk.__version__ == importlib.metadata.version("hyoka")


def test_all_files_that_name_the_version_name_the_same() -> None:
    root = SOURCE.parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {hk.__version__}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation
    newest = re.search(r"^## \[(\d\S*)\] - (\d{4}-\d\d-\d\d)$", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1] == hk.__version__
    assert f"\ndate-released: {newest[2]}\n" in citation


UNIT_TESTS = Path(__file__).parent


def test_every_test_of_the_list_of_slow_ones_is_there() -> None:
    root = UNIT_TESTS.parents[1]
    for line in (UNIT_TESTS.parent / "slow_tests.txt").read_text(encoding="utf-8").splitlines():
        file, *names = line.split("::")
        text = (root / file).read_text(encoding="utf-8")
        assert all(re.search(rf"(def|class) {name}\b", text) for name in names), line


WITHOUT_A_MODULE = {
    "games/test_blokus_duo.py": "rules of the compiled core",
    "games/test_chess.py": "rules of the compiled core",
    "games/test_othello.py": "rules of the compiled core",
    "games/test_shogi.py": "rules of the compiled core",
    "test_package.py": "the whole package",
    "test_vocabulary.py": "the whole package",
}
"""Unit tests that belong to no module: why."""


@pytest.mark.parametrize(
    "path",
    sorted(UNIT_TESTS.rglob("test_*.py")),
    ids=lambda path: str(path.relative_to(UNIT_TESTS)),
)
def test_a_unit_test_belongs_to_a_module(path: Path) -> None:
    """Tests of `a/b.py` are in `a/test_b.py`, or in `a/test_b_ASPECT.py`."""
    place = path.relative_to(UNIT_TESTS)
    if place.parts[0] in ("experiments", "scripts"):
        return
    folder = SOURCE / place.parent
    names = {each.stem for each in folder.glob("*.py")} | {folder.name}
    names |= {each.parent.name for each in folder.glob("*/__init__.py")}
    words = path.stem.split("_")[1:]
    beginnings = {"_".join(words[:count]) for count in range(1, len(words) + 1)}
    belongs = bool(beginnings & names)
    assert belongs != (place.as_posix() in WITHOUT_A_MODULE), f"{place} names no module"
