"""What a board looks like, as plain shapes: one description for SVG, pixel arrays and the window.

`scene` knows the game and no backend; `skift_env.svg` and `skift_env.render` know the five shapes
and no game.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from skift_env.notation import Place, parse_place
from skift_env.shapes import THEMES, Canvas, Point, Rect, Scene, Shape, Theme
from skift_env.trace import STEPS, LastAction, Trace
from skift_env.view import FRAME, WIDTH, View

if TYPE_CHECKING:
    from skift_env.position import Position

Arrow: TypeAlias = tuple[str, str, float, str | None]
"""(from, to, weight in 0 … 1, label). From a square `"c3"` or a tile `"B1"`, to another one, to a
direction (`"ne"`: one step, off the board too), or to `"r"`: the tile turns."""
Highlights: TypeAlias = Mapping[str, float] | Iterable[str]
"""Squares and tiles by name, with weights in 0 … 1 (1 where none is given)."""
Orientation: TypeAlias = Literal["white", "black"]

HEIGHT: Final = 1125.0
"""Height of a picture with the status strip below the board area."""

TILE, QUADRANT = 0.95, 0.425  # sides, in cells
RING = 0.98  # side of what surrounds a tile, in cells
KING, PAWN = 0.31, 0.16  # side and radius in cells
ROUND = 0.085  # radius of a tile's corners, in cells
FADED = 0.4
LETTER = 0.56  # width of a letter in the mean, in heights of the font
LONGEST_NAME = 26  # letters of a player's name


def scene(
    position: Position,
    *,
    last_action: LastAction | None = None,
    arrows: Iterable[Arrow] = (),
    highlights: Highlights = (),
    value: float | None = None,
    players: tuple[str, str] | None = None,
    note: str | None = None,
    orientation: Orientation = "white",
    theme: str | Theme = "light",
    view: View | None = None,
    status: bool = True,
) -> Scene:
    """The picture of a position, `WIDTH` by `HEIGHT` units.

    The board is centred on a table whose scale follows the bounding box of the tiles, with at
    least one empty cell around it. What the last action displaced is marked (as far as the no-undo
    mark tells where `last_action` is not given); what left the game with it is drawn faded where
    it would stand.

    Args:
        position: what to draw.
        last_action: the position before it, and the action that led here.
        arrows: see `Arrow`; `skift_env.overlays` makes some of policies and values.
        highlights: see `Highlights`.
        value: how good the position is for white, -1 … 1: a bar on top of the status strip.
        players: the names of white and black, for the status strip.
        note: words to add to the status strip.
        orientation: with "black" the table is turned by 180°.
        theme: the name of a theme, or one of your own.
        view: the part of the table to show, instead of what the position needs.
        status: whether there is a status strip; without it the picture is square.

    Raises:
        ValueError: for an unknown theme or orientation, for a square or tile that is not there, a
            weight outside 0 … 1, a value outside -1 … 1, and a `last_action` that does not lead to
            `position`.
    """
    colours = THEMES.get(theme) if isinstance(theme, str) else theme
    if colours is None:
        raise ValueError(f"unknown theme {theme!r}: it is one of {', '.join(map(repr, THEMES))}")
    if orientation not in ("white", "black"):
        raise ValueError(f"unknown orientation {orientation!r}: it is 'white' or 'black'")
    trace = Trace.of(position, last_action)
    if view is None:
        view = View(trace.box(position), turned=orientation == "black")
    drawing = _Drawing(position, trace, view, colours)
    height = HEIGHT if status else WIDTH
    drawing.draw_table(height)
    drawing.draw_coordinates()
    drawing.draw_tiles()
    drawing.draw_last_action()
    drawing.draw_highlights(highlights)
    drawing.draw_pieces()
    drawing.draw_arrows(arrows)
    if status:
        drawing.draw_status(last_action, players, value, note)
        drawing.draw_losses()
    return Scene(WIDTH, height, tuple(drawing.shapes), headline(position, players))


def headline(position: Position, players: tuple[str, str] | None = None) -> str:
    """Who is to move or has won; by name where the names of white and black are given."""

    def name(side: str) -> str:
        if players is None:
            return side.capitalize()
        player = players[side == "black"]
        return player if len(player) <= LONGEST_NAME else player[: LONGEST_NAME - 1] + "…"

    outcome = position.outcome
    if outcome is None:
        return f"{name(position.side)} to move"
    return f"{name(outcome.winner)} wins" if outcome.winner else "Draw"


def lost_pieces(position: Position) -> tuple[str, str]:
    """The letters of what is missing from the 2 kings and 6 pawns of white, and of black."""
    board = "".join(position.board)
    white, black = (
        king * (2 - board.count(king)) + pawn * (6 - board.count(pawn))
        for king, pawn in ("KP", "kp")
    )
    return white, black


class _Drawing:
    """The parts of one picture. Lengths are multiples of a tile's cell."""

    def __init__(self, position: Position, trace: Trace, view: View, theme: Theme) -> None:
        self.position, self.trace, self.view, self.theme = position, trace, view, theme
        self.board, self.control = position.board, position.control
        self.rows, self.columns = len(self.board) // 2, len(self.board[0]) // 2
        places = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        self.tiles = [(r, c) for r, c in places if self.board[2 * r][2 * c] != "_"]
        self.shapes: list[Shape] = []
        self.canvas = self._canvas(view.scale)

    def _canvas(self, scale: float) -> Canvas:
        return Canvas(scale, self.theme.label, self.shapes)

    def xy(self, is_tile: bool, place: Place) -> Point:
        """The centre of a tile's cell or of a quadrant."""
        return self.view.tile_xy(place) if is_tile else self.view.square_xy(place)

    def find(self, name: str) -> tuple[bool, Place]:
        """Whether a name is that of a tile, and the place that it names."""
        is_tile = name[:1].isupper()
        place = parse_place(name, self.rows * (1 if is_tile else 2))
        if place and (place if is_tile else (place[0] // 2, place[1] // 2)) in self.tiles:
            return is_tile, place
        raise ValueError(f"no square or tile {name!r} in {self.position.text!r}")

    def draw_table(self, height: float) -> None:
        theme, inner = self.theme, WIDTH - 2 * FRAME
        self.shapes += [
            Rect(0, 0, WIDTH, height, fill=theme.page, classes="page"),
            Rect(0, 0, WIDTH, WIDTH, fill=theme.frame, classes="frame"),
            Rect(FRAME, FRAME, inner, inner, 12, fill=theme.table, classes="table"),
        ]

    def draw_coordinates(self) -> None:
        """Squares below and on the left, tiles above and on the right."""
        near, far = FRAME / 2, WIDTH - FRAME / 2
        labels = {}
        for i in range(2 * self.columns):
            labels[self.view.square_xy((0, i))[0], far] = chr(ord("a") + i)
        for i in range(self.columns):
            labels[self.view.tile_xy((0, i))[0], near] = chr(ord("A") + i)
        for i in range(2 * self.rows):
            labels[near, self.view.square_xy((i, 0))[1]] = str(2 * self.rows - i)
        for i in range(self.rows):
            labels[far, self.view.tile_xy((i, 0))[1]] = str(self.rows - i)
        size = min(24.0, 0.2 * self.canvas.scale)
        for at, label in labels.items():
            self.canvas.text(at, label, size, "coordinate", self.theme.muted)

    def draw_tiles(self) -> None:
        for tile in self.trace.lost_tiles:
            self._draw_tile(tile, "tile lost", None, FADED)
        for tile in self.tiles:
            x, y = self.view.tile_xy(tile)
            shade = x, y + 0.024 * self.canvas.scale
            self.canvas.square(shade, TILE, ROUND, "shadow", self.theme.shadow)
            side = self.control.get(tile)
            self._draw_tile(tile, f"tile {side}" if side else "tile", side, 1.0)
            if side:
                fill, stroke = self.theme.piece[side], self.theme.outline[side]
                self.canvas.disc((x, y), 0.042, f"pip {side}", fill, stroke=stroke, width=0.012)

    def _draw_tile(self, tile: Place, classes: str, side: str | None, opacity: float) -> None:
        edge, top = self.theme.edge[side], self.theme.tile[side]
        self.canvas.square(self.view.tile_xy(tile), TILE, ROUND, classes, edge, opacity=opacity)
        for i in range(4):
            at = self.view.square_xy((2 * tile[0] + i // 2, 2 * tile[1] + i % 2))
            self.canvas.square(at, QUADRANT, ROUND / 2, "quadrant", top, opacity=opacity)

    def draw_pieces(self) -> None:
        for row, line in enumerate(self.board):
            for column, letter in enumerate(line):
                if letter not in "._":
                    self._draw_piece(self.canvas, letter, self.view.square_xy((row, column)))
        for letter, square in self.trace.lost_pieces:
            self._draw_piece(self.canvas, letter, self.view.square_xy(square), "lost", FADED)

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
        canvas, colour, trace = self.canvas, self.theme.last, self.trace
        for _, (row, column) in trace.squares:
            if (row // 2, column // 2) in self.tiles:
                at = self.view.square_xy((row, column))
                canvas.square(at, QUADRANT, ROUND / 2, "last", colour, opacity=0.5)
        for _, tile in trace.tiles:
            if tile in self.tiles:
                canvas.ring(self.view.tile_xy(tile), RING, 0.035, "last", colour)
        if trace.turned_tile is not None:
            canvas.turn(self.view.tile_xy(trace.turned_tile), RING, 0.035, "last", colour)
        if trace.squares:
            origin, target = (self.view.square_xy(square) for square in trace.squares[0])
            canvas.square(origin, QUADRANT, ROUND / 2, "last", colour, opacity=0.25)
            canvas.arrow(origin, target, 0.05, "last", colour, span=(-0.35, 0.35))
        if trace.tiles:
            origin, target = (self.view.tile_xy(tile) for tile in trace.tiles[0])
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
        canvas, colour = self.canvas, self.theme.overlay
        size = max(0.12, 20.0 / canvas.scale)
        labels = []
        for origin, target, weight, label in arrows:
            width = 0.02 + 0.06 * _checked(weight, f"{origin} {target}")
            opacity = 0.4 + 0.5 * weight
            is_tile, (row, column) = self.find(origin)
            start = end = self.xy(is_tile, (row, column))
            if target == "r" and is_tile:
                canvas.turn(start, RING, width, "arrow", colour, opacity)
            else:
                if target in STEPS:
                    end = self.xy(is_tile, (row + STEPS[target][0], column + STEPS[target][1]))
                else:
                    end = self.xy(*self.find(target))
                if start == end:
                    raise ValueError(f"the arrow from {origin} to {target} has no length")
                canvas.arrow(start, end, width, "arrow", colour, opacity)
            if label:
                labels.append((canvas.beyond(start, end, label, size), label))
        for at, label in labels:  # above all arrows
            canvas.tag(at, label, size, "label", self.theme.label, colour)

    def draw_status(
        self,
        last_action: LastAction | None,
        players: tuple[str, str] | None,
        value: float | None,
        note: str | None,
    ) -> None:
        """Who is to move or has won, the reason, the ply, the last action and the value."""
        position, outcome = self.position, self.position.outcome
        details = [] if outcome is None else [outcome.reason]
        details.append(f"ply {position.ply}")
        if last_action is not None:
            details.append(f"last {last_action[0].action_text(last_action[1])}")
        if value is not None:
            self.draw_value(value)
            details.append(f"value {value:+.2f}")
        if note is not None:
            details.append(note)
        kings = "K" if position.side == "white" else "k"
        if outcome is not None:
            kings = {"white": "K", "black": "k", None: "Kk"}[outcome.winner]
        x, y = FRAME, (WIDTH + HEIGHT) / 2
        for king in kings:
            self._draw_piece(self._canvas(180.0), king, (x + 28, y), "icon")
            x += 66.0
        x += 6.0
        room = WIDTH - FRAME - self._width_of_losses() - x
        words = headline(position, players)
        size = min(36.0, room / (LETTER * len(words)))
        self.canvas.text((x, y - 20), words, size, "headline", self.theme.text, "start")
        told, size = " · ".join(details), 23.0
        lines = [told]
        if LETTER * size * len(told) > room:
            size = 19.0
            letters = int(room / (LETTER * size))
            lines = textwrap.wrap(told, letters, max_lines=2, placeholder=" …")
        y += 22 - 9 * (len(lines) - 1)
        for number, line in enumerate(lines):
            at = x, y + 24 * number
            self.canvas.text(at, line, size, "details", self.theme.muted, "start")

    def draw_value(self, value: float) -> None:
        """A bar below the board, white's part on the left."""
        if not -1 <= value <= 1:
            raise ValueError(f"value {value!r} is not in -1 … 1")
        height, share = 12.0, (1 + value) / 2 * WIDTH
        white, black = self.theme.piece["white"], self.theme.piece["black"]
        self.shapes += [
            Rect(0, WIDTH, share, height, fill=white, classes="value white"),
            Rect(share, WIDTH, WIDTH - share, height, fill=black, classes="value black"),
            Rect(0, WIDTH, WIDTH, 1.5, fill=self.theme.muted, classes="value"),
            Rect(0, WIDTH + height - 1.5, WIDTH, 1.5, fill=self.theme.muted, classes="value"),
            Rect(WIDTH / 2 - 2, WIDTH, 4, height, fill=self.theme.last, classes="value"),
        ]

    def _width_of_losses(self) -> float:
        most = max(map(len, lost_pieces(self.position)))
        return 38.0 * most + 70.0 if most else 0.0

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
