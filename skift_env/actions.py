"""The 405 action numbers and what they mean (rulebook section 6)."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from skift_env.rules import (
    DIRECTIONS,
    FIRST_ROTATION,
    FIRST_TILE_MOVE,
    MAX_CHOICES,
    MAX_TILES,
    NUM_ACTIONS,
)

QUADRANTS: Final = ("nw", "ne", "sw", "se")


class PieceMove(NamedTuple):
    """The piece on `quadrant` (0 … 3) of tile `slot` (0 … 8) steps in `direction` (0 … 7)."""

    slot: int
    quadrant: int
    direction: int


class TileMove(NamedTuple):
    """Tile `slot` (0 … 8) moves n, e, s or w (0 … 3); of tied groups, `choice` (0 … 2) stays."""

    slot: int
    direction: int
    choice: int = 0


class TileRotation(NamedTuple):
    """Tile `slot` (0 … 8) turns by 180 degrees."""

    slot: int


Action: TypeAlias = PieceMove | TileMove | TileRotation


def encode(action: Action) -> int:
    """The number of an action.

    Raises:
        ValueError: if a part of it is out of its range.
    """
    limits = {PieceMove: (MAX_TILES, 4, 8), TileMove: (MAX_TILES, 4, MAX_CHOICES)}
    for name, value, limit in zip(
        action._fields, action, limits.get(type(action), (MAX_TILES,)), strict=True
    ):
        if not 0 <= value < limit:
            raise ValueError(f"{name} must be 0 … {limit - 1}, not {value!r}, in {action}")
    if isinstance(action, PieceMove):
        return 32 * action.slot + 8 * action.quadrant + action.direction
    if isinstance(action, TileMove):
        return FIRST_TILE_MOVE + 12 * action.slot + 3 * action.direction + action.choice
    return FIRST_ROTATION + action.slot


def decode(number: int) -> Action:
    """The action that a number stands for.

    Raises:
        ValueError: if it is not in 0 … 404.
    """
    if not 0 <= number < NUM_ACTIONS:
        raise ValueError(f"an action number must be 0 … {NUM_ACTIONS - 1}, not {number!r}")
    number = int(number)
    if number < FIRST_TILE_MOVE:
        return PieceMove(number // 32, number // 8 % 4, number % 8)
    if number < FIRST_ROTATION:
        rest = number - FIRST_TILE_MOVE
        return TileMove(rest // 12, rest // 3 % 4, rest % 3)
    return TileRotation(number - FIRST_ROTATION)


def direction_name(action: PieceMove | TileMove) -> str:
    """One of n, ne, e, se, s, sw, w, nw."""
    return DIRECTIONS[action.direction * (2 if isinstance(action, TileMove) else 1)]
