# SPDX-License-Identifier: Apache-2.0
"""Playing a match: workers play games, the journal stores them, and then they count."""

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from hyoka.arena.elo import Sprt
from hyoka.arena.journal import GameJournal, PlayedGame, Playing, export_match, read_journal
from hyoka.arena.plan import MatchPlan, unnamed
from hyoka.arena.ratings import DuelSummary, Standing
from hyoka.arena.referee import GameTask, pin_to_cores, play_task
from hyoka.foundation.errors import StudyError
from hyoka.foundation.progress import OnProgress, Progress
from hyoka.parallel import Run
from hyoka.storage.files import now, read_described, toml_text, write_text
from hyoka.storage.result import html_table
from hyoka.storage.run_folder import RunPlan, open_run

DESCRIPTION: Final = "match.toml"
JOURNAL: Final = "journal.jsonl"
VERSION: Final = 1

OnGames = Callable[[list[PlayedGame], Standing], None]
"""A callback with newly counted games and the standing."""


@dataclass(frozen=True, repr=False)
class MatchResult:
    """The games and the standing of a match."""

    folder: Path
    standing: Standing
    wanted: int
    verdict: str | None = None
    """The sequential test's decision: `H0`, `H1`, or None."""

    @cached_property
    def games(self) -> list[PlayedGame]:
        """The games in the order they ended, read from disk."""
        return _renamed(read_journal(self.folder / JOURNAL), self.standing.names)

    @property
    def finished(self) -> bool:
        """Whether no game is left to play."""
        return self.verdict is not None or self.standing.games >= self.wanted

    @property
    def duels(self) -> list[DuelSummary]:
        """The summaries of all duels."""
        return [DuelSummary.of(self.standing, *duel) for duel in self.standing.duels()]

    def __repr__(self) -> str:
        played = f"{self.standing.games:,} of {self.wanted:,} games"
        return f"<MatchResult {self.folder}: {played}{f', {self.verdict}' if self.verdict else ''}>"

    def _repr_html_(self) -> str:
        head = ("player", "opponent", "games", "score", "Elo")
        rows = [
            (
                duel.player,
                duel.opponent,
                f"{duel.score.score.games:,}",
                duel.rate.text(".1%"),
                duel.elo.text("+.0f"),
            )
            for duel in self.duels
        ]
        return html_table(f"{self.standing.games:,} of {self.wanted:,} games", [head, *rows])

    def __str__(self) -> str:
        lines = map(str, self.duels)
        return "\n".join(lines) or f"no game played yet of {self.wanted}"


def play_match(
    plan: MatchPlan,
    folder: Path | str,
    *,
    games: int = 100,
    sprt: Sprt | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    on_games: OnGames | None = None,
    progress: OnProgress | None = None,
) -> MatchResult:
    """Play a match in `folder`, with `games` (rounded up to pairs) for each duel.

    A match in the folder resumes, also with more games than before; a different match raises. With
    `sprt` (for two players) it ends at the test's decision. `jobs` games are played in parallel
    here, or on `executor`. A game counts once the journal has it, so a crash loses only games in
    progress.
    """
    if sprt is not None and len(plan.players) != 2:
        raise StudyError("a sequential test is for two players")
    for player in plan.players:
        player.agent.check(plan.rules.game, here=executor is None)
    folder = Path(folder)
    run = open_run(folder, _run_plan(plan, sprt), "playing a match")
    titles = [player.title for player in plan.players]
    with run, GameJournal(folder / JOURNAL) as journal:
        _store_titles(folder, titles)
        total = plan.total(games)
        listener = _listener(on_games, progress, total)
        match = _Match(plan, journal, total, sprt, listener)
        try:
            match.play(jobs, executor)
        finally:
            ended = _renamed(journal.games.values(), titles)
            export_match(folder, ended, engine_comments=plan.engine_comments)
        return MatchResult(folder, match.standing, match.wanted, match.verdict)


def _listener(on_games: OnGames | None, progress: OnProgress | None, wanted: int) -> OnGames:
    """Return the callback for new games or for the progress."""

    def hear(new: list[PlayedGame], standing: Standing) -> None:
        if progress is not None:
            note = f"{new[-1].record.first} – {new[-1].record.second}" if new else ""
            progress(Progress("match", standing.games, wanted, "games", note))
        if on_games is not None:
            on_games(new, standing)

    return hear


def match_so_far(
    plan: MatchPlan, folder: Path | str, *, games: int, sprt: Sprt | None = None
) -> MatchResult:
    """Return the result of a match in a folder, interrupted or in progress."""
    names = [player.title for player in plan.players]
    standing = Standing.of(names, read_journal(Path(folder) / JOURNAL))
    verdict = None if sprt is None else sprt.decision(standing.duel(0, 1).pairs)
    return MatchResult(Path(folder), standing, plan.total(games), verdict)


class CachedMatch(NamedTuple):
    """A match as stored in its folder."""

    description: dict[str, Any]
    """Players, openings, time control and the rest of the plan."""
    games: list[PlayedGame]
    """In the order they ended."""

    def __repr__(self) -> str:
        return f"<CachedMatch of {len(self.games):,} games>"


def open_match(folder: Path | str) -> CachedMatch:
    """Read a match's description and its games so far; the match may be in progress."""
    description = _description(Path(folder))
    games = read_journal(Path(folder) / JOURNAL)
    return CachedMatch(description, _renamed(games, titles_in(description)))


def titles_in(description: Mapping[str, Any]) -> list[str]:
    """Return the players' titles in a description; none in those of early versions."""
    titles = description.get("titles")
    return list(map(str, titles)) if isinstance(titles, list) else []


def _store_titles(folder: Path, titles: Sequence[str]) -> None:
    """Replace the titles in a match's description; nothing depends on them."""
    description = _description(folder)
    if titles_in(description) != titles:
        write_text(folder / DESCRIPTION, toml_text({**description, "titles": titles}))


def _renamed(games: Iterable[PlayedGame], titles: Sequence[str]) -> list[PlayedGame]:
    """Return the games with the players' present titles; the journal has those of their time."""
    names = dict(enumerate(titles))
    renamed = []
    for game in games:
        record = game.record
        first = names.get(game.pairing.first, record.first)
        second = names.get(game.pairing.second, record.second)
        if (first, second) != (record.first, record.second):
            record = dataclasses.replace(record, first=first, second=second)
            game = dataclasses.replace(game, record=record)  # noqa: PLW2901
        renamed.append(game)
    return renamed


def _description(folder: Path) -> dict[str, Any]:
    return read_described(folder / DESCRIPTION, "match", (VERSION,))


def _run_plan(plan: MatchPlan, sprt: Sprt | None) -> RunPlan:
    # The test is fixed before the first game, or its error rates do not hold.
    values = {**plan.description(), "sprt": None if sprt is None else str(sprt)}
    return RunPlan(
        "a match",
        DESCRIPTION,
        _without_names(values),
        toml_text({"version": VERSION, "created": now(), "match": values}),
        lambda file: _without_names(_description(file.parent).get("match", {})),
        functools.partial(_changed, plan),
    )


def _without_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description without the names of players, which may change."""
    return {
        **values,
        "players": [unnamed(text) for text in values.get("players", [])],
        "contents": [text.rpartition(": ")[2] for text in values.get("contents", [])],
    }


def _changed(plan: MatchPlan, keys: list[str], stored: Mapping[str, Any]) -> str | None:
    """Describe which files or functions differ from those at the match's start."""
    if keys != ["contents"]:
        return None
    contents = stored.get("contents", [])
    game = plan.game_content
    words = [] if game is None or game.rpartition(": ")[2] in contents else ["the game"]
    for player in plan.players:
        for name, content in player.spec.dependencies.items():
            if f"{name} {content}" not in contents:
                words.append(f"{name} of {player.text}")
    changed = ", ".join(words) or "what its players are made of"
    return f"{changed} has changed since it began; bring it back"


class _Match:
    """One call of `play_match`."""

    def __init__(
        self,
        plan: MatchPlan,
        journal: GameJournal,
        wanted: int,
        sprt: Sprt | None,
        on_games: OnGames,
    ) -> None:
        self._plan = plan
        self._journal = journal
        self.wanted = wanted
        self._sprt = sprt
        self._on_games = on_games
        names = [player.title for player in plan.players]
        self.standing = Standing.of(names, journal.games.values())
        self.verdict = self._decision()

    def play(self, jobs: int, executor: Executor | None) -> None:
        """Play the remaining games until a test decides."""
        self._on_games([], self.standing)
        left = [n for n in range(self.wanted) if n not in self._journal.numbers]
        if self.verdict is not None or not left:
            return
        pin = pin_to_cores() if executor is None and self._fits_cores(jobs) else None
        with (
            Playing(self._journal.path.parent)
            if executor is None
            else contextlib.nullcontext() as playing,
            Run(
                play_task if playing is None else functools.partial(play_task, playing=playing),
                jobs=jobs,
                executor=executor,
                what="a game",
                name="hyoka-match",
                on_thread=pin,
            ) as run,
        ):
            try:
                for batch in run.batches(map(self._task, left)):
                    self._take([done.result for done in batch])
                    if self.verdict is not None:
                        break
            finally:
                late = run.stop()
                if self.verdict is None:
                    self._take([done.result for done in late])

    def _fits_cores(self, jobs: int) -> bool:
        """Whether each game can have its own core."""
        if not hasattr(os, "sched_setaffinity") or jobs != len(os.sched_getaffinity(0)):
            return False
        return all(player.agent.is_single_threaded for player in self._plan.players)

    def _take(self, played: Sequence[PlayedGame]) -> None:
        if not played:
            return
        today = now().date().isoformat()
        dated = [
            dataclasses.replace(game, record=dataclasses.replace(game.record, date=today))
            for game in played
        ]
        new = self._journal.add_games(dated)
        for game in new:
            self.standing.count(game)
        self.verdict = self._decision()
        if new:
            self._on_games(new, self.standing)

    def _decision(self) -> str | None:
        if self._sprt is None:
            return None
        return self._sprt.decision(self.standing.duel(0, 1).pairs)

    def _task(self, number: int) -> GameTask:
        plan = self._plan
        pairing = plan.pairing(number)
        return GameTask(
            plan.rules,
            pairing,
            plan.openings[pairing.opening_id],
            (plan.players[pairing.first], plan.players[pairing.second]),
            (plan.seed_of(pairing, pairing.first), plan.seed_of(pairing, pairing.second)),
        )
