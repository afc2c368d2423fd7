"""The Gymnasium environment `skift/Skift-v0`: one learner against an opponent.

Version history:

- v0: first version.
"""

from __future__ import annotations

import operator
from typing import Any, Final, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random

from skift_env import rules
from skift_env.episodes import DEFAULT_MAX_PLIES, OptionError, as_dict, check_arguments, opening
from skift_env.game_batch import GameBatch, LearnerSide, Openings, Opponent, as_agent
from skift_env.observation import PLANES_SHAPE, SHAPES, TOKENS_SHAPE
from skift_env.position import SIDES, Position
from skift_env.render import FPS, RENDER_MODES, Renderer
from skift_env.rng import seed_words
from skift_env.rules import NUM_ACTIONS, PLY
from skift_env.types import BoolArray, Int8Array, Int64Array, ObservationKind, Side

GymObservation: TypeAlias = Literal["tokens", "planes", "dict"]
KINDS: Final = ("tokens", "planes", "dict")

_ONE: Final = np.ones(1, np.bool_)


class SkiftEnv(gymnasium.Env[Any, Any]):
    """Skift against an opponent; a step is the learner's ply and the reply.

    The reward is 1 for a win, -1 for a loss, else 0. An illegal action ends the game with -1. After
    `max_plies` plies in all an unfinished game is truncated. `info["action_mask"]`, (405,) int8,
    and `action_masks()`, (405,) bool, tell the legal actions.

    `reset` takes the options `position` and `random_plies`, for that episode instead of the
    constructor's.

    Args:
        opponent: a name such as "greedy", an agent, or a function of a position and a NumPy
            generator that returns an action.
        side: the learner's side: "white", "black", or "random", drawn anew for each episode.
        observation: "tokens", flat float32 (468,); "planes", int8 (21, 18, 18); or "dict", the
            tokens as `observation` beside the `action_mask`.
        max_plies: the ply at which an unfinished game is cut; plies of `position` count.
        position: the text of the position from which episodes start; None for the rulebook's.
        random_plies: how many random plies are played first.
        render_mode: None, "human" (a window), "rgb_array" or "ansi".

    Raises:
        OptionError: a ValueError, for other arguments.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FPS}

    def __init__(
        self,
        opponent: Opponent = "random",
        side: LearnerSide = "random",
        observation: GymObservation = "tokens",
        max_plies: int = DEFAULT_MAX_PLIES,
        *,
        position: str | None = None,
        random_plies: int = 0,
        render_mode: str | None = None,
    ) -> None:
        check_arguments(observation, KINDS, max_plies, render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.observation_kind = observation
        self.max_plies = int(max_plies)
        self._defaults = {"position": position, "random_plies": random_plies}
        opening(self._defaults, self.max_plies)
        self.games = GameBatch(1, as_agent(opponent), side, self.max_plies)
        self.renderer = Renderer(render_mode)
        tokens = spaces.Box(0.0, 1.0, (int(np.prod(TOKENS_SHAPE)),), np.float32)
        mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        by_kind: dict[str, spaces.Space[Any]] = {
            "tokens": tokens,
            "planes": spaces.Box(0, 1, PLANES_SHAPE, np.int8),
            "dict": spaces.Dict({"observation": tokens, "action_mask": mask}),
        }
        self.observation_space = by_kind[observation]
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self._begun = False

    @property
    def position(self) -> Position:
        """The current position, with `outcome` when the game is over."""
        return Position.from_state(self.games.states[0])

    @property
    def learner(self) -> Side:
        """The learner's side in this episode."""
        return SIDES[self.games.learners[0]]

    def action_masks(self) -> BoolArray:
        """(405,) bool: the legal actions; all False when the episode is over."""
        return self._mask().astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; an opponent that moves first has then moved.

        Raises:
            OptionError: for a wrong option; the episode in progress stays as it is.
            PositionError: if the option `position` is no position; likewise.
            IllegalActionError: if the opponent plays an illegal action; likewise.
        """
        start = opening(self._defaults | as_dict(options), self.max_plies)
        rngs = None
        if seed is not None or not self._begun:
            generator = self.np_random if seed is None else np_random(seed)[0]
            rngs = seed_words(generator)[None]
        self.games.begin(_ONE, Openings.of([start], 1), rngs)
        super().reset(seed=seed)
        self._begun = True
        self.renderer.start()
        self._show()
        return self._observe()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action and the opponent's reply.

        Raises:
            OptionError: a ValueError, if the action is no integer, or the episode is over.
            IllegalActionError: if the opponent plays an illegal action; the episode stays as it is.
        """
        if not self._begun or self.games.over[0]:
            raise OptionError("step in an episode that is over: call reset")
        try:
            if isinstance(action, bool | np.bool_):
                raise TypeError
            number = operator.index(action)
        except TypeError:
            raise OptionError(f"an action must be an integer, not {action!r}") from None
        games = self.games
        middle = games.states[0].copy()
        number = number if 0 <= number < NUM_ACTIONS else -1
        with games.all_or_nothing():
            games.play(_ONE, np.array([number], np.int64))
        if self.render_mode is not None and games.states[0, PLY] > middle[PLY]:
            self.renderer.remember(middle, number)
            if games.states[0, PLY] > middle[PLY] + 1:
                rules.play_unchecked(middle, number)
                self._show(middle)
                self.renderer.remember(middle, int(games.replies[0]))
        self._show()
        observation, info = self._observe()
        reward = float(games.rewards[0])
        return observation, reward, bool(games.terminations[0]), bool(games.truncations[0]), info

    def _mask(self) -> Int8Array:
        mask = np.zeros(NUM_ACTIONS, np.int8)
        if self._begun and not self.games.over[0]:
            rules.legal_mask(self.games.states[0], mask)
        return mask

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        kind: ObservationKind = "planes" if self.observation_kind == "planes" else "tokens"
        batch = np.empty((1, *SHAPES[kind]), np.int8)
        self.games.observe(kind, batch)
        info = {"action_mask": self._mask()}
        if kind == "planes":
            return batch[0].copy(), info
        tokens = batch.reshape(-1).astype(np.float32)
        if self.observation_kind == "dict":
            return {"observation": tokens, "action_mask": self._mask()}, info
        return tokens, info

    def _show(self, state: Int64Array | None = None) -> None:
        if self.render_mode == "human":
            self.renderer.render(self.games.states[0] if state is None else state)

    def render(self) -> Any:
        """None, the board as (720, 640, 3) uint8, or as text, by render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying a render mode.")
            return None
        return self.renderer.render(self.games.states[0])

    def close(self) -> None:
        """Close the window if there is one."""
        self.renderer.close()
