"""Interpreted and compiled kernels give the same values, bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Prints a digest for each kind of value, so that a difference says where it is.
PROGRAM = """
import hashlib, json, random, sys
import numpy as np
from drawn import random_play, random_position
from skift_env import rng
from skift_env._jit import JIT_ENABLED
from skift_env.playouts import play_random
from skift_env.position import Position, perft

digests = {}
def add(name, value):
    value = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
    digests.setdefault(name, hashlib.sha256()).update(value)

words = rng.seed_words(np.random.default_rng(2026))
for bound in range(1, 300):
    add("random numbers", int(rng.below(words, bound)))
chance = random.Random(2026)
for game in range(16):
    first = random_position(chance) if game % 2 else Position.start()
    for position in random_play(first, 20, game % 4 < 2, chance):
        s = game % 8
        add("states", position.state)
        add("legal actions", position.legal_actions)
        add("masks", position.action_mask)
        for kind in ("planes", "tokens"):
            for side in ("white", "black"):
                add(kind, position.observation(kind, side))
        add("keys", position.key)
        add("symmetries", position.transform(s, game > 7).state)
        add("turned actions", [position.transform_action(a, s) for a in range(0, 405, 29)])
        add("refusals", [position.why_illegal(a) for a in range(game % 7, 405, 7)])
        add("words", [position.describe(a) for a in position.legal_actions[-3:]])
        add("outcomes", position.outcome)
    state = first.state
    add("random play", int(play_random(state, words, 12)))
    add("random play", state)
    add("random play", words)
add("perft", perft(Position.start(), 2))
print(json.dumps([JIT_ENABLED, {name: digest.hexdigest() for name, digest in digests.items()}]))
"""


def run(**environment: str) -> tuple[bool, dict[str, str]]:
    """Whether the kernels were compiled, and the digests."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    compiled, digests = json.loads(done.stdout)
    return compiled, digests


@pytest.mark.compiled_only
def test_interpreted_and_compiled_agree() -> None:
    interpreted, compiled = run(NUMBA_DISABLE_JIT="1"), run(NUMBA_DISABLE_JIT="0")
    assert interpreted[0] is False
    assert compiled[0] is True
    assert interpreted[1] == compiled[1]
