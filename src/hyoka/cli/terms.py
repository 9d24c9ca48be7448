# SPDX-License-Identifier: Apache-2.0
"""`hyoka terms`: what an evaluation is made of."""

import fnmatch
import re
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hyoka.cli.games import GameName
from hyoka.cli.output import AsJson, out, plain_table, print_json
from hyoka.errors import Error
from hyoka.games import game_facts
from hyoka.games.evaluation_terms import term_meaning
from hyoka.search import linear_evaluation


def terms_command(
    game: GameName,
    pattern: Annotated[
        str, typer.Argument(metavar="[PATTERN]", help="Only these, e.g. 'king_*'.")
    ] = "*",
    weights: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="The weights of a file, not the built-in."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Each of those that differ by a square or a number.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The terms of a game's evaluation, what each counts, and its weights.

    A term is the first player's count less the second's; `hyoka learn weights STUDY --term NAME`
    fits its weights.

    For example: hyoka terms chess 'king_*'
    """
    name = game_facts(game).name
    evaluation = linear_evaluation(name, weights)
    chosen = [term for term in evaluation.names if fnmatch.fnmatchcase(term, pattern)]
    if not chosen:
        raise Error(f"{name}'s evaluation has no term '{pattern}'")
    if as_json:
        print_json(
            [
                {
                    "term": term,
                    "meaning": term_meaning(name, term),
                    "opening": evaluation[term][0],
                    "ending": evaluation[term][1],
                }
                for term in chosen
            ]
        )
        return
    table = plain_table("term", "opening", "ending", "what it counts", right=(1, 2))
    shown: set[str] = set()
    alike: dict[str, int] = {}
    for term in chosen:
        alike[_family(term)] = alike.get(_family(term), 0) + 1
    for term in chosen:
        family = _family(term)
        if not every and alike[family] > 1:
            if family not in shown:
                shown.add(family)
                words = f"{term_meaning(name, term)} ({alike[family]} of them)"
                table.add_row(escape(family), "", "", escape(words))
            continue
        opening, ending = (f"{each:g}" for each in evaluation[term])
        table.add_row(escape(term), opening, ending, escape(term_meaning(name, term)))
    out.print(table)
    if shown:
        out.print("--all lists each of those with *, with its weights", style="dim", markup=False)


def _family(term: str) -> str:
    """The term without its square and its numbers.

    >>> _family("pawn_on_a2"), _family("pawn_own_king_beside_0_behind_5")
    ('pawn_on_*', 'pawn_own_king_beside_*')
    """
    return re.sub(r"_([a-d]?[0-9]).*$", "_*", term)
