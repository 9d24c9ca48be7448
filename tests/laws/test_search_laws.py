# SPDX-License-Identifier: Apache-2.0
"""Random searches with tiny limits: none fails, and each plays a legal move."""

import random
from typing import Any

import pytest

import hyoka as hk
from hyoka.search import Searcher, SearchSpec
from hyoka.search.settings import Setting, settings_of

# Where one costs least, most of them.
SHARES = {"shogi": 0.4, "blokus_duo": 0.6, "go3": 1.6, "go5": 1.5}
GAMES = ["go3", "go5", "go9", "othello", "chess", "shogi", "blokus_duo"]
_UNTOUCHED = {
    "playouts", "nodes", "time", "depth", "a_move", "threads", "memory", "book", "book_plies",
    "weights", "strengths", "seed", "mate", "ending", "policy", "multipv",
}  # fmt: skip


def drawn(setting: Setting, chance: random.Random) -> Any:
    """A value that a setting may have."""
    if setting.kind == "flag":
        return chance.random() < 0.5
    if setting.kind == "choice":
        return chance.choice(setting.choices)
    low, high = setting.minimum or 0, min(setting.maximum or 1, 50)
    if setting.kind == "int":
        return chance.randint(int(low), int(high))
    return low + (high - low) * chance.random()


def random_spec(kind: str, table: list[Setting], game: str, chance: random.Random) -> SearchSpec:
    """Some search with tiny limits."""
    settings = {
        setting.name: drawn(setting, chance)
        for setting in table
        if setting.name not in _UNTOUCHED and setting.kind != "file" and chance.random() < 0.3
    }
    names = {setting.name for setting in table}
    limits: dict[str, Any] = {
        "playouts": chance.randint(1, 30),
        "nodes": chance.randint(1, 30),
        "time": 10.0 ** -chance.randint(3, 6),
        "depth": chance.randint(1, 2),
        "a_move": 1,
    }
    limit = chance.choice([name for name in limits if name in names])
    settings[limit] = limits[limit]
    if limit != "time":
        settings["time"] = 1.0  # a_move and depth say nothing of how long that is
    settings["seed"] = chance.randint(0, 99) if "seed" in names else None
    if "memory" in names:
        settings["memory"] = 10.0 ** -chance.randint(0, 3)
    if "threads" in names:
        settings["threads"] = chance.choice([1, 1, 1, 2, 5])
    if "policy" in names:
        light = ["light"] if game.startswith("go") else []
        settings["policy"] = chance.choice(["uniform", "strengths", *light])
    if "mate" in names and game in ("chess", "shogi"):
        settings["mate"] = chance.choice([0, 20])
    if "ending" in names and game == "othello":
        settings["ending"] = chance.choice([0, 6])
    if game not in ("chess", "shogi") and kind != "ab":
        for name in ("quiescence", "root_quiescence"):  # refused where captures are no matter
            settings.pop(name, None)
    if settings.get("seed", 0) is None:
        del settings["seed"]
    return SearchSpec.of(kind).with_settings(**settings)  # some without effect


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    ("kind", "table", "searches"),
    [(kind, settings_of(kind), n) for kind, n in (("uct", 60), ("ab", 50), ("mc", 25))],
)
def test_random_searches(game: str, kind: str, table: list[Setting], searches: int) -> None:
    chance = random.Random(f"{game} {kind}")
    line = hk.position(game).line()
    for search in range(int(searches * SHARES.get(game, 1))):
        spec = random_spec(kind, table, game, chance)
        if line.outcome is not None or len(line) > 120:
            line = hk.position(game).line()
        result = Searcher(spec, game).search(line)
        assert result.best in line.legal_moves, (spec.text, line.text)
        assert 0 <= (result.value or 0.0) <= 1, (spec.text, line.text)
        expected = line
        for move in result.pv:
            expected = expected.play(move)
        line = line.play(result.best if search % 3 else line.random_move(search))
