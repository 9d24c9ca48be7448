# SPDX-License-Identifier: Apache-2.0
"""A search that plays from an opening book as long as it can."""

import dataclasses
import random
from typing import Protocol, cast

from hyoka.games import AnyMove, Position
from hyoka.models.book import Book
from hyoka.search.assembly import book_of, searches_book
from hyoka.search.players import TreePlayer
from hyoka.search.search_result import MoveReport, SearchLimits, SearchRequest, SearchResult
from hyoka.search.spec import SearchSpec


class SearchPlayer(Protocol):
    """What each kind of search can do; see `Searcher`, which chooses one."""

    def search(self, request: SearchRequest) -> SearchResult:
        """Search a line of play that is not over."""

    def stop(self) -> None:
        """End the running search soon."""

    def clear(self) -> None:
        """Forget everything."""


class BookPicker(Protocol):
    """Chooses among the moves of a book."""

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """Of moves by how often they were played, the one to play."""

    def stop(self) -> None:
        """Choose soon."""

    def clear(self) -> None:
        """Forget everything."""


class DrawnByFrequency:
    """Each move with the probability of its count: Sato 2010's equation (2)."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """Draw one; it is reported first, the others in the order of their counts."""
        moves = sorted(counts, key=lambda move: -counts[move])
        [drawn] = self._random.choices(moves, weights=[counts[move] for move in moves])
        moves.sort(key=lambda move: move != drawn)
        reports = tuple(MoveReport(move, counts[move], pv=(move,)) for move in moves)
        return SearchResult(
            drawn, None, pv=(drawn,), moves=reports, order="visits", stopped_by="book"
        )

    def stop(self) -> None:
        """Nothing: it is done at once."""

    def clear(self) -> None:
        """Begin with the seed again."""
        self._random = random.Random(self._seed)


class PickedBySearch:
    """The search looks at nothing but the book's moves."""

    def __init__(self, player: SearchPlayer) -> None:
        self._player = player

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """The best of them."""
        return self._player.search(dataclasses.replace(request, only=list(counts)))

    def stop(self) -> None:
        """End the running search soon."""
        self._player.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._player.clear()


class PickedByTree:
    """A tree search chooses: as long as it is in the book, only the book's moves are its children.

    It has the time that the search itself would have; other limits are not its own.
    """

    def __init__(self, book: Book, spec: SearchSpec) -> None:
        limits = {"time": spec["time"] or None, "seed": spec["seed"]}
        tree = SearchSpec.of("uct", parts={"book": book}, **limits)
        self._player = TreePlayer(tree.for_game(book.game), book.game)

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """The most visited of them."""
        limits = request.limits
        own = SearchLimits(time_s=limits.time_s, infinite=limits.infinite)
        return self._player.search(dataclasses.replace(request, limits=own, only=list(counts)))

    def stop(self) -> None:
        """End the running search soon."""
        self._player.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._player.clear()


class BookPlayer:
    """A search that asks a book first."""

    def __init__(self, player: SearchPlayer, book: Book, picker: BookPicker) -> None:
        self._player = player
        self._book = book
        self._picker = picker

    def search(self, request: SearchRequest) -> SearchResult:
        """A move of the book, else what the search finds."""
        position = cast(Position, request.line.position)
        allowed = None if request.only is None else set(request.only)
        counts: dict[AnyMove, int] = {
            move: count
            for move, count in self._book.moves(position).items()
            if request.line.is_legal(move) and (allowed is None or move in allowed)
        }
        return self._picker.pick(request, counts) if counts else self._player.search(request)

    def stop(self) -> None:
        """End the running search soon."""
        self._picker.stop()
        self._player.stop()

    def clear(self) -> None:
        """Forget everything."""
        self._picker.clear()
        self._player.clear()


def with_book(player: SearchPlayer, spec: SearchSpec, game: str | None) -> SearchPlayer:
    """The player, or the same with its book before it."""
    # A tree search that searches its book's moves does so by itself, all over the tree.
    if not spec.has("book") or searches_book(spec):
        return player
    book = book_of(spec, game)
    if book is None:
        return player
    pickers: dict[str, BookPicker] = {
        "frequency": DrawnByFrequency(spec["seed"]),
        "search": PickedBySearch(player),
    }
    how = spec["book_pick"]
    return BookPlayer(player, book, pickers[how] if how in pickers else PickedByTree(book, spec))
