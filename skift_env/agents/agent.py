"""What an agent is: a name, and a move for a position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from skift_env.position import Position
from skift_env.rng import seed_words
from skift_env.types import Int64Array


@runtime_checkable
class Agent(Protocol):
    """Whoever chooses actions; deterministic given the generator."""

    @property
    def name(self) -> str:
        """The full specification with the version, such as `alphabeta-v1:depth=3`."""
        ...

    def act(self, position: Position, rng: np.random.Generator) -> int:
        """A legal action in a position that is not over."""
        ...


@runtime_checkable
class BatchAgent(Agent, Protocol):
    """An agent that also plays many games at once."""

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE), none of them over.

        Game i draws from `rngs[i]`, (B, RNG_SIZE), and advances it, so that its moves do not depend
        on the other games.
        """
        ...


class KernelAgent(ABC):
    """Base of agents that play in batch: `act` is a batch of one."""

    name: str

    def act(self, position: Position, rng: np.random.Generator) -> int:
        """A legal action in a position that is not over."""
        return int(self.act_batch(position.state[None], seed_words(rng)[None])[0])

    @abstractmethod
    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE): see `BatchAgent`."""
