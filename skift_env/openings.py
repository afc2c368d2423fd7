"""Opening books: positions from which the games of a match start.

`openings-v1` holds 200 positions 4 plies deep, of uniformly random play. No two are the same
opening, that is, the same under the 8 symmetries and a swap of colours. All are balanced: searches
to depths 3 and 4 find no more than BALANCE for either side.

    python -m skift_env.openings openings-v1.txt

writes the book anew, the same to the last byte.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from skift_env.agents.alphabeta import AlphaBeta
from skift_env.playouts import play_random
from skift_env.position import Position
from skift_env.symmetry import NUM_SYMMETRIES

SHA256: Final = {
    "openings-v1": "fb8ce9db958f678ad6984b5b021d1be0a681e5344aa7475b13f8f46d36873449",
}
"""The books there are, with the hash of their files."""

SIZE: Final = 200
PLIES: Final = 4
BALANCE: Final = 50
"""The most that a search may find for either side: a quarter of a pawn (see `evaluate`)."""
DEPTHS: Final = (3, 4)
SEED: Final = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
"""Of the generator that draws the plies: the fractional part of pi."""


class OpeningsError(ValueError):
    """A book that there is not, or whose file is not the one that was published."""


@cache
def load(name: str = "openings-v1") -> tuple[Position, ...]:
    """The positions of a book, in its order.

    Raises:
        OpeningsError: if there is no such book, or its file has changed.
    """
    if name not in SHA256:
        raise OpeningsError(f"no openings {name!r}; there are {', '.join(SHA256)}")
    file = resources.files("skift_env") / "data" / f"{name}.txt"
    text = file.read_text("utf-8")  # with "\n" at the end of lines, whatever the file has
    found = hashlib.sha256(text.encode()).hexdigest()
    if found != SHA256[name]:
        raise OpeningsError(f"{file} has changed: its SHA-256 is {found}, not {SHA256[name]}")
    return tuple(Position.parse(line) for line in text.splitlines() if not line.startswith("#"))


def canonical_key(position: Position) -> int:
    """The same for all positions that are the same opening: the least `key` of the 16."""
    return min(
        position.transform(symmetry, swap_colours).key
        for symmetry in range(NUM_SYMMETRIES)
        for swap_colours in (False, True)
    )


def candidates() -> Iterator[Position]:
    """Random openings, no two the same, none of them over; endless."""
    rng = np.array(SEED, np.int64)
    seen: set[int] = set()
    while True:
        state = Position.start().state
        play_random(state, rng, PLIES)
        position = Position.from_state(state)
        key = canonical_key(position)
        if key not in seen and position.outcome is None:
            seen.add(key)
            yield position


def is_balanced(position: Position) -> bool:
    """Whether searches to all DEPTHS find no more than BALANCE for either side."""
    return all(abs(AlphaBeta(depth).search(position).value) <= BALANCE for depth in DEPTHS)


def generate() -> Iterator[Position]:
    """The openings of openings-v1, and on without end."""
    return filter(is_balanced, candidates())


def write(path: Path) -> None:
    """Write openings-v1; it takes a minute or so."""
    about = f"""\
# openings-v1: {SIZE} balanced positions {PLIES} plies deep, \
distinct under symmetry and colour swap.
# Random play, screened by alphabeta-v1 at depths {" and ".join(map(str, DEPTHS))}: \
within {BALANCE} (a pawn is worth about 200).
# Made by: python -m skift_env.openings
"""
    lines = "".join(position.text + "\n" for position in islice(generate(), SIZE))
    path.write_text(about + lines, "utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
