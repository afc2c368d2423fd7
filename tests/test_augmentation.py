"""What augmentation makes of observations alone is what the position's own symmetry gives."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import numpy as np
import pytest
from drawn import random_play, random_position

from skift_env._jit import JIT_ENABLED
from skift_env.augmentation import augment
from skift_env.position import Position

SYMMETRIES = range(8)
SIDES = ("white", "black")
SIZES = {"tokens": 468, "planes": 6804}
BY_KIND = pytest.mark.parametrize("kind", SIZES)

SPLINTERING = (
    "__.k__/__P.__/p.__.P/K.__k. b - 1",
    ".P__/.p__/__Pk/__Pk/pP__/KK__ b - 105",
    "Pk__.K/PP__.P/__p.__/__PK__ w t:n:A2 182",
    "..KP/..P./..__/kP__/p.../..K./__../__.. b t:s:B2,B1 146",
    "__..../__...p/__..__/__KP__/.K____/k.____ w - 291",
    ".k/P./p./K. w t:w:A2 2",
)
"""Boards that a tile move can leave in two or three pieces, of which the mover keeps one."""


COUNT = 64
TURNS = np.array([(number + number // 8) % 8 for number in range(COUNT)])
VIEWERS = [SIDES[number // 8 % 2] for number in range(COUNT)]


@functools.cache
def positions() -> list[Position]:
    """Those above, and some of random games, the last of some games over."""
    rng = random.Random(1)
    found = 4 * [Position.parse(text) for text in SPLINTERING]
    while len(found) < COUNT:
        first = Position.start() if rng.random() < 0.5 else random_position(rng)
        line = random_play(first, rng.randrange(40), True, rng)
        found += rng.sample(line, min(3, len(line)))
    return found[:COUNT]


@functools.cache
def images() -> list[Position]:
    return [each.transform(s) for each, s in zip(positions(), TURNS.tolist(), strict=True)]


def batch(kind: Any, seen: list[Position] | None = None) -> np.ndarray:
    pairs = zip(seen or positions(), VIEWERS, strict=True)
    return np.stack([position.observation(kind, side) for position, side in pairs])


def inverse(symmetries: np.ndarray) -> np.ndarray:
    return np.where(symmetries < 4, -symmetries % 4, symmetries)


def test_the_sample_is_worth_its_name() -> None:
    choices = [a for p in positions() for a in p.legal_actions if 288 <= a < 396 and (a - 288) % 3]
    assert len(choices) > 30
    assert {(action - 288) % 3 for action in choices} == {1, 2}
    assert any(position.outcome for position in positions())
    assert {position.mark.kind for position in positions() if position.mark} == {"p", "t"}


@BY_KIND
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_a_batch_turns_as_its_positions_do(kind: str, flat: bool, dtype: Any) -> None:
    before = batch(kind).astype(dtype)
    shape = (COUNT, -1) if flat else before.shape
    masks = np.stack([position.action_mask for position in positions()])
    rng = np.random.default_rng(2)
    actions = rng.integers(405, size=COUNT)
    for game, position in enumerate(positions()):
        if position.legal_actions:
            actions[game] = rng.choice(position.legal_actions)
    result = augment(before.reshape(shape), TURNS, masks=masks, actions=actions)
    assert result.observations.dtype == dtype
    assert np.array_equal(result.observations, batch(kind, images()).reshape(shape))
    assert np.array_equal(result.masks, np.stack([image.action_mask for image in images()]))
    assert result.masks.dtype == np.int8
    assert result.policies is None
    turned = zip(positions(), actions.tolist(), TURNS.tolist(), strict=True)
    assert result.actions.tolist() == [p.transform_action(a, s) for p, a, s in turned]


@pytest.mark.parametrize(("kind", "dtype"), [("tokens", np.float32), ("planes", np.float64)])
def test_policies_turn_as_actions_do(kind: str, dtype: Any) -> None:
    policies = np.arange(405, dtype=dtype) + 1000 * np.arange(COUNT, dtype=dtype)[:, None]
    result = augment(batch(kind), TURNS, policies=policies)
    assert (result.masks, result.actions) == (None, None)
    assert result.policies.dtype == dtype
    for game in range(0, COUNT, 1 if JIT_ENABLED else 5):
        position, s = positions()[game], int(TURNS[game])
        numbers = [position.transform_action(action, s) for action in range(405)]
        assert sorted(numbers) == list(range(405))
        assert np.array_equal(result.policies[game, numbers], policies[game])


@BY_KIND
def test_the_inverse_undoes_a_symmetry_and_two_make_one(kind: str) -> None:
    observations = batch(kind)
    masks = np.stack([position.action_mask for position in positions()])
    actions = np.arange(COUNT)
    policies = np.random.default_rng(3).random((COUNT, 405))
    rest = {"masks": masks, "actions": actions, "policies": policies}
    names = ("observations", *rest)
    once = augment(observations, TURNS, **rest)
    back = augment(
        once.observations, inverse(TURNS),
        masks=once.masks, actions=once.actions, policies=once.policies,
    )  # fmt: skip
    for name, before in zip(names, (observations, *rest.values()), strict=True):
        assert np.array_equal(getattr(back, name), before)
    shown = once
    for _ in range(3):  # a quarter turn four times is no turn
        shown = augment(shown.observations, 1, masks=shown.masks)
    assert np.array_equal(augment(shown.observations, 1).observations, once.observations)


@BY_KIND
def test_eight_symmetries_give_the_eight_images(kind: str) -> None:
    one = batch(kind)[5]
    seen = augment(np.stack([one] * 8), SYMMETRIES).observations
    assert np.array_equal(seen[0], one)
    viewer = VIEWERS[5]
    for s in SYMMETRIES:
        assert np.array_equal(seen[s], positions()[5].transform(s).observation(kind, viewer))
    for first, second in itertools.combinations(range(8), 2):
        assert not np.array_equal(seen[first], seen[second])


@BY_KIND
@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float64]
)
def test_every_dtype_is_kept(kind: str, dtype: Any) -> None:
    result = augment(batch(kind)[:8].astype(dtype), TURNS[:8])
    assert result.observations.dtype == dtype
    assert np.array_equal(result.observations, augment(batch(kind)[:8], TURNS[:8]).observations)


@BY_KIND
def test_nothing_is_shared_and_nothing_changes(kind: str) -> None:
    given = batch(kind).astype(np.float32)
    wide = np.concatenate([given, given], axis=-1)
    strided = wide[..., : given.shape[-1]]
    masks = np.asfortranarray(np.stack([position.action_mask for position in positions()]))
    kept = wide.copy(), masks.copy()
    for turns in (0, TURNS, TURNS.astype(np.uint8), TURNS.tolist(), TURNS[::-1]):
        result = augment(strided, turns, masks=masks)
        assert np.array_equal(result.observations, augment(given, np.array(turns)).observations)
        assert not np.shares_memory(result.observations, wide)
        assert not np.shares_memory(result.masks, masks)
        result.observations[:] = result.masks[:] = 7
    assert np.array_equal(wide, kept[0])
    assert np.array_equal(masks, kept[1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_the_number_of_an_image_is_not_cut_off(dtype: Any) -> None:
    largest = min(np.iinfo(dtype).max, 404)
    actions = np.arange(largest - 100, largest + 1)
    observations = np.stack([Position.start().observation("tokens")] * 101)
    for s in SYMMETRIES:
        turned = augment(observations, s, actions=actions.astype(dtype)).actions
        assert turned.tolist() == augment(observations, s, actions=actions).actions.tolist()
        assert np.issubdtype(turned.dtype, np.integer)
        if np.iinfo(dtype).max > 404:
            assert turned.dtype == dtype


@pytest.mark.parametrize("shape", [(0, 9, 52), (0, 468), (0, 21, 18, 18), (0, 6804)])
def test_an_empty_batch_is_a_batch(shape: tuple[int, ...]) -> None:
    empty = np.zeros((0, 405), np.int8)
    for turns in (3, np.zeros(0, int)):
        result = augment(
            np.zeros(shape, np.float32), turns,
            masks=empty, actions=np.zeros(0, int), policies=empty,
        )  # fmt: skip
        assert result.observations.shape == shape
        assert result.masks.shape == result.policies.shape == (0, 405)
        assert result.actions.shape == (0,)


def test_what_shows_no_board_is_refused() -> None:
    tokens, planes = batch("tokens")[6:10], batch("planes")[6:10]
    rows = tokens.copy()
    rows[2, [0, 1]] = rows[2, [1, 0]]  # not in reading order
    with pytest.raises(ValueError, match="observations: number 2 shows no board"):
        augment(rows, 1)
    rows = tokens.copy()
    rows[1, 1] = rows[1, 0]  # two tiles on one cell
    with pytest.raises(ValueError, match="observations: number 1 shows no board"):
        augment(rows, 1)
    planes[3, 4, :8] = 1
    with pytest.raises(ValueError, match="observations: number 3 shows no board"):
        augment(planes, 1)


@BY_KIND
def test_tiles_that_do_not_hang_together_do_no_harm(kind: str) -> None:
    rng = np.random.default_rng(1)
    cells = np.stack([np.sort(rng.permutation(81)[:9]) for _ in range(40)])
    observations = np.zeros((40, *batch(kind).shape[1:]), np.int8)
    for game, slot in itertools.product(range(40), range(9)):
        row, column = divmod(cells[game, slot], 9)
        if kind == "tokens":
            observations[game, slot, [0, 1 + row, 10 + column]] = 1
        else:
            observations[game, 4, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2] = 1
    for s in SYMMETRIES:
        result = augment(observations, s, actions=np.arange(40))
        assert result.observations.sum() == observations.sum()
        assert set(result.actions) <= set(range(405))


TOKENS = np.zeros((3, 9, 52), np.int8)


@pytest.mark.parametrize(
    ("given", "turns", "rest", "named"),
    [
        (np.zeros((9, 52)), 0, {}, r"observations.*\(9, 52\)"),
        (np.zeros(468), 0, {}, r"observations.*\(468,\)"),
        (np.zeros((3, 52, 9)), 0, {}, r"observations.*\(3, 52, 9\)"),
        (np.zeros((3, 469)), 0, {}, r"observations.*\(3, 469\)"),
        (np.zeros((3, 18, 18, 21)), 0, {}, r"observations.*\(3, 18, 18, 21\)"),
        (np.zeros((0, 7)), 0, {}, r"observations.*\(0, 7\)"),
        (np.float32(1), 0, {}, r"observations.*\(\)"),
        (TOKENS + 2, 0, {}, "observations must be 0 or 1"),
        (TOKENS - 0.5, 0, {}, "observations must be 0 or 1"),
        (TOKENS, 8, {}, "symmetries.*8"),
        (TOKENS, -1, {}, "symmetries.*-1"),
        (TOKENS, [0, 1], {}, r"symmetries.*\(3,\).*\[0, 1\]"),
        (TOKENS, [0, 1, 8], {}, r"symmetries.*\[0, 1, 8\]"),
        (TOKENS, 1.0, {}, "symmetries.*1.0"),
        (TOKENS, [True, False, True], {}, "symmetries"),
        (TOKENS, None, {}, "symmetries.*None"),
        (TOKENS, 0, {"masks": np.zeros((3, 404))}, r"masks.*\(3, 405\).*\(3, 404\)"),
        (TOKENS, 0, {"masks": np.zeros(405)}, r"masks.*\(3, 405\).*\(405,\)"),
        (TOKENS, 0, {"policies": np.zeros((2, 405))}, r"policies.*\(3, 405\).*\(2, 405\)"),
        (TOKENS, 0, {"actions": np.zeros(4, int)}, r"actions.*\(3,\).*\(4,\)"),
        (TOKENS, 0, {"actions": np.zeros(3)}, r"actions.*float64"),
        (TOKENS, 0, {"actions": [0, 1, 405]}, "actions.*404"),
        (TOKENS, 0, {"actions": [0, 1, -1]}, "actions.*404"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, turns: Any, rest: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        augment(given, turns, **rest)
