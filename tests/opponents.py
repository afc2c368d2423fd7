"""Opponents in every form that an environment takes, and what the environments' tests share.

They are at the top level of a module, so that they can be pickled and found by a new process.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence

from skift_env.agents import RandomAgent
from skift_env.agents.agent import KernelAgent
from skift_env.position import Position
from skift_env.types import Int64Array

# White to move in all of these; "c2e", "a2w" and "A1w" are what black can do after white's first.
BLACK_WINS = ("k.pK/P... w - 20", "a1e", "c2e")
BLACK_LOSES = ("k.pK/P... w - 20", "a1e", "a2w")
DRAW = ("kpp.../K..P.. w - 20", "d1n", "A1w")
BLACK_WINS_BY_PIECES = ("kpp.../K.pP.. w - 20", "d1n", "A1w")
BLACK_LOSES_BY_PIECES = ("kpp.../K.PP.. w - 20", "d1n", "A1w")
ENDS = {
    BLACK_WINS: "black",
    BLACK_LOSES: "white",
    DRAW: None,
    BLACK_WINS_BY_PIECES: "black",
    BLACK_LOSES_BY_PIECES: "white",
}

SHORT_GAMES = (
    Position.start().text,
    "k.pK/P... w - 20",
    "..../KP../..kp/.... w - 4",
    "..../KP../..kp/.... b - 9",
    "kpp.../K..P.. b - 0",
    Position.start().text.replace("w - 0", "w - 18"),
)
"""The start, and positions from which a random game soon ends or, with few plies left, is cut."""


def first_legal(position: Position, rng: np.random.Generator) -> int:
    """The legal action with the lowest number."""
    return position.legal_actions[0]


def drawn_legal(position: Position, rng: np.random.Generator) -> int:
    """A random legal action, as a NumPy integer."""
    return rng.choice(position.legal_actions)


class Last:
    """An agent that plays one game at a time: the legal action with the highest number."""

    name = "last"

    def act(self, position: Position, rng: np.random.Generator) -> int:
        return position.legal_actions[-1]


class FirstInKernel(KernelAgent):
    """`first_legal` as an agent that is trusted to play legal actions, from any thread."""

    name = "first"

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        positions = [Position.from_state(state) for state in states]
        return np.array([position.legal_actions[0] for position in positions], np.int64)


class RandomInBatch:
    """The random agent under another name, as an agent that plays in batch."""

    name = "batch"

    def act(self, position: Position, rng: np.random.Generator) -> int:
        raise AssertionError("it plays in batch")

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        return RandomAgent().act_batch(states, rngs)


class Says:
    """A function that answers with an action given as text, or as it is if it is no text."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __call__(self, position: Position, rng: np.random.Generator) -> Any:
        return position.parse_action(self.answer) if isinstance(self.answer, str) else self.answer


class CheatsFrom:
    """A function that plays `drawn_legal`, but from some ply on an illegal action."""

    def __init__(self, ply: int) -> None:
        self.ply = ply

    def __call__(self, position: Position, rng: np.random.Generator) -> int:
        action = drawn_legal(position, rng)
        return action if position.ply < self.ply else illegal_action(position)


class CheatsInBatchFrom(RandomInBatch):
    """The same as an agent that plays in batch."""

    def __init__(self, ply: int) -> None:
        self.ply = ply

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        actions = super().act_batch(states, rngs)
        for game, position in enumerate(map(Position.from_state, states)):
            if position.ply >= self.ply:
                actions[game] = illegal_action(position)
        return actions


def illegal_action(position: Position) -> int:
    """The lowest number of an illegal action."""
    return next(action for action in range(405) if action not in position.legal_actions)


def draw_legal(mask: np.ndarray, generator: np.random.Generator) -> int:
    """A random legal action; 0 where there is none."""
    legal = np.flatnonzero(mask)
    return int(generator.choice(legal)) if len(legal) else 0


def pickled(value: Any) -> Any:
    """A copy by way of its pickle."""
    return pickle.loads(pickle.dumps(value))


DUPLICATES: list[Callable[[Any], Any]] = [copy.deepcopy, pickled]


def same(one: Any, other: Any) -> bool:
    """Equality of nested values, types, dtypes and shapes included."""
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return isinstance(other, np.ndarray) and same(list(one), list(other))
    return bool(data_equivalence(one, other))


def arrays(value: Any) -> Iterator[np.ndarray]:
    """All arrays within nested values."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, np.ndarray):
        yield value
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        for each in value:
            yield from arrays(each)


def binomial_tail(successes: int, trials: int) -> float:
    """How probable it is that as many or more of fair coins fall on the rarer side's other one.

    Two-sided, by the normal approximation with continuity correction.
    """
    from math import erfc, sqrt

    distance = max(0.0, abs(successes - trials / 2) - 0.5) / sqrt(trials / 4)
    return erfc(distance / sqrt(2))
