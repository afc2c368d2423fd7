"""Games as one HTML page that needs no network."""

from __future__ import annotations

import html as markup
import json
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skift_env.drawing import lost_pieces, scene
from skift_env.replay.camera import last_actions, steady_views
from skift_env.shapes import THEMES, Shape, css_theme, css_variables
from skift_env.svg import element
from skift_env.view import WIDTH

if TYPE_CHECKING:
    from skift_env.records import Game

TEMPLATE: Final = Path(__file__).parents[1] / "data" / "replay.html"

_VALUE: Final = re.compile(r"\s*\[%eval\s+([-+]?[0-9]{1,9}(?:\.[0-9]{0,9})?)\]\s*")
_THEME: Final = css_theme()

# Shapes that belong to the one before them, with which they make up a part of the picture.
_CONTINUED: Final = {"frame", "table", "tile", "quadrant", "pip", "engraving"}


def html(games: Game | Iterable[Game], *, title: str = "Skift") -> str:
    """A page to replay games on: boards, moves, values, names and results; UTF-8 text.

    A comment with `[%eval 0.31]` gives the value for white, usually -1 … 1, of the position in
    which it stands; a game with such comments has a graph of them. Where there are several games,
    one chooses between them. The page links to nothing and loads nothing.

    Raises:
        ValueError: if there is no game.
    """
    from skift_env.records import Game

    listed = [games] if isinstance(games, Game) else list(games)
    if not listed:
        raise ValueError("no game to replay")
    parts = _Parts()
    data = {"games": [_told(game, parts) for game in listed], "parts": parts.drawn}
    fields = {
        "title": markup.escape(title),
        "light": css_variables(THEMES["light"]),
        "dark": css_variables(THEMES["dark"]),
        "board": f"0 0 {WIDTH:.0f} {WIDTH:.0f}",
        # "</script>" in a name would end the script
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    template = TEMPLATE.read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fields[found[1]], template)


def write_html(
    path: str | PathLike[str], games: Game | Iterable[Game], *, title: str = "Skift"
) -> None:
    """Write the page of `html` to a file.

    Raises:
        ValueError: if there is no game.
        OSError: if the file cannot be written.
    """
    Path(path).write_text(html(games, title=title), "utf-8")


def embedded(games: Game | Iterable[Game], *, height: int = 720) -> str:
    """The page of `html` as a frame for a notebook, `height` pixels high."""
    page = markup.escape(html(games), quote=True)
    return (
        f'<iframe title="Replay of a game of Skift" srcdoc="{page}" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def values(game: Game) -> dict[int, float]:
    """The values for white that a game's comments carry, by plies played before them."""
    found = {ply: _VALUE.search(comment) for ply, comment in game.comments.items()}
    return {ply: float(match[1]) for ply, match in found.items() if match}


class _Parts:
    """The pictures' parts, each kept once: as white and as black see them."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, str]] = []
        self._numbers: dict[tuple[Sequence[Shape], Sequence[Shape]], int] = {}

    def number(self, white: Sequence[Shape], black: Sequence[Shape]) -> int:
        key = (tuple(white), tuple(black))
        if key not in self._numbers:
            self._numbers[key] = len(self.drawn)
            self.drawn.append(("".join(map(element, white)), "".join(map(element, black))))
        return self._numbers[key]


def _split(shapes: Iterable[Shape]) -> list[list[Shape]]:
    parts: list[list[Shape]] = []
    for shape in shapes:
        first = shape.classes.split()[0]
        if parts and first in _CONTINUED and "lost" not in shape.classes:
            parts[-1].append(shape)
        else:
            parts.append([shape])
    return parts


def _told(game: Game, parts: _Parts) -> dict[str, Any]:
    """What the page's script knows of a game."""
    positions, lasts = list(game.positions()), last_actions(game)
    sides = []
    for turned in (False, True):
        views = steady_views(game, turned=turned)
        scenes = (
            scene(position, last_action=last, theme=_THEME, view=view, status=False)
            for position, last, view in zip(positions, lasts, views, strict=True)
        )
        sides.append([_split(picture.shapes) for picture in scenes])
    pictures = [
        [parts.number(*pair) for pair in zip(white, black, strict=True)]
        for white, black in zip(*sides, strict=True)
    ]
    outcome = game.final.outcome
    known = values(game)
    comments = {ply: _VALUE.sub(" ", text).strip() for ply, text in game.comments.items()}
    return {
        "white": game.tags.get("White", "White"),
        "black": game.tags.get("Black", "Black"),
        "tags": {name: text for name, text in game.tags.items() if name not in ("White", "Black")},
        "result": game.result,
        "reason": game.termination if outcome is None else outcome.reason,
        "start": game.start.text,
        "sides": "".join(position.side[0] for position in positions),
        "moves": game.moves,
        "words": [before.describe(action) for before, action in lasts[1:]],  # type: ignore[misc]
        "lost": [lost_pieces(position) for position in positions],
        "values": [known.get(ply) for ply in range(len(positions))] if known else [],
        "comments": {ply: text for ply, text in comments.items() if text},
        "pictures": pictures,
    }
