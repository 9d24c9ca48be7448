# SPDX-License-Identifier: Apache-2.0
"""Monte-Carlo tree search once more, in plain Python, slow and short: what the core must equal.

Written from the papers' formulas and the contract in `core/search/mcts.h`; it shares no code with
the core but the rules of the games, their playouts and the ratings of moves.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import hyoka as hk

_MASK = 2**64 - 1


def split_mix(x: int) -> int:
    """One step of SplitMix64."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Rng:
    """The core's generator, wyrand."""

    def __init__(self, seed: int) -> None:
        self.state = split_mix(seed)

    @classmethod
    def for_task(cls, seed: int, index: int) -> "Rng":
        """The generator of a task of a run."""
        return cls(split_mix(seed) ^ split_mix(~index & _MASK))

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        self.state = (self.state + 0xA0761D6478BD642F) & _MASK
        product = self.state * (self.state ^ 0xE7037ED1A0B428DB)
        bits = (product >> 64) ^ (product & _MASK)
        return ((bits >> 32) * n) >> 32


@dataclass
class TwinNode:
    """A move in the tree; `total` is for the player who made it."""

    move: Any
    mover: Any
    prior: float = 1.0
    promise: float = 1.0
    """By what it asks to be tried."""
    visits: int = 0
    total: float = 0.0
    rave_visits: int = 0
    rave_total: float = 0.0
    minimax: np.float32 | None = None
    """The best evaluation below for both sides, for the mover; None: not known yet."""
    evaluation: np.float32 | None = None
    """Of the position itself, for the mover."""
    proof: str | None = None
    children: list["TwinNode"] | None = None
    opened: int = 0
    best: "TwinNode | None" = None
    """The most visited child, the earliest to have been it."""

    @property
    def mean(self) -> float:
        """The mean value for the mover."""
        return self.total / self.visits if self.visits else 0.5

    def note_best(self, child: "TwinNode") -> bool:
        """Take note that a child was visited; whether it is now the most visited."""
        former = self.best
        assert self.children is not None
        if child.visits > (former or self.children[0]).visits:
            self.best = child
            return True
        return (former or self.children[0]) is child


@dataclass
class Twin:
    """The search, with the same parts as the core's."""

    line: Any
    seed: int = 0
    formula: str = "ucb1"
    c: float = 1.0
    proofs: bool = True
    widening: tuple[float, float, float] | None = None
    strengths: Callable[[Any], list[float]] | None = None
    widening_strengths: Callable[[Any], list[float]] | None = None
    killer: float | None = None
    history: float | None = None
    rave: float | None = None
    prior: int = 0
    evaluate: Callable[[Any], float] | None = None
    minimax: float = 0.0
    """The share of minimax values, backed up from what `evaluate` says, beside means."""
    penalties: dict[int, float] | None = None
    """By code of a root move: how much of its win rate it loses."""
    multiply: bool = False
    """Multiply win rates by 1 less the penalty, instead of subtracting it."""
    tried: Counter[Any] = field(default_factory=Counter)
    was_best: Counter[Any] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        other = {hk.Player.first: hk.Player.second, hk.Player.second: hk.Player.first}
        self.other = other
        self.root = TwinNode(None, other[self.line.to_play])

    def run(self, simulations: int) -> TwinNode:
        """Simulate a number of times, or until the root is proven."""
        for k in range(simulations):
            self.simulate(self.seed + k)
            if self.root.proof:
                break
        return self.root

    def simulate(self, seed: int) -> None:
        """One simulation: down, evaluate, back up."""
        line, node, path = self.line, self.root, [self.root]
        before = node.visits
        node.visits += 1
        played: list[tuple[Any, Any]] = []
        certain = False
        while True:
            if node.proof:
                value = self.first(node.mover, {"won": 1.0, "lost": 0.0, "drawn": 0.5}[node.proof])
                break
            if node.children is None:
                outcome = line.outcome
                if outcome is not None:
                    value = outcome.value
                    certain = self.proofs
                    if self.proofs:
                        result = {0.5: "drawn", 1.0: "won", 0.0: "lost"}
                        self.prove(path, result[self.first(node.mover, value)])
                    break
                if before < 1 and len(path) > 1:
                    value = self.leaf_value(line, node, seed, played)
                    break
                self.expand(line, node, seed)
            child = self.choose(line, node, path)
            if child is None:
                continue
            line, node = line.play(child.move), child
            path.append(child)
            before = child.visits
            child.visits += 1
        for step in path:
            step.total += self.first(step.mover, value)
        if self.minimax:
            self.back_up_minimax(line, path, value, certain=certain)
        for parent, step in itertools.pairwise(path):
            key = (step.mover, step.move.code)
            self.tried[key] += 1
            self.was_best[key] += parent.note_best(step)
        if self.rave is not None:
            self.back_up_rave(path, played, value)

    def leaf_value(self, line: Any, node: TwinNode, seed: int, played: list[Any]) -> float:
        """A playout, after the prior if there is one."""
        if self.prior and self.evaluate is not None:
            node.visits += self.prior
            node.total += self.prior * self.first(node.mover, self.evaluate(line.position))
        if self.rave is None:
            return hk.playouts(line.position, 1, seed=seed).value
        rng, game = Rng.for_task(seed, 0), line.position
        while game.outcome is None:
            moves = game.legal_moves
            forced_pass = str(moves[0]) == "pass"  # Othello's playouts draw no number for one
            move = moves[0] if forced_pass else moves[rng.below(len(moves))]
            played.append((game.to_play, move.code))
            game = game.play(move)
        return float(game.outcome.value)

    def expand(self, line: Any, node: TwinNode, seed: int) -> None:
        """Make the children, in the order in which they will be tried."""
        moves = list((line if node is self.root else line.position).legal_moves)
        strengths = self.strengths(line) if self.strengths else [1.0] * len(moves)
        rng, order = Rng.for_task(seed, 1), [0] * len(moves)
        for i in range(len(moves)):
            j = rng.below(i + 1)
            order[i] = order[j]
            order[j] = i
        promises = self.widening_strengths(line) if self.widening_strengths else strengths
        if self.strengths or self.widening_strengths:
            order.sort(key=lambda i: -promises[i])
        unit = max(strengths)
        if self.formula == "puct":
            unit = sum(strengths)
        priors = [float32(strength / unit) for strength in strengths]
        if self.widening_strengths:
            promises = [float32(promise / max(promises)) for promise in promises]
        else:
            promises = priors
        node.children = [
            TwinNode(moves[i], line.to_play, prior=priors[i], promise=promises[i]) for i in order
        ]
        if self.rave is not None:
            node.opened = len(moves)

    def choose(self, line: Any, node: TwinNode, path: list[TwinNode]) -> TwinNode | None:
        """The child with the greatest urgency; none if all are decided.

        Forbidden ones are struck off when first met.
        """
        assert node.children is not None
        while True:
            n = sum(child.visits for child in node.children)
            more = node.opened < len(node.children)
            chosen, urgency = None, -math.inf
            if not more or self.widening or self.formula == "puct":
                for child in node.children[: node.opened]:
                    if child.proof in ("lost", "forbidden"):
                        continue
                    u = self.urgency(node, child, n, path)
                    if chosen is None or u > urgency:
                        chosen, urgency = child, u
            if more:
                waiting = node.children[node.opened]
                if chosen is None or self.unopened(node, waiting, n) > urgency:
                    chosen = waiting
                    node.opened += 1
            if chosen is None:
                return None
            if chosen.visits == 0 and not line.is_legal(chosen.move):
                self.prove([*path, chosen], "forbidden")
                continue
            return chosen

    def unopened(self, node: TwinNode, child: TwinNode, n: int) -> float:
        """How urgent the next child is that was never tried."""
        if self.widening:
            d, c, e = self.widening
            return d * child.promise + c * math.sqrt(2 * math.log(max(n, 1)) / e)
        if self.formula == "puct":
            return self.worth(node, child) + self.c * child.prior * math.sqrt(n)
        return math.inf

    def worth(self, node: TwinNode, child: TwinNode) -> float:
        """What a node is worth to who chooses below it."""
        visits = node.visits - 1  # the one under way has no value yet
        mean = self.blended(node, node.total / visits if visits else 0.5)
        return mean if node.mover is child.mover else 1 - mean

    def urgency(self, node: TwinNode, child: TwinNode, n: int, path: list[TwinNode]) -> float:
        """How urgent a child is that has been tried."""
        c = self.c
        if self.history is not None:
            key = (child.mover, child.move.code)
            share = self.was_best[key] / self.tried[key] if self.tried[key] else 0.0
            c += max(0.0, share - self.history)
        if self.killer is not None and self.killer_of(node, path) == child.move.code:
            c = self.killer
        visits, mean, log = max(child.visits, 1), child.total / max(child.visits, 1), 0.0
        log = math.log(max(n, 1))
        if self.rave is not None:
            mean = self.mixed(node, child, mean)
        mean = self.blended(child, mean)
        if self.penalties and node is self.root:
            penalty = float32(self.penalties[child.move.code])
            mean -= penalty * mean if self.multiply else penalty
        if self.formula == "puct":
            return mean + c * child.prior * math.sqrt(n) / (1 + child.visits)
        if self.formula == "ucb1-tuned":
            variance = mean - mean * mean + math.sqrt(2 * (log / visits))
            return mean + c * math.sqrt(log / visits * min(0.25, variance))
        return mean + c * math.sqrt(2 * log / visits)

    def mixed(self, node: TwinNode, child: TwinNode, mean: float) -> float:
        """The mean mixed with that of all moves as first."""
        assert self.rave is not None
        if child.rave_visits == 0:
            by_prior = self.formula == "puct" and not self.widening
            return mean if child.visits else self.worth(node, child) if by_prior else 1.0
        beta = math.sqrt(self.rave / (3 * child.visits + self.rave)) if child.visits else 1.0
        return (1 - beta) * mean + beta * (child.rave_total / child.rave_visits)

    def killer_of(self, node: TwinNode, path: list[TwinNode]) -> int | None:
        """The commonest best move among a node's siblings; of equals the lowest code."""
        if len(path) < 2:
            return None
        siblings = path[-2].children
        assert siblings is not None
        counts: Counter[int] = Counter()
        for sibling in siblings:
            if sibling is not node and sibling.children is not None:
                best = sibling.best or sibling.children[0]
                if any(child.visits for child in sibling.children):
                    counts[best.move.code] += 1
        return min(counts, key=lambda code: (-counts[code], code)) if counts else None

    def back_up_rave(self, path: list[TwinNode], played: list[Any], value: float) -> None:
        """Count the simulation for every move that its player made later."""
        made = [(step.mover, step.move.code) for step in path[1:]] + played
        for depth, node in enumerate(path):
            for child in node.children or []:
                if (child.mover, child.move.code) in made[depth:]:
                    child.rave_visits += 1
                    child.rave_total += self.first(child.mover, value)

    def back_up_minimax(
        self, line: Any, path: list[TwinNode], value: float, *, certain: bool
    ) -> None:
        """Evaluate the leaf if that is new, and take the best of the children above it."""
        assert self.evaluate is not None
        leaf = path[-1]
        if leaf.minimax is None or certain:
            known = leaf.proof is not None or line.outcome is not None
            judged = value if known else self.evaluate(line.position)
            leaf.minimax = leaf.evaluation = np.float32(self.first(leaf.mover, judged))
        for node in reversed(path[:-1]):
            assert node.children is not None
            same = node.mover is node.children[0].mover
            tried = node.children[: node.opened]
            values = [child.minimax for child in tried if child.minimax is not None]
            if node.opened < len(node.children) and node.evaluation is not None:
                values.append(node.evaluation if same else np.float32(1) - node.evaluation)
            best = max(values)
            node.minimax = best if same else np.float32(1) - best

    def blended(self, node: TwinNode, mean: float) -> float:
        """A mean beside its minimax value."""
        if not self.minimax or node.minimax is None:
            return mean
        return (1 - self.minimax) * mean + self.minimax * float(node.minimax)

    def prove(self, path: list[TwinNode], proof: str) -> None:
        """Back a certain result up as far as it goes."""
        for depth in range(len(path) - 1, -1, -1):
            node = path[depth]
            if node.proof is not None:
                return
            node.proof = proof
            if depth == 0:
                return
            siblings = path[depth - 1].children
            assert siblings is not None
            proofs = [sibling.proof for sibling in siblings]
            if proof == "won":
                above = "won"
            elif None in proofs:
                return
            else:
                above = "drawn" if "drawn" in proofs else "lost"
            turned = {"won": "lost", "lost": "won", "drawn": "drawn"}
            proof = above if path[depth - 1].mover is node.mover else turned[above]

    @staticmethod
    def first(player: Any, value: float) -> float:
        """A value for a player turned to the first player's, or back."""
        return value if player is hk.Player.first else 1 - value


def float32(number: float) -> float:
    """Rounded as the tree keeps priors."""
    return float(np.float32(number))
