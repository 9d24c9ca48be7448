# SPDX-License-Identifier: Apache-2.0
"""Model files: learned content with its origin, identified by a hash.

A spec that names a file reads it completely, once. The content is stored and sent with the spec,
so results do not depend on later changes of the file or on its presence on other machines.

Hyoka writes a header: kind, format, SHA-256 of the content, and origin. Small models are JSON
objects with the header under "hyoka"; others have a magic line, a line of JSON and then bytes,
aligned to 64 for memory mapping. Files without a header (weights written by hand, records,
profiles in TOML) get their kind from their use. Nothing in a file is ever executed.
"""

import hashlib
import importlib.metadata
import json
import math
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyoka.foundation.errors import NotationError, SourceError, nearest
from hyoka.storage.files import write_bytes

if TYPE_CHECKING:
    from hyoka.storage.game_ids import GameIds

BUILT_IN: Final = "built-in"
"""Names the game's bundled model instead of a file."""
LEARNED: Final = "learned"
"""Names the game's bundled model of learned strengths, or a learned evaluation."""
NETWORK: Final = "network"
"""Names the game's bundled learned model instead of a file of strengths."""
_HEADER: Final = "hyoka"
_MAGIC: Final = b"hyoka-artefact 1\n"
_ALIGNMENT: Final = 64
_LARGEST: Final = 1 << 28
_LONGEST_HEADER: Final = 1 << 27
_SHORT: Final = 12
_JSON_OBJECT: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*["}]')


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model."""

    words: str
    version: int = 1
    """The newest supported format; all formats from 1 on are readable."""
    is_json: bool = False
    """Whether the content is a JSON object."""


KINDS: Final[dict[str, Kind]] = {
    "weights": Kind("the weights of an evaluation's terms", is_json=True),
    "evaluation": Kind("the weights of an evaluation over many small features"),
    "perceptrons": Kind("the weights of networks over patterns on the board, one a ply"),
    "network": Kind("a network that says what positions are worth, and which moves"),
    "convolution": Kind("a network of convolutions: what positions are worth, and which moves"),
    "objective": Kind("what comparison training makes small", is_json=True),
    "strengths": Kind("the strengths of features of moves", is_json=True),
    "combined": Kind("several models that rank moves, as one"),
    "latent": Kind("the strengths and factors of features of moves"),
    "mets": Kind("a tree over the stones around a point, which ranks moves"),
    "formula": Kind("the weights of columns added to an evaluator's scores", is_json=True),
    "calibration": Kind(
        "a map from an evaluator's values or scores to expected scores", is_json=True
    ),
    "book": Kind("the moves of an opening book by position, with how often they were played"),
    "profile": Kind("how GTP engines are asked"),
}
"""The kinds of models. A JSON file has its content under the kind's name."""


def _versions() -> dict[str, str]:
    """The software versions that results may depend on."""
    packages = {name: importlib.metadata.version(name) for name in ("hyoka", "numpy")}
    return packages | {"python": platform.python_version()}


@dataclass(frozen=True)
class Origin:
    """The origin of a model, without dates: equal work gives equal files."""

    command: str
    """The command, or the function in Python."""
    seed: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    """The amount of data: games, positions."""
    choices: Mapping[str, str] = field(default_factory=dict)
    """Other options: the study, the method."""
    parents: Mapping[str, str] = field(default_factory=dict)
    """The models that it was built from, by SHA-256."""
    versions: Mapping[str, str] = field(default_factory=_versions)
    learned_games: "GameIds | None" = None
    """The games from which it was fitted; None if not listed."""

    @classmethod
    def from_json(cls, value: object) -> "Origin":
        """Parse `made_by` of a header; raises NotationError."""
        if not isinstance(value, dict):
            raise NotationError("'made_by' is no object")
        command, seed = value.get("command"), value.get("seed")
        if not isinstance(command, str):
            raise NotationError(f"'made_by' has no command that is a text: {shown(command)}")
        if type(seed) not in (int, type(None)):
            raise NotationError(f"'made_by' has a seed that is no whole number: {shown(seed)}")

        def table(name: str, kind: type) -> dict[str, Any]:
            values = value.get(name, {})
            if isinstance(values, dict) and all(type(each) is kind for each in values.values()):
                return values
            raise NotationError(f"'made_by' has '{name}' that can't be read: {shown(values)}")

        choices, parents, versions = (table(n, str) for n in ("choices", "parents", "versions"))
        listed = value.get("learned_games")
        return cls(
            command,
            seed,
            table("counts", int),
            choices,
            parents,
            versions,
            None if listed is None else _game_ids(listed),
        )

    def as_json(self) -> dict[str, Any]:
        """The value of `made_by` in a header, without empty entries."""
        plain = asdict(replace(self, learned_games=None))
        entries = {name: value for name, value in plain.items() if value not in (None, {})}
        if self.learned_games is not None:
            entries["learned_games"] = self.learned_games.as_json()
        return entries

    def summary(self) -> dict[str, Any]:
        """Convert for display: the fitting games become their count."""
        entries = replace(self, learned_games=None).as_json()
        if self.learned_games is not None:
            entries["learned_games"] = {"count": len(self.learned_games)}
        return entries


def _game_ids(listed: object) -> "GameIds":
    from hyoka.storage.game_ids import GameIds  # noqa: PLC0415 - NumPy is slow to import

    return GameIds.from_json(listed)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model's file content; equal contents of one kind are equal, whatever their names.

    >>> made = ModelFile.of("weights", {"game": "chess", "weights": {"bishop_pair": 30}})
    >>> made.game, made.version, made.fingerprint
    ('chess', 1, 'e845ed18eefa')
    >>> ModelFile.from_bytes(made.to_bytes()) == made
    True
    """

    kind: str | None
    """One of `KINDS`; None if neither the file nor its use determines it."""
    content: bytes = field(compare=False, repr=False)
    """The file without its header; adding a header does not change it."""
    path: str = field(default="", compare=False)
    """The given name."""
    game: str | None = field(default=None, compare=False)
    """The game's name; None if unknown, or for any game."""
    version: int | None = field(default=None, compare=False)
    """The format version; None without a header."""
    origin: Origin | None = field(default=None, compare=False)
    """The origin; None if unknown."""
    sha256: str = field(init=False)
    """The SHA-256 of the content."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha256", hashlib.sha256(self.content).hexdigest())

    @classmethod
    def of(
        cls,
        kind: str,
        content: Mapping[str, Any] | bytes,
        *,
        game: str | None = None,
        origin: Origin | None = None,
        path: str = "",
    ) -> "ModelFile":
        """Create a new model; a JSON object names its game in `game`."""
        description = _kind_named(kind)
        if isinstance(content, Mapping) != description.is_json:
            what = "a JSON object" if description.is_json else "bytes"
            raise NotationError(f"the content of {kind} is {what}, not a {type(content).__name__}")
        if isinstance(content, Mapping):
            if _HEADER in content:
                raise NotationError(f"'{_HEADER}' is the header's name, not one of the content")
            game = content.get("game", game)
            content = _text(content, path)
        return cls(kind, content, path, game, description.version, origin)

    @classmethod
    def from_bytes(cls, data: bytes, *, path: str = "", kind: str | None = None) -> "ModelFile":
        """Parse a file; raises SourceError, also for another kind."""
        if kind is not None:
            _kind_named(kind)
        if data.startswith(_MAGIC):
            header, content = _unpacked(data, path)
            model_file = _described(header, content, header.get("game"), path, is_json=False)
        elif not _may_be_json(data, kind):
            return cls(kind, data, path)
        else:
            values = json_object(data, path)
            game = values.get("game")
            if _HEADER not in values:
                detected = next(
                    (name for name in KINDS if KINDS[name].is_json and name in values), None
                )
                return cls(kind or detected, data, path, game if isinstance(game, str) else None)
            header = values.pop(_HEADER)
            model_file = _described(header, _text(values, path), game, path, is_json=True)
        if kind is not None:
            model_file.check(kind)
        return model_file

    def to_bytes(self) -> bytes:
        """Return the content that `from_bytes` reads; without a header it is the file itself."""
        if self.version is None:
            return self.content
        header: dict[str, Any] = {"kind": self.kind, "version": self.version, "sha256": self.sha256}
        made_by = {} if self.origin is None else {"made_by": self.origin.as_json()}
        if _kind_named(self.kind or "").is_json:
            content = {_HEADER: header | made_by, **self.json_object()}
            return _text(content, self.path)
        header |= {"game": self.game, "size": len(self.content)} | made_by
        begun = _MAGIC + json.dumps(header).encode()
        return begun + b" " * (-(len(begun) + 1) % _ALIGNMENT) + b"\n" + self.content

    def save(self, path: str | Path) -> None:
        """Write the model to a file; raises OSError."""
        write_bytes(Path(path), self.to_bytes())

    def __str__(self) -> str:
        return self.path or f"{self.kind} {self.fingerprint}"

    @property
    def fingerprint(self) -> str:
        """A short hash of the content."""
        return self.sha256[:_SHORT]

    def check(self, kind: str, game: str | None = None) -> None:
        """Raise SourceError for another kind or another game."""
        if self.kind not in (None, kind):
            raise SourceError(f"{self}: it holds {self.kind}, not {kind}")
        if game is not None and self.game not in (None, game):
            raise SourceError(f"{self}: {kind} for {self.game}, not for {game}")

    def json_object(self) -> dict[str, Any]:
        """Parse the content as a JSON object with unique names; raises SourceError."""
        return json_object(self.content, str(self))

    def as_json(self) -> dict[str, Any]:
        """Return everything but the content, for programs."""
        return {
            "file": self.path,
            "kind": self.kind,
            "game": self.game,
            "version": self.version,
            "sha256": self.sha256,
            "bytes": len(self.content),
            "made_by": None if self.origin is None else self.origin.summary(),
        }


def read_model_file(source: str | Path | ModelFile, kind: str | None = None) -> ModelFile:
    """Read a model from a file; raises SourceError, also for another kind.

    Without a kind and a header, the names in a JSON object determine the kind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weights.json"
    ...     _ = path.write_text('{"bishop_pair": 30}')
    ...     model_file = read_model_file(path, "weights")
    >>> model_file.json_object(), model_file.origin
    ({'bishop_pair': 30}, None)
    """
    if isinstance(source, ModelFile):
        if kind is not None:
            source.check(kind)
        return source
    name = str(source)
    if not name.strip():
        raise NotationError("no file is named")
    try:
        with Path(source).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:  # a name that no file can have raises ValueError
        raise SourceError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _LARGEST:
        raise SourceError(f"{name}: too large: more than {_LARGEST >> 20} MiB")
    return ModelFile.from_bytes(data, path=name, kind=kind)


def json_object(data: bytes, source: str) -> dict[str, Any]:
    """Parse a JSON object with unique names; raises SourceError."""
    try:
        content = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_each_once)
    except UnicodeDecodeError:
        raise SourceError(f"{source}: no JSON: it is not UTF-8") from None
    except RecursionError:
        raise SourceError(f"{source}: no JSON that can be read: nested too deeply") from None
    except ValueError as error:
        raise SourceError(f"{source}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise SourceError(f"{source}: not an object with names and numbers")
    return content


def number_of(value: object) -> float:
    """Convert a JSON number to a float; NaN if it is not one, or too large.

    >>> number_of(3), number_of("3"), number_of(True), number_of(10**400)
    (3.0, nan, nan, nan)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def shown(value: object) -> str:
    """Format a file's value for a message, shortened to one line."""
    try:
        text = value if isinstance(value, str) and value.isprintable() else json.dumps(value)
    except RecursionError:
        return "what is nested too deeply"
    return text if len(text) <= 60 else f"{text[:57]}…"


def _kind_named(name: str) -> Kind:
    if name not in KINDS:
        hint = nearest(name, KINDS) or f"known: {', '.join(KINDS)}"
        raise NotationError(f"no kind of model '{name}'; {hint}")
    return KINDS[name]


def _may_be_json(data: bytes, kind: str | None) -> bool:
    looks_so = _JSON_OBJECT.match(data) is not None
    if kind is None:
        return looks_so
    # Only Hyoka's own files have a header with other content.
    return KINDS[kind].is_json or (looks_so and f'"{_HEADER}"'.encode() in data[:_ALIGNMENT])


def _text(content: Mapping[str, Any], path: str) -> bytes:
    """Serialize a JSON object for writing and hashing; raises SourceError."""
    try:
        return f"{json.dumps(content, indent=1)}\n".encode()
    except RecursionError:
        raise SourceError(f"{path}: nested too deeply") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{shown(twice)}' stands there twice")
    return values


def _unpacked(data: bytes, path: str) -> tuple[dict[str, Any], bytes]:
    """Split a file into its header and the bytes after it; raises SourceError."""
    end = data.find(b"\n", len(_MAGIC), _LONGEST_HEADER)
    if end < 0:
        raise SourceError(f"{path}: a model whose header has no end: it was cut short")
    header, content = json_object(data[len(_MAGIC) : end], f"{path}: header"), data[end + 1 :]
    if header.get("size") != len(content):
        raise SourceError(
            f"{path}: it holds {len(content):,} bytes where its header says "
            f"{shown(header.get('size'))}: it was cut short or added to"
        )
    return header, content


def _described(
    header: object, content: bytes, game: object, path: str, *, is_json: bool
) -> ModelFile:
    """Build the model that a header describes; raises SourceError if they do not match."""
    if not isinstance(header, dict):
        raise SourceError(f"{path}: its header is no object, but {shown(header)}")
    kind, version, sha256 = (header.get(name) for name in ("kind", "version", "sha256"))
    if not isinstance(kind, str) or kind not in KINDS:
        kinds = ", ".join(KINDS)
        raise SourceError(f"{path}: this Hyoka knows no kind {shown(kind)}; it knows {kinds}")
    if KINDS[kind].is_json != is_json:
        form = "a JSON object" if KINDS[kind].is_json else "no JSON object"
        raise SourceError(f"{path}: a file of {kind} is {form}")
    if type(version) is not int or not 1 <= version <= KINDS[kind].version:
        raise SourceError(
            f"{path}: {kind} in format {shown(version)}; this Hyoka reads up to "
            f"{KINDS[kind].version}: take the one that wrote it, or a newer one"
        )
    if not isinstance(game, str | None):
        raise SourceError(f"{path}: its game is {shown(game)}, not a name")
    try:
        origin = Origin.from_json(header["made_by"]) if "made_by" in header else None
    except NotationError as error:
        raise SourceError(f"{path}: {error}") from None
    model_file = ModelFile(kind, content, path, game, version, origin)
    if model_file.sha256 != sha256:
        raise SourceError(
            f"{path}: damaged or edited: the content is not that of its header (SHA-256 "
            f"{model_file.fingerprint}…, not {shown(sha256)[:_SHORT]}…); to use it anyway, take "
            "the header out"
        )
    return model_file
