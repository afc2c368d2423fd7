"""A position's worth at a glance, and the actions that take pieces off the board.

`evaluate` counts, for the side to move and against it:

- material: kings and pawns, a side's last ones dearest, for without them the game is lost;
- place: a piece is safe on a tile with many tiles around it, and in danger for every direction in
  which a step leads off the board; a king more so than a pawn;
- control: a controlled tile that may act is worth a little (it is the only mobility that varies:
  a piece may always step in at least seven directions), a landlocked one less than nothing;
- room: whoever has more pieces wants many tiles, to keep them.

Pieces about to be pushed off are left to the quiescence search, which pushes them. The weights
were fitted to the results of games by logistic regression, as chess programs do
(https://www.chessprogramming.org/Texel%27s_Tuning_Method), rounded, and then kept, changed or
dropped by matches.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.rules import (
    DRAW,
    KING,
    LANDLOCKED,
    NUM_TILES,
    OFF,
    PAWN,
    PIECES,
    SIDE,
    WHITE_WINS,
)
from skift_env.types import Int64Array

PAWNS: Final = np.array([0, 0, 150, 245, 337, 397, 442], np.int64)
"""The worth of so many pawns; where they stand adds some 100 for each."""
KINGS: Final = np.array([0, 0, 220], np.int64)
"""The worth of so many kings; where they stand adds some 150 for each."""

NEIGHBOUR: Final = (29, 18)
"""For each tile around that of a king, of a pawn."""
WAY_OFF: Final = -8
"""For each direction in which a piece would step off the board."""
ACTIVE_TILE: Final = 8
LANDLOCKED_TILE: Final = -20
ROOM: Final = 5
"""For each tile and each piece more than the opponent has."""

KING_GAIN: Final = 3
"""What a king counts where pawns count 1, among the gains of an action."""


def _ways_off() -> Int64Array:
    """By set of neighbours (bit = direction): for each quadrant, in 8 bits, the ways off."""
    ways = np.zeros(256, np.int64)
    for around in range(256):
        for quadrant in range(4):
            for direction in range(8):
                towards = int(rules.QUADRANT_STEPS[8 * quadrant + direction]) >> 2
                if towards != rules.SAME_TILE and not around >> towards & 1:
                    ways[around] |= 1 << (8 * quadrant + direction)
    return ways


WAYS_OFF: Final = _ways_off()


def _places() -> Int64Array:
    """By KING or PAWN and `4 * set of neighbours + quadrant`: the worth of the place."""
    places = np.zeros((2, 1024), np.int64)
    for place in range(1024):
        around, quadrant = place >> 2, place & 3
        ways = int(WAYS_OFF[around]) >> (8 * quadrant) & 255
        for kind in (KING, PAWN):
            places[kind, place] = NEIGHBOUR[kind] * around.bit_count() + WAY_OFF * ways.bit_count()
    return places


PLACES: Final = _places()


@kernel
def neighbours(state: Int64Array, slot: int) -> int:
    """The directions in which a tile has a neighbour, as a set of 8 bits."""
    around = state[rules.NEIGHBOURS + slot]  # four bits for each direction, 0 for none
    around |= around >> 2
    around = (around | around >> 1) & 0x11111111
    around = (around | around >> 3) & 0x03030303
    around = (around | around >> 6) & 0x000F000F
    return (around | around >> 12) & 255


@kernel
def evaluate(state: Int64Array) -> int:
    """The worth of a game that goes on, for the side to move; a pawn is worth about 200."""
    value = _side_value(state, state[SIDE]) - _side_value(state, 1 - state[SIDE])
    lead = rules.members(rules.own_pieces(state, state[SIDE]))
    lead -= rules.members(rules.own_pieces(state, 1 - state[SIDE]))
    return value + ROOM * lead * state[NUM_TILES]


@kernel
def _side_value(state: Int64Array, side: int) -> int:
    """Material, control and places of one side."""
    kings = state[PIECES + 2 * side + KING]
    pawns = state[PIECES + 2 * side + PAWN]
    held = rules.controlled(state, side)
    locked = rules.members(held & state[LANDLOCKED])
    value = KINGS[rules.members(kings)] + PAWNS[rules.members(pawns)]
    value += ACTIVE_TILE * (rules.members(held) - locked) + LANDLOCKED_TILE * locked
    pieces = kings | pawns
    while pieces:
        square = rules.lowest(pieces)
        pieces &= pieces - 1
        kind = KING if (kings >> square) & 1 else PAWN
        value += PLACES[kind, 4 * neighbours(state, square >> 2) + (square & 3)]
    return value


@kernel
def value_of(result: int, side: int, win: int) -> int:
    """What the outcome of a finished game is worth to a side, given the worth of a win."""
    if result == DRAW:
        return 0
    return win if (result == WHITE_WINS) == (side == rules.WHITE) else -win


@kernel
def gain_of(state: Int64Array, side: int, squares: int) -> int:
    """What `side` has on a set of squares, in pawns, with KING_GAIN for a king."""
    kings = rules.members(state[PIECES + 2 * side + KING] & squares)
    return KING_GAIN * kings + rules.members(state[PIECES + 2 * side + PAWN] & squares)


@kernel
def write_gains(state: Int64Array, actions: Int64Array, gains: Int64Array) -> int:
    """List the actions that change the balance of pieces; return how many.

    `actions` and `gains` (405,) get each action once, in no order, with what the opponent loses
    less what the mover loses. Some may be forbidden by the no-undo rule.
    """
    count = _write_pushes(state, actions, gains)
    opponent = 1 - state[SIDE]
    tiles = rules.tiles_to_act(state)
    while tiles:
        slot = rules.lowest(tiles) >> 2
        tiles &= tiles - 1
        for direction in range(0, 8, 2):
            choices = rules.split(state, slot, direction)
            if choices == rules.IN_ONE_PIECE:
                continue
            line = rules.tile_line(state, slot, direction)
            groups = rules.largest_groups(state, slot, line, direction)
            for choice in range(choices):
                lost = 15 * (rules.all_tiles(state) & ~groups[1 + choice])
                gain = gain_of(state, opponent, lost) - gain_of(state, state[SIDE], lost)
                if gain != 0:
                    first = rules.FIRST_TILE_MOVE + 12 * slot + 3 * (direction >> 1)
                    actions[count] = first + choice
                    gains[count] = gain
                    count += 1
    return count


@kernel
def _write_pushes(state: Int64Array, actions: Int64Array, gains: Int64Array) -> int:
    """Those that push one piece off: from each piece with a way off, back along the line."""
    own = rules.own_pieces(state, state[SIDE])
    pieces = own | rules.own_pieces(state, 1 - state[SIDE])
    kings = state[PIECES + KING] | state[PIECES + 2 + KING]
    count = 0
    left = pieces
    while left:
        square = rules.lowest(left)
        left &= left - 1
        ways = (WAYS_OFF[neighbours(state, square >> 2)] >> (8 * (square & 3))) & 255
        gain = KING_GAIN if (kings >> square) & 1 else 1
        if (own >> square) & 1:
            gain = -gain
        for direction in range(8):
            if not (ways >> direction) & 1:
                continue
            pusher = square
            while pusher != OFF and (pieces >> pusher) & 1:
                if (own >> pusher) & 1:
                    actions[count] = 8 * pusher + direction
                    gains[count] = gain
                    count += 1
                pusher = rules.step(state, pusher, (direction + 4) & 7)
    return count
