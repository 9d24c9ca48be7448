# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: the docs as a site, with references generated from the code."""

import importlib
import importlib.metadata
import inspect
from pathlib import Path
from types import ModuleType

import typer.main
from sphinx.application import Sphinx

import hyoka
from hyoka.apps.cli.command_table import COMMANDS

DOCS = Path(__file__).parent

project = "Hyoka"
author = "The Hyoka authors"
version = release = importlib.metadata.version("hyoka")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Docstrings write code in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

html_theme = "furo"
html_title = "Hyoka"
html_theme_options = {"source_directory": "docs/"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

PACKAGES = (
    "games", "records", "study", "search", "models", "agents", "engines", "analysis", "learning",
    "arena", "reporting", "workflows.improve", "parallel", "foundation.errors",
    "foundation.math", "foundation.figure", "foundation.progress",
)  # fmt: skip
"""The packages of the API reference. A name is documented by the first that has it."""


def write_references(_: Sphinx) -> None:
    """Write the pages of the command and API references, which git ignores."""
    (DOCS / "reference" / "api").mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        _write(DOCS / name, text)


def reference_pages() -> dict[str, str]:
    """Texts of the generated pages by path."""
    pages = {"reference/commands.md": "\n".join(_command_lines())}
    homes: dict[int, str] = {}
    toctree = []
    for package in PACKAGES:
        module = importlib.import_module(f"hyoka.{package}")
        lines = [f"# hyoka.{package}", "", (inspect.getdoc(module) or "").split("\n\n")[0], ""]
        lines += ["```{eval-rst}", f".. py:module:: hyoka.{package}", ""]
        for name in _public_names(module):
            value = getattr(module, name)
            if id(value) in homes or isinstance(value, (int, str, tuple, frozenset)):
                continue
            homes[id(value)] = f"hyoka.{package}.{name}"
            if inspect.isclass(value):
                lines += [f".. autoclass:: hyoka.{package}.{name}", "   :members:", ""]
            elif callable(value):
                lines += [f".. autofunction:: hyoka.{package}.{name}", ""]
        pages[f"reference/api/{package}.md"] = "\n".join([*lines, "```", ""])
        toctree.append(package)
    top = [
        "# Python API",
        "",
        "`import hyoka as hk` has these names; the others are in the packages below.",
        "",
    ]
    for name in hyoka.__all__:
        value = getattr(hyoka, name)
        if home := homes.get(id(value)):
            summary = (inspect.getdoc(value) or "").split("\n")[0]
            top.append(f"- {{py:obj}}`hk.{name} <{home}>`: {summary}")
    top += ["", "```{toctree}", ":maxdepth: 1", "", *toctree, "```", ""]
    return pages | {"reference/api/index.md": "\n".join(top)}


def _public_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_")
            and not inspect.ismodule(value)
            and getattr(value, "__module__", "").startswith("hyoka")
        ]
    return sorted(names)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _command_lines() -> list[str]:
    lines = ["# Commands", "", "`hyoka COMMAND --help` prints the same.", ""]
    for command in COMMANDS:
        function = command.load()
        app = typer.Typer(add_completion=False)
        app.command()(function)
        parsed = typer.main.get_command(app)
        context = typer.Context(parsed)
        usage = " ".join([command.name, *parsed.collect_usage_pieces(context)])
        lines += [f"## hyoka {command.name}", "", f"`hyoka {usage}`", ""]
        lines += [inspect.getdoc(function) or "", "", "| option | meaning |", "|---|---|"]
        for parameter in parsed.params:
            record = parameter.get_help_record(context)
            if record is not None:
                names, words = (" ".join(cell.split()).replace("|", r"\|") for cell in record)
                lines.append(f"| `{names}` | {words} |")
        lines.append("")
    return lines


def setup(app: Sphinx) -> None:
    """Generate the references before Sphinx reads the pages."""
    app.connect("builder-inited", write_references)
