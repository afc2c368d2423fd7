"""Agents that play what a trained network says, without search (extra `torch`).

Version history:

- ppo-v1: the first version.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from torch import nn

from skift_env import rules
from skift_env._jit import kernel
from skift_env.agents.checkpoint import load_checkpoint
from skift_env.observation import TOKENS_SHAPE, write_tokens
from skift_env.position import Position
from skift_env.rng import next_word, seed_words
from skift_env.rules import NUM_ACTIONS, SIDE
from skift_env.types import AnyArray, Int8Array, Int64Array


@kernel
def observe_movers(states: Int64Array, tokens: Int8Array, masks: Int8Array) -> None:
    """Write tokens (B, 9, 52) and masks (B, 405) of games, each seen by the side to move."""
    for game in range(len(states)):
        write_tokens(states[game], states[game, SIDE], tokens[game])
        rules.legal_mask(states[game], masks[game])


@kernel
def draw_actions(
    logits: AnyArray, masks: Int8Array, rngs: Int64Array, temperature: float, actions: Int64Array
) -> None:
    """Draw a legal action for each game, with probability proportional to exp(logit / temperature).

    Temperature 0 takes the largest logit, the lowest number among equals.
    """
    weights = np.empty(NUM_ACTIONS, np.float64)
    for game in range(len(logits)):
        best = -1
        for action in range(NUM_ACTIONS):
            if masks[game, action] and (best < 0 or logits[game, action] > logits[game, best]):
                best = action
        actions[game] = best
        if temperature > 0.0:
            total = 0.0
            for action in range(NUM_ACTIONS):
                weights[action] = 0.0
                if masks[game, action]:
                    difference = logits[game, action] - logits[game, best]
                    weights[action] = math.exp(difference / temperature)
                    total += weights[action]
            left = next_word(rngs[game]) / 4294967296.0 * total
            for action in range(NUM_ACTIONS):
                if weights[action] > 0.0:
                    actions[game] = action
                    left -= weights[action]
                    if left < 0.0:
                        break


class PolicyAgent:
    """Plays a network's policy: its most likely legal action, or a drawn one.

    Args:
        network: tokens (B, 9, 52) to logits (B, 405) and values (B,); see `networks`.
        name: what to call it in results.
        temperature: 0 for the most likely action; else actions are drawn with probability
            proportional to the policy's to the power of 1 / temperature.

    Raises:
        ValueError: for a negative temperature.
    """

    def __init__(self, network: nn.Module, name: str, temperature: float = 0.0) -> None:
        if not temperature >= 0.0:
            raise ValueError(f"temperature must be at least 0, not {temperature!r}")
        self.network = network
        self.name = name
        self.temperature = float(temperature)

    @classmethod
    def load(cls, path: str | Path, temperature: float = 0.0) -> PolicyAgent:
        """The policy of a checkpoint.

        Raises:
            CheckpointError: a ValueError, if the file cannot be used.
        """
        network, _ = load_checkpoint(Path(path))
        suffix = f",temperature={temperature:g}" if temperature else ""
        return cls(network, f"ppo-v1:path={path}{suffix}", temperature)

    def evaluate(self, states: Int64Array) -> tuple[AnyArray, AnyArray, Int8Array]:
        """Logits (B, 405) float32, values (B,) float32 and masks (B, 405), as the movers see it."""
        tokens = np.empty((len(states), *TOKENS_SHAPE), np.int8)
        masks = np.empty((len(states), NUM_ACTIONS), np.int8)
        observe_movers(np.ascontiguousarray(states), tokens, masks)
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(tokens))
        return logits.float().numpy(), values.float().numpy(), masks

    def policy(self, position: Position) -> tuple[AnyArray, float]:
        """Probabilities (405,) float64 of the actions, at temperature 1, and the value -1 … 1."""
        logits, values, masks = self.evaluate(position.state[None])
        weights = np.exp(logits[0].astype(np.float64) - logits[0][masks[0] > 0].max())
        weights[masks[0] == 0] = 0.0
        return weights / weights.sum(), float(values[0])

    def act(self, position: Position, rng: np.random.Generator) -> int:
        """A legal action in a position that is not over."""
        return int(self.act_batch(position.state[None], seed_words(rng)[None])[0])

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        logits, _, masks = self.evaluate(states)
        actions = np.empty(len(states), np.int64)
        draw_actions(logits, masks, rngs, self.temperature, actions)
        return actions
