"""Boards as SVG, for notebooks, web pages and documents; needs nothing beyond Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from skift_env.drawing import Arrow, Highlights, Orientation, scene
from skift_env.shapes import Circle, Polygon, Rect, Scene, Shape, Text, Theme
from skift_env.trace import LastAction
from skift_env.view import View

if TYPE_CHECKING:
    from skift_env.position import Position

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def board(
    position: Position,
    *,
    last_action: LastAction | None = None,
    arrows: Iterable[Arrow] = (),
    highlights: Highlights = (),
    value: float | None = None,
    players: tuple[str, str] | None = None,
    note: str | None = None,
    size: int = 480,
    orientation: Orientation = "white",
    theme: str | Theme = "light",
    view: View | None = None,
    status: bool = True,
) -> str:
    """The picture of a position as an SVG document, `size` pixels wide and 9/8 of it high.

    Elements carry class names for what they show: `tile`, `king`, `pawn`, `white`, `black`,
    `last`, `lost` and so on. The other arguments and their errors are those of
    `skift_env.drawing.scene`; ValueError too for a `size` that is not positive.
    """
    if size < 1:
        raise ValueError(f"size {size!r} is not positive")
    picture = scene(
        position,
        last_action=last_action,
        arrows=arrows,
        highlights=highlights,
        value=value,
        players=players,
        note=note,
        orientation=orientation,
        theme=theme,
        view=view,
        status=status,
    )
    return document(picture, size)


def document(picture: Scene, size: int) -> str:
    """A scene as an SVG document, `size` pixels wide."""
    height = round(size * picture.height / picture.width)
    title = escape(picture.title)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{size}" height="{height}" '
            f'viewBox="0 0 {_number(picture.width)} {_number(picture.height)}" '
            f'stroke-linejoin="round" '
            f'font-family={quoteattr(FONTS)} font-weight="600">',
            f"<title>{title}</title>",
            *map(element, picture.shapes),
            "</svg>\n",
        ]
    )


def element(shape: Shape) -> str:
    """A shape as an SVG element."""
    text = ""
    where: dict[str, float | str]
    if isinstance(shape, Rect):
        tag, where = "rect", {"x": shape.x, "y": shape.y, "width": shape.width}
        where |= {"height": shape.height, "rx": shape.radius}
    elif isinstance(shape, Circle):
        tag, where = "circle", {"cx": shape.x, "cy": shape.y, "r": shape.radius}
    elif isinstance(shape, Polygon):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        tag, where = "polygon", {"points": points}
    elif isinstance(shape, Text):
        tag, where, text = "text", {"x": shape.x, "y": shape.y}, escape(shape.text)
        where |= {"font-size": shape.size, "text-anchor": shape.anchor}
    else:
        raise TypeError(f"no SVG element for {shape!r}")
    look: dict[str, float | str] = {"class": shape.classes, **where, "fill": shape.fill or "none"}
    if shape.stroke:
        look |= {"stroke": shape.stroke, "stroke-width": shape.stroke_width}
    if shape.opacity != 1:
        look["opacity"] = shape.opacity
    attributes = "".join(f" {name}={quoteattr(_number(look[name]))}" for name in look)
    return f"<{tag}{attributes}>{text}</{tag}>" if text else f"<{tag}{attributes}/>"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
