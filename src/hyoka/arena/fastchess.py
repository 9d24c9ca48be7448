# SPDX-License-Identifier: Apache-2.0
"""Command lines and configurations of fastchess (and cutechess-cli) as matches.

https://github.com/Disservin/fastchess/blob/master/man has their options.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hyoka.arena.plan import MatchOptions, PlayerSpec, TimeControl
from hyoka.engines.spec import EngineSpec
from hyoka.foundation.errors import NotationError, nearest
from hyoka.storage.files import read_regular

_ENGINE: Final = (
    *("cmd", "name", "tc", "st", "timemargin", "nodes", "plies", "depth", "dir", "args"),
    *("restart", "proto"),
)
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "engine": _ENGINE,
    "each": _ENGINE,
    "openings": ("file", "format", "order", "plies", "start", "policy"),
    "sprt": ("elo0", "elo1", "alpha", "beta", "model"),
    "resign": ("movecount", "score", "twosided"),
    "draw": ("movenumber", "movecount", "score"),
    "config": ("file", "outname", "discard", "stats"),
}
"""The keys of options that have some."""
_MET: Final = (
    *("recover", "repeat", "report", "output", "ratinginterval", "scoreinterval", "pgnout", "wait"),
    *("autosaveinterval", "force-concurrency", "check-mate-pvs", "strict", "startup-ms"),
    *("ucinewgame-ms", "ping-ms", "reverse"),
)
"""What Hyoka always does, or what only concerns fastchess's output."""
_LEFT_OUT: Final = ("use-affinity", "log", "epdout", "event", "site", "crc32", "show-latency")
_REFUSED: Final = {
    "noswap": "each opening is played from both sides",
    "tb": "there is no adjudication by tablebases",
    "tbpieces": "there is no adjudication by tablebases",
    "tbignore50": "there is no adjudication by tablebases",
    "tbadjudicate": "there is no adjudication by tablebases",
    "quick": "write its engines and openings in full",
    "seeds": "in a gauntlet, the first engine meets each of the others",
}
_LIMITS: Final = {"nodes": "nodes", "plies": "depth", "depth": "depth", "st": "time"}
"""The limits of fastchess, with their names in specs."""
_SINGLE: Final = ("concurrency", "games", "rounds", "maxmoves", "srand", "variant", "tournament")
_TC: Final = re.compile(
    r"(?:(?P<moves>\d+|inf|infinite)/)?(?:(?P<minutes>[\d.]+):)?(?P<seconds>[\d.]+)s?"
    r"(?:\+(?P<increment>[\d.]+)s?)?"
)
OPTIONS: Final = (*_KEYS, *_SINGLE, *_MET, *_LEFT_OUT, *_REFUSED)
"""All options of fastchess but those that print its version and help."""


@dataclass(frozen=True)
class FastchessMatch:
    """A match as fastchess's command line describes it."""

    players: tuple[str, ...]
    options: MatchOptions
    games: int
    sprt: str | None
    jobs: int
    left_out: tuple[str, ...]
    """Options without a counterpart."""

    @property
    def words(self) -> list[str]:
        """The words after `hyoka match run` that give this match."""
        options, usual = self.options, MatchOptions()
        chosen = {
            "--game": (options.game, usual.game),
            "--games": (self.games, 100),
            "--openings": (options.openings, usual.openings),
            "--opening-order": (options.opening_order, usual.opening_order),
            "--sprt": (self.sprt, None),
            "--tournament": (options.format, usual.format),
            "--max-plies": (options.max_plies, usual.max_plies),
            "--margin": (options.margin_s, usual.margin_s),
            "--seed": (options.seed, usual.seed),
            "--jobs": (self.jobs, None),
        }
        words = [*self.players]
        for name, (value, default) in chosen.items():
            if value != default:
                words += [name, str(value)]
        return [*words, *(word for rule in options.adjudicate for word in ("--adjudicate", rule))]


def read_fastchess(text: str) -> FastchessMatch:
    """Read a command line of fastchess; raises NotationError for what Hyoka cannot do.

    >>> match = read_fastchess("-engine cmd=a name=new -engine cmd=b option.Hash=16 "
    ...                        "-each tc=8+0.08 -rounds 50 -repeat -sprt elo0=0 elo1=2")
    >>> match.players, match.games, match.sprt
    (('new=uci:a@8+0.08', 'uci:Hash=16:b@8+0.08'), 100, '0,2,model=normalized')
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise NotationError(f"fastchess: {error}") from None
    if words and not words[0].startswith("-"):
        del words[0]  # the program
    given: list[tuple[str, list[str]]] = []
    for word in words:
        if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word):
            given.append((word.lstrip("-"), []))
        elif given:
            given[-1][1].append(word)
    return _match_of([(name, _values(name, values)) for name, values in given])


def _values(name: str, words: Sequence[str]) -> dict[str, str]:
    """The values of an option by key; of an option without keys, by the empty key."""
    if name not in OPTIONS:
        hint = nearest(name, OPTIONS)
        raise NotationError(f"fastchess has no option -{name}" + (f"; {hint}" if hint else ""))
    if name not in _KEYS:
        return {"": " ".join(words)}
    values = {}
    for word in words:
        key, equals, value = word.partition("=")
        usable = key in _KEYS[name] or (name in ("engine", "each") and key.startswith("option."))
        if not equals or not usable:
            raise NotationError(f"fastchess: -{name} has no value '{word}'")
        values[key] = value
    return values


@dataclass(frozen=True)
class _Given:
    """The options of a command line by kind."""

    engines: list[dict[str, str]]
    keyed: dict[str, dict[str, str]]
    single: dict[str, str]
    left_out: list[str]

    @classmethod
    def of(cls, given: Sequence[tuple[str, dict[str, str]]]) -> "_Given":
        """Sort options; raises NotationError for those that Hyoka cannot do."""
        found = cls([], {}, {}, [])
        for name, values in given:
            if name in _REFUSED:
                raise NotationError(f"fastchess's -{name} is not possible: {_REFUSED[name]}")
            if name == "engine":
                found.engines.append(values)
            elif name in _LEFT_OUT:
                found.left_out.append(f"-{name}")
            elif name in _KEYS:
                found.keyed[name] = found.keyed.get(name, {}) | values
            else:
                found.single[name] = values[""]
        each = found.keyed.get("each", {})
        found.engines[:] = [engine | each for engine in found.engines]
        if any(engine.get("restart") == "on" for engine in found.engines):
            found.left_out.append("restart=on")
        if len(found.engines) < 2:
            raise NotationError("fastchess: a match needs two options -engine at least")
        return found

    def count(self, name: str, usual: int) -> int:
        """A number of an option without keys."""
        return _count(name, self.single[name]) if name in self.single else usual

    def choice(self, name: str, *choices: str) -> str:
        """A word of an option; the first is the default."""
        word = self.single.get(name, choices[0])
        if word not in choices:
            raise NotationError(f"fastchess: -{name} is {' or '.join(choices)}, not '{word}'")
        return word


def _match_of(options: Sequence[tuple[str, dict[str, str]]]) -> FastchessMatch:
    files = [values["file"] for name, values in options if name == "config" and "file" in values]
    configured = [each for file in files for each in _configured(Path(file))]
    given = _Given.of([*configured, *(each for each in options if each[0] != "config")])
    openings = given.keyed.get("openings", {})
    if given.choice("variant", "standard", "fischerandom") != "standard" and not openings:
        raise NotationError("fastchess: -variant fischerandom needs -openings of Chess960")
    repeat = given.single.get("repeat", "")
    a_round = given.count("games", int(repeat) if repeat.isdecimal() else 2)
    gauntlet = given.choice("tournament", "roundrobin", "gauntlet") == "gauntlet"
    return FastchessMatch(
        players=tuple(map(_player, given.engines)),
        options=MatchOptions(
            game="chess",
            openings=_openings_text(openings),
            opening_order="file" if openings.get("order") == "sequential" else "random",
            format="gauntlet" if gauntlet else "round-robin",
            adjudicate=tuple(_adjudications(given.keyed)),
            max_plies=2 * given.count("maxmoves", MatchOptions().max_plies // 2),
            margin_s=_margin(given.engines),
            seed=given.count("srand", 0),
        ),
        games=a_round * given.count("rounds", 500_000 if "sprt" in given.keyed else 2),
        sprt=_sprt_text(given.keyed["sprt"]) if "sprt" in given.keyed else None,
        jobs=given.count("concurrency", 1),
        left_out=tuple(dict.fromkeys(given.left_out)),
    )


def _player(engine: Mapping[str, str]) -> str:
    if engine.get("proto", "uci") not in ("uci", "xboard"):
        raise NotationError(f"fastchess: no protocol '{engine['proto']}'")
    if not (command := engine.get("cmd")):
        raise NotationError("fastchess: an engine needs cmd=COMMAND")
    protocol = "cecp" if engine.get("proto") == "xboard" else "uci"
    command = shlex.join([command, *shlex.split(engine.get("args", ""))])
    limits = [f"{to}={engine[name]}" for name, to in _LIMITS.items() if name in engine]
    options = {
        key.removeprefix("option."): value
        for key, value in engine.items()
        if key.startswith("option.")
    }
    spec = replace(
        EngineSpec.from_text(f"{protocol}:{','.join(limits)}{':' if limits else ''}{command}"),
        options=tuple(options.items()),
        cwd=engine.get("dir"),
    )
    clock = _clock(engine.get("tc", ""))
    return PlayerSpec(engine.get("name", ""), spec, clock).text


def _clock(text: str) -> TimeControl | None:
    """A time control of fastchess as ours; empty for none."""
    if text in ("", "inf", "infinite"):
        return None
    if (match := _TC.fullmatch(text)) is None:
        raise NotationError(f"fastchess: no time control '{text}'")
    try:
        return TimeControl(
            main_s=60 * float(match["minutes"] or 0) + float(match["seconds"]),
            increment_s=float(match["increment"] or 0),
            moves=int(match["moves"]) if (match["moves"] or "").isdecimal() else None,
        )
    except ValueError:
        raise NotationError(f"fastchess: no time control '{text}'") from None


def _openings_text(openings: Mapping[str, str]) -> str:
    if "file" not in openings:
        return "start"
    if openings.get("start", "1") != "1":
        raise NotationError("fastchess: -openings start=N is not possible; cut the file instead")
    plies = openings.get("plies", "")
    return f"{openings['file']}:{plies}" if plies.isdecimal() else openings["file"]


def _adjudications(keyed: Mapping[str, Mapping[str, str]]) -> list[str]:
    rules = []
    if (resign := keyed.get("resign")) is not None:
        kind = "win" if resign.get("twosided") == "true" else "resign"
        rules.append(f"{kind}={resign.get('score', '0')},{resign.get('movecount', '1')}")
    if (draw := keyed.get("draw")) is not None:
        from_ply = 2 * _count("draw movenumber", draw.get("movenumber", "0"))
        count = max(1, _count("draw movecount", draw.get("movecount", "1")))
        rules.append(f"draw={draw.get('score', '0')},{count},{from_ply}")
    return rules


def _sprt_text(sprt: Mapping[str, str]) -> str:
    words = [sprt.get("elo0", "0"), sprt.get("elo1", "0")]
    words += [f"{name}={sprt[name]}" for name in ("alpha", "beta") if name in sprt]
    model = sprt.get("model", "normalized")
    if model == "bayesian":
        raise NotationError("fastchess: the model bayesian is not possible; use normalized")
    return ",".join([*words, *([f"model={model}"] if model != "logistic" else [])])


def _margin(engines: Sequence[Mapping[str, str]]) -> float:
    margins = {engine["timemargin"] for engine in engines if "timemargin" in engine}
    if len(margins) > 1:
        raise NotationError("fastchess: all engines need the same timemargin")
    return _count("timemargin", margins.pop()) / 1000 if margins else MatchOptions().margin_s


def _count(name: str, text: str) -> int:
    if not text.isdecimal():
        raise NotationError(f"fastchess: {name} is a number, not '{text}'")
    return int(text)


def _configured(file: Path) -> list[tuple[str, dict[str, str]]]:
    """The options in a configuration that fastchess wrote."""
    try:
        config: Any = json.loads(read_regular(file))
        return list(_options_of(config))
    except OSError as error:
        raise NotationError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotationError(f"{file}: no configuration of fastchess ({error})") from None


def _options_of(config: Any) -> list[tuple[str, dict[str, str]]]:
    given = []
    for engine in config["engines"]:
        limit, tc = engine["limit"], engine["limit"]["tc"]
        values = {"cmd": engine["cmd"], "name": engine["name"], "args": engine["args"]}
        values |= {"dir": engine["dir"]} if engine["dir"] else {}
        values |= {name: str(limit[name]) for name in ("nodes", "plies") if limit[name]}
        values |= {"st": f"{tc['fixed_time'] / 1000:g}"} if tc["fixed_time"] else {}
        values |= {"timemargin": str(tc["timemargin"])} if tc["timemargin"] else {}
        if tc["time"]:
            moves = f"{tc['moves']}/" if tc["moves"] else ""
            values["tc"] = f"{moves}{tc['time'] / 1000:.12g}+{tc['increment'] / 1000:.12g}"
        values |= {"restart": "on"} if engine["restart"] else {}
        values |= {f"option.{name}": str(value) for name, value in engine["options"]}
        given.append(("engine", values))
    opening = config["opening"]
    if opening["file"]:
        values = {"file": opening["file"], "start": str(opening["start"])}
        values["order"] = "random" if opening["order"] == 0 else "sequential"
        values |= {"plies": str(opening["plies"])} if opening["plies"] > 0 else {}
        given.append(("openings", values))
    for name, keys in (
        ("resign", {"movecount": "move_count", "score": "score", "twosided": "twosided"}),
        ("draw", {"movenumber": "move_number", "movecount": "move_count", "score": "score"}),
        ("sprt", {key: key for key in _KEYS["sprt"]}),
    ):
        if config[name]["enabled"]:
            given.append((name, {key: _word(config[name][own]) for key, own in keys.items()}))
    if config["maxmoves"]["enabled"]:
        given.append(("maxmoves", {"": str(config["maxmoves"]["move_count"])}))
    if config["tb_adjudication"]["enabled"]:
        given.append(("tb", {"": config["tb_adjudication"]["syzygy_dirs"]}))
    for name in ("noswap",):
        given += [(name, {"": ""})] if config[name] else []
    kinds = {"tournament": ("roundrobin", "gauntlet"), "variant": ("standard", "fischerandom")}
    given.append(("tournament", {"": kinds["tournament"][config["type"]]}))
    given.append(("variant", {"": kinds["variant"][config["variant"]]}))
    given += [(name, {"": str(config[name])}) for name in ("games", "rounds", "concurrency")]
    return [*given, ("srand", {"": str(config["seed"] % 2**31)})]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
