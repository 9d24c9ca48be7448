#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails if a page of the built docs loads something from another host; `make docs` runs it.

scripts/check_site.py FOLDER
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "image": "href",
    "img": "src srcset",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src srcset",
    "track": "src",
    "use": "href",
    "video": "src poster",
}
"""Attributes of HTML elements with addresses that a browser requests without a click."""
ADDRESS_ONLY = {"author", "canonical", "index", "license", "next", "prev", "search"}
"""Kinds of `<link>` that load nothing."""
OTHER_HOST = re.compile(r"\s*(?!data:)(?:[a-z][a-z0-9+.-]*:)?//|\s*(?:https?|ftp):", re.IGNORECASE)
IN_STYLE = re.compile(r"""url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)""")
IN_SCRIPT = re.compile(
    r"""(?:import|from|fetch|import\(|importScripts|XMLHttpRequest|sendBeacon|src\s*=)"""
    r"""\s*\(?\s*["'`]((?:https?:)?//[^"'`]*)"""
)


class Resources(HTMLParser):
    """The addresses that a page loads without a click."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self._element = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element loads."""
        self._element = tag
        values = {name.removeprefix("xlink:"): value or "" for name, value in attrs}
        self.addresses += in_style(values.get("style", ""))
        if tag == "link" and values.get("rel", "") in ADDRESS_ONLY:
            return
        for name in LOADED.get(tag, "").split():
            parts = values.get(name, "").split(",") if name == "srcset" else [values.get(name, "")]
            self.addresses += [part.split()[0] for part in parts if part.strip()]

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a style or script."""
        self._element = ""

    def handle_data(self, data: str) -> None:
        """Note what a style or script loads."""
        if self._element == "style":
            self.addresses += in_style(data)
        elif self._element == "script":
            self.addresses += IN_SCRIPT.findall(data)


def in_style(text: str) -> list[str]:
    """The addresses that a style sheet loads."""
    return [url or sheet for url, sheet in IN_STYLE.findall(text)]


def of_other_hosts(name: str, text: str) -> list[str]:
    """The addresses of other hosts that a file of the site loads."""
    if name.endswith(".html") or name.endswith(".svg"):
        addresses = Resources(text).addresses
    else:
        addresses = in_style(text) if name.endswith(".css") else IN_SCRIPT.findall(text)
    return [address for address in addresses if OTHER_HOST.match(address)]


def main(site: Path) -> int:
    """Print each file that loads something from another host, with the addresses."""
    files = [path for path in site.rglob("*") if path.suffix in {".css", ".html", ".js", ".svg"}]
    if not {path.suffix for path in files} >= {".css", ".html", ".js"}:
        print(f"{site}: no built site")
        return 1
    outside = 0
    for path in files:
        for address in of_other_hosts(path.name, path.read_text(encoding="utf-8")):
            print(f"{path.relative_to(site)} loads {address}")
            outside += 1
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
