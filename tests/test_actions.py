"""The 405 action numbers."""

from __future__ import annotations

import numpy as np
import pytest

from skift_env import NUM_ACTIONS
from skift_env.actions import (
    Action,
    PieceMove,
    TileMove,
    TileRotation,
    decode,
    direction_name,
    encode,
)


def test_numbers_are_dense_and_in_order() -> None:
    actions: list[Action] = [
        PieceMove(slot, quadrant, direction)
        for slot in range(9)
        for quadrant in range(4)
        for direction in range(8)
    ]
    actions += [
        TileMove(slot, direction, choice)
        for slot in range(9)
        for direction in range(4)
        for choice in range(3)
    ]
    actions += [TileRotation(slot) for slot in range(9)]
    assert NUM_ACTIONS == len(actions) == 405
    assert [encode(action) for action in actions] == list(range(405))
    decoded = [decode(number) for number in range(405)]
    assert decoded == actions
    # Named tuples of equal fields are equal whatever they are called.
    assert list(map(type, decoded)) == list(map(type, actions))


@pytest.mark.parametrize(
    ("number", "action"),
    [
        (0, PieceMove(0, 0, 0)),
        (7, PieceMove(0, 0, 7)),
        (8, PieceMove(0, 1, 0)),
        (32, PieceMove(1, 0, 0)),
        (32 * 4 + 8 * 2 + 5, PieceMove(4, 2, 5)),
        (287, PieceMove(8, 3, 7)),
        (288, TileMove(0, 0, 0)),
        (289, TileMove(0, 0, 1)),
        (291, TileMove(0, 1, 0)),
        (300, TileMove(1, 0, 0)),
        (288 + 12 * 5 + 3 * 2 + 2, TileMove(5, 2, 2)),
        (395, TileMove(8, 3, 2)),
        (396, TileRotation(0)),
        (404, TileRotation(8)),
    ],
)
def test_blocks(number: int, action: Action) -> None:
    assert encode(action) == number
    assert decode(number) == action
    assert type(decode(number)) is type(action)
    assert decode(np.int32(number)) == action


def test_the_first_group_is_the_default_choice() -> None:
    assert TileMove(3, 2) == TileMove(3, 2, 0)


@pytest.mark.parametrize(
    ("action", "fault"),
    [
        (PieceMove(9, 0, 0), "slot must be 0 … 8, not 9"),
        (PieceMove(-1, 0, 0), "slot must be 0 … 8, not -1"),
        (PieceMove(0, 4, 0), "quadrant must be 0 … 3, not 4"),
        (PieceMove(0, 0, 8), "direction must be 0 … 7, not 8"),
        (TileMove(9, 0, 0), "slot must be 0 … 8, not 9"),
        (TileMove(0, 4, 0), "direction must be 0 … 3, not 4"),
        (TileMove(0, 0, 3), "choice must be 0 … 2, not 3"),
        (TileMove(0, 0, -1), "choice must be 0 … 2, not -1"),
        (TileRotation(9), "slot must be 0 … 8, not 9"),
    ],
)
def test_no_such_action(action: Action, fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{fault}, in {type(action).__name__}"):
        encode(action)


@pytest.mark.parametrize("number", [-1, 405, 2**64])
def test_no_such_number(number: int) -> None:
    with pytest.raises(ValueError, match=f"0 … 404, not {number}"):
        decode(number)


def test_direction_names() -> None:
    names = ["n", "ne", "e", "se", "s", "sw", "w", "nw"]
    assert [direction_name(PieceMove(0, 0, direction)) for direction in range(8)] == names
    assert [direction_name(TileMove(0, direction)) for direction in range(4)] == names[::2]
