"""Stable-Baselines3 takes the Gymnasium environment, and learns on the adapter of the batch."""

from __future__ import annotations

import copy
import multiprocessing
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the extra sb3")
pytest.importorskip("sb3_contrib", reason="needs the extra sb3")

import torch
from opponents import (
    DUPLICATES,
    ENDS,
    SHORT_GAMES,
    Last,
    RandomInBatch,
    Says,
    draw_legal,
    drawn_legal,
    first_legal,
    same,
)
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import (
    get_action_masks,
    is_masking_supported,
)
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecMonitor,
)

from skift_env import SkiftVectorEnv, render
from skift_env._jit import JIT_ENABLED
from skift_env.episodes import OptionError
from skift_env.game_batch import Mixture
from skift_env.gymnasium_env import SkiftEnv
from skift_env.position import Position, PositionError
from skift_env.sb3 import SkiftVecEnv
from skift_env.vector_env import AutoresetMode

BY_OBSERVATION = pytest.mark.parametrize("observation", ["tokens", "planes"])
COUNT = len(SHORT_GAMES)
MAX_PLIES = 23
STEPS = 40 if JIT_ENABLED else 8

ONE_PLY = "K.Pk/p... w - 20"
"""With max_plies = 21 each game is one ply: it wins, loses, or is cut."""


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Small networks gain nothing by more, and other tests run at the same time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def masks_of(env: Any) -> np.ndarray:
    return np.stack(env.env_method("action_masks"))


def choose(masks: np.ndarray, players: Sequence[np.random.Generator]) -> np.ndarray:
    """A legal action for each game by its own generator, now and then an illegal one."""
    actions = [draw_legal(*pair) for pair in zip(masks, players, strict=True)]
    for game, player in enumerate(players):
        if player.random() < 0.03:
            actions[game] = int(np.flatnonzero(~masks[game])[-1])
    return np.array(actions)


def run(env: Any, steps: int = STEPS, seed: int | None = 3) -> list[Any]:
    """What an environment tells; of the infos only what SB3 reads."""
    if seed is not None:
        env.seed(seed)
        results: list[Any] = [env.reset()]
    else:
        results = []
    players = [np.random.default_rng([9, game]) for game in range(env.num_envs)]
    results.append(masks_of(env))
    for _ in range(steps):
        observations, rewards, dones, infos = env.step(choose(results[-1], players))
        told = [
            [info.get("terminal_observation"), bool(info.get("TimeLimit.truncated", False))]
            for info in infos
        ]
        results += [[observations, rewards, dones, told], masks_of(env)]
    return copy.deepcopy(results)


def flat(results: list[Any]) -> list[Any]:
    """The same with observations as the adapter gives them."""

    def flatten(array: Any) -> Any:
        return None if array is None else array.reshape(-1).astype(np.float32)

    def flatten_batch(array: np.ndarray) -> np.ndarray:
        return array.reshape(len(array), -1).astype(np.float32)

    first, masks, *steps = results
    told = [flatten_batch(first), masks]
    for (observations, rewards, dones, infos), masks in zip(steps[::2], steps[1::2], strict=True):
        lasts = [[flatten(last), cut] for last, cut in infos]
        told += [[flatten_batch(observations), rewards, dones, lasts], masks]
    return told


# The Gymnasium environment


@pytest.mark.parametrize("observation", ["tokens", "dict"])
@pytest.mark.parametrize("opponent", ["random", first_legal])
@pytest.mark.parametrize("mode", [None, "rgb_array"])
def test_sb3_finds_no_fault(observation: str, opponent: Any, mode: str | None) -> None:
    if mode is not None:
        pytest.importorskip("pygame")
    env = gymnasium.make(
        "skift/Skift-v0", observation=observation, opponent=opponent, render_mode=mode
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, warn=True)
        check_env(env.unwrapped, warn=True)
    env.close()


def make(**kwargs: Any) -> Any:
    """What a new process finds and calls."""
    return gymnasium.make("skift_env:skift/Skift-v0", **kwargs)


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_processes_play_as_this_one(context: str) -> None:
    if context not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {context} here")
    kinds = [
        {"opponent": drawn_legal, "max_plies": 6},
        {"side": "black", "max_plies": 6, "position": SHORT_GAMES[2]},
    ]
    makers = [partial(make, **kwargs) for kwargs in kinds]
    expected = run(DummyVecEnv(makers), 12)
    env = SubprocVecEnv(makers, start_method=context)
    try:
        assert is_masking_supported(env)
        results = run(env, 12)
    finally:
        env.close()
    for step in results[2::2]:
        step[1] = step[1].astype(np.float32)  # SB3 gives them so from one process only
    assert same(results, expected)
    assert any(result[2].any() for result in results[2::2])


# The adapter: each game is that of a Gymnasium environment


def singles(opponent: Any, observation: str, texts: Sequence[str] = SHORT_GAMES) -> DummyVecEnv:
    return DummyVecEnv(
        [
            partial(SkiftEnv, opponent, "random", observation, MAX_PLIES, position=text)
            for text in texts
        ]
    )


@BY_OBSERVATION
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("opponent", ["random", drawn_legal, Last(), RandomInBatch()])
def test_game_i_is_that_of_gymnasiums_environment_i(
    observation: str, threads: int, opponent: Any
) -> None:
    env = SkiftVecEnv(
        COUNT, opponent, observation=observation, max_plies=MAX_PLIES, position=SHORT_GAMES,
        num_threads=threads,
    )  # fmt: skip
    results = run(env)
    assert same(results, flat(run(singles(opponent, observation))))
    steps = results[2::2]
    ends = {
        (float(reward), cut)
        for _, rewards, dones, told in steps
        for reward, done, (_, cut) in zip(rewards, dones, told, strict=True)
        if done
    }
    assert (-1.0, False) in ends
    if JIT_ENABLED:
        assert ends >= {(-1.0, False), (1.0, False), (0.0, True)}
    for observations, rewards, dones, told in steps:
        assert observations.dtype == rewards.dtype == np.float32
        assert dones.dtype == np.bool_
        assert [last is not None for last, _ in told] == dones.tolist()
        assert all(env.observation_space.contains(each) for each in observations)
    env.close()


@BY_OBSERVATION
def test_it_is_the_native_vector_environment_in_another_form(observation: str) -> None:
    rest: dict[str, Any] = {"observation": observation, "max_plies": MAX_PLIES}
    rest["position"] = SHORT_GAMES
    native = SkiftVectorEnv(
        COUNT, "random", autoreset_mode=AutoresetMode.SAME_STEP, float32=True, **rest
    )
    env = SkiftVecEnv(COUNT, **rest)
    env.seed(3)
    shown, info = native.reset(seed=3)
    assert same(env.reset(), shown)
    players = [np.random.default_rng([9, game]) for game in range(COUNT)]
    ends = 0
    for _ in range(STEPS):
        assert same(env.action_masks(), info["action_mask"].astype(bool))
        assert same(masks_of(env), env.action_masks())
        actions = choose(env.action_masks(), players)
        shown, rewards, ended, cut, info = native.step(actions)
        observations, *flags, infos = env.step(actions)
        assert same(observations, shown)
        assert same(flags, [rewards.astype(np.float32), ended | cut])
        for game, told in enumerate(infos):
            if not (ended | cut)[game]:
                assert told == {}
                continue
            assert told.keys() == {"terminal_observation", "TimeLimit.truncated"}
            assert same(told["terminal_observation"], info["final_obs"][game])
            assert told["TimeLimit.truncated"] is bool(cut[game])
            ends += 1
    assert ends > 3


@pytest.mark.parametrize("side", ["white", "black"])
@pytest.mark.parametrize(("end", "winner"), ENDS.items(), ids=str)
def test_a_game_that_the_reply_ends(
    end: tuple[str, str, str], winner: str | None, side: str
) -> None:
    text, move, reply = end
    action = Position.parse(text).parse_action(move)
    if side == "black":
        text = Position.parse(text).transform(0, swap_colours=True).text
        winner = winner and {"white": "black", "black": "white"}[winner]
    env = SkiftVecEnv(2, Says(reply), side=side, position=text)
    first = env.reset()
    observations, rewards, dones, infos = env.step(np.array([action, 404]))
    assert rewards.tolist() == [0 if winner is None else 1 if winner == side else -1, -1]
    assert dones.tolist() == [True, True]
    assert [info["TimeLimit.truncated"] for info in infos] == [False, False]
    last = Position.parse(text).play(action)
    last = last.play(last.parse_action(reply)).observation("tokens", side)
    assert same(infos[0]["terminal_observation"], last.reshape(-1).astype(np.float32))
    assert same(infos[1]["terminal_observation"], first[1]), "an illegal action changes nothing"
    assert same(observations, first), "of the new games"
    legal = set(np.flatnonzero(masks_of(env)[0]).tolist())
    assert legal == set(Position.parse(text).legal_actions)


def test_a_game_that_is_cut_is_not_lost() -> None:
    env = SkiftVecEnv(2, first_legal, side="white", max_plies=3)
    env.reset()
    start = Position.start()
    for ply in (2, 3):
        actions = [env.env.position(game).legal_actions[0] for game in range(2)]
        _, rewards, dones, infos = env.step(np.array(actions))
        assert not rewards.any()
        assert dones.tolist() == 2 * [ply == 3]
    assert [info["TimeLimit.truncated"] for info in infos] == [True, True]
    assert env.env.position(0) == start
    assert masks_of(env)[0].sum() == len(start.legal_actions)


# Seeds and options


def positions(env: SkiftVecEnv) -> list[Position]:
    return [env.env.position(game) for game in range(env.num_envs)]


def test_seeds_and_options_hold_for_one_reset() -> None:
    env = SkiftVecEnv(3, first_legal, side="white")

    def openings(seed: int | None, options: Any) -> list[Position]:
        if seed is not None:
            assert list(env.seed(seed)) == [seed, seed + 1, seed + 2]
        env.set_options(options)
        env.reset()
        return positions(env)

    drawn = openings(7, {"random_plies": 6})
    assert [position.ply for position in drawn] == [6, 6, 6]
    following = openings(None, {"random_plies": 6})
    assert not set(drawn) & set(following)
    assert openings(7, {"random_plies": 6}) == drawn
    assert openings(None, {"random_plies": 6}) == following, "the seed held for one reset"
    assert openings(None, None) == 3 * [Position.start()]
    two = openings(8, [{"random_plies": 6}, {}, {"position": ONE_PLY}])
    assert two == [drawn[1], Position.start(), Position.parse(ONE_PLY)]
    env.reset()
    assert positions(env) == 3 * [Position.start()], "the options held for one reset"


def test_options_of_some_games_leave_the_others_as_constructed() -> None:
    texts = [Position.start().text, ONE_PLY, SHORT_GAMES[2]]
    env = SkiftVecEnv(3, side="white", position=texts, random_plies=[2, 0, 0])
    env.set_options([{}, {"position": None}, {"random_plies": 2}])
    env.reset()
    assert [position.ply for position in positions(env)] == [2, 0, 6]
    env = SkiftVecEnv(2, side="white", position=ONE_PLY)
    env.set_options([{"position": None}, {}])
    env.reset()
    assert [position.ply for position in positions(env)] == [0, 20]


@pytest.mark.parametrize(
    ("options", "error", "named"),
    [
        ({"positon": "x"}, OptionError, "'positon'"),
        ([{}, {"plies": 1}, {}], OptionError, "'plies'"),
        ([{}, {}, {"random_plies": -1}], OptionError, "random_plies"),
        ([{"random_plies": 1}], OptionError, "1 values for 3 games"),
        ({"position": "nowhere"}, PositionError, "fields"),
        ({"reset_mask": np.ones(3, bool)}, OptionError, "reset_mask"),
    ],
)
def test_wrong_options_are_named(options: Any, error: type[ValueError], named: str) -> None:
    env = SkiftVecEnv(3)
    run(env, 2)
    before = positions(env)
    env.set_options(options)
    with pytest.raises(error, match=named):
        env.reset()
    assert positions(env) == before


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"opponent": None}, "opponent"),
        ({"opponent": 3}, "opponent"),
        ({"autoreset_mode": AutoresetMode.SAME_STEP}, "autoreset_mode"),
        ({"float32": False}, "float32"),
        ({"copy": False}, "copy"),
        ({"num_envs": 0}, "num_envs"),
        ({"observation": "dict"}, "observation"),
        ({"render_mode": "human"}, "render_mode"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        SkiftVecEnv(**{"num_envs": 2} | arguments)


def test_steps_out_of_order_are_errors() -> None:
    env = SkiftVecEnv(2, first_legal, side="white")
    with pytest.raises(OptionError, match="before the first reset"):
        env.step(np.zeros(2, int))
    assert not masks_of(env).any()
    env.reset()
    with pytest.raises(OptionError, match="without step_async"):
        env.step_wait()
    env.step(masks_of(env).argmax(axis=1))
    with pytest.raises(OptionError, match="without step_async"):
        env.step_wait()
    before = positions(env)
    with pytest.raises(OptionError, match="actions must be integers"):
        env.step(np.zeros(2))
    assert positions(env) == before


# What SB3 asks of a VecEnv


def test_methods_and_attributes_of_some_games() -> None:
    env = SkiftVecEnv(4, first_legal, side="white", position=SHORT_GAMES[:4])
    env.reset()
    masks = env.action_masks()
    assert (masks.shape, masks.dtype) == ((4, 405), np.bool_)
    assert same(env.env_method("action_masks", indices=[2, 0]), [masks[2], masks[0]])
    assert same(env.env_method("action_masks", indices=3), [masks[3]])
    assert is_masking_supported(env)
    assert same(get_action_masks(env), masks)
    assert not env.has_attr("no_such")
    assert env.has_attr("max_plies")
    assert env.get_attr("max_plies", [1, 2]) == [300, 300]
    assert env.env_is_wrapped(Monitor, [0, 1, 2]) == [False, False, False]
    for name, refused in (
        ("step", partial(env.env_method, "step")),
        ("max_plies", partial(env.set_attr, "max_plies", 3)),
        ("no_such", partial(env.get_attr, "no_such")),
    ):
        with pytest.raises(AttributeError, match=name):
            refused()
    with pytest.raises(TypeError):
        env.env_method("action_masks", 3)
    assert env.get_attr("max_plies") == 4 * [300]


def test_nothing_returned_is_written_again() -> None:
    env = SkiftVecEnv(3, max_plies=4)
    env.seed(1)
    kept: list[np.ndarray] = [env.reset(), *env.env_method("action_masks")]
    copies = copy.deepcopy(kept)
    for _ in range(6):
        observations, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
        new = [observations, rewards, dones, env.action_masks()]
        new += [info["terminal_observation"] for info in infos if info]
        for old in kept:
            assert not any(np.shares_memory(old, each) for each in new)
        kept += new
        copies += copy.deepcopy(new)
    assert same(kept, copies)


@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_a_copy_goes_on_like_its_original(duplicate: Callable[[Any], Any]) -> None:
    mixture = Mixture(["random", Last()], [1, 1])
    env = SkiftVecEnv(COUNT, mixture, max_plies=MAX_PLIES, position=SHORT_GAMES, num_threads=2)
    run(env, 4)
    twin = duplicate(env)
    assert same(run(env, 8, None), run(twin, 8, None))
    for each in (env, twin):
        each.close()


def test_pictures() -> None:
    pytest.importorskip("pygame")
    env = SkiftVecEnv(
        4, first_legal, side="white", render_mode="rgb_array", position=SHORT_GAMES[:4]
    )
    env.reset()
    expected = [render.rgb_array(position) for position in positions(env)]
    assert same(list(env.get_images()), expected)
    tiled = env.render()
    assert tiled is not None
    assert tiled.shape == (2 * 720, 2 * 640, 3)
    assert same(tiled[:720, 640:], expected[1])
    env = SkiftVecEnv(2, first_legal, render_mode="ansi")
    env.reset()
    assert env.render() is None, "SB3 shows text to nobody"
    assert env.env_method("render", indices=[1]) == [render.text(positions(env)[1])]
    env = SkiftVecEnv(2)
    env.reset()
    with pytest.warns(UserWarning, match="render mode"):
        assert list(env.get_images()) == [None, None]


def test_monitored_statistics_are_those_counted_by_hand() -> None:
    env = VecMonitor(
        VecCheckNan(
            SkiftVecEnv(COUNT, max_plies=MAX_PLIES, position=SHORT_GAMES), raise_exception=True
        )
    )
    env.seed(6)
    env.reset()
    players = [np.random.default_rng([6, game]) for game in range(COUNT)]
    returns, lengths = np.zeros(COUNT), np.zeros(COUNT, int)
    finished = 0
    for _ in range(STEPS):
        _, rewards, dones, infos = env.step(choose(masks_of(env), players))
        returns += rewards
        lengths += 1
        for game, info in enumerate(infos):
            assert ("episode" in info) == dones[game]
            if dones[game]:
                assert info["episode"]["r"] == returns[game]
                assert info["episode"]["l"] == lengths[game]
                finished += 1
        returns[dones], lengths[dones] = 0, 0
    assert finished > 3


# MaskablePPO


def learner(env: Any, **kwargs: Any) -> MaskablePPO:
    return MaskablePPO(
        "MlpPolicy", env, n_steps=16, batch_size=64, policy_kwargs={"net_arch": [32]}, seed=1,
        device="cpu", **kwargs,
    )  # fmt: skip


@pytest.mark.compiled_only
@BY_OBSERVATION
def test_what_maskable_ppo_collects_is_what_was_played(observation: str) -> None:
    env = SkiftVecEnv(COUNT, observation=observation, max_plies=MAX_PLIES, position=SHORT_GAMES)
    model = learner(env, n_epochs=2)
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(2 * 16 * COUNT)
    assert model.num_timesteps == 2 * 16 * COUNT
    after = model.policy.state_dict()
    assert any(not value.equal(after[name]) for name, value in before.items())
    assert all(value.isfinite().all() for value in after.values())
    buffer = model.rollout_buffer
    size = 16 * COUNT
    assert buffer.full
    masks = buffer.action_masks.reshape(size, 405)
    actions = buffer.actions.reshape(size).astype(int)
    assert masks[np.arange(size), actions].all(), "only legal actions"
    if observation == "tokens":
        shown = buffer.observations.reshape(size, 9, 52)
        assert shown[:, 0, 51].all(), "the learner is to move in all that it sees"


@pytest.mark.compiled_only
def test_maskable_ppo_learns_to_win_in_one_ply() -> None:
    make_env = partial(SkiftVecEnv, 32, side="white", position=ONE_PLY, max_plies=21)
    wins = {
        action
        for action in Position.parse(ONE_PLY).legal_actions
        if (outcome := Position.parse(ONE_PLY).play(action).outcome) and outcome.winner == "white"
    }

    def value() -> float:
        """The mean result over some games."""
        mean, _ = evaluate_policy(model, VecMonitor(make_env()), 128, deterministic=False)
        return float(np.mean(mean))

    model = learner(VecMonitor(make_env()), learning_rate=1e-2, n_epochs=2, gamma=1.0)
    assert value() < 0.3
    model.learn(10 * 16 * 32)
    assert value() > 0.8
    env = make_env()
    actions, _ = model.predict(env.reset(), action_masks=env.action_masks(), deterministic=True)
    assert set(actions.tolist()) <= wins
