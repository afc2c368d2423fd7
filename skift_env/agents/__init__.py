"""Agents by name."""

from __future__ import annotations

import numpy as np

from skift_env._jit import kernel
from skift_env.agents.agent import Agent, BatchAgent, KernelAgent
from skift_env.playouts import random_action
from skift_env.rules import NUM_ACTIONS
from skift_env.types import Int64Array

__all__ = ["Agent", "AgentSpecError", "BatchAgent", "make"]


class AgentSpecError(ValueError):
    """A text that names no agent."""


@kernel
def _choose_randomly(states: Int64Array, rngs: Int64Array, actions: Int64Array) -> None:
    scratch = np.empty(NUM_ACTIONS, np.int64)
    for game in range(len(states)):
        actions[game] = random_action(states[game], rngs[game], scratch)


class RandomAgent(KernelAgent):
    """Uniformly random legal actions."""

    name = "random-v1"

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        actions = np.empty(len(states), np.int64)
        _choose_randomly(states, rngs, actions)
        return actions


def make(spec: str) -> Agent:
    """The agent that a specification names.

    Raises:
        AgentSpecError: a ValueError, if there is none.
    """
    if spec in ("random", "random-v1"):
        return RandomAgent()
    raise AgentSpecError(f"unknown agent {spec!r}; there is random")
