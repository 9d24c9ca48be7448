# SPDX-License-Identifier: Apache-2.0
"""Markdown as the site and its tests read it: headings with their places, links, HTML."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

import pygments
import pygments.formatters
import pygments.lexers
from markdown_it import MarkdownIt
from markdown_it.token import Token

_READER: Final = MarkdownIt("commonmark", {"html": True}).enable("table")
_LANGUAGES: Final = {"sh": "bash", "cpp": "cpp", "python": "python", "toml": "toml"}


class Heading(NamedTuple):
    """A heading, and the name of its place as GitHub makes it."""

    level: int
    text: str
    anchor: str


class Part(NamedTuple):
    """What stands under a heading, as plain text."""

    heading: Heading
    text: str


class Document:
    r"""A Markdown text, read once.

    >>> page = Document("# A page\n\nSee [there](other.md#why).")
    >>> page.title, page.links
    ('A page', ['other.md#why'])
    >>> print(page.html(), end="")
    <h1 id="a-page">A page</h1>
    <p>See <a href="other.md#why">there</a>.</p>
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _READER.parse(text)
        self.headings = list(_headings(self.tokens))

    @property
    def title(self) -> str:
        """The first heading."""
        return self.headings[0].text

    @property
    def anchors(self) -> set[str]:
        """The places that a link can name."""
        return {heading.anchor for heading in self.headings}

    @property
    def links(self) -> list[str]:
        """Where links lead and pictures are, as written; also of pictures in HTML."""
        found = []
        for token in _flat(self.tokens):
            if token.type in {"html_block", "html_inline"}:
                found += re.findall(r'(?:href|src|srcset)="([^"]+)"', token.content)
            else:
                found += [str(token.attrs[name]) for name in ("href", "src") if name in token.attrs]
        return found

    def parts(self) -> Iterator[Part]:
        """The text under each heading, for a search; a page begins with a heading."""
        headings = iter(self.headings)
        heading, words, in_heading = None, list[str](), False
        for token in self.tokens:
            if token.type == "heading_open":
                if heading is not None:
                    yield Part(heading, _in_a_line(words))
                heading, words, in_heading = next(headings), [], True
            elif token.type == "heading_close":
                in_heading = False
            elif token.type in {"inline", "fence", "code_block"} and not in_heading:
                words.append(plain(token))
        if heading is not None:
            yield Part(heading, _in_a_line(words))

    def html(self, target_of: Callable[[str], str] = str) -> str:
        """The text as HTML; `target_of` says where a link leads there."""
        headings = iter(self.headings)
        tokens = []
        for token in _READER.parse(self.text):
            if token.type == "heading_open":
                token.attrSet("id", next(headings).anchor)
            elif token.type == "table_open":
                # Wider than a phone it scrolls in a box of its own, which a keyboard must reach.
                tokens.append(
                    _html('<div class="table" role="group" aria-label="table" tabindex="0">\n')
                )
            for inner in token.children or []:
                for name in ("href", "src"):
                    if name in inner.attrs:
                        inner.attrSet(name, target_of(str(inner.attrs[name])))
            tokens.append(token)
            if token.type == "table_close":
                tokens.append(_html("</div>\n"))
        html: str = _READER.renderer.render(tokens, _READER.options, {})
        # A head without a word is none.
        html = html.replace("<th></th>", "<td></td>")
        return re.sub(r"<thead>\n<tr>\n(<td></td>\n)+</tr>\n</thead>\n", "", html)


def plain(token: Token) -> str:
    """A token's text without marks."""
    if token.children is None:
        return token.content
    return "".join(
        " " if inner.type in {"softbreak", "hardbreak"} else inner.content
        for inner in token.children
        if inner.type != "html_inline"
    )


def _in_a_line(words: list[str]) -> str:
    return " ".join(" ".join(words).split())


def _flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or []


def _headings(tokens: list[Token]) -> Iterator[Heading]:
    taken: dict[str, int] = {}
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            text = plain(tokens[number + 1])
            anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            times = taken[anchor] = taken.get(anchor, -1) + 1
            yield Heading(int(token.tag[1]), text, f"{anchor}-{times}" if times else anchor)


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text)


def _code(_: object, tokens: Sequence[Token], place: int, *__: object) -> str:
    """A block of code as HTML, colored; wider than the page it scrolls, by keyboard too."""
    text, language = tokens[place].content, tokens[place].info.strip()
    lexer = _LANGUAGES.get(language)
    if lexer is None:
        shown = escape(text)
    else:
        formatter = pygments.formatters.HtmlFormatter(nowrap=True)
        shown = pygments.highlight(text, pygments.lexers.get_lexer_by_name(lexer), formatter)
    return f'<pre tabindex="0"><code>{shown}</code></pre>\n'


_READER.add_render_rule("fence", _code)
