"""Uniformly random play, in kernels."""

from __future__ import annotations

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.rng import below
from skift_env.rules import NUM_ACTIONS, ONGOING
from skift_env.types import Int64Array


@kernel
def random_action(state: Int64Array, rng: Int64Array, actions: Int64Array) -> int:
    """A legal action, uniformly drawn, of a game that goes on; `actions` (405,) is scratch."""
    return actions[below(rng, rules.legal_actions(state, actions))]


@kernel
def play_random(state: Int64Array, rng: Int64Array, plies: int) -> int:
    """Play at most `plies` random plies in place; return how many, fewer if the game ended."""
    actions = np.empty(NUM_ACTIONS, np.int64)
    for ply in range(plies):
        if rules.outcome(state) != ONGOING:
            return ply
        rules.play_unchecked(state, random_action(state, rng, actions))
    return plies


@kernel
def count_random_plies(start: Int64Array, rng: Int64Array, plies: int, max_plies: int) -> int:
    """Play random games from `start`, each cut at `max_plies`, until `plies` are played."""
    state = start.copy()
    games = 0
    while plies > 0:
        state[:] = start
        plies -= play_random(state, rng, max_plies)
        games += 1
    return games
