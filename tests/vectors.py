"""The test vectors in `data/`: games, positions and counts made by two implementations that
share no code with this project or with each other.

A game is a list of plies, each a dict with `position` (text) and `legal` (all legal action
numbers, ascending), on all but the last also `action` and `move` (the number and the text of what
was played); the last ply has `result` instead.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
GAME_SETS = ("uniform", "tile_heavy")


@cache
def games(name: str) -> list[list[dict[str, Any]]]:
    """The games of one of `GAME_SETS`: uniformly random play, or mostly tile moves."""
    packed = (DATA / f"games_{name}.jsonl.gz").read_bytes()
    return [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()]


@cache
def edges() -> list[dict[str, Any]]:
    """Rare positions, some with a `note` that says what is rare about them, and random ones.

    `outcome` is None, "white", "black" or "draw"; `actions` maps the text of every legal action
    to its number and the position it leads to; `planes` and `tokens` give, for each side, the
    indices that are 1 (planes 0 to 19 only: the last one depends on nothing but the side to move).
    """
    return [json.loads(line) for line in (DATA / "edges.jsonl").read_text("utf-8").splitlines()]


@cache
def perft_cases() -> list[tuple[str, list[int]]]:
    """Positions, each with the number of action sequences of length 1, 2 and 3."""
    cases = json.loads((DATA / "perft.json").read_text("utf-8"))
    return [(case["position"], case["perft"]) for case in cases]


@cache
def bad_positions() -> list[tuple[str, str]]:
    """Texts that are no position, each with the name of the field at fault."""
    cases = json.loads((DATA / "bad_positions.json").read_text("utf-8"))
    return [(case["text"], case["field"]) for case in cases]
