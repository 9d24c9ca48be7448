# SPDX-License-Identifier: Apache-2.0
"""Whoever can evaluate and play, named by a text: a search of ours, or an engine."""

from collections.abc import Sequence

from hyoka.engines.spec import PROTOCOLS, EngineSpec
from hyoka.errors import NotationError, nearest
from hyoka.search import KINDS, SearchSpec

AnySpec = SearchSpec | EngineSpec


def spec_of(text: str, others: Sequence[str] = ()) -> AnySpec:
    """The search or the engine that a text names; `others` are names that it might have meant.

    >>> spec_of("uct:playouts=500").title, spec_of("uci:stockfish").title
    ('uct playouts 500', 'stockfish')
    >>> spec_of("ucd:playouts=500")
    Traceback (most recent call last):
        ...
    hyoka.errors.NotationError: no search or engine 'ucd'; did you mean uct?
    """
    kind = text.strip().partition(":")[0]
    if SearchSpec.is_search(text):
        return SearchSpec.from_text(text)
    if kind.lower() in PROTOCOLS:
        return EngineSpec.from_text(text)
    hint = nearest(kind, [*others, *KINDS, *PROTOCOLS])
    if not hint:
        known = ", ".join([*others, *KINDS])
        hint = f"there are {known}, and engines as PROTOCOL:COMMAND (uci:stockfish)"
    raise NotationError(f"no search or engine '{kind}'; {hint}")
