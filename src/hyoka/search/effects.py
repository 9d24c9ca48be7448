# SPDX-License-Identifier: Apache-2.0
"""Which settings count beside which others: some mean nothing alone, some change what is usual."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from hyoka import _core
from hyoka.search.settings import Value

Get = Callable[[str], object]
"""A setting's value by its name."""

_PRESETS: Final = ("exact", "plain")
"""Settings of alpha-beta that stand for others."""
_STRENGTHS: Final = (
    "strengths",
    "prior_strengths",
    "widening_strengths",
    "playout_strengths",
)
_LIMITS: Final = ("playouts", "a_move", "nodes", "depth", "time")


def usual(kind: str, said: Mapping[str, Value]) -> dict[str, Value]:
    """What settings are, if nobody says, beside others that were said.

    >>> usual("ab", {"exact": True})["null_move"]
    False
    """
    chosen = [name for name in _PRESETS if said.get(name)] if kind == "ab" else []
    if not chosen:
        return {}
    options, plain = _core.AlphaBetaOptions(), _core.AlphaBetaOptions()
    for name in chosen:
        options.set(name, True)
    options.apply_presets()
    names = [setting.name for setting in options.settings() if setting.kind != "file"]
    return {
        name: value
        for name in names
        if name not in _PRESETS and (value := options.get(name)) not in (None, plain.get(name))
    }


def is_default(kind: str, name: str, value: Value, get: Get) -> bool:
    """Whether a setting that says nothing of its own by default was said to be what it is."""
    if name in _LIMITS:
        # Solvers have a limit of nodes by default, which 0 lifts.
        return value == 0 and not (name == "nodes" and kind in ("mate", "exact"))
    if kind != "uct":
        return False
    puct = get("formula") == "puct"
    if name == "c":
        return bool(value == (1.5 if puct else 1.0))
    if name in _STRENGTHS and name != "strengths":
        return bool(value == get("strengths"))
    return name == "ordered" and value == (puct or get("widening"))


def idle(
    kind: str, names: Collection[str], get: Get, parts: Mapping[str, object]
) -> dict[str, str]:
    """Of the settings and parts named, those that have no effect beside the others, and why.

    >>> known = {"widening": False}
    >>> idle("uct", ["widening_c"], known.get, {})
    {'widening_c': 'without widening=on'}
    """
    reasons = {"uct": _idle_in_uct, "mc": _idle_in_mc, "mc-score": _idle_in_mc, "ab": _idle_in_ab}
    if kind not in reasons:
        return {}
    found = reasons[kind](get, parts)
    return {name: found[name] for name in names if name in found}


def _idle_in_uct(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    if not get("widening"):
        found |= dict.fromkeys(("widening_d", "widening_c", "widening_e"), "without widening=on")
    if not get("killer"):
        found["killer_c"] = "without killer=on"
    if not get("history"):
        found["history_threshold"] = "without history=on"
    if get("formula") != "puct":
        found["reduction"] = "without formula=puct"
    elif get("widening"):
        found["reduction"] = "with widening=on"
    if not get("prior"):
        found["prior_when"] = "without prior=…"
    found |= _idle_without_book(get, parts)
    if "evaluator" in parts:
        chosen = ("policy", "epsilon", "cut", "mix", *_STRENGTHS, "ordered")
        found |= dict.fromkeys(chosen, "with an evaluator in the place of playouts")
    else:
        found["batch"] = "without an evaluator in Python"
        found |= _idle_strengths(get)
    playing = "evaluator" not in parts
    if get("cut") == 0:
        found["mix"] = "with cut=0: there are no playouts to mix with"
    judged = get("cut") is not None or get("minimax") or get("mix")
    if not get("prior") and not (playing and judged):
        judging = ("eval", "scale", "evaluation", "quiescence")
        found |= dict.fromkeys(judging, "without prior=…, cut=…, mix=… or minimax=…")
    return found | _idle_beside_evaluation(parts, "scale")


def _idle_strengths(get: Get) -> dict[str, str]:
    """Strengths serve playouts, priors and the order of moves, and widening."""
    found = _idle_in_playouts(get)
    usual = get("formula") == "puct" or get("widening")
    if get("ordered") if get("ordered") is not None else usual:
        found.pop("strengths", None)
    else:
        found["prior_strengths"] = "without moves tried by strength"
    if not get("widening"):
        found["widening_strengths"] = "without widening=on"
    return found


def _idle_in_mc(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    found = _idle_in_playouts(get)
    if get("a_move"):
        found |= dict.fromkeys(("playouts", "divide"), "with a_move=…")
    if get("cut") is None:
        judging = ("eval", "scale", "evaluation", "quiescence")
        found |= dict.fromkeys(judging, "without cut=…")
    return found | _idle_beside_evaluation(parts, "scale")


def _idle_in_playouts(get: Get) -> dict[str, str]:
    found = {}
    if get("policy") == "uniform":
        found["epsilon"] = "with policy=uniform"
    if get("policy") != "strengths":
        found["strengths"] = "without policy=strengths, or moves tried by strength"
        found["playout_strengths"] = "without policy=strengths"
    return found


def _idle_in_ab(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    found = {}
    if get("plain"):
        found["exact"] = "with plain=on"
    if not get("principal_variation"):
        found["late_move_reductions"] = "without principal_variation=on"
    found |= _idle_without_book(get, parts)
    if "book_pick" in found or get("book_pick") == "search":
        found["seed"] = "without a book to draw from"
    return found | _idle_beside_evaluation(parts)


def _idle_without_book(get: Get, parts: Mapping[str, object]) -> dict[str, str]:
    if get("book") is not None:
        return {}
    found = {"book_plies": "without book=FILE"}
    if "book" not in parts:
        found["book_pick"] = "without book=FILE"
    return found


def _idle_beside_evaluation(parts: Mapping[str, object], *more: str) -> dict[str, str]:
    """An evaluation given as a value has its own weights; a function gives values as they are."""
    if "evaluation" not in parts:
        return {}
    names = ("eval",) if hasattr(parts["evaluation"], "weights") else ("eval", *more)
    return dict.fromkeys(names, "beside evaluation=…")
