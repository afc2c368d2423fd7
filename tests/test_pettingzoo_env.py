"""The PettingZoo environment keeps PettingZoo's conventions, and the game's rules."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pettingzoo
import pytest
from gymnasium.error import Error as GymnasiumError
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import aec_to_parallel, turn_based_aec_to_parallel

from skift_env import render, skift_v0
from skift_env.episodes import OptionError
from skift_env.position import IllegalActionError, Position, PositionError
from skift_env.render import Window

LastAction: TypeAlias = tuple[Position, int]

KINDS = ("planes", "tokens")
RENDER_MODES = (None, "human", "rgb_array", "ansi")
WRAPPED_AND_RAW = pytest.mark.parametrize("make", [skift_v0.env, skift_v0.raw_env])
BY_KIND = pytest.mark.parametrize("kind", KINDS)

# White to move. Whoever is out of kings or pawns has lost; both at once, and pieces decide.
PUSHES_THE_LAST_KING_OFF = ("K.Pk/p... w - 20", "c2e", "white")
WALKS_OFF = ("K.Pk/p... w - 20", "a2w", "black")
SENDS_BOTH_KINGS_AWAY = ("KPP.../k..p.. w - 20", "A1w", None)
SENDS_BOTH_KINGS_AWAY_AND_HAS_MORE = ("KPP.../k.Pp.. w - 20", "A1w", "white")
SENDS_BOTH_KINGS_AWAY_AND_HAS_LESS = ("KPP.../k.pp.. w - 20", "A1w", "black")
ENDS = [
    PUSHES_THE_LAST_KING_OFF,
    WALKS_OFF,
    SENDS_BOTH_KINGS_AWAY,
    SENDS_BOTH_KINGS_AWAY_AND_HAS_MORE,
    SENDS_BOTH_KINGS_AWAY_AND_HAS_LESS,
]


NUMBERS_0_AND_1_ARE_LEGAL = "KP../..kp w - 4"


@pytest.fixture(autouse=True)
def quick_windows_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(render, "Window", partial(Window, fps=0))


def act(env: Any) -> int | None:
    """Play a legal action from the agent's own space, or None for an agent that is done."""
    observation, _, terminated, truncated, _ = env.last()
    mask = observation["action_mask"]
    space = env.action_space(env.agent_selection)
    action = None if terminated or truncated else int(space.sample(mask))
    env.step(action)
    return action


def begin(env: Any, seed: int = 0, plies: int = 0, **options: Any) -> Any:
    """Reset an environment and its spaces, and play some plies."""
    env.reset(seed=seed, options=options)
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + number)
    for _ in range(plies):
        act(env)
    return env


def facts(env: Any) -> list[Any]:
    """All that an environment tells of the moment, in values of its own."""
    told = [env.agent_selection, env.agents, env.rewards, env.terminations, env.truncations]
    told += [env.infos, env._cumulative_rewards, env.position]
    told += [env.observe(agent) for agent in env.possible_agents]
    if env.unwrapped.render_mode in ("ansi", "rgb_array"):
        told.append(env.render())
    return copy.deepcopy(told)


def future(env: Any, plies: int = 12) -> list[Any]:
    """What comes of an environment when it plays on, to the end of the game at most, and then
    draws a new game from its generator."""
    seen = [facts(env)]
    while env.agents and len(seen) <= plies:
        act(env)
        seen.append(facts(env))
    env.reset(options={"random_plies": 8})
    return [*seen, facts(env)]


def same(one: Any, other: Any) -> bool:
    """Equality of nested values, dtypes and shapes included."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(data_equivalence(one, other))


def swapped(text: str) -> Position:
    """The same position with the colours and the side to move changed."""
    return Position.parse(text).transform(0, swap_colours=True)


# PettingZoo's own tests


@WRAPPED_AND_RAW
@BY_KIND
def test_api(make: Callable[..., Any], kind: str) -> None:
    api_test(make(observation=kind), num_cycles=150)


@WRAPPED_AND_RAW
@BY_KIND
def test_seed(make: Callable[..., Any], kind: str) -> None:
    seed_test(partial(make, observation=kind), num_cycles=60)


@WRAPPED_AND_RAW
def test_render(make: Callable[..., Any]) -> None:
    render_test(make)


def test_turns_can_be_taken_in_parallel() -> None:
    env = skift_v0.env(max_plies=30)
    parallel_api_test(turn_based_aec_to_parallel(env), num_cycles=50)
    env.reset()
    assert env.infos == {"player_0": {}, "player_1": {}}
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(skift_v0.env())


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo before 1.27")
def test_the_registry_makes_it() -> None:
    for name in ("skift/skift-v0", "skift/skift_v0", "skift/skift"):
        env = pettingzoo.make("aec", name, observation="tokens", max_plies=1)
        assert str(env) == "skift_v0"
        begin(env, plies=1)
        assert env.observe("player_0")["observation"].shape == (9, 52)
        assert env.truncations == {"player_0": True, "player_1": True}


# A game


@BY_KIND
@pytest.mark.parametrize("max_plies", [40, 300])
def test_every_agent_sees_the_position_at_any_time(kind: str, max_plies: int) -> None:
    env = begin(skift_v0.env(observation=kind, max_plies=max_plies), seed=1)
    steps = 0
    while True:
        position = env.position
        over = not env.agents or env.terminations[env.agents[0]] or env.truncations[env.agents[0]]
        assert over == (position.outcome is not None or position.ply == max_plies)
        for agent, side in (("player_0", "white"), ("player_1", "black")):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            assert np.array_equal(observation["observation"], position.observation(kind, side))
            to_move = not over and position.side == side
            assert to_move == (not over and env.agent_selection == agent)
            legal = position.legal_actions if to_move else ()
            assert tuple(np.flatnonzero(observation["action_mask"])) == legal
        if not env.agents:
            break
        action = act(env)
        assert env.position == (position if action is None else position.play(action))
        steps += 1
    assert steps == position.ply + 2


@WRAPPED_AND_RAW
def test_observations_are_fresh_arrays(make: Callable[..., Any]) -> None:
    env = begin(make(), plies=3)
    for agent in env.possible_agents:
        kept = env.observe(agent)
        as_it_was = copy.deepcopy(kept)
        for name in ("observation", "action_mask"):
            assert not np.shares_memory(kept[name], env.observe(agent)[name])
        act(env)
        assert same(kept, as_it_was)
        kept["observation"][:] = kept["action_mask"][:] = 1
        assert env.position == Position.parse(env.position.text)
        assert not same(env.observe(agent), kept)


@BY_KIND
@pytest.mark.parametrize("seed", range(3))
def test_both_agents_see_the_board_from_their_own_side(kind: str, seed: int) -> None:
    env, other = skift_v0.env(observation=kind), skift_v0.env(observation=kind)
    env.reset(seed=seed, options={"random_plies": 5 * seed})
    other.reset(options={"position": swapped(env.position.text).text})
    for mine, theirs in (("player_0", "player_1"), ("player_1", "player_0")):
        assert same(env.observe(mine), other.observe(theirs))


@WRAPPED_AND_RAW
def test_an_unknown_agent_is_named(make: Callable[..., Any]) -> None:
    env = begin(make())
    for ask in (env.observe, env.observation_space, env.action_space):
        with pytest.raises(KeyError, match="player_2"):
            ask("player_2")


def test_spaces_are_the_same_objects_at_every_call_and_for_each_agent_its_own() -> None:
    env = skift_v0.env()
    for space_of in (env.observation_space, env.action_space):
        assert space_of("player_0") is space_of("player_0")
        assert space_of("player_0") is not space_of("player_1")
    env.action_space("player_0").seed(1)
    begin(env, plies=5)
    assert env.action_space("player_1") is env.unwrapped.action_spaces["player_1"]


def test_environments_do_not_share_state() -> None:
    metadata = copy.deepcopy(skift_v0.raw_env.metadata)
    expected = future(begin(skift_v0.env(), seed=3))
    one, other = begin(skift_v0.env(), seed=3), begin(skift_v0.env(), seed=4)
    begin(skift_v0.env(render_mode="ansi"), seed=5, plies=4)
    for _ in range(5):
        act(other)
    assert same(future(one), expected)
    assert one.unwrapped.possible_agents == ["player_0", "player_1"]
    assert skift_v0.raw_env.metadata == metadata


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    for mode in RENDER_MODES:
        env = skift_v0.env(render_mode=mode, max_plies=20)
        future(begin(env), plies=30)
        env.close()
    assert capfd.readouterr() == ("", "")


# Ends


def play_the_end(env: Any, end: tuple[str, str, str | None], *, black: bool) -> dict[str, int]:
    """Play the ply that ends a game, or the same with black to move; what each agent should get."""
    text, move, winner = end
    position = Position.parse(text)
    action = position.parse_action(move)
    if black:
        position = swapped(text)
        winner = winner and ("white" if winner == "black" else "black")
    env.reset(options={"position": position.text})
    assert env.agent_selection == f"player_{int(black)}"
    env.step(action)
    outcome = env.position.outcome
    assert outcome is not None
    assert outcome.winner == winner
    return {
        agent: 0 if winner is None else 1 if side == winner else -1
        for agent, side in (("player_0", "white"), ("player_1", "black"))
    }


@WRAPPED_AND_RAW
@pytest.mark.parametrize("black", [False, True])
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end[0])
def test_both_agents_end_at_once_with_opposite_rewards(
    make: Callable[..., Any], end: tuple[str, str, str | None], black: bool
) -> None:
    env = make()
    expected = play_the_end(env, end, black=black)
    assert env.rewards == env._cumulative_rewards == expected
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    for values in (env.terminations, env.truncations):
        assert {type(value) for value in values.values()} == {bool}
    # who would be to move leaves first: the loser after a push, the winner after a suicide
    first, second = ("player_0", "player_1") if black else ("player_1", "player_0")
    for agent, rest in ((first, [second]), (second, [])):
        assert env.agent_selection == agent
        observation, reward, terminated, truncated, info = env.last()
        assert (reward, terminated, truncated, info) == (expected[agent], True, False, {})
        assert not observation["action_mask"].any()
        with pytest.raises(ValueError, match="only valid action is None"):
            env.step(0)
        env.step(None)
        assert env.agents == rest == list(env.rewards) == list(env.terminations)
        assert set(env.rewards.values()) <= {0}
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()


def test_a_step_after_all_agents_have_left_is_an_error() -> None:
    env = skift_v0.raw_env()
    play_the_end(env, WALKS_OFF, black=False)
    env.step(None)
    env.step(None)
    position = env.position
    for action in (None, 0):
        with pytest.raises(IllegalActionError, match="call reset"):
            env.step(action)
    assert env.position == position
    begin(env, plies=2)


@WRAPPED_AND_RAW
def test_a_game_is_truncated_at_max_plies(make: Callable[..., Any]) -> None:
    env = begin(make(max_plies=7), plies=6)
    assert env.truncations == {"player_0": False, "player_1": False}
    act(env)
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.terminations == {"player_0": False, "player_1": False}
    assert env.position.outcome is None
    for agent in ("player_1", "player_0"):
        assert env.agent_selection == agent
        observation, reward, terminated, truncated, _ = env.last()
        assert (reward, terminated, truncated) == (0, False, True)
        assert not observation["action_mask"].any()
        env.step(None)
    assert env.agents == []


def test_a_game_that_ends_at_max_plies_is_not_truncated() -> None:
    env = skift_v0.env(max_plies=21)
    play_the_end(env, WALKS_OFF, black=False)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}


def test_plies_of_a_position_count_for_max_plies() -> None:
    env = skift_v0.env(max_plies=22)
    env.reset(options={"position": WALKS_OFF[0]})
    for truncated in (False, True):
        env.step(env.position.parse_action("a1e" if truncated else "a2e"))
        assert env.truncations == {"player_0": truncated, "player_1": truncated}


def test_rewards_are_of_the_last_step_only() -> None:
    env = begin(skift_v0.env())
    for _ in range(4):
        env.unwrapped.rewards = {"player_0": 5, "player_1": 5}
        act(env)
        assert env.rewards == {"player_0": 0, "player_1": 0}


# Illegal actions


@pytest.mark.parametrize("plies", [0, 3])
def test_an_illegal_action_ends_the_wrapped_game(
    plies: int, capfd: pytest.CaptureFixture[str]
) -> None:
    env = begin(skift_v0.env(), plies=plies)
    cheat, other = env.agent_selection, f"player_{1 - plies % 2}"
    assert other != cheat
    position = env.position
    env.step(next(a for a in range(405) if a not in position.legal_actions))
    assert env.rewards == env._cumulative_rewards == {cheat: -1, other: 0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.position == position
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    seen = {}
    for agent in env.agent_iter():
        seen[agent] = env.last()[1]
        env.step(None)
    assert seen == {cheat: -1, other: 0}
    expected = future(begin(skift_v0.env(), seed=1), plies=50)
    assert same(future(begin(env, seed=1), plies=50), expected)
    assert capfd.readouterr().out.count("Illegal move") <= 1  # PettingZoo says so itself


def test_an_illegal_action_leaves_the_raw_game_as_it_is() -> None:
    env = begin(skift_v0.raw_env(), plies=3)
    twin = copy.deepcopy(env)
    position = env.position
    for action in set(range(405)) - set(position.legal_actions):
        with pytest.raises(IllegalActionError, match=f"^illegal action {action}\\b") as caught:
            env.step(action)
        assert position.text in str(caught.value)
    assert same(future(env), future(twin))


def test_a_mask_that_is_out_of_date_lets_no_illegal_action_through() -> None:
    env = begin(skift_v0.env())
    stale = env.last()[0]["action_mask"]
    env.unwrapped.reset(options={"position": NUMBERS_0_AND_1_ARE_LEGAL})
    twin = copy.deepcopy(env.unwrapped)
    action = int(np.flatnonzero(stale)[-1])
    assert action not in env.position.legal_actions
    with pytest.raises(IllegalActionError, match="there are only 2 tiles"):
        env.step(action)
    assert same(future(env), future(twin))


@WRAPPED_AND_RAW
@pytest.mark.parametrize(
    "kind", [int, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32, np.asarray]
)
def test_integers_of_every_kind_are_actions(make: Callable[..., Any], kind: Any) -> None:
    env = make()
    for action in (0, 1):
        env.reset(options={"position": NUMBERS_0_AND_1_ARE_LEGAL})
        env.step(kind(action))
        assert env.position == Position.parse(NUMBERS_0_AND_1_ARE_LEGAL).play(action)


@WRAPPED_AND_RAW
@pytest.mark.parametrize(
    "action",
    [
        1.0, np.float32(1), np.array(1.0), float("nan"), 1j, True, np.True_, np.array(True), "1",
        b"1", None, [1], (1,), np.array([1]), {}, -1, 405, 10**20,
    ],
    ids=repr,
)  # fmt: skip
def test_nothing_else_is_an_action(make: Callable[..., Any], action: Any) -> None:
    env = begin(make(), position=NUMBERS_0_AND_1_ARE_LEGAL)
    twin = copy.deepcopy(env)
    refusals: tuple[type[Exception], ...] = (IllegalActionError,)
    if make is skift_v0.env:  # PettingZoo's wrappers and Gymnasium's Discrete refuse it first
        refusals = (AssertionError, ValueError, OverflowError)
    with pytest.raises(refusals):
        env.step(action)
    assert same(future(env), future(twin))


# How a game begins


def test_options_set_the_position_and_play_random_plies() -> None:
    env = skift_v0.env()
    position = swapped(WALKS_OFF[0])
    env.reset(options={"position": position.text})
    assert env.position == position
    assert env.agent_selection == "player_1"
    env.reset(options={"random_plies": np.int64(9)})
    assert (env.position.ply, env.agent_selection) == (9, "player_1")
    env.reset(options={"random_plies": 2, "position": position.text})
    assert (env.position.ply, env.position.outcome) == (22, None)
    env.reset()
    assert env.position == Position.start()
    for nothing in (None, {}):
        env.reset(options=nothing)
        assert env.position == Position.start()


def test_a_random_ply_is_any_legal_ply() -> None:
    env = skift_v0.raw_env()
    start = Position.start()
    children = {start.play(action) for action in start.legal_actions}
    reached = set()
    for seed in range(150):
        env.reset(seed=seed, options={"random_plies": 1})
        reached.add(env.position)
    assert reached <= children
    assert len(reached) > len(children) / 2


def openings(env: Any, seed: int | None, count: int = 4) -> list[Position]:
    drawn = []
    for number in range(count):
        env.reset(seed=None if number else seed, options={"random_plies": 6})
        drawn.append(env.position)
    return drawn


@WRAPPED_AND_RAW
def test_only_a_seed_seeds(make: Callable[..., Any]) -> None:
    env = make()
    drawn = openings(env, 7)
    assert len(set(drawn)) == len(drawn), "without a seed the generator goes on"
    assert openings(env, 7) == openings(make(), 7) == drawn
    assert openings(env, 8) != drawn
    assert openings(env, None) != openings(make(), None)
    env.reset(seed=7)
    env.reset()
    assert openings(env, None, 1) == drawn[:1], "a game without random plies draws nothing"


BAD_OPTIONS = [
    ({"positon": WALKS_OFF[0]}, OptionError, "'positon'"),
    ({"position": WALKS_OFF[0], "plies": 3}, OptionError, "'plies'"),
    ({3: 4}, OptionError, "3"),
    ({"position": 3}, OptionError, "position"),
    ({"position": Position.start()}, OptionError, "position"),
    ({"position": ""}, PositionError, "fields"),
    ({"position": "K.Pk/p... w - 020"}, PositionError, "ply"),
    ({"position": "K.../p... w - 20"}, OptionError, "position.*over"),
    ({"position": "K.Pk/p... w - 300"}, OptionError, "position.*max_plies"),
    ({"random_plies": -1}, OptionError, "random_plies"),
    ({"random_plies": 1.0}, OptionError, "random_plies"),
    ({"random_plies": True}, OptionError, "random_plies"),
    ({"random_plies": "1"}, OptionError, "random_plies"),
    ({"random_plies": None}, OptionError, "random_plies"),
    ({"random_plies": 300}, OptionError, "random_plies.*max_plies"),
    ({"random_plies": 10**30}, OptionError, "random_plies.*max_plies"),
    ({"position": WALKS_OFF[0], "random_plies": 280}, OptionError, "random_plies.*max_plies"),
    ([("random_plies", 1)], OptionError, "options"),
    ("position", OptionError, "options"),
    (7, OptionError, "options"),
    pytest.param(
        {"random_plies": 299}, OptionError, "random_plies.*ended", marks=pytest.mark.compiled_only
    ),
]


@WRAPPED_AND_RAW
@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize(("options", "error", "named"), BAD_OPTIONS)
def test_a_refused_reset_changes_nothing(
    make: Callable[..., Any], seed: int | None, options: Any, error: type[ValueError], named: str
) -> None:
    env = begin(make(), plies=3)
    twin = copy.deepcopy(env)
    with pytest.raises(error, match=named):
        env.reset(seed=seed, options=options)
    assert same(future(env), future(twin))


def test_a_refused_seed_changes_nothing() -> None:
    env = begin(skift_v0.env(), plies=3)
    twin = copy.deepcopy(env)
    for seed in (-1, 1.5, "1"):
        with pytest.raises(GymnasiumError, match=r"(?i)seed"):
            env.reset(seed=seed)
    assert same(future(env), future(twin))


@WRAPPED_AND_RAW
@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("observation", ["image", "", None, 3, ["planes"]]),
        ("max_plies", [0, -1, 2.0, True, "300", None]),
        ("render_mode", ["rgb", "", 3, ["ansi"]]),
    ],
)
def test_wrong_arguments_are_named(
    make: Callable[..., Any], argument: str, values: list[Any]
) -> None:
    for value in values:
        with pytest.raises(OptionError, match=argument) as caught:
            make(**{argument: value})
        assert repr(value) in str(caught.value)
    with pytest.raises(TypeError, match="max_cycles"):
        make(max_cycles=3)


# Copies


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


@WRAPPED_AND_RAW
@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
@pytest.mark.parametrize("mode", RENDER_MODES)
@BY_KIND
def test_a_copy_goes_on_like_its_original(
    make: Callable[..., Any], duplicate: Callable[[Any], Any], mode: str | None, kind: str
) -> None:
    env = begin(make(observation=kind, render_mode=mode), seed=2, plies=5)
    env.last()
    twin = duplicate(env)
    plies = 3 if mode == "rgb_array" else 12
    expected = future(env, plies)
    assert same(future(twin, plies), expected)
    env.close()
    twin.close()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
def test_a_copy_of_a_game_that_is_over_has_its_rewards(duplicate: Callable[[Any], Any]) -> None:
    env = skift_v0.env()
    for dead_steps in range(3):
        expected = play_the_end(env, WALKS_OFF, black=False)
        for _ in range(dead_steps):
            expected.pop(env.agent_selection)
            env.step(None)
        twin = duplicate(env)
        assert twin._cumulative_rewards == expected
        for agent in twin.agent_iter():
            assert twin.last()[1] == expected[agent]
            twin.step(None)
        assert env.agents == list(expected), "the original stays"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
def test_copies_of_spaces_keep_their_sampling_state(duplicate: Callable[[Any], Any]) -> None:
    env = skift_v0.env(observation="tokens")
    for number, agent in enumerate(env.possible_agents):
        for space in (env.action_space(agent), env.observation_space(agent)):
            space.seed(number)
            space.sample()
    twin = duplicate(env)
    for agent in env.possible_agents:
        for space_of in ("action_space", "observation_space"):
            space, other = (getattr(each, space_of)(agent) for each in (env, twin))
            assert space == other
            assert space is not other
            assert all(same(space.sample(), other.sample()) for _ in range(3))


def test_a_pickle_holds_no_compiled_code() -> None:
    env = begin(skift_v0.env(), plies=2)
    assert b"numba" not in pickle.dumps(env), "else a process that loads it compiles anew"


# Pictures


def positions_of_a_game(env: Any) -> Iterator[tuple[Position, LastAction | None]]:
    """Play a game and give each position as it is reached, with what was played before."""
    begin(env, seed=4)
    last_action = None
    while True:
        position = env.position
        yield position, last_action
        if any(env.truncations.values()) or any(env.terminations.values()):
            break
        action = act(env)
        assert action is not None
        last_action = (position, action)
    env.close()


def test_ansi_is_text() -> None:
    env = skift_v0.env(render_mode="ansi", max_plies=30)
    for position, last_action in positions_of_a_game(env):
        picture = env.render()
        assert picture == render.text(position, last_action=last_action)
        assert env.render() == picture, "drawing changes nothing"
    assert position.ply > 5


def test_rgb_arrays_have_one_shape_all_game_long() -> None:
    env = skift_v0.env(render_mode="rgb_array", max_plies=30)
    pictures = [env.render() for _ in positions_of_a_game(env)]
    assert {picture.shape for picture in pictures} == {(720, 640, 3)}
    assert {picture.dtype for picture in pictures} == {np.dtype(np.uint8)}
    assert len({picture.tobytes() for picture in pictures}) == len(pictures) > 5


def test_the_window_shows_every_position(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []

    class RecordedWindow(Window):
        def show(self, position: Position, last_action: LastAction | None = None) -> None:
            super().show(position, last_action)
            assert self.is_open
            shown.append((position, last_action))

    monkeypatch.setattr(render, "Window", partial(RecordedWindow, fps=0))
    env = skift_v0.env(render_mode="human", max_plies=30)
    assert list(positions_of_a_game(env)) == shown
    assert len(shown) > 5


def test_windows_open_late_and_close_twice() -> None:
    pytest.importorskip("pygame")
    env = skift_v0.env(render_mode="human")
    env.close()
    for _ in range(2):
        begin(env, plies=1)
        assert env.render() is None
        twin = copy.deepcopy(env)
        env.close()
        env.close()
        act(twin)
        twin.close()


def test_render_without_a_mode_warns() -> None:
    env = begin(skift_v0.env())
    with pytest.warns(UserWarning, match="without specifying a render mode"):
        assert env.render() is None
    env.close()
    env.close()
