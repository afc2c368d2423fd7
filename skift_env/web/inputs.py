"""What a request may ask for, checked: hostile input ends here, with an error that says why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from skift_env.position import NotationError, Position, PositionError
from skift_env.trace import LastAction

MOST_BYTES: Final = 64 * 1024
"""Of a request's body."""
MOST_MOVES: Final = 2000
LONGEST_POSITION: Final = 1000  # characters; the longest real one has about 400
LONGEST_NAME: Final = 100
LONGEST_MOVE: Final = 8
MOST_SEED: Final = 2**32 - 1


class RefusedError(Exception):
    """A request that gets an error: the HTTP status and what is wrong, for a person to read."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Line:
    """A game so far: its positions, one more than the actions that lead from each to the next."""

    positions: tuple[Position, ...]
    actions: tuple[int, ...]

    @property
    def position(self) -> Position:
        """The present position."""
        return self.positions[-1]

    @property
    def last_action(self) -> LastAction | None:
        """The position before the last action, and the action."""
        return (self.positions[-2], self.actions[-1]) if self.actions else None


class Request:
    """The members of a request's JSON object, read with a check each."""

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    @classmethod
    def parse(cls, body: bytes) -> Request:
        """The request in a body.

        Raises:
            RefusedError: if it is no JSON object.
        """
        try:
            members = json.loads(body, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"the body is not JSON: {error}") from None
        if not isinstance(members, dict):
            raise RefusedError(400, "the body is not a JSON object")
        return cls(members)

    def text(self, name: str, longest: int, default: str | None = None) -> str:
        """A member that is text, of at most so many characters."""
        value = self._members.get(name, default)
        if not isinstance(value, str):
            raise RefusedError(422, f"{name}: expected text")
        if len(value) > longest:
            raise RefusedError(422, f"{name}: more than {longest} characters")
        return value

    def flag(self, name: str) -> bool:
        """A member that is true or false; false where it is missing."""
        value = self._members.get(name, False)
        if not isinstance(value, bool):
            raise RefusedError(422, f"{name}: expected true or false")
        return value

    def seed(self) -> int:
        """The seed of the agent's choices, 0 … 2³² − 1; 0 where it is missing."""
        value = self._members.get("seed", 0)
        if type(value) is not int or not 0 <= value <= MOST_SEED:
            raise RefusedError(422, f"seed: expected a whole number from 0 to {MOST_SEED}")
        return value

    def line(self) -> Line:
        """The game so far: `moves` in notation, from the position `start` or the rulebook's.

        Raises:
            RefusedError: for a malformed position and for a malformed or illegal move.
        """
        position = Position.start()
        if self._members.get("start") is not None:
            text = self.text("start", LONGEST_POSITION)
            try:
                position = Position.parse(text)
            except PositionError as error:
                raise RefusedError(422, f"start: {error}") from None
        moves = self._members.get("moves", [])
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise RefusedError(422, "moves: expected a list of texts")
        if len(moves) > MOST_MOVES:
            raise RefusedError(422, f"moves: more than {MOST_MOVES}")
        positions, actions = [position], []
        for number, move in enumerate(moves, 1):
            action, why = judge(position, move)
            if why is not None:
                raise RefusedError(422, f"moves: number {number}, {_short(move)}: {why}")
            actions.append(action)
            position = position.play(action)
            positions.append(position)
        return Line(tuple(positions), tuple(actions))


def judge(position: Position, move: str) -> tuple[int, str | None]:
    """The number of a move in notation, -1 if it has none, and why it cannot be played, if so."""
    if len(move) > LONGEST_MOVE:
        return -1, "no action has so long a name"
    try:
        action = position.parse_action(move)
    except NotationError as error:
        # the position, which the message ends with, is on the board
        return -1, str(error).removesuffix(f" in {position.text!r}")
    return action, position.why_illegal(action)


def _short(text: str) -> str:
    return repr(text if len(text) <= LONGEST_MOVE else text[:LONGEST_MOVE] + "…")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
