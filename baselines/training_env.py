"""What training adds to the environment: a symmetry for each game, and reward for material."""

from __future__ import annotations

from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnvWrapper

from skift_env.augmentation import augment
from skift_env.observation import TOKENS_SHAPE
from skift_env.sb3 import SkiftVecEnv

OWN_PIECES = slice(19, 27)
THEIR_PIECES = slice(27, 35)


def inverse(symmetries: np.ndarray) -> np.ndarray:
    """The symmetries that undo these: turns turn back, mirrors are their own inverses."""
    return np.where(symmetries >= 4, symmetries, -symmetries % 4)


class SymmetricVecEnv(VecEnvWrapper):
    """Shows each game under a symmetry of its own, drawn when the game begins.

    The policy meets every direction equally often, and no symmetry has to be learnt twice.
    """

    def __init__(self, venv: SkiftVecEnv, seed: int) -> None:
        super().__init__(venv)
        self.generator = np.random.default_rng(seed)
        self.symmetries = np.zeros(venv.num_envs, np.int64)
        self.observations = np.zeros((0, 0), np.float32)
        self.masks = np.zeros((0, 0), np.bool_)

    def reset(self) -> Any:
        """Start all games, each under a new symmetry."""
        self.symmetries = self.generator.integers(8, size=self.num_envs)
        return self._show(self.venv.reset())

    def _show(self, observations: np.ndarray) -> np.ndarray:
        masks = self.venv.action_masks()
        shown = augment(observations, self.symmetries, masks=masks)
        self.observations, self.masks = shown.observations, shown.masks
        return self.observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take actions (num_envs,) as they are numbered in what was shown."""
        back = augment(self.observations, inverse(self.symmetries), actions=actions)
        self.venv.step_async(back.actions)

    def step_wait(self) -> Any:
        """Play them."""
        observations, rewards, dones, infos = self.venv.step_wait()
        for game in np.flatnonzero(dones):
            last = infos[game]["terminal_observation"][None]
            turned = augment(last, self.symmetries[game : game + 1])
            infos[game]["terminal_observation"] = turned.observations[0]
        self.symmetries[dones] = self.generator.integers(8, size=int(dones.sum()))
        return self._show(observations), rewards, dones, infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """`action_masks` as they are numbered in what is shown."""
        if method_name != "action_masks":
            return super().env_method(method_name, *args, indices=indices, **kwargs)
        return [self.masks[game] for game in self._get_indices(indices)]


class MaterialVecEnv(VecEnvWrapper):
    """Adds `reward` for each piece that the opponent loses, and takes it for each own loss."""

    def __init__(self, venv: Any, reward: float) -> None:
        super().__init__(venv)
        self.reward = reward
        self.material = np.zeros(venv.num_envs, np.float32)

    def reset(self) -> Any:
        """Start all games."""
        observations = self.venv.reset()
        self.material = self._count(observations)
        return observations

    @staticmethod
    def _count(observations: np.ndarray) -> np.ndarray:
        """Own pieces less the opponent's, (B,) float32, in flat tokens (B, 468)."""
        tokens = observations.reshape(-1, *TOKENS_SHAPE)
        own = tokens[..., OWN_PIECES].sum((1, 2), dtype=np.float32)
        return own - tokens[..., THEIR_PIECES].sum((1, 2), dtype=np.float32)

    def step_wait(self) -> Any:
        """Play a step, and count the pieces."""
        observations, rewards, dones, infos = self.venv.step_wait()
        after = self._count(observations)
        reached = after.copy()
        for game in np.flatnonzero(dones):
            reached[game] = self._count(infos[game]["terminal_observation"])[0]
        shaped = rewards + self.reward * (reached - self.material)
        self.material = after
        return observations, shaped.astype(np.float32), dones, infos
