# SPDX-License-Identifier: Apache-2.0
"""What tells Python's functions and values apart."""

import enum
import functools
import math
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import hyoka as hk
from hyoka.foundation.fingerprint import fingerprint

WEIGHT = 3
TABLE = {"a": 1.0, "b": [2.0, (3, "x")]}


def by_weight(game: Any) -> Any:
    return game.score * WEIGHT


def by_table(game: Any) -> Any:
    return game.score * TABLE["a"]


def by_other(game: Any) -> Any:
    return by_weight(game) + 1


def scaled(factor: Any) -> Callable[[Any], Any]:
    return lambda game: game.score * factor


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    one: Any
    two: Any


@dataclass(frozen=True)
class Scorer:
    factor: Any

    def __call__(self, game: Any) -> Any:
        return game.score * self.factor


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def score(self, game: Any) -> Any:
        return game.score * self.factor


SAME = [
    (lambda game: game.score, lambda game: game.score),
    (scaled(2), scaled(2)),
    (scaled(np.arange(3)), scaled(np.arange(3))),
    (scaled({"a": 1, "b": 2}), scaled({"b": 2, "a": 1})),
    (scaled({"a", "b", "c"}), scaled({"c", "b", "a"})),
    (scaled(hk.Chess()), scaled(hk.Chess())),
    (Scorer(2), Scorer(2)),
    (Slotted(2).score, Slotted(2).score),
    (functools.partial(max, 1), functools.partial(max, 1)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_code_and_values_have_one_fingerprint(one: Any, other: Any) -> None:
    assert one is not other
    assert fingerprint(one) == fingerprint(other)


DIFFERENT = [
    (lambda game: 0.25, lambda game: 0.75),
    (lambda game: 1, lambda game: True),
    (lambda game: 0.0, lambda game: -0.0),
    (lambda game: game.score, lambda game: game.hash),
    (lambda game: lambda: 1, lambda game: lambda: 2),
    (lambda game, k=1: k, lambda game, k=2: k),
    (lambda game, *, k=1: k, lambda game, *, k=2: k),
    (lambda game: math.sin(1), lambda game: math.cos(1)),
    (scaled(2), scaled(3)),
    (scaled(2), scaled(2.0)),
    (scaled([1, 2]), scaled([2, 1])),
    (scaled([1, [2]]), scaled([[1], 2])),
    (scaled(np.arange(3)), scaled(np.arange(3.0))),
    (scaled(np.arange(4)), scaled(np.arange(4).reshape(2, 2))),
    (scaled(np.float32(1)), scaled(np.float64(1))),
    (scaled({"a": 1}), scaled({"a": 2})),
    (scaled({1, 2}), scaled({1, 3})),
    (scaled(Color.RED), scaled(Color.BLUE)),
    (scaled(Pair(1, 2)), scaled(Pair(2, 1))),
    (scaled(hk.Chess()), scaled(hk.Chess().play("e4"))),
    (scaled(hk.Player.first), scaled(hk.Player.second)),
    (scaled(math.sin), scaled(math.cos)),
    (scaled(np.tanh), scaled(np.sinh)),
    (scaled(np.mean), scaled(np.median)),
    (scaled({"a": 1}.get), scaled({"a": 2}.get)),
    (scaled(scaled(1)), scaled(scaled(2))),
    (scaled(Color), scaled(Pair)),
    (Scorer(2), Scorer(3)),
    (Slotted(2).score, Slotted(3).score),
    (functools.partial(max, 1), functools.partial(max, 2)),
    (functools.partial(max, 1), functools.partial(min, 1)),
    (functools.cache(lambda game: 1), functools.cache(lambda game: 2)),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_answers_differently_has_another_fingerprint(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (by_weight, "WEIGHT", 4),
        (by_table, "TABLE", {"a": 1.0}),
        (by_other, "WEIGHT", 4),  # by way of another function
        (by_other, "by_weight", lambda game: 0),
    ],
)
def test_globals_that_are_used_count(
    function: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(function)
    monkeypatch.setitem(function.__globals__, name, value)
    assert fingerprint(function) != before


def test_globals_that_are_not_used_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(by_weight)
    monkeypatch.setitem(by_weight.__globals__, "TABLE", 0)
    monkeypatch.setitem(by_weight.__globals__, "score", 0)  # the name of an attribute
    assert fingerprint(by_weight) == before


def test_functions_that_call_each_other_have_fingerprints() -> None:
    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert fingerprint(even) == fingerprint(even) != fingerprint(odd)


def test_a_method_counts_with_its_class_and_its_bases() -> None:
    def made(answer: int, inherited: int) -> Any:
        class Base:
            def helper(self) -> int:
                return inherited

        class Child(Base):
            def __call__(self, game: Any) -> int:
                return self.helper() + answer

        return Child()

    assert fingerprint(made(1, 2)) == fingerprint(made(1, 2))
    assert len({fingerprint(made(*each)) for each in ((1, 2), (1, 3), (2, 2))}) == 3


def test_what_it_says_of_itself_counts_alone() -> None:
    def one(game: Any) -> float:
        return 0.1

    def other(game: Any) -> float:
        return 0.2

    for function in (one, other):
        function.fingerprint = "version 7"  # type: ignore[attr-defined]
    assert fingerprint(one) == fingerprint(other) == "version 7"


def test_what_cannot_be_seen_is_refused_with_what_to_add(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        for hidden in (file, file.write, random.Random().random, iter([1])):
            with pytest.raises(hk.errors.NotationError, match=r'fingerprint="…"') as caught:
                fingerprint(scaled(hidden))
            assert "'factor' in scaled" in str(caught.value)
            assert "\n" not in str(caught.value)


def test_a_list_within_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(hk.errors.NotationError, match="nested too deeply"):
        fingerprint(scaled(endless))


PROGRAM = """
import sys, functools
sys.path.insert(0, sys.argv[1])
import numpy as np
import helper
import hyoka as hk
from hyoka.foundation.fingerprint import fingerprint
WORDS = {"one", "two", "three", "four", "five"}
class Net:
    def __init__(self): self.w, self.words = np.linspace(0, 1, 5), {w: len(w) for w in WORDS}
    def __call__(self, game, *, k={"a", "b"}): return helper.scale(self.w.sum()) if k else WORDS
def f(game):
    return Net()(game) if game.to_play is hk.Player.first else hk.Outcome
print(fingerprint(f), fingerprint(functools.partial(Net(), k=1)))
"""


def fingerprint_in_a_process(folder: Path, hash_seed: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def test_processes_agree_and_a_module_of_the_users_own_counts_by_its_text(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text(textwrap.dedent("def scale(x): return x / 2\n"))
    first = fingerprint_in_a_process(tmp_path, "1")
    assert fingerprint_in_a_process(tmp_path, "2") == first
    helper.write_text(textwrap.dedent("def scale(x): return x / 4\n"))
    assert fingerprint_in_a_process(tmp_path, "1") != first
