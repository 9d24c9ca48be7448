# SPDX-License-Identifier: Apache-2.0
"""The command that tells what was learned or given, and how it was made."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.artefact import BUILT_IN, KINDS, Artefact, read_artefact
from hyoka.built_in import built_in_artefact, built_in_names
from hyoka.cli.output import AsJson, out, plain_table, print_json


def artefact_command(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|NAME]",
            help="A file, or the name of something built in; without one, what is built in.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a file of weights, strengths, … holds and how it was made.

    Whether it is damaged is checked, too. Without a file: what comes with Hyoka.
    """
    if source is None:
        built_in = [built_in_artefact(name) for name in built_in_names()]
        if as_json:
            print_json([artefact.as_json() for artefact in built_in])
        else:
            _print_list(built_in)
        return
    is_name = source.startswith(f"{BUILT_IN}:")
    artefact = built_in_artefact(source) if is_name else read_artefact(source)
    if as_json:
        print_json(artefact.as_json())
    else:
        _print_facts(artefact)


def _print_list(artefacts: list[Artefact]) -> None:
    table = plain_table("", "what it is", "bytes", "SHA-256", right=[2])
    for each in artefacts:
        words = KINDS[each.kind or ""].words
        table.add_row(each.path, words, f"{len(each.content):,}", each.fingerprint)
    out.print(table)


def _print_facts(artefact: Artefact) -> None:
    table = plain_table("", "")
    table.show_header = False
    for name, fact in _facts(artefact):
        table.add_row(name, escape(fact))
    out.print(table)


def _facts(artefact: Artefact) -> Iterator[tuple[str, str]]:
    if artefact.kind is None:
        yield "kind", "not told: it is what it is used as"
    else:
        yield "kind", f"{artefact.kind}: {KINDS[artefact.kind].words}"
    yield "game", artefact.game or "not told"
    yield "format", "no header" if artefact.version is None else str(artefact.version)
    yield "content", f"{len(artefact.content):,} bytes"
    yield "SHA-256", artefact.sha256
    origin = artefact.origin
    if origin is None:
        yield "made by", "not told"
        return
    yield "made by", origin.command
    if origin.seed is not None:
        yield "seed", str(origin.seed)
    if origin.counts:
        yield "made of", ", ".join(f"{count:,} {what}" for what, count in origin.counts.items())
    yield from origin.choices.items()
    if origin.learned_games is not None:
        yield "learned from", f"{len(origin.learned_games):,} games, listed by their ids"
    yield from _each("parent", origin.parents)
    yield from _each("version", origin.versions)


def _each(heading: str, facts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, fact in facts.items():
        yield heading, f"{name} {fact}"
