"""What an agent thinks of a position, as arrows and highlights for `skift_env.drawing.scene`.

>>> import numpy as np
>>> from skift_env import svg
>>> position = Position.start()
>>> policy = np.zeros(405)
>>> policy[[position.parse_action("d3se"), position.parse_action("A3r")]] = 0.6, 0.3
>>> policy_arrows(position, policy)
[('A3', 'r', 0.5, '33%'), ('d3', 'se', 1.0, '67%')]
>>> picture = svg.board(position, arrows=policy_arrows(position, policy), value=0.25)
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skift_env.actions import PieceMove, TileMove, decode, direction_name
from skift_env.drawing import Arrow
from skift_env.position import Position
from skift_env.rules import NUM_ACTIONS


class _Way(NamedTuple):
    """Where an arrow starts and leads; the choices of a splintering tile move share one."""

    origin: str
    target: str

    @classmethod
    def of(cls, position: Position, action: int) -> _Way:
        decoded, text = decode(action), position.action_text(action)
        if isinstance(decoded, PieceMove | TileMove):
            target = direction_name(decoded)
            return cls(text.partition("=")[0].removesuffix(target), target)
        return cls(text[:-1], "r")


def policy_arrows(position: Position, policy: ArrayLike, *, top: int | None = 5) -> list[Arrow]:
    """Arrows for the likeliest actions, the likeliest last so that it lies on top of the others.

    Width goes by probability relative to the likeliest, the label tells the probability. Actions
    that differ only in the group that stays share an arrow, whose label names the likeliest choice
    (`40% =1`) unless that is 0.

    Args:
        position: the position that the policy is for.
        policy: (405,) probabilities, visit counts or other weights, at least 0; those of illegal
            actions are left out, the others are made to sum up to 1.
        top: how many arrows at most; None for all that are not zero.

    Raises:
        ValueError: for a wrong shape, or a negative or infinite weight or NaN.
    """
    shares = _shares(position, policy)
    ways: dict[_Way, list[int]] = defaultdict(list)
    for action in np.flatnonzero(shares).tolist():
        ways[_Way.of(position, action)].append(action)
    sums = {way: float(shares[actions].sum()) for way, actions in ways.items()}
    arrows: list[Arrow] = []
    for way in sorted(sums, key=lambda way: -sums[way])[:top]:
        label = f"{sums[way]:.0%}"
        _, choice, number = position.action_text(
            max(ways[way], key=lambda action: float(shares[action]))
        ).partition("=")
        if choice:
            label += f" ={number}"
        arrows.append((*way, sums[way] / max(sums.values()), label))
    return arrows[::-1]


def policy_heat(position: Position, policy: ArrayLike) -> dict[str, float]:
    """Highlights: how likely the piece on a square steps, or a tile is moved or turned.

    Weights are relative to the likeliest. Arguments and errors are those of `policy_arrows`.
    """
    shares = _shares(position, policy)
    heat: dict[str, float] = defaultdict(float)
    for action in np.flatnonzero(shares).tolist():
        heat[_Way.of(position, action).origin] += float(shares[action])
    return {place: share / max(heat.values()) for place, share in heat.items()}


def value_arrows(position: Position, values: ArrayLike, *, top: int | None = 5) -> list[Arrow]:
    """Arrows for the best actions, the best last; width goes by value, which is also the label.

    Args:
        position: the position in which the actions are played.
        values: (405,) of each action for the side to move, -1 … 1; NaN where it is not known.
            Those of illegal actions are left out. Of actions that differ only in the group that
            stays, the best counts.
        top: how many arrows at most; None for all that are known.

    Raises:
        ValueError: for a wrong shape or a value outside -1 … 1.
    """
    array = _array(values)
    legal = [action for action in position.legal_actions if not np.isnan(array[action])]
    best: dict[_Way, float] = {}
    for action in legal:
        value = float(array[action])
        if not -1 <= value <= 1:
            raise ValueError(f"value {value!r} of {position.action_text(action)} is not in -1 … 1")
        way = _Way.of(position, action)
        best[way] = max(value, best.get(way, -1.0))
    ranked = sorted(best.items(), key=lambda item: -item[1])[:top]
    return [(*way, (1 + value) / 2, f"{value:+.2f}") for way, value in reversed(ranked)]


def _array(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values, np.float64)
    if array.shape != (NUM_ACTIONS,):
        raise ValueError(f"expected one number for each action, ({NUM_ACTIONS},): {array.shape}")
    return array


def _shares(position: Position, policy: ArrayLike) -> NDArray[Any]:
    """A policy on the legal actions alone, with sum 1 (or 0 if it has none of them)."""
    weights = np.where(position.action_mask, _array(policy), 0.0)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        worst = int(np.argmin(np.where(np.isfinite(weights), weights, -np.inf)))
        raise ValueError(f"weight {weights[worst]} of {position.action_text(worst)} is no share")
    total = weights.sum()
    return weights / total if total > 0 else weights
