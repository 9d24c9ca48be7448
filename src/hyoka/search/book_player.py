# SPDX-License-Identifier: Apache-2.0
"""A search that plays from an opening book while the position is in it."""

import dataclasses
import random
from typing import Protocol, cast

from hyoka.games import AnyMove, Position
from hyoka.models.book import Book
from hyoka.search.players import TreePlayer
from hyoka.search.search_result import MoveReport, SearchLimits, SearchRequest, SearchResult
from hyoka.search.spec import SearchSpec


class SearchPlayer(Protocol):
    """The interface of all kinds of search; `Searcher` chooses one."""

    def search(self, request: SearchRequest) -> SearchResult:
        """Search a line of play that is not over."""

    def stop(self) -> None:
        """Stop the running search."""

    def clear(self) -> None:
        """Clear the state."""


class BookPicker(Protocol):
    """Selects a move of a book."""

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """Select a move, from counts by move."""

    def stop(self) -> None:
        """Stop a running selection."""

    def clear(self) -> None:
        """Clear the state."""


class DrawnByFrequency:
    """Draw moves in proportion to their counts (Sato 2010, equation 2)."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """Draw a move; it is reported first, the others by count."""
        moves = sorted(counts, key=lambda move: -counts[move])
        [drawn] = self._random.choices(moves, weights=[counts[move] for move in moves])
        moves.sort(key=lambda move: move != drawn)
        reports = tuple(MoveReport(move, counts[move], pv=(move,)) for move in moves)
        return SearchResult(
            drawn, None, pv=(drawn,), moves=reports, order="visits", stopped_by="book"
        )

    def stop(self) -> None:
        """Do nothing: a draw is instant."""

    def clear(self) -> None:
        """Reset the random generator."""
        self._random = random.Random(self._seed)


class PickedBySearch:
    """Search the book's moves only."""

    def __init__(self, player: SearchPlayer) -> None:
        self._player = player

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """The best book move."""
        return self._player.search(dataclasses.replace(request, only=list(counts)))

    def stop(self) -> None:
        """Stop the running search."""
        self._player.stop()

    def clear(self) -> None:
        """Clear the state."""
        self._player.clear()


class PickedByTree:
    """Select by a tree search that expands only book moves inside the book.

    It gets the time limit of the main search, but none of the other limits.
    """

    def __init__(self, book: Book, spec: SearchSpec) -> None:
        limits = {"time": spec["time"] or None, "seed": spec["seed"]}
        tree = SearchSpec.of("uct", parts={"book": book}, **limits)
        self._player = TreePlayer(tree.for_game(book.game), book.game)

    def pick(self, request: SearchRequest, counts: dict[AnyMove, int]) -> SearchResult:
        """The most visited book move."""
        limits = request.limits
        tree_limits = SearchLimits(time_s=limits.time_s, infinite=limits.infinite)
        return self._player.search(
            dataclasses.replace(request, limits=tree_limits, only=list(counts))
        )

    def stop(self) -> None:
        """Stop the running search."""
        self._player.stop()

    def clear(self) -> None:
        """Clear the state."""
        self._player.clear()


class BookPlayer:
    """A search that tries a book first."""

    def __init__(self, player: SearchPlayer, book: Book, picker: BookPicker) -> None:
        self._player = player
        self._book = book
        self._picker = picker

    def search(self, request: SearchRequest) -> SearchResult:
        """A book move, or the search's result outside the book."""
        position = cast(Position, request.line.position)
        allowed = None if request.only is None else set(request.only)
        counts: dict[AnyMove, int] = {
            move: count
            for move, count in self._book.moves(position).items()
            if request.line.is_legal(move) and (allowed is None or move in allowed)
        }
        return self._picker.pick(request, counts) if counts else self._player.search(request)

    def stop(self) -> None:
        """Stop the running search."""
        self._picker.stop()
        self._player.stop()

    def clear(self) -> None:
        """Clear the state."""
        self._picker.clear()
        self._player.clear()


def with_book(player: SearchPlayer, spec: SearchSpec, book: Book) -> SearchPlayer:
    """The player, with a book that it tries first."""
    pickers: dict[str, BookPicker] = {
        "frequency": DrawnByFrequency(spec["seed"]),
        "search": PickedBySearch(player),
    }
    how = spec["book_pick"]
    return BookPlayer(player, book, pickers[how] if how in pickers else PickedByTree(book, spec))
