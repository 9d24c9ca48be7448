# SPDX-License-Identifier: Apache-2.0
"""Export of search trees as HTML, JSON, and DOT (Graphviz)."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from hyoka.foundation.errors import Error
from hyoka.foundation.text import counted
from hyoka.games import game_facts
from hyoka.games.diagram import Cell, Diagram
from hyoka.games.diagram.builders import diagram
from hyoka.reporting.charts import Spot, lines
from hyoka.reporting.page import Board, Boards, Chart, Outline, Page, Row, Section, Table
from hyoka.search.tree_view import SearchTree, TreeNode, TreeStep
from hyoka.storage.files import write_text
from hyoka.storage.outputs import GENERATOR

TREE_FILES: Final = (".html", ".json", ".dot")
_MOST_BOARDS: Final = 8
_MOST_LINES: Final = 6
_FEWEST_STEPS: Final = 3
_PLIES_OPENED: Final = 4
_FROM_AND_TO: Final = 2
_COLUMNS: Final = ("visits", "share", "value", "score", "prior", "proof")


def write_tree(tree: SearchTree, path: Path | str) -> None:
    """Write the tree as one file: `.html`, `.json` or `.dot`, by the suffix."""
    path = Path(path)
    kind = tree_file_kind(path)
    if kind == ".html":
        write_text(path, tree_page(tree).html())
    elif kind == ".json":
        write_text(path, json.dumps(tree_json(tree), allow_nan=False, indent=1) + "\n")
    else:
        write_text(path, tree_dot(tree))


def tree_file_kind(path: Path) -> str:
    """The kind of a tree file; raises Error for an unsupported suffix."""
    if path.suffix.lower() not in TREE_FILES:
        raise Error(f"a tree is written as {', '.join(TREE_FILES)}, not as '{path.name}'")
    return path.suffix.lower()


def tree_json(tree: SearchTree) -> dict[str, Any]:
    """Convert the tree to JSON; values are the first player's, proofs the mover's."""
    line = tree.line
    return {
        "game": tree.game,
        "position": getattr(line.position, "text", str(line.position)),
        "line": line.text,
        "spec": tree.spec,
        "best": "" if tree.result.best is None else str(tree.result.best),
        "value": tree.result.value,
        "score": tree.result.score,
        "unit": tree.result.unit,
        "proven": tree.result.proven,
        "playouts": tree.result.playouts,
        "nodes": tree.result.nodes,
        "size": tree.size,
        "shown": tree.shown,
        "least": tree.least,
        "depth": tree.depth,
        "by_lines": tree.by_lines,
        "steps": [_step_json(step) for step in tree.steps],
        "root": _node_json(tree.root),
    }


def _step_json(step: TreeStep) -> dict[str, Any]:
    return {
        "playouts": step.playouts,
        "nodes": step.nodes,
        "depth": step.depth,
        "best": step.best,
        "value": step.value,
        "score": step.score,
        "moves": [
            {"name": name, "visits": visits, "value": value} for name, visits, value in step.moves
        ],
    }


def _node_json(node: TreeNode) -> dict[str, Any]:
    return {
        "move": None if node.move is None else str(node.move),
        "name": node.name,
        "mover": node.mover.name,
        "visits": node.visits,
        "value": node.value,
        "score": node.score,
        "prior": node.prior,
        "proven": node.proven,
        "left_out": node.left_out,
        "left_out_visits": node.left_out_visits,
        "children": [_node_json(child) for child in node.children],
    }


def tree_dot(tree: SearchTree) -> str:
    """Convert the tree to DOT; line widths are shares of visits."""
    lines = [
        f"// {GENERATOR}",
        "digraph search {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
    ]
    waiting: list[tuple[TreeNode, int | None]] = [(tree.root, None)]
    number = 0
    most = max(1, tree.root.visits)
    while waiting:
        node, above = waiting.pop()
        here, number = number, number + 1
        words = [node.name or _title(tree), *_worth(node)]
        if node.left_out:
            words.append(f"+ {node.left_out} not shown")
        color = {"won": "#cfe8d5", "lost": "#f3d3cf", "drawn": "#e6e6e6"}.get(node.proven or "")
        fill = f', fillcolor="{color}"' if color else ""
        lines.append(f"  n{here} [label={_quoted(chr(10).join(words))}{fill}];")
        if above is not None:
            width = 0.5 + 4.5 * node.visits / most
            lines.append(f"  n{above} -> n{here} [penwidth={width:.2f}];")
        waiting += [(child, here) for child in reversed(node.children)]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _worth(node: TreeNode) -> list[str]:
    words = [f"{node.visits:,} visits"] if node.visits else []
    if node.value is not None:
        words.append(f"{node.value:.3f}")
    return words + ([node.proven] if node.proven else [])


def _title(tree: SearchTree) -> str:
    return type(tree.line.position).__name__ if tree.game is None else game_facts(tree.game).heading


def tree_page(tree: SearchTree) -> Page:
    """Convert the tree to an offline page whose rows open and close without mouse or script."""
    result = tree.result
    best = tree.steps[-1].best
    findings = [f"{best or 'No move'} is played" + ("" if result.value is None else _value(tree))]
    findings += _how_it_settled(tree)
    sections = [Section("The tree", _about(tree), (_outline(tree),))]
    charts = _charts(tree)
    if charts:
        table = Table(
            "Where the choice changed, and at the end.",
            ("after", "best", "value", "depth"),
            tuple(
                (_effort(step), step.best, _number(step.value), str(step.depth))
                for step in _changes(tree.steps)
            ),
        )
        sections.append(Section("How it came to its choice", (), (*charts, table)))
    if boards := _boards(tree):
        words = "How often each move was tried, by the cell it goes to; then what is expected."
        sections.append(Section("On the board", (words,), (Boards(boards),)))
    return Page(
        f"{_title(tree)}: a search and its tree",
        f"{tree.spec} · {_effort(tree.steps[-1])}, {result.time_s:.2f} s",
        tuple(findings),
        tuple(sections),
        (
            "Values are the first player's expected result, 0 to 1. Won, lost and drawn are "
            "certain, for the side that makes the move.",
            f"Position: {getattr(tree.line.position, 'text', tree.line.text)}",
        ),
    )


def _value(tree: SearchTree) -> str:
    result = tree.result
    players = ("the first player", "the second player")
    if tree.game is not None:
        players = game_facts(tree.game).naming.players
    words = f": {players[0]} scores {result.value:.3f}"
    if result.proven is not None:
        words += f"; {players[tree.line.to_play.value]} has {result.proven}, for certain"
    return words + "."


def _how_it_settled(tree: SearchTree) -> Iterator[str]:
    final = tree.steps[-1].best
    since = len(tree.steps) - 1
    while since and tree.steps[since - 1].best == final:
        since -= 1
    if len(tree.steps) > 1 and final:
        changes = sum(a.best != b.best for a, b in pairwise(tree.steps))
        often = f"changed {counted(changes, 'time')}" if changes else "never changed"
        yield (
            f"It has been the choice since {_effort(tree.steps[since])}, "
            f"of {_effort(tree.steps[-1])}; the choice {often}."
        )


def _changes(steps: Sequence[TreeStep]) -> list[TreeStep]:
    """The first and last steps, and those where the best move changed."""
    changes = [steps[0], *(step for before, step in pairwise(steps) if before.best != step.best)]
    return changes if changes[-1] is steps[-1] else [*changes, steps[-1]]


def _effort(step: TreeStep) -> str:
    if step.playouts:
        return counted(step.playouts, "playout")
    return f"depth {step.depth} ({step.nodes:,} nodes)"


def _number(value: float | None, spec: str = ".3f") -> str:
    return "–" if value is None else format(value, spec)


def _about(tree: SearchTree) -> tuple[str, ...]:
    if tree.by_lines:
        return ("This search keeps no tree: these are the moves it reports, and their lines.",)
    left_out = tree.size - tree.shown
    if not left_out:
        return (f"All {tree.size:,} nodes of the tree.",)
    return (
        f"{tree.shown:,} of {tree.size:,} nodes: moves with fewer than {tree.least:,} visits and "
        f"those more than {tree.depth} plies down are left out, {left_out:,} in all.",
    )


def _outline(tree: SearchTree) -> Outline:
    root = tree.root
    opened = {id(node) for node in root.main_line[:_PLIES_OPENED]}
    cells = {id(node): _cells(node, above) for node, above in _with_parents(root)}
    # Omit columns without any data.
    titles = [title for title in _COLUMNS if any(each[title] for each in cells.values())]

    def row(node: TreeNode) -> Row:
        return Row(
            node.name,
            tuple(cells[id(node)][title] for title in titles),
            node.visits / root.visits if node.visits and root.visits else None,
            tuple(map(row, node.children)),
            _note(node),
            opened=id(node) in opened,
        )

    bar = " The bar is the share of all visits." if root.visits else ""
    return Outline(
        f"Moves, the best first.{bar}",
        ("move", *titles),
        tuple(map(row, root.children)),
        _note(root),
    )


def _with_parents(root: TreeNode) -> Iterator[tuple[TreeNode, TreeNode]]:
    return ((child, node) for node in root.nodes() for child in node.children)


def _cells(node: TreeNode, above: TreeNode) -> dict[str, str]:
    """Cells of a row by column title."""
    has_visits = node.visits and above.visits
    return {
        "visits": f"{node.visits:,}" if node.visits else "",
        "share": f"{node.visits / above.visits:.1%}" if has_visits else "",
        "value": "" if node.value is None else f"{node.value:.3f}",
        "score": "" if node.score is None else f"{node.score:+.1f}",
        "prior": "" if node.prior is None else f"{node.prior:.3f}",
        "proof": node.proven or "",
    }


def _note(node: TreeNode) -> str:
    if not node.left_out:
        return ""
    return f"and {node.left_out:,} more, of {node.left_out_visits:,} visits together"


def _charts(tree: SearchTree) -> tuple[Chart, ...]:
    """Charts of values and shares of visits over the course of the search."""
    if len(tree.steps) < _FEWEST_STEPS:
        return ()
    by_playouts = bool(tree.steps[-1].playouts)
    named = [node.name for node in tree.root.children[:_MOST_LINES]]
    at = [step.playouts if by_playouts else step.depth for step in tree.steps]
    values, shares = list[Spot](), list[Spot]()
    for x, step in zip(at, tree.steps, strict=True):
        all_visits = sum(visits for _, visits, _ in step.moves)
        if not by_playouts and step.value is not None:
            values.append(Spot("the best move", x, step.value))
            continue
        for name, visits, value in step.moves:
            if name not in named:
                continue
            if value is not None:
                values.append(Spot(name, x, value))
            if all_visits:
                shares.append(Spot(name, x, visits / all_visits))
    across = "playouts" if by_playouts else "depth"
    charts = []
    for spots, up in ((shares, "share of visits"), (values, "value for the first player")):
        if spots:
            chart = lines(spots, x=across, y=up, share=True, log_x=by_playouts)
            whose = "the best moves" if by_playouts else "whatever was best"
            charts.append(Chart(chart, f"The {up} of {whose}, by {across}."))
    return tuple(charts)


def heat_of(board: Diagram, node: TreeNode) -> dict[str | Cell, float]:
    """Visits of each cell relative to the maximum; empty if moves name no cells.

    A move from one cell to another counts for its target. A move that covers several cells counts
    for all of them.
    """
    visits: dict[str | Cell, float] = {}
    for child in node.children:
        cells = board.named_in(str(child.move))
        from_and_to = len(cells) == _FROM_AND_TO and "," not in str(child.move)
        for cell in cells[-1:] if from_and_to else cells:
            visits[cell] = visits.get(cell, 0) + child.visits
    most = max(visits.values(), default=0)
    return {cell: count / most for cell, count in visits.items() if count} if most else {}


def _boards(tree: SearchTree) -> tuple[Board, ...]:
    """Boards of the position and of the principal variation, with their heat maps."""
    line = tree.line
    if not hasattr(line.position, "cells"):
        return ()
    path = (tree.root, *tree.root.main_line)[:_MOST_BOARDS]
    boards = []
    for node in path:
        if node.move is not None:
            line = line.play(node.move)
        heat = heat_of(diagram(line), node)
        words = ", ".join([node.name or "The position searched", *_worth(node)])
        boards.append(Board(diagram(line, heat=heat), f"{words}."))
    return tuple(boards)
