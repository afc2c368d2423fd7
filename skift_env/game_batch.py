"""Many games side by side, with or without an opponent: what both Gymnasium environments run on.

A game's next moves depend on its own row and generator only, never on how many games there are or
how many threads play them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.agents.agent import Agent, BatchAgent, KernelAgent
from skift_env.episodes import MAX_OPENING_TRIES, Opening, OptionError, open_randomly, reward
from skift_env.observation import write_planes, write_tokens
from skift_env.playouts import random_action
from skift_env.position import SIDES, Position, checked_action
from skift_env.rng import RNG_SIZE, below, next_word
from skift_env.rules import NUM_ACTIONS, ONGOING, PLY, SIDE, STATE_SIZE
from skift_env.types import AnyArray, BoolArray, Int8Array, Int64Array, ObservationKind

LearnerSide: TypeAlias = Literal["white", "black", "random"]
Opponent: TypeAlias = str | Agent | Callable[[Position, np.random.Generator], int]

BOTH: Final = -1
"""The learner's side where the learner plays both."""


@kernel
def _begin(
    starts: Int64Array,
    states: Int64Array,
    rngs: Int64Array,
    learners: Int64Array,
    chosen: BoolArray,
    start: Int64Array,
    random_plies: Int64Array,
    draw_side: bool,
) -> int:
    """Open the chosen games; return the first whose random plies always end it, or -1."""
    for game in range(len(states)):
        if chosen[game]:
            if draw_side:
                learners[game] = below(rngs[game], 2)
            if not open_randomly(
                starts[start[game]],
                states[game],
                rngs[game],
                random_plies[game],
                MAX_OPENING_TRIES,
            ):
                return game
    return -1


@kernel
def _may_play(state: Int64Array, action: int) -> bool:
    """Whether any integer is the number of a legal action."""
    return 0 <= action < NUM_ACTIONS and rules.is_legal(state, action)


@kernel
def _play(
    states: Int64Array,
    actions: Int64Array,
    chosen: BoolArray,
    rewards: Int8Array,
    terminations: BoolArray,
    truncations: BoolArray,
    max_plies: int,
) -> None:
    """Play one ply in the chosen games; rewards are the mover's, -1 for an illegal action."""
    for game in range(len(states)):
        if not chosen[game]:
            continue
        state = states[game]
        action = actions[game]
        if not _may_play(state, action):
            rewards[game] = -1
            terminations[game] = True
            continue
        mover = state[SIDE]
        rules.play_unchecked(state, action)
        result = rules.outcome(state)
        rewards[game] = reward(result, mover)
        terminations[game] = result != ONGOING
        truncations[game] = result == ONGOING and state[PLY] >= max_plies


@kernel
def _first_illegal(states: Int64Array, actions: Int64Array, chosen: BoolArray) -> int:
    """The first of the chosen games in which its action is illegal, or -1."""
    for game in range(len(states)):
        if chosen[game] and not _may_play(states[game], actions[game]):
            return game
    return -1


@kernel
def _play_randomly(
    states: Int64Array,
    rngs: Int64Array,
    chosen: BoolArray,
    actions: Int64Array,
    rewards: Int8Array,
    terminations: BoolArray,
    truncations: BoolArray,
    max_plies: int,
) -> None:
    """The same with a uniformly random legal action, which is written into `actions`."""
    scratch = np.empty(NUM_ACTIONS, np.int64)
    for game in range(len(states)):
        if chosen[game]:
            state = states[game]
            mover = state[SIDE]
            actions[game] = random_action(state, rngs[game], scratch)
            rules.play_unchecked(state, actions[game])
            result = rules.outcome(state)
            rewards[game] = reward(result, mover)
            terminations[game] = result != ONGOING
            truncations[game] = result == ONGOING and state[PLY] >= max_plies


@kernel
def _viewer(state: Int64Array, learner: int) -> int:
    return state[SIDE] if learner == BOTH else learner


@kernel
def _write_all_planes(states: Int64Array, learners: Int64Array, planes: Int8Array) -> None:
    for game in range(len(states)):
        write_planes(states[game], _viewer(states[game], learners[game]), planes[game])


@kernel
def _write_all_tokens(states: Int64Array, learners: Int64Array, tokens: Int8Array) -> None:
    for game in range(len(states)):
        write_tokens(states[game], _viewer(states[game], learners[game]), tokens[game])


@kernel
def _write_all_masks(states: Int64Array, over: BoolArray, masks: Int8Array) -> None:
    for game in range(len(states)):
        if over[game]:
            masks[game] = 0
        else:
            rules.legal_mask(states[game], masks[game])


@kernel
def _seed_words(rng: Int64Array) -> Int64Array:
    words = np.empty(RNG_SIZE, np.int64)
    for place in range(RNG_SIZE):
        words[place] = next_word(rng)
    return words


def numpy_generator(rng: Int64Array) -> np.random.Generator:
    """A NumPy generator seeded by a game's own, which it advances."""
    return np.random.default_rng(_seed_words(rng))


@dataclass
class CallableAgent:
    """An agent made of a function of a position and a generator."""

    function: Callable[[Position, np.random.Generator], int]

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", repr(self.function))

    def act(self, position: Position, rng: np.random.Generator) -> int:
        """What the function says."""
        return self.function(position, rng)


class Mixture:
    """Several opponents; each game draws one by weight when it begins and keeps it to its end.

    Between calls of the environment, members may be replaced and weights set; a game that is under
    way goes on with whoever is then at its member's place.

    Attributes:
        members: the agents.
        weights: (len(members),) float64, not negative, not all zero.
    """

    def __init__(self, members: Sequence[Opponent], weights: Sequence[float]) -> None:
        self.members = [as_agent(member) for member in members]
        self.weights = np.array(weights, np.float64)
        if self.weights.shape != (len(self.members),) or not (self.weights >= 0).all():
            raise OptionError(f"{len(self.members)} opponents need as many weights >= 0: {weights}")
        if not self.weights.sum() > 0:
            raise OptionError("the weights of the opponents must not all be zero")

    def draw(self, rng: Int64Array) -> int:
        """The place of a member, drawn by weight with a game's generator."""
        share = next_word(rng) / 2**32 * self.weights.sum()
        return int(np.searchsorted(np.cumsum(self.weights), share, side="right"))


def as_agent(opponent: Opponent) -> Agent:
    """The agent that a specification, an agent or a function of position and generator stands for.

    Raises:
        ValueError: for anything else, or a specification that names no agent.
    """
    if isinstance(opponent, str):
        from skift_env.agents import make

        agent: Agent = make(opponent)
        return agent
    if not isinstance(opponent, type):  # a class has its instances' methods, but plays no game
        if isinstance(opponent, Agent):
            return opponent
        if callable(opponent):
            return CallableAgent(opponent)
    raise OptionError(f"opponent must be a name, an agent or a function, not {opponent!r}")


def _ask_batch(
    agent: BatchAgent,
    states: Int64Array,
    rngs: Int64Array,
    waiting: BoolArray,
    actions: Int64Array,
) -> None:
    """Write the actions of an agent that plays in batch in the games that wait for it."""
    games = np.flatnonzero(waiting)
    if len(games):
        drawn = rngs[games]
        actions[games] = agent.act_batch(states[games], drawn)
        rngs[games] = drawn


@dataclass(frozen=True)
class Openings:
    """From where each of many games starts: `starts[start[game]]`, then its `random_plies`.

    Attributes:
        starts: (number of different starts, STATE_SIZE) int64.
        start, random_plies: (num_games,) int64.
    """

    starts: Int64Array
    start: Int64Array
    random_plies: Int64Array

    @classmethod
    def of(cls, openings: Sequence[Opening], num_games: int) -> Openings:
        """From one opening for all games or one for each."""
        rows: dict[bytes, int] = {}
        start = [rows.setdefault(opening.start.tobytes(), len(rows)) for opening in openings]
        starts = np.frombuffer(b"".join(rows), np.int64).reshape(len(rows), STATE_SIZE).copy()
        plies = [opening.random_plies for opening in openings]
        each = (np.broadcast_to(np.array(column, np.int64), num_games) for column in (start, plies))
        return cls(starts, *(np.ascontiguousarray(column) for column in each))


class GameBatch:
    """The games of an environment.

    Attributes:
        states: (num_games, STATE_SIZE) int64 rows of `skift_env.rules`.
        rngs: (num_games, RNG_SIZE) int64, each game's generator.
        learners: (num_games,) int64, the learner's side, BOTH without an opponent.
        over: (num_games,) bool, whether a game has ended or was cut.
        rewards, terminations, truncations: (num_games,), the learner's, of the last `play`.
        members: (num_games,) int16, which of the opponents plays each game.
        replies: (num_games,) int64, the opponent's last action in each game.
    """

    def __init__(
        self,
        num_games: int,
        opponent: Opponent | Mixture | None,
        side: LearnerSide,
        max_plies: int,
        num_threads: int = 1,
    ) -> None:
        if side not in (*SIDES, "random"):
            raise OptionError(f"side must be 'white', 'black' or 'random', not {side!r}")
        self.opponents: Mixture | None = None
        if isinstance(opponent, Mixture):
            self.opponents = opponent
        elif opponent is not None:
            self.opponents = Mixture([opponent], [1.0])
        self.max_plies = max_plies
        self.num_threads = num_threads
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        self.draw_side = self.opponents is not None and side == "random"
        learner = SIDES.index(side) if self.opponents is not None and side != "random" else BOTH
        self.states = np.zeros((num_games, STATE_SIZE), np.int64)
        self.rngs = np.ones((num_games, RNG_SIZE), np.int64)
        self.learners = np.full(num_games, learner, np.int64)
        self.over = np.zeros(num_games, np.bool_)
        self.rewards = np.zeros(num_games, np.int8)
        self.members = np.zeros(num_games, np.int16)
        self.replies = np.zeros(num_games, np.int64)
        self.terminations = np.zeros(num_games, np.bool_)
        self.truncations = np.zeros(num_games, np.bool_)

    @contextmanager
    def all_or_nothing(self, chosen: BoolArray | None = None) -> Iterator[None]:
        """Put the chosen games back as they were if what is done to them fails.

        By default all games, if an opponent is code that may fail.
        """
        if chosen is None and all(isinstance(agent, KernelAgent) for agent in self._agents()):
            yield
            return
        games = slice(None) if chosen is None else chosen
        arrays: tuple[AnyArray, ...] = (
            self.states,
            self.rngs,
            self.learners,
            self.over,
            self.members,
        )
        before = [array[games].copy() for array in arrays]
        try:
            yield
        except BaseException:
            for array, rows in zip(arrays, before, strict=True):
                array[games] = rows
            raise

    def begin(self, chosen: BoolArray, openings: Openings, rngs: Int64Array | None = None) -> None:
        """Start the chosen games (num_games,); an opponent that moves first has then moved.

        They go on with their generators, or with those in `rngs`, (num_games, RNG_SIZE).

        Raises:
            OptionError: if an opening always ends the game before the learner's first ply.
            IllegalActionError: if the opponent plays an illegal action. The games stay as they were
                in either case.
        """
        with self.all_or_nothing(chosen):
            if rngs is not None:
                self.rngs[chosen] = rngs[chosen]
            self._open(chosen, openings)

    def _open(self, chosen: BoolArray, openings: Openings) -> None:
        begin = partial(_begin, openings.starts)
        waiting = chosen.copy()
        for _ in range(MAX_OPENING_TRIES):
            if not waiting.any():
                return
            stuck = self._on_slices(
                begin, self.states, self.rngs, self.learners, waiting, openings.start,
                openings.random_plies, self.draw_side,
            )  # fmt: skip
            if max(stuck) >= 0:
                break
            self.over[waiting] = False
            if self.opponents is not None and len(self.opponents.members) > 1:
                for game in np.flatnonzero(waiting):
                    self.members[game] = self.opponents.draw(self.rngs[game])
            self._reply(waiting)
            waiting &= self.over
            self._clear(chosen)
        raise OptionError(
            "random plies or the opponent's first ply ended the game before the learner's first, "
            f"{MAX_OPENING_TRIES} times in a row"
        )

    def play(self, chosen: BoolArray, actions: Int64Array) -> None:
        """Play the learner's actions (num_games,) in the chosen games, and the opponent's replies.

        An illegal action ends its game, with -1 for the learner.

        Raises:
            IllegalActionError: if the opponent plays one: see `all_or_nothing`.
        """
        self._clear(chosen)
        self._on_slices(
            _play, self.states, actions, chosen, self.rewards, self.terminations, self.truncations,
            self.max_plies,
        )  # fmt: skip
        np.logical_or(self.terminations, self.truncations, out=self.over, where=chosen)
        self._reply(chosen)

    def _clear(self, chosen: BoolArray) -> None:
        self.rewards[chosen] = 0
        self.terminations[chosen] = False
        self.truncations[chosen] = False

    def _agents(self) -> list[Agent]:
        return [] if self.opponents is None else self.opponents.members

    def _reply(self, chosen: BoolArray) -> None:
        """Let the opponents move in those of the chosen games in which they are to move."""
        if self.opponents is None:
            return
        waiting = chosen & ~self.over & (self.states[:, SIDE] != self.learners)
        results = self.rewards, self.terminations, self.truncations
        asked = waiting.copy()
        for member, agent in enumerate(self._agents()):
            games = waiting & (self.members == member)
            if isinstance(agent, KernelAgent) and agent.name == RANDOM:
                self._on_slices(
                    _play_randomly, self.states, self.rngs, games, self.replies, *results,
                    self.max_plies,
                )  # fmt: skip
                asked &= ~games
            elif games.any():
                self._ask(agent, games)
        self._on_slices(_play, self.states, self.replies, asked, *results, self.max_plies)
        np.negative(self.rewards, out=self.rewards, where=waiting)
        np.logical_or(self.terminations, self.truncations, out=self.over, where=waiting)

    def _ask(self, agent: Agent, waiting: BoolArray) -> None:
        """Write an opponent's replies in some games."""
        if isinstance(agent, KernelAgent):
            ask = partial(_ask_batch, agent)
            self._on_slices(ask, self.states, self.rngs, waiting, self.replies)
            return
        if isinstance(agent, BatchAgent):
            _ask_batch(agent, self.states, self.rngs, waiting, self.replies)
            wrong = _first_illegal(self.states, self.replies, waiting)
            if wrong >= 0:
                checked_action(self.states[wrong], self.replies[wrong])  # says what is wrong
            return
        for game in np.flatnonzero(waiting):
            position = Position.from_state(self.states[game])
            answer = agent.act(position, numpy_generator(self.rngs[game]))
            self.replies[game] = checked_action(self.states[game], answer)

    def observe(
        self, kind: ObservationKind, observations: Int8Array, masks: Int8Array | None = None
    ) -> None:
        """Write what the learners see, (num_games, …) int8, and the masks (num_games, 405) int8.

        Without an opponent it is the view of the side to move. Masks of games that are over are
        all zeros.
        """
        write = _write_all_planes if kind == "planes" else _write_all_tokens
        self._on_slices(write, self.states, self.learners, observations)
        if masks is not None:
            self._on_slices(_write_all_masks, self.states, self.over, masks)

    def observe_some(self, kind: ObservationKind, games: AnyArray, observations: Int8Array) -> None:
        """Write what the learners of some games, given by index, see: (len(games), …) int8."""
        write = _write_all_planes if kind == "planes" else _write_all_tokens
        write(self.states[games], self.learners[games], observations)

    # --- Threads ---

    def _on_slices(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on slices of the arrays among its arguments, a slice for each thread."""
        num_games = len(self.states)
        threads = min(self.num_threads, num_games)
        if threads == 1:
            return [function(*arguments)]
        bounds = [num_games * thread // threads for thread in range(threads + 1)]
        calls = [
            self._threads().submit(
                function,
                *(
                    argument[low:high] if isinstance(argument, np.ndarray) else argument
                    for argument in arguments
                ),
            )
            for low, high in pairwise(bounds)
        ]
        wait(calls)  # if one fails, none of the others still writes when its error is handled
        return [call.result() for call in calls]

    def _threads(self) -> ThreadPoolExecutor:
        """The threads of this process: a fork has none of its parent's."""
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self.num_threads, "skift")
        return self._pool[1]

    def close(self) -> None:
        """End the threads, if there are any; the next call starts new ones."""
        if self._pool is not None:
            self._pool[1].shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}


RANDOM: Final = "random-v1"
"""The one opponent that plays inside the kernel."""
