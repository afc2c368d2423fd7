"""The engine agrees with the slow reference at every ply of random games, and on which texts are
positions. The games are new in every run; a failure shows the seed, and SKIFT_SEED repeats it.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator

import numpy as np
import pytest
from drawn import choose, random_play, random_position
from reference import ReferenceGame, fault
from vectors import edges

from skift_env.position import Position, PositionError

SEED = int(os.environ.get("SKIFT_SEED") or secrets.randbits(32))
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
PLIES = 600 if INTERPRETED else 2000
TEXTS = 1500 if INTERPRETED else 4000


def differences(game: ReferenceGame, position: Position, look: bool) -> dict[str, tuple]:
    """What the reference and the engine say differently, by name; observations only if `look`."""
    outcome = position.outcome
    texts = {number: position.action_text(number) for number in position.legal_actions}
    pairs = {
        "text": (game.text, position.text),
        "legal": (game.legal(), texts),
        "order": (list(game.legal()), list(position.legal_actions)),
        "mask": (list(game.legal()), np.flatnonzero(position.action_mask).tolist()),
        "result": (game.result, outcome and (outcome.winner or "draw")),
    }
    for kind in ("planes", "tokens") if look else ():
        for side in ("white", "black"):
            ones = set(map(tuple, np.argwhere(position.observation(kind, side)).tolist()))
            pairs[f"{kind} of {side}"] = (game.observation(kind, side), ones)
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.parametrize("start", ["start", "random"])
@pytest.mark.parametrize("tile_heavy", [False, True], ids=["uniform", "tile_heavy"])
def test_games(start: str, tile_heavy: bool) -> None:
    rng = random.Random(f"{SEED} {start} {tile_heavy}")
    left = PLIES
    while left > 0:
        position = Position.start() if start == "start" else random_position(rng)
        game = ReferenceGame.from_text(position.text)
        for _ in range(min(left, 300)):
            left -= 1
            look = rng.random() < 0.05
            found = differences(game, position, look)
            assert not found, f"SKIFT_SEED={SEED}: {position!r}: {found}"
            if not game.legal():
                break
            action = choose(game.legal(), tile_heavy, rng)
            game, position = game.play(action), position.play(action)


def test_every_action_of_rare_positions() -> None:
    rng = random.Random(f"{SEED} edges")
    for edge in rng.sample(edges(), 5 if INTERPRETED else 25):
        game, position = ReferenceGame.from_text(edge["position"]), Position.parse(edge["position"])
        for action in game.legal():
            found = differences(game.play(action), position.play(action), look=False)
            assert not found, f"SKIFT_SEED={SEED}: {position!r}, {action}: {found}"


# --- Which texts are positions -----------------------------------------------------------------


def seen_positions(rng: random.Random) -> Iterator[Position]:
    """Positions of random games without end, with and without a mark."""
    while True:
        first = rng.choice([Position.start(), random_position(rng)])
        yield from random_play(first, 40, rng.random() < 0.5, rng)


def spoilt_board(board: str, rng: random.Random) -> str:
    """A board with a letter changed, added or left out, or with rows or columns to spare."""
    place = rng.randrange(len(board))
    letter = rng.choice("KPkp..__/Qx ")
    rows = board.split("/")
    width = len(rows[0])
    return rng.choice(
        [
            board[:place] + letter + board[place + 1 :],
            board[:place] + letter + board[place:],
            board[:place] + board[place + 1 :],
            "/".join(rows[:-2]),
            "/".join([*rows, "_" * width, "_" * width]),
            "/".join(["." * width, "." * width, *rows]),
            "/".join(["__" + row for row in rows]),
            "/".join([row + ".." for row in rows]),
            "/".join(rows[::-1]),
        ]
    )


def spoilt_mark(mark: str, rng: random.Random) -> str:
    """Another mark, much like the one given."""
    form, _, rest = mark.partition(":")
    direction, _, names = rest.partition(":")
    names = names.split(",")
    directions = ["n", "ne", "e", "se", "s", "sw", "w", "nw"]
    how = rng.randrange(7)
    if how == 0:
        form = rng.choice("ptx")
    elif how == 1:
        direction = rng.choice([*directions, "N", "", "x"])
    elif how == 2:
        rng.shuffle(names)
    elif how == 3:
        names = names[rng.randrange(2) :][: rng.randrange(1, 4)]
    elif how == 4:
        names.append(rng.choice(names))
    elif how == 5:
        names[rng.randrange(len(names))] = (
            rng.choice(["abcdef", "ABCDEF"][rng.random() < 0.3]) + str(rng.randrange(12))
            if form == "p"
            else rng.choice("ABCDa") + str(rng.randrange(6))
        )
    else:
        return rng.choice(["-", "", "--", ":", mark + ":", mark + ",", mark.upper()])
    return f"{form}:{direction}:{','.join(names)}"


def made_up_mark(position: Position, rng: random.Random) -> str:
    """A mark that nothing need have left: one to three places in a line."""
    form = rng.choice("pt")
    board = position.board
    height, width = len(board), len(board[0])
    names = []
    if form == "t":
        height, width = height // 2, width // 2
    row, column = rng.randrange(height), rng.randrange(width)
    down, right = rng.choice([(0, 1), (1, 0), (1, 1), (1, -1)])
    for step in range(rng.randrange(1, 4)):
        letter = "abcdefghijklmnopqr" if form == "p" else "ABCDEFGHI"
        if 0 <= row + step * down < height and 0 <= column + step * right < width:
            names.append(f"{letter[column + step * right]}{height - row - step * down}")
    direction = rng.choice(["n", "ne", "e", "se", "s", "sw", "w", "nw"])
    return f"{form}:{direction}:{','.join(names)}"


def spoilt(position: Position, rng: random.Random) -> tuple[str, str]:
    """A changed text of a position, and the field that was changed."""
    board, side, mark, ply = position.text.split(" ")
    field = rng.choice(["fields", "board", "side", "mark", "mark", "mark", "ply"])
    if field == "fields":
        place = rng.randrange(len(position.text))
        space = rng.choice([" ", "", "\t", "\n", "\u00a0"])
        return position.text[:place] + space + position.text[place + rng.randrange(2) :], field
    if field == "board":
        board = spoilt_board(board, rng)
    elif field == "side":
        side = rng.choice(["w", "b", "W", "x", "white", "wb"])
    elif field == "mark":
        made_up = mark == "-" or rng.random() < 0.3
        mark = made_up_mark(position, rng) if made_up else spoilt_mark(mark, rng)
    else:
        ply = rng.choice(["0", "1", "7", "007", "-1", "+1", "1.0", "", "x", "1e3", "٣", "1_0"])
    return f"{board} {side} {mark} {ply}", field


def refused_field(text: str) -> str | None:
    """The field for which a text is refused, or None; a position must give the text back."""
    try:
        position = Position.parse(text)
    except PositionError as error:
        return error.field
    assert position.text == text
    return None


def test_which_texts_are_positions() -> None:
    rng = random.Random(f"{SEED} texts")
    positions = seen_positions(rng)
    refused = 0
    for _ in range(TEXTS):
        text, changed = spoilt(next(positions), rng)
        field, expected = refused_field(text), fault(text)
        where = f"SKIFT_SEED={SEED}: {text!r}, changed in {changed}"
        assert (field is None) == (expected is None), f"{where}: {field}, not {expected}"
        if changed != "fields":  # a blank more or less may spoil several fields at once
            assert field == expected, where
        refused += field is not None
    assert TEXTS // 5 < refused < TEXTS
