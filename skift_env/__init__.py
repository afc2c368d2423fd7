"""Skift, an abstract board game for two, as a reinforcement-learning environment.

Importing it registers `skift/Skift-v0` with Gymnasium, and `skift/skift-v0` with PettingZoo where
that has a registry.
"""

import gymnasium

from skift_env import actions, skift_v0
from skift_env.actions import PieceMove, TileMove, TileRotation
from skift_env.position import (
    Effect,
    IllegalActionError,
    Mark,
    NotationError,
    Outcome,
    Position,
    PositionError,
    perft,
)
from skift_env.rules import NUM_ACTIONS
from skift_env.vector_env import SkiftVectorEnv

__version__ = "0.1.0"

__all__ = [
    "NUM_ACTIONS",
    "Effect",
    "IllegalActionError",
    "Mark",
    "NotationError",
    "Outcome",
    "PieceMove",
    "Position",
    "PositionError",
    "SkiftVectorEnv",
    "TileMove",
    "TileRotation",
    "__version__",
    "actions",
    "perft",
    "skift_v0",
]

gymnasium.register(
    "skift/Skift-v0",
    entry_point="skift_env.gymnasium_env:SkiftEnv",
    vector_entry_point="skift_env.vector_env:SkiftVectorEnv",
    kwargs={"opponent": "random"},
)

try:
    from pettingzoo import register
except ImportError:  # PettingZoo before 1.27 has no registry
    pass
else:
    register("aec", "skift/skift-v0", "skift_env.skift_v0:env")
