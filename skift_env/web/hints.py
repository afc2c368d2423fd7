"""What an agent thinks of the moves, the best first."""

from __future__ import annotations

from itertools import islice
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skift_env.agents import Agent
from skift_env.agents.alphabeta import DECIDED, WIN, AlphaBeta
from skift_env.agents.mcts import MonteCarlo
from skift_env.position import Position

MOST: Final = 3
PAWN: Final = 200
"""What a pawn is worth, about, in values of the alpha-beta search."""
DEEPEST: Final = 4
"""Plies of a search that tells the value of every move."""

Hint: TypeAlias = tuple[int, str]
"""An action, and what the agent thinks of it in a word or two."""


def adviser(agent: Agent) -> Agent:
    """The agent itself, or, if it has no opinion of the moves, one that has."""
    has_opinion = isinstance(agent, AlphaBeta | MonteCarlo) or hasattr(agent, "policy")
    return agent if has_opinion else AlphaBeta(depth=3)


def best_moves(agent: Agent, position: Position, rng: np.random.Generator) -> list[Hint]:
    """The moves that an `adviser` likes best, the best first."""
    if isinstance(agent, AlphaBeta):
        return _by_search(agent, position, rng)
    if isinstance(agent, MonteCarlo):
        visits, _ = agent.search(position, rng)
        return _by_share(visits / visits.sum())
    policy, _ = agent.policy(position)  # type: ignore[attr-defined]  # a PolicyAgent needs PyTorch
    return _by_share(policy)


def _by_share(shares: ArrayLike) -> list[Hint]:
    array = np.asarray(shares)
    best = np.argsort(-array, kind="stable")[:MOST].tolist()
    return [(action, f"{array[action]:.0%}") for action in best if array[action] > 0]


def _by_search(agent: AlphaBeta, position: Position, rng: np.random.Generator) -> list[Hint]:
    """The move that the agent plays, then the others by a search of `DEEPEST` plies at most."""
    found = agent.search(position, rng)
    depth = min(found.depth, DEEPEST)
    shallow = AlphaBeta(depth=max(1, depth - 1))
    values = {
        action: _value_of(position.play(action), shallow)
        for action in position.legal_actions
        if action != found.action
    }
    others = sorted(values, key=lambda action: -values[action])
    ranked = {found.action: found.value}
    for action in islice(others, MOST - 1):
        ranked[action] = min(values[action], found.value)
    return [(action, in_words(value)) for action, value in ranked.items()]


def _value_of(after: Position, agent: AlphaBeta) -> int:
    """The value of a position for the side that has just moved."""
    outcome = after.outcome
    if outcome is None:
        value = -agent.search(after).value
        # a win or loss in n plies from there is one in n + 1 from here
        return value - (value > DECIDED) + (value < -DECIDED)
    if outcome.winner is None:
        return 0
    return 1 - WIN if outcome.winner == after.side else WIN - 1


def in_words(value: int) -> str:
    """A value for the side to move: in pawns, or the plies until the game is decided."""
    if abs(value) <= DECIDED:
        return f"{round(value / PAWN, 1) + 0.0:+.1f} pawns"  # + 0.0 makes -0.0 positive
    return f"{'wins' if value > 0 else 'loses'} in {WIN - abs(value)}"
