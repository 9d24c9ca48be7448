# SPDX-License-Identifier: Apache-2.0
"""Options and models of the compiled core's searches, from a spec."""

import functools
from typing import Final, cast

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.games import game_facts, games_with
from hyoka.models.book import Book
from hyoka.models.linear import has_features, has_terms
from hyoka.models.loading import move_model, static_evaluation
from hyoka.models.model import StaticEvaluation
from hyoka.models.networks import Convolution
from hyoka.search.spec import SearchSpec
from hyoka.storage.model_file import BUILT_IN, ModelFile

_STRENGTHS: Final = ("prior_strengths", "widening_strengths", "playout_strengths")
"""Settings that override `strengths` for one use."""


def uct_options(spec: SearchSpec, game: str | None) -> _core.UctOptions:
    """The options of a tree search; raises NotationError if the game lacks a feature."""
    _check_playouts(spec, game)
    if spec["ordered"] and not has_features(game):
        raise NotationError("ordered=on needs a game whose moves have features")
    facts = None if game is None else game_facts(game)
    if spec["mate"] and (facts is None or facts.search.mate_solver is None):
        games = " and ".join(games_with(lambda each: each.search.mate_solver))
        raise NotationError(f"mate={spec['mate']} is for {games}, not for {game}")
    if spec["ending"] and (facts is None or facts.search.ending_solver is None):
        games = " and ".join(games_with(lambda each: each.search.ending_solver))
        raise NotationError(f"ending={spec['ending']} is for {games}, not for {game}")
    return cast(_core.UctOptions, spec.options)


def has_priors(spec: SearchSpec, game: str | None) -> bool:
    """Whether a tree search has priors for its moves."""
    if "evaluator" in spec.parts:
        return True
    return bool(spec.options.get("ordered")) and has_features(game)


def monte_carlo_options(spec: SearchSpec, game: str | None) -> _core.MonteCarloOptions:
    """The options of flat Monte Carlo."""
    _check_playouts(spec, game)
    return cast(_core.MonteCarloOptions, spec.options)


def alpha_beta_options(spec: SearchSpec) -> _core.AlphaBetaOptions:
    """The options of alpha-beta."""
    return cast(_core.AlphaBetaOptions, spec.options)


def _check_playouts(spec: SearchSpec, game: str | None) -> None:
    if spec["policy"] == "light" and not (
        game is not None and game_facts(game).search.light_playouts
    ):
        raise NotationError(f"policy=light is for Go, not for {game or 'this game'}")
    if spec["policy"] == "strengths" and not has_features(game):
        raise NotationError("policy=strengths needs a game whose moves have features")
    for name in ("quiescence", "root_quiescence"):
        if spec.has(name) and spec[name] and not (game and game_facts(game).search.quiescence):
            games = " and ".join(games_with(lambda each: each.search.quiescence))
            raise NotationError(f"{name}=on is for {games}, not for {game or 'this game'}")
    if game is None and spec["threads"] != 1:
        raise NotationError("a game written in Python is searched on one thread")


def models_for(spec: SearchSpec, game: str | None) -> _core.GivenModels:
    """The models of a spec; the others are built in."""
    models = _core.GivenModels()
    models.evaluation = _evaluation(spec, game)
    models.slow = game is None or callable(spec.parts.get("evaluation"))
    if spec.has("strengths"):
        _set_strengths(models, spec, game)
    if game is not None and uses_both_heads(spec):
        models.leaves = _leaves(game, spec["eval"])
    if "evaluator" in spec.parts:
        batch = spec["batch"] if game is not None else 1
        models.leaves = _core.python_leaves(game, spec.parts["evaluator"], batch)
        models.slow = True
    if searches_book(spec):
        book = book_of(spec, game)
        if book is not None:
            models.set_book(book.codes())
    return models


def uses_both_heads(spec: SearchSpec) -> bool:
    """Whether a tree search evaluates both heads of one network at once."""
    if spec.kind != "uct" or spec.parts.keys() & {"evaluation", "evaluator"}:
        return False
    file = spec["eval"]
    strengths = spec["prior_strengths"] or spec["strengths"]
    if not (isinstance(file, ModelFile) and file.kind == Convolution.kind and strengths == file):
        return False
    plain = (
        not (spec["eval_weight"] or spec["eval_visits"] or spec["widening"])
        and spec["scale"] is None
    )
    return bool(spec["cutoff"] == 0 and plain and spec["ordered"] is not False)


def evaluation_of(spec: SearchSpec, game: str | None) -> StaticEvaluation | None:
    """The StaticEvaluation of a spec, if it has one."""
    part = spec.parts.get("evaluation")
    if isinstance(part, StaticEvaluation):
        if part.game != game:
            raise NotationError(f"an evaluation of {part.game} can't judge {game}")
        return part
    if part is not None or game is None or not has_terms(game):
        return None
    return _evaluation_in(game, spec["eval"])


def _evaluation(spec: SearchSpec, game: str | None) -> _core.Model | None:
    part = spec.parts.get("evaluation")
    if isinstance(part, StaticEvaluation):
        evaluation = evaluation_of(spec, game)
        assert evaluation is not None
        return evaluation.model()
    if part is not None:
        adapt = _core.python_scores if spec.kind == "ab" else _core.python_values
        return adapt(game, part)
    if game is not None and has_terms(game):
        return _evaluation_model(game, spec["eval"])
    if spec["eval"] != BUILT_IN:
        raise NotationError("eval= needs a game with a built-in evaluation")
    return None


# Few, since the largest take hundreds of megabytes each.
@functools.lru_cache(maxsize=4)
def _evaluation_in(game: str, source: ModelFile | str) -> StaticEvaluation:
    """Cached, since a match loads it again for each game."""
    return static_evaluation(game, source)


@functools.lru_cache(maxsize=4)
def _evaluation_model(game: str, source: ModelFile | str) -> _core.Model:
    """The cached evaluation as searches take it."""
    return _evaluation_in(game, source).model()


@functools.lru_cache(maxsize=4)
def _leaves(game: str, file: ModelFile) -> _core.Model:
    """The cached leaf evaluator of a convolution network."""
    return Convolution.from_model_file(file, game).leaves()


def _set_strengths(models: _core.GivenModels, spec: SearchSpec, game: str | None) -> None:
    for name in _STRENGTHS:
        override = spec[name] if spec.has(name) else None
        strengths = spec["strengths"] if override is None else override
        if strengths == BUILT_IN:
            continue
        if game is None:
            raise NotationError("strengths= need a game that is not written in Python")
        setattr(models, name, _strengths(game, strengths))


@functools.lru_cache(maxsize=16)
def _strengths(game: str, file: ModelFile) -> _core.Model:
    """The cached move model of a file."""
    return move_model(game, file)


def searches_book(spec: SearchSpec) -> bool:
    """Whether a tree search restricts its whole tree to book moves."""
    return spec.kind == "uct" and bool(spec["book_pick"] == "search")


def book_of(spec: SearchSpec, game: str | None) -> Book | None:
    """The opening book of a spec; raises NotationError for a wrong game."""
    book: Book | None = spec.parts.get("book")
    if spec["book"] is not None:
        if game is None:
            raise NotationError("book= needs a game that has records")
        return _book(game, spec["book"], spec["book_plies"])
    if book is not None and book.game != game:
        raise NotationError(f"a book of {book.game} is none of {game or 'this game'}")
    return book


@functools.lru_cache(maxsize=4)
def _book(game: str, file: ModelFile, plies: int) -> Book:
    """Cached, since a match loads it again for each game."""
    return Book.from_file(game, file, plies=plies)
