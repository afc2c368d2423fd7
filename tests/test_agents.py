"""The scripted agents: tactics, search against plain minimax, evaluation, and names."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, cast

import frozen_play
import numpy as np
import pytest
from drawn import drawn, random_play, random_position

from skift_env import agents, openings
from skift_env._jit import JIT_ENABLED
from skift_env.agents import AgentSpecError, BatchAgent, KernelAgent, RandomAgent, alphabeta, mcts
from skift_env.agents.alphabeta import DECIDED, WIN, AlphaBeta
from skift_env.agents.evaluation import evaluate, write_gains
from skift_env.agents.mcts import MonteCarlo
from skift_env.arena import play_game
from skift_env.gymnasium_env import SkiftEnv
from skift_env.position import Position
from skift_env.rng import seed_words
from skift_env.rules import LANDLOCKED, NUM_ACTIONS, NUM_TILES, PIECES
from skift_env.vector_env import SkiftVectorEnv

SCRIPTED = ("random-v1", "greedy-v1", "alphabeta-v1", "mcts-v1")
GREEDY = "greedy"
SEARCHERS = (
    "alphabeta:depth=1",
    "alphabeta:depth=2",
    "alphabeta:nodes=300",
    "mcts:simulations=300",
    "mcts:simulations=300,rollout=6",
)
IN_BOTH_MODES = (GREEDY, "alphabeta:depth=1", "mcts:simulations=40")
"""Those that also search interpreted in tolerable time."""


def searchers(*others: str) -> list[Any]:
    return [
        pytest.param(spec, marks=() if spec in IN_BOTH_MODES else pytest.mark.compiled_only)
        for spec in (*others, *SEARCHERS)
    ]


def twins(position: Position) -> Iterator[Position]:
    """The position as others see it: turned, mirrored, with colours swapped."""
    for symmetry, swap_colours in ((0, False), (0, True), (5, False), (3, True)):
        yield position.transform(symmetry, swap_colours)


def text_of_twin(position: Position, move: str, twin: Position) -> str:
    """What a move of a position is called in one of its twins."""
    for symmetry in range(8):
        if twin in (position.transform(symmetry), position.transform(symmetry, True)):
            return twin.action_text(
                position.transform_action(position.parse_action(move), symmetry)
            )
    raise AssertionError("not a twin")


def winning(position: Position) -> set[str]:
    """The actions that win at once."""
    return {
        position.action_text(action)
        for action in position.legal_actions
        if (outcome := position.play(action).outcome) and outcome.winner == position.side
    }


def not_losing(position: Position) -> set[str]:
    """The actions after which the opponent has neither won nor can win at once."""
    safe = set()
    for action in position.legal_actions:
        after = position.play(action)
        lost = after.outcome and after.outcome.winner == after.side
        if not lost and not winning(after):
            safe.add(position.action_text(action))
    return safe


# --- Tactics ---

# White to move. Each with all actions that win at once.
WINS = {
    "a king pushes a king over the edge, or a pawn": (
        """
        .. Kk
        Pp ..
        """,
        {"c2e", "c2sw"},
    ),
    "a pawn pushes a pawn over the edge, or the king": (
        """
        .. kK
        pP ..
        """,
        {"b1w", "b1ne"},
    ),
    "a pawn pushes a line across a corner": (
        """
        .. p. __
        .K .P __
        __ __ p.
        __ __ .k
        """,
        {"d3se"},
    ),
    "a tile leaves the king's behind": (
        """
        k. .K .. ..
        .p P. pp ..
        """,
        {"B1e"},
    ),
    "a tile goes away with the last king, or the group of two does not stay": (
        """
        .. .K .. k.
        p. .P P. p.
        """,
        {"B1w", "C1w", "C1e=1"},
    ),
    "both run out, but white has more pieces": (
        """
        P. kK
        P. pp
        """,
        {"A1w"},
    ),
}

# Black to move; white threatens to win at once, and these are all actions that parry it.
THREATS = {
    "a king in the corner must leave it": (
        """
        .. Kk
        .P ..
        .. p.
        .. ..
        """,
        {"d4sw"},
    ),
    "the last pawn must leave it": (
        """
        p. .K
        .P ..
        .. .k
        .. kP
        """,
        {"a4se"},
    ),
    "a tile is about to break off, and the no-undo rule keeps it": (
        """
        .p PK ..
        k. .P .p
        """,
        {"C1w"},
    ),
}


@pytest.mark.parametrize("name", WINS)
def test_the_wins_are_what_they_are_said_to_be(name: str) -> None:
    drawing, wins = WINS[name]
    assert winning(drawn(drawing)) == wins


@pytest.mark.parametrize("name", THREATS)
def test_the_threats_are_what_they_are_said_to_be(name: str) -> None:
    drawing, parries = THREATS[name]
    assert winning(drawn(drawing, "w"))
    assert not winning(drawn(drawing, "b"))
    assert not_losing(drawn(drawing, "b")) == parries


@pytest.mark.parametrize("name", WINS)
@pytest.mark.parametrize("spec", searchers(GREEDY, "mcts:simulations=40"))
def test_wins_in_one(spec: str, name: str) -> None:
    drawing, wins = WINS[name]
    agent = agents.make(spec)
    for twin in twins(position := drawn(drawing)):
        expected = {text_of_twin(position, move, twin) for move in wins}
        for seed in range(3):
            assert twin.action_text(agent.act(twin, np.random.default_rng(seed))) in expected


@pytest.mark.parametrize("name", THREATS)
@pytest.mark.parametrize("spec", searchers())
def test_losses_in_one_are_avoided(spec: str, name: str) -> None:
    drawing, parries = THREATS[name]
    agent = agents.make(spec)
    for twin in twins(position := drawn(drawing, "b")):
        expected = {text_of_twin(position, move, twin) for move in parries}
        for seed in range(2):
            assert twin.action_text(agent.act(twin, np.random.default_rng(seed))) in expected


def test_the_nearest_win_and_the_farthest_loss_are_worth_most() -> None:
    for drawing, _ in WINS.values():
        found = AlphaBeta(4).search(drawn(drawing))
        assert (found.value, found.depth, found.pv) == (WIN - 1, 1, (found.action,))
    lost = drawn(
        """
        .K k. ..
        .. pp PP
        """
    )
    assert not winning(lost)
    assert not_losing(lost) == set()
    found = AlphaBeta(4).search(lost)
    assert (found.value, found.depth) == (2 - WIN, 2)
    assert len(found.pv) == 2


# --- Alpha-beta against plain minimax ---


def balance(position: Position) -> int:
    """White's pieces less black's, a king counting as three pawns."""
    kings, pawns, their_kings, their_pawns = (
        squares.bit_count() for squares in position.state[PIECES : PIECES + 4].tolist()
    )
    return int(3 * (kings - their_kings) + pawns - their_pawns)


def one_ply_on(value: int) -> int:
    """A value as the opponent of the side for which it holds sees it a ply earlier."""
    if value > DECIDED:
        return 1 - value
    if value < -DECIDED:
        return -1 - value
    return -value


@cache
def minimax(position: Position, depth: int) -> int:
    """The value of a position for the side to move: a win in n plies is WIN - n.

    The search's definition without its cleverness: all actions to the depth; from there on the
    side to move takes `evaluate`, or an action that gains pieces, whatever is better.
    """
    if position.outcome is not None:
        if position.outcome.winner is None:
            return 0
        return WIN if position.outcome.winner == position.side else -WIN
    best = -WIN if depth > 0 else int(evaluate(position.state))
    sign = 1 if position.side == "white" else -1
    before = balance(position)
    for action in position.legal_actions:
        after = position.play(action)
        if depth > 0 or sign * (balance(after) - before) > 0:
            best = max(best, one_ply_on(minimax(after, max(depth - 1, 0))))
    return best


def assert_as_minimax(position: Position, depth: int) -> None:
    minimax.cache_clear()
    values = {a: one_ply_on(minimax(position.play(a), depth - 1)) for a in position.legal_actions}
    found = AlphaBeta(depth).search(position)
    assert found.value == max(values.values()), position
    assert values[found.action] == found.value, position
    assert found.pv[0] == found.action
    bare = AlphaBeta(depth).search(position, use_table=False)
    assert (bare.value, values[bare.action]) == (found.value, found.value), position
    # The principal variation leads to where the value comes from.
    line = [position]
    for action in bare.pv:
        line.append(line[-1].play(action))
    value = minimax(line[-1], 0)
    if line[-1].outcome is None:
        assert value == evaluate(line[-1].state), position
    for _ in bare.pv:
        value = one_ply_on(value)
    assert value == bare.value, position


def small_positions(most_actions: int, number: int, seed: int) -> list[Position]:
    """Random positions that go on, some with a mark, with at most so many legal actions."""
    chance = random.Random(seed)
    found: list[Position] = []
    while len(found) < number:
        position = random_play(random_position(chance), chance.randrange(3), True, chance)[-1]
        if 0 < len(position.legal_actions) <= most_actions:
            found.append(position)
    return found


@pytest.mark.parametrize(
    ("depth", "most_actions", "number"),
    [
        (1, 20, 4),
        pytest.param(1, 120, 60, marks=pytest.mark.compiled_only),
        pytest.param(2, 40, 24, marks=pytest.mark.compiled_only),
        pytest.param(3, 20, 12, marks=pytest.mark.compiled_only),
    ],
)
def test_random_positions_are_worth_what_minimax_says(
    depth: int, most_actions: int, number: int
) -> None:
    for position in small_positions(most_actions, number, seed=depth):
        assert_as_minimax(position, depth)


@pytest.mark.compiled_only
@pytest.mark.parametrize("name", [*WINS, *THREATS])
def test_tactical_positions_are_worth_what_minimax_says(name: str) -> None:
    drawing, _ = (WINS | THREATS)[name]
    for side in "wb":
        assert_as_minimax(drawn(drawing, side), 2)


@pytest.mark.compiled_only
def test_the_table_changes_no_value() -> None:
    nodes = [0, 0]
    for position in (Position.start(), *openings.load()[:8], *random_games(3)[::7]):
        for depth in (2, 3):
            agent = AlphaBeta(depth)
            with_table = agent.search(position)
            without = agent.search(position, use_table=False)
            assert (with_table.value, with_table.depth) == (without.value, without.depth)
    # Deeper down, the same position comes at several levels, also with wins in sight.
    deep, decided = AlphaBeta(6), 0
    for position in small_positions(24, 300, seed=6):
        if abs(AlphaBeta(3).search(position).value) < DECIDED:
            with_table = deep.search(position)
            without = deep.search(position, use_table=False)
            assert (with_table.value, with_table.depth) == (without.value, without.depth), position
            nodes[0] += with_table.nodes
            nodes[1] += without.nodes
            decided += abs(with_table.value) > DECIDED
    assert nodes[0] < 0.6 * nodes[1]
    assert decided > 5


def random_games(number: int) -> list[Position]:
    """All positions of random games that go on."""
    chance = random.Random(11)
    lines = (random_play(Position.start(), 60, game % 2 > 0, chance) for game in range(number))
    return [position for line in lines for position in line if position.outcome is None]


@pytest.mark.compiled_only
def test_nodes_are_counted_and_limited() -> None:
    for position in (Position.start(), *random_games(2)[::9]):
        depths = []
        for nodes in (1, 2, 50, 400, 3000):
            found = AlphaBeta(nodes=nodes).search(position, np.random.default_rng(5))
            assert found == AlphaBeta(nodes=nodes).search(position, np.random.default_rng(5))
            assert found.nodes == nodes or found.value > DECIDED or found.value < -DECIDED
            assert found.action in position.legal_actions
            depths.append(found.depth)
        assert depths == sorted(depths)
        # As many nodes as a depth takes are as good as the depth.
        exact = AlphaBeta(2).search(position)
        assert astuple(AlphaBeta(nodes=exact.nodes).search(position)) == astuple(exact)
        both = AlphaBeta(depth=2, nodes=3000).search(position)
        assert both.nodes <= 3000
        assert both.depth <= 2


def test_an_unfinished_depth_is_no_worse_than_the_one_before() -> None:
    position = drawn(WINS["a tile leaves the king's behind"][0])
    needed = AlphaBeta(1).search(position).nodes
    for nodes in range(needed, needed + 40, 3):
        for use_table in (True, False):
            found = AlphaBeta(nodes=nodes).search(position, use_table=use_table)
            assert position.action_text(found.action) == "B1e"


def test_a_finished_game_is_not_searched() -> None:
    over = Position.parse("KP/.. b - 9")
    with pytest.raises(ValueError, match="the game is over in 'KP/"):
        AlphaBeta(1).search(over)
    with pytest.raises(ValueError, match="the game is over in 'KP/"):
        MonteCarlo(1).search(over, np.random.default_rng(1))


# --- Evaluation ---


def test_evaluations_by_hand() -> None:
    row = """
        .. K. ..
        .. PP kp
        """
    # Two neighbours and three ways off for the king (58 - 24) and each pawn (36 - 24), 150 for two
    # pawns, 8 for the tile; against them 29 - 24 for the king, 18 - 40 for the pawn, 8 for the
    # tile; and room for one piece more on three tiles.
    white = 34 + 12 + 12 + 150 + 8
    black = 5 - 22 + 8
    assert evaluate(drawn(row, "w").state) == white - black + 5 * 3
    assert evaluate(drawn(row, "b").state) == -(white - black + 5 * 3)
    cross = """
        __ P. __
        __ .. __
        .. K. .p
        .. .. ..
        __ .. __
        __ .k __
        """
    # The king's four neighbours landlock its tile, with one way off past their corners. The others
    # have three neighbours and five ways off.
    white = (4 * 29 - 8 - 20) + (3 * 18 - 40 + 8)
    black = (3 * 29 - 40 + 8) + (3 * 18 - 40 + 8)
    assert drawn(cross).state[LANDLOCKED] != 0
    assert evaluate(drawn(cross).state) == white - black
    assert evaluate(Position.start().state) == 0


def test_evaluation_is_fair() -> None:
    chance = random.Random(3)
    for _ in range(60):
        position = random_position(chance)
        value = evaluate(position.state)
        for symmetry in range(8):
            for swap_colours in (False, True):
                assert evaluate(position.transform(symmetry, swap_colours).state) == value
        board, side, mark, ply = position.text.split()
        other = Position.parse(" ".join((board, "bw"["wb".index(side)], mark, ply)))
        assert evaluate(other.state) == -value


def test_gains_are_what_the_actions_gain() -> None:
    actions, gains = np.empty(NUM_ACTIONS, np.int64), np.empty(NUM_ACTIONS, np.int64)
    for position in small_positions(120, 60, seed=4):
        number = write_gains(position.state, actions, gains)
        listed = dict(zip(actions[:number].tolist(), gains[:number].tolist(), strict=True))
        assert len(listed) == number
        sign = 1 if position.side == "white" else -1
        before = balance(position)
        for action in position.legal_actions:
            gain = sign * (balance(position.play(action)) - before)
            assert listed.get(action, 0) == gain, position.describe(action)


# --- Greedy ---


def test_greedy_takes_material_and_then_control_and_draws_among_equals() -> None:
    for position in small_positions(120, 30, seed=5):
        sign = 1 if position.side == "white" else -1
        worths = {}
        for action in position.legal_actions:
            after = position.play(action)
            held = list(after.control.values())
            control = held.count("white") - held.count("black")
            worths[action] = sign * (10 * balance(after) + control)
            if after.outcome is not None:
                winner = after.outcome.winner
                worths[action] = (
                    0 if winner is None else 10_000 * (2 * (winner == position.side) - 1)
                )
        best = {action for action, worth in worths.items() if worth == max(worths.values())}
        agent = agents.make("greedy")
        played = {
            agent.act(position, np.random.default_rng(seed)) for seed in range(12 * len(best))
        }
        assert played <= best
        assert len(played) > 1 or len(best) == 1


def test_noise_is_the_share_of_random_actions() -> None:
    position = openings.load()[0]
    best = {agents.make("greedy").act(position, np.random.default_rng(i)) for i in range(200)}
    noisy, random = agents.make("greedy:noise=0.4"), agents.make("greedy:noise=1.0")
    rngs = np.random.default_rng(0).integers(1, 2**32, (4000, 4))
    states = np.repeat(position.state[None], len(rngs), axis=0)
    chance = len(best) / len(position.legal_actions)
    share = np.isin(noisy.act_batch(states, rngs), list(best)).mean()
    assert share == pytest.approx(0.6 + 0.4 * chance, abs=0.04)
    actions = random.act_batch(states, rngs)
    assert set(actions.tolist()) == set(position.legal_actions)
    assert np.isin(actions, list(best)).mean() == pytest.approx(chance, abs=0.04)
    for noise in (-0.1, 1.1, float("nan")):
        with pytest.raises(agents.AgentSpecError, match="noise"):
            agents.make(f"greedy:noise={noise}")


# --- Monte Carlo tree search ---


@pytest.mark.parametrize(
    ("simulations", "rollout"),
    [
        (1, 0),
        (30, 0),
        (20, 30),
        pytest.param(700, 0, marks=pytest.mark.compiled_only),
        pytest.param(400, 8, marks=pytest.mark.compiled_only),
    ],
)
def test_visits(simulations: int, rollout: int) -> None:
    agent = MonteCarlo(simulations, rollout)
    for position in (Position.start(), *random_games(1)[::12], drawn(WINS[next(iter(WINS))][0])):
        visits, values = agent.search(position, np.random.default_rng(3))
        assert visits.shape == values.shape == (NUM_ACTIONS,)
        assert (visits.dtype, values.dtype) == (np.int64, np.float64)
        assert visits.sum() == simulations
        assert visits.min() >= 0
        assert set(np.flatnonzero(visits)) <= set(position.legal_actions)
        assert np.abs(values).max() <= 1
        assert not values[visits == 0].any()
        again = agent.search(position, np.random.default_rng(3))
        assert (visits == again[0]).all()
        assert (values == again[1]).all()
        action = agent.act(position, np.random.default_rng(3))
        assert visits[action] == visits.max()


def test_the_generator_orders_equals() -> None:
    one = MonteCarlo(1)
    first = {one.act(Position.start(), np.random.default_rng(seed)) for seed in range(24)}
    assert len(first) > 1  # the start is symmetric
    search = AlphaBeta(1)
    first = {search.act(Position.start(), np.random.default_rng(seed)) for seed in range(24)}
    assert len(first) > 1


def test_a_full_tree_is_still_visited() -> None:
    position = Position.start()
    tree = np.empty((1 + len(position.legal_actions), mcts.EDGE_SIZE), np.int64)
    action = mcts.search(
        alphabeta.workspace(0, 0), tree, position.state, seed_words(np.random.default_rng(1)),
        50, 0, np.empty(51, np.int64),
    )  # fmt: skip
    assert tree[0, mcts.COUNT] == 74
    assert tree[1:, mcts.VISITS].sum() == 50
    assert not tree[1:, mcts.COUNT].any()
    assert action in position.legal_actions


def test_a_won_action_is_worth_one() -> None:
    position = drawn(WINS["a pawn pushes a line across a corner"][0])
    visits, values = MonteCarlo(40).search(position, np.random.default_rng(1))
    win = position.parse_action("d3se")
    assert visits.argmax() == win
    assert values[win] == 1


# --- Many games at once, and in environments ---


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "greedy",
        "greedy:noise=0.5",
        "alphabeta:depth=1",
        pytest.param("alphabeta:depth=2", marks=pytest.mark.compiled_only),
        pytest.param("alphabeta:nodes=500", marks=pytest.mark.compiled_only),
        "mcts:simulations=5,rollout=2",
        pytest.param("mcts:simulations=60", marks=pytest.mark.compiled_only),
    ],
)
def test_a_batch_is_one_by_one(spec: str) -> None:
    positions = [*random_games(2)[::10], *(drawn(drawing) for drawing, _ in WINS.values())]
    agent = agents.make(spec)
    assert isinstance(agent, BatchAgent)
    states = np.array([position.state for position in positions])
    rngs = np.array([seed_words(np.random.default_rng(seed)) for seed in range(len(positions))])
    untouched, alone = states.copy(), rngs.copy()
    actions = agent.act_batch(states, rngs)
    assert (states == untouched).all()
    assert (actions.dtype, actions.shape) == (np.int64, (len(positions),))
    for place in reversed(range(len(positions))):
        single = agent.act_batch(states[place : place + 1], alone[place : place + 1])
        assert single[0] == actions[place]
        act = agents.make(spec).act(positions[place], np.random.default_rng(place))
        assert act == actions[place]
        assert act in positions[place].legal_actions
    assert (alone == rngs).all()
    assert len(agent.act_batch(states[:0], rngs[:0])) == 0


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "greedy",
        pytest.param("alphabeta:depth=2", marks=pytest.mark.compiled_only),
        pytest.param("mcts:simulations=50", marks=pytest.mark.compiled_only),
    ],
)
def test_opponents_by_name(spec: str) -> None:
    """The opponent replies with what the agent plays, and the searching ones beat random play."""
    start = drawn(WINS["a pawn pushes a line across a corner"][0], "b", ply=0).text
    for seed in range(3):
        env = SkiftEnv(spec, side="black", max_plies=40, position=start)
        env.reset(seed=seed)
        chance = np.random.default_rng(seed)
        done, reward = False, 0.0
        while not done:
            action = int(chance.choice(np.flatnonzero(env.action_masks())))
            _, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
        assert reward in (-1, 0, 1)
        env.close()
    games = SkiftVectorEnv(8, spec, side="random", max_plies=150)
    _, info = games.reset(seed=1)
    chance = np.random.default_rng(1)
    rewards: list[float] = []
    while len(rewards) < 8:
        actions = [int(chance.choice(np.flatnonzero(mask))) for mask in info["action_mask"]]
        _, reward_row, terminated_row, truncated_row, info = games.step(np.array(actions))
        rewards += reward_row[terminated_row | truncated_row].tolist()
        info["action_mask"][~info["action_mask"].any(axis=1), 0] = 1  # a game to be reset
    games.close()
    if spec not in ("random", "greedy"):
        assert np.mean(rewards) < -0.7


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("stronger", "weaker", "share"),
    [
        ("greedy", "random", 0.9),
        ("alphabeta:depth=1", "greedy", 0.8),
        ("alphabeta:depth=2", "greedy", 0.9),
        ("alphabeta:depth=2", "alphabeta:depth=1", 0.7),
        ("mcts:simulations=100", "greedy", 0.9),
    ],
)
def test_the_stronger_wins(stronger: str, weaker: str, share: float) -> None:
    """In 20 games, of which these seeds give many more than are asked for."""
    score = 0.0
    for seed, start in enumerate(openings.load()[:10]):
        for colours in ((stronger, weaker), (weaker, stronger)):
            game = play_game(*colours, start=start, seed=seed, max_plies=200)
            white = game.score
            assert white is not None
            score += white if colours[0] == stronger else 1 - white
    assert score / 20 >= share


# --- Names ---


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registrations that are forgotten after the test."""
    monkeypatch.setattr(agents, "_AGENTS", dict(agents._AGENTS))


def test_names() -> None:
    assert agents.names()[:4] == SCRIPTED
    for spec, name in (
        ("random", "random-v1"),
        ("random-v1", "random-v1"),
        ("greedy", "greedy-v1"),
        ("alphabeta", "alphabeta-v1:depth=3"),
        ("alphabeta:nodes=900", "alphabeta-v1:nodes=900"),
        ("alphabeta-v1:nodes=900,depth=4", "alphabeta-v1:depth=4,nodes=900"),
        ("mcts", "mcts-v1:simulations=400"),
        ("mcts:rollout=7,simulations=20", "mcts-v1:simulations=20,rollout=7"),
        ("mcts:rollout=0", "mcts-v1:simulations=400"),
    ):
        assert agents.make(spec).name == name
        assert agents.make(name).name == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no agent '' in ''; there are alphabeta, greedy, mcts, ppo, random"),
        ("minimax", "no agent 'minimax'"),
        ("Greedy", "no agent 'Greedy'"),
        ("greedy-v9", "no agent 'greedy-v9' in 'greedy-v9'; there is greedy-v1"),
        ("greedy:", "'' in 'greedy:' is not of the form 'parameter=value'"),
        ("greedy:depth=3", "no parameter 'depth' in 'greedy:depth=3': greedy takes noise"),
        ("alphabeta:3", "'3' in 'alphabeta:3' is not of the form"),
        ("alphabeta:depth", "'depth' in 'alphabeta:depth' is not of the form"),
        ("alphabeta:depth=", "'depth=' in 'alphabeta:depth=' is not of the form"),
        ("alphabeta:depth=3,", "'' in 'alphabeta:depth=3,' is not of the form"),
        ("alphabeta:plies=3", "no parameter 'plies' .* takes depth, nodes"),
        ("alphabeta:depth=3,depth=4", "depth is given twice in 'alphabeta:depth=3,depth=4'"),
        ("alphabeta:depth=three", "depth must be an integer, not 'three', in"),
        ("alphabeta:depth=2.5", "depth must be an integer, not '2.5', in"),
        ("alphabeta:depth=0", "depth must be 1 … 32, not 0, in 'alphabeta:depth=0'"),
        ("alphabeta:depth=33", "depth must be 1 … 32, not 33"),
        ("alphabeta:nodes=0", "nodes must be 1 … .*, not 0"),
        ("alphabeta:nodes=999999999999", "nodes must be 1 … "),
        ("mcts:simulations=0", "simulations must be 1 … .*, not 0"),
        ("mcts:simulations=1000001", "simulations must be 1 … 1000000, not 1000001"),
        ("mcts:rollout=-1", "rollout must be 0 … 1000 plies, not -1"),
    ],
)
def test_wrong_specifications(spec: str, message: str) -> None:
    with pytest.raises(AgentSpecError, match=message):
        agents.make(spec)


class Mine(RandomAgent):
    """With all kinds of parameters."""

    def __init__(self, size: int, share: float = 0.5, bold: bool = False, word: str = "") -> None:
        if size < 0:
            raise ValueError(f"size must be at least 0, not {size}")
        self.name = f"mine-v1:size={size},share={share},bold={bold},word={word}"


@pytest.mark.usefixtures("registry")
def test_registration() -> None:
    agents.register("mine-v1", Mine)
    assert agents.names()[-1] == "mine-v1"
    assert agents.make("mine:size=3").name == "mine-v1:size=3,share=0.5,bold=False,word="
    given = agents.make("mine-v1:word=a b,bold=true,size=4,share=1e-3")
    assert given.name == "mine-v1:size=4,share=0.001,bold=True,word=a b"
    for spec, message in (
        ("mine", "'mine' lacks the parameter 'size'"),
        ("mine:size=1,share=x", "share must be a number, not 'x'"),
        ("mine:size=1,bold=yes", "bold must be true or false, not 'yes'"),
        ("mine:size=-1", "size must be at least 0, not -1, in 'mine:size=-1'"),
    ):
        with pytest.raises(AgentSpecError, match=message):
            agents.make(spec)
    agents.register("mine-v10", "skift_env.agents.random_agent:RandomAgent")
    agents.register("mine-v9", lambda: cast(Any, None))
    assert agents.make("mine") is not None  # version 10 is the newest, not 9
    with pytest.raises(AgentSpecError, match="there is mine-v1, mine-v9, mine-v10"):
        agents.make("mine-v2")
    with pytest.raises(AgentSpecError, match="there is an agent 'mine-v1' already"):
        agents.register("mine-v1", Mine)
    for name in ("mine", "Mine-v2", "mine-v0", "mine-v2:size=3", "-v1", "mine v2-v1"):
        with pytest.raises(AgentSpecError, match="registered as 'name-vN', in lower case, not"):
            agents.register(name, Mine)
    agents.register("elsewhere-v1", "no_such_package_at_all.agents:Agent")
    with pytest.raises(AgentSpecError, match="needs the package 'no_such_package_at_all'"):
        agents.make("elsewhere")


def test_an_agent_in_kernels_has_to_play_in_batch() -> None:
    unfinished = cast("Callable[[], Any]", type("Unfinished", (KernelAgent,), {}))
    with pytest.raises(TypeError, match="act_batch"):
        unfinished()


# --- Frozen play ---


POSITIONS, MOVES = frozen_play.load()
SOON_INTERPRETED = ("random-v1", "greedy-v1", "alphabeta-v1:depth=1", "mcts-v1:simulations=8")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, marks=() if spec in SOON_INTERPRETED else pytest.mark.compiled_only)
        for spec in MOVES
    ],
)
def test_play_is_frozen(spec: str) -> None:
    assert frozen_play.moves(spec, POSITIONS) == MOVES[spec], (
        f"{spec} plays differently. A change in play is a new version: register it under the next "
        f"number beside this one, which stays, and see tests/frozen_play.py"
    )


def test_the_frozen_moves_are_of_all_versions_in_varied_positions() -> None:
    frozen = {spec.partition(":")[0] for spec in MOVES}
    networks = {name for name in agents.names() if name.startswith("ppo-")}  # not integers
    assert frozen == set(agents.names()) - networks
    assert all(agents.make(spec).name == spec for spec in MOVES)
    assert len(set(POSITIONS)) == len(POSITIONS) >= 40
    assert {position.side for position in POSITIONS} == {"white", "black"}
    assert {position.mark and position.mark.kind for position in POSITIONS} == {None, "p", "t"}
    assert len({int(position.state[NUM_TILES]) for position in POSITIONS}) >= 6  # numbers of tiles
    assert all(position.outcome is None for position in POSITIONS)


# --- Interpreted and compiled ---


def searched() -> list[Any]:
    """What small searches find, with everything that they count."""
    found: list[Any] = []
    for seed, position in enumerate((Position.start(), *POSITIONS[5::9])):
        found.append(astuple(AlphaBeta(depth=2, nodes=150).search(position)))
        rng = np.random.default_rng(seed)
        found.append(astuple(AlphaBeta(1).search(position, rng)))
        for rollout in (0, 3):
            visits, values = MonteCarlo(12, rollout).search(position, rng)
            found.append([np.flatnonzero(visits).tolist(), visits.tolist(), values.tolist()])
        found.append(int(evaluate(position.state)))
        found.append(agents.make("greedy").act(position, rng))
    return found


@pytest.mark.compiled_only
def test_interpreted_and_compiled_agree() -> None:
    assert JIT_ENABLED
    tests = Path(__file__).parent
    program = "import json, test_agents as t; print(json.dumps([t.JIT_ENABLED, t.searched()]))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)]),
            "NUMBA_DISABLE_JIT": "1",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    compiled, found = json.loads(done.stdout)
    assert compiled is False
    assert found == json.loads(json.dumps(searched()))
