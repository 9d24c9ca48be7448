# SPDX-License-Identifier: Apache-2.0
"""Studies on other file systems, by their URL: read-only copies in the cache folder.

`s3://bucket/study` and other URLs of fsspec's file systems are copied once; parts are immutable, so
later only new ones are. The workers of a cluster make their own copies.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hyoka.foundation.errors import Error, StudyError
from hyoka.storage.files import cache_folder, read_regular, write_bytes, write_text

_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://.+", re.DOTALL)
_ORIGIN: Final = ".origin"
"""The file of a copy that has the URL."""
_COPIED: Final = (".toml", ".parquet")


def is_url(text: str) -> bool:
    """Whether a text is a URL, such as `s3://bucket/study`."""
    return _URL.fullmatch(text) is not None


def study_folder(path: str | Path) -> Path:
    """The folder of a study; that of a copy for a URL."""
    return copy_of(path) if isinstance(path, str) and is_url(path) else Path(path)


def origin_of(folder: Path) -> str | None:
    """The URL of which a folder, or the folder around it, is a copy."""
    for place in (folder, *folder.parents[:2]):
        if (place / _ORIGIN).is_file():
            return read_regular(place / _ORIGIN).decode()
    return None


def check_is_original(folder: Path) -> None:
    """Raise StudyError if a folder is a copy, which must not change."""
    if origin := origin_of(folder):
        raise StudyError(f"{origin}: a study at a URL is read-only; change a copy in a folder")


def copy_of(url: str) -> Path:
    """Copy what is new at a URL, and return the folder of the copy."""
    own = hashlib.sha256(url.encode()).hexdigest()[:16]
    folder = cache_folder() / "studies" / own / (PurePosixPath(url).name or "study")
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an optional package
    except ImportError:
        raise StudyError(f"{url}: a study at a URL needs pip install 'hyoka[remote]'") from None
    try:
        files, root = url_to_fs(url)
        found = dict(_files_at(files, root))
        if not found:
            raise StudyError(f"{url}: there is no study")
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / _ORIGIN, url)
        # Descriptions are read first and placed last: they list only parts that are there.
        texts = {name: files.cat_file(path) for name, (path, _) in found.items() if _is_text(name)}
        for name, (path, size) in found.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            if name not in texts and not _has_size(folder / name, size):
                write_bytes(folder / name, files.cat_file(path))
        for name, text in texts.items():
            write_bytes(folder / name, text)
    except Error:
        raise
    except Exception as error:  # each file system has errors of its own
        raise StudyError(f"{url}: can't be read: {error or type(error).__name__}") from error
    for copied in [*folder.rglob("*.toml"), *folder.rglob("*.parquet")]:
        if copied.relative_to(folder).as_posix() not in found:
            copied.unlink(missing_ok=True)
    return folder


def _files_at(files: Any, root: str) -> Iterator[tuple[str, tuple[str, int]]]:
    """List the files of a study by their names inside: their paths and sizes."""
    base = PurePosixPath(root.rstrip("/"))
    for path, facts in files.find(root, detail=True).items():
        name = PurePosixPath(path).relative_to(base)
        if name.suffix in _COPIED and ".." not in name.parts and len(name.parts) <= 3:
            yield str(name), (path, int(facts["size"]))


def _is_text(name: str) -> bool:
    return name.endswith(".toml")


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
