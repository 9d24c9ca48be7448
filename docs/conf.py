# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: the docs as a site, with references generated from the code."""

import importlib.metadata
import inspect
import sys
from pathlib import Path

import typer.main
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "scripts"))

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
autodoc_default_options = {"members": True, "imported-members": True}

html_theme = "furo"
html_title = "Hyoka"
html_theme_options = {"source_directory": "docs/"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

PACKAGES = {
    "hyoka": "The public names at the top: games, records, studies, searches, matches.",
    "hyoka.analysis": "Curves, metrics, calibration, slices: pure functions over arrays.",
    "hyoka.learning": "Fits of weights and strengths, comparison training, objectives, networks.",
    "hyoka.models": "Everything learned that a search uses, and its files.",
    "hyoka.records": "Readers and writers of game records, problem sets.",
    "hyoka.engines": "Clients of GTP, UCI, USI and CECP engines.",
    "hyoka.agents": "Searches, engines, functions, comments and tables behind one interface.",
    "hyoka.arena": "Matches, Elo, SPRT, ratings and problem sets.",
    "hyoka.reporting": "Pages, charts and boards.",
    "hyoka.parallel": "Tasks on local processes or a Dask cluster.",
}
"""The packages of the API reference, in the order of its pages."""


def write_references(_: Sphinx) -> None:
    """Write the pages of the command and API references, which git ignores."""
    folder = DOCS / "reference" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Python API", "", "```{toctree}"]
    for package, text in PACKAGES.items():
        page = f"# {package}\n\n{text}\n\n```{{eval-rst}}\n.. automodule:: {package}\n   :no-index-entry:\n```\n"
        _write(folder / f"{package}.md", page)
        lines.append(package)
    _write(folder / "index.md", "\n".join([*lines, "```", ""]))
    _write(DOCS / "reference" / "commands.md", "\n".join(_command_lines()))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _command_lines() -> list[str]:
    from hyoka.apps.cli.command_table import COMMANDS

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
