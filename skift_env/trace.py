"""What the last action left behind for a picture to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from skift_env.notation import Place
from skift_env.rules import COLUMN_STEP, DIRECTIONS, ROW_STEP
from skift_env.view import Box

if TYPE_CHECKING:
    from skift_env.position import Position

LastAction: TypeAlias = "tuple[Position, int]"
"""The position before the last action, and the action's number."""

STEPS: dict[str, Place] = dict(
    zip(DIRECTIONS, zip(ROW_STEP.tolist(), COLUMN_STEP.tolist(), strict=True), strict=True)
)
"""Rows and columns of a step, by direction."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The last action in the frame of the position after it.

    Attributes:
        squares: (from, to) of each piece that a piece move displaced, the chosen one first.
        tiles: (from, to) of each tile that a tile move displaced, the chosen one first.
        turned_tile: the tile that a rotation turned.
        lost_pieces: letter of each piece that left the game, and where it would stand.
        lost_tiles: where the tiles that left the game would be.
    """

    squares: tuple[tuple[Place, Place], ...] = ()
    tiles: tuple[tuple[Place, Place], ...] = ()
    turned_tile: Place | None = None
    lost_pieces: tuple[tuple[str, Place], ...] = ()
    lost_tiles: tuple[Place, ...] = ()

    @classmethod
    def of(cls, position: Position, last_action: LastAction | None) -> Trace:
        """The trace of an action, or what the no-undo mark tells of it where that is not given.

        Raises:
            ValueError: for a `last_action` that does not lead to `position`.
        """
        if last_action is None:
            return cls._from_mark(position)
        before, action = last_action
        if before.play(action) != position:
            raise ValueError(
                f"last_action {before.action_text(action)} does not lead from {before.text!r} "
                f"to {position.text!r}"
            )
        effect = before.effect(action)
        d_row, d_column = effect.offset

        def tile(place: Place) -> Place:
            return place[0] + d_row, place[1] + d_column

        def square(place: Place) -> Place:
            return place[0] + 2 * d_row, place[1] + 2 * d_column

        moved = dict(effect.displaced)
        if effect.kind == "rotation":
            assert effect.tile is not None
            return cls(turned_tile=tile(effect.tile))
        if effect.kind == "piece":
            return cls(
                squares=tuple((square(a), square(b)) for a, b in effect.displaced),
                lost_pieces=tuple((letter, square(moved[at])) for letter, at in effect.lost_pieces),
            )

        def carried(at: Place) -> Place:
            stood_on = (at[0] // 2, at[1] // 2)
            row, column = moved.get(stood_on, stood_on)
            return square((2 * row + at[0] % 2, 2 * column + at[1] % 2))

        return cls(
            tiles=tuple((tile(a), tile(b)) for a, b in effect.displaced),
            lost_pieces=tuple((letter, carried(at)) for letter, at in effect.lost_pieces),
            lost_tiles=tuple(tile(moved.get(at, at)) for at in effect.lost_tiles),
        )

    @classmethod
    def _from_mark(cls, position: Position) -> Trace:
        mark = position.mark
        if mark is None:
            return cls()
        d_row, d_column = STEPS[mark.direction]
        places = mark.squares if mark.kind == "p" else mark.tiles
        rear_first = sorted(places, key=lambda place: place[0] * d_row + place[1] * d_column)
        moves = tuple(((r - d_row, c - d_column), (r, c)) for r, c in rear_first)
        return cls(squares=moves) if mark.kind == "p" else cls(tiles=moves)

    def box(self, position: Position, margin: float = 0.2) -> Box:
        """The part of the table to show, in cells: the board with an empty cell around it, and
        what left the game with a `margin`."""
        board = position.board
        rows, columns = len(board) // 2, len(board[0]) // 2
        lost = [*self.lost_tiles, *((r // 2, c // 2) for _, (r, c) in self.lost_pieces)]
        near, far = -margin, 1 + margin
        return Box(-1.0, -1.0, rows + 1.0, columns + 1.0).union(
            *(Box(r + near, c + near, r + far, c + far) for r, c in lost)
        )
