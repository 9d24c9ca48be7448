# SPDX-License-Identifier: Apache-2.0
"""Verification of a study by its checksums, and repair of damage."""

import contextlib
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from hyoka.foundation.errors import StudyError
from hyoka.storage.files import check_regular, read_toml
from hyoka.storage.manifest import (
    DERIVED,
    DESCRIPTION,
    TABLES,
    Manifest,
    Part,
    derived_files,
    forget,
    part_damage,
    read_manifest,
    read_part,
    sealed_parts,
    write_manifest,
)
from hyoka.storage.run_folder import is_held, locked
from hyoka.study.tables import Snapshot

_INCONSISTENCIES: Final = {
    "games": {
        "game numbers do not run from 0 without gaps or duplicates": (
            "select count(*) <> count(distinct game_id) or max(game_id) <> count(*) - 1 "
            "or min(game_id) <> 0 from games"
        ),
        "a game's number of moves differs from its column plies": (
            "select count(*) > 0 from games where octet_length(moves) <> 2 * plies"
        ),
        "a duplicate does not refer to an earlier game, or refers to a duplicate": (
            "select count(*) > 0 from games d left join games g on d.duplicate_of = g.game_id "
            "where d.duplicate_of is not null and (g.game_id is null "
            "or g.duplicate_of is not null or g.game_id >= d.game_id)"
        ),
    },
    "positions": {
        "a game does not have one position per ply, or a duplicate has positions": (
            "select count(*) > 0 from games g full join (select game_id, count(*) as n, "
            "min(ply) as low, max(ply) as high, sum(ply) as plies from positions_ group by "
            "game_id) p using (game_id) where g.plies is null or coalesce(n, 0) <> "
            "if(duplicate_of is null, g.plies + 1, 0) or low <> 0 or high <> g.plies "
            "or p.plies <> g.plies * (g.plies + 1) // 2"
        ),
    },
}
_OF_POSITIONS: Final = (
    "select count(*) > 0 from {table}_ e left join games g using (game_id) where {which} and "
    "(g.game_id is null or g.duplicate_of is not null or e.ply not between 0 and g.plies)"
)
_ONCE: Final = (
    "select count(*) > 0 from (select 1 from {table}_ e where {which} "
    "group by game_id, ply having count(*) > 1)"
)


@dataclass(frozen=True)
class Damage:
    """A damaged file or table."""

    what: str
    """The file or table."""
    problem: str
    remedy: str
    """The action that saves the rest."""

    def __str__(self) -> str:
        return f"{self.what}: {self.problem}; {self.remedy}"


@dataclass
class StudyCheck:
    """The result of a check."""

    study: str
    sealed: bool = True
    """Whether all parts have checksums."""
    parts: int = 0
    bytes: int = 0
    games: int = 0
    positions: int = 0
    evaluations: int = 0
    damage: list[Damage] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    """Unlisted files of killed writers or former parts; the next write removes them."""

    @property
    def is_whole(self) -> bool:
        """Whether there is no damage."""
        return not self.damage


def check_study(path: str | Path, *, seal: bool = False) -> StudyCheck:
    """Compare a study with its checksums, and its tables with one another.

    With `seal`, parts without checksums get them first, and damaged parts of evaluations,
    adjudications, winners, rankings and categories, which can be recomputed, are dropped.
    """
    folder = Path(path)
    forget()
    if seal:
        _seal(folder)
    check = StudyCheck(str(folder))
    try:
        study = read_manifest(folder / DESCRIPTION)
    except StudyError as error:
        if not (folder / DESCRIPTION).exists() and not (folder / "games").is_dir():
            raise  # no study at all
        check.damage.append(_lost_description(folder, error))
        return check
    tables_are_whole = _check_parts(study, check, _again(study))
    derived: dict[str, dict[str, Manifest]] = {table: {} for table in DERIVED}
    for table, name, file in _derived(folder):
        remedy = _ask_again(folder, file)
        try:
            manifest = read_manifest(file)
        except StudyError as error:
            what = str(file.relative_to(folder))
            again = f"remove {file.parent} and compute it again ({remedy})"
            check.damage.append(Damage(what, _words(error, file), again))
            continue
        drop = f"`hyoka study verify {_quoted(folder)} --seal` drops it, then {remedy}"
        if _check_parts(manifest, check, drop) and manifest.names:
            derived[table][name] = manifest
    if tables_are_whole:
        _check_tables(Snapshot(study, derived), check)
    return check


def _lost_description(folder: Path, error: StudyError) -> Damage:
    if not (folder / DESCRIPTION).exists():
        return Damage(DESCRIPTION, "missing", "restore it from a copy, or create the study again")
    repair = (
        "restore it from a copy; if you changed it on purpose, "
        f"`hyoka study verify {_quoted(folder)} --seal` accepts it"
    )
    return Damage(DESCRIPTION, _words(error, folder / DESCRIPTION), repair)


def _words(error: StudyError, file: Path) -> str:
    return str(error).removeprefix(f"{file}: ").removeprefix("damaged: ").partition("; `hyoka")[0]


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _again(study: Manifest) -> str:
    """Return the command that rebuilds a study's own tables."""
    sources = " ".join(map(shlex.quote, map(str, study.values["sources"])))
    where = study.values.get("where")
    condition = f" --where {shlex.quote(str(where))}" if where else ""
    return (
        f"create it again: hyoka study create NEW {sources}{condition}; the same records get the "
        "same numbers, so evaluations and adjudications can be copied"
    )


def _ask_again(folder: Path, file: Path) -> str:
    """Return the command that computes a derived table again."""
    table = file.parent.parent.name
    try:
        values = read_toml(file)
    except (OSError, StudyError):
        values = {}
    if DERIVED[table] == "method":
        record = " --record" if table == "winners" else ""
        method = values.get("method", "NAME")
        return f"hyoka study adjudicate {_quoted(folder)}{record} --exact {method}"
    if table == "rankings":
        model, name = (shlex.quote(str(values.get(key, key.upper()))) for key in ("model", "name"))
        return f"hyoka study annotate {_quoted(folder)} --model {model} --prefix {name}"
    if DERIVED[table] == "search":
        search = shlex.quote(str(values.get("search", "SPEC")))
        return f"hyoka study annotate {_quoted(folder)} --search {search}"
    if table == "columns":
        name = file.parent.name.removeprefix("column=")
        return f"hyoka study columns {_quoted(folder)} --add {name}=FILE"
    spec = shlex.quote(str(values.get("spec", "SPEC")))
    return f"hyoka study evaluate {_quoted(folder)} --with {spec} computes what is missing"


def _derived(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """List the manifests of all derived tables, present or missing: table, name and file."""
    for table in DERIVED:
        for name, file in derived_files(folder, table).items():
            yield table, name, file


def _check_parts(manifest: Manifest, check: StudyCheck, remedy: str) -> bool:
    """Verify each part against its manifest."""
    before = len(check.damage)
    check.sealed &= manifest.sealed
    check.parts += len(manifest.names)
    root = Path(check.study)
    listed = {part.name: part for part in manifest.parts}
    for name in manifest.names:
        file = manifest.folder / name
        problem = _problem(manifest, name, listed.get(name))
        if problem is None:
            check.bytes += file.stat().st_size
        else:
            check.damage.append(Damage(str(file.relative_to(root)), problem, remedy))
    if is_held(manifest.folder):
        return len(check.damage) == before  # unlisted files may belong to a writer
    below = TABLES if manifest.file.name == DESCRIPTION else ("",)
    check.leftovers += [
        str(path.relative_to(root))
        for table in below
        for path in sorted((manifest.folder / table).glob("*part-*"))
        if str(path.relative_to(manifest.folder)) not in manifest.names
    ]
    return len(check.damage) == before


def _problem(manifest: Manifest, name: str, part: Part | None) -> str | None:
    file = manifest.folder / name
    if part is not None and (damage := part_damage(manifest.folder, part)) is not None:
        return damage
    try:
        check_regular(file)
        rows = len(read_part(file)) if part is None else pq.read_metadata(file).num_rows
    except (StudyError, OSError, pa.ArrowException) as error:
        return str(error).splitlines()[0].removeprefix(f"{file}: ")
    if part is not None and rows != part.rows:
        return f"{rows:,} rows instead of {part.rows:,}"
    return None


def _check_tables(snapshot: Snapshot, check: StudyCheck) -> None:
    """Verify that the tables are consistent."""

    def broken(question: str) -> bool:
        return bool(snapshot.query(question)[0][0].as_py())

    def count(table: str) -> int:
        return int(snapshot.query(f"select count(*) as n from {table}")["n"][0].as_py())

    folder = snapshot.study.folder
    again = _again(snapshot.study)
    for table, questions in _INCONSISTENCIES.items():
        for problem, question in questions.items():
            if broken(question):
                check.damage.append(Damage(table, problem, again))
    check.games, check.positions = count("games"), count("positions_")
    check.evaluations = count("evaluations_")
    answers = [("remarks", "remarks", "true", again)]
    for table, manifests in snapshot.derived.items():
        for name, manifest in manifests.items():
            quoted = name.replace("'", "''")
            command = _ask_again(folder, manifest.file)
            remedy = f"remove {manifest.folder} and compute it again ({command})"
            what = str(manifest.folder.relative_to(folder))
            answers.append((what, table, f"e.{DERIVED[table]} = '{quoted}'", remedy))
    for what, table, which, remedy in answers:
        if broken(_OF_POSITIONS.format(table=table, which=which)):
            problem = "some rows have positions that do not exist"
            check.damage.append(Damage(what, problem, remedy))
        if table != "remarks" and broken(_ONCE.format(table=table, which=which)):
            check.damage.append(Damage(what, "some positions occur twice", remedy))


def _seal(folder: Path) -> None:
    """Rewrite every manifest with the checksums of trusted parts."""
    file = folder / DESCRIPTION
    if not file.exists():
        read_manifest(file)  # raises StudyError if this is no study
    with locked(folder, "sealing"):
        manifest = _trusting(file)
        for part in manifest.parts:
            if (damage := part_damage(folder, part)) is not None:
                raise StudyError(f"{folder / part.name}: {damage}; {_again(manifest)}")
        write_manifest(file, manifest.values, sealed_parts(manifest))
    for *_, each in _derived(folder):
        with locked(each.parent, "sealing"), contextlib.suppress(StudyError):
            manifest = _trusting(each)
            write_manifest(each, manifest.values, _sound(manifest))


def _trusting(file: Path) -> Manifest:
    """Read a manifest without checking its checksum, since it may have been edited."""
    try:
        return read_manifest(file)
    except StudyError:
        values: dict[str, Any] = read_toml(file, verify=False)
        parts = tuple(Part.listed(line) for line in values.pop("parts"))
        return Manifest(file, values, parts, tuple(part.name for part in parts), sealed=True)


def _sound(manifest: Manifest) -> list[Part]:
    """List the undamaged parts."""
    if manifest.sealed:
        return [part for part in manifest.parts if part_damage(manifest.folder, part) is None]
    sound = []
    for name in manifest.names:
        with contextlib.suppress(StudyError):
            read_part(manifest.folder / name)
            sound.append(Part.on_disk(manifest.folder, name))
    return sound
