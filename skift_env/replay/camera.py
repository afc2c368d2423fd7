"""Views that hold still while a game is played, although its board's bounding box moves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from skift_env.trace import LastAction, Trace
from skift_env.view import Box, View

if TYPE_CHECKING:
    from skift_env.records import Game

WIDEST: Final = 8.0
"""Cells across, at most, that one view takes in if a single position does not need more."""


def last_actions(game: Game) -> list[LastAction | None]:
    """For each position of a game, the one before it and the action that led to it."""
    return [None, *zip(game.positions(), game.actions, strict=False)]


def steady_views(game: Game, *, turned: bool = False) -> list[View]:
    """A view for each position of a game; few different ones, and mostly one for the whole game.

    Each shows the same part of the table as the last, so that what stays in place in the game
    stays in place in the picture, as long as such a part is at most `WIDEST` cells across.
    """
    boxes: list[Box] = []  # on the table on which the game began
    origins: list[tuple[int, int]] = []
    row = column = 0  # where the top left of the present bounding box lies on that table
    for position, last in zip(game.positions(), last_actions(game), strict=True):
        if last is not None:
            d_row, d_column = last[0].effect(last[1]).offset
            row, column = row - d_row, column - d_column
        trace = Trace.of(position, last)
        boxes.append(trace.box(position, margin=0.0).shifted(row, column))
        origins.append((row, column))
    shots = [0]
    for ply, box in enumerate(boxes):
        if boxes[shots[-1]].union(*boxes[shots[-1] : ply], box).span > WIDEST:
            shots.append(ply)
    views: list[View] = []
    for first, end in pairwise([*shots, len(boxes)]):
        shown = boxes[first].union(*boxes[first:end])
        views += [View(shown.shifted(-r, -c), turned) for r, c in origins[first:end]]
    return views
