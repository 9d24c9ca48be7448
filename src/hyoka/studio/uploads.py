# SPDX-License-Identifier: Apache-2.0
"""Record files that are dropped on a page: kept in the folder, and read by a run like any other."""

import re
import shutil
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from starlette.exceptions import HTTPException

from hyoka.files import umask
from hyoka.studio.folder import Folder

RECORDS: Final = "records"
STUDIES: Final = "studies"
_STRANGE: Final = re.compile(r"[^\w.+-]+")
_STEM_BYTES: Final = 120
_SUFFIX_BYTES: Final = 24
"""File systems allow names of 255 bytes, and studies, locks and temporary files add to a name."""


def folder_for(folder: Folder, name: str) -> Path:
    """Make a folder in the studio's folder unless it exists; 409 if a file has its name."""
    place = folder.path(name, must_exist=False)
    try:
        place.mkdir(exist_ok=True)
    except FileExistsError:
        words = f"'{name}' in the studio's folder is a file, and uploads need a folder of that name"
        raise HTTPException(HTTPStatus.CONFLICT, f"{words}: rename the file.") from None
    return place


def keep(folder: Folder, name: str, content: BinaryIO) -> str:
    """Keep a file under a name like its own that nothing has yet; gives its path in the folder.

    The name is somebody else's: only letters, digits and a few signs of its last part stay.
    """
    place = folder_for(folder, RECORDS)
    stem, suffix = _short_name(name)
    for number in range(1, 10_000):
        file = place / f"{stem}{'' if number == 1 else f'-{number}'}{suffix}"
        try:
            with file.open("xb") as kept:
                shutil.copyfileobj(content, kept)
        except FileExistsError:
            continue
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        file.chmod(0o666 & ~umask())
        return folder.name(file)
    raise HTTPException(HTTPStatus.CONFLICT, f"{RECORDS} has too many files called {stem}{suffix}.")


def _short_name(name: str) -> tuple[str, str]:
    """Split a file's name into a stem and suffixes that are short enough for every file system.

    >>> _short_name("../my games.sgf.gz")
    ('my_games', '.sgf.gz')
    >>> len(_short_name("棋" * 100 + ".sgf")[0].encode())
    120
    """
    plain = _STRANGE.sub("_", name.replace("\\", "/").rpartition("/")[2]).lstrip("._-") or "games"
    suffixes = PurePosixPath(plain).suffixes[-2:]
    while len("".join(suffixes).encode()) > _SUFFIX_BYTES:
        suffixes.pop(0)
    suffix = "".join(suffixes)
    stem = plain.removesuffix(suffix).encode()[:_STEM_BYTES].decode(errors="ignore")
    return stem or "games", suffix


def study_for(folder: Folder, file: str) -> str:
    """A name for the study of a file that nothing in the folder has yet."""
    stem = Path(file).name.partition(".")[0] or "games"
    for number in range(1, 10_000):
        name = f"{STUDIES}/{stem}{'' if number == 1 else f'-{number}'}"
        if not folder.path(name, must_exist=False).exists():
            return name
    raise HTTPException(HTTPStatus.CONFLICT, f"{STUDIES} has too many studies called {stem}.")
