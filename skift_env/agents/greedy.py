"""One ply ahead: material and control."""

from __future__ import annotations

from typing import Final

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.agents.agent import KernelAgent
from skift_env.agents.evaluation import gain_of, value_of
from skift_env.rng import below, next_word
from skift_env.rules import NUM_ACTIONS, ONGOING, STATE_SIZE
from skift_env.types import Int64Array

PAWN_WORTH: Final = 10
"""A pawn's worth in controlled tiles; a king is worth three pawns."""
WIN: Final = 10_000
ALL_SQUARES: Final = (1 << rules.MAX_SQUARES) - 1


@kernel
def _worth(state: Int64Array, side: int) -> int:
    """What a position is worth to a side: win, draw or loss, else material and control."""
    result = rules.outcome(state)
    if result != ONGOING:
        return value_of(result, side, WIN)
    worth = PAWN_WORTH * (gain_of(state, side, ALL_SQUARES) - gain_of(state, 1 - side, ALL_SQUARES))
    worth += rules.members(rules.controlled(state, side))
    return worth - rules.members(rules.controlled(state, 1 - side))


@kernel
def _act_in_all(
    states: Int64Array, rngs: Int64Array, actions: Int64Array, noise_of_2_32: int
) -> None:
    legal = np.empty(NUM_ACTIONS, np.int64)
    after = np.empty(STATE_SIZE, np.int64)
    for game in range(len(states)):
        best = -2 * WIN
        ties = 0
        for place in range(rules.legal_actions(states[game], legal)):
            after[:] = states[game]
            rules.play_unchecked(after, legal[place])
            worth = _worth(after, states[game, rules.SIDE])
            if worth > best:
                best = worth
                ties = 0
            if worth == best:
                legal[ties] = legal[place]
                ties += 1
        if noise_of_2_32 > 0 and next_word(rngs[game]) < noise_of_2_32:
            ties = rules.legal_actions(states[game], legal)
        actions[game] = legal[below(rngs[game], ties)]


class Greedy(KernelAgent):
    """Takes what is best at once: a win, material, control; among equals it draws at random.

    Args:
        noise: 0 … 1, the probability of a uniformly random action instead, which makes opponents
            between `random` and `greedy`.

    Raises:
        ValueError: for another noise.
    """

    def __init__(self, noise: float = 0.0) -> None:
        if not 0.0 <= noise <= 1.0:
            raise ValueError(f"noise must be 0 … 1, not {noise!r}")
        self.name = f"greedy-v1:noise={noise}" if noise else "greedy-v1"
        self._noise_of_2_32 = round(noise * 2**32)

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        actions = np.empty(len(states), np.int64)
        _act_in_all(states, rngs, actions, self._noise_of_2_32)
        return actions
