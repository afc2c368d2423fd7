"""The PettingZoo (AEC) environment `skift_v0`: two agents, a masked Discrete(405) action.

Version history:

- v0: first version.
"""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from skift_env import rules
from skift_env.episodes import DEFAULT_MAX_PLIES, check_arguments, opening, reward
from skift_env.observation import SHAPES, write_planes, write_tokens
from skift_env.position import IllegalActionError, Position, checked_action
from skift_env.render import FPS, RENDER_MODES, Renderer
from skift_env.rng import seed_words
from skift_env.rules import NUM_ACTIONS, ONGOING
from skift_env.types import Int8Array, Int64Array, ObservationKind

AGENTS: Final = ("player_0", "player_1")
_SIDES: Final = {agent: side for side, agent in enumerate(AGENTS)}
_WRITERS: Final = {"planes": write_planes, "tokens": write_tokens}

Observation = dict[str, Int8Array]


def env(**kwargs: Any) -> AECEnv:
    """The environment in PettingZoo's standard wrappers; arguments as for `raw_env`.

    An illegal action ends the game: -1 for who played it, 0 for the other.
    """
    wrapped = _TerminateIllegalWrapper(raw_env(**kwargs), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class _TerminateIllegalWrapper(wrappers.TerminateIllegalWrapper):
    """PettingZoo's, but for a fault of 1.24: there an illegal action leaves it an `agent_selection`
    of its own, which hides the environment's in all later games."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self.__dict__.pop("agent_selection", None)


class raw_env(AECEnv):
    """Skift for two agents: `player_0` is white and moves first, `player_1` is black.

    Observations are `{"observation": planes (21, 18, 18) or tokens (9, 52),
    "action_mask": (405,)}`, int8 in {0, 1}, from the agent's own view; the mask of an
    agent not to move is all zeros.
    The winner gets 1, the loser -1, a draw 0 each. Both agents end in the same step. After
    `max_plies` plies in all an unfinished game is truncated, with 0 each.

    `reset` takes the options `position` (a position's text) and `random_plies` (so many random
    legal plies first, from the environment's own generator).

    Args:
        render_mode: None, "human" (a window), "rgb_array" or "ansi".
        observation: "planes" or "tokens".
        max_plies: the ply at which an unfinished game is cut; plies of an option `position` count.

    Raises:
        OptionError: a ValueError, for other arguments.
    """

    metadata = {
        "render_modes": list(RENDER_MODES),
        "name": "skift_v0",
        "is_parallelizable": False,
        "render_fps": FPS,
    }

    def __init__(
        self,
        render_mode: str | None = None,
        observation: ObservationKind = "planes",
        max_plies: int = DEFAULT_MAX_PLIES,
    ) -> None:
        super().__init__()
        check_arguments(observation, SHAPES, max_plies, render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.observation_kind = observation
        self.max_plies = int(max_plies)
        self.renderer = Renderer(render_mode)
        self._shape = SHAPES[observation]
        self.possible_agents = list(AGENTS)
        self.observation_spaces = {agent: self._observation_space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in AGENTS}
        self._rng = _generator(None)

    def _observation_space(self) -> spaces.Dict:
        return spaces.Dict(
            {
                "observation": spaces.Box(0, 1, self._shape, np.int8),
                "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same space object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The same space object at every call."""
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The current position, with `outcome` when the game is over."""
        return Position.from_state(self._state)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game; without a seed the generator goes on from where it is.

        Raises:
            OptionError: for a wrong option; the game in progress stays as it is.
            PositionError: if the option `position` is no position; likewise.
        """
        start = opening(options, self.max_plies)
        rng = self._rng.copy() if seed is None else _generator(seed)
        self._state = start.draw(rng)
        self._rng = rng
        self.renderer.start()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = AGENTS[self._state[rules.SIDE]]
        if self.render_mode == "human":
            self.render()

    def _over(self) -> bool:
        """Whether the game is over, also by an illegal action in the wrapped environment."""
        agents = self.agents  # all end together, then leave one by one
        return not agents or self.terminations[agents[0]] or self.truncations[agents[0]]

    def observe(self, agent: str) -> Observation:
        """What an agent sees, at any time after `reset`, in fresh arrays."""
        side = _SIDES[agent]
        observation = np.empty(self._shape, np.int8)
        _WRITERS[self.observation_kind](self._state, side, observation)
        if self._over() or self._state[rules.SIDE] != side:
            return {"observation": observation, "action_mask": np.zeros(NUM_ACTIONS, np.int8)}
        mask = np.empty(NUM_ACTIONS, np.int8)
        rules.legal_mask(self._state, mask)
        return {"observation": observation, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play an action for `agent_selection`, or None for an agent that is done.

        Raises:
            IllegalActionError: a ValueError; the game stays as it is. (In the wrapped environment
                an illegal action ends the game instead.)
        """
        if not self.agents:
            raise IllegalActionError("the game is over and both agents have left it: call reset")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = checked_action(self._state, action)
        self.renderer.remember(self._state, number)
        rules.play_unchecked(self._state, number)
        result = rules.outcome(self._state)
        terminated = result != ONGOING
        truncated = not terminated and bool(self._state[rules.PLY] >= self.max_plies)
        self._cumulative_rewards[agent] = 0
        for side, name in enumerate(AGENTS):
            self.rewards[name] = reward(result, side)
            self.terminations[name] = terminated
            self.truncations[name] = truncated
        self._accumulate_rewards()
        self.agent_selection = AGENTS[self._state[rules.SIDE]]
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """None, the board as (720, 640, 3) uint8, or as text, by render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying a render mode.")
            return None
        return self.renderer.render(self._state)

    def close(self) -> None:
        """Close the window if there is one."""
        self.renderer.close()


def _generator(seed: int | None) -> Int64Array:
    return seed_words(np_random(seed)[0])
