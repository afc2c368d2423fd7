"""The slow reference agrees with every vector.

By default a sample, to keep the suite fast; with SKIFT_ALL_VECTORS set in the environment, all of
them, which takes some minutes.
"""

from __future__ import annotations

import os

import pytest
from reference import START, ReferenceGame, fault
from vectors import GAME_SETS, bad_positions, edges, games, perft_cases

ALL = "SKIFT_ALL_VECTORS" in os.environ


def perft(game: ReferenceGame, depth: int) -> int:
    """The number of action sequences of a length."""
    if depth == 1:
        return len(game.legal())
    return sum(perft(game.play(number), depth - 1) for number in game.legal())


def edge_id(edge: dict[str, object]) -> str:
    return str(edge.get("note", edge["position"]))


@pytest.mark.parametrize("name", GAME_SETS)
def test_games(name: str) -> None:
    for plies in games(name)[:: 1 if ALL else 10]:
        played = ReferenceGame.start()
        for ply in plies:
            read = ReferenceGame.from_text(ply["position"])
            for game in (played, read):  # what it remembers, and what the mark tells
                assert game.text == ply["position"]
                assert list(game.legal()) == ply["legal"], ply["position"]
                assert game.result == ply.get("result"), ply["position"]
            if "action" in ply:
                assert played.legal()[ply["action"]] == ply["move"], ply["position"]
                played = played.play(ply["action"])
        assert "result" in plies[-1]


@pytest.mark.parametrize("edge", edges(), ids=edge_id)
def test_edges_actions(edge: dict) -> None:
    game = ReferenceGame.from_text(edge["position"])
    found = {text: [number, game.play(number).text] for number, text in game.legal().items()}
    assert found == edge["actions"]
    assert game.result == edge["outcome"]


@pytest.mark.parametrize("edge", edges(), ids=edge_id)
@pytest.mark.parametrize("side", ["white", "black"])
def test_edges_observations(edge: dict, side: str) -> None:
    game = ReferenceGame.from_text(edge["position"])
    planes = game.observation("planes", side)
    last = {index for index in planes if index[0] == 20}
    assert planes - last == {tuple(index) for index in edge["planes"][side]}
    assert len(last) == (18 * 18 if side == game.side else 0)
    assert game.observation("tokens", side) == {tuple(index) for index in edge["tokens"][side]}


@pytest.mark.parametrize(
    ("text", "counts"), [(START, [74, 5460, 407732]), *perft_cases()][:: 1 if ALL else 6]
)
def test_perft(text: str, counts: list[int]) -> None:
    game = ReferenceGame.from_text(text)
    for depth, count in enumerate(counts if ALL else counts[:2], start=1):
        assert perft(game, depth) == count


@pytest.mark.parametrize(("text", "field"), bad_positions())
def test_bad_positions(text: str, field: str) -> None:
    assert fault(text) == field


def test_good_positions() -> None:
    texts = [START] + [edge["position"] for edge in edges()]
    for edge in edges() if ALL else edges()[::4]:
        texts += [text for _, text in edge["actions"].values()]
    for text in texts:
        assert fault(text) is None, text
        assert ReferenceGame.from_text(text).text == text
