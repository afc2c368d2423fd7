"""What holds in every position: symmetries, round trips, keys, masks, the derived columns."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random

import numpy as np
import pytest
from drawn import STEPS, random_play, random_position
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import fault

from skift_env.actions import decode, encode
from skift_env.position import IllegalActionError, Position, PositionError

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
DIRECTIONS = list(STEPS)
SIDES = ("white", "black")
SYMMETRIES = range(8)


def quick(compiled: int, interpreted: int) -> settings:
    """So many examples in each mode."""
    return settings(
        max_examples=interpreted if INTERPRETED else compiled,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )


@st.composite
def games(draw: st.DrawFn, plies: int = 40) -> list[Position]:
    """The positions of the first plies of a random game, from the start or a random board."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1), label="seed"))
    first = Position.start() if draw(st.booleans(), label="from the start") else None
    tile_heavy = draw(st.booleans(), label="tile heavy")
    count = draw(st.integers(0, plies), label="plies")
    return random_play(first or random_position(rng), count, tile_heavy, rng)


@st.composite
def drawn_positions(draw: st.DrawFn) -> Position:
    """A position of a random game; seldom one at its end."""
    game = draw(games())
    over = game[-1].outcome is not None and draw(st.integers(0, 5), label="0: over") > 0
    return game[-2] if over and len(game) > 1 else game[-1]


positions = drawn_positions()


# --- Symmetries --------------------------------------------------------------------------------
#
# Here a symmetry is what it does to steps: mirror the columns if s >= 4, then turn clockwise,
# north to east, s mod 4 times.


def turned_step(step: tuple[int, int], s: int) -> tuple[int, int]:
    down, right = step
    if s >= 4:
        right = -right
    for _ in range(s % 4):
        down, right = right, -down
    return down, right


def turned_direction(direction: int, s: int) -> int:
    steps = list(STEPS.values())
    return steps.index(turned_step(steps[direction], s))


def both(first: int, second: int) -> int:
    """The symmetry that does one, then the other."""
    steps = {s: [turned_step(step, s) for step in STEPS.values()] for s in SYMMETRIES}
    done = [turned_step(step, second) for step in steps[first]]
    return next(s for s in SYMMETRIES if steps[s] == done)


def turned_box(box: np.ndarray, s: int) -> np.ndarray:
    """Planes (…, height, width) of a box under a symmetry."""
    if s >= 4:
        box = box[..., ::-1]
    return np.rot90(box, -(s % 4), axes=(-2, -1))


def turned_planes(planes: np.ndarray, s: int) -> np.ndarray:
    present = np.argwhere(planes[4])
    height, width = present.max(axis=0) + 1
    box = turned_box(planes[:20, :height, :width], s)
    turned = np.zeros_like(planes)
    turned[:20, : box.shape[1], : box.shape[2]] = box
    marks = turned[8:16].copy()
    for direction in range(8):
        turned[8 + turned_direction(direction, s)] = marks[direction]
    marks = turned[16:20].copy()
    for direction in range(4):
        turned[16 + turned_direction(2 * direction, s) // 2] = marks[direction]
    turned[20] = planes[20]
    return turned


def turned_tokens(tokens: np.ndarray, s: int) -> np.ndarray:
    here = tokens[tokens[:, 0] == 1]
    places = np.argwhere(here[:, 1:10])[:, 1], np.argwhere(here[:, 10:19])[:, 1]
    slots = np.full((places[0].max() + 1, places[1].max() + 1), -1)
    slots[places] = np.arange(len(here))
    turned = np.zeros_like(tokens)
    order = np.argwhere(turned_box(slots, s) >= 0)
    quadrants = turned_box(np.arange(4).reshape(2, 2), s).ravel()
    for new, (row, column) in enumerate(order):
        old = here[turned_box(slots, s)[row, column]]
        turned[new] = old
        turned[new, 1:19] = 0
        turned[new, [1 + row, 10 + column]] = 1
        for first in (19, 23, 27, 31, 38):
            turned[new, first : first + 4] = old[first + quadrants]
        for direction in range(8):
            turned[new, 43 + turned_direction(direction, s)] = old[43 + direction]
    return turned


@quick(60, 6)
@given(positions, st.sampled_from(SYMMETRIES), st.booleans())
def test_symmetries_commute_with_the_rules(position: Position, s: int, swap: bool) -> None:
    image = position.transform(s, swap)
    numbers = [position.transform_action(action, s) for action in range(405)]
    assert sorted(numbers) == list(range(405))
    assert image.legal_actions == tuple(sorted(numbers[a] for a in position.legal_actions))
    assert (image.action_mask[numbers] == position.action_mask).all()
    assert (image.side == position.side) != swap
    assert image.ply == position.ply
    for action in position.legal_actions[:: 8 if INTERPRETED else 1]:
        after = position.play(action).transform(s, swap)
        assert image.play(numbers[action]) == after, position.action_text(action)


@quick(100, 12)
@given(positions, st.sampled_from(SYMMETRIES), st.booleans())
def test_symmetries_keep_the_result(position: Position, s: int, swap: bool) -> None:
    outcome, image = position.outcome, position.transform(s, swap).outcome
    assert (outcome is None) == (image is None)
    if outcome is not None and image is not None:
        swapped = {"white": "black", "black": "white", None: None}
        assert image.winner == (swapped[outcome.winner] if swap else outcome.winner)


@quick(150, 20)
@given(positions, st.sampled_from(SYMMETRIES), st.sampled_from(SIDES))
def test_observations_turn_with_the_board(position: Position, s: int, side: str) -> None:
    image = position.transform(s)
    planes, tokens = (position.observation(kind, side) for kind in ("planes", "tokens"))
    assert np.array_equal(image.observation("planes", side), turned_planes(planes, s))
    assert np.array_equal(image.observation("tokens", side), turned_tokens(tokens, s))


@quick(150, 20)
@given(positions, st.sampled_from(["planes", "tokens"]))
def test_each_side_sees_itself_as_own(position: Position, kind: str) -> None:
    swapped = position.transform(0, swap_colours=True)
    for side, other in (SIDES, SIDES[::-1]):
        mine, theirs = position.observation(kind, side), swapped.observation(kind, other)
        assert np.array_equal(mine, theirs)
    assert np.array_equal(position.observation(kind), position.observation(kind, position.side))


@quick(60, 8)
@given(positions, st.sampled_from(SYMMETRIES), st.sampled_from(SYMMETRIES))
def test_symmetries_are_a_group(position: Position, first: int, second: int) -> None:
    between, together = position.transform(first), both(first, second)
    assert between.transform(second) == position.transform(together)
    inverse = next(s for s in SYMMETRIES if both(first, s) == 0)
    assert between.transform(inverse) == position
    for action in range(0, 405, 40 if INTERPRETED else 7):
        once = position.transform_action(action, first)
        assert between.transform_action(once, inverse) == action
        assert between.transform_action(once, second) == position.transform_action(action, together)


@quick(60, 8)
@given(positions, st.sampled_from(SYMMETRIES))
def test_swapping_colours_twice_changes_nothing(position: Position, s: int) -> None:
    assert position.transform(0) == position
    assert position.transform(0, True).transform(0, True) == position
    assert position.transform(s, True) == position.transform(s).transform(0, True)


@pytest.mark.parametrize("symmetry", [-1, 8, "x", None])
def test_no_such_symmetry(symmetry: object) -> None:
    with pytest.raises(ValueError, match=f"symmetry must be 0 … 7, not {symmetry!r}"):
        Position.start().transform(symmetry)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"symmetry must be 0 … 7, not {symmetry!r}"):
        Position.start().transform_action(0, symmetry)  # type: ignore[arg-type]


# --- Values and texts --------------------------------------------------------------------------


@quick(150, 20)
@given(positions)
def test_texts_read_back(position: Position) -> None:
    assert Position.parse(position.text) == position
    assert eval(repr(position)) == position
    tiles = int(position.observation("tokens")[:, 0].sum())
    for action in range(405):
        slot = decode(action).slot
        assert encode(decode(action)) == action
        if slot < tiles:
            assert position.parse_action(position.action_text(action)) == action
    texts = [position.action_text(action) for action in position.legal_actions]
    assert len(set(texts)) == len(texts)


@quick(100, 12)
@given(positions)
def test_derived_columns_are_those_of_a_fresh_parse(position: Position) -> None:
    for made in (position, position.transform(3), position.transform(6, True)):
        assert made.state.tolist() == Position.parse(made.text).state.tolist()


@quick(60, 8)
@given(st.lists(games(12), min_size=1, max_size=3))
def test_keys_tell_board_side_and_mark(lines: list[list[Position]]) -> None:
    seen: dict[str, int] = {}
    for position in [position for line in lines for position in line]:
        board, side, mark, ply = position.text.split(" ")
        later = Position.parse(f"{board} {side} {mark} {int(ply) + 2}")
        assert later != position
        others = [Position.parse(f"{board} {side} - {ply}")] if mark != "-" else []
        others += [Position.parse(f"{board} {'bw'['wb'.index(side)]} - {ply}")]
        for made in (position, later, *others, position.transform(2), position.transform(5, True)):
            identity = made.text.rpartition(" ")[0]
            assert 0 <= made.key < 2**64
            assert seen.setdefault(identity, made.key) == made.key
    assert len(set(seen.values())) == len(seen)


def possible_marks(position: Position) -> list[Position]:
    """The position with every mark that its board and side allow."""
    board, side, _, _ = position.text.split(" ")
    found = [Position.parse(f"{board} {side} - 9")]
    height, width = len(position.board), len(position.board[0])
    forms = [("p", "abcdefghijklmnopqr", height, width, DIRECTIONS)]
    forms += [("t", "ABCDEFGHI", height // 2, width // 2, DIRECTIONS[::2])]
    for form, letters, rows, columns, directions in forms:
        for direction in directions:
            down, right = STEPS[direction]
            for row, column in np.ndindex(rows, columns):
                line = []
                while 0 <= row < rows and 0 <= column < columns:
                    line.append((row, column))
                    names = [f"{letters[c]}{rows - r}" for r, c in sorted(line)]
                    mark = f"{form}:{direction}:{','.join(names)}"
                    with contextlib.suppress(PositionError):
                        found.append(Position.parse(f"{board} {side} {mark} 9"))
                    row, column = row + down, column + right  # noqa: PLW2901
    return found


@quick(8, 4)
@given(positions)
def test_keys_tell_every_mark(position: Position) -> None:
    marked = possible_marks(position)
    assert len(set(marked)) == len({made.key for made in marked}) == len(marked)


@quick(60, 8)
@given(positions)
def test_equal_values_hash_alike(position: Position) -> None:
    twin = Position.parse(position.text)
    assert twin == position
    assert hash(twin) == hash(position)
    assert position != position.text
    for action in position.legal_actions[:5]:
        assert position.play(action) != position


@quick(60, 8)
@given(positions)
def test_pickles_and_copies(position: Position) -> None:
    for made in (
        pickle.loads(pickle.dumps(position)),
        copy.copy(position),
        copy.deepcopy(position),
        copy.deepcopy([position])[0],
    ):
        assert type(made) is Position
        assert made == position
        assert made.legal_actions == position.legal_actions
        assert made.key == position.key


# --- Play --------------------------------------------------------------------------------------


@quick(60, 8)
@given(games(120))
def test_a_game_only_loses_tiles_and_pieces(game: list[Position]) -> None:
    counts = []
    for position in game:
        assert fault(position.text) is None  # connected and anchored, no more than there are
        board = "".join(position.board)
        counts.append([len(board) - board.count("_"), *map(board.count, "KPkp")])
        # Two pieces with at least seven steps each, or nothing.
        if position.outcome is None:
            assert len(position.legal_actions) >= 14
        else:
            assert position.legal_actions == ()
    assert (np.diff(counts, axis=0) <= 0).all()
    assert [position.ply - game[0].ply for position in game] == list(range(len(game)))


@quick(60, 6)
@given(positions)
def test_the_mask_says_what_play_accepts(position: Position) -> None:
    before = position.text, position.state.tolist()
    mask = position.action_mask
    assert (mask.dtype, mask.shape) == (np.int8, (405,))
    accepted = []
    for action in range(405):
        try:
            position.play(action)
        except IllegalActionError:
            accepted.append(0)
        else:
            accepted.append(1)
        assert (position.why_illegal(action) is None) == bool(accepted[-1])
    assert mask.tolist() == accepted
    assert np.flatnonzero(mask).tolist() == list(position.legal_actions)
    assert (position.text, position.state.tolist()) == before


@quick(60, 6)
@given(positions)
def test_play_and_arrays_leave_a_position_as_it_is(position: Position) -> None:
    before = position.text
    for action in position.legal_actions[:: 10 if INTERPRETED else 1]:
        assert position.play(action).ply == position.ply + 1
        assert position.play(np.int64(action)) == position.play(action)
    position.state[:] = 0
    position.action_mask[:] = 1
    position.observation("planes")[:] = 1
    assert Position.parse(before) == position
    assert position.text == before


@quick(60, 8)
@given(positions)
def test_effects_tell_the_next_board(position: Position) -> None:
    standing = {(r, c): x for r, line in enumerate(position.board) for c, x in enumerate(line)}
    for action in position.legal_actions[:: 10 if INTERPRETED else 1]:
        effect = position.effect(action)
        after = {q: x for q, x in standing.items() if x != "_"}
        size = 1 if effect.kind == "piece" else 2
        moved = {}
        for (row, column), (to_row, to_column) in effect.displaced:
            for i in range(size):
                for j in range(size):
                    here, there = (size * row + i, size * column + j), (i, j)
                    if effect.kind == "rotation":
                        there = 1 - i, 1 - j
                    moved[size * to_row + there[0], size * to_column + there[1]] = standing[here]
                    after[here] = "."
                    if effect.kind == "tile":
                        del after[here]
        lost = {letter for letter, _ in effect.lost_pieces}
        if effect.kind == "piece":
            assert lost == {x for q, x in moved.items() if standing.get(q, "_") == "_"}
            moved = {q: x for q, x in moved.items() if q in after}
        after |= moved
        goes_to = dict(effect.displaced)
        for tile in effect.lost_tiles:
            row, column = goes_to.get(tile, tile)
            for i in range(2):
                for j in range(2):
                    del after[2 * row + i, 2 * column + j]
        down, right = effect.offset
        shifted = {(r + 2 * down, c + 2 * right): x for (r, c), x in after.items()}
        board = position.play(action).board
        drawn = {(r, c): x for r, line in enumerate(board) for c, x in enumerate(line)}
        assert shifted == {q: x for q, x in drawn.items() if x != "_"}
        gone = sorted("".join(position.board)), sorted("".join(board))
        letters = [x for x in "KPkp" for _ in range(gone[0].count(x) - gone[1].count(x))]
        assert sorted(letter for letter, _ in effect.lost_pieces) == letters
