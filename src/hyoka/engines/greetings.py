# SPDX-License-Identifier: Apache-2.0
"""How engines are greeted in each protocol, and what gives away that one speaks another."""

import re
from typing import Final

GREETINGS: Final = {
    "uci": "uci\n",
    "usi": "usi\n",
    "gtp": "name\n",
    "cecp": "xboard\nprotover 2\nping 1\n",
}
DOUBT_S: Final = 3.0
"""How long a greeting goes unanswered before the others are tried."""
_SIGNS: Final = (
    ("uci", re.compile(r"uciok\b")),
    ("usi", re.compile(r"usiok\b")),
    ("gtp", re.compile(r"[=?]\d*(?:\s|$)")),
    ("cecp", re.compile(r"feature \w+=|pong 1\b|(?:Illegal|Invalid) move\b|Error \(")),
)


def spoken_in(line: str) -> str | None:
    """The protocol that a line of an engine belongs to, where that is plain.

    >>> spoken_in("usiok"), spoken_in("? unknown command"), spoken_in("id name Some Engine")
    ('usi', 'gtp', None)
    """
    return next((protocol for protocol, sign in _SIGNS if sign.match(line)), None)


def other_greetings(protocol: str) -> str:
    """What is said to an engine that does not answer to its own protocol's greeting."""
    return "".join(text for name, text in GREETINGS.items() if name != protocol)


def mistaken(protocol: str, line: str) -> str | None:
    """What to tell whoever took an engine for one of a protocol; None without a sign of it."""
    spoken = spoken_in(line)
    if spoken is None or spoken == protocol:
        return None
    return (
        f"does not speak {protocol.upper()}, but {spoken.upper()}, it seems; write {spoken}: "
        f"before its command instead of {protocol}:"
    )
