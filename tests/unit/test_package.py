# SPDX-License-Identifier: Apache-2.0
import ast
import importlib.metadata
import inspect
from pathlib import Path

import pytest

import hyoka as hk

SOURCE = Path(__file__).parents[2] / "src" / "hyoka"
# Lowest first; a layer imports only lower ones. A new module takes its place here.
LAYERS = [
    "errors",
    "estimate",
    "files",
    "fingerprint",
    "given_file",
    "limits",
    "_core",
    "games",
    "playouts",
    "diagram",
    "problems",
    "evaluation",
    "page",
    "analysis",
    "clock",
    "records",
    "passes",
    "search",
    "engines",
    "as_engine",
    "solving",
    "study",
    "learning",
    "arena",
    "report",
    "reproduction",
    "samples",
    "demo",
    "bench",
    "__init__",
    "cli",
]
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
    layer = layer_of(path)
    assert layer in LAYERS, f"{layer} has no place among the layers"
    others = imported_layers(path) - {layer}
    upward = {other for other in others if LAYERS.index(other) > LAYERS.index(layer)}
    assert not upward, f"{layer} imports {', '.join(sorted(upward))} above it"


@for_every_module
def test_a_module_is_named_after_what_it_is(path: Path) -> None:
    parts = {part.removesuffix(".py").strip("_") for part in path.relative_to(SOURCE).parts}
    assert not parts & {"util", "utils", "common", "helper", "helpers", "misc", "base", "config"}


@for_every_module
def test_a_source_file_names_its_licence_and_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert ast.get_docstring(ast.parse(text))


def test_all_public_names_are_listed_and_exist() -> None:
    public = {
        name
        for name, value in vars(hk).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    # A function may share its module's name, as `playouts` and `diagram` do.
    assert set(hk.__all__) == public
    assert len(hk.__all__) == len(set(hk.__all__))


def test_every_public_name_is_documented() -> None:
    undocumented = [
        name for name in hk.__all__ if name != "GAMES" and not inspect.getdoc(getattr(hk, name))
    ]
    assert undocumented == []


def test_the_version_is_that_of_the_installed_package() -> None:
    assert hk.__version__ == importlib.metadata.version("hyoka")
