"""Monte Carlo tree search, in kernels.

UCT (L. Kocsis and C. Szepesvári, "Bandit based Monte-Carlo planning", 2006) with the exploration
term of PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017), whose
priors come from a look at each action's outcome with `evaluate`, and with implicit minimax backups
of these looks (M. Lanctot et al., "Monte Carlo tree search with heuristic evaluations using
implicit minimax backups", 2014). A leaf is worth what the quiescence search says of it, if asked
for at the end of a rollout.

All numbers are integers, with ONE for a win, so that they are the same on every machine.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skift_env import rules
from skift_env._jit import kernel
from skift_env.agents.agent import KernelAgent
from skift_env.agents.alphabeta import Workspace, quiet_value, shuffle, workspace
from skift_env.agents.evaluation import evaluate, value_of, write_gains
from skift_env.position import Position
from skift_env.rng import below, seed_words
from skift_env.rules import NUM_ACTIONS, ONGOING, SIDE, STATE_SIZE
from skift_env.types import Int64Array

ONE: Final = 1 << 20
EVEN_CHANCE: Final = 300
"""The evaluation that counts as half a win."""
PRIOR_WIDTH: Final = 200 * ONE // 1024
"""An action so much worse than the best gets a quarter of its prior."""
MINIMAX_PERCENT: Final = 40
"""The share of the implicit minimax value in what an edge is worth."""
CAUTION: Final = ONE // 5
"""An untried action is worth what its outcome looks like, less this."""

MAX_SIMULATIONS: Final = 1_000_000
MAX_EDGES: Final = 1 << 22
"""At most 256 MiB; when all are in use, the tree grows no more."""

# The tree has a row for each edge, that is, for an action and the node it leads to. Values are
# those of the side that plays the action. Row 0 is the root.
FIRST: Final = 0  # the node's first edge; those of a node follow one another
COUNT: Final = 1  # of its edges; 0 if it has none yet or the game is over
VISITS: Final = 2
TOTAL: Final = 3  # the sum of the values of all visits
LOOK: Final = 4  # the implicit minimax value
PRIOR: Final = 5  # ONE in all for the edges of a node
ACTION: Final = 6
EDGE_SIZE: Final = 7


@kernel
def _chance(value: int) -> int:
    """An evaluation as a number between -ONE and ONE."""
    return ONE * value // (abs(value) + EVEN_CHANCE)


@kernel
def _expand(
    tree: Int64Array,
    node: int,
    state: Int64Array,
    used: int,
    rng: Int64Array,
    actions: Int64Array,
    after: Int64Array,
) -> int:
    """Give a node its edges, if there is room from row `used` on; return the first row unused."""
    count = rules.legal_actions(state, actions)
    if used + count > len(tree):
        return used
    if node == 0:
        shuffle(actions, count, rng)
    best = -ONE
    for place in range(count):
        edge = tree[used + place]
        edge[:] = 0
        edge[ACTION] = actions[place]
        after[:] = state
        rules.play_unchecked(after, actions[place])
        result = rules.outcome(after)
        if result == ONGOING:
            edge[LOOK] = -_chance(evaluate(after))
        else:
            edge[LOOK] = -value_of(result, after[SIDE], ONE)
        best = max(best, edge[LOOK])
    total = 0
    for edge in range(used, used + count):
        apart = PRIOR_WIDTH + best - tree[edge, LOOK]
        tree[edge, PRIOR] = ONE * (ONE * PRIOR_WIDTH // apart) // apart
        total += tree[edge, PRIOR]
    for edge in range(used, used + count):
        tree[edge, PRIOR] = ONE * tree[edge, PRIOR] // total
    tree[node, FIRST] = used
    tree[node, COUNT] = count
    tree[node, LOOK] = -best
    return used + count


@kernel
def _select(tree: Int64Array, node: int) -> int:
    """The edge to follow: the greatest value and exploration term together, the first of equals."""
    first = tree[node, FIRST]
    last = first + tree[node, COUNT]
    visits = 1
    for edge in range(first, last):
        visits += tree[edge, VISITS]
    root = int(1024 * math.sqrt(visits))  # IEEE 754 rounds square roots correctly everywhere
    best = first
    highest = -4 * ONE
    for edge in range(first, last):
        tries = tree[edge, VISITS]
        value = tree[edge, LOOK]
        if tries == 0:
            value -= CAUTION
        else:
            mean = tree[edge, TOTAL] // tries
            value = (MINIMAX_PERCENT * value + (100 - MINIMAX_PERCENT) * mean) // 100
        value += (tree[edge, PRIOR] * root >> 10) // (1 + tries)
        if value > highest:
            highest = value
            best = edge
    return best


@kernel
def _roll_out(
    state: Int64Array, rng: Int64Array, plies: int, actions: Int64Array, gains: Int64Array
) -> None:
    """Play at most `plies` plies in place: whatever wins most pieces, else at random."""
    for _ in range(plies):
        if rules.outcome(state) != ONGOING:
            return
        most = 0
        chosen = -1
        for entry in range(write_gains(state, gains[0], gains[1])):
            action = gains[0, entry]
            if gains[1, entry] > most and rules.is_legal(state, action):
                most = gains[1, entry]
                chosen = action
        if chosen < 0:
            chosen = actions[below(rng, rules.legal_actions(state, actions))]
        rules.play_unchecked(state, chosen)


@kernel
def search(
    work: Workspace,
    tree: Int64Array,
    root: Int64Array,
    rng: Int64Array,
    simulations: int,
    rollout: int,
    path: Int64Array,
) -> int:
    """Run simulations from a game that goes on; return the most visited action, or the first such.

    The root's edges are the rows 1 … COUNT of the `tree`; `path` (simulations + 1,) is scratch, and
    `work` is that of a quiescence search.
    """
    state = np.empty(STATE_SIZE, np.int64)
    after = np.empty(STATE_SIZE, np.int64)
    actions = np.empty(NUM_ACTIONS, np.int64)
    tree[0] = 0
    used = _expand(tree, 0, root, 1, rng, actions, after)
    for _ in range(simulations):
        state[:] = root
        node = 0
        length = 0
        while tree[node, COUNT] > 0:
            node = _select(tree, node)
            rules.play_unchecked(state, tree[node, ACTION])
            path[length] = node
            length += 1
        mover = 1 - state[SIDE]
        if rules.outcome(state) == ONGOING:
            used = _expand(tree, node, state, used, rng, actions, after)
            _roll_out(state, rng, rollout, actions, work.gains)
        result = rules.outcome(state)
        if result != ONGOING:
            value = value_of(result, mover, ONE)
        else:
            value = _chance(quiet_value(work, state))
            if state[SIDE] != mover:
                value = -value
        for place in range(length - 1, -1, -1):
            _update(tree, path[place], value)
            value = -value
    best = 1
    for edge in range(2, 1 + tree[0, COUNT]):
        if tree[edge, VISITS] > tree[best, VISITS]:
            best = edge
    return tree[best, ACTION]


@kernel
def _update(tree: Int64Array, edge: int, value: int) -> None:
    """Count a visit."""
    tree[edge, VISITS] += 1
    tree[edge, TOTAL] += value
    first = tree[edge, FIRST]
    if tree[edge, COUNT] > 0:
        best = tree[first, LOOK]
        for reply in range(first + 1, first + tree[edge, COUNT]):
            best = max(best, tree[reply, LOOK])
        tree[edge, LOOK] = -best


@kernel
def _act_in_all(
    work: Workspace,
    tree: Int64Array,
    states: Int64Array,
    rngs: Int64Array,
    simulations: int,
    rollout: int,
    path: Int64Array,
    actions: Int64Array,
) -> None:
    for game in range(len(states)):
        actions[game] = search(work, tree, states[game], rngs[game], simulations, rollout, path)


class MonteCarlo(KernelAgent):
    """Plays the action that most of its simulations began with.

    Args:
        simulations: how many, for each move.
        rollout: the most plies that are played from a leaf before it is evaluated, by whatever wins
            pieces and else at random. None played better than some in matches.

    Its moves depend on position and generator alone; the latter shuffles the actions beforehand, of
    which the first of equals is tried and played, and plays the rollouts.
    """

    def __init__(self, simulations: int = 400, rollout: int = 0) -> None:
        if not 1 <= simulations <= MAX_SIMULATIONS:
            raise ValueError(f"simulations must be 1 … {MAX_SIMULATIONS}, not {simulations}")
        if not 0 <= rollout <= 1000:
            raise ValueError(f"rollout must be 0 … 1000 plies, not {rollout}")
        self.name = f"mcts-v1:simulations={simulations}"
        if rollout:
            self.name += f",rollout={rollout}"
        self._simulations = simulations
        self._rollout = rollout

    def _tree(self) -> Int64Array:
        """Room for all edges: 80 a simulation, for 62 legal actions on average, and the root's."""
        edges = min(MAX_EDGES, NUM_ACTIONS + 80 * self._simulations)
        return np.empty((edges, EDGE_SIZE), np.int64)

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        actions = np.empty(len(states), np.int64)
        path = np.empty(self._simulations + 1, np.int64)
        _act_in_all(
            workspace(0, 0), self._tree(), states, rngs, self._simulations, self._rollout, path,
            actions,
        )  # fmt: skip
        return actions

    def search(
        self, position: Position, rng: np.random.Generator
    ) -> tuple[Int64Array, NDArray[np.float64]]:
        """The visits of each action, (405,) int64, and its mean value, (405,) float64 in -1 … 1.

        Both are 0 for actions that are illegal or were not visited; the visits add up to
        `simulations`. Values are those of the side to move.

        Raises:
            ValueError: if the game is over.
        """
        if position.outcome is not None:
            raise ValueError(f"nothing to search: the game is over in {position.text!r}")
        tree = self._tree()
        path = np.empty(self._simulations + 1, np.int64)
        search(
            workspace(0, 0), tree, position.state, seed_words(rng), self._simulations,
            self._rollout, path,
        )  # fmt: skip
        edges = tree[1 : 1 + tree[0, COUNT]]
        edges = edges[edges[:, VISITS] > 0]
        visits = np.zeros(NUM_ACTIONS, np.int64)
        values = np.zeros(NUM_ACTIONS, np.float64)
        visits[edges[:, ACTION]] = edges[:, VISITS]
        values[edges[:, ACTION]] = edges[:, TOTAL] / (ONE * edges[:, VISITS])
        return visits, values
