"""What a board looks like, as plain shapes: one description for SVG, pixel arrays and the window.

`scene` knows the game and no backend; `skift_env.svg` and `skift_env.render` know the five shapes
and no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from skift_env.rules import COLUMN_STEP, DIRECTIONS, ROW_STEP
from skift_env.shapes import THEMES, Canvas, Point, Rect, Scene, Shape, Theme

if TYPE_CHECKING:
    from skift_env.position import Position

Cell: TypeAlias = tuple[int, int]
"""(row, column) of a tile or of a quadrant, from the top left of the bounding box."""
LastAction: TypeAlias = "tuple[Position, int]"
"""The position before the last action, and the action's number."""
Arrow: TypeAlias = tuple[str, str, float, str | None]
"""(from, to, weight in 0 … 1, label). From a square `"c3"` or a tile `"B1"`, to another one, to a
direction (`"ne"`: one step, off the board too), or to `"r"`: the tile turns."""
Highlights: TypeAlias = Mapping[str, float] | Iterable[str]
"""Squares and tiles by name, with weights in 0 … 1 (1 where none is given)."""
Orientation: TypeAlias = Literal["white", "black"]

WIDTH = 1000.0
"""Width of every scene in units; the board area is as high as it is wide."""
HEIGHT = 1125.0
"""Height of every scene: the board area and a status strip below it."""
FRAME = 46.0
"""Width of the border of the board area, in which the coordinates stand."""

LEAST_SPAN = 5  # cells across the table: the start board and one empty cell on each side
TILE, QUADRANT, QUADRANT_OFFSET = 0.95, 0.425, 0.229  # sides, and from a tile's centre, in cells
RING = 0.98  # side of what surrounds a tile, in cells
KING, PAWN = 0.31, 0.16  # side and radius in cells
ROUND = 0.085  # radius of a tile's corners, in cells
FADED = 0.4
STEPS: dict[str, Cell] = dict(
    zip(DIRECTIONS, zip(ROW_STEP.tolist(), COLUMN_STEP.tolist(), strict=True), strict=True)
)


def scene(
    position: Position,
    *,
    last_action: LastAction | None = None,
    arrows: Iterable[Arrow] = (),
    highlights: Highlights = (),
    orientation: Orientation = "white",
    theme: str = "light",
) -> Scene:
    """The picture of a position, always `WIDTH` by `HEIGHT` units.

    The board is centred on a table whose scale follows the bounding box of the tiles, with at
    least one empty cell around it. What the last action displaced is marked (as far as the no-undo
    mark tells where `last_action` is not given); what left the game with it is drawn faded where
    it would stand. With `orientation="black"` the table is turned by 180°.

    Raises ValueError for an unknown theme or orientation, for a square or tile that is not there,
    a weight outside 0 … 1, and a `last_action` that does not lead to `position`.
    """
    if theme not in THEMES:
        raise ValueError(f"unknown theme {theme!r}: it is one of {', '.join(map(repr, THEMES))}")
    if orientation not in ("white", "black"):
        raise ValueError(f"unknown orientation {orientation!r}: it is 'white' or 'black'")
    last = _Last.of(position, last_action)
    drawing = _Drawing(position, last, THEMES[theme], turned=orientation == "black")
    drawing.draw_table()
    drawing.draw_coordinates()
    drawing.draw_tiles()
    drawing.draw_last_action()
    drawing.draw_highlights(highlights)
    drawing.draw_pieces()
    drawing.draw_arrows(arrows)
    drawing.draw_status(last_action)
    drawing.draw_losses()
    return Scene(WIDTH, HEIGHT, tuple(drawing.shapes), headline(position))


def headline(position: Position) -> str:
    """Who is to move or has won."""
    outcome = position.outcome
    if outcome is None:
        return f"{position.side.capitalize()} to move"
    return f"{outcome.winner.capitalize()} wins" if outcome.winner else "Draw"


def tile_name(position: Position, tile: Cell) -> str:
    """A tile's name, such as `B1`."""
    return f"{chr(ord('A') + tile[1])}{len(position.board) // 2 - tile[0]}"


def lost_pieces(position: Position) -> tuple[str, str]:
    """The letters of what is missing from the 2 kings and 6 pawns of white, and of black."""
    board = "".join(position.board)
    white, black = (
        king * (2 - board.count(king)) + pawn * (6 - board.count(pawn))
        for king, pawn in ("KP", "kp")
    )
    return white, black


@dataclass(frozen=True, slots=True)
class _Last:
    """The last action in the frame of the position after it; (from, to), the actor's own first."""

    squares: tuple[tuple[Cell, Cell], ...] = ()
    tiles: tuple[tuple[Cell, Cell], ...] = ()
    turned_tile: Cell | None = None
    lost_pieces: tuple[tuple[str, Cell], ...] = ()
    lost_tiles: tuple[Cell, ...] = ()

    @classmethod
    def of(cls, position: Position, last_action: LastAction | None) -> _Last:
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

        def tile(cell: Cell) -> Cell:
            return cell[0] + d_row, cell[1] + d_column

        def square(cell: Cell) -> Cell:
            return cell[0] + 2 * d_row, cell[1] + 2 * d_column

        moved = dict(effect.displaced)
        if effect.kind == "rotation":
            assert effect.tile is not None
            return cls(turned_tile=tile(effect.tile))
        if effect.kind == "piece":
            return cls(
                squares=tuple((square(a), square(b)) for a, b in effect.displaced),
                lost_pieces=tuple((letter, square(moved[at])) for letter, at in effect.lost_pieces),
            )

        def carried(at: Cell) -> Cell:
            stood_on = (at[0] // 2, at[1] // 2)
            row, column = moved.get(stood_on, stood_on)
            return square((2 * row + at[0] % 2, 2 * column + at[1] % 2))

        return cls(
            tiles=tuple((tile(a), tile(b)) for a, b in effect.displaced),
            lost_pieces=tuple((letter, carried(at)) for letter, at in effect.lost_pieces),
            lost_tiles=tuple(tile(moved.get(at, at)) for at in effect.lost_tiles),
        )

    @classmethod
    def _from_mark(cls, position: Position) -> _Last:
        mark = position.mark
        if mark is None:
            return cls()
        d_row, d_column = STEPS[mark.direction]
        cells = mark.squares if mark.kind == "p" else mark.tiles
        rear_first = sorted(cells, key=lambda cell: cell[0] * d_row + cell[1] * d_column)
        moves = tuple(((r - d_row, c - d_column), (r, c)) for r, c in rear_first)
        return cls(squares=moves) if mark.kind == "p" else cls(tiles=moves)


class _Drawing:
    """The parts of one picture. Lengths are multiples of a tile's cell."""

    def __init__(self, position: Position, last: _Last, theme: Theme, *, turned: bool) -> None:
        self.position, self.last, self.theme = position, last, theme
        self.rows, self.columns = len(position.board) // 2, len(position.board[0]) // 2
        ghosts = [*last.lost_tiles, *((r // 2, c // 2) for _, (r, c) in last.lost_pieces)]
        down = [-1.0, self.rows + 1.0, *(edge for r, _ in ghosts for edge in (r - 0.2, r + 1.2))]
        over = [-1.0, self.columns + 1.0, *(edge for _, c in ghosts for edge in (c - 0.2, c + 1.2))]
        span = max(LEAST_SPAN, max(down) - min(down), max(over) - min(over))
        self.middle = (max(down) + min(down)) / 2, (max(over) + min(over)) / 2
        self.cell = (WIDTH - 2 * FRAME) / span * (-1 if turned else 1)
        self.shapes: list[Shape] = []
        self.canvas = self._canvas(abs(self.cell))

    def _canvas(self, scale: float) -> Canvas:
        return Canvas(scale, self.theme.label, self.shapes)

    def tile_xy(self, tile: Cell) -> Point:
        """The centre of a tile's cell."""
        x = WIDTH / 2 + (tile[1] + 0.5 - self.middle[1]) * self.cell
        y = WIDTH / 2 + (tile[0] + 0.5 - self.middle[0]) * self.cell
        return x, y

    def square_xy(self, square: Cell) -> Point:
        """The centre of a quadrant, on a tile or beside the board."""
        x, y = self.tile_xy((square[0] // 2, square[1] // 2))
        reach = QUADRANT_OFFSET * self.cell
        return x + (reach if square[1] % 2 else -reach), y + (reach if square[0] % 2 else -reach)

    def xy(self, is_tile: bool, cell: Cell) -> Point:
        """The centre of a tile's cell or of a quadrant."""
        return self.tile_xy(cell) if is_tile else self.square_xy(cell)

    def tiles(self) -> list[Cell]:
        """The cells of the tiles, in reading order."""
        cells = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        return [(r, c) for r, c in cells if self.position.board[2 * r][2 * c] != "_"]

    def find(self, name: str) -> tuple[bool, Cell]:
        """Whether a name is that of a tile, and the cell that it names."""
        match = re.fullmatch("([a-r]|[A-I])([1-9][0-9]?)", name)
        if match:
            is_tile = name[0].isupper()
            row = self.rows * (1 if is_tile else 2) - int(match[2])
            column = ord(name[0]) - ord("A" if is_tile else "a")
            if ((row, column) if is_tile else (row // 2, column // 2)) in self.tiles():
                return is_tile, (row, column)
        raise ValueError(f"no square or tile {name!r} in {self.position.text!r}")

    def draw_table(self) -> None:
        theme, inner = self.theme, WIDTH - 2 * FRAME
        self.shapes += [
            Rect(0, 0, WIDTH, HEIGHT, fill=theme.page, classes="page"),
            Rect(0, 0, WIDTH, WIDTH, fill=theme.frame, classes="frame"),
            Rect(FRAME, FRAME, inner, inner, 12, fill=theme.table, classes="table"),
        ]

    def draw_coordinates(self) -> None:
        """Squares below and on the left, tiles above and on the right."""
        near, far = FRAME / 2, WIDTH - FRAME / 2
        labels = {}
        for i in range(2 * self.columns):
            labels[self.square_xy((0, i))[0], far] = chr(ord("a") + i)
        for i in range(self.columns):
            labels[self.tile_xy((0, i))[0], near] = chr(ord("A") + i)
        for i in range(2 * self.rows):
            labels[near, self.square_xy((i, 0))[1]] = str(2 * self.rows - i)
        for i in range(self.rows):
            labels[far, self.tile_xy((i, 0))[1]] = str(self.rows - i)
        size = min(24.0, 0.2 * self.canvas.scale)
        for at, label in labels.items():
            self.canvas.text(at, label, size, "coordinate", self.theme.muted)

    def draw_tiles(self) -> None:
        for tile in self.last.lost_tiles:
            self._draw_tile(tile, "tile lost", None, FADED)
        for tile in self.tiles():
            x, y = self.tile_xy(tile)
            shade = x, y + 0.024 * self.canvas.scale
            self.canvas.square(shade, TILE, ROUND, "shadow", self.theme.shadow)
            side = self.position.control.get(tile)
            self._draw_tile(tile, f"tile {side}" if side else "tile", side, 1.0)
            if side:
                fill, stroke = self.theme.piece[side], self.theme.outline[side]
                self.canvas.disc((x, y), 0.042, f"pip {side}", fill, stroke=stroke, width=0.012)

    def _draw_tile(self, tile: Cell, classes: str, side: str | None, opacity: float) -> None:
        edge, top = self.theme.edge[side], self.theme.tile[side]
        self.canvas.square(self.tile_xy(tile), TILE, ROUND, classes, edge, opacity=opacity)
        for i in range(4):
            at = self.square_xy((2 * tile[0] + i // 2, 2 * tile[1] + i % 2))
            self.canvas.square(at, QUADRANT, ROUND / 2, "quadrant", top, opacity=opacity)

    def draw_pieces(self) -> None:
        for row, line in enumerate(self.position.board):
            for column, letter in enumerate(line):
                if letter not in "._":
                    self._draw_piece(self.canvas, letter, self.square_xy((row, column)))
        for letter, square in self.last.lost_pieces:
            self._draw_piece(self.canvas, letter, self.square_xy(square), "lost", FADED)

    def _draw_piece(
        self, canvas: Canvas, letter: str, at: Point, classes: str = "", opacity: float = 1.0
    ) -> None:
        """A king is a square, a pawn a disc; each has its outline engraved once more."""
        side = "white" if letter.isupper() else "black"
        kind = "king" if letter in "Kk" else "pawn"
        outer = f"{kind} {side} {classes}".rstrip()
        for names, size, fill, stroke, width in (
            (outer, 1.0, self.theme.piece[side], self.theme.outline[side], 0.018),
            ("engraving", 0.6, None, self.theme.engraving[side], 0.014),
        ):
            if kind == "king":
                radius = 0.045 * size
                canvas.square(at, size * KING, radius, names, fill,
                              stroke=stroke, width=width, opacity=opacity)  # fmt: skip
            else:
                canvas.disc(at, size * PAWN, names, fill,
                            stroke=stroke, width=width, opacity=opacity)  # fmt: skip

    def draw_last_action(self) -> None:
        """Mark what was displaced, and with an arrow the place that it left empty."""
        canvas, colour, last = self.canvas, self.theme.last, self.last
        tiles = self.tiles()
        for _, (row, column) in last.squares:
            if (row // 2, column // 2) in tiles:
                at = self.square_xy((row, column))
                canvas.square(at, QUADRANT, ROUND / 2, "last", colour, opacity=0.5)
        for _, tile in last.tiles:
            if tile in tiles:
                canvas.ring(self.tile_xy(tile), RING, 0.035, "last", colour)
        if last.turned_tile is not None:
            canvas.turn(self.tile_xy(last.turned_tile), RING, 0.035, "last", colour)
        if last.squares:
            origin, target = (self.square_xy(square) for square in last.squares[0])
            canvas.square(origin, QUADRANT, ROUND / 2, "last", colour, opacity=0.25)
            canvas.arrow(origin, target, 0.05, "last", colour, span=(-0.35, 0.35))
        if last.tiles:
            origin, target = (self.tile_xy(tile) for tile in last.tiles[0])
            canvas.square(origin, TILE, ROUND, "last", stroke=colour, width=0.02, opacity=0.6)
            canvas.arrow(origin, target, 0.07, "last", colour, span=(-0.33, 0.33))

    def draw_highlights(self, highlights: Highlights) -> None:
        if not isinstance(highlights, Mapping):
            highlights = dict.fromkeys(highlights, 1.0)
        for name, weight in highlights.items():
            is_tile, cell = self.find(name)
            at, opacity = self.xy(is_tile, cell), 0.65 * _checked(weight, name)
            side, radius = (TILE, ROUND) if is_tile else (QUADRANT, ROUND / 2)
            colour = self.theme.overlay
            self.canvas.square(at, side, radius, "highlight", colour, opacity=opacity)

    def draw_arrows(self, arrows: Iterable[Arrow]) -> None:
        colour, labels = self.theme.overlay, []
        for origin, target, weight, label in arrows:
            width = 0.02 + 0.06 * _checked(weight, f"{origin} {target}")
            opacity = 0.4 + 0.5 * weight
            is_tile, (row, column) = self.find(origin)
            start = end = self.xy(is_tile, (row, column))
            if target == "r" and is_tile:
                self.canvas.turn(start, RING, width, "arrow", colour, opacity)
            else:
                if target in STEPS:
                    end = self.xy(is_tile, (row + STEPS[target][0], column + STEPS[target][1]))
                else:
                    end = self.xy(*self.find(target))
                if start == end:
                    raise ValueError(f"the arrow from {origin} to {target} has no length")
                self.canvas.arrow(start, end, width, "arrow", colour, opacity)
            if label:
                labels.append((((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), label))
        for at, label in labels:  # above all arrows
            self.canvas.tag(at, label, 0.11, "label", self.theme.label, colour)

    def draw_status(self, last_action: LastAction | None) -> None:
        """Who is to move or has won, the reason, the ply and the last action."""
        position, outcome = self.position, self.position.outcome
        details = [] if outcome is None else [outcome.reason]
        details.append(f"ply {position.ply}")
        if last_action is not None:
            details.append(f"last {last_action[0].action_text(last_action[1])}")
        kings = "K" if position.side == "white" else "k"
        if outcome is not None:
            kings = {"white": "K", "black": "k", None: "Kk"}[outcome.winner]
        x, y = FRAME, (WIDTH + HEIGHT) / 2
        for king in kings:
            self._draw_piece(self._canvas(180.0), king, (x + 28, y), "icon")
            x += 66.0
        text = self.canvas.text
        text((x + 6, y - 20), headline(position), 36, "headline", self.theme.text, "start")
        text((x + 6, y + 22), " · ".join(details), 23, "details", self.theme.muted, "start")

    def draw_losses(self) -> None:
        """The pieces that are no longer there, white above black."""
        lost, right, middle = lost_pieces(self.position), WIDTH - FRAME, (WIDTH + HEIGHT) / 2
        for row, letters in enumerate(lost):
            for i, letter in enumerate(reversed(letters)):
                at = right - 17 - 38 * i, middle - 21 + 42 * row
                self._draw_piece(self._canvas(98.0), letter, at, "icon lost")
        if any(lost):
            at = right - 38 * max(map(len, lost)) - 8, middle
            self.canvas.text(at, "lost", 23, "details", self.theme.muted, "end")


def _checked(weight: float, what: str) -> float:
    if not 0 <= weight <= 1:
        raise ValueError(f"weight {weight!r} of {what} is not in 0 … 1")
    return weight
