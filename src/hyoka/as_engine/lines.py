# SPDX-License-Identifier: Apache-2.0
"""Lines of play as controllers tell them: they may go on where our rules see an end."""

from collections.abc import Iterable

from hyoka.errors import IllegalMoveError, NotationError
from hyoka.games import GO, Line, as_go, facts_of
from hyoka.problems.past import with_text_field


def continued(line: Line) -> Line:
    """The line, or where a rule has ended it, the same position with as little past as play needs.

    A controller may go on after a repetition, fifty moves or two passes; a search that sees the end
    of the game has nothing to say. Mates, stalemates and full boards stay what they are.

    >>> import hyoka as hk
    >>> line = hk.Go9().line().play("pass").play("pass")
    >>> line.outcome is None, continued(line).outcome is None
    (False, True)
    """
    if line.outcome is None:
        return line
    if facts_of(line).family == GO:
        return with_text_field(as_go(line.position), 3, "0").line()
    fresh = line.position.line()
    return fresh if fresh.outcome is None else line.position.movement_only().line()


def played(line: Line, texts: Iterable[str]) -> Line:
    """The line after some moves. Raises NotationError or IllegalMoveError with the bad one."""
    for number, text in enumerate(texts, start=1):
        line = continued(line)
        try:
            move = line.parse(text)
        except TypeError:  # half a character
            raise NotationError(f"move {number}: no text that can be read") from None
        if not line.is_legal(move):
            raise IllegalMoveError(f"move {number}: {move} is not legal in {line.position.text}")
        line = line.play(move)
    return line


def printable(text: object) -> str:
    """A message on one line, without what could be taken for the end of one."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
