# SPDX-License-Identifier: Apache-2.0
"""Ablation matches: a search with each enhancement against the same search without it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from hyoka.arena.match import MatchResult
from hyoka.arena.plan import PlayerSpec
from hyoka.arena.ratings import DuelSummary
from hyoka.foundation.errors import NotationError, nearest
from hyoka.foundation.options import check_options, option
from hyoka.search import SearchSpec


@dataclass(frozen=True, slots=True)
class Switch:
    """An enhancement: a setting, and its value with and without the enhancement."""

    name: str
    setting: str
    on: object
    off: object


_SWITCHES: Final[dict[str, tuple[str, object, object]]] = {
    "strengths": ("policy", "strengths", "uniform"),
    "light": ("policy", "light", "uniform"),
    "mate": ("mate", 30, 0),
    "ending": ("ending", 8, 0),
    "rave": ("rave", 1000.0, 0.0),
    "eval_visits": ("eval_visits", 10, 0),
    "tuned": ("formula", "ucb1-tuned", "ucb1"),
    "cutoff": ("cutoff", 4, None),
}
"""Enhancements that are not a flag: a setting, and its value with and without it."""

Way = Literal["added", "removed", "ladder"]
"""Each added to the bare search, each removed from the full one, or added cumulatively."""
WAYS: Final[tuple[Way, ...]] = get_args(Way)
DEFAULT_SWITCHES: Final = {
    "uct": ("strengths", "widening", "killer", "history", "rave"),
    "ab": (
        "quiescence", "null_move", "late_move_reductions", "principal_variation", "hash_move",
    ),
}  # fmt: skip
"""The default enhancements of each kind of search."""


def switch_of(search: SearchSpec, text: str) -> Switch:
    """Return a switch by its name: an enhancement, a flag of the search, or `SETTING=VALUE`.

    Without the enhancement, a setting keeps the search's value, else the default.

    >>> bare, tuned = SearchSpec.from_text("uct"), SearchSpec.from_text("uct:rave=200")
    >>> switch_of(bare, "strengths")
    Switch(name='strengths', setting='policy', on='strengths', off='uniform')
    >>> [(each.on, each.off) for each in (switch_of(bare, "rave"), switch_of(tuned, "rave"))]
    [(1000.0, 0.0), (1000.0, 200.0)]
    """
    switch = _named(search.kind, text)
    current = search[switch.setting]
    off = switch.off if current == switch.on else current
    if off == switch.on:
        raise NotationError(f"the switch '{text}' changes nothing")
    return replace(switch, off=off)


def _named(kind: str, text: str) -> Switch:
    settings = {setting.name: setting for setting in SearchSpec.settings_for(kind)}
    name, equals, value = (part.strip() for part in text.partition("="))
    if equals and name in settings:
        return Switch(text, name, settings[name].read(value), settings[name].default)
    if name in _SWITCHES and _SWITCHES[name][0] in settings:
        return Switch(name, *_SWITCHES[name])
    if name in settings and settings[name].kind == "flag":
        return Switch(name, name, True, False)
    flags = [setting.name for setting in settings.values() if setting.kind == "flag"]
    names = [*flags, *(each for each, (setting, *_) in _SWITCHES.items() if setting in settings)]
    hint = nearest(name, names) or f"known: {', '.join(names)}, and SETTING=VALUE"
    raise NotationError(f"{kind} has no switch '{text}'; {hint}")


@dataclass(frozen=True, slots=True)
class Contest:
    """One match of an ablation: a search with an enhancement against the same without it."""

    switch: str
    limit: str
    """The limit of both players, as `playouts=1000`."""
    with_it: SearchSpec
    without: SearchSpec

    @property
    def players(self) -> tuple[PlayerSpec, PlayerSpec]:
        """Both players, named for the table."""
        return (
            PlayerSpec(f"with {self.switch}", self.with_it),
            PlayerSpec(f"without {self.switch}", self.without),
        )


def contests(
    search: SearchSpec, switches: Sequence[str], limits: Sequence[tuple[str, float]], how: str
) -> list[Contest]:
    """Plan the matches of an ablation; `limits` are settings of both sides, as (playouts, 500).

    >>> for contest in contests(SearchSpec.from_text("uct"), ["rave", "killer"],
    ...                         [("playouts", 500)], "ladder"):
    ...     print(contest.with_it.text, "v", contest.without.text)
    uct:playouts=500,rave=1000 v uct:playouts=500
    uct:playouts=500,killer=on,rave=1000 v uct:playouts=500,rave=1000
    """
    if how not in WAYS:
        hint = nearest(how, WAYS) or f"known: {', '.join(WAYS)}"
        raise NotationError(f"no way '{how}'; {hint}")
    if not switches or not limits:
        raise NotationError("an ablation needs switches, and playouts or time")
    selected = [switch_of(search, switch) for switch in dict.fromkeys(switches)]
    bare = search.with_settings(**{switch.setting: switch.off for switch in selected})
    full = search.with_settings(**{switch.setting: switch.on for switch in selected})
    planned = []
    for name, amount in limits:
        step = bare
        for switch in selected:
            if how == "removed":
                with_it, without = full, full.with_settings(**{switch.setting: switch.off})
            else:
                without = step
                with_it = without.with_settings(**{switch.setting: switch.on})
                step = with_it if how == "ladder" else bare
            planned.append(
                Contest(
                    switch.name,
                    f"{name}={amount:g}",
                    _limited(with_it, name, amount),
                    _limited(without, name, amount),
                )
            )
    return planned


def _limited(spec: SearchSpec, name: str, amount: float) -> SearchSpec:
    limits = {key: None for key in ("playouts", "nodes", "depth", "time") if spec.has(key)}
    return spec.with_settings(**{**limits, name: amount})


def _read_names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class AblationPlan:
    """Options of an ablation."""

    switches: Sequence[str] | None = option(
        None,
        "Enhancements: strengths, light, mate, ending, rave, eval_visits, tuned, cutoff, any flag "
        "of the search (`hyoka position search --settings`), or SETTING=VALUE.",
        metavar="A,B,…",
        parse=_read_names,
    )
    games: int = option(100, "Number of games per pair of players.", min=1)
    playouts: int = option(
        500,
        "Number of playouts per search, or nodes with ab, in one set of matches; 0: none.",
        min=0,
    )
    time_s: float = option(
        0.05,
        "Time per search in seconds, in the other set of matches; 0: none.",
        name="time",
        min=0,
        metavar="S",
    )
    how: Way = option(
        "added",
        "added: each enhancement is added to the bare search; removed: each is removed from the "
        "full search; ladder: they are added one after another.",
    )

    def __post_init__(self) -> None:
        check_options(self)

    def contests(self, search: SearchSpec) -> list[Contest]:
        """Plan the matches, by default of the usual enhancements of the search's kind."""
        amount = "playouts" if search.has("playouts") else "nodes"
        limits = [(amount, self.playouts), ("time", self.time_s)]
        switches = self.switches or list(DEFAULT_SWITCHES.get(search.kind, ()))
        return contests(search, switches, [limit for limit in limits if limit[1]], self.how)


def ablate(
    planned: Sequence[Contest], play: Callable[[tuple[PlayerSpec, PlayerSpec]], MatchResult]
) -> list[tuple[Contest, DuelSummary]]:
    """Play every contest and summarize it; `play` plays a match of two players.

    After an interrupt, the same call continues if `play` resumes its matches.
    """
    return [(contest, DuelSummary.of(play(contest.players).standing, 0, 1)) for contest in planned]
