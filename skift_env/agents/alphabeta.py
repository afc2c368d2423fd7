"""Alpha-beta search by iterative deepening, in kernels.

Principal variation search (T. A. Marsland and M. Campbell, "Parallel search of strongly ordered
game trees", 1982) with a transposition table, and killer and history moves (J. Schaeffer, "The
history heuristic", 1989) behind the actions that win pieces. At the horizon a quiescence search
plays only the latter. Nothing is pruned but what cannot matter: the value is that of plain
minimax to the same depth.

A kernel must not call itself, so the search walks the tree with a stack of frames, one a level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.agents.agent import KernelAgent
from skift_env.agents.evaluation import evaluate, value_of, write_gains
from skift_env.hashing import position_key
from skift_env.position import Position
from skift_env.rng import below, seed_words
from skift_env.rules import NUM_ACTIONS, ONGOING, SIDE, STATE_SIZE
from skift_env.types import Int64Array

# --- Values ------------------------------------------------------------------------------------

WIN: Final = 1_000_000
"""A win in n plies is worth WIN - n, a loss n - WIN, a draw 0, all else what `evaluate` says."""
DECIDED: Final = WIN - 1000
"""Values beyond it are wins, beyond its negative losses."""
INFINITY: Final = 2 * WIN
NO_ACTION: Final = -1

# --- What the search works on ------------------------------------------------------------------

MAX_DEPTH: Final = 32
CAPTURES: Final = 16
"""The most levels of a quiescence search: each of its actions takes a piece off."""
TABLE_SIZE: Final = 1 << 16

# The columns of a frame. Values are those of the side to move there.
ALPHA: Final = 0
BETA: Final = 1
FLOOR: Final = 2  # alpha at the beginning
BEST: Final = 3  # the best value so far; at the end the value, or a bound outside (FLOOR, BETA)
BEST_ACTION: Final = 4
DEPTH: Final = 5  # plies left to search at full width; 0 in the quiescence search
KEY: Final = 6
COUNT: Final = 7  # of the actions to try
TRIED: Final = 8  # how many of them were begun
ACTION: Final = 9  # the last one begun
WINDOW: Final = 10  # FULL, NULL or AGAIN, of the next or last one begun
FRAME_SIZE: Final = 11

FULL: Final = 0
NULL: Final = 1  # only to learn whether it is better than the best so far
AGAIN: Final = 2  # it is: search it once more, for its value

# The columns of an entry of the transposition table.
ENTRY_KEY: Final = 0
ENTRY_GAME: Final = 1  # entries of another game are ignored; 0 in those never written
ENTRY_DEPTH: Final = 2
ENTRY_KIND: Final = 3
ENTRY_VALUE: Final = 4  # wins and losses as seen from the entry's position
ENTRY_ACTION: Final = 5
ENTRY_SIZE: Final = 6

EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2

# Counters.
NODES: Final = 0  # positions visited, the root once for each depth
GAME: Final = 1

# Scores of actions in the order in which they are tried; history stays below them.
KNOWN_BEST: Final = 1 << 40
GAIN: Final = 1 << 30  # for each pawn's worth; losses come last
KILLER: Final = 1 << 28


class Workspace(NamedTuple):
    """The memory of a search, allocated once for many."""

    states: Int64Array  # (levels, STATE_SIZE)
    frames: Int64Array  # (levels, FRAME_SIZE)
    actions: Int64Array  # (levels, NUM_ACTIONS): those to try, the ones tried in front
    scores: Int64Array  # (levels, NUM_ACTIONS), by action number
    lines: Int64Array  # (levels + 1, levels + 1): the best play from each level on
    killers: Int64Array  # (levels, 2)
    history: Int64Array  # (2, NUM_ACTIONS), by side and action number
    gains: Int64Array  # (2, NUM_ACTIONS): what `write_gains` writes
    table: Int64Array  # (TABLE_SIZE, ENTRY_SIZE); none to search without
    counters: Int64Array  # (2,)


def workspace(depth: int, table_size: int = TABLE_SIZE) -> Workspace:
    """Memory for searches to a depth; the table's size is a power of two or 0."""
    levels = depth + CAPTURES + 1
    return Workspace(
        states=np.zeros((levels, STATE_SIZE), np.int64),
        frames=np.zeros((levels, FRAME_SIZE), np.int64),
        actions=np.zeros((levels, NUM_ACTIONS), np.int64),
        scores=np.zeros((levels, NUM_ACTIONS), np.int64),
        lines=np.full((levels + 1, levels + 1), NO_ACTION, np.int64),
        killers=np.zeros((levels, 2), np.int64),
        history=np.zeros((2, NUM_ACTIONS), np.int64),
        gains=np.zeros((2, NUM_ACTIONS), np.int64),
        table=np.zeros((table_size, ENTRY_SIZE), np.int64),
        counters=np.zeros(2, np.int64),
    )


# --- The search --------------------------------------------------------------------------------


@kernel
def shuffle(actions: Int64Array, count: int, rng: Int64Array) -> None:
    """Put the first `count` actions into a random order."""
    for place in range(count - 1):
        other = place + below(rng, count - place)
        actions[place], actions[other] = actions[other], actions[place]


@kernel
def search(
    work: Workspace, root: Int64Array, rng: Int64Array, depth: int, nodes: int, found: Int64Array
) -> None:
    """Search a game that goes on until `depth` is done or `nodes` are visited.

    `found` gets the action, its value, the depth that was completed, the nodes visited, and then
    the principal variation, ended by NO_ACTION: 4 + depth + CAPTURES + 1 elements will do. When the
    nodes run out, the best action of the unfinished depth stands: it begins with the best of the
    depth before. Among equally good actions the first one tried stays; `rng` (4,) shuffles them
    beforehand, an empty one does not.
    """
    work.states[0] = root
    work.killers[:] = NO_ACTION
    work.history[:] = 0
    work.counters[NODES] = 0
    work.counters[GAME] += 1
    frame = work.frames[0]
    frame[BEST_ACTION] = NO_ACTION
    frame[COUNT] = rules.legal_actions(root, work.actions[0])
    if len(rng):
        shuffle(work.actions[0], frame[COUNT], rng)
    found[:] = NO_ACTION
    found[0] = work.actions[0, 0]
    found[1] = evaluate(root)
    found[2] = 0
    for target in range(1, depth + 1):
        if work.counters[NODES] >= nodes:
            break
        completed = _search_to(work, target, nodes)
        if frame[BEST_ACTION] != NO_ACTION:
            found[0] = frame[BEST_ACTION]
            found[1] = frame[BEST]
            for place in range(4, len(found)):
                found[place] = work.lines[0, place - 4]
                if found[place] == NO_ACTION:
                    break
        if not completed:
            break
        found[2] = target
        if WIN - abs(frame[BEST]) <= target:  # no deeper search changes that
            break
    found[3] = work.counters[NODES]


@kernel
def quiet_value(work: Workspace, state: Int64Array) -> int:
    """What the quiescence search says of a game that goes on, for the side to move."""
    work.states[0] = state
    work.counters[NODES] = 0
    _search_to(work, 0, INFINITY)
    return work.frames[0, BEST]


@kernel
def _search_to(work: Workspace, depth: int, nodes: int) -> bool:
    """Search the state of level 0 to a depth, into frame 0; False if the nodes ran out."""
    level = 0
    entered = _enter(work, 0, depth, -INFINITY, INFINITY)
    while entered or level > 0:
        if entered:
            if work.counters[NODES] >= nodes:
                return False
            frame = work.frames[level]
            _begin_next(work, level)
            alpha = -frame[ALPHA] - 1 if frame[WINDOW] == NULL else -frame[BETA]
            level += 1
            entered = _enter(work, level, frame[DEPTH] - 1, alpha, -frame[ALPHA])
        else:
            level -= 1
            entered = _take_back(work, level)
    return True


@kernel
def _enter(work: Workspace, level: int, depth: int, alpha: int, beta: int) -> bool:
    """Begin with the state of a level: True if there are actions to try, else BEST is final."""
    state = work.states[level]
    frame = work.frames[level]
    work.counters[NODES] += 1
    work.lines[level, 0] = NO_ACTION
    result = rules.outcome(state)
    if result != ONGOING:
        frame[BEST] = value_of(result, state[SIDE], WIN - level)
        return False
    frame[FLOOR] = alpha
    frame[ALPHA] = alpha
    frame[BETA] = beta
    known = NO_ACTION if level > 0 else frame[BEST_ACTION]  # of the depth before
    frame[BEST_ACTION] = NO_ACTION
    frame[TRIED] = 0
    frame[WINDOW] = FULL
    frame[DEPTH] = max(0, depth)
    if depth <= 0:
        return _enter_quiescence(work, level)
    frame[BEST] = -INFINITY
    if len(work.table):
        frame[KEY] = position_key(state)
    if level > 0:
        if len(work.table):
            known = _recall(work, level)
            if frame[BEST] != -INFINITY:
                return False
        frame[COUNT] = rules.legal_actions(state, work.actions[level])
    _score(work, level, known)
    return True


@kernel
def _enter_quiescence(work: Workspace, level: int) -> bool:
    """Try only what wins pieces; the side to move may also leave it at that."""
    state = work.states[level]
    frame = work.frames[level]
    frame[BEST] = evaluate(state)
    if frame[BEST] >= frame[BETA]:
        return False
    frame[ALPHA] = max(frame[ALPHA], frame[BEST])
    count = 0
    for entry in range(write_gains(state, work.gains[0], work.gains[1])):
        action = work.gains[0, entry]
        if work.gains[1, entry] > 0 and rules.is_legal(state, action):
            work.actions[level, count] = action
            work.scores[level, action] = work.gains[1, entry]
            count += 1
    frame[COUNT] = count
    return count > 0


@kernel
def _recall(work: Workspace, level: int) -> int:
    """The table's best action for a level, or NO_ACTION; sets BEST if that settles its value.

    Only an entry of the same depth settles it, so that the table saves time and changes no value.
    """
    frame = work.frames[level]
    entry = work.table[frame[KEY] & (len(work.table) - 1)]
    if entry[ENTRY_KEY] != frame[KEY] or entry[ENTRY_GAME] != work.counters[GAME]:
        return NO_ACTION
    action = entry[ENTRY_ACTION]
    if entry[ENTRY_DEPTH] == frame[DEPTH]:
        value = _nearer(entry[ENTRY_VALUE], -level)
        kind = entry[ENTRY_KIND]
        if (
            kind == EXACT
            or (kind == AT_LEAST and value >= frame[BETA])
            or (kind == AT_MOST and value <= frame[ALPHA])
        ):
            frame[BEST] = value
            work.lines[level, 0] = action
            work.lines[level, 1] = NO_ACTION
    return action


@kernel
def _remember(work: Workspace, level: int) -> None:
    frame = work.frames[level]
    kind = EXACT
    if frame[BEST] >= frame[BETA]:
        kind = AT_LEAST
    elif frame[BEST] <= frame[FLOOR]:
        kind = AT_MOST
    entry = work.table[frame[KEY] & (len(work.table) - 1)]
    entry[ENTRY_KEY] = frame[KEY]
    entry[ENTRY_GAME] = work.counters[GAME]
    entry[ENTRY_DEPTH] = frame[DEPTH]
    entry[ENTRY_KIND] = kind
    entry[ENTRY_VALUE] = _nearer(frame[BEST], level)
    entry[ENTRY_ACTION] = frame[BEST_ACTION]


@kernel
def _nearer(value: int, plies: int) -> int:
    """A value as it is seen `plies` nearer to the end of the game."""
    if value > DECIDED:
        return value + plies
    if value < -DECIDED:
        return value - plies
    return value


@kernel
def _score(work: Workspace, level: int, known: int) -> None:
    """Say in which order to try the actions of a level."""
    state = work.states[level]
    scores = work.scores[level]
    for place in range(work.frames[level, COUNT]):
        action = work.actions[level, place]
        scores[action] = work.history[state[SIDE], action]
    for entry in range(write_gains(state, work.gains[0], work.gains[1])):
        scores[work.gains[0, entry]] += GAIN * work.gains[1, entry]
    for place in range(2):
        killer = work.killers[level, place]
        if killer != NO_ACTION:
            scores[killer] += KILLER >> place
    if known != NO_ACTION:
        scores[known] = KNOWN_BEST


@kernel
def _begin_next(work: Workspace, level: int) -> None:
    """Play the next action to try onto the level below."""
    frame = work.frames[level]
    if frame[WINDOW] != AGAIN:
        actions = work.actions[level]
        scores = work.scores[level]
        best = frame[TRIED]
        for place in range(best + 1, frame[COUNT]):
            if scores[actions[place]] > scores[actions[best]]:
                best = place
        frame[ACTION] = actions[best]
        for place in range(best, frame[TRIED], -1):  # the others keep their order
            actions[place] = actions[place - 1]
        actions[frame[TRIED]] = frame[ACTION]
        frame[TRIED] += 1
    work.states[level + 1] = work.states[level]
    rules.play_unchecked(work.states[level + 1], frame[ACTION])


@kernel
def _take_back(work: Workspace, level: int) -> bool:
    """Take the value of the level below: True if there is more to try, else BEST is final."""
    frame = work.frames[level]
    value = -work.frames[level + 1, BEST]
    if frame[WINDOW] == NULL and frame[ALPHA] < value < frame[BETA]:
        frame[WINDOW] = AGAIN
        return True
    if frame[DEPTH] > 0:
        frame[WINDOW] = NULL
    if value > frame[BEST]:
        frame[BEST] = value
        frame[BEST_ACTION] = frame[ACTION]
    if value > frame[ALPHA]:
        frame[ALPHA] = value
        _lengthen_line(work, level)
    if frame[ALPHA] < frame[BETA] and frame[TRIED] < frame[COUNT]:
        return True
    if frame[DEPTH] > 0:
        if frame[BEST] >= frame[BETA]:
            _credit(work, level)
        if len(work.table):
            _remember(work, level)
    return False


@kernel
def _lengthen_line(work: Workspace, level: int) -> None:
    line = work.lines[level]
    line[0] = work.frames[level, ACTION]
    for place in range(1, len(line)):
        line[place] = work.lines[level + 1, place - 1]
        if line[place] == NO_ACTION:
            break


@kernel
def _credit(work: Workspace, level: int) -> None:
    """Try the action that was too good for the opponent earlier elsewhere."""
    frame = work.frames[level]
    action = frame[BEST_ACTION]
    killers = work.killers[level]
    if killers[0] != action:
        killers[1] = killers[0]
        killers[0] = action
    work.history[work.states[level, SIDE], action] += frame[DEPTH] * frame[DEPTH]


@kernel
def _act_in_all(
    work: Workspace,
    states: Int64Array,
    rngs: Int64Array,
    depth: int,
    nodes: int,
    found: Int64Array,
    actions: Int64Array,
) -> None:
    for game in range(len(states)):
        search(work, states[game], rngs[game], depth, nodes, found)
        actions[game] = found[0]


# --- The agent ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes:
        action: the best action.
        value: its value for the side to move: that of `evaluate`, in which a pawn is worth about
            200, or `WIN` - n and n - `WIN` for a win or a loss in n plies.
        depth: the plies searched to the end, the quiescence search not counted.
        nodes: the positions visited.
        pv: the principal variation, best play by both from here on: `action` and what follows. It
            may end early, where the transposition table knew the value.
    """

    action: int
    value: int
    depth: int
    nodes: int
    pv: tuple[int, ...]


class AlphaBeta(KernelAgent):
    """Searches to a depth (1 … 32), or until so many nodes are visited, or whichever comes first.

    With neither given the depth is 3. Its moves depend on position and generator alone: the latter
    shuffles the actions beforehand, and of equally good ones the first one tried is played.
    """

    def __init__(self, depth: int | None = None, nodes: int | None = None) -> None:
        if depth is None and nodes is None:
            depth = 3
        if depth is not None and not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth must be 1 … {MAX_DEPTH}, not {depth}")
        if nodes is not None and not 1 <= nodes < INFINITY:
            raise ValueError(f"nodes must be 1 … {INFINITY - 1}, not {nodes}")
        limits = {"depth": depth, "nodes": nodes}
        given = ",".join(f"{key}={value}" for key, value in limits.items() if value is not None)
        self.name = f"alphabeta-v1:{given}"
        self._depth = depth or MAX_DEPTH
        self._nodes = nodes or 1 << 62

    def _found(self) -> Int64Array:
        return np.empty(4 + self._depth + CAPTURES + 1, np.int64)

    def act_batch(self, states: Int64Array, rngs: Int64Array) -> Int64Array:
        """An action (B,) int64 for each of the state rows (B, STATE_SIZE)."""
        actions = np.empty(len(states), np.int64)
        work = workspace(self._depth)
        _act_in_all(work, states, rngs, self._depth, self._nodes, self._found(), actions)
        return actions

    def search(
        self,
        position: Position,
        rng: np.random.Generator | None = None,
        use_table: bool = True,
    ) -> SearchResult:
        """Search a position that is not over.

        Without a generator the actions are first tried in the order of their numbers. Without the
        table the value is the same, and takes longer.

        Raises:
            ValueError: if the game is over.
        """
        if position.outcome is not None:
            raise ValueError(f"nothing to search: the game is over in {position.text!r}")
        words = np.empty(0, np.int64) if rng is None else seed_words(rng)
        work = workspace(self._depth, TABLE_SIZE if use_table else 0)
        found = self._found()
        search(work, position.state, words, self._depth, self._nodes, found)
        action, value, depth, nodes, *line = (int(number) for number in found)
        return SearchResult(action, value, depth, nodes, tuple(line[: line.index(NO_ACTION)]))
