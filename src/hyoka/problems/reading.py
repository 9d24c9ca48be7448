# SPDX-License-Identifier: Apache-2.0
"""Problem sets out of texts: which format a text is in, and the reader for it."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hyoka.errors import NotationError
from hyoka.problems import epd, gtp_tests, othello_lines, pachi_unit, sfen, shogi_json
from hyoka.problems.problem import OpenBeside, ProblemSet


@dataclass(frozen=True)
class Format:
    """A notation of problem sets."""

    about: str
    looks_like: re.Pattern[str]
    """Found somewhere in every text of this format, and in no other's."""
    read: Callable[[str, str, OpenBeside | None], ProblemSet]


def _alone(read: Callable[[str, str], ProblemSet]) -> Callable[..., ProblemSet]:
    """Make a reader that opens no other files take, and forget, the means to do so."""
    return lambda text, source, open_beside: read(text, source)


FORMATS: Final[dict[str, Format]] = {
    "epd": Format("chess positions with operations, perft", epd.LOOKS_LIKE, _alone(epd.read)),
    "sfen": Format("shogi positions with moves", sfen.LOOKS_LIKE, _alone(sfen.read)),
    "jsonl": Format("shogi positions with answers", shogi_json.LOOKS_LIKE, _alone(shogi_json.read)),
    "obf": Format(
        "Othello positions with a score for each move",
        othello_lines.LOOKS_LIKE_OBF,
        _alone(othello_lines.read_obf),
    ),
    "othello": Format(
        "Othello positions with one move and its score",
        othello_lines.LOOKS_LIKE_PLAIN,
        _alone(othello_lines.read_plain),
    ),
    "tst": Format("GTP commands with expected answers", gtp_tests.LOOKS_LIKE, gtp_tests.read),
    "pachi": Format(
        "Go diagrams with claims about them", pachi_unit.LOOKS_LIKE, _alone(pachi_unit.read)
    ),
}


def read_problems(
    text: str | bytes,
    *,
    source: str = "text",
    format: str | None = None,
    open_beside: OpenBeside | None = None,
) -> ProblemSet:
    """Read a problem set; lines that cannot be used are refused, and the rest goes on.

    `source` names the text in problems and refusals. Without `format`, a name in `FORMATS`, the
    text itself tells. `open_beside` gives the files that tests in GTP name. Raises NotationError
    where the text is in no known format.

    >>> mate = read_problems('6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";')
    >>> mate.format, mate.problems[0].id, mate.problems[0].best
    ('epd', 'back rank', ('a1a8',))
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    text = text.encode("utf-8", "replace").decode("utf-8")
    if format is None:
        format = next(
            (name for name, known in FORMATS.items() if known.looks_like.search(text)), None
        )
    if format is None:
        tried = "; ".join(f"{name} ({known.about})" for name, known in FORMATS.items())
        raise NotationError(f"{source}: no problem set in a format we know; tried {tried}")
    if format not in FORMATS:
        raise NotationError(f"no format '{format}'; known are {', '.join(FORMATS)}")
    return FORMATS[format].read(text, source, open_beside)


def _decoded(data: bytes) -> str:
    """Decode UTF-8, or else take each byte for a character: comments are in many encodings."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
