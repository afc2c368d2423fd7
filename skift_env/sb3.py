"""Stable-Baselines3's `VecEnv` over the native batch, so that MaskablePPO trains on it.

Needs the extra `sb3`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from skift_env.episodes import OptionError
from skift_env.rules import NUM_ACTIONS
from skift_env.types import AnyArray, BoolArray
from skift_env.vector_env import AutoresetMode, SkiftVectorEnv

_METHODS: Final = {"action_masks": "action_masks", "render": "get_images"}
"""The methods that games have, and those here that call them for all."""


class SkiftVecEnv(VecEnv):
    """Many games against an opponent, in SB3's form.

    Observations are flat float32, (num_envs, 468) for tokens or (num_envs, 6804) for planes. A
    finished game starts anew in the same step; its last observation is in
    `info["terminal_observation"]`, and `info["TimeLimit.truncated"]` tells a cut game from a
    finished one. `env_method("action_masks")` gives the masks of the games that are shown.

    Args:
        num_envs: number of games.
        opponent: see `SkiftVectorEnv`; there must be one, since SB3 knows one learner.
        **kwargs: as for `SkiftVectorEnv`.

    Raises:
        OptionError: a ValueError, for other arguments.
    """

    def __init__(self, num_envs: int, opponent: Any = "random", **kwargs: Any) -> None:
        if opponent is None:
            raise OptionError("opponent None (self-play) has no meaning for one SB3 learner")
        for name in ("autoreset_mode", "float32", "copy"):
            if name in kwargs:
                raise OptionError(f"{name} is what SB3 needs and cannot be chosen")
        self.env = SkiftVectorEnv(
            num_envs, opponent, autoreset_mode=AutoresetMode.SAME_STEP, float32=True, **kwargs
        )
        self._masks: BoolArray = np.zeros((num_envs, NUM_ACTIONS), np.bool_)
        self._actions: AnyArray | None = None
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> AnyArray:
        """Start all games, with the seeds and options set before."""
        options: dict[str, Any] = {}
        for name in {name for each in self._options for name in each}:
            usual = self.env.one_or_each(name, self.env.defaults.get(name))
            options[name] = [
                each.get(name, usual[game % len(usual)]) for game, each in enumerate(self._options)
            ]
        seeds = None if set(self._seeds) == {None} else self._seeds
        observations, info = self.env.reset(seed=seeds, options=options or None)
        self._reset_seeds()
        self._reset_options()
        self._masks = info["action_mask"].astype(np.bool_)
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: AnyArray) -> None:
        """Keep the actions (num_envs,) for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[AnyArray, AnyArray, BoolArray, list[dict[str, Any]]]:
        """Play the kept actions: observations, rewards float32, dones, infos.

        Raises:
            OptionError: if none are kept, and as by `SkiftVectorEnv.step`.
        """
        actions, self._actions = self._actions, None
        if actions is None:
            raise OptionError("step_wait without step_async")
        observations, rewards, terminations, truncations, info = self.env.step(actions)
        self._masks = info["action_mask"].astype(np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        dones = terminations | truncations
        for game in np.flatnonzero(dones):
            infos[game] = {
                "terminal_observation": info["final_obs"][game],
                "TimeLimit.truncated": bool(truncations[game]),
            }
        return observations, rewards.astype(np.float32), dones, infos

    def action_masks(self) -> BoolArray:
        """(num_envs, 405) bool: the legal actions of the games that are shown."""
        return self._masks

    def close(self) -> None:
        """End the threads."""
        self.env.close()

    def get_images(self) -> Sequence[Any]:
        """A picture of each game, by render mode; None without one."""
        return self.env.render() or [None] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Whether games have an attribute or method."""
        return attr_name in _METHODS or hasattr(self.env, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of `SkiftVectorEnv`, which all games share, for each game asked for."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: the games share their attributes.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name} cannot be set: the games share their attributes")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """`action_masks`, (405,) bool each, or `render` of the games asked for.

        Raises:
            AttributeError: for any other method.
            TypeError: for arguments; neither takes any.
        """
        if method_name not in _METHODS:
            raise AttributeError(f"games have {' and '.join(_METHODS)}, not {method_name!r}")
        results = getattr(self, _METHODS[method_name])(*method_args, **kwargs)
        return [results[game] for game in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """False for each game: they are rows of one array."""
        return [False for _ in self._get_indices(indices)]
