"""How an episode starts and what its end is worth: shared by all environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from skift_env import rules
from skift_env._jit import kernel
from skift_env.notation import START_TEXT, parse_position
from skift_env.playouts import play_random
from skift_env.rules import BLACK_WINS, ONGOING, WHITE_WINS
from skift_env.types import Int64Array

DEFAULT_MAX_PLIES: Final = 300
MAX_OPENING_TRIES: Final = 1000


class OptionError(ValueError):
    """An argument or reset option that an environment does not take; the message names it."""


@kernel
def reward(result: int, side: int) -> int:
    """What an outcome is worth to a side: 1, -1, or 0 for a draw or an unfinished game."""
    if result == WHITE_WINS:
        return 1 - 2 * side
    if result == BLACK_WINS:
        return 2 * side - 1
    return 0


@kernel
def open_randomly(
    start: Int64Array, state: Int64Array, rng: Int64Array, plies: int, tries: int
) -> bool:
    """Set `state` to `start` and play random plies, anew until the game goes on after them.

    False if it did not within so many tries.
    """
    for _ in range(tries):
        state[:] = start
        play_random(state, rng, plies)
        if rules.outcome(state) == ONGOING:
            return True
    return False


def check_arguments(
    observation: str,
    kinds: Iterable[str],
    max_plies: int,
    render_mode: str | None,
    modes: Iterable[str],
) -> None:
    """Refuse arguments that no environment takes.

    Raises:
        OptionError: for an observation or render mode that is not among those of the environment,
            or a `max_plies` that is no positive integer.
    """
    if observation not in tuple(kinds):
        raise OptionError(f"observation must be one of {', '.join(kinds)}, not {observation!r}")
    if not is_count(max_plies) or max_plies == 0:
        raise OptionError(f"max_plies must be a positive integer, not {max_plies!r}")
    if render_mode not in (None, *modes):
        raise OptionError(f"render_mode must be None, {', '.join(modes)}, not {render_mode!r}")


class Opening(NamedTuple):
    """From where an episode starts: a position, and how many random plies are played first."""

    start: Int64Array
    random_plies: int

    def draw(self, rng: Int64Array) -> Int64Array:
        """A state row to play on from; `rng` draws the random plies, none of which ends the game.

        Raises:
            OptionError: if random plies ended the game too often.
        """
        state = self.start.copy()
        if not open_randomly(self.start, state, rng, self.random_plies, MAX_OPENING_TRIES):
            raise OptionError(
                f"option random_plies: {self.random_plies} random plies ended the game "
                f"{MAX_OPENING_TRIES} times in a row"
            )
        return state


@cache
def _start() -> Int64Array:
    """The usual start; not read at import, which would have to load the kernels."""
    return parse_position(START_TEXT)


def opening(options: Mapping[str, Any] | None, max_plies: int) -> Opening:
    """The opening that the options of a reset, `position` and `random_plies`, ask for.

    Raises:
        OptionError: for options that are no mapping, an unknown name, a value of a wrong type, a
            finished position, or an opening that leaves no ply to play before `max_plies`.
        PositionError: if the text of `position` is no position.
    """
    known = as_dict(options)
    known.pop("options", None)  # PettingZoo's api_test passes {"options": 1} to every environment
    text = known.pop("position", None)
    plies = known.pop("random_plies", 0)
    for name in known:
        raise OptionError(f"unknown reset option {name!r}; there are position and random_plies")
    if not is_count(plies):
        raise OptionError(f"option random_plies must be an integer >= 0, not {plies!r}")
    if text is not None and not isinstance(text, str):
        raise OptionError(f"option position must be a position's text, not {text!r}")
    start = _start() if text is None else parse_position(text)
    if rules.outcome(start) != ONGOING:
        raise OptionError(f"option position: the game is over in {text!r}")
    ply, random_plies = int(start[rules.PLY]), int(plies)
    if ply + random_plies >= max_plies:
        raise OptionError(
            f"option position or random_plies: {ply} plies and {random_plies} random ones leave "
            f"none to play before max_plies = {max_plies}"
        )
    return Opening(start, random_plies)


def as_dict(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a reset, copied.

    Raises:
        OptionError: if they are no mapping.
    """
    if not isinstance(options, Mapping | None):
        raise OptionError(f"reset options must be a dictionary, not {options!r}")
    return dict(options or {})


def is_count(value: Any) -> bool:
    """Whether a value is an integer, of Python or NumPy, and not negative."""
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return integer and int(value) >= 0
