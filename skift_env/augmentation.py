"""Symmetry augmentation: batches of (observation, mask, action, policy), turned and mirrored.

All of a training sample follows from its observation: the tiles' layout says which number each
action has after the symmetry, splinter choices included.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.observation import PLANES_SHAPE, TOKENS_SHAPE
from skift_env.rules import CELLS, MAX_TILES, NUM_ACTIONS, NUM_TILES, STATE_SIZE
from skift_env.symmetry import (
    DIRECTION_IMAGE,
    NUM_SYMMETRIES,
    QUADRANT_IMAGE,
    action_images,
    slot_images,
)
from skift_env.types import AnyArray, Int8Array, Int64Array


class Augmented(NamedTuple):
    """What `augment` was given, under the symmetries; None for what it was not given."""

    observations: AnyArray
    masks: AnyArray | None
    actions: AnyArray | None
    policies: AnyArray | None


@kernel
def _read_tokens(batch: Int8Array, states: Int64Array) -> int:
    """Put the tiles of tokens (B, 9, 52) into empty rows; return the first without board, or -1."""
    for sample in range(len(batch)):
        tokens, state = batch[sample], states[sample]
        before = -1
        for slot in range(MAX_TILES):
            if tokens[slot, 0] == 0:
                break
            cell = 0
            for row in range(MAX_TILES):
                for column in range(MAX_TILES):
                    if tokens[slot, 1 + row] and tokens[slot, 10 + column]:
                        cell = 16 * row + column
            if cell <= before:
                return sample
            before = state[CELLS + slot] = cell
            state[NUM_TILES] += 1
    return -1


@kernel
def _read_planes(batch: Int8Array, states: Int64Array) -> int:
    """The same for planes (B, 21, 18, 18)."""
    for sample in range(len(batch)):
        planes, state = batch[sample], states[sample]
        for row in range(MAX_TILES):
            for column in range(MAX_TILES):
                if planes[4, 2 * row, 2 * column]:
                    if state[NUM_TILES] == MAX_TILES:
                        return sample
                    state[CELLS + state[NUM_TILES]] = 16 * row + column
                    state[NUM_TILES] += 1
    return -1


@kernel
def _turn_tokens(
    batch: Int8Array, states: Int64Array, symmetries: Int64Array, batch_turned: Int8Array
) -> None:
    images = np.empty(MAX_TILES, np.int64)
    order = np.empty(MAX_TILES, np.int64)
    for sample in range(len(batch)):
        tokens, state, turned = batch[sample], states[sample], batch_turned[sample]
        symmetry = symmetries[sample]
        slot_images(state, symmetry, images, order)
        turned[:] = 0
        for slot in range(state[NUM_TILES]):
            here, there = tokens[slot], turned[images[slot]]
            cell = order[images[slot]] >> 4
            there[0] = 1
            there[1 + (cell >> 4)] = 1
            there[10 + (cell & 15)] = 1
            for quadrant in range(4):
                image = QUADRANT_IMAGE[symmetry, quadrant]
                for kind in range(4):
                    there[19 + 4 * kind + image] = here[19 + 4 * kind + quadrant]
                there[38 + image] = here[38 + quadrant]
            for direction in range(8):
                there[43 + DIRECTION_IMAGE[symmetry, direction]] = here[43 + direction]
            for column in (35, 36, 37, 42, 51):
                there[column] = here[column]


@kernel
def _turn_planes(
    batch: Int8Array, states: Int64Array, symmetries: Int64Array, batch_turned: Int8Array
) -> None:
    images = np.empty(MAX_TILES, np.int64)
    order = np.empty(MAX_TILES, np.int64)
    for sample in range(len(batch)):
        planes, state, turned = batch[sample], states[sample], batch_turned[sample]
        symmetry = symmetries[sample]
        slot_images(state, symmetry, images, order)
        turned[:20] = 0
        turned[20] = planes[20]
        for slot in range(state[NUM_TILES]):
            here = state[CELLS + slot]
            there = order[images[slot]] >> 4
            for quadrant in range(4):
                image = QUADRANT_IMAGE[symmetry, quadrant]
                row = 2 * (here >> 4) + (quadrant >> 1)
                column = 2 * (here & 15) + (quadrant & 1)
                new_row = 2 * (there >> 4) + (image >> 1)
                new_column = 2 * (there & 15) + (image & 1)
                for plane in range(20):
                    new_plane = plane
                    if 8 <= plane < 16:
                        new_plane = 8 + DIRECTION_IMAGE[symmetry, plane - 8]
                    elif plane >= 16:
                        new_plane = 16 + DIRECTION_IMAGE[symmetry, 2 * (plane - 16)] // 2
                    turned[new_plane, new_row, new_column] = planes[plane, row, column]


@kernel
def _number(states: Int64Array, symmetries: Int64Array, numbers: Int64Array) -> None:
    """Write the number (B, 405) that each action gets, given the tiles."""
    for sample in range(len(states)):
        rules.survey(states[sample])
        action_images(states[sample], symmetries[sample], numbers[sample])


_SIZES: Final = {int(np.prod(shape)): shape for shape in (TOKENS_SHAPE, PLANES_SHAPE)}


def augment(
    observations: AnyArray,
    symmetries: Any,
    *,
    masks: AnyArray | None = None,
    actions: AnyArray | None = None,
    policies: AnyArray | None = None,
) -> Augmented:
    """A batch under symmetries 0 … 7 (see `Position.transform`), as fresh arrays.

    Args:
        observations: tokens (B, 9, 52) or planes (B, 21, 18, 18), or either flat (B, 468) or
            (B, 6804), of zeros and ones; any dtype, kept.
        symmetries: one for all, or (B,) integers in 0 … 7.
        masks: (B, 405).
        actions: (B,) integers in 0 … 404.
        policies: (B, 405), a value for each action.

    Raises:
        ValueError: naming the array and its shape or what it holds, if that does not fit.
    """
    given = np.asarray(observations)
    count = len(given) if given.ndim else 0
    shape = _SIZES.get(given[0].size if count else int(np.prod(given.shape[1:])))
    if shape is None or given.shape[1:] not in (shape, (int(np.prod(shape)),)):
        raise ValueError(f"observations must be tokens or planes, not of shape {given.shape}")
    turns = np.asarray(symmetries)
    if not np.issubdtype(turns.dtype, np.integer) or turns.shape not in ((), (count,)):
        raise ValueError(f"symmetries must be an integer or ({count},), not {symmetries!r}")
    if turns.size and not (turns.min() >= 0 and turns.max() < NUM_SYMMETRIES):
        raise ValueError(f"symmetries must be 0 … {NUM_SYMMETRIES - 1}, not {symmetries!r}")
    each = np.ascontiguousarray(np.broadcast_to(turns, count), np.int64)
    bits = (given != 0).astype(np.int8)
    if not np.array_equal(bits, given):
        raise ValueError("observations must be 0 or 1 everywhere")
    bits = bits.reshape(count, *shape)
    turned = np.empty_like(bits)
    states = np.zeros((count, STATE_SIZE), np.int64)
    numbers = np.empty((count, NUM_ACTIONS), np.int64)
    read, turn = (
        (_read_tokens, _turn_tokens) if shape == TOKENS_SHAPE else (_read_planes, _turn_planes)
    )
    wrong = read(bits, states)
    if wrong >= 0:
        raise ValueError(f"observations: number {wrong} shows no board")
    turn(bits, states, each, turned)
    if any(each is not None for each in (masks, actions, policies)):
        _number(states, each, numbers)
    return Augmented(
        turned.reshape(given.shape).astype(given.dtype),
        _scatter("masks", masks, numbers),
        _look_up(actions, numbers),
        _scatter("policies", policies, numbers),
    )


def _scatter(name: str, values: AnyArray | None, numbers: Int64Array) -> AnyArray | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.shape != numbers.shape:
        raise ValueError(f"{name} must have shape {numbers.shape}, not {array.shape}")
    moved = np.empty_like(array)
    np.put_along_axis(moved, numbers, array, axis=1)
    return moved


def _look_up(actions: AnyArray | None, numbers: Int64Array) -> AnyArray | None:
    if actions is None:
        return None
    array = np.asarray(actions)
    if array.shape != numbers.shape[:1] or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"actions must be integers {numbers.shape[:1]}, not {array.dtype} {array.shape}"
        )
    if array.size and not (array.min() >= 0 and array.max() < NUM_ACTIONS):
        raise ValueError(f"actions must be 0 … {NUM_ACTIONS - 1}")
    # an image may exceed what holds the number itself: 255 for uint8
    dtype = array.dtype if np.iinfo(array.dtype).max >= NUM_ACTIONS else np.int16
    moved: AnyArray = numbers[np.arange(len(array)), array].astype(dtype)
    return moved
