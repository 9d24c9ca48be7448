# SPDX-License-Identifier: Apache-2.0
"""The kinds of contestants there are: from a text to a spec, and from a spec to who it names."""

from collections.abc import Sequence
from typing import Any, Final, TypeGuard

from hyoka.agents.agent import Agent, Spec
from hyoka.agents.engine_agent import EngineAgent
from hyoka.agents.function_agent import FunctionAgent
from hyoka.agents.search_agent import SearchAgent
from hyoka.foundation.errors import NotationError, nearest
from hyoka.search import KINDS

AGENT_KINDS: Final[list[type[Agent[Any]]]] = [
    SearchAgent,
    EngineAgent,
    FunctionAgent,
]
"""Every kind: whoever adds one adds a line."""


def spec_of(text: str, others: Sequence[str] = ()) -> Spec:
    """The spec that a text names; `others` are names that it might have meant.

    >>> spec_of("uct:playouts=500").title, spec_of("uci:stockfish").title
    ('uct playouts 500', 'stockfish')
    >>> spec_of("ucd:playouts=500")
    Traceback (most recent call last):
        ...
    hyoka.errors.NotationError: no search or engine 'ucd'; did you mean uct?
    """
    prefix = text.strip().partition(":")[0]
    for kind in AGENT_KINDS:
        if kind.is_named(prefix):
            spec: Spec = kind.read(text)
            return spec
    hint = nearest(prefix, [*others, *(word for kind in AGENT_KINDS for word in kind.prefixes)])
    if not hint:
        known = ", ".join([*others, *KINDS])
        hint = f"there are {known}, and engines as PROTOCOL:COMMAND (uci:stockfish)"
    raise NotationError(f"no search or engine '{prefix}'; {hint}")


def is_spec(given: object) -> TypeGuard[Spec]:
    """Whether something is the spec of some kind."""
    return any(isinstance(given, kind.spec_type) for kind in AGENT_KINDS)


def agent_of(spec: Spec) -> Agent[Any]:
    """Whoever a spec names.

    >>> agent_of(spec_of("uct:playouts=500,threads=2")).threads
    2
    """
    for kind in AGENT_KINDS:
        if isinstance(spec, kind.spec_type):
            return kind(spec)
    raise NotationError(f"no search, engine or function: {spec!r}")
