"""What each version of an agent plays in some positions: tests/data/agent_moves.json.

After the registration of a new version, `python tests/frozen_play.py alphabeta-v2:depth=3 …` adds
the moves of full specifications. Those that are there already it leaves as they are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from skift_env import agents
from skift_env.position import Position

FILE = Path(__file__).parent / "data" / "agent_moves.json"


def load() -> tuple[list[Position], dict[str, list[str]]]:
    """The positions, and by specification the moves in them."""
    content = json.loads(FILE.read_text("utf-8"))
    return list(map(Position.parse, content["positions"])), content["moves"]


def moves(spec: str, positions: list[Position]) -> list[str]:
    """What an agent plays, in the i-th position with a generator of seed i."""
    agent = agents.make(spec)
    return [
        position.action_text(agent.act(position, np.random.default_rng(seed)))
        for seed, position in enumerate(positions)
    ]


def add(*specs: str) -> None:
    """Write the moves of agents that are not in the file."""
    positions, known = load()
    for spec in specs:
        if agents.make(spec).name != spec:
            raise SystemExit(f"{spec!r} is short for {agents.make(spec).name!r}: give that")
        if spec in known:
            raise SystemExit(f"{spec!r} is frozen: play that differs is a new version")
        known[spec] = moves(spec, positions)
    content = {"positions": [position.text for position in positions], "moves": known}
    FILE.write_text(json.dumps(content, indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    add(*sys.argv[1:])
