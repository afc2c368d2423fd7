"""The three render modes of the environments: text, pixel arrays, and a window.

Pixels and the window need pygame-ce, which is imported on first use; a picture needs neither a
display nor `pygame.init()`.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any, Final

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from skift_env.drawing import headline, lost_pieces, scene
from skift_env.notation import Place, tile_name
from skift_env.position import Position
from skift_env.shapes import Circle, Point, Polygon, Rect, Scene, Shape, Text
from skift_env.trace import LastAction
from skift_env.types import Int64Array
from skift_env.view import WIDTH

RENDER_MODES: Final = ("human", "rgb_array", "ansi")
FPS: Final = 4
"""Plies a second that a viewer can follow."""

LARGEST_SIZE: Final = 4096
"""Pixels of width, at most."""

SUPERSAMPLING = 3
"""Pixels are drawn this many times finer in both directions, then averaged."""


def text(position: Position, *, last_action: LastAction | None = None) -> str:
    """A position to read: the board with the coordinates of its squares (left and below) and tiles
    (above and right), in parentheses what the last action displaced, and the rest in words.

    The board takes 3 lines and 7 columns a tile. Without `last_action`, what the last action
    displaced is known from the no-undo mark, and what it was is not told.
    """
    board, marked = position.board, _marked_squares(position)
    rows, columns = len(board) // 2, len(board[0]) // 2
    grid = [[" "] * (7 * columns + 1) for _ in range(3 * rows + 1)]
    for row, column in ((r, c) for r in range(rows) for c in range(columns)):
        if board[2 * row][2 * column] != "_":
            for y, edge in enumerate(("+------+", "|      |", "|      |", "+------+"), 3 * row):
                grid[y][7 * column : 7 * column + 8] = edge
            for i, j in ((i, j) for i in (0, 1) for j in (0, 1)):
                square = 2 * row + i, 2 * column + j
                left, right = "()" if square in marked else "  "
                x = 7 * column + 3 * j + 1
                grid[3 * row + i + 1][x : x + 3] = left, board[square[0]][square[1]], right
    lines = ["    " + "".join(f"   {chr(ord('A') + c)}   " for c in range(columns))]
    for y, cells in enumerate(grid):
        row, part = divmod(y, 3)
        rank = "" if part == 0 else str(len(board) - 2 * row - part + 1)
        number = f"  {rows - row}" if part == 1 else ""
        lines.append(f"{rank:>3} {''.join(cells)}{number}")
    pairs = ((chr(ord("a") + j), chr(ord("b") + j)) for j in range(0, 2 * columns, 2))
    lines.append("    " + "".join(f"  {a}  {b} " for a, b in pairs))
    return "\n".join(line.rstrip() for line in [*lines, "", *_words(position, last_action)])


def _marked_squares(position: Position) -> set[Place]:
    mark = position.mark
    if mark is None:
        return set()
    on_tiles = {(2 * r + i, 2 * c + j) for r, c in mark.tiles for i in (0, 1) for j in (0, 1)}
    return on_tiles.union(mark.squares)


def _words(position: Position, last_action: LastAction | None) -> list[str]:
    """What the drawn board leaves out, in words."""
    outcome = position.outcome
    reason = "" if outcome is None else f": {outcome.reason}"
    lines = [f"{headline(position)}{reason} (ply {position.ply})"]
    if last_action is not None:
        lines.append(f"last action: {last_action[0].describe(last_action[1])}")
    sides = zip(("white", "black"), ("K P", "k p"), lost_pieces(position), strict=True)
    for side, letters, lost in sides:
        held = sorted(tile for tile, holder in position.control.items() if holder == side)
        rows = len(position.board) // 2
        tiles = ", ".join(tile_name(tile, rows) for tile in held) or "nothing"
        lines.append(f"{side} ({letters}): controls {tiles}; lost {' '.join(lost) or 'nothing'}")
    return lines


def rgb_array(position: Position, *, size: int = 640, **options: Any) -> NDArray[np.uint8]:
    """The picture of a position, (round(size * 9 / 8), size, 3) uint8.

    `options` are those of `skift_env.drawing.scene`, such as `last_action`; without its status
    strip the picture is square. Choose a multiple of 16 where a video encoder wants even sizes.

    Raises:
        ValueError: for a `size` that is not in 1 … 4096 and for what `scene` refuses.
        gymnasium.error.DependencyNotInstalled: where pygame-ce is missing.
    """
    pygame = import_pygame()
    surface = _paint(pygame, scene(position, **options), size)
    pixels: NDArray[np.uint8] = pygame.surfarray.array3d(surface)
    return np.ascontiguousarray(pixels.transpose(1, 0, 2))


class Window:
    """A window that shows positions, opened by the first `show`.

    It is `size` pixels wide and shows at most `fps` positions a second (0: no limit); `options` are
    those of `skift_env.drawing.scene` but for `last_action`. Several windows can be open at once.
    After its user has closed it (`closed_by_user`), `show` does nothing until `close` was called.
    """

    def __init__(
        self, *, size: int = 640, fps: float = 4.0, title: str = "Skift", **options: Any
    ) -> None:
        self.size, self.fps, self.title, self.options = size, fps, title, options
        self.closed_by_user = False
        self._window: Any = None
        self._clock: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the window is on the screen."""
        return self._window is not None

    def show(self, position: Position, last_action: LastAction | None = None) -> None:
        """Show a position, handle the window's events, and wait as `fps` tells."""
        self.draw(position, last_action)
        if self._window is not None:
            self._clock.tick(self.fps)
            self.handle_events()

    def draw(
        self, position: Position, last_action: LastAction | None = None, **options: Any
    ) -> None:
        """Show a position at once; `options` are added to those of the window."""
        if self.closed_by_user:
            return
        pygame = import_pygame()
        picture = scene(position, last_action=last_action, **self.options | options)
        surface = _paint(pygame, picture, self.size)
        if self._window is not None:
            try:
                self._window.get_surface()
            except pygame.error:  # someone else called pygame.quit()
                self._window = None
        if self._window is None:
            pygame.display.init()
            self._window = pygame.Window(self.title, surface.get_size())
            self._clock = pygame.time.Clock()
        self._window.title = self.title
        self._window.get_surface().blit(surface, (0, 0))
        self._window.flip()

    def take_events(self, types: tuple[int, ...] | None = None) -> list[Any]:
        """This window's events: of some of pygame's types, or all in the order of their happening.

        One that asks to close the window does so. Other windows' events stay in pygame's queue. A
        window that is not open has none.
        """
        pygame = import_pygame()
        if self._window is None or not pygame.display.get_init():
            return []
        taken = []
        for event in pygame.event.get(types):
            if getattr(event, "window", None) in (None, self._window):
                taken.append(event)
            else:
                pygame.event.post(event)
        if any(event.type in (pygame.WINDOWCLOSE, pygame.QUIT) for event in taken):
            self.closed_by_user = True
            self._destroy()
        return taken

    def handle_events(self) -> None:
        """Keep the window alive and close it if its user asks for that; events of other kinds
        stay in pygame's queue."""
        pygame = import_pygame()
        self.take_events((pygame.WINDOWCLOSE, pygame.QUIT))

    def to_scene(self, x: float, y: float) -> Point:
        """The point of the picture, in the units of a scene, that a pixel of the window shows."""
        return x * WIDTH / self.size, y * WIDTH / self.size

    def close(self) -> None:
        """Close the window if it is open; pygame and other windows stay as they are."""
        self._destroy()
        self.closed_by_user = False

    def _destroy(self) -> None:
        if self._window is not None:
            self._window.destroy()
            self._window = None


class Renderer:
    """What an environment's `render` needs: its mode, the last action, and the window if any.

    Copies and pickles leave the window behind. The mode is None or one of `RENDER_MODES`, which
    the environment has checked.
    """

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        self._before: Int64Array | None = None
        self._action = 0
        self._window: Window | None = None

    @property
    def last_action(self) -> LastAction | None:
        """The last action, if one is known."""
        if self._before is None:
            return None
        return Position.from_state(self._before), self._action

    @property
    def window(self) -> Window:
        """The window, which opens when it first shows something."""
        if self._window is None:
            self._window = Window()
        return self._window

    def start(self) -> None:
        """Forget the last action: a game begins."""
        self._before = None

    def remember(self, before: Int64Array, action: int) -> None:
        """Keep the last action, if anything will show it; `before` is copied."""
        if self.mode is not None:
            self._before, self._action = before.copy(), action

    def render(self, state: Int64Array) -> str | NDArray[np.uint8] | None:
        """The board by mode: text, an array (H, W, 3) uint8, or None after drawing the window."""
        position = Position.from_state(state)
        last = self.last_action
        if self.mode == "ansi":
            return text(position, last_action=last)
        if self.mode == "rgb_array":
            return rgb_array(position, last_action=last)
        self.window.show(position, last)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_window": None}


def import_pygame() -> ModuleType:
    """The module pygame, as pygame-ce provides it.

    Raises:
        gymnasium.error.DependencyNotInstalled: where it is missing.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "hide")
    return import_extra("pygame", "pygame-ce", "render")


def import_extra(module: str, package: str, extra: str) -> ModuleType:
    """A module of a package that only one of our extras asks for.

    Raises:
        gymnasium.error.DependencyNotInstalled: where it is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DependencyNotInstalled(
            f'{package} is not installed, run `pip install "skift-env[{extra}]"`'
        ) from error


def _paint(pygame: ModuleType, picture: Scene, size: int) -> Any:
    """A surface `size` pixels wide that shows the picture."""
    if not 1 <= size <= LARGEST_SIZE:
        raise ValueError(f"size {size!r} is not in 1 … {LARGEST_SIZE}")
    if not pygame.font.get_init():
        pygame.font.init()
    target = (size, round(size * picture.height / picture.width))
    fine = pygame.Surface([SUPERSAMPLING * pixels for pixels in target], depth=32)
    painter = _Painter(pygame, fine, fine.get_width() / picture.width)
    for shape in picture.shapes:
        painter.paint(shape)
    return pygame.transform.smoothscale(fine, target)


class _Painter:
    """Puts shapes on a surface, `scale` pixels a unit."""

    def __init__(self, pygame: ModuleType, surface: Any, scale: float) -> None:
        self.pygame, self.surface, self.scale = pygame, surface, scale
        self.fonts: dict[int, Any] = {}

    def paint(self, shape: Shape) -> None:
        if isinstance(shape, Text):
            self._write(shape)
        elif shape.opacity == 1.0:
            self._draw(shape, self.surface, (0, 0))
        else:  # on a layer of its own, so that the shape as a whole lets through what lies below
            left, top, right, bottom = self._bounds(shape)
            layer = self.pygame.Surface((right - left, bottom - top), self.pygame.SRCALPHA)
            self._draw(shape, layer, (left, top))
            layer.set_alpha(round(255 * shape.opacity))
            self.surface.blit(layer, (left, top))

    def _bounds(self, shape: Shape) -> tuple[int, int, int, int]:
        """The pixels that a shape may touch: left, top, and one past right and bottom."""
        if isinstance(shape, Rect):
            xs, ys = [shape.x, shape.x + shape.width], [shape.y, shape.y + shape.height]
        elif isinstance(shape, Circle):
            xs, ys = ([at - shape.radius, at + shape.radius] for at in (shape.x, shape.y))
        elif isinstance(shape, Polygon):
            xs, ys = ([point[axis] for point in shape.points] for axis in (0, 1))
        else:
            raise TypeError(f"cannot paint {shape!r}")
        margin = shape.stroke_width / 2 * self.scale + 1
        left, top = (int(min(values) * self.scale - margin) for values in (xs, ys))
        right, bottom = (int(max(values) * self.scale + margin) + 1 for values in (xs, ys))
        return left, top, right, bottom

    def _draw(self, shape: Shape, surface: Any, corner: tuple[int, int]) -> None:
        """Draw a shape in full on a surface whose top-left pixel is `corner` of the picture."""
        draw = self.pygame.draw
        line = round(shape.stroke_width * self.scale) if shape.stroke else 0

        def pixel(x: float, y: float) -> tuple[float, float]:
            return x * self.scale - corner[0], y * self.scale - corner[1]

        # a stroke goes half to either side of the outline, as in SVG
        if isinstance(shape, Rect):
            left, top = pixel(shape.x, shape.y)
            right, bottom = pixel(shape.x + shape.width, shape.y + shape.height)
            area = self.pygame.Rect(round(left), round(top), 0, 0)
            area.size = round(right) - area.left, round(bottom) - area.top
            radius = round(shape.radius * self.scale)
            if shape.fill:
                draw.rect(surface, shape.fill, area, border_radius=radius)
            if line:
                outer = area.inflate(line, line)
                draw.rect(surface, shape.stroke, outer, line, border_radius=radius + line // 2)
        elif isinstance(shape, Circle):
            centre, reach = pixel(shape.x, shape.y), shape.radius * self.scale
            if shape.fill:
                draw.circle(surface, shape.fill, centre, reach)
            if line:
                draw.circle(surface, shape.stroke, centre, reach + line / 2, line)
        elif isinstance(shape, Polygon):
            corners = [pixel(*point) for point in shape.points]
            draw.polygon(surface, shape.fill, corners)
            if line:
                for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
                    draw.line(surface, shape.stroke, start, end, line)
                    draw.circle(surface, shape.stroke, start, line / 2)

    def _write(self, text: Text) -> None:
        em = round(text.size * self.scale)
        if em not in self.fonts:  # pygame scales its own font by 0.6875
            self.fonts[em] = self.pygame.font.Font(None, max(1, round(em / 0.6875)))
        font = self.fonts[em]
        line = font.render(text.text, True, text.fill)
        line.set_alpha(round(255 * text.opacity))
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
        x = text.x * self.scale - share * line.get_width()
        self.surface.blit(line, (round(x), round(text.y * self.scale - font.get_ascent())))
