"""Positions drawn by hand, and drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Iterable

from skift_env.position import Position

STEPS = {
    "n": (-1, 0), "ne": (-1, 1), "e": (0, 1), "se": (1, 1),
    "s": (1, 0), "sw": (1, -1), "w": (0, -1), "nw": (-1, -1),
}  # fmt: skip
ROTATIONS = range(396, 405)
TILE_ACTIONS = range(288, 405)


def rows(drawing: str) -> tuple[str, ...]:
    """The quadrant rows of a drawing; its blanks and blank lines only set tiles apart."""
    return tuple(line.replace(" ", "") for line in drawing.splitlines() if line.strip())


def drawn(drawing: str, side: str = "w", mark: str = "-", ply: int = 20) -> Position:
    """The position with the board of a drawing."""
    return Position.parse(f"{'/'.join(rows(drawing))} {side} {mark} {ply}")


def play(position: Position, *moves: str) -> Position:
    """The position after some actions, given as texts."""
    for move in moves:
        position = position.play(position.parse_action(move))
    return position


def legal(position: Position, start: str = "") -> set[str]:
    """The texts of the legal actions, or of those that start so."""
    texts = map(position.action_text, position.legal_actions)
    return {text for text in texts if text.startswith(start)}


def allows(position: Position, move: str) -> bool:
    """Whether an action, given as text, is legal."""
    return position.parse_action(move) in position.legal_actions


def choose(actions: Iterable[int], tile_heavy: bool, rng: random.Random) -> int:
    """A random action: uniform, or mostly a tile move where there is one."""
    actions = list(actions)
    tile_moves = [a for a in actions if a in TILE_ACTIONS and a not in ROTATIONS]
    if tile_heavy and tile_moves and rng.random() < 0.8:
        return rng.choice(tile_moves)
    return rng.choice(actions)


def random_position(rng: random.Random) -> Position:
    """A random board without a mark: 1 to 9 tiles grown by sides and corners, any pieces.

    Seven times in eight each side has what it needs to be in the game, if there is room.
    """
    cells = {(0, 0)}
    for _ in range(rng.randrange(9)):
        row, column = rng.choice(sorted(cells))
        down, right = rng.choice(list(STEPS.values()))
        cells.add((row + down, column + right))
    top, left = (min(cell[axis] for cell in cells) for axis in (0, 1))
    quadrants = [
        (2 * (row - top) + i, 2 * (column - left) + j)
        for row, column in sorted(cells)
        for i in (0, 1)
        for j in (0, 1)
    ]
    sure = "KPkp" if rng.random() < 7 / 8 else ""
    more = "K" * rng.randrange(2) + "k" * rng.randrange(2)
    more += "P" * rng.randrange(6) + "p" * rng.randrange(6)
    pieces = sure + more[: rng.randrange(len(more) + 1)]
    squares = rng.sample(quadrants, min(len(quadrants), len(pieces)))
    standing = dict(zip(squares, pieces, strict=False))
    height, width = (max(place[axis] for place in quadrants) + 1 for axis in (0, 1))
    board = [["_"] * width for _ in range(height)]
    for row, column in quadrants:
        board[row][column] = standing.get((row, column), ".")
    text = "/".join("".join(row) for row in board)
    return Position.parse(f"{text} {rng.choice('wb')} - {rng.randrange(300)}")


def random_play(
    position: Position, plies: int, tile_heavy: bool, rng: random.Random
) -> list[Position]:
    """The positions of a random game from `position`: at most `plies` of them after it."""
    line = [position]
    while len(line) <= plies and line[-1].legal_actions:
        line.append(line[-1].play(choose(line[-1].legal_actions, tile_heavy, rng)))
    return line
