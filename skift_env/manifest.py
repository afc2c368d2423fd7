"""What results were made with: rules, code, packages and machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import numpy as np

from skift_env import __version__, skift_v0
from skift_env.position import Position, perft
from skift_env.rng import RNG_SIZE, below
from skift_env.rules import FIRST_TILE_MOVE

RULESET: Final = "Skift 2025"
"""The edition of the rulebook."""

PACKAGES: Final = ("numpy", "numba", "llvmlite", "torch")
"""Whose versions can change what an agent plays."""

DIGEST_GAMES: Final = 24
MUST_AGREE: Final = ("ruleset", "environment", "engine_hash")
"""What must be equal for games played there to be games here."""


def manifest() -> dict[str, Any]:
    """What there is here and now, for a results file: see `skift_env.results`."""
    return {
        "ruleset": RULESET,
        "environment": str(skift_v0.raw_env.metadata["name"]),
        "engine_hash": engine_hash(),
        "skift_env": __version__,
        "commit": commit(),
        "packages": _versions(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpu_count": os.cpu_count(),
    }


@cache
def engine_hash() -> str:
    """Hash of what the rules do: equal wherever they do the same, 64 hexadecimal digits.

    It covers perft 1 and 2 from the start, and of some seeded games, half of their plies tile
    moves where there are any, every position with the numbers and texts of its legal actions.
    """
    digest = hashlib.sha256()
    digest.update(f"{[perft(Position.start(), depth) for depth in (1, 2)]}\n".encode())
    rng = np.arange(1, RNG_SIZE + 1, dtype=np.int64)
    for _ in range(DIGEST_GAMES):
        position = Position.start()
        while position.ply < 100 and position.outcome is None:
            actions = position.legal_actions
            texts = " ".join(map(position.action_text, actions))
            digest.update(f"{position.text} {actions} {texts}\n".encode())
            tile_moves = [action for action in actions if action >= FIRST_TILE_MOVE]
            chosen = tile_moves if tile_moves and below(rng, 2) else actions
            position = position.play(chosen[below(rng, len(chosen))])
        digest.update(f"{position.text} {position.outcome}\n".encode())
    return digest.hexdigest()


def commit() -> str | None:
    """The git commit of the package, with "-dirty" if files were changed since.

    None if the package does not belong to a repository, or git is missing.
    """
    package = Path(__file__).parent
    try:
        for arguments in (
            ["ls-files", "--error-unmatch", "__init__.py"],
            ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        ):
            done = subprocess.run(
                ["git", "-C", str(package), *arguments],
                capture_output=True,
                text=True,
                timeout=10,
                check=True,
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
