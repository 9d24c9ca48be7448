# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: the docs as a site, with references generated from the code."""

import importlib
import importlib.metadata
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import typer.main
from sphinx.application import Sphinx
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer

import hyoka
from hyoka.apps.cli.command_table import COMMANDS
from hyoka.games import FACTS
from hyoka.search.settings import KINDS, OPTIONS, Setting

DOCS = Path(__file__).parent

project = "Hyoka"
author = "The Hyoka authors"
version = release = importlib.metadata.version("hyoka")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
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
    "games", "games.diagram", "games.evaluation", "records", "records.problems", "records.samples",
    "study", "models", "search", "search.playouts", "agents", "engines", "analysis", "learning",
    "arena", "reporting", "workflows.improve", "parallel", "foundation.errors",
    "foundation.math", "foundation.figure", "foundation.progress",
)  # fmt: skip
"""The packages of the API reference. A name is documented by the first that has it."""
PICTURE = re.compile(
    r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*'
    r'<img alt="([^"]*)" src="([^"]+)"[^>]*>\s*</picture>'
)
"""A picture with a dark version, as GitHub shows it."""


UNBOUNDED = 1e7
"""The smallest maximum of a setting that counts as unlimited."""


def write_references(_: Sphinx) -> None:
    """Write the pages of the command and API references, which git ignores."""
    (DOCS / "reference" / "api").mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        _write(DOCS / name, text)


def reference_pages() -> dict[str, str]:
    """Texts of the generated pages by path."""
    pages = {
        "reference/commands.md": "\n".join(_command_lines()),
        "reference/settings.md": "\n".join(_setting_lines()),
    }
    modules = {package: importlib.import_module(f"hyoka.{package}") for package in PACKAGES}
    homes: dict[int, str] = {}
    for package, module in modules.items():
        lines = [f"# hyoka.{package}", "", (inspect.getdoc(module) or "").split("\n\n")[0], ""]
        lines += ["```{eval-rst}", f".. py:module:: hyoka.{package}", ""]
        elsewhere = []
        for name in public_names(module):
            value = getattr(module, name)
            path = f"hyoka.{package}.{name}"
            if id(value) in homes:
                elsewhere.append(f"- :py:obj:`{path} <{homes[id(value)]}>`: {_summary(value)}")
            elif _is_constant(value):
                lines += [f".. py:data:: {path}", "", f"   {documentation(module, name)}", ""]
            else:
                homes[id(value)] = path
                if inspect.isclass(value):
                    lines += [f".. autoclass:: {path}", "   :members:", ""]
                else:
                    lines += [f".. autofunction:: {path}", ""]
        if elsewhere:
            lines += ["Names of other packages:", "", *elsewhere, ""]
        pages[f"reference/api/{package}.md"] = "\n".join([*lines, "```", ""])
    top = [
        "# Python API",
        "",
        "`import hyoka as hk` has these names; the others are in the packages below.",
        "",
    ]
    own: list[str] = []
    for name in hyoka.__all__:
        value = getattr(hyoka, name)
        home = value.__name__ if inspect.ismodule(value) else homes.get(id(value), f"hyoka.{name}")
        top.append(f"- {{py:obj}}`hk.{name} <{home}>`: {_summary(value)}")
        if home == f"hyoka.{name}":
            own.append(f".. autofunction:: {home}")
    top += ["", "```{eval-rst}", ".. py:module:: hyoka", "", "\n\n".join(own), "```"]
    top += ["", "```{toctree}", ":maxdepth: 1", "", *PACKAGES, "```", ""]
    return pages | {"reference/api/index.md": "\n".join(top)}


def public_names(module: ModuleType) -> list[str]:
    """The names of `__all__`; without it, a package's imports or a module's own definitions."""
    names = getattr(module, "__all__", None)
    if names is None:
        source = "hyoka" if hasattr(module, "__path__") else module.__name__
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_")
            and not inspect.ismodule(value)
            and not isinstance(value, TypeVar)
            and getattr(value, "__module__", "").startswith(source)
        ]
    return sorted(names)


def documentation(module: ModuleType, name: str) -> str:
    """The docstring of a public name; of a constant, the string below its assignment."""
    value = getattr(module, name)
    if not _is_constant(value):
        return (value.__doc__ if inspect.isclass(value) else inspect.getdoc(value)) or ""
    for other in [module, *sys.modules.values()]:
        if other.__name__.startswith("hyoka") and vars(other).get(name) is value:
            try:
                found = ModuleAnalyzer.for_module(other.__name__).find_attr_docs()
            except PycodeError:  # the compiled core
                continue
            if text := found.get(("", name)):
                return " ".join(text).strip()
    return ""


def _is_constant(value: object) -> bool:
    return not (inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value))


def _summary(value: object) -> str:
    return (inspect.getdoc(value) or "").split("\n")[0]


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


def _setting_lines() -> list[str]:
    lines = [
        "# Settings of searches",
        "",
        "This page lists the settings of each kind of [search](search.md), from the compiled core. "
        "A setting has no effect unless all conditions under *needs* hold; `evaluation` and "
        "`evaluator` are Python objects. Defaults are those without the preset of a game.",
        "",
    ]
    seen: dict[object, str] = {}
    for kind, (title, settings) in KINDS.items():
        lines += [f"## {kind}", "", f"{title[0].upper()}{title[1:]}.", ""]
        options = OPTIONS[kind]
        if options in seen:
            lines += [f"The settings are those of `{seen[options]}`.", ""]
            continue
        seen[options] = kind
        if settings:
            lines += ["| setting | type | default | range | needs | meaning |", "|---" * 6 + "|"]
        for setting, declared in zip(settings, options.settings(), strict=True):
            lines.append(f"| {' | '.join(_setting_cells(setting, declared.needs))} |")
        presets = [
            f"| {name} | {_codes(f'{each}={value}' for each, value in preset.items())} |"
            for name, facts in FACTS.items()
            if (preset := facts.search.presets.get(kind))
        ]
        if presets:
            lines += ["", "| game | preset |", "|---|---|", *presets]
        lines.append("")
    return lines


def _setting_cells(setting: Setting, needs: Iterable[str]) -> tuple[str, ...]:
    """Name, type, default, range, needs and meaning."""
    if setting.same_as:
        default = f"as `{setting.same_as}`"
    elif setting.default is not None:
        default = f"`{setting.text(setting.default)}`"
    else:
        default = ""
    if setting.minimum is None or setting.maximum is None:
        allowed = _codes(setting.choices or setting.model_files)
    elif setting.maximum >= UNBOUNDED:
        allowed = f"from {setting.minimum:g}"
    else:
        allowed = f"{setting.minimum:g} to {setting.maximum:,.12g}"
    return f"`{setting.name}`", setting.kind, default, allowed, _codes(needs), setting.doc


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def convert_pictures(_: Sphinx, __: str, text: list[str]) -> None:
    """Turn pictures with a dark version into images that Sphinx copies to the site."""
    text[0] = PICTURE.sub(r"![\2](\3){.only-light}\n![\2](\1){.only-dark}", text[0])


def setup(app: Sphinx) -> None:
    """Generate the references before Sphinx reads the pages."""
    app.connect("builder-inited", write_references)
    app.connect("source-read", convert_pictures)
