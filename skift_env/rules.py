"""The rules of Skift, as kernels in rulebook order.

A game is one row of `STATE_SIZE` int64 columns; a batch is an array of such rows and a copy is an
assignment. Kernels trust their input; `Position` and the environments check it.

Words used throughout:

- *slot*: a tile's number 0 … 8 in reading order; *cell*: its place, `16 * row + column`,
  counted from the top-left corner of the bounding box.
- *square*: `4 * slot + quadrant`, one of 36. Quadrants are numbered 0 1
                                                                    2 3
- *direction*: n ne e se s sw w nw = 0 … 7; its opposite is `(direction + 4) % 8`.
- *set of squares*: an integer with bit `square` set; *set of tiles*: bit `4 * slot`, that is, the
  north-west square of each tile. Both fit 36 bits.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skift_env._jit import kernel
from skift_env.types import Int8Array, Int64Array

# --- Words and tables -------------------------------------------------------------------------

MAX_TILES: Final = 9
MAX_SQUARES: Final = 36
DIRECTIONS: Final = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
ROW_STEP: Final = np.array([-1, -1, 0, 1, 1, 1, 0, -1], np.int64)
COLUMN_STEP: Final = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
CELL_STEP: Final = 16 * ROW_STEP + COLUMN_STEP

WHITE: Final = 0
BLACK: Final = 1
KING: Final = 0
PAWN: Final = 1
PIECE_LETTERS: Final = "KPkp"
"""A piece's kind is `2 * side + KING or PAWN`."""

EMPTY: Final = -1
"""What stands on a square without a piece."""
OFF: Final = -1
"""The square or tile where there is none."""

# The columns of a state row.
SIDE: Final = 0  # to move: WHITE or BLACK
PLY: Final = 1  # plies played
NUM_TILES: Final = 2
LANDLOCKED: Final = 3  # set of tiles
MARK: Final = 4  # what the last action was: NO_MARK, PIECE_MARK or TILE_MARK
MARK_DIRECTION: Final = 5
MARKED: Final = 6  # what it displaced: set of squares (PIECE_MARK) or of tiles (TILE_MARK)
MARK_REAR: Final = 7  # the rearmost of these: a square or a slot
PIECES: Final = 8  # 4 columns, by kind: set of squares
CELLS: Final = 12  # 9 columns, ascending
NEIGHBOURS: Final = 21  # 9 columns, see `neighbour`
SPLITS: Final = 30  # 9 columns, see `split`
STATE_SIZE: Final = 39

NO_MARK: Final = 0
PIECE_MARK: Final = 1
TILE_MARK: Final = 2

IN_ONE_PIECE: Final = 0
"""What `split` says of a push after which all tiles hang together."""

# What `outcome` says.
ONGOING: Final = 0
WHITE_WINS: Final = 1
BLACK_WINS: Final = 2
DRAW: Final = 3

# Action numbers.
NUM_ACTIONS: Final = 405
FIRST_TILE_MOVE: Final = 288
FIRST_ROTATION: Final = 396
MAX_CHOICES: Final = 3

ALL_TILES: Final = 0x111111111
_THREES: Final = 0x333333333
_FIVES: Final = 0x555555555
_EIGHTS: Final = 0x888888888

SAME_TILE: Final = 8
"""Beside the directions 0 … 7: the tile itself."""


def _quadrant_steps() -> Int64Array:
    """For `8 * quadrant + direction`: `4 * direction of the tile + quadrant` after one step."""
    tile_direction = {(0, 0): SAME_TILE}
    for direction in range(8):
        tile_direction[int(ROW_STEP[direction]), int(COLUMN_STEP[direction])] = direction
    steps = np.empty(32, np.int64)
    for quadrant in range(4):
        for direction in range(8):
            row = quadrant // 2 + int(ROW_STEP[direction])
            column = quadrant % 2 + int(COLUMN_STEP[direction])
            steps[8 * quadrant + direction] = (
                4 * tile_direction[row // 2, column // 2] + 2 * (row % 2) + column % 2
            )
    return steps


QUADRANT_STEPS: Final = _quadrant_steps()

_MOST_APART: Final = 8 * 16 + 8
"""The largest difference of two cells."""


def _relations() -> Int64Array:
    """For `difference of cells + _MOST_APART`: what the tile there is to the one here.

    Bits 0 … 3: it is touched once this one is pushed n, e, s, w. The rest: 4 * (1 + direction) of
    a neighbour, 0 for none.
    """
    relations = np.zeros(2 * _MOST_APART + 1, np.int64)
    for direction in range(8):
        relations[_MOST_APART + CELL_STEP[direction]] = 4 * (1 + direction) << 4
    for push in range(4):
        pushed = _MOST_APART + CELL_STEP[2 * push]
        for around in (0, *CELL_STEP):
            relations[pushed + around] |= 1 << push
    return relations


RELATIONS: Final = _relations()

CORNER: Final = np.array([-1, 1, -1, 3, -1, 2, -1, 0], np.int64)
"""The quadrant in which a tile's corner towards a diagonal direction lies."""

BIT_INDEX: Final = np.array(
    [{pow(2, i, 37): i for i in range(36)}.get(r, 0) for r in range(37)], np.int64
)
"""By the remainder modulo 37, of which 2 is a primitive root: the index of a single bit."""


@kernel
def lowest(bits: int) -> int:
    """The index of the lowest member of a set that is not empty."""
    return BIT_INDEX[(bits & -bits) % 37]


@kernel
def members(bits: int) -> int:
    """The number of members of a set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


# --- 1. The board: where tiles lie and pieces stand --------------------------------------------


@kernel
def neighbour(state: Int64Array, slot: int, direction: int) -> int:
    """The slot of the tile next to `slot` in one of 8 directions (or SAME_TILE), or OFF."""
    return ((state[NEIGHBOURS + slot] >> (4 * direction)) & 15) - 1


@kernel
def step(state: Int64Array, square: int, direction: int) -> int:
    """The square one step away, across tiles wherever they touch, or OFF."""
    towards = QUADRANT_STEPS[8 * (square & 3) + direction]
    slot = neighbour(state, square >> 2, towards >> 2)
    if slot == OFF:
        return OFF
    return 4 * slot + (towards & 3)


@kernel
def own_pieces(state: Int64Array, side: int) -> int:
    """The set of squares on which pieces of `side` stand."""
    return state[PIECES + 2 * side] | state[PIECES + 2 * side + 1]


@kernel
def occupied(state: Int64Array) -> int:
    """The set of squares on which any piece stands."""
    return own_pieces(state, WHITE) | own_pieces(state, BLACK)


@kernel
def standing(state: Int64Array, square: int) -> int:
    """The kind of the piece on a square, or EMPTY."""
    for kind in range(4):
        if (state[PIECES + kind] >> square) & 1:
            return kind
    return EMPTY


# --- 2. Tile control, landlocked tiles ---------------------------------------------------------


@kernel
def _counts(pieces: int) -> int:
    """For each tile, in its four bits: how many of the pieces stand on it."""
    pairs = pieces - ((pieces >> 1) & _FIVES)
    return (pairs & _THREES) + ((pairs >> 2) & _THREES)


@kernel
def _tiles_with_more(counts: int, than: int) -> int:
    """The set of tiles on which one count exceeds another (both at most 4 a tile)."""
    return (((counts | _EIGHTS) - (than + ALL_TILES)) & _EIGHTS) >> 3


@kernel
def controlled(state: Int64Array, side: int) -> int:
    """The set of tiles that `side` controls: more kings; equal kings, more pieces in all."""
    own_kings = _counts(state[PIECES + 2 * side])
    own_pawns = _counts(state[PIECES + 2 * side + 1])
    their_kings = _counts(state[PIECES + 2 - 2 * side])
    their_pawns = _counts(state[PIECES + 3 - 2 * side])
    fewer_kings = _tiles_with_more(their_kings, own_kings)
    more_kings = _tiles_with_more(own_kings, their_kings)
    return more_kings | (_tiles_with_more(own_pawns, their_pawns) & ~fewer_kings)


# --- 2. The three kinds of turn ----------------------------------------------------------------


@kernel
def move_piece(state: Int64Array, square: int, direction: int) -> None:
    """Step a piece, pushing the unbroken line ahead; who ends on no tile leaves the game."""
    kind = standing(state, square)
    state[PIECES + kind] ^= 1 << square
    target = step(state, square, direction)
    rear = target
    displaced = 0
    while target != OFF:
        pushed = standing(state, target)
        state[PIECES + kind] ^= 1 << target
        displaced |= 1 << target
        if pushed == EMPTY:
            break
        state[PIECES + pushed] ^= 1 << target
        kind = pushed
        target = step(state, target, direction)
    set_mark(state, PIECE_MARK, direction, displaced, rear)


@kernel
def move_tile(state: Int64Array, slot: int, direction: int, choice: int) -> None:
    """Push a tile and the unbroken line of tiles ahead (n e s w = 0 2 4 6); then splinter."""
    line = tile_line(state, slot, direction)
    kept = tiles_kept(state, slot, direction, choice)
    # The tiles that stay, in their new reading order: 16 * cell + old slot, one row and one
    # column of slack above and left.
    order = np.empty(MAX_TILES, np.int64)
    count = 0
    top = left = 16
    for old in range(state[NUM_TILES]):
        if not (kept >> (4 * old)) & 1:
            continue
        cell = shifted_cell(state, old, line, direction) + 17
        top = min(top, cell >> 4)
        left = min(left, cell & 15)
        place = count
        while place > 0 and order[place - 1] >> 4 > cell:
            order[place] = order[place - 1]
            place -= 1
        order[place] = 16 * cell + old
        count += 1
    displaced = 0
    rear = 0
    for new in range(count):
        old = order[new] & 15
        if (line >> (4 * old)) & 1:
            displaced |= 1 << (4 * new)
        if old == slot:
            rear = new
        order[new] -= 16 * (16 * top + left)
    arrange(state, order, count)
    survey(state)
    set_mark(state, TILE_MARK, direction, displaced, rear)


@kernel
def rotate_tile(state: Int64Array, slot: int) -> None:
    """Turn a tile by 180 degrees: its four quadrants in reverse order."""
    for column in range(PIECES, PIECES + 4):
        here = (state[column] >> (4 * slot)) & 15
        turned = (here >> 3) | ((here >> 1) & 2) | ((here << 1) & 4) | ((here << 3) & 8)
        state[column] ^= (here ^ turned) << (4 * slot)
    set_mark(state, NO_MARK, 0, 0, 0)


@kernel
def set_mark(state: Int64Array, mark: int, direction: int, displaced: int, rear: int) -> None:
    """Remember what the last action displaced; without survivors there is no mark."""
    if displaced == 0:
        mark = NO_MARK
        direction = 0
        rear = 0
    state[MARK] = mark
    state[MARK_DIRECTION] = direction
    state[MARKED] = displaced
    state[MARK_REAR] = rear


@kernel
def all_tiles(state: Int64Array) -> int:
    """The set of tiles in the game."""
    return ALL_TILES >> (4 * (MAX_TILES - state[NUM_TILES]))


@kernel
def tile_line(state: Int64Array, slot: int, direction: int) -> int:
    """The set of tiles that a tile move displaces: the chosen tile and the unbroken line ahead."""
    line = 0
    while slot != OFF:
        line |= 1 << (4 * slot)
        slot = neighbour(state, slot, direction)
    return line


@kernel
def shifted_cell(state: Int64Array, slot: int, line: int, direction: int) -> int:
    """Where a tile lies once `line` has been pushed; may be one cell outside the bounding box."""
    if (line >> (4 * slot)) & 1:
        return state[CELLS + slot] + CELL_STEP[direction]
    return state[CELLS + slot]


@kernel
def arrange(state: Int64Array, order: Int64Array, count: int) -> None:
    """Renumber the tiles: `order` holds `16 * cell + old slot` of the first `count` new slots."""
    for column in range(PIECES, PIECES + 4):
        pieces = 0
        for new in range(count):
            old = order[new] & 15
            pieces |= ((state[column] >> (4 * old)) & 15) << (4 * new)
        state[column] = pieces
    for new in range(count):
        state[CELLS + new] = order[new] >> 4
    state[CELLS + count : CELLS + MAX_TILES] = 0
    state[NUM_TILES] = count


# --- 3. Splintering ----------------------------------------------------------------------------


@kernel
def split(state: Int64Array, slot: int, direction: int) -> int:
    """IN_ONE_PIECE, or how many groups tie for most tiles after this tile move: 1 … 3.

    Known for tiles that are not landlocked; direction n e s w = 0 2 4 6.
    """
    return (state[SPLITS + slot] >> direction) & 3


@kernel
def tiles_kept(state: Int64Array, slot: int, direction: int, choice: int) -> int:
    """The set of tiles that stay in the game after a tile move."""
    if split(state, slot, direction) == IN_ONE_PIECE:
        return all_tiles(state)
    line = tile_line(state, slot, direction)
    return largest_groups(state, slot, line, direction)[1 + choice]


@kernel
def largest_groups(
    state: Int64Array, slot: int, line: int, direction: int
) -> tuple[int, int, int, int]:
    """How many groups tie for most tiles once `line` is pushed, and these (sets of tiles).

    In choice order: by their first tile in reading order, but that of the chosen `slot` first.
    """
    count = first = second = third = 0
    most = 0
    left = all_tiles(state)
    while left:
        group = _group_of(state, _first_tile(state, left, line, direction), line, direction)
        left &= ~group
        tiles = members(group)
        if tiles > most:
            most = tiles
            count = first = second = third = 0
        if tiles == most:
            if count == 0 or (group >> (4 * slot)) & 1:
                first, second, third = group, first, second
            elif count == 1:
                second = group
            else:
                third = group
            count += 1
    return count, first, second, third


@kernel
def _first_tile(state: Int64Array, tiles: int, line: int, direction: int) -> int:
    """The first of some tiles in reading order once `line` is pushed."""
    first = lowest(tiles) >> 2
    for slot in range(first + 1, state[NUM_TILES]):
        if (tiles >> (4 * slot)) & 1:
            cell = shifted_cell(state, slot, line, direction)
            if cell < shifted_cell(state, first, line, direction):
                first = slot
    return first


@kernel
def _group_of(state: Int64Array, slot: int, line: int, direction: int) -> int:
    """The tiles connected with `slot` through sides and corners once `line` is pushed."""
    group = 1 << (4 * slot)
    before = 0
    while group != before:
        before = group
        for inside in range(state[NUM_TILES]):
            if (group >> (4 * inside)) & 1:
                here = shifted_cell(state, inside, line, direction)
                for other in range(state[NUM_TILES]):
                    distance = abs(shifted_cell(state, other, line, direction) - here)
                    if distance == 1 or 15 <= distance <= 17:
                        group |= 1 << (4 * other)
    return group


@kernel
def survey(state: Int64Array) -> None:
    """Derive from the cells alone who neighbours whom, who is landlocked, what a push splits."""
    num_tiles = state[NUM_TILES]
    touching = np.zeros(MAX_TILES, np.int64)  # by slot: set of tiles around it
    reach = np.zeros(4 * MAX_TILES, np.int64)  # by slot and push: set of tiles around it then
    state[LANDLOCKED] = 0
    for slot in range(num_tiles):
        around = (slot + 1) << (4 * SAME_TILE)
        for other in range(num_tiles):
            relation = RELATIONS[state[CELLS + other] - state[CELLS + slot] + _MOST_APART]
            if relation:
                tile = 1 << (4 * other)
                for push in range(4):
                    reach[4 * slot + push] |= tile * ((relation >> push) & 1)
                if relation >> 4:
                    touching[slot] |= tile
                    around |= (other + 1) << (relation >> 4) >> 4
        state[NEIGHBOURS + slot] = around
        if around & 15 and around & 15 << 8 and around & 15 << 16 and around & 15 << 24:
            state[LANDLOCKED] |= 1 << (4 * slot)
    for slot in range(num_tiles):
        splits = 0
        if not (state[LANDLOCKED] >> (4 * slot)) & 1:
            for direction in range(0, 8, 2):
                line = 0
                touched = 0
                tile = slot
                while tile != OFF:
                    line |= 1 << (4 * tile)
                    touched |= reach[4 * tile + (direction >> 1)]
                    tile = neighbour(state, tile, direction)
                splits |= _ties(touching, line, touched, all_tiles(state)) << direction
        state[SPLITS + slot] = splits
    state[NEIGHBOURS + num_tiles : NEIGHBOURS + MAX_TILES] = 0
    state[SPLITS + num_tiles : SPLITS + MAX_TILES] = 0


@kernel
def _ties(touching: Int64Array, line: int, touched: int, everyone: int) -> int:
    """What `split` says of pushing `line`, which then lies beside the tiles `touched`."""
    apart = everyone & ~line
    group = _grown(touching, touched & apart, apart)
    apart &= ~group
    if apart == 0:
        return IN_ONE_PIECE
    most = members(line | group)
    ties = 1
    while apart:
        group = _grown(touching, apart & -apart, apart)
        apart &= ~group
        tiles = members(group)
        if tiles > most:
            most = tiles
            ties = 1
        elif tiles == most:
            ties += 1
    return ties


@kernel
def _grown(touching: Int64Array, group: int, within: int) -> int:
    """All of the tiles `within` that are connected with the tiles of `group` among them."""
    before = 0
    while group not in (before, within):
        before = group
        for slot in range(MAX_TILES):
            group |= touching[slot] & -((before >> (4 * slot)) & 1)
        group &= within
    return group


# --- 4. No undo --------------------------------------------------------------------------------


@kernel
def squares_tied_down(state: Int64Array) -> int:
    """After a piece move in direction d: the squares whose piece may not step in direction -d.

    Such a step displaces a marked piece exactly if it starts in the unbroken line of pieces that
    leads from the rearmost marked one onwards in direction d.
    """
    squares = 0
    if state[MARK] == PIECE_MARK:
        pieces = occupied(state)
        square = state[MARK_REAR]
        while square != OFF and (pieces >> square) & 1:
            squares |= 1 << square
            square = step(state, square, state[MARK_DIRECTION])
    return squares


@kernel
def tiles_tied_down(state: Int64Array) -> int:
    """After a tile move in direction d: the tiles that may not move in direction -d."""
    if state[MARK] == TILE_MARK:
        return tile_line(state, state[MARK_REAR], state[MARK_DIRECTION])
    return 0


@kernel
def tiles_not_to_turn(state: Int64Array) -> int:
    """After a diagonal piece move: the tiles whose rotation would carry a marked piece back."""
    if state[MARK] == PIECE_MARK and state[MARK_DIRECTION] & 1:
        return (state[MARKED] >> CORNER[state[MARK_DIRECTION]]) & ALL_TILES
    return 0


@kernel
def tiles_to_act(state: Int64Array) -> int:
    """The tiles that the side to move may choose: controlled and not landlocked."""
    return controlled(state, state[SIDE]) & ~state[LANDLOCKED]


# --- 5. End of the game ------------------------------------------------------------------------


@kernel
def outcome(state: Int64Array) -> int:
    """ONGOING, WHITE_WINS, BLACK_WINS or DRAW."""
    white_out = state[PIECES] == 0 or state[PIECES + 1] == 0
    black_out = state[PIECES + 2] == 0 or state[PIECES + 3] == 0
    if not white_out and not black_out:
        return ONGOING
    if white_out and black_out:
        more = members(own_pieces(state, WHITE)) - members(own_pieces(state, BLACK))
        if more == 0:
            return DRAW
        return WHITE_WINS if more > 0 else BLACK_WINS
    return BLACK_WINS if white_out else WHITE_WINS


# --- 6. Actions by number ----------------------------------------------------------------------
#
#   piece move     8 * square + direction                       0 … 287
#   tile move      288 + 12 * slot + 3 * direction / 2 + choice   288 … 395   (n e s w = 0 2 4 6)
#   rotation       396 + slot                                   396 … 404


@kernel
def legal_actions(state: Int64Array, actions: Int64Array) -> int:
    """Write the legal action numbers, ascending, into `actions` (405,); return how many.

    None when the game is over.
    """
    count = 0
    if outcome(state) != ONGOING:
        return count
    tied = squares_tied_down(state)
    back = (state[MARK_DIRECTION] + 4) & 7
    own = own_pieces(state, state[SIDE])
    while own:
        square = lowest(own)
        own &= own - 1
        for direction in range(8):
            actions[count] = 8 * square + direction
            count += 1
        if (tied >> square) & 1:
            for place in range(count - 8 + back, count - 1):
                actions[place] = actions[place + 1]
            count -= 1
    to_act = tiles_to_act(state)
    tied = tiles_tied_down(state)
    tiles = to_act
    while tiles:
        slot = lowest(tiles) >> 2
        tiles &= tiles - 1
        for direction in range(0, 8, 2):
            if direction == back and (tied >> (4 * slot)) & 1:
                continue
            first = FIRST_TILE_MOVE + 12 * slot + 3 * (direction >> 1)
            for choice in range(max(1, split(state, slot, direction))):
                actions[count] = first + choice
                count += 1
    tiles = to_act & ~tiles_not_to_turn(state)
    while tiles:
        actions[count] = FIRST_ROTATION + (lowest(tiles) >> 2)
        tiles &= tiles - 1
        count += 1
    return count


@kernel
def legal_mask(state: Int64Array, mask: Int8Array) -> None:
    """Write 1 for each legal action and 0 for the others into `mask` (405,)."""
    if outcome(state) != ONGOING:
        mask[:] = 0
        return
    tied = squares_tied_down(state)
    back = (state[MARK_DIRECTION] + 4) & 7
    own = own_pieces(state, state[SIDE])
    for square in range(MAX_SQUARES):
        free = (own >> square) & 1
        for direction in range(8):
            mask[8 * square + direction] = free
        if (tied >> square) & 1:
            mask[8 * square + back] = 0
    mask[FIRST_TILE_MOVE:] = 0
    to_act = tiles_to_act(state)
    tied = tiles_tied_down(state)
    tiles = to_act
    while tiles:
        slot = lowest(tiles) >> 2
        tiles &= tiles - 1
        for direction in range(0, 8, 2):
            if direction == back and (tied >> (4 * slot)) & 1:
                continue
            first = FIRST_TILE_MOVE + 12 * slot + 3 * (direction >> 1)
            for choice in range(max(1, split(state, slot, direction))):
                mask[first + choice] = 1
    tiles = to_act & ~tiles_not_to_turn(state)
    while tiles:
        mask[FIRST_ROTATION + (lowest(tiles) >> 2)] = 1
        tiles &= tiles - 1


@kernel
def is_legal(state: Int64Array, action: int) -> bool:
    """Whether one of the numbers 0 … 404 is a legal action."""
    if outcome(state) != ONGOING:
        return False
    back = (state[MARK_DIRECTION] + 4) & 7
    if action < FIRST_TILE_MOVE:
        square = action >> 3
        if not (own_pieces(state, state[SIDE]) >> square) & 1:
            return False
        return action & 7 != back or not (squares_tied_down(state) >> square) & 1
    if action < FIRST_ROTATION:
        number = action - FIRST_TILE_MOVE
        slot = number // 12
        direction = number % 12 // 3 * 2
        if not (tiles_to_act(state) >> (4 * slot)) & 1:
            return False
        if direction == back and (tiles_tied_down(state) >> (4 * slot)) & 1:
            return False
        return number % 3 < max(1, split(state, slot, direction))
    slot = action - FIRST_ROTATION
    return ((tiles_to_act(state) & ~tiles_not_to_turn(state)) >> (4 * slot)) & 1 != 0


@kernel
def play_unchecked(state: Int64Array, action: int) -> None:
    """Play a legal action in place. An illegal one leaves a row without meaning."""
    if action < FIRST_TILE_MOVE:
        move_piece(state, action >> 3, action & 7)
    elif action < FIRST_ROTATION:
        number = action - FIRST_TILE_MOVE
        move_tile(state, number // 12, number % 12 // 3 * 2, number % 3)
    else:
        rotate_tile(state, action - FIRST_ROTATION)
    state[SIDE] ^= 1
    state[PLY] += 1


@kernel
def count_sequences(state: Int64Array, depth: int) -> int:
    """Perft: the number of sequences of `depth` legal actions from a position."""
    if depth == 0:
        return 1
    states = np.empty((depth, STATE_SIZE), np.int64)
    actions = np.empty((depth, NUM_ACTIONS), np.int64)
    left = np.empty(depth, np.int64)  # by level: how many of its actions are still to be tried
    states[0] = state
    left[0] = legal_actions(states[0], actions[0])
    level = 0
    total = 0
    while level >= 0:
        if level == depth - 1:
            total += left[level]
            level -= 1
        elif left[level] == 0:
            level -= 1
        else:
            left[level] -= 1
            states[level + 1] = states[level]
            play_unchecked(states[level + 1], actions[level, left[level]])
            level += 1
            left[level] = legal_actions(states[level], actions[level])
    return total
