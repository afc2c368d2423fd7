"""Uniformly random play."""

from __future__ import annotations

import numpy as np

from skift_env._jit import kernel
from skift_env.agents.agent import KernelAgent
from skift_env.playouts import random_action
from skift_env.rules import NUM_ACTIONS
from skift_env.types import Int64Array


@kernel
def _act_in_all(states: Int64Array, rngs: Int64Array, actions: Int64Array) -> None:
    legal = np.empty(NUM_ACTIONS, np.int64)
    for game in range(len(states)):
        actions[game] = random_action(states[game], rngs[game], legal)


class RandomAgent(KernelAgent):
    """Draws among the legal actions, each as likely as the others."""

    name = "random-v1"

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        actions = np.empty(len(states), np.int64)
        _act_in_all(states, rngs, actions)
        return actions
