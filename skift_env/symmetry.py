"""The 8 symmetries of the square, acting on positions, actions and batches.

Symmetry s = 0 … 7: first a left-right mirror if s >= 4, then s mod 4 quarter turns clockwise.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.rules import (
    CELLS,
    FIRST_ROTATION,
    FIRST_TILE_MOVE,
    MAX_CHOICES,
    MAX_TILES,
    NUM_TILES,
    PIECES,
)
from skift_env.types import Int64Array

NUM_SYMMETRIES: Final = 8

# QUADRANT_IMAGE[s, quadrant] and DIRECTION_IMAGE[s, direction]: where each goes.
_MIRRORED_QUADRANT: Final = (1, 0, 3, 2)
_TURNED_QUADRANT: Final = (1, 3, 0, 2)


def _quadrant_image(symmetry: int, quadrant: int) -> int:
    if symmetry >= 4:
        quadrant = _MIRRORED_QUADRANT[quadrant]
    for _ in range(symmetry % 4):
        quadrant = _TURNED_QUADRANT[quadrant]
    return quadrant


def _direction_image(symmetry: int, direction: int) -> int:
    mirrored = -direction if symmetry >= 4 else direction
    return (mirrored + 2 * (symmetry % 4)) % 8


QUADRANT_IMAGE: Final = np.array(
    [[_quadrant_image(s, q) for q in range(4)] for s in range(NUM_SYMMETRIES)], np.int64
)
DIRECTION_IMAGE: Final = np.array(
    [[_direction_image(s, d) for d in range(8)] for s in range(NUM_SYMMETRIES)], np.int64
)


@kernel
def cell_image(cell: int, symmetry: int, height: int, width: int) -> int:
    """Where a cell of a box of `height` x `width` tiles goes."""
    row = cell >> 4
    column = cell & 15
    if symmetry >= 4:
        column = width - 1 - column
    for _ in range(symmetry & 3):
        row, column = column, height - 1 - row
        height, width = width, height
    return 16 * row + column


@kernel
def slot_images(state: Int64Array, symmetry: int, images: Int64Array, order: Int64Array) -> None:
    """Write each slot's new number into `images` (9,), absent slots keeping theirs.

    `order` (9,) becomes what `rules.arrange` takes: `16 * new cell + old slot` by new slot.
    """
    count = state[NUM_TILES]
    height = width = 0
    for slot in range(count):
        height = max(height, (state[CELLS + slot] >> 4) + 1)
        width = max(width, (state[CELLS + slot] & 15) + 1)
    for slot in range(count):
        entry = 16 * cell_image(state[CELLS + slot], symmetry, height, width) + slot
        place = slot
        while place > 0 and order[place - 1] > entry:
            order[place] = order[place - 1]
            place -= 1
        order[place] = entry
    for new in range(MAX_TILES):
        if new < count:
            images[order[new] & 15] = new
        else:
            images[new] = new


@kernel
def square_images(squares: int, symmetry: int, images: Int64Array) -> int:
    """Where a set of squares goes, given the slots' new numbers."""
    result = 0
    while squares:
        square = rules.lowest(squares)
        squares &= squares - 1
        result |= 1 << (4 * images[square >> 2] + QUADRANT_IMAGE[symmetry, square & 3])
    return result


@kernel
def transform_state(state: Int64Array, symmetry: int, swap_colours: bool) -> None:
    """Turn a game by a symmetry, in place, and exchange colours and side to move if asked."""
    images = np.empty(MAX_TILES, np.int64)
    order = np.empty(MAX_TILES, np.int64)
    slot_images(state, symmetry, images, order)
    for kind in range(4):
        # `arrange` renumbers the tiles; here only the quadrants change within each.
        turned = 0
        squares = state[PIECES + kind]
        while squares:
            square = rules.lowest(squares)
            squares &= squares - 1
            turned |= 1 << ((square & ~3) + QUADRANT_IMAGE[symmetry, square & 3])
        state[PIECES + kind] = turned
    rules.arrange(state, order, state[NUM_TILES])
    rules.survey(state)
    mark = state[rules.MARK]
    if mark != rules.NO_MARK:
        direction = DIRECTION_IMAGE[symmetry, state[rules.MARK_DIRECTION]]
        if mark == rules.PIECE_MARK:
            displaced = square_images(state[rules.MARKED], symmetry, images)
            rear = rules.lowest(square_images(1 << state[rules.MARK_REAR], symmetry, images))
        else:
            rear = images[state[rules.MARK_REAR]]
            displaced = 0
            for slot in range(state[NUM_TILES]):
                if (state[rules.MARKED] >> (4 * slot)) & 1:
                    displaced |= 1 << (4 * images[slot])
        rules.set_mark(state, mark, direction, displaced, rear)
    if swap_colours:
        for kind in range(2):
            white = state[PIECES + kind]
            state[PIECES + kind] = state[PIECES + 2 + kind]
            state[PIECES + 2 + kind] = white
        state[rules.SIDE] ^= 1


@kernel
def action_images(state: Int64Array, symmetry: int, numbers: Int64Array) -> None:
    """Write into `numbers` (405,) the number that each action has in the transformed position.

    A permutation; a splinter choice becomes the number that the same group has there. Numbers of
    absent tiles and choices that are not there keep their slot or choice.
    """
    images = np.empty(MAX_TILES, np.int64)
    order = np.empty(MAX_TILES, np.int64)
    slot_images(state, symmetry, images, order)
    transformed = state.copy()
    transform_state(transformed, symmetry, False)
    for square in range(rules.MAX_SQUARES):
        image = 4 * images[square >> 2] + QUADRANT_IMAGE[symmetry, square & 3]
        for direction in range(8):
            numbers[8 * square + direction] = 8 * image + DIRECTION_IMAGE[symmetry, direction]
    for slot in range(MAX_TILES):
        numbers[FIRST_ROTATION + slot] = FIRST_ROTATION + images[slot]
        for direction in range(0, 8, 2):
            turned = DIRECTION_IMAGE[symmetry, direction]
            here = FIRST_TILE_MOVE + 12 * slot + 3 * (direction >> 1)
            there = FIRST_TILE_MOVE + 12 * images[slot] + 3 * (turned >> 1)
            for choice in range(MAX_CHOICES):
                numbers[here + choice] = there + choice
            if slot < state[NUM_TILES] and rules.split(state, slot, direction) > 1:
                for choice in range(rules.split(state, slot, direction)):
                    group = rules.tiles_kept(state, slot, direction, choice)
                    first = images[rules.lowest(group) >> 2]
                    for other in range(rules.split(state, slot, direction)):
                        kept = rules.tiles_kept(transformed, images[slot], turned, other)
                        if (kept >> (4 * first)) & 1:
                            numbers[here + choice] = there + other
