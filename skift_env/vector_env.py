"""Thousands of games in one Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector.utils import batch_space

from skift_env.episodes import (
    DEFAULT_MAX_PLIES,
    Opening,
    OptionError,
    as_dict,
    check_arguments,
    is_count,
    opening,
)
from skift_env.game_batch import GameBatch, LearnerSide, Mixture, Openings, Opponent
from skift_env.observation import SHAPES
from skift_env.position import Position
from skift_env.render import FPS, RENDER_MODES, Renderer
from skift_env.rng import seed_words
from skift_env.rules import NUM_ACTIONS
from skift_env.types import AnyArray, BoolArray, Int8Array, Int64Array, ObservationKind

try:
    from gymnasium.vector import AutoresetMode
except ImportError:  # Gymnasium 1.0 knows one mode, NEXT_STEP, and has no name for it
    from enum import Enum

    class AutoresetMode(Enum):  # type: ignore[no-redef]
        """When a finished game starts anew; as in Gymnasium 1.1 and later."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"


__all__ = ["AutoresetMode", "SkiftVectorEnv"]


class SkiftVectorEnv(gymnasium.vector.VectorEnv[AnyArray, AnyArray, AnyArray]):
    """`num_envs` games of Skift, stepped together.

    Without an opponent (self-play), a step is one ply in each game by the side to move: the reward
    belongs to the side that moved, the observation is of the side now to move. With one, a step is
    the learner's ply and the reply. An illegal action ends its game with -1, as in `SkiftEnv`.

    `info["action_mask"]` is (num_envs, 405) int8, that of the observation returned: after an
    autoreset that of the new game, and all zeros where the game is over.

    Seeds: `reset(seed=s)` seeds game i with s + i, and a sequence gives each its own; game i then
    runs the same whatever `num_envs` and `num_threads` are.

    Args:
        num_envs: number of games.
        opponent: None for self-play; else a name such as "greedy", an agent, or a function of a
            position and a NumPy generator, or a `Mixture` of these.
        side: the learner's side against an opponent: "white", "black", or "random", drawn anew for
            each game.
        observation: "tokens" (num_envs, 9, 52) or "planes" (num_envs, 21, 18, 18), int8.
        float32: give observations as flat float32 instead, (num_envs, 468) or (num_envs, 6804).
        max_plies: the ply at which an unfinished game is cut.
        position, random_plies: how every game starts, unless the options of a `reset` say
            otherwise for that reset: a position's text (default: the rulebook's start) and how many
            random plies are played first; each one for all games, or a sequence of `num_envs`.
        autoreset_mode: an `AutoresetMode` or its value. NEXT_STEP: the step after the end ignores
            the action and returns the new game's first observation. SAME_STEP: the step that ends
            a game returns that, and the old game's last in `info["final_obs"]`. DISABLED: a
            finished game waits for `reset(options={"reset_mask": ...})`.
        num_threads: threads over which the games are divided.
        copy: whether each call returns fresh arrays. False writes observations and masks into the
            same arrays each time.
        render_mode: None, "rgb_array" or "ansi": `render` then gives a picture of each game.

    Raises:
        OptionError: a ValueError, for other arguments.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponent | Mixture | None = None,
        side: LearnerSide = "random",
        observation: ObservationKind = "tokens",
        max_plies: int = DEFAULT_MAX_PLIES,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
        *,
        float32: bool = False,
        position: str | Sequence[str] | None = None,
        random_plies: int | Sequence[int] = 0,
        render_mode: str | None = None,
    ) -> None:
        check_arguments(observation, SHAPES, max_plies, render_mode, RENDER_MODES)
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if not is_count(value) or value == 0:
                raise OptionError(f"{name} must be a positive integer, not {value!r}")
        if render_mode == "human":
            raise OptionError("render_mode 'human' shows one game: use skift/Skift-v0")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(mode.name for mode in AutoresetMode)
            raise OptionError(
                f"autoreset_mode must be one of {names}, not {autoreset_mode!r}"
            ) from None
        self.metadata = {
            "render_modes": ["rgb_array", "ansi"],
            "render_fps": FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.num_envs = int(num_envs)
        self.observation_kind = observation
        self.float32 = float32
        self.max_plies = int(max_plies)
        self.copy = copy
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode)
        self.games = GameBatch(self.num_envs, opponent, side, self.max_plies, int(num_threads))
        self.defaults = {"position": position, "random_plies": random_plies}
        self._openings = self._read_openings({})
        shape = SHAPES[observation]
        self.single_observation_space = (
            spaces.Box(0.0, 1.0, (int(np.prod(shape)),), np.float32)
            if float32
            else spaces.Box(0, 1, shape, np.int8)
        )
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._observations: Int8Array = np.empty((self.num_envs, *shape), np.int8)
        self._floats = np.empty(self.observation_space.shape or (), np.float32)
        self._masks: Int8Array = np.empty((self.num_envs, NUM_ACTIONS), np.int8)
        self._begun = False

    def position(self, game: int) -> Position:
        """The position of one game."""
        return Position.from_state(self.games.states[game])

    def one_or_each(self, name: str, value: Any) -> Sequence[Any] | AnyArray:
        """A value for all games as a list of one, or values for each as they are.

        Raises:
            OptionError: naming the option, if there are not as many values as games.
        """
        if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
            return [value]
        if len(value) != self.num_envs:
            raise OptionError(f"option {name} has {len(value)} values for {self.num_envs} games")
        return value

    def _read_openings(self, options: dict[str, Any]) -> Openings:
        """How games start with the options of a reset."""
        asked = self.defaults | options
        texts, plies = (self.one_or_each(name, asked[name]) for name in self.defaults)
        read: dict[str, Opening] = {}
        openings = []
        for game in range(max(len(texts), len(plies))):
            start = {"position": texts[game % len(texts)], "random_plies": plies[game % len(plies)]}
            key = repr(start)
            if key not in read:
                read[key] = opening(asked | start, self.max_plies)
            openings.append(read[key])
        return Openings.of(openings, self.num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[AnyArray, dict[str, Any]]:
        """Start all games, or those of the bool array `options["reset_mask"]` (num_envs,).

        Options `position` and `random_plies` are as for the constructor, for this reset only.

        Raises:
            OptionError: for a wrong option; the games stay as they are.
            PositionError: for a text that is no position; likewise.
            gymnasium.error.Error: for a seed that is no integer >= 0; likewise.
            IllegalActionError: if the opponent plays an illegal action; likewise.
        """
        asked = as_dict(options)
        chosen = self._chosen(asked.pop("reset_mask", None))
        openings = self._read_openings(asked) if asked else self._openings
        self.games.begin(chosen, openings, self._fresh_rngs(seed, chosen))
        self._begun = True
        return self._observe(), self._infos()

    def _chosen(self, reset_mask: Any) -> BoolArray:
        everyone = np.ones(self.num_envs, np.bool_)
        if reset_mask is None:
            return everyone
        mask = np.asarray(reset_mask)
        if mask.dtype != np.bool_ or mask.shape != everyone.shape or not mask.any():
            raise OptionError(
                f"option reset_mask must be a bool array ({self.num_envs},), somewhere True, "
                f"not {reset_mask!r}"
            )
        if not self._begun:
            raise OptionError("option reset_mask: the first reset starts all games")
        return mask.copy()

    def _fresh_rngs(self, seed: int | Sequence[int | None] | None, chosen: BoolArray) -> Int64Array:
        """The generators with which the chosen games start: new ones where there is a seed."""
        given: Any = seed
        if not isinstance(given, Sequence | np.ndarray):
            given = [None if given is None else given + game for game in range(self.num_envs)]
        if len(given) != self.num_envs:
            raise OptionError(f"{len(given)} seeds for {self.num_envs} games")
        seeds = [int(each) if isinstance(each, np.integer) else each for each in given]
        rngs = self.games.rngs.copy()
        for game in np.flatnonzero(chosen):
            if seeds[game] is not None or not self._begun:
                rngs[game] = seed_words(np_random(seeds[game])[0])
        return rngs

    def step(
        self, actions: AnyArray
    ) -> tuple[AnyArray, AnyArray, BoolArray, BoolArray, dict[str, Any]]:
        """Play an action (num_envs,) in each game.

        Raises:
            OptionError: a ValueError, if actions are no integers (num_envs,), before the first
                reset, or, with autoreset DISABLED, if a game is over; the games stay as they are.
            IllegalActionError: if the opponent plays an illegal action; likewise.
        """
        numbers = self._checked(actions)
        games = self.games
        finished = games.over.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and finished.any():
            which = np.flatnonzero(finished).tolist()
            raise OptionError(f"games {which} are over: reset them with the option reset_mask")
        final: dict[str, Any] = {}
        with games.all_or_nothing():
            if finished.any():
                games.begin(finished, self._openings)
            games.play(~finished, numbers)
            rewards = games.rewards.astype(np.float64)
            terminations, truncations = games.terminations.copy(), games.truncations.copy()
            if self.autoreset_mode is AutoresetMode.SAME_STEP and games.over.any():
                over = games.over.copy()
                final = self._final_infos(over)
                games.begin(over, self._openings)
        return self._observe(), rewards, terminations, truncations, self._infos() | final

    def _checked(self, actions: AnyArray) -> Any:
        if not self._begun:
            raise OptionError("step before the first reset")
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or not np.issubdtype(numbers.dtype, np.integer):
            raise OptionError(
                f"actions must be integers ({self.num_envs},), not {numbers.dtype} {numbers.shape}"
            )
        return np.ascontiguousarray(numbers, np.int64)

    def _observe(self) -> AnyArray:
        if self.copy:
            self._masks = np.empty_like(self._masks)
            if not self.float32:
                self._observations = np.empty_like(self._observations)
        self.games.observe(self.observation_kind, self._observations, self._masks)
        if not self.float32:
            return self._observations
        if self.copy:
            self._floats = np.empty_like(self._floats)
        self._floats[:] = self._observations.reshape(self._floats.shape)
        return self._floats

    def _infos(self) -> dict[str, Any]:
        return {"action_mask": self._masks, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _final_infos(self, finished: BoolArray) -> dict[str, Any]:
        """The last observations of finished games, in the form of Gymnasium's vector infos."""
        games = np.flatnonzero(finished)
        last = np.empty((len(games), *self._observations.shape[1:]), np.int8)
        self.games.observe_some(self.observation_kind, games, last)
        final = np.full(self.num_envs, None, dtype=object)
        for game, observation in zip(games, last, strict=True):
            final[game] = (
                observation.reshape(-1).astype(np.float32) if self.float32 else observation.copy()
            )
        masks = {
            "action_mask": np.zeros((self.num_envs, NUM_ACTIONS), np.int8),
            "_action_mask": finished,
        }
        return {
            "final_obs": final,
            "_final_obs": finished.copy(),
            "final_info": masks,
            "_final_info": finished.copy(),
        }

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each game: (720, 640, 3) uint8, or text, by render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying a render mode.")
            return None
        return tuple(self._renderer.render(state) for state in self.games.states)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        if hasattr(self, "games"):  # before Gymnasium 1.3 also what the constructor refused closes
            self.games.close()
