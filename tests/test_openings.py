"""openings-v1: what a book of openings must be, and where this one comes from."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from skift_env import openings
from skift_env.agents.alphabeta import AlphaBeta
from skift_env.openings import BALANCE, DEPTHS, PLIES, SEED, SIZE, OpeningsError
from skift_env.position import Position
from skift_env.rng import below

BOOK = openings.load()


def views(rows: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A board turned and mirrored, and each of these with colours swapped."""
    turned = []
    for _ in range(4):
        rows = tuple("".join(column) for column in zip(*reversed(rows), strict=True))
        turned += [rows, rows[::-1]]
    return {*turned, *(tuple(map(str.swapcase, board)) for board in turned)}


def random_openings(rng: np.ndarray) -> Position:
    """The position after four random plies, drawn as the book's were."""
    position = Position.start()
    for _ in range(PLIES):
        legal = position.legal_actions
        position = position.play(legal[below(rng, len(legal))])
    return position


def test_there_are_200_four_plies_deep() -> None:
    assert len(BOOK) == SIZE == 200
    for position in BOOK:
        assert position.ply == PLIES == 4
        assert position.side == "white"
        assert position.outcome is None
        assert Position.parse(position.text) == position


def test_no_two_boards_are_the_same_under_symmetry_and_colour_swap() -> None:
    boards = {min(views(position.board)) for position in BOOK}
    assert len(boards) == len(BOOK)
    assert len({openings.canonical_key(position) for position in BOOK}) == len(BOOK)


def test_the_key_of_an_opening_is_that_of_its_sixteen_views() -> None:
    assert len(views(BOOK[0].board)) == 16
    for position in BOOK[:6]:
        key = openings.canonical_key(position)
        for symmetry in range(8):
            for swap_colours in (False, True):
                view = position.transform(symmetry, swap_colours)
                assert view.board in views(position.board)
                assert openings.canonical_key(view) == key
        assert openings.canonical_key(position.play(position.legal_actions[0])) != key


@pytest.mark.compiled_only
def test_all_are_balanced() -> None:
    for depth in DEPTHS:
        for position in BOOK[:: 10 if depth == max(DEPTHS) else 2]:
            assert abs(AlphaBeta(depth).search(position).value) <= BALANCE, position


def test_candidates_are_random_play_from_the_start() -> None:
    rng = np.array(SEED, np.int64)
    expected: list[Position] = []
    boards: set[tuple[str, ...]] = set()
    while len(expected) < 40:
        position = random_openings(rng)
        if min(views(position.board)) not in boards:
            boards.add(min(views(position.board)))
            expected.append(position)
    assert list(islice(openings.candidates(), 40)) == expected


@pytest.mark.compiled_only
def test_the_book_is_what_the_script_makes() -> None:
    assert tuple(islice(openings.generate(), 8)) == BOOK[:8]


@pytest.mark.compiled_only
def test_all_come_from_the_candidates_in_their_order() -> None:
    candidates = openings.candidates()
    tried = 0
    for position in BOOK:
        for candidate in candidates:
            tried += 1
            assert tried < 2000
            if candidate == position:
                break


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_only_the_published_file_is_a_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    lines = [position.text for position in BOOK]
    source = openings.resources.files("skift_env") / "data" / "openings-v1.txt"
    text = source.read_text("utf-8")
    assert [line for line in text.splitlines() if not line.startswith("#")] == lines
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "openings-v1.txt"
    monkeypatch.setattr(openings.resources, "files", lambda _: tmp_path)
    read = openings.load.__wrapped__  # not what is remembered
    file.write_text(text, "utf-8", newline=ends)
    assert read("openings-v1") == BOOK
    for changed in (
        text.replace(lines[7], lines[7].replace(" w ", " b ")),
        text.replace(lines[7] + "\n", ""),
        text + lines[7] + "\n",
        text.replace("# Made by", "# Made  by"),
    ):
        assert changed != text
        file.write_text(changed, "utf-8", newline=ends)
        with pytest.raises(OpeningsError, match=r"openings-v1\.txt has changed: its SHA-256 is"):
            read("openings-v1")


def test_unknown_books_are_named() -> None:
    with pytest.raises(OpeningsError, match="no openings 'openings-v9'; there are openings-v1"):
        openings.load("openings-v9")


@pytest.mark.compiled_only
def test_writing_a_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "SIZE", 3)
    file = tmp_path / "three.txt"
    openings.write(file)
    written = file.read_bytes().decode().splitlines()
    assert [line for line in written if not line.startswith("#")] == [p.text for p in BOOK[:3]]
    published = openings.resources.files("skift_env") / "data" / "openings-v1.txt"
    head = published.read_text("utf-8").splitlines()[:3]
    assert written[:3] == [head[0].replace("200", "3"), *head[1:]]
