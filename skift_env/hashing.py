"""A 64-bit hash of board, side to move and no-undo mark, the same on every machine.

Zobrist hashing: the exclusive or of one random number for each fact (A. L. Zobrist, "A new hashing
method with application for game playing", 1970). The numbers come from SplitMix64
(https://prng.di.unimi.it/splitmix64.c).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.types import Int64Array


def _random_numbers(count: int) -> Int64Array:
    words, state, mask = [], 0, 2**64 - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        words.append(word ^ (word >> 31))
    return np.array(words, np.uint64).view(np.int64)


# A square's number here is 4 * (9 * row + column of its tile) + quadrant.
_PIECES: Final = 0  # 4 kinds x 324 squares
_TILES: Final = 4 * 324  # 81 cells
_REAR: Final = _TILES + 81  # 324 squares; a tile's is its north-west square
_MARK: Final = _REAR + 324  # 2 kinds x 8 directions
_LENGTH: Final = _MARK + 16  # 0 … 18 marked squares or tiles
_BLACK: Final = _LENGTH + 19
NUMBERS: Final = _random_numbers(_BLACK + 1)


@kernel
def _cell_index(state: Int64Array, slot: int) -> int:
    cell = state[rules.CELLS + slot]
    return 9 * (cell >> 4) + (cell & 15)


@kernel
def position_key(state: Int64Array) -> int:
    """The hash of one game, as a signed 64-bit integer."""
    key = 0
    for slot in range(state[rules.NUM_TILES]):
        key ^= NUMBERS[_TILES + _cell_index(state, slot)]
    for kind in range(4):
        pieces = state[rules.PIECES + kind]
        while pieces:
            square = rules.lowest(pieces)
            pieces &= pieces - 1
            index = 4 * _cell_index(state, square >> 2) + (square & 3)
            key ^= NUMBERS[_PIECES + 324 * kind + index]
    if state[rules.SIDE] == rules.BLACK:
        key ^= NUMBERS[_BLACK]
    mark = state[rules.MARK]
    if mark != rules.NO_MARK:
        rear = state[rules.MARK_REAR]
        if mark == rules.PIECE_MARK:
            index = 4 * _cell_index(state, rear >> 2) + (rear & 3)
        else:
            index = 4 * _cell_index(state, rear)
        key ^= NUMBERS[_REAR + index]
        key ^= NUMBERS[_MARK + 8 * (mark - 1) + state[rules.MARK_DIRECTION]]
        key ^= NUMBERS[_LENGTH + rules.members(state[rules.MARKED])]
    return key
