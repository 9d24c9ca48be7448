# SPDX-License-Identifier: Apache-2.0
"""Record files that are dropped on a page: kept in the folder, and read by a run like any other."""

import re
import shutil
from pathlib import Path
from typing import BinaryIO, Final

from hyoka.files import umask
from hyoka.studio.folder import Folder

PLACE: Final = "records"
_STRANGE: Final = re.compile(r"[^\w.+-]+")


def keep(folder: Folder, name: str, content: BinaryIO) -> str:
    """Keep a file under a name like its own that nothing has yet; gives its path in the folder.

    The name is somebody else's: only letters, digits and a few signs of its last part stay.
    """
    place = folder.path(PLACE, must_exist=False)
    place.mkdir(exist_ok=True)
    plain = _STRANGE.sub("_", name.replace("\\", "/").rpartition("/")[2])[-100:].lstrip("._-")
    stem, dot, ending = (plain or "games").partition(".")
    for number in range(1, 10_000):
        file = place / f"{stem}{'' if number == 1 else f'-{number}'}{dot}{ending}"
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
    raise FileExistsError(plain)


def study_for(folder: Folder, file: str) -> str:
    """A name for the study of a file that nothing in the folder has yet."""
    stem = Path(file).name.partition(".")[0] or "games"
    for number in range(1, 10_000):
        name = f"studies/{stem}{'' if number == 1 else f'-{number}'}"
        if not folder.path(name, must_exist=False).exists():
            return name
    return f"studies/{stem}"
