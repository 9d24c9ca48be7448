# SPDX-License-Identifier: Apache-2.0
"""Texts of positions for SQL: `position_text(game_id, ply)`, `fen(…)` in chess, `sfen(…)` in shogi.

Positions are not on the disk: the moves of their games are played. The functions are there for one
query at a time, and take nothing but two numbers.
"""

import contextlib
import re
import secrets
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hyoka import _core
from hyoka.errors import ConditionError
from hyoka.games import game_facts
from hyoka.study.sql import Connection

_CALLED: Final = re.compile(r"\b(?:position_text|s?fen)\s*\(", re.IGNORECASE)
_MISSING: Final = re.compile(r"Function with name (s?fen) does not exist", re.IGNORECASE)


@contextlib.contextmanager
def position_texts(
    opened: Connection, query: str, game: str, games: Callable[[], pa.Table]
) -> Iterator[None]:
    """Let a query use the functions, if it does; `games` gives game_id, start, komi and moves."""
    if not _CALLED.search(query):
        yield
        return
    inner = f"position_text_{secrets.token_hex(8)}"
    names = [name for name in ("position_text", game_facts(game).start_word) if name]
    opened.texts = game, games()
    texts = _Texts(*opened.texts)
    opened.cursor.create_function(
        inner, texts, ["BIGINT", "BIGINT"], "VARCHAR", type="arrow", null_handling="special"
    )
    try:
        for name in names:
            opened.execute(
                f"create or replace temp macro {name}(game_id, ply) as "
                f"{inner}(cast(game_id as bigint), cast(ply as bigint))"
            )
        yield
    except ConditionError as error:
        if (missing := _MISSING.search(str(error))) is None:
            raise
        raise ConditionError(
            f"{game} has no {missing[1]}(game_id, ply); there is {' and '.join(names)}"
        ) from error
    finally:
        for name in names:
            opened.execute(f"drop macro if exists temp.{name}")
        opened.cursor.remove_function(inner)
        opened.texts = None


class _Texts:
    """Texts of positions by game and ply; null where there is none."""

    def __init__(self, game: str, games: pa.Table) -> None:
        self._game = game
        self._games = games
        ids = games["game_id"].to_numpy()
        self._order = np.argsort(ids)
        self._ids = ids[self._order]

    def __call__(self, games: Any, plies: Any) -> pa.Array:
        wanted = list(zip(games.to_pylist(), plies.to_pylist(), strict=True))
        texts: list[str | None] = [None] * len(wanted)
        replay: tuple[int | None, _core.Replay | None, int] = (None, None, -1)
        # In order a game is walked once.
        known = (i for i, keys in enumerate(wanted) if None not in keys)
        for i in sorted(known, key=lambda i: wanted[i]):
            game, ply = wanted[i]
            if replay[0] != game:
                replay = (game, *self._replay(game))
            if replay[1] is not None and 0 <= ply <= replay[2]:
                texts[i] = replay[1].position(ply).text
        return pa.array(texts, pa.string())

    def _replay(self, game: int) -> tuple[_core.Replay | None, int]:
        place = int(np.searchsorted(self._ids, game))
        if place == len(self._ids) or self._ids[place] != game:
            return None, -1
        row = int(self._order[place])
        start, komi, moves = (self._games[name][row].as_py() for name in ("start", "komi", "moves"))
        codes = np.frombuffer(moves, "<u2").astype(np.uint16)
        number = float("nan") if komi is None else komi
        return _core.Replay(self._game, start, number, codes), len(codes)
