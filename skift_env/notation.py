"""Positions and actions as text (rulebook section 7): each function here has its inverse."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import numpy as np

from skift_env import rules
from skift_env.actions import Action, PieceMove, TileMove, TileRotation, direction_name
from skift_env.rules import DIRECTIONS, OFF, PIECE_LETTERS, PIECE_MARK, TILE_MARK
from skift_env.types import Int64Array

START_TEXT: Final = "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"

MOST_PIECES: Final = {"K": 2, "P": 6, "k": 2, "p": 6}

Field: TypeAlias = Literal["fields", "board", "side", "mark", "ply"]
Place: TypeAlias = tuple[int, int]
"""Row and column from the top-left corner of the bounding box."""


class NotationError(ValueError):
    """A text that is no action in a position."""


class PositionError(ValueError):
    """A text that is no position; `field` names the part at fault."""

    def __init__(self, field: Field, fault: str, text: str) -> None:
        super().__init__(f"{field}: {fault}, in {text!r}")
        self.field: Field = field

    def __reduce__(self) -> tuple[type[ValueError], tuple[str]]:
        return ValueError, (str(self),)


# --- Places ------------------------------------------------------------------------------------


def tile_rows(state: Int64Array) -> int:
    """The height of the bounding box in tiles."""
    return max(place[0] for place in tile_places(state)) + 1


def tile_places(state: Int64Array) -> list[Place]:
    """Row and column of each tile, by slot."""
    cells = state[rules.CELLS : rules.CELLS + state[rules.NUM_TILES]].tolist()
    return [divmod(cell, 16) for cell in cells]


def square_place(state: Int64Array, square: int) -> Place:
    """Row and column of a square, in quadrants."""
    row, column = divmod(int(state[rules.CELLS + square // 4]), 16)
    return 2 * row + square % 4 // 2, 2 * column + square % 2


def square_name(place: Place, rows: int) -> str:
    """A file letter and a rank number, for a box of `rows` rows of quadrants: `c3`."""
    return f"{'abcdefghijklmnopqr'[place[1]]}{rows - place[0]}"


def tile_name(place: Place, rows: int) -> str:
    """A capital letter and a number, for a box of `rows` rows of tiles: `B1`."""
    return f"{'ABCDEFGHI'[place[1]]}{rows - place[0]}"


def parse_place(name: str, rows: int) -> Place | None:
    """The place of a square (`c3`) or tile (`B1`); None if malformed or above or below the box."""
    found = re.fullmatch("([a-r])([1-9][0-9]?)|([A-I])([1-9])", name, re.ASCII)
    if not found:
        return None
    letter, number = name[0], int(name[1:])
    place = rows - number, ord(letter) - ord("a" if letter.islower() else "A")
    return place if place[0] >= 0 else None


def _square_at(state: Int64Array, place: Place) -> int:
    row, column = place
    cell = 16 * (row // 2) + column // 2
    cells = state[rules.CELLS : rules.CELLS + state[rules.NUM_TILES]].tolist()
    return 4 * cells.index(cell) + 2 * (row % 2) + column % 2 if cell in cells else OFF


def _members(bits: int) -> list[int]:
    return [index for index in range(rules.MAX_SQUARES) if int(bits) >> index & 1]


# --- Positions ---------------------------------------------------------------------------------


def board_rows(state: Int64Array) -> tuple[str, ...]:
    """The quadrant rows from the top: `K P k p`, `.` for an empty quadrant, `_` for no tile."""
    places = tile_places(state)
    height = 2 * (max(row for row, _ in places) + 1)
    width = 2 * (max(column for _, column in places) + 1)
    board = [["_"] * width for _ in range(height)]
    for square in range(4 * len(places)):
        row, column = square_place(state, square)
        kind = rules.standing(state, square)
        board[row][column] = "." if kind == rules.EMPTY else PIECE_LETTERS[kind]
    return tuple("".join(row) for row in board)


def marked_places(state: Int64Array) -> list[Place]:
    """What the no-undo mark holds, in reading order: of squares or of tiles."""
    marked = _members(int(state[rules.MARKED]))
    if state[rules.MARK] == TILE_MARK:
        return sorted(tile_places(state)[square // 4] for square in marked)
    return sorted(square_place(state, square) for square in marked)


def format_position(state: Int64Array) -> str:
    """The four fields of a position."""
    mark = "-"
    if state[rules.MARK] != rules.NO_MARK:
        rows = tile_rows(state)
        direction = DIRECTIONS[state[rules.MARK_DIRECTION]]
        places = marked_places(state)
        if state[rules.MARK] == PIECE_MARK:
            names = [square_name(place, 2 * rows) for place in places]
        else:
            names = [tile_name(place, rows) for place in places]
        mark = f"{'p' if state[rules.MARK] == PIECE_MARK else 't'}:{direction}:{','.join(names)}"
    side = "wb"[state[rules.SIDE]]
    return f"{'/'.join(board_rows(state))} {side} {mark} {state[rules.PLY]}"


def parse_position(text: str) -> Int64Array:
    """The state row of a position's text.

    Raises:
        PositionError: naming the field (fields, board, side, mark, ply) and its fault.
    """
    fields = text.split(" ")
    if len(fields) != 4 or "" in fields or any(c.isspace() for c in text.replace(" ", "")):
        raise PositionError("fields", "not four fields separated by single spaces", text)
    board, side, mark, ply = fields
    state = np.zeros(rules.STATE_SIZE, np.int64)
    _parse_board(state, board, text)
    if side not in ("w", "b"):
        raise PositionError("side", f"{side!r} is neither 'w' nor 'b'", text)
    state[rules.SIDE] = "wb".index(side)
    if not re.fullmatch("0|[1-9][0-9]{0,17}", ply, re.ASCII):
        raise PositionError("ply", f"{ply!r} is not a count of plies below 10**18", text)
    state[rules.PLY] = int(ply)
    if mark != "-":
        _parse_mark(state, mark, text)
    return state


def _parse_board(state: Int64Array, board: str, text: str) -> None:
    def refuse(fault: str) -> PositionError:
        return PositionError("board", fault, text)

    rows = board.split("/")
    for row in rows:
        for letter in row:
            if letter not in "KPkp._":
                raise refuse(f"unknown character {letter!r}")
        if len(row) != len(rows[0]):
            raise refuse("rows of unequal length")
    if len(rows) % 2 or len(rows[0]) % 2:
        raise refuse("an odd number of rows or columns")
    cells: list[Place] = []
    for top in range(0, len(rows), 2):
        for left in range(0, len(rows[0]), 2):
            quadrants = rows[top][left : left + 2] + rows[top + 1][left : left + 2]
            if quadrants == "____":
                continue
            if "_" in quadrants:
                raise refuse(
                    f"a quadrant is missing of the tile in row {top // 2 + 1} and column "
                    f"{left // 2 + 1} of tiles, counted from the top left"
                )
            cells.append((top // 2, left // 2))
    if not cells:
        raise refuse("no tile at all")
    if len(cells) > rules.MAX_TILES:
        raise refuse(f"{len(cells)} tiles, {rules.MAX_TILES} at most")
    for name, index, size in (("row", 0, len(rows) // 2), ("column", 1, len(rows[0]) // 2)):
        if {0, size - 1} - {cell[index] for cell in cells}:
            raise refuse(f"an empty outer {name} of tiles (not anchored)")
    for letter, most in MOST_PIECES.items():
        if board.count(letter) > most:
            raise refuse(f"{board.count(letter)} pieces {letter}, {most} at most")
    if not _connected(cells):
        raise refuse("tiles not connected by sides or corners")
    state[rules.NUM_TILES] = len(cells)
    for slot, (cell_row, cell_column) in enumerate(cells):
        state[rules.CELLS + slot] = 16 * cell_row + cell_column
        for quadrant in range(4):
            letter = rows[2 * cell_row + quadrant // 2][2 * cell_column + quadrant % 2]
            if letter != ".":
                kind = PIECE_LETTERS.index(letter)
                state[rules.PIECES + kind] |= 1 << (4 * slot + quadrant)
    rules.survey(state)


def _parse_mark(state: Int64Array, mark: str, text: str) -> None:
    def refuse(fault: str) -> PositionError:
        return PositionError("mark", fault, text)

    parts = mark.split(":")
    if len(parts) != 3 or parts[0] not in ("p", "t") or parts[1] not in DIRECTIONS:
        raise refuse(f"{mark!r} is not '-', 'p:direction:squares' or 't:direction:tiles'")
    direction = DIRECTIONS.index(parts[1])
    of_pieces = parts[0] == "p"
    if not of_pieces and direction % 2:
        raise refuse(f"tiles do not move {parts[1]}")
    rows = tile_rows(state) * (2 if of_pieces else 1)
    places: list[Place] = []
    for name in parts[2].split(","):
        place = parse_place(name, rows)
        if place is None or name[0].islower() != of_pieces:
            raise refuse(f"no {'square' if of_pieces else 'tile'} {name!r}")
        if places and place <= places[-1]:
            raise refuse(f"{name} is repeated or out of reading order")
        places.append(place)
    if state[rules.PLY] == 0:
        raise refuse("before the first ply there is none")
    # In marching order: the rearmost first.
    d_row, d_column = int(rules.ROW_STEP[direction]), int(rules.COLUMN_STEP[direction])
    places.sort(key=lambda place: place[0] * d_row + place[1] * d_column)
    for ahead, (row, column) in enumerate(places):
        if (row, column) != (places[0][0] + ahead * d_row, places[0][1] + ahead * d_column):
            raise refuse(f"not one unbroken line towards {parts[1]}")
    mover = 1 - int(state[rules.SIDE])
    behind = places[0][0] - d_row, places[0][1] - d_column
    if of_pieces:
        squares = [_square_at(state, place) for place in places]
        pieces = int(rules.occupied(state))
        if any(square == OFF or not pieces >> square & 1 for square in squares):
            raise refuse("a square without a piece")
        if not int(rules.own_pieces(state, mover)) >> squares[0] & 1:
            raise refuse("the rearmost piece is not of the side that moved")
        origin = _square_at(state, behind)
        if origin == OFF or pieces >> origin & 1:
            raise refuse("the rearmost piece cannot have come from the square behind it")
        displaced = sum(1 << square for square in squares)
        rules.set_mark(state, PIECE_MARK, direction, displaced, squares[0])
        return
    cells = tile_places(state)
    if any(place not in cells for place in places):
        raise refuse("a cell without a tile")
    slots = [cells.index(place) for place in places]
    if not int(rules.controlled(state, mover)) >> 4 * slots[0] & 1:
        raise refuse("the rearmost tile is not controlled by the side that moved")
    if behind in cells:
        raise refuse("the rearmost tile cannot have come from the cell behind it")
    before = [
        (row - d_row, column - d_column) if (row, column) in places else (row, column)
        for row, column in cells
    ]
    if not _connected(before):
        raise refuse("before that move the tiles were not connected")
    if all((behind[0] + dr, behind[1] + dc) in before for dr, dc in _SIDES):
        raise refuse("before that move the rearmost tile was landlocked")
    displaced = sum(1 << 4 * slot for slot in slots)
    rules.set_mark(state, TILE_MARK, direction, displaced, slots[0])


_SIDES: Final = ((-1, 0), (0, 1), (1, 0), (0, -1))


def _connected(cells: list[Place]) -> bool:
    """Whether tiles on these cells are connected through sides and corners."""
    group = {cells[0]}
    while more := {
        cell
        for cell in set(cells) - group
        if any(max(abs(cell[0] - row), abs(cell[1] - column)) <= 1 for row, column in group)
    }:
        group |= more
    return len(group) == len(cells)


# --- Actions -----------------------------------------------------------------------------------


def format_action(state: Int64Array, action: Action) -> str:
    """`c3ne`, `B1e`, `B1e=1` or `B1r`; the action's tile must be there."""
    rows = tile_rows(state)
    if isinstance(action, PieceMove):
        place = square_place(state, 4 * action.slot + action.quadrant)
        return square_name(place, 2 * rows) + direction_name(action)
    name = tile_name(tile_places(state)[action.slot], rows)
    if isinstance(action, TileRotation):
        return name + "r"
    return name + direction_name(action) + (f"={action.choice}" if action.choice else "")


_ACTION: Final = re.compile(
    "([a-r][1-9][0-9]?)(n|ne|e|se|s|sw|w|nw)|([A-I][1-9])(?:(r)|(n|e|s|w)(?:=([12]))?)", re.ASCII
)


def parse_action(state: Int64Array, text: str) -> Action:
    """The action that a text means in a position; it need not be legal.

    Raises:
        NotationError: if the text is malformed, or names a square or tile that is not there.
    """
    found = _ACTION.fullmatch(text)
    if not found:
        raise NotationError(
            f"{text!r} is not an action: a piece move like 'c3ne', a tile move like 'B1e' "
            "or 'B1e=1', or a rotation like 'B1r'"
        )
    square_text, step, tile_text, turn, push, choice = found.groups()
    rows = tile_rows(state)
    if square_text:
        place = parse_place(square_text, 2 * rows)
        square = OFF if place is None else _square_at(state, place)
        if square == OFF:
            raise NotationError(f"there is no square {square_text} in {format_position(state)!r}")
        return PieceMove(square // 4, square % 4, DIRECTIONS.index(step))
    place = parse_place(tile_text, rows)
    places = tile_places(state)
    if place not in places:
        raise NotationError(f"there is no tile {tile_text} in {format_position(state)!r}")
    slot = places.index(place)
    if turn:
        return TileRotation(slot)
    return TileMove(slot, DIRECTIONS.index(push) // 2, int(choice or 0))
