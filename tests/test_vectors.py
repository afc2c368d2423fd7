"""The engine agrees with positions and games of independent implementations."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
import vectors

from skift_env.position import Position, PositionError, perft

ALL = bool(os.environ.get("SKIFT_ALL_VECTORS")) or os.environ.get("NUMBA_DISABLE_JIT") != "1"
SOME = slice(None) if ALL else slice(None, None, 20)


@pytest.mark.parametrize("name", vectors.GAME_SETS)
def test_games(name: str) -> None:
    for game in vectors.games(name)[SOME]:
        for row, after in pairwise(game):
            position = Position.parse(row["position"])
            assert position.text == row["position"]
            assert list(position.legal_actions) == row["legal"], position
            assert np.flatnonzero(position.action_mask).tolist() == row["legal"], position
            assert position.action_text(row["action"]) == row["move"]
            assert position.parse_action(row["move"]) == row["action"]
            assert position.play(row["action"]) == Position.parse(after["position"])
        last = Position.parse(game[-1]["position"])
        assert last.legal_actions == ()
        assert last.outcome is not None
        assert (last.outcome.winner or "draw") == game[-1]["result"]


@pytest.mark.parametrize("edge", vectors.edges()[SOME], ids=lambda edge: edge["position"])
def test_edges(edge: dict) -> None:
    position = Position.parse(edge["position"])
    outcome = position.outcome
    assert (outcome and (outcome.winner or "draw")) == edge["outcome"]
    assert sorted(number for number, _ in edge["actions"].values()) == list(position.legal_actions)
    for text, (number, after) in edge["actions"].items():
        assert position.action_text(number) == text
        assert position.parse_action(text) == number
        assert position.play(number).text == after
    for side in ("white", "black"):
        planes = position.observation("planes", side)
        assert np.argwhere(planes[:20]).tolist() == sorted(edge["planes"][side])
        assert (planes[20] == (position.side == side)).all()
        tokens = position.observation("tokens", side)
        assert np.argwhere(tokens).tolist() == sorted(edge["tokens"][side])


@pytest.mark.parametrize(("text", "field"), vectors.bad_positions())
def test_bad_positions(text: str, field: str) -> None:
    with pytest.raises(PositionError, match=f"^{field}: ") as caught:
        Position.parse(text)
    assert caught.value.field == field


@pytest.mark.parametrize(("text", "counts"), vectors.perft_cases()[SOME])
def test_perft(text: str, counts: list[int]) -> None:
    depths = (1, 2, 3) if ALL else (1,)
    assert [perft(Position.parse(text), depth) for depth in depths] == counts[: len(depths)]


@pytest.mark.compiled_only
def test_perft_from_the_start() -> None:
    counts = [perft(Position.start(), depth) for depth in range(5)]
    assert counts == [1, 74, 5460, 407732, 30511112]
