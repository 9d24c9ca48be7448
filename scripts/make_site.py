# SPDX-License-Identifier: Apache-2.0
"""Write the docs as a site into build/site: open index.html there, no server is needed."""

from pathlib import Path

from docs_site.site import write_site

ROOT = Path(__file__).parents[1]


def main() -> None:
    to = ROOT / "build" / "site"
    count = write_site(ROOT / "docs", to)
    print(f"{count} pages: open {to.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    main()
