"""Where things are in a picture, and what is at a point of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

from skift_env.notation import Place
from skift_env.shapes import Point

WIDTH: Final = 1000.0
"""Width of every picture in units; the board area is as high as it is wide."""
FRAME: Final = 46.0
"""Width of the border of the board area, in which the coordinates stand."""
LEAST_SPAN: Final = 5.0
"""Cells across the table: the start board and one empty cell on each side."""
QUADRANT_OFFSET: Final = 0.229
"""From a tile's centre to those of its quadrants, along both axes, in cells."""


class Box(NamedTuple):
    """A part of the table, in cells from the top left of a board's bounding box."""

    top: float
    left: float
    bottom: float
    right: float

    @property
    def span(self) -> float:
        """The longer side."""
        return max(self.bottom - self.top, self.right - self.left)

    def shifted(self, rows: int, columns: int) -> Box:
        """The same part, so many cells further down and to the right."""
        return Box(self.top + rows, self.left + columns, self.bottom + rows, self.right + columns)

    def union(self, *others: Box) -> Box:
        """The least box around all of them."""
        tops, lefts, bottoms, rights = zip(self, *others, strict=True)
        return Box(min(tops), min(lefts), max(bottoms), max(rights))


@dataclass(frozen=True, slots=True)
class View:
    """A square part of the table with `box` in its middle, at least `LEAST_SPAN` cells wide.

    Rows and columns, of tiles or of quadrants, count from the top left of the bounding box; places
    outside it are as good. With `turned` the table is turned by 180°.
    """

    box: Box
    turned: bool = False

    @property
    def scale(self) -> float:
        """The side of a tile's cell, in units."""
        return (WIDTH - 2 * FRAME) / max(LEAST_SPAN, self.box.span)

    def tile_xy(self, tile: Place) -> Point:
        """The centre of a tile's cell."""
        scale = -self.scale if self.turned else self.scale
        x = WIDTH / 2 + (tile[1] + 0.5 - (self.box.left + self.box.right) / 2) * scale
        y = WIDTH / 2 + (tile[0] + 0.5 - (self.box.top + self.box.bottom) / 2) * scale
        return x, y

    def square_xy(self, square: Place) -> Point:
        """The centre of a quadrant, on a tile or beside the board."""
        x, y = self.tile_xy((square[0] // 2, square[1] // 2))
        reach = QUADRANT_OFFSET * (-self.scale if self.turned else self.scale)
        return x + (reach if square[1] % 2 else -reach), y + (reach if square[0] % 2 else -reach)

    def square_at(self, x: float, y: float) -> Place | None:
        """The quadrant at a point, whether on a tile or beside the board; None off the table."""
        if not (FRAME <= x < WIDTH - FRAME and FRAME <= y < WIDTH - FRAME):
            return None
        scale = -self.scale if self.turned else self.scale
        row = (y - WIDTH / 2) / scale + (self.box.top + self.box.bottom) / 2
        column = (x - WIDTH / 2) / scale + (self.box.left + self.box.right) / 2
        return math.floor(2 * row), math.floor(2 * column)
