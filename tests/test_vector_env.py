"""The vector environment is many games that do not know of each other."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import Error as GymnasiumError
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from opponents import (
    DUPLICATES,
    ENDS,
    SHORT_GAMES,
    CheatsFrom,
    CheatsInBatchFrom,
    FirstInKernel,
    Last,
    RandomInBatch,
    arrays,
    binomial_tail,
    draw_legal,
    drawn_legal,
    first_legal,
    illegal_action,
    same,
)

import skift_env
from skift_env import SkiftVectorEnv, agents, render
from skift_env._jit import JIT_ENABLED
from skift_env.episodes import OptionError
from skift_env.game_batch import Mixture
from skift_env.gymnasium_env import SkiftEnv
from skift_env.position import IllegalActionError, Position, PositionError
from skift_env.vector_env import AutoresetMode

NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode
BY_MODE = pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
BY_FORM = pytest.mark.parametrize(
    ("kind", "float32"), list(itertools.product(("tokens", "planes"), (False, True))), ids=str
)
GYMNASIUM = tuple(int(number) for number in gymnasium.__version__.split(".")[:2])
ID = "skift/Skift-v0"
COUNT = len(SHORT_GAMES)
MAX_PLIES = 23
STEPS = 40 if JIT_ENABLED else 12


def in_form(array: np.ndarray, kind: str, float32: bool, *batch: int) -> np.ndarray:
    """One or many observations in the form in which a vector environment gives them."""
    if float32:
        return array.reshape(*batch, -1).astype(np.float32)
    shape = {"tokens": (9, 52), "planes": (21, 18, 18)}[kind]
    return array.reshape(*batch, *shape).astype(np.int8)


def choose(
    masks: np.ndarray, generators: Sequence[np.random.Generator], illegal: float = 0.0
) -> np.ndarray:
    """A legal action for each game, by its own generator; now and then an illegal one."""
    actions = [draw_legal(*pair) for pair in zip(masks, generators, strict=True)]
    for game, generator in enumerate(generators):
        if generator.random() < illegal:
            actions[game] = int(np.flatnonzero(masks[game] == 0)[-1])
    return np.array(actions)


def generators(count: int, seed: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng([seed, game]) for game in range(count)]


def run(env: Any, steps: int, seed: int | None = 5, illegal: float = 0.02) -> list[Any]:
    """What a vector environment tells when it is reset, if there is a seed, and plays on."""

    def keep(result: Any) -> Any:
        results.append(copy.deepcopy(result))
        return result[-1]["action_mask"]

    results: list[Any] = []
    masks = np.stack([env.position(game).action_mask for game in range(env.num_envs)])
    if seed is not None:
        masks = keep(env.reset(seed=seed))
    players = generators(env.num_envs, seed or 0)
    for _ in range(steps):
        masks = keep(env.step(choose(masks, players, illegal)))
        done = results[-1][2] | results[-1][3]
        if done.any() and env.metadata["autoreset_mode"] is DISABLED:
            masks = keep(env.reset(options={"reset_mask": done}))
    return results


# Each row is a game of the scalar environment


class Scalars:
    """What a vector environment must be: Gymnasium's autoreset modes over scalar environments."""

    def __init__(self, envs: Sequence[SkiftEnv], mode: AutoresetMode) -> None:
        self.envs, self.mode = envs, mode
        self.rows: list[Any] = [None] * len(envs)
        self.over = np.zeros(len(envs), bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        mask = (options or {}).get("reset_mask", np.ones(len(self.envs), bool))
        for game in np.flatnonzero(mask).tolist():
            self.rows[game] = self.envs[game].reset(seed=None if seed is None else seed + game)
        self.over[mask] = False
        return self.told({})

    def told(self, final: dict[str, Any]) -> Any:
        observations, infos = zip(*self.rows, strict=True)
        masks = np.stack([info["action_mask"] for info in infos])
        info = {"action_mask": masks, "_action_mask": np.ones(len(masks), bool)}
        return np.stack(observations), info | final

    def step(self, actions: np.ndarray) -> Any:
        count = len(self.envs)
        rewards, ended, cut = np.zeros(count), np.zeros(count, bool), np.zeros(count, bool)
        lasts = np.full(count, None, dtype=object)
        for game, env in enumerate(self.envs):
            if self.over[game]:
                self.rows[game] = env.reset()
                continue
            observation, rewards[game], ended[game], cut[game], info = env.step(actions[game])
            self.rows[game] = observation, info
            if self.mode is SAME_STEP and (ended[game] or cut[game]):
                lasts[game] = observation
                self.rows[game] = env.reset()
        done = ended | cut
        self.over = done & (self.mode is not SAME_STEP)
        final: dict[str, Any] = {}
        if self.mode is SAME_STEP and done.any():
            masks = {"action_mask": np.zeros((count, 405), np.int8), "_action_mask": done}
            final = {"final_obs": lasts, "_final_obs": done}
            final |= {"final_info": masks, "_final_info": done}
        observations, info = self.told(final)
        return observations, rewards, ended, cut, info


def by_hand(makers: list[Callable[[], SkiftEnv]], mode: AutoresetMode) -> Scalars:
    return Scalars([make() for make in makers], mode)


def by_gymnasium(makers: list[Callable[[], SkiftEnv]], mode: AutoresetMode) -> Any:
    if GYMNASIUM >= (1, 1):
        return SyncVectorEnv(makers, autoreset_mode=mode)
    if mode is not NEXT_STEP:
        pytest.skip("Gymnasium 1.0 has no autoreset modes")
    return SyncVectorEnv(makers)


@BY_MODE
@pytest.mark.parametrize("reference", [by_hand, by_gymnasium])
@pytest.mark.parametrize(
    ("opponent", "kind", "float32", "threads"),
    [
        ("random", "tokens", False, 1),
        ("random", "tokens", True, 2),
        ("random", "planes", False, 2),
        (drawn_legal, "planes", True, 1),
        (first_legal, "tokens", False, 2),
        (Last(), "tokens", False, 1),
        (FirstInKernel(), "planes", False, 2),
        (RandomInBatch(), "tokens", True, 2),
        ("greedy", "tokens", False, 2),
    ],
)
def test_row_i_is_the_scalar_environment_i(
    mode: AutoresetMode,
    reference: Callable[..., Any],
    opponent: Any,
    kind: str,
    float32: bool,
    threads: int,
) -> None:
    env = SkiftVectorEnv(
        COUNT, opponent, "random", kind, MAX_PLIES, mode, threads,
        float32=float32, position=SHORT_GAMES,
    )  # fmt: skip
    scalars = reference(
        [
            partial(SkiftEnv, opponent, "random", kind, MAX_PLIES, position=text)
            for text in SHORT_GAMES
        ],
        mode,
    )

    def compare(result: Any, expected: Any, rows: Any = slice(None)) -> None:
        """Compare all; of the infos of a partial reset only what Gymnasium tells."""
        observations, *flags, info = expected
        assert env.observation_space.contains(result[0])
        assert same(result[0], in_form(observations, kind, float32, COUNT))
        assert same(list(result[1:-1]), flags)
        info, told = dict(info), dict(result[-1])
        assert told.keys() == info.keys()
        if "final_obs" in info:
            for last, expected_last in zip(
                told.pop("final_obs"), info.pop("final_obs"), strict=True
            ):
                if expected_last is None:
                    assert last is None
                else:
                    assert env.single_observation_space.contains(last)
                    assert same(last, in_form(expected_last, kind, float32))
        for name in ("action_mask", "_action_mask"):
            assert same(told.pop(name)[rows], info.pop(name)[rows])
        assert same(told, info)

    result = env.reset(seed=3)
    compare(result, scalars.reset(seed=3))
    players = generators(COUNT)
    seen = set()
    for _ in range(STEPS):
        actions = choose(result[-1]["action_mask"], players, illegal=0.02)
        result = env.step(actions)
        compare(result, scalars.step(actions))
        seen |= set(zip(*(flags.tolist() for flags in result[1:4]), strict=True))
        done = result[2] | result[3]
        if mode is DISABLED and done.any():
            result = env.reset(options={"reset_mask": done})
            compare(result, scalars.reset(options={"reset_mask": done.copy()}), done)
    assert {(-1.0, True, False), (0.0, False, False)} <= seen
    if JIT_ENABLED:
        assert {(1.0, True, False), (0.0, False, True)} <= seen


@BY_MODE
@BY_FORM
@pytest.mark.parametrize("threads", [1, 2])
def test_in_self_play_a_step_is_one_ply(
    mode: AutoresetMode, kind: str, float32: bool, threads: int
) -> None:
    env = SkiftVectorEnv(
        COUNT, observation=kind, max_plies=MAX_PLIES, autoreset_mode=mode, num_threads=threads,
        float32=float32, position=SHORT_GAMES,
    )  # fmt: skip
    starts = [Position.parse(text) for text in SHORT_GAMES]
    positions, over = list(starts), np.zeros(COUNT, bool)

    def compare(observations: Any, info: Any) -> None:
        shown = np.stack([position.observation(kind) for position in positions])
        assert same(observations, in_form(shown, kind, float32, COUNT))
        masks = [
            position.action_mask * (not end) for position, end in zip(positions, over, strict=True)
        ]
        assert same(info["action_mask"], np.stack(masks).astype(np.int8))

    observations, info = env.reset(seed=1)
    compare(observations, info)
    players = generators(COUNT, 7)
    seen = set()
    for _ in range(STEPS):
        actions = choose(info["action_mask"], players, illegal=0.02)
        rewards, ended, cut = np.zeros(COUNT), np.zeros(COUNT, bool), np.zeros(COUNT, bool)
        lasts = {}
        for game, (position, action) in enumerate(zip(positions, actions.tolist(), strict=True)):
            if over[game]:
                positions[game] = starts[game]
                continue
            if action not in position.legal_actions:
                rewards[game], ended[game] = -1, True
            else:
                after = positions[game] = position.play(action)
                ended[game] = after.outcome is not None
                cut[game] = not ended[game] and after.ply >= MAX_PLIES
                if after.outcome and after.outcome.winner:
                    rewards[game] = 1 if after.outcome.winner == position.side else -1
            if mode is SAME_STEP and (ended[game] or cut[game]):
                lasts[game] = in_form(positions[game].observation(kind), kind, float32)
                positions[game] = starts[game]
        observations, *flags, info = env.step(actions)
        over = (ended | cut) & (mode is not SAME_STEP)
        assert same(flags, [rewards, ended, cut])
        seen |= set(zip(rewards.tolist(), ended.tolist(), cut.tolist(), strict=True))
        compare(observations, info)
        assert ("final_obs" in info) == bool(lasts)
        for game, last in lasts.items():
            assert same(info["final_obs"][game], last)
        if mode is DISABLED and over.any():
            positions = [starts[g] if over[g] else positions[g] for g in range(COUNT)]
            observations, info = env.reset(options={"reset_mask": over})
            over = np.zeros(COUNT, bool)
            compare(observations, info)
    assert {(-1.0, True, False), (0.0, False, False), (0.0, False, True)} <= seen
    if JIT_ENABLED:
        assert (1.0, True, False) in seen


@pytest.mark.parametrize(("end", "winner"), ENDS.items(), ids=str)
def test_who_moved_gets_the_reward_of_self_play(
    end: tuple[str, str, str], winner: str | None
) -> None:
    text, move, reply = end
    env = SkiftVectorEnv(2, position=text, autoreset_mode=SAME_STEP)
    env.reset()
    for name in (move, reply):
        mover = env.position(0).side
        _, rewards, ended, _, _ = env.step(np.full(2, env.position(0).parse_action(name)))
    assert mover == "black"
    assert ended.all()
    assert set(rewards) == {0.0 if winner is None else 1.0 if winner == mover else -1.0}


# Autoreset


@BY_MODE
@pytest.mark.parametrize("opponent", [None, "random", first_legal])
def test_what_is_shown_is_the_game_that_goes_on(mode: AutoresetMode, opponent: Any) -> None:
    env = SkiftVectorEnv(
        COUNT, opponent, max_plies=MAX_PLIES, autoreset_mode=mode, position=SHORT_GAMES
    )
    observations, info = env.reset(seed=2)
    players = generators(COUNT)
    over = np.zeros(COUNT, bool)
    ends = 0
    for _ in range(STEPS):
        for game in range(COUNT):
            position = env.position(game)
            side = position.side
            if opponent is not None:
                side = ("white", "black")[env.games.learners[game]]
                if not over[game]:
                    assert position.side == side, "the learner is to move"
            assert same(observations[game], position.observation("tokens", side))
            assert info["action_mask"][game].any() != over[game]
            if not over[game]:
                assert same(info["action_mask"][game], position.action_mask)
        before = over
        observations, rewards, ended, cut, info = env.step(choose(info["action_mask"], players))
        done = ended | cut
        assert not (done & before).any()
        assert not rewards[before].any()
        ends += done.sum()
        over = done & (mode is not SAME_STEP)
        if mode is SAME_STEP:
            for game in np.flatnonzero(done):
                assert env.position(game).ply <= Position.parse(SHORT_GAMES[game]).ply + 1
                assert info["final_obs"][game].any()
                assert not same(info["final_obs"][game], observations[game])
        if mode is DISABLED and done.any():
            observations, info = env.reset(options={"reset_mask": done})
            over = np.zeros(COUNT, bool)
    assert ends > 3


def test_a_finished_game_waits_for_its_reset_where_autoreset_is_disabled() -> None:
    env = SkiftVectorEnv(3, "random", autoreset_mode=DISABLED)
    env.reset(seed=1)
    actions = np.array([env.position(game).legal_actions[0] for game in range(3)])
    actions[1] = illegal_action(env.position(1))
    env.step(actions)
    twin = copy.deepcopy(env)
    with pytest.raises(OptionError, match=r"games \[1\] are over.*reset_mask"):
        env.step(actions)
    others = env.position(0), env.position(2)
    _, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert (env.position(0), env.position(2)) == others
    assert info["action_mask"].any(axis=1).all()
    twin.reset(options={"reset_mask": np.array([False, True, False])})
    assert same(run(env, 5, None), run(twin, 5, None))


@BY_MODE
def test_a_mask_resets_some_games_in_every_mode(mode: AutoresetMode) -> None:
    env = SkiftVectorEnv(4, autoreset_mode=mode)
    env.reset(seed=1)
    for _ in range(3):
        env.step(np.array([env.position(game).legal_actions[0] for game in range(4)]))
    positions = [env.position(game) for game in range(4)]
    observations, info = env.reset(options={"reset_mask": np.array([True, False, False, True])})
    positions[0] = positions[3] = Position.start()
    assert [env.position(game) for game in range(4)] == positions
    assert same(observations, np.stack([position.observation("tokens") for position in positions]))
    assert same(info["action_mask"], np.stack([position.action_mask for position in positions]))
    if mode is not NEXT_STEP:
        return
    actions = [illegal_action(position) for position in positions]
    env.step(np.array(actions))
    env.reset(options={"reset_mask": np.array([True, True, False, False])})
    actions[:2] = [env.position(game).legal_actions[0] for game in range(2)]
    _, rewards, ended, _, _ = env.step(np.array(actions))
    assert [env.position(game).ply for game in range(4)] == [1, 1, 0, 0], "no second reset"
    assert not rewards.any()
    assert not ended.any()


# Illegal actions


@pytest.mark.parametrize("opponent", [None, "random", first_legal])
def test_an_illegal_action_ends_its_game_only(opponent: Any) -> None:
    env = SkiftVectorEnv(6, opponent)
    env.reset(seed=1)
    before = [env.position(game) for game in range(6)]
    actions = [position.legal_actions[1] for position in before]
    actions[1:5] = [-1, 405, 2**62, illegal_action(before[4])]
    _, rewards, ended, cut, info = env.step(np.array(actions))
    assert rewards.tolist() == [0, -1, -1, -1, -1, 0]
    assert ended.tolist() == [False, True, True, True, True, False]
    assert not cut.any()
    for game in range(6):
        assert (env.position(game) == before[game]) == ended[game]
        assert info["action_mask"][game].any() != ended[game]


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_integers_of_every_width_are_actions(dtype: Any) -> None:
    env = SkiftVectorEnv(3)
    env.reset()
    largest = np.iinfo(dtype).max
    _, rewards, _, _, _ = env.step(np.array([0, largest, 100], dtype))
    legal = Position.start().legal_actions
    numbers = (0, int(largest), 100)
    assert rewards.tolist() == [0.0 if number in legal else -1.0 for number in numbers]
    env.reset()
    env.step([legal[0], legal[1], legal[2]])
    assert env.position(2) == Position.start().play(legal[2])
    strided = np.array([legal[0], 0, legal[1], 0, legal[2], 0])[::2]
    env.reset()
    env.step(strided)
    assert env.position(2) == Position.start().play(legal[2])


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(2, int), np.zeros(4, int), np.zeros((3, 1), int), np.zeros((1, 3), int),
        np.zeros(3), np.zeros(3, bool), np.array([0, 1, None]), np.array(["0", "1", "2"]),
        0, None, [1.5, 2, 3], [10**30, 0, 0], [],
    ],
    ids=repr,
)  # fmt: skip
def test_other_actions_are_refused_and_change_nothing(actions: Any) -> None:
    env = SkiftVectorEnv(3, "random")
    run(env, 3)
    twin = copy.deepcopy(env)
    with pytest.raises(OptionError, match=r"actions must be integers \(3,\)"):
        env.step(actions)
    assert same(run(env, 4, None), run(twin, 4, None))


def test_a_step_before_the_first_reset_is_an_error() -> None:
    env = SkiftVectorEnv(2)
    with pytest.raises(OptionError, match="before the first reset"):
        env.step(np.zeros(2, int))
    with pytest.raises(OptionError, match="first reset starts all"):
        env.reset(options={"reset_mask": np.ones(2, bool)})


# Seeds


@pytest.mark.parametrize("opponent", [None, "random", drawn_legal, RandomInBatch()])
def test_a_game_does_not_depend_on_how_many_there_are(opponent: Any) -> None:
    make = partial(SkiftVectorEnv, opponent=opponent, max_plies=20, autoreset_mode=SAME_STEP)
    make = partial(make, random_plies=3)
    seeds = [5, 6, 900, 8, 9, 2, 5]
    many = {}
    for threads in (1, 2, 3, 16):
        env = make(7, num_threads=threads)
        results = [env.reset(seed=seeds)]
        players = [np.random.default_rng(seed) for seed in seeds]
        for _ in range(STEPS // 2):
            results.append(env.step(choose(results[-1][-1]["action_mask"], players)))
        env.close()
        many[threads] = results
    assert all(same(many[1], results) for results in many.values())
    for game, seed in enumerate(seeds):
        env = make(1)
        results = [env.reset(seed=seed)]
        players = [np.random.default_rng(seed)]
        for _ in range(STEPS // 2):
            results.append(env.step(choose(results[-1][-1]["action_mask"], players)))
        for alone, among in zip(results, many[1], strict=True):
            for one, other in zip(alone[:-1], among[:-1], strict=True):
                assert same(one[0], other[game])
            assert same(alone[-1]["action_mask"][0], among[-1]["action_mask"][game])
    first, last = ([result[0][game] for result in many[1]] for game in (0, 6))
    assert same(first, last), "equal seeds, equal games"


def openings(env: SkiftVectorEnv, seed: Any, **options: Any) -> list[Position]:
    env.reset(seed=seed, options={"position": None, "random_plies": 6} | options)
    return [env.position(game) for game in range(env.num_envs)]


def test_only_a_seed_seeds() -> None:
    env = SkiftVectorEnv(4)
    drawn = openings(env, 7)
    assert len(set(drawn)) == 4
    assert openings(SkiftVectorEnv(4), [7, 8, 9, 10]) == drawn
    assert openings(SkiftVectorEnv(4), np.arange(7, 11)) == drawn
    assert openings(SkiftVectorEnv(4), np.int64(7)) == drawn
    assert openings(SkiftVectorEnv(2), 9) == drawn[2:]
    assert not set(openings(env, None)) & set(drawn), "without a seed the generators go on"
    following = openings(env, None)
    openings(env, 7)
    openings(env, None)
    assert openings(env, None) == following
    openings(env, 7)
    openings(env, None)
    mixed = openings(env, [None, 8, None, 10])
    assert mixed == [following[0], drawn[1], following[2], drawn[3]]
    assert not set(openings(SkiftVectorEnv(4), None)) & set(openings(SkiftVectorEnv(4), None))
    unseeded = openings(SkiftVectorEnv(4), [7, None, None, None])
    assert unseeded[0] == drawn[0]
    assert len(set(unseeded)) == 4


def test_a_partial_reset_seeds_what_it_resets() -> None:
    env = SkiftVectorEnv(4)
    drawn = openings(env, 7)
    following = openings(env, None)
    openings(env, 7)
    mask = np.array([False, True, False, True])
    partly = openings(env, [50, 7, 51, 8], reset_mask=mask)
    assert partly == [drawn[0], drawn[0], drawn[2], drawn[1]]
    rest = openings(env, None, reset_mask=~mask)
    assert rest == [following[0], drawn[0], following[2], drawn[1]]


@pytest.mark.parametrize(
    ("seed", "named"),
    [
        (-1, "(?i)seed"), (1.5, "(?i)seed"), ("1", "(?i)seed"), ([1, 2], "2 seeds"),
        ([1, 2, 3, -4], "(?i)seed"), ([1, 2, 3, 4.5], "(?i)seed"), ([1, 2, 3, "4"], "(?i)seed"),
        (np.arange(5), "5 seeds"),
    ],
)  # fmt: skip
def test_a_refused_seed_changes_nothing(seed: Any, named: str) -> None:
    env = SkiftVectorEnv(4, "random")
    run(env, 3)
    twin = copy.deepcopy(env)
    with pytest.raises((GymnasiumError, OptionError), match=named):
        env.reset(seed=seed)
    assert same(run(env, 4, None), run(twin, 4, None))


# Options


def test_how_games_start_can_be_said_for_all_or_for_each() -> None:
    small = "..../KP../..kp/.... w - 4"
    env = SkiftVectorEnv(4, position=small, random_plies=[0, 1, 2, 0])
    env.reset(seed=1)
    assert [env.position(game).ply for game in range(4)] == [4, 5, 6, 4]
    assert env.position(3) == Position.parse(small)
    env.reset(options={"random_plies": np.array([3, 0, 0, 0], np.int16)})
    assert [env.position(game).ply for game in range(4)] == [7, 4, 4, 4]
    env.reset(options={"position": [None, small, None, small]})
    assert [env.position(game).ply for game in range(4)] == [0, 5, 2, 4]
    env.reset(options={"position": None, "random_plies": 0})
    assert {env.position(game) for game in range(4)} == {Position.start()}
    env.reset()
    assert [env.position(game).ply for game in range(4)] == [4, 5, 6, 4], "as constructed"
    mask = np.array([True, False, False, True])
    env.reset(
        options={"reset_mask": mask, "position": (None, small, small, small), "random_plies": 1}
    )
    assert [env.position(game).ply for game in range(4)] == [1, 5, 6, 5]


@BY_MODE
def test_autoreset_starts_as_constructed(mode: AutoresetMode) -> None:
    small = "..../KP../..kp/.... w - 4"
    env = SkiftVectorEnv(2, position=[None, small], random_plies=2, autoreset_mode=mode)
    env.reset(seed=1, options={"position": None, "random_plies": [3, 4]})
    assert [env.position(game).ply for game in range(2)] == [3, 4]
    actions = np.array([illegal_action(env.position(game)) for game in range(2)])
    env.step(actions)
    if mode is NEXT_STEP:
        env.step(actions)
    if mode is DISABLED:
        env.reset(options={"reset_mask": np.ones(2, bool)})
    assert [env.position(game).ply for game in range(2)] == [2, 6]


def test_an_option_that_is_told_does_not_change() -> None:
    options = {"reset_mask": np.array([True, False]), "random_plies": 1}
    env = SkiftVectorEnv(2)
    env.reset()
    env.reset(options=options)
    assert options.keys() == {"reset_mask", "random_plies"}, "wrappers read it afterwards"
    assert options["reset_mask"].tolist() == [True, False]


BAD_OPTIONS = [
    ({"positon": "x"}, OptionError, "'positon'"),
    ({3: 4}, OptionError, "3"),
    ({"position": 3}, OptionError, "position"),
    ({"position": ["x", None]}, OptionError, "option position has 2 values for 3 games"),
    ({"position": [None, None, ""]}, PositionError, "fields"),
    ({"position": [None, None, ["x"]]}, OptionError, "position"),
    ({"position": [None, None, 3]}, OptionError, "position"),
    ({"position": b"abc"}, OptionError, "position"),
    ({"position": "K.../p... w - 20"}, OptionError, "position.*over"),
    ({"random_plies": -1}, OptionError, "random_plies"),
    ({"random_plies": [0, 0]}, OptionError, "option random_plies has 2 values for 3 games"),
    ({"random_plies": [0, 1, -1]}, OptionError, "random_plies"),
    ({"random_plies": [0, 1, 1.0]}, OptionError, "random_plies"),
    ({"random_plies": [0, 1, True]}, OptionError, "random_plies"),
    ({"random_plies": [0, 1, None]}, OptionError, "random_plies"),
    ({"random_plies": None}, OptionError, "random_plies"),
    ({"random_plies": np.zeros(3)}, OptionError, "random_plies"),
    ({"random_plies": np.zeros((3, 1), int)}, OptionError, "random_plies"),
    ({"random_plies": 300}, OptionError, "random_plies.*max_plies"),
    ({"reset_mask": np.ones(2, bool)}, OptionError, "reset_mask"),
    ({"reset_mask": np.zeros(3, bool)}, OptionError, "reset_mask"),
    ({"reset_mask": np.ones(3, int)}, OptionError, "reset_mask"),
    ({"reset_mask": True}, OptionError, "reset_mask"),
    ([("random_plies", 1)], OptionError, "options"),
    (7, OptionError, "options"),
    pytest.param(
        {"random_plies": [0, 0, 299]}, OptionError, "random plies.*ended",
        marks=pytest.mark.compiled_only,
    ),
]  # fmt: skip


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("options", "error", "named"), BAD_OPTIONS)
def test_a_refused_reset_changes_nothing(
    seed: int | None, options: Any, error: type[ValueError], named: str
) -> None:
    env = SkiftVectorEnv(3, "random", num_threads=2)
    run(env, 3)
    twin = copy.deepcopy(env)
    with pytest.raises(error, match=named):
        env.reset(seed=seed, options=options)
    assert same(run(env, 3, None), run(twin, 3, None))
    assert openings(env, None) == openings(twin, None)


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("num_envs", [0, -1, 2.0, True, "3", None]),
        ("num_threads", [0, -1, 2.0, True, "3", None]),
        ("observation", ["dict", "", None, 3]),
        ("max_plies", [0, -1, 2.0, True, "300", None]),
        ("render_mode", ["human", "rgb", "", 3]),
        ("side", ["red", "", None, 0]),
        ("opponent", [3, []]),
        ("autoreset_mode", ["", "next", None, 3]),
        ("random_plies", [-1, 1.5, None, True, "3", [3.5]]),
        ("position", [3, [3], [[]]]),
    ],
)
def test_wrong_arguments_are_named(argument: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(OptionError, match=argument) as caught:
            SkiftVectorEnv(**{argument: value})
        shown = value[0] if isinstance(value, list) and value else value
        assert repr(shown) in str(caught.value)
    with pytest.raises(TypeError, match="envs"):
        SkiftVectorEnv(envs=3)


# Opponents that fail


@BY_MODE
@pytest.mark.parametrize("cheat", [CheatsFrom, CheatsInBatchFrom])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_opponent_that_cheats_changes_nothing(
    mode: AutoresetMode, cheat: Callable[[int], Any], threads: int
) -> None:
    env = SkiftVectorEnv(4, cheat(8), autoreset_mode=mode, num_threads=threads)
    env.reset(seed=4)
    while True:
        twin = copy.deepcopy(env)
        actions = np.array([env.position(game).legal_actions[0] for game in range(4)])
        actions[0] = 404 if env.position(0).ply < 2 else actions[0]
        try:
            done = np.logical_or(*env.step(actions)[2:4])
        except IllegalActionError:
            break
        if mode is DISABLED and done.any():
            env.reset(options={"reset_mask": done})
    for name in ("states", "rngs", "learners", "over", "members"):
        assert same(getattr(env.games, name), getattr(twin.games, name))
    for each in (env, twin):
        each.games.opponents.members[0] = agents.make("random")
    for _ in range(4):
        assert same(env.step(actions), twin.step(actions))
        actions = np.array([env.position(game).action_mask.argmax() for game in range(4)])
        if env.games.over.any() and mode is DISABLED:
            break


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP])
def test_an_opponent_that_cheats_at_an_autoreset_changes_nothing(mode: AutoresetMode) -> None:
    env = SkiftVectorEnv(3, CheatsFrom(0), "black", autoreset_mode=mode)
    env.games.opponents.members[0] = agents.make("random")
    env.reset(seed=1)
    actions = np.array([illegal_action(env.position(game)) for game in range(3)])
    actions[0] = env.position(0).legal_actions[0]
    if mode is NEXT_STEP:
        env.step(actions)
        actions[0] = env.position(0).legal_actions[0]
    env.games.opponents.members[0] = SkiftEnv(CheatsFrom(0)).games.opponents.members[0]
    twin = copy.deepcopy(env)
    with pytest.raises(IllegalActionError):
        env.step(actions)
    for each in (env, twin):
        each.games.opponents.members[0] = agents.make("random")
    assert same(env.step(actions), twin.step(actions))


def test_a_failure_in_one_thread_waits_for_the_others() -> None:
    started, finish = threading.Event(), threading.Event()

    class Slow(FirstInKernel):
        def act_batch(self, states: Any, rngs: Any) -> Any:
            if len(states) == 1:
                started.wait(10)
                finish.set()
                raise ZeroDivisionError
            started.set()
            finish.wait(10)
            rngs[:] = 1
            ran.append(len(states))
            return super().act_batch(states, rngs)

    ran: list[int] = []
    env = SkiftVectorEnv(3, Slow(), "white", num_threads=2)
    env.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        env.step(np.array([env.position(game).legal_actions[0] for game in range(3)]))
    assert ran == [2]
    env.close()


# Several opponents


def test_each_game_keeps_the_opponent_that_it_drew() -> None:
    class Marked(Last):
        def __init__(self, number: int) -> None:
            self.number = number
            self.name = f"last {number}"

        def act(self, position: Position, rng: np.random.Generator) -> int:
            asked.append(self.number)
            return position.legal_actions[-1 - self.number]

    asked: list[int] = []
    count = 400
    mixture = Mixture([Marked(0), Marked(1), "random"], [3, 1, 0])
    env = SkiftVectorEnv(count, mixture, "black", max_plies=7)
    _, info = env.reset(seed=1)
    drawn = env.games.members.copy()
    assert set(drawn) == {0, 1}
    assert abs((drawn == 0).sum() - 0.75 * count) < 4 * np.sqrt(count * 3 / 16)
    assert asked == sorted(asked)
    start = Position.start()
    for game in range(0, count, 9):
        assert env.position(game) == start.play(start.legal_actions[-1 - drawn[game]])
    for _ in range(3):
        before = [env.position(game) for game in range(count)]
        actions = np.array([position.legal_actions[0] for position in before])
        *_, info = env.step(actions)
        assert same(env.games.members, drawn)
        for game in range(0, count, 9):
            after = before[game].play(actions[game])
            assert env.position(game) == after.play(after.legal_actions[-1 - drawn[game]])
    for _ in range(2):
        env.step(choose(info["action_mask"], generators(count)))
    again = env.games.members.copy()
    assert 0.5 * count < (again == drawn).sum() < 0.8 * count, "drawn anew: 5/8 stay the same"
    fewer = SkiftVectorEnv(20, mixture, "black", num_threads=2)
    fewer.reset(seed=1)
    assert same(fewer.games.members, drawn[:20])
    mixture.weights[:] = 0, 0, 1
    env.reset()
    assert set(env.games.members) == {2}


@pytest.mark.parametrize(
    ("members", "weights", "named"),
    [
        (["random"], [1, 2], "1 opponents need as many weights"),
        ([], [], "zero"),
        (["random"], [-1], "weights >= 0"),
        (["random"], [float("nan")], "weights >= 0"),
        (["random", "random"], [0, 0], "zero"),
        ([3], [1], "opponent"),
    ],
)
def test_wrong_mixtures_are_named(members: list[Any], weights: list[Any], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        Mixture(members, weights)


def test_the_side_is_drawn_evenly_for_each_game() -> None:
    count = 2000 if JIT_ENABLED else 200
    env = SkiftVectorEnv(count, "random", autoreset_mode=SAME_STEP, max_plies=2)
    _, info = env.reset(seed=8)
    first = env.games.learners.copy()
    assert binomial_tail(int(first.sum()), count) > 0.001
    *_, cut, info = env.step(info["action_mask"].argmax(axis=1))
    assert cut.all()
    second = env.games.learners
    assert binomial_tail(int(second.sum()), count) > 0.001
    assert binomial_tail(int((first == second).sum()), count) > 0.001
    assert same(env.games.states[:, 0], second), "the learner is to move"


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_side_that_is_given_stays(side: str) -> None:
    env = SkiftVectorEnv(5, "random", side, max_plies=3)
    run(env, 10)
    assert set(env.games.learners) == {("white", "black").index(side)}


# Arrays


@BY_MODE
@BY_FORM
@pytest.mark.parametrize("threads", [1, 2])
def test_nothing_returned_is_shared_with_anything(
    mode: AutoresetMode, kind: str, float32: bool, threads: int
) -> None:
    make = partial(
        SkiftVectorEnv, 3, "random", observation=kind, autoreset_mode=mode, float32=float32,
        num_threads=threads, max_plies=4,
    )  # fmt: skip
    env = make()
    results = [env.reset(seed=1)]
    for _ in range(6):
        masks = results[-1][-1]["action_mask"]
        results.append(env.step(masks.argmax(axis=1)))
        done = results[-1][2] | results[-1][3]
        if mode is DISABLED and done.any():
            results.append(env.reset(options={"reset_mask": done}))
    found = list(arrays(results))
    for one, two in itertools.combinations(found, 2):
        assert not np.shares_memory(one, two)
    kept = copy.deepcopy(results)
    for array in found:
        if array.dtype != object:
            array[:] = 1
    twin = make()
    run(env, 3, 2)
    assert same(run(env, 6), run(twin, 6))
    assert not same(kept, results)


@BY_MODE
@BY_FORM
def test_without_copies_arrays_are_used_again(
    mode: AutoresetMode, kind: str, float32: bool
) -> None:
    make = partial(
        SkiftVectorEnv, 3, "random", observation=kind, autoreset_mode=mode, float32=float32,
        max_plies=4,
    )  # fmt: skip
    assert same(run(make(copy=False), 8), run(make(), 8))
    env = make(copy=False)
    observations, info = env.reset(seed=1)
    masks = info["action_mask"]
    again, *_, info = env.step(masks.argmax(axis=1))
    assert again is observations
    assert info["action_mask"] is masks


@BY_FORM
def test_spaces(kind: str, float32: bool) -> None:
    env = SkiftVectorEnv(3, observation=kind, float32=float32)
    shape = in_form(np.zeros({"tokens": 468, "planes": 6804}[kind]), kind, float32).shape
    dtype = np.float32 if float32 else np.int8
    assert env.single_observation_space == gymnasium.spaces.Box(0, 1, shape, dtype)
    assert env.observation_space == gymnasium.spaces.Box(0, 1, (3, *shape), dtype)
    assert env.single_action_space == gymnasium.spaces.Discrete(skift_env.NUM_ACTIONS)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([skift_env.NUM_ACTIONS] * 3)
    for result in run(env, 5):
        assert env.observation_space.contains(result[0])
    for array, dtype in zip(result[1:4], (np.float64, np.bool_, np.bool_), strict=True):
        assert (array.shape, array.dtype) == ((3,), dtype)
    assert result[4]["action_mask"].dtype == np.int8


@pytest.mark.parametrize("opponent", [None, "random"])
def test_a_game_takes_at_most_384_bytes(opponent: Any) -> None:
    count = 1000
    env = SkiftVectorEnv(count, opponent)
    env.reset()
    env.step(np.zeros(count, int))
    state = [*vars(env.games).values(), *vars(env._openings).values()]
    taken = sum(value.nbytes for value in state if isinstance(value, np.ndarray))
    assert taken <= 384 * count + 1000
    others = {name: value for name, value in vars(env).items() if isinstance(value, np.ndarray)}
    assert others.keys() == {"_observations", "_floats", "_masks"}, "what is returned, no state"


# Gymnasium's registry and wrappers


@BY_MODE
def test_the_registry_makes_it(mode: AutoresetMode) -> None:
    env = gymnasium.make_vec(ID, num_envs=3, autoreset_mode=mode, observation="planes", max_plies=9)
    assert isinstance(env, SkiftVectorEnv)
    assert env.num_envs == 3
    assert env.metadata["autoreset_mode"] is mode
    assert env.games.opponents is not None, "the registered environment has an opponent"
    observations, _ = env.reset(seed=1)
    assert observations.shape == (3, 21, 18, 18)
    assert gymnasium.make_vec(ID, num_envs=2, opponent=None).games.opponents is None
    for vectorization in ("sync", "vector_entry_point"):
        env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=vectorization, side="black")
        _, info = env.reset(seed=1)
        assert info["action_mask"].shape == (2, 405)
        env.close()


def test_its_specification_is_text() -> None:
    env = gymnasium.make_vec(ID, num_envs=3, max_plies=9, autoreset_mode="SameStep")
    assert env.spec is not None
    spec = EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make_vec(spec)
    assert (again.num_envs, again.max_plies) == (3, 9)
    assert again.metadata["autoreset_mode"] is SAME_STEP


def test_metadata_are_of_the_instance() -> None:
    one, two = SkiftVectorEnv(1, autoreset_mode=SAME_STEP), SkiftVectorEnv(1)
    assert one.metadata["autoreset_mode"] is SAME_STEP
    assert two.metadata["autoreset_mode"] is NEXT_STEP
    for mode in AutoresetMode:
        assert SkiftVectorEnv(1, autoreset_mode=mode.value).autoreset_mode is mode


@BY_MODE
def test_episode_statistics_are_those_counted_by_hand(mode: AutoresetMode) -> None:
    if mode is not NEXT_STEP and GYMNASIUM < (1, 4):
        pytest.skip("before Gymnasium 1.4 these statistics are wrong outside of NEXT_STEP")
    env: Any = SkiftVectorEnv(
        COUNT, "random", max_plies=MAX_PLIES, autoreset_mode=mode, position=SHORT_GAMES
    )
    env = RecordEpisodeStatistics(env, buffer_length=1000)
    _, info = env.reset(seed=6)
    players = generators(COUNT)
    returns, lengths = np.zeros(COUNT), np.zeros(COUNT, int)
    over = np.zeros(COUNT, bool)
    finished = []
    for _ in range(STEPS):
        _, rewards, ended, cut, info = env.step(choose(info["action_mask"], players, 0.05))
        counts = ~over if mode is NEXT_STEP else np.ones(COUNT, bool)
        returns[counts] += rewards[counts]
        lengths[counts] += 1
        done = ended | cut
        assert ("episode" in info) == done.any()
        for game in np.flatnonzero(done):
            assert info["_episode"][game]
            assert info["episode"]["r"][game] == returns[game]
            assert info["episode"]["l"][game] == lengths[game]
            finished.append((returns[game], lengths[game]))
        returns[done], lengths[done] = 0, 0
        over = done
        if mode is DISABLED and done.any():
            _, info = env.reset(options={"reset_mask": done})
    assert len(finished) > 5
    assert list(zip(env.return_queue, env.length_queue, strict=True)) == finished


def test_render_gives_a_picture_of_each_game() -> None:
    pytest.importorskip("pygame")
    for mode, picture_of in (("ansi", render.text), ("rgb_array", render.rgb_array)):
        env = SkiftVectorEnv(2, "random", "white", render_mode=mode)
        env.reset(seed=1)
        env.step(np.array(Position.start().legal_actions[:2]))
        pictures = env.render()
        assert isinstance(pictures, tuple)
        assert same(list(pictures), [picture_of(env.position(game)) for game in range(2)])
    env = SkiftVectorEnv(2)
    env.reset()
    with pytest.warns(UserWarning, match="without specifying a render mode"):
        assert env.render() is None


# Copies, threads and processes


@BY_MODE
@pytest.mark.parametrize("duplicate", DUPLICATES)
@pytest.mark.parametrize(
    "opponent", [None, "random", drawn_legal, RandomInBatch(), Mixture(["random", Last()], [1, 1])]
)
def test_a_copy_goes_on_like_its_original(
    mode: AutoresetMode, duplicate: Callable[[Any], Any], opponent: Any
) -> None:
    env = SkiftVectorEnv(
        COUNT, opponent, autoreset_mode=mode, num_threads=2, max_plies=MAX_PLIES,
        position=SHORT_GAMES,
    )  # fmt: skip
    run(env, 5)
    twin = duplicate(env)
    assert same(run(env, 8, None), run(twin, 8, None))
    assert openings(env, None) == openings(twin, None)
    env.close()
    assert same(run(env, 2), run(twin, 2)), "closed, it starts new threads"
    for each in (env, twin):
        each.close()


def test_closing_ends_the_threads_of_this_environment_only() -> None:
    before = set(threading.enumerate())

    def threads() -> int:
        new = set(threading.enumerate()) - before
        return sum(thread.name.startswith("skift") for thread in new)

    one, two = SkiftVectorEnv(8, num_threads=2), SkiftVectorEnv(8, num_threads=3)
    assert threads() == 0, "no threads before they have work"
    run(one, 2)
    run(two, 2)
    assert threads() == 5
    one.close()
    one.close()
    assert threads() == 3
    run(two, 2)
    two.close()
    assert threads() == 0


def test_two_environments_at_once() -> None:
    def play(number: int) -> None:
        env = SkiftVectorEnv(9, "random", num_threads=2, max_plies=12)
        results[number] = run(env, 10, seed=number)
        env.close()

    results: dict[int, Any] = {}
    players = [threading.Thread(target=play, args=(number,)) for number in range(3)]
    for player in players:
        player.start()
    for player in players:
        player.join()
    for number in range(3):
        env = SkiftVectorEnv(9, "random", max_plies=12)
        assert same(results[number], run(env, 10, seed=number))


def go_on(env: SkiftVectorEnv, pipe: Any) -> None:
    """What another process does with an environment."""
    pipe.send(run(env, 6, None))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_an_environment_with_threads_goes_on_in_another_process(context: str) -> None:
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {context} here")
    env = SkiftVectorEnv(8, "random", num_threads=2, max_plies=9)
    run(env, 3)
    twin = copy.deepcopy(env)
    method: Any = multiprocessing.get_context(context)
    ours, theirs = method.Pipe()
    process = method.Process(target=go_on, args=(env, theirs))
    with warnings.catch_warnings():
        if sys.version_info >= (3, 12):  # which warns of every fork of a process with threads
            warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    assert ours.poll(60)
    results = ours.recv()
    process.join(60)
    assert process.exitcode == 0
    assert same(results, run(twin, 6, None))
    assert same(results, run(env, 6, None)), "here it has not moved"
    env.close()
    twin.close()
