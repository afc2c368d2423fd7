"""The words in which a picture is told to a backend: shapes, a scene of them, colour themes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Point: TypeAlias = tuple[float, float]
Anchor: TypeAlias = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What all shapes share: colours `#rrggbb` or None, the opacity of the whole in 0 … 1, and
    space-separated class names that say what it stands for."""

    classes: str = ""
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 0.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Rect(Shape):
    """A rectangle with its top-left corner at (x, y) and rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Circle(Shape):
    """A disc or ring around (x, y)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Polygon(Shape):
    """A filled polygon, with round joints where it has a stroke."""

    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A line of sans-serif text whose baseline passes through (x, y)."""

    x: float
    y: float
    text: str
    size: float
    anchor: Anchor = "middle"


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture: shapes in the order in which to paint them, and a title in words."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as `#rrggbb`. Sides differ in lightness, marks are orange and blue: nothing depends
    on telling red from green. The dictionaries go by side; None is a tile that nobody controls."""

    page: str
    frame: str
    table: str
    shadow: str
    text: str
    muted: str
    last: str
    overlay: str
    label: str
    tile: dict[str | None, str]
    edge: dict[str | None, str]
    piece: dict[str, str]
    outline: dict[str, str]
    engraving: dict[str, str]


THEMES: dict[str, Theme] = {
    "light": Theme(
        page="#f7f5f0", frame="#e4e7e6", table="#b4c4ca", shadow="#8a9ea6",
        text="#25282c", muted="#687076", last="#e07400", overlay="#0060ad", label="#ffffff",
        tile={None: "#e3d3b3", "white": "#f5eddb", "black": "#c2a780"},
        edge={None: "#b99f74", "white": "#cdbb97", "black": "#94774f"},
        piece={"white": "#fffdf8", "black": "#2b2d32"},
        outline={"white": "#3a3937", "black": "#0c0d0f"},
        engraving={"white": "#bdb8ac", "black": "#6d7078"},
    ),
    "dark": Theme(
        page="#15171a", frame="#212529", table="#313b41", shadow="#1c2226",
        text="#eceae4", muted="#9aa2a7", last="#ffa028", overlay="#5db9ff", label="#0d1d29",
        tile={None: "#bba886", "white": "#dacdb0", "black": "#917b58"},
        edge={None: "#8a7550", "white": "#a8976f", "black": "#635031"},
        piece={"white": "#fffdf8", "black": "#232529"},
        outline={"white": "#33312e", "black": "#858b93"},
        engraving={"white": "#b5b0a4", "black": "#5e636b"},
    ),
}  # fmt: skip


def _css_names(theme: Theme) -> dict[str, dict[str | None, str] | str]:
    """A theme's fields, but with the names of CSS variables instead of colours."""
    names: dict[str, dict[str | None, str] | str] = {}
    for item in fields(theme):
        colours = getattr(theme, item.name)
        if isinstance(colours, str):
            names[item.name] = f"--{item.name}"
        else:
            names[item.name] = {side: f"--{item.name}-{side or 'none'}" for side in colours}
    return names


def css_theme() -> Theme:
    """A theme whose colours are CSS variables: pages that switch themes draw with this one."""
    return Theme(
        **{
            field: f"var({name})"
            if isinstance(name, str)
            else {side: f"var({variable})" for side, variable in name.items()}
            for field, name in _css_names(THEMES["light"]).items()
        }  # type: ignore[arg-type]
    )


def css_variables(theme: Theme) -> str:
    """The CSS declarations that give the variables of `css_theme` a theme's colours."""
    declarations = []
    for field, name in _css_names(theme).items():
        colours = getattr(theme, field)
        if isinstance(name, str):
            declarations.append(f"{name}: {colours};")
        else:
            declarations += [f"{name[side]}: {colours[side]};" for side in name]
    return " ".join(declarations)


class Canvas:
    """Collects shapes. Points are in units of the scene; sides, radii and line widths are multiples
    of `scale`, so that one drawing serves in several sizes. Polygons get a fine `edge`."""

    def __init__(self, scale: float, edge: str, shapes: list[Shape]) -> None:
        self.scale, self.edge, self.shapes = scale, edge, shapes

    def square(
        self, at: Point, side: float, radius: float, classes: str, fill: str | None = None, *,
        stroke: str | None = None, width: float = 0.0, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Add a square around a point, with rounded corners."""
        side *= self.scale
        self.shapes.append(
            Rect(at[0] - side / 2, at[1] - side / 2, side, side, radius * self.scale, fill=fill,
                 stroke=stroke, stroke_width=width * self.scale, opacity=opacity, classes=classes)
        )  # fmt: skip

    def disc(
        self, at: Point, radius: float, classes: str, fill: str | None = None, *,
        stroke: str | None = None, width: float = 0.0, opacity: float = 1.0,
    ) -> None:  # fmt: skip
        """Add a disc around a point."""
        self.shapes.append(
            Circle(*at, radius * self.scale, fill=fill, stroke=stroke,
                   stroke_width=width * self.scale, opacity=opacity, classes=classes)
        )  # fmt: skip

    def polygon(
        self, points: Iterable[Point], classes: str, fill: str, opacity: float = 1.0
    ) -> None:
        """Add a polygon."""
        self.shapes.append(
            Polygon(tuple(points), fill=fill, stroke=self.edge, stroke_width=0.012 * self.scale,
                    opacity=opacity, classes=classes)
        )  # fmt: skip

    def arrow(
        self, start: Point, end: Point, shaft: float, classes: str, fill: str,
        opacity: float = 1.0, span: tuple[float, float] = (0.0, 1.0),
    ) -> None:  # fmt: skip
        """Add an arrow along a span of the way from `start` (0) to `end` (1); its head is three
        times as wide as its shaft."""
        way, half = math.dist(start, end), shaft * self.scale / 2
        across, down = (end[0] - start[0]) / way, (end[1] - start[1]) / way
        tail, tip = span[0] * way, span[1] * way
        neck = tip - min(5 * half, 0.7 * (tip - tail))
        outline = [(tail, half), (neck, half), (neck, 3 * half), (tip, 0.0)]
        outline += [(along, -aside) for along, aside in outline[2::-1]]
        points = (
            (start[0] + along * across - aside * down, start[1] + along * down + aside * across)
            for along, aside in outline
        )
        self.polygon(points, classes, fill, opacity)

    def ring(
        self, at: Point, side: float, width: float, classes: str, colour: str, opacity: float = 1.0
    ) -> None:
        """Add a square ring around a point."""
        self.square(at, side, side / 10, classes, stroke=colour, width=width, opacity=opacity)

    def turn(
        self, at: Point, side: float, width: float, classes: str, colour: str, opacity: float = 1.0
    ) -> None:
        """Add a square ring with an arrow head on each side, clockwise."""
        self.ring(at, side, width, classes, colour, opacity)
        reach, head = side / 2 * self.scale, (0.04 + width) * self.scale
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            x, y = at[0] + dy * reach, at[1] - dx * reach
            tip = x + head * dx, y + head * dy
            back = [(x - head * (dx + s * dy), y - head * (dy - s * dx)) for s in (-1, 1)]
            self.polygon([tip, *back], classes, colour, opacity)

    def text(
        self, at: Point, text: str, size: float, classes: str, fill: str, anchor: Anchor = "middle"
    ) -> None:
        """Add a line of text, its size in units of the scene, at half height on a point."""
        baseline = at[1] + 0.36 * size
        self.shapes.append(Text(at[0], baseline, text, size, anchor, fill=fill, classes=classes))

    def tag(
        self, at: Point, text: str, size: float, classes: str, fill: str, background: str
    ) -> None:
        """Add a word on a small plate."""
        width, height = self._plate(text, size)
        corner = at[0] - width / 2, at[1] - height / 2
        self.shapes.append(
            Rect(*corner, width, height, height / 2, fill=background, classes=classes)
        )
        self.text(at, text, size * self.scale, classes, fill)

    def beyond(self, start: Point, end: Point, text: str, size: float) -> Point:
        """Where a tag stands just beyond the tip of an arrow; on the point if that is all."""
        way = math.dist(start, end)
        if way == 0:
            return end
        across, down = (end[0] - start[0]) / way, (end[1] - start[1]) / way
        width, height = self._plate(text, size)
        reach = (abs(across) * width + abs(down) * height) / 2
        return end[0] + reach * across, end[1] + reach * down

    def _plate(self, text: str, size: float) -> tuple[float, float]:
        return (0.6 * len(text) + 0.6) * size * self.scale, 1.4 * size * self.scale
