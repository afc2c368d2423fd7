"""The Gymnasium environment keeps Gymnasium's conventions, and plays a game against an opponent."""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import Error as GymnasiumError
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo, TimeLimit
from opponents import (
    BLACK_WINS,
    DUPLICATES,
    ENDS,
    CheatsFrom,
    CheatsInBatchFrom,
    FirstInKernel,
    Last,
    RandomInBatch,
    Says,
    arrays,
    binomial_tail,
    draw_legal,
    drawn_legal,
    first_legal,
    illegal_action,
    same,
)

import skift_env
from skift_env import agents, render
from skift_env.agents import RandomAgent
from skift_env.episodes import OptionError
from skift_env.gymnasium_env import SkiftEnv
from skift_env.position import IllegalActionError, Position, PositionError
from skift_env.render import Window

KINDS = ("tokens", "planes", "dict")
SIDES = ("white", "black")
RENDER_MODES = (None, "human", "rgb_array", "ansi")
BY_KIND = pytest.mark.parametrize("kind", KINDS)
BY_SIDE = pytest.mark.parametrize("side", SIDES)
ID = "skift/Skift-v0"
SMALL = "..../KP../..kp/.... w - 4"


@pytest.fixture(autouse=True)
def quick_windows_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(render, "Window", partial(Window, fps=0))


def other(side: str) -> str:
    return "black" if side == "white" else "white"


def swapped(text: str) -> str:
    """The same position with the colours and the side to move changed."""
    return Position.parse(text).transform(0, swap_colours=True).text


def seen(position: Position, side: str, kind: str, *, over: bool = False) -> Any:
    """What the documentation says that a learner observes."""
    if kind == "planes":
        return position.observation("planes", side)
    tokens = position.observation("tokens", side).astype(np.float32).reshape(468)
    if kind == "tokens":
        return tokens
    return {"observation": tokens, "action_mask": mask_of(position, over=over)}


def mask_of(position: Position, *, over: bool) -> np.ndarray:
    mask = np.zeros(405, np.int8)
    if not over:
        mask[list(position.legal_actions)] = 1
    return mask


def played(env: Any, generator: np.random.Generator, steps: int) -> list[Any]:
    """What an environment tells when it plays some steps, with new games where needed."""
    told: list[Any] = []
    mask = env.unwrapped.action_masks()
    for _ in range(steps):
        if not mask.any():
            told.append(env.reset())
        else:
            told.append(env.step(draw_legal(mask, generator)))
        mask = env.unwrapped.action_masks()
        told.append([mask, env.unwrapped.position, env.unwrapped.learner])
    return told


# Gymnasium's own tests


@BY_KIND
@pytest.mark.parametrize("opponent", ["random", first_legal])
def test_gymnasium_finds_no_fault(kind: str, opponent: Any) -> None:
    env = gymnasium.make(ID, observation=kind, opponent=opponent)
    check_env(env.unwrapped)
    env.close()


@BY_KIND
def test_gymnasium_finds_no_fault_during_play(kind: str) -> None:
    env = gymnasium.make(ID, observation=kind, max_plies=20)
    env.reset(seed=1)
    for result in played(env, np.random.default_rng(1), 30)[::2]:
        assert env.observation_space.contains(result[0])
        assert set(result[-1]) == {"action_mask"}


# A game


@BY_KIND
@BY_SIDE
@pytest.mark.parametrize("opponent", [first_legal, Last(), FirstInKernel()])
def test_a_step_is_the_ply_of_the_learner_and_the_reply(
    kind: str, side: str, opponent: Any
) -> None:
    env = SkiftEnv(opponent, side, kind, max_plies=9)
    choose = opponent if opponent is first_legal else opponent.act
    generator = np.random.default_rng(3)
    ends = set()
    for episode in range(8):
        position = Position.start() if episode % 2 else Position.parse(SMALL)
        observation, info = env.reset(seed=episode, options={"position": position.text})
        if side == "black":
            position = position.play(choose(position, generator))
        reward, terminated, truncated = 0.0, False, False
        while True:
            over = terminated or truncated
            assert (env.position, env.learner) == (position, side)
            assert same(observation, seen(position, side, kind, over=over))
            assert same(info, {"action_mask": mask_of(position, over=over)})
            assert same(env.action_masks(), mask_of(position, over=over).astype(bool))
            if over:
                break
            action = draw_legal(info["action_mask"], generator)
            observation, *result, info = env.step(action)
            position = position.play(action)
            if position.outcome is None and position.ply < 9:
                position = position.play(choose(position, generator))
            terminated = position.outcome is not None
            truncated = not terminated and position.ply >= 9
            winner = position.outcome.winner if position.outcome else None
            reward = 0.0 if winner is None else 1.0 if winner == side else -1.0
            assert same(result, [reward, terminated, truncated])
        ends.add((reward, terminated))
    assert (0.0, False) in ends
    assert len(ends) > 1


@BY_SIDE
@pytest.mark.parametrize(("end", "winner"), ENDS.items(), ids=str)
def test_the_end_by_the_opponent_reaches_the_learner(
    end: tuple[str, str, str], winner: str | None, side: str
) -> None:
    text, move, reply = end
    action = Position.parse(text).parse_action(move)
    if side == "black":
        text, winner = swapped(text), winner and other(winner)
    env = SkiftEnv(Says(reply), side, position=text)
    env.reset()
    observation, reward, terminated, truncated, info = env.step(action)
    outcome = env.position.outcome
    assert outcome is not None
    assert outcome.winner == winner
    assert (terminated, truncated) == (True, False)
    assert reward == (0 if winner is None else 1 if winner == side else -1)
    assert same(observation, seen(env.position, side, "tokens"))
    assert not info["action_mask"].any()


@BY_SIDE
@pytest.mark.parametrize(("move", "winner"), [("c2e", "white"), ("a2w", "black")])
def test_the_opponent_does_not_answer_a_ply_that_ends_the_game(
    side: str, move: str, winner: str
) -> None:
    text = "K.Pk/p... w - 20"
    action = Position.parse(text).parse_action(move)
    if side == "black":
        text, winner = swapped(text), other(winner)

    def never(position: Position, rng: np.random.Generator) -> int:
        raise AssertionError("the game is over")

    env = SkiftEnv(never, side, position=text)
    env.reset()
    _, reward, terminated, truncated, _ = env.step(action)
    assert (reward, terminated, truncated) == (1 if winner == side else -1, True, False)
    assert env.position.ply == 21


@pytest.mark.parametrize(("max_plies", "plies"), [(5, [2, 4, 5]), (6, [2, 4, 6])])
def test_a_game_is_truncated_at_max_plies(max_plies: int, plies: list[int]) -> None:
    env = SkiftEnv(first_legal, "white", max_plies=max_plies)
    env.reset()
    for ply in plies:
        _, reward, terminated, truncated, info = env.step(env.position.legal_actions[0])
        assert env.position.ply == ply
        assert (reward, terminated, truncated) == (0, False, ply == max_plies)
        assert info["action_mask"].any() != truncated


@pytest.mark.parametrize(("max_plies", "move"), [(22, "a1e"), (21, "c2e")])
def test_a_game_that_ends_at_max_plies_is_not_truncated(max_plies: int, move: str) -> None:
    text = BLACK_WINS[0] if move == "a1e" else "K.Pk/p... w - 20"
    env = SkiftEnv(Says("c2e"), "white", max_plies=max_plies, position=text)
    env.reset()
    _, reward, terminated, truncated, _ = env.step(env.position.parse_action(move))
    assert (abs(reward), terminated, truncated) == (1, True, False)


def test_a_step_without_a_game_is_an_error() -> None:
    env = SkiftEnv(Says("c2e"), "white", position=BLACK_WINS[0])
    with pytest.raises(OptionError, match="call reset"):
        env.step(0)
    assert not env.action_masks().any()
    env.reset()
    env.step(env.position.parse_action("a1e"))
    position = env.position
    with pytest.raises(OptionError, match="call reset"):
        env.step(0)
    assert env.position == position
    env.reset()
    assert env.action_masks().any()


# Opponents


OPPONENTS = [
    "random",
    "random-v1",
    RandomAgent(),
    RandomInBatch(),
    FirstInKernel(),
    Last(),
    first_legal,
    drawn_legal,
    Last().act,
]


def game(env: SkiftEnv, seed: int, steps: int = 25) -> list[Any]:
    return [env.reset(seed=seed), played(env, np.random.default_rng(seed), steps)]


@pytest.mark.parametrize("opponent", OPPONENTS)
def test_a_seed_decides_everything(opponent: Any) -> None:
    one, two = SkiftEnv(opponent, max_plies=24), SkiftEnv(opponent, max_plies=24)
    expected = game(one, 5)
    assert same(game(two, 5), expected)
    assert same(game(one, 5), expected)
    assert not same(game(two, 6), expected)


@pytest.mark.parametrize(
    "twins",
    [
        ("random", "random-v1", RandomAgent(), RandomInBatch()),
        (first_legal, FirstInKernel()),
        (Last(), Last().act),
    ],
)
def test_an_opponent_plays_alike_in_every_form(twins: tuple[Any, ...]) -> None:
    games = [game(SkiftEnv(twin, max_plies=40), 3) for twin in twins]
    assert all(same(games[0], each) for each in games[1:])


def test_a_named_agent_is_the_agent_of_that_name() -> None:
    agent = agents.make("greedy")
    assert same(game(SkiftEnv("greedy"), 1), game(SkiftEnv(agent), 1))
    assert not same(game(SkiftEnv("greedy"), 1), game(SkiftEnv("random"), 1))


def test_an_agent_with_the_name_of_a_kernel_is_asked_all_the_same() -> None:
    agent = Last()
    agent.name = "random-v1"
    assert same(game(SkiftEnv(agent), 1), game(SkiftEnv(Last()), 1))


def test_the_opponent_sees_the_position_and_draws_from_the_generator_of_the_game() -> None:
    calls = []

    def record(position: Position, rng: np.random.Generator) -> int:
        calls.append((position, float(rng.random())))
        return position.legal_actions[0]

    env = SkiftEnv(record, "black")
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        for _ in range(3):
            env.step(env.position.legal_actions[0])
    games = [calls[start : start + 4] for start in (0, 4, 8)]
    assert [[position.ply for position, _ in each] for each in games] == 3 * [[0, 2, 4, 6]]
    assert all(position.side == "white" for position, _ in calls)
    assert games[0] == games[1]
    assert len({number for _, number in games[0] + games[2]}) == 8


@pytest.mark.parametrize("cheat", [CheatsFrom, CheatsInBatchFrom])
@BY_SIDE
def test_an_opponent_that_cheats_is_named_and_changes_nothing(
    cheat: Callable[[int], Any], side: str
) -> None:
    env = SkiftEnv(cheat(5), side)
    env.reset(seed=1)
    while env.position.ply < 4:
        env.step(env.position.legal_actions[0])
    if side == "black":
        assert env.position.ply == 5
    action = env.position.legal_actions[0]
    twin = copy.deepcopy(env)
    after = env.position.play(action)
    for _ in range(2):
        with pytest.raises(IllegalActionError, match="illegal action") as caught:
            env.step(action)
        assert after.text in str(caught.value)
    assert (env.position, env.learner) == (twin.position, twin.learner)
    assert same(env.action_masks(), twin.action_masks())
    for each in (env, twin):
        each.games.opponents.members[:] = (agents.make("random"),)  # what it plays from now on
    assert same(*(played(each, np.random.default_rng(0), 9) for each in (env, twin)))


@pytest.mark.parametrize("answer", [-1, 405, 3.0, b"c2e", None, [0], np.array([0]), True])
def test_an_answer_that_is_no_action_is_refused(answer: Any) -> None:
    env = SkiftEnv(Says(answer), "white")
    env.reset(seed=1)
    position = env.position
    with pytest.raises(IllegalActionError):
        env.step(position.legal_actions[0])
    assert env.position == position


def test_an_opponent_that_fails_changes_nothing() -> None:
    failing = True

    def fails(position: Position, rng: np.random.Generator) -> int:
        rng.random()
        if failing:
            raise ZeroDivisionError
        return drawn_legal(position, rng)

    env, twin = SkiftEnv(fails, "white"), SkiftEnv(fails, "white")
    for each in (env, twin):
        each.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        env.step(env.position.legal_actions[0])
    failing = False
    assert same(*(played(each, np.random.default_rng(0), 9) for each in (env, twin)))


# Sides


@BY_SIDE
def test_a_side_that_is_given_stays(side: str) -> None:
    env = SkiftEnv(side=side)
    for seed in (None, 1, 2, None):
        env.reset(seed=seed)
        assert env.learner == env.position.side == side
        assert env.position.ply == SIDES.index(side)


def test_a_side_that_is_drawn_is_drawn_evenly_for_each_episode() -> None:
    env = SkiftEnv(first_legal, "random")
    by_seed = []
    for seed in range(400):
        env.reset(seed=seed)
        by_seed.append(env.learner)
        assert env.position.side == env.learner
    in_a_row = []
    for _ in range(400):
        env.reset()
        in_a_row.append(env.learner)
    for sides in (by_seed, in_a_row):
        assert binomial_tail(sides.count("white"), 400) > 0.001
        runs = 1 + sum(one != two for one, two in itertools.pairwise(sides))
        assert binomial_tail(runs - 1, 399) > 0.001
    env.reset(seed=399)
    assert env.learner == by_seed[399]


# Illegal actions


@BY_KIND
@BY_SIDE
def test_an_illegal_action_ends_the_game_with_a_loss(kind: str, side: str) -> None:
    env = SkiftEnv(first_legal, side, kind)
    env.reset(seed=1)
    env.step(env.position.legal_actions[0])
    position = env.position
    illegal = [*set(range(405)) - set(position.legal_actions), -1, -405, 405, 2**40, 10**30]
    for action in illegal[:: 1 if kind == "tokens" else 29]:
        twin = copy.deepcopy(env)
        observation, *result, info = twin.step(action)
        assert same(result, [-1.0, True, False])
        assert twin.position == position
        assert same(observation, seen(position, side, kind, over=True))
        assert not info["action_mask"].any()
        assert not twin.action_masks().any()
        with pytest.raises(OptionError, match="call reset"):
            twin.step(position.legal_actions[0])


@pytest.mark.parametrize(
    "kind", [int, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.asarray]
)
def test_integers_of_every_kind_are_actions(kind: Any) -> None:
    env = SkiftEnv(first_legal, "white", position=SMALL)
    for action in Position.parse(SMALL).legal_actions[:2]:
        env.reset()
        env.step(kind(action))
        after = Position.parse(SMALL).play(action)
        assert env.position == after.play(after.legal_actions[0])


@pytest.mark.parametrize(
    "action",
    [
        1.0, np.float32(1), np.array(1.0), True, np.True_, np.array(True), "1", None, [1], (1,),
        np.array([1, 2]), {},
    ],
)  # fmt: skip
def test_nothing_else_is_an_action(action: Any) -> None:
    env = SkiftEnv(position=SMALL)
    env.reset(seed=3)
    twin = copy.deepcopy(env)
    with pytest.raises(OptionError, match="action must be an integer") as caught:
        env.step(action)
    assert repr(action) in str(caught.value)
    assert same(*(played(each, np.random.default_rng(0), 9) for each in (env, twin)))


# How an episode begins


def test_options_set_the_position_and_play_random_plies() -> None:
    env = SkiftEnv(first_legal, "white")
    position = Position.parse(SMALL)
    env.reset(options={"position": position.text})
    assert env.position == position
    env.reset(options={"position": swapped(position.text)})
    moved = Position.parse(swapped(position.text))
    assert env.position == moved.play(moved.legal_actions[0])
    env.reset(seed=1, options={"random_plies": np.int64(8)})
    assert env.position.ply == 8
    env.reset(options={"random_plies": 7})
    assert env.position.ply == 8, "the opponent moves in between"
    env.reset(options={"random_plies": 2, "position": position.text})
    assert env.position.ply == 6
    for nothing in (None, {}):
        env.reset(options=nothing)
        assert env.position == Position.start()


def test_arguments_hold_for_every_episode_unless_options_say_otherwise() -> None:
    env = SkiftEnv(first_legal, "white", position=SMALL, random_plies=2)
    for _ in range(2):
        env.reset(seed=2)
        assert len(env.position.board) < 9
        assert env.position.ply == 6
        env.reset(options={"random_plies": 0})
        assert env.position == Position.parse(SMALL)
        env.reset(options={"position": None})
        assert env.position.ply == 2
        env.reset(options={"position": None, "random_plies": 0})
        assert env.position == Position.start()


def test_random_plies_are_drawn_from_the_generator_of_the_episode() -> None:
    env = SkiftEnv(side="white", random_plies=6)
    drawn = []
    for seed in (1, 2, 1, None, None):
        env.reset(seed=seed)
        drawn.append(env.position)
    assert drawn[0] == drawn[2]
    assert len(set(drawn)) == 4


def test_an_episode_in_which_the_learner_never_moves_is_not_played() -> None:
    # White loses at once whenever it is the opponent; so the learner is never black.
    env = SkiftEnv(Says("a2w"), "random", position="K.Pk/p... w - 20")
    for seed in range(10):
        env.reset(seed=seed)
        assert (env.learner, env.position.ply) == ("white", 20)
    env = SkiftEnv("random", "random", random_plies=3, position=SMALL)
    for seed in range(30):
        _, info = env.reset(seed=seed)
        assert env.position.outcome is None
        assert info["action_mask"].any()


def test_only_a_seed_seeds() -> None:
    def openings(env: Any, seed: int | None) -> list[Position]:
        drawn = []
        for number in range(4):
            env.reset(seed=None if number else seed, options={"random_plies": 6})
            drawn.append(env.position)
        return drawn

    env = SkiftEnv()
    drawn = openings(env, 7)
    assert len(set(drawn)) == 4
    assert openings(env, 7) == openings(SkiftEnv(), 7) == drawn
    assert openings(env, None) != drawn
    assert openings(SkiftEnv(), None) != openings(SkiftEnv(), None)
    unseeded = SkiftEnv()
    drawn = openings(unseeded, None)
    assert openings(SkiftEnv(), unseeded.np_random_seed) == drawn, "what it drew can be had again"


BAD_OPTIONS = [
    ({"positon": "x"}, OptionError, "'positon'"),
    ({"position": None, "plies": 3}, OptionError, "'plies'"),
    ({3: 4}, OptionError, "3"),
    ({"reset_mask": np.ones(1, bool)}, OptionError, "reset_mask"),
    ({"position": 3}, OptionError, "position"),
    ({"position": Position.start()}, OptionError, "position"),
    ({"position": ""}, PositionError, "fields"),
    ({"position": "K.../p... w - 20"}, OptionError, "position.*over"),
    ({"position": "K.Pk/p... w - 300"}, OptionError, "position.*max_plies"),
    ({"random_plies": -1}, OptionError, "random_plies"),
    ({"random_plies": 1.0}, OptionError, "random_plies"),
    ({"random_plies": True}, OptionError, "random_plies"),
    ({"random_plies": None}, OptionError, "random_plies"),
    ({"random_plies": 300}, OptionError, "random_plies.*max_plies"),
    ([("random_plies", 1)], OptionError, "options"),
    ("position", OptionError, "options"),
    (7, OptionError, "options"),
    pytest.param(
        {"random_plies": 299}, OptionError, "random plies.*ended", marks=pytest.mark.compiled_only
    ),
]


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("options", "error", "named"), BAD_OPTIONS)
def test_a_refused_reset_changes_nothing(
    seed: int | None, options: Any, error: type[ValueError], named: str
) -> None:
    env = SkiftEnv(render_mode="ansi")
    game(env, 1, 3)
    twin = copy.deepcopy(env)
    with pytest.raises(error, match=named):
        env.reset(seed=seed, options=options)
    assert env.render() == twin.render()
    assert env.np_random.bit_generator.state == twin.np_random.bit_generator.state
    assert same(*(played(each, np.random.default_rng(0), 9) for each in (env, twin)))
    assert same(*(each.reset(options={"random_plies": 6}) for each in (env, twin)))


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_a_refused_seed_changes_nothing(seed: Any) -> None:
    env = SkiftEnv()
    game(env, 1, 3)
    twin = copy.deepcopy(env)
    with pytest.raises(GymnasiumError, match=r"(?i)seed"):
        env.reset(seed=seed)
    assert same(*(played(each, np.random.default_rng(0), 9) for each in (env, twin)))


@pytest.mark.parametrize("seed", [None, 5])
def test_a_reset_in_which_the_opponent_cheats_changes_nothing(seed: int | None) -> None:
    env = SkiftEnv(CheatsFrom(4), "black")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    with pytest.raises(IllegalActionError):
        env.reset(seed=seed, options={"random_plies": 4})
    assert env.position == twin.position
    for each in (env, twin):
        each.reset()
        each.step(each.position.legal_actions[0])
    assert env.position == twin.position


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("observation", ["image", "", None, 3, ["planes"]]),
        ("max_plies", [0, -1, 2.0, True, "300", None]),
        ("render_mode", ["rgb", "", 3, ["ansi"]]),
        ("side", ["red", "", None, 0, ["white"]]),
        ("opponent", [None, 3, [], RandomAgent]),
        ("random_plies", [-1, 1.5, None, True, "3"]),
        ("position", [3, b"", Position.start()]),
    ],
)
def test_wrong_arguments_are_named(argument: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(OptionError, match=argument) as caught:
            SkiftEnv(**{argument: value})
        assert repr(value) in str(caught.value)
    with pytest.raises(TypeError, match="max_cycles"):
        SkiftEnv(max_cycles=3)


def test_wrong_names_of_opponents_and_positions_are_named() -> None:
    with pytest.raises(ValueError, match="'nobody'"):
        SkiftEnv("nobody")
    with pytest.raises(PositionError):
        SkiftEnv(position="nowhere")
    with pytest.raises(OptionError, match="max_plies"):
        SkiftEnv(position="K.Pk/p... w - 20", max_plies=20)


# Copies and arrays


@BY_KIND
def test_nothing_returned_is_shared_with_anything(kind: str) -> None:
    env, twin = SkiftEnv(observation=kind, max_plies=14), SkiftEnv(observation=kind, max_plies=14)
    results = [game(env, 1, 20), game(env, 2, 20)]
    found = list(arrays(results))
    assert len(found) > 80
    for one, two in itertools.combinations(found, 2):
        assert not np.shares_memory(one, two)
    expected = game(twin, 1, 20)
    env.reset(seed=1)
    generator = np.random.default_rng(1)
    for number in range(20):
        one = played(env, generator, 1)
        assert same(one, expected[1][2 * number : 2 * number + 2])
        for array in arrays(one):
            array[:] = 1


@pytest.mark.parametrize("duplicate", DUPLICATES)
@pytest.mark.parametrize("mode", RENDER_MODES)
@pytest.mark.parametrize("opponent", ["random", drawn_legal, Last(), RandomInBatch()])
def test_a_copy_goes_on_like_its_original(
    duplicate: Callable[[Any], Any], mode: str | None, opponent: Any
) -> None:
    env = gymnasium.make(ID, opponent=opponent, render_mode=mode, observation="planes")
    env.reset(seed=2)
    played(env, np.random.default_rng(2), 4)
    twin = duplicate(env)
    if mode in ("ansi", "rgb_array"):
        assert same(env.render(), twin.render())
    assert same(*(played(each, np.random.default_rng(0), 12) for each in (env, twin)))
    for each in (env, twin):
        each.reset(options={"random_plies": 4})
    assert env.unwrapped.position == twin.unwrapped.position
    for each in (env, twin):
        each.close()


@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_a_copy_of_an_episode_that_is_over_is_over(duplicate: Callable[[Any], Any]) -> None:
    env = SkiftEnv()
    env.reset()
    env.step(illegal_action(env.position))
    twin = duplicate(env)
    with pytest.raises(OptionError, match="call reset"):
        twin.step(0)


# Gymnasium's registry and wrappers


def test_the_registry_makes_it() -> None:
    env = gymnasium.make(f"skift_env:{ID}", opponent="random", side="black", max_plies=9)
    assert isinstance(env.unwrapped, SkiftEnv)
    _, info = env.reset()
    assert env.unwrapped.learner == "black"
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, info["action_mask"])
    spec = env.spec
    assert spec is not None
    again = gymnasium.make(EnvSpec.from_json(spec.to_json()))
    again.reset(seed=1)
    assert (again.unwrapped.learner, again.unwrapped.max_plies) == ("black", 9)
    registered = json.loads(gymnasium.spec(ID).to_json())
    assert registered["entry_point"] == "skift_env.gymnasium_env:SkiftEnv"
    assert registered["vector_entry_point"] == "skift_env.vector_env:SkiftVectorEnv"
    assert registered["max_episode_steps"] is None, "else make_vec would pass it"


@BY_KIND
def test_spaces(kind: str) -> None:
    env = gymnasium.make(ID, observation=kind)
    assert env.action_space == gymnasium.spaces.Discrete(skift_env.NUM_ACTIONS)
    tokens = gymnasium.spaces.Box(0, 1, (468,), np.float32)
    mask = gymnasium.spaces.Box(0, 1, (405,), np.int8)
    assert (
        env.observation_space
        == {
            "tokens": tokens,
            "planes": gymnasium.spaces.Box(0, 1, (21, 18, 18), np.int8),
            "dict": gymnasium.spaces.Dict({"observation": tokens, "action_mask": mask}),
        }[kind]
    )
    _, info = env.reset(seed=1)
    env.action_space.seed(1)
    sampled = {int(env.action_space.sample(info["action_mask"])) for _ in range(20)}
    assert sampled <= set(Position.start().legal_actions) | set(
        env.unwrapped.position.legal_actions
    )


def test_time_limit_counts_the_plies_of_the_learner() -> None:
    for env in (
        gymnasium.make(ID, opponent=first_legal, side="black", max_episode_steps=3),
        TimeLimit(SkiftEnv(first_legal, "black"), 3),
    ):
        env.reset(seed=1)
        flags = []
        for _ in range(3):
            flags.append(env.step(env.unwrapped.position.legal_actions[0])[2:4])
        assert flags == [(False, False), (False, False), (False, True)]
        assert env.unwrapped.position.ply == 7


def test_episode_statistics() -> None:
    env = RecordEpisodeStatistics(SkiftEnv(max_plies=26, position=SMALL))
    generator = np.random.default_rng(0)
    returns, lengths = [], []
    for seed in range(12):
        _, info = env.reset(seed=seed)
        total, length, over = 0.0, 0, False
        while not over:
            action = draw_legal(info["action_mask"], generator)
            if seed == 5 and length == 1:
                action = 404
            _, reward, terminated, truncated, info = env.step(action)
            total, length, over = total + reward, length + 1, terminated or truncated
        assert info["episode"]["r"] == total
        assert info["episode"]["l"] == length
        returns.append(total)
        lengths.append(length)
    assert list(env.return_queue) == returns
    assert list(env.length_queue) == lengths
    assert {-1.0, 1.0} <= set(returns)


def make(**kwargs: Any) -> Any:
    """What a new process finds and calls."""
    return gymnasium.make("skift_env:" + ID, **kwargs)


def run(env: Any, steps: int) -> list[Any]:
    results = [env.reset(seed=4)]
    generator = np.random.default_rng(4)
    for _ in range(steps):
        masks = results[-1][-1]["action_mask"]
        results.append(env.step(np.array([draw_legal(mask, generator) for mask in masks])))
    return results


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_environments_in_processes_play_as_in_this_one(context: str) -> None:
    if sys.platform == "win32" and context != "spawn":
        pytest.skip("Windows knows only spawn")
    kinds = [{"opponent": drawn_legal, "max_plies": 6}, {"side": "black", "max_plies": 6}]
    makers = [partial(make, **kwargs) for kwargs in kinds]
    expected = run(SyncVectorEnv(makers), 12)
    env = AsyncVectorEnv(makers, context=context)
    try:
        results = run(env, 12)
        masks = env.call("action_masks")
    finally:
        env.close()
    assert same(results, expected)
    assert same(np.stack(masks), results[-1][-1]["action_mask"].astype(bool))
    assert any(result[3].any() for result in results[1:])


# Pictures


def test_ansi_and_pixels_show_the_last_action() -> None:
    for mode in ("ansi", "rgb_array"):
        picture_of = render.text if mode == "ansi" else render.rgb_array
        env = SkiftEnv(first_legal, "white", max_plies=8, render_mode=mode)
        env.reset()
        assert same(env.render(), picture_of(Position.start()))
        for number in range(4):
            position = env.position
            action = position.legal_actions[number]
            env.step(action)
            middle = position.play(action)
            last = (middle, middle.legal_actions[0])
            assert same(env.render(), picture_of(env.position, last_action=last))
        env.reset()
        assert same(env.render(), picture_of(Position.start()))
        env.step(illegal_action(env.position))
        assert same(env.render(), picture_of(Position.start()))


def test_the_window_shows_every_ply(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    shown = []

    class RecordedWindow(Window):
        def show(self, position: Position, last_action: Any = None) -> None:
            super().show(position, last_action)
            assert self.is_open
            shown.append((position, last_action))

    monkeypatch.setattr(render, "Window", partial(RecordedWindow, fps=0))
    for side in SIDES:
        shown.clear()
        env = gymnasium.make(ID, opponent=first_legal, side=side, max_plies=9, render_mode="human")
        env.reset()
        first = Position.start()
        if side == "black":
            first = first.play(first.legal_actions[0])
        line: list[Any] = [(first, None)]
        while line[-1][0].ply < 9:
            position = line[-1][0]
            action = position.legal_actions[0]
            if position.side == side:
                action = position.legal_actions[-1]
                env.step(action)
            line.append((position.play(action), (position, action)))
        assert shown == line
        env.close()
        env.close()


class Clip:
    """Stands for moviepy's, whose encoder is not what is tested here."""

    def __init__(self, frames: list[np.ndarray], fps: int) -> None:
        self.frames, self.fps = list(frames), fps
        clips.append(self)

    def write_videofile(self, path: str, **kwargs: Any) -> None:
        self.path = path


clips: list[Clip] = []


def test_a_video_shows_every_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    pytest.importorskip("pygame")
    clips.clear()
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    env = RecordVideo(
        gymnasium.make(ID, max_plies=7, side="white", render_mode="rgb_array"),
        str(tmp_path / "videos"),
        episode_trigger=lambda _: True,
    )
    pictures = []
    for seed in range(2):
        env.reset(seed=seed)
        pictures.append([env.render()])
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.unwrapped.position.legal_actions[seed])
            pictures[-1].append(env.render())
            over = terminated or truncated
    env.close()
    assert [clip.fps for clip in clips] == [render.FPS, render.FPS]
    assert same([clip.frames for clip in clips], pictures)
    assert [len(frames) for frames in pictures] == [5, 5]
    assert {frame.shape for frames in pictures for frame in frames} == {(720, 640, 3)}


def test_render_without_a_mode_warns() -> None:
    env = SkiftEnv()
    env.reset()
    with pytest.warns(UserWarning, match="without specifying a render mode"):
        assert env.render() is None
    env.close()
    env.close()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for mode in RENDER_MODES:
        env = SkiftEnv(render_mode=mode, max_plies=8)
        game(env, 1, 8)
        env.close()
    assert capfd.readouterr() == ("", "")
