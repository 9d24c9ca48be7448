# SPDX-License-Identifier: Apache-2.0
"""The command that explains topics: specs, searches, conditions, records, matches, models."""

import re
from pathlib import Path
from typing import Annotated

import typer

from hyoka.apps.cli.output import out, print_table, tell
from hyoka.foundation.errors import ParameterError, nearest


def help_command(
    topic: Annotated[
        str | None,
        typer.Argument(metavar="[TOPIC]", help="Topic; without one, all topics are listed."),
    ] = None,
) -> None:
    """Explain a topic: specs, searches, conditions, records, matches."""
    text = (Path(__file__).parent / "topics.md").read_text(encoding="utf-8")
    topics = dict(re.findall(r"^# (\w+)\n(.*?)(?=^# |\Z)", text, re.MULTILINE | re.DOTALL))
    if topic is None:
        out.print(f"hyoka help TOPIC, one of: {', '.join(topics)}")
        out.print("hyoka COMMAND --help explains the options of a command")
        return
    if topic not in topics:
        near = nearest(topic, topics)
        problem = f"is one of {', '.join(topics)}, not '{topic}'; {near}".rstrip("; ")
        raise ParameterError("topic", problem)
    tell(topics[topic].strip())
    if topic == "searches":
        from hyoka.search import KINDS  # noqa: PLC0415 - other topics need no searches

        rows = [(name, meaning) for name, (meaning, *_) in KINDS.items()]
        print_table(("", ""), rows)
