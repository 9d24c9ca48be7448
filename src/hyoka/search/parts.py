# SPDX-License-Identifier: Apache-2.0
"""From a spec to what the compiled core makes searches from."""

import functools
from typing import Any

from hyoka import _core
from hyoka.errors import NotationError
from hyoka.games import game_facts, game_type, games_with
from hyoka.given_file import GivenFile
from hyoka.search.book import Book
from hyoka.search.evaluations import (
    LinearEvaluation,
    has_features,
    has_terms,
    linear_evaluation,
    move_strengths,
)
from hyoka.search.spec import SearchSpec


def core_class(game: str | None, suffix: str) -> Any:
    """The compiled search of a game; games written in Python share one."""
    return getattr(_core, ("Python" if game is None else game_type(game).__name__) + suffix)


def evaluation_options(spec: SearchSpec, game: str | None) -> _core.EvaluationOptions:
    """The static evaluation that a spec asks for."""
    given = spec.parts.get("evaluation")
    if isinstance(given, LinearEvaluation):
        if given.game != game:
            raise NotationError(f"an evaluation of {given.game} can't judge {game}")
        options = given.options()
    elif given is not None:
        options = _core.EvaluationOptions()
        options.set_python(given)
    elif game is not None and has_terms(game):
        options = linear_evaluation(game, spec["weights"]).options()
    elif spec["weights"] is not None:
        raise NotationError("weights= are for a game with an evaluation of its own")
    else:
        options = _core.EvaluationOptions()
    if spec["scale"] is not None:
        options.scale = spec["scale"]
    return options


def playout_options(spec: SearchSpec, game: str | None) -> _core.PlayoutOptions:
    """The playouts that a spec asks for."""
    options = _core.PlayoutOptions()
    options.policy = spec["policy"]
    if options.policy == "light" and not (game is not None and game_facts(game).light_playouts):
        raise NotationError(f"policy=light is for Go, not for {game or 'this game'}")
    if options.policy == "rated" and not has_features(game):
        raise NotationError("policy=rated needs a game whose moves have features")
    options.epsilon = spec["epsilon"]
    options.cut = -1 if spec["cut"] is None else spec["cut"]
    if spec["ratings"] is not None:
        if game is None or not has_features(game):
            raise NotationError("ratings= need a game whose moves have features")
        options.ratings = list(move_strengths(game, spec["ratings"]).values())
    return options


def threads_for(spec: SearchSpec, game: str | None) -> int:
    """How many threads a search has; those of games written in Python would wait for each other."""
    if game is None and spec["threads"] != 1:
        raise NotationError("a game written in Python is searched on one thread")
    return int(spec["threads"])


@functools.lru_cache(maxsize=4)
def _book(game: str, file: GivenFile, plies: int) -> Book:
    """The book that a file holds; a match asks for it anew with each game."""
    return Book.from_file(game, file, plies=plies)


def mcts_options(spec: SearchSpec, game: str | None) -> _core.MctsOptions:
    """Everything that makes up a tree search."""
    options = _core.MctsOptions()
    puct = spec["formula"] == "puct"
    options.formula = spec["formula"]
    options.exploration = spec["c"] if spec["c"] is not None else 1.5 if puct else 1.0
    if spec["widening"]:
        options.widening = (spec["widening_d"], spec["widening_c"], spec["widening_e"])
    rated = spec["rated"] if spec["rated"] is not None else spec["widening"] or puct
    if spec["rated"] and not has_features(game):
        raise NotationError("rated=on needs a game whose moves have features")
    options.rated = bool(rated) and has_features(game)
    options.reduction = spec["reduction"]
    options.killer = spec["killer_c"] if spec["killer"] else None
    options.history = spec["history_threshold"] if spec["history"] else None
    options.rave = spec["rave"] or None
    options.playout = playout_options(spec, game)
    options.evaluation = evaluation_options(spec, game)
    if "evaluator" in spec.parts:
        options.set_evaluator(spec.parts["evaluator"])
        options.batch = spec["batch"] if game is not None else 1
    options.prior_visits = spec["prior"]
    options.prior_at_expansion = spec["prior_when"] == "expansion"
    facts = None if game is None else game_facts(game)
    if spec["mate"] and (facts is None or facts.mate_solver is None):
        games = " and ".join(games_with(lambda each: each.mate_solver))
        raise NotationError(f"mate={spec['mate']} is for {games}, not for {game}")
    options.mate_nodes = spec["mate"]
    if spec["ending"] and (facts is None or facts.ending_solver is None):
        games = " and ".join(games_with(lambda each: each.ending_solver))
        raise NotationError(f"ending={spec['ending']} is for {games}, not for {game}")
    options.ending_empties = spec["ending"]
    book = spec.parts.get("book")
    if spec["book"] is not None:
        if game is None:
            raise NotationError("book= needs a game that has records")
        book = _book(game, spec["book"], spec["book_plies"])
    elif book is not None and book.game != game:
        raise NotationError(f"a book of {book.game} is none of {game or 'this game'}")
    if book is not None:
        options.set_book(book.codes())
    options.proofs = spec["proofs"]
    options.expand_at = spec["expand"]
    options.threads = threads_for(spec, game)
    options.seed = spec["seed"]
    options.memory_mib = spec["memory"]
    return options


def alpha_beta_settings(spec: SearchSpec) -> _core.AlphaBetaSettings:
    """Everything that makes up an alpha-beta search."""
    if spec["plain"]:
        settings = _core.AlphaBetaSettings.plain()
    elif spec["exact"]:
        settings = _core.AlphaBetaSettings.exact()
    else:
        settings = _core.AlphaBetaSettings()
    for name, value in spec.chosen:
        if isinstance(value, bool) and name not in ("quiescence", "exact", "plain"):
            settings.switch(name, value)
    settings.quiescence = spec["quiescence"]
    settings.hash_mib = spec["hash"]
    settings.aspiration = spec["aspiration"]
    settings.variations = spec["multipv"]
    return settings
