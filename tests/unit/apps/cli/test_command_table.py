# SPDX-License-Identifier: Apache-2.0
"""What the library says of its parameters, as the command line says it."""

import ast
import re
from pathlib import Path

import pytest

from hyoka.apps.cli.command_table import command_of, in_options
from hyoka.foundation.errors import ParameterError, named

SOURCE = Path(__file__).parents[4] / "src" / "hyoka"


def test_a_command_s_parameters_have_the_names_of_its_options() -> None:
    name, options = command_of(["analyze", "slices", "study", "--top", "3"])
    assert name == "hyoka analyze slices"
    assert options["evaluators"] == "--evaluator"
    assert options["false_discovery_rate"] == "--fdr"
    assert options["study"] == "STUDY"
    name, options = command_of(["learn", "weights", "study"])
    assert name == "hyoka learn weights"
    assert options["where"] == "--where"
    assert command_of(["nonsense"])[0] == "hyoka"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (named("by"), "--by"),
        (named("by", "ply"), "--by ply"),
        (named("where", "a = \"b c\" or '`' > 3"), """--where 'a = "b c" or '"'"'`'"'"' > 3'"""),
        (named("bins", [20, 30]), "--bins 20,30"),
        (named("seal", True), "--seal"),
        (str(ParameterError("by", f"goes not with {named('bins')}")), "--by goes not with --bins"),
        # What is no parameter of the command stays as it was written.
        (named("other"), "`other`"),
        (
            "`hyoka study verify FOLDER --seal`, `by the way`",
            "`hyoka study verify FOLDER --seal`, `by the way`",
        ),
    ],
)
def test_parameters_in_messages_become_options(message: str, shown: str) -> None:
    options = {"by": "--by", "where": "--where", "bins": "--bins", "seal": "--seal"}
    assert in_options(message, options) == shown


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(SOURCE.rglob("*.py")) if "cli" not in p.relative_to(SOURCE).parts],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_the_library_names_no_options(path: Path) -> None:
    """Whole commands may be named, as advice; an option alone is the command line's word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    texts = [
        "".join(
            part.value
            for part in ast.walk(each)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
        for each in raised
    ]
    for text in texts:
        for found in re.finditer(r"(?<![\w-])--[a-z]", text):
            assert "hyoka " in text[: found.start()], text
