"""What a learner sees: planes and tokens, int8 in {0, 1}, from the observer's view.

planes (21, 18, 18), anchored at the top-left corner of the bounding box; what is true of a tile is
set on its four quadrants:

    0 … 3    own king, own pawn, opponent's king, opponent's pawn
    4 … 7    tile present, controlled by the observer, by the opponent, landlocked
    8 … 15   squares of a piece mark, a plane for each direction n, ne, … nw
    16 … 19  tiles of a tile mark, a plane for each direction n, e, s, w
    20       all ones if the observer is to move

tokens (9, 52), a row for each tile in reading order, absent tiles all zero:

    0        present
    1 … 9    row, one-hot
    10 … 18  column, one-hot
    19 … 34  pieces: (own king, own pawn, opponent's king, their pawn) x (NW, NE, SW, SE)
    35 … 37  controlled by the observer, by the opponent, landlocked
    38 … 41  quadrants in a piece mark
    42       tile in a tile mark
    43 … 50  the mark's direction n, ne, … nw, on tiles that hold something marked
    51       observer to move

Nothing is ever mirrored. The observation is Markov: the no-undo mark is all that the rules
remember.
"""

from __future__ import annotations

from typing import Final

from skift_env import rules
from skift_env._jit import kernel
from skift_env.rules import PIECE_MARK, PIECES, TILE_MARK
from skift_env.types import Int8Array, Int64Array, ObservationKind

PLANES_SHAPE: Final = (21, 18, 18)
TOKENS_SHAPE: Final = (9, 52)
SHAPES: Final[dict[ObservationKind, tuple[int, ...]]] = {
    "planes": PLANES_SHAPE,
    "tokens": TOKENS_SHAPE,
}

# Planes
_PRESENT: Final = 4
_CONTROLLED: Final = 5  # by the observer, then by the opponent
_LANDLOCKED: Final = 7
_PIECE_MARKS: Final = 8
_TILE_MARKS: Final = 16
_TO_MOVE: Final = 20

# Columns of a token
_ROW: Final = 1
_COLUMN: Final = 10
_STANDING: Final = 19
_TOKEN_CONTROLLED: Final = 35
_TOKEN_LANDLOCKED: Final = 37
_MARKED_QUADRANTS: Final = 38
_MARKED_TILE: Final = 42
_MARK_DIRECTION: Final = 43
_TOKEN_TO_MOVE: Final = 51


@kernel
def write_planes(state: Int64Array, observer: int, planes: Int8Array) -> None:
    """Write the planes of one game, seen by side `observer`, into `planes` (21, 18, 18)."""
    planes[:_TO_MOVE] = 0
    planes[_TO_MOVE] = 1 if state[rules.SIDE] == observer else 0
    own = rules.controlled(state, observer)
    theirs = rules.controlled(state, 1 - observer)
    mark = state[rules.MARK]
    for slot in range(state[rules.NUM_TILES]):
        cell = state[rules.CELLS + slot]
        top = 2 * (cell >> 4)
        left = 2 * (cell & 15)
        shift = 4 * slot
        own_tile = (own >> shift) & 1
        their_tile = (theirs >> shift) & 1
        landlocked = (state[rules.LANDLOCKED] >> shift) & 1
        marked_tile = (state[rules.MARKED] >> shift) & 1 if mark == TILE_MARK else 0
        for quadrant in range(4):
            row = top + (quadrant >> 1)
            column = left + (quadrant & 1)
            square = shift + quadrant
            for kind in range(4):
                planes[kind, row, column] = (state[PIECES + (kind ^ 2 * observer)] >> square) & 1
            planes[_PRESENT, row, column] = 1
            planes[_CONTROLLED, row, column] = own_tile
            planes[_CONTROLLED + 1, row, column] = their_tile
            planes[_LANDLOCKED, row, column] = landlocked
            if mark == PIECE_MARK:
                planes[_PIECE_MARKS + state[rules.MARK_DIRECTION], row, column] = (
                    state[rules.MARKED] >> square
                ) & 1
            elif mark == TILE_MARK:
                planes[_TILE_MARKS + state[rules.MARK_DIRECTION] // 2, row, column] = marked_tile


@kernel
def write_tokens(state: Int64Array, observer: int, tokens: Int8Array) -> None:
    """Write the tokens of one game, seen by side `observer`, into `tokens` (9, 52)."""
    tokens[:] = 0
    own = rules.controlled(state, observer)
    theirs = rules.controlled(state, 1 - observer)
    mark = state[rules.MARK]
    to_move = 1 if state[rules.SIDE] == observer else 0
    for slot in range(state[rules.NUM_TILES]):
        cell = state[rules.CELLS + slot]
        shift = 4 * slot
        tokens[slot, 0] = 1
        tokens[slot, _ROW + (cell >> 4)] = 1
        tokens[slot, _COLUMN + (cell & 15)] = 1
        for kind in range(4):
            pieces = state[PIECES + (kind ^ 2 * observer)] >> shift
            for quadrant in range(4):
                tokens[slot, _STANDING + 4 * kind + quadrant] = (pieces >> quadrant) & 1
        tokens[slot, _TOKEN_CONTROLLED] = (own >> shift) & 1
        tokens[slot, _TOKEN_CONTROLLED + 1] = (theirs >> shift) & 1
        tokens[slot, _TOKEN_LANDLOCKED] = (state[rules.LANDLOCKED] >> shift) & 1
        marked = (state[rules.MARKED] >> shift) & 15
        if marked:
            if mark == PIECE_MARK:
                for quadrant in range(4):
                    tokens[slot, _MARKED_QUADRANTS + quadrant] = (marked >> quadrant) & 1
            else:
                tokens[slot, _MARKED_TILE] = 1
            tokens[slot, _MARK_DIRECTION + state[rules.MARK_DIRECTION]] = 1
        tokens[slot, _TOKEN_TO_MOVE] = to_move
