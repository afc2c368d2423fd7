"""`Position`: the game as an immutable, checked, printable value."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from skift_env import notation, rules
from skift_env.actions import Action, PieceMove, TileMove, decode, direction_name, encode
from skift_env.hashing import position_key
from skift_env.notation import NotationError, Place, PositionError
from skift_env.observation import SHAPES, write_planes, write_tokens
from skift_env.rules import NUM_ACTIONS
from skift_env.symmetry import NUM_SYMMETRIES, action_images, transform_state
from skift_env.types import Int8Array, Int64Array, ObservationKind, Side

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Effect",
    "IllegalActionError",
    "Mark",
    "NotationError",
    "Outcome",
    "Position",
    "PositionError",
    "perft",
]

SIDES: Final[tuple[Side, Side]] = ("white", "black")


class IllegalActionError(ValueError):
    """An action that the rules forbid; the message names it, the position and the rule."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winner, None for a draw, and who ran out of what."""

    winner: Side | None
    reason: str


@dataclass(frozen=True)
class Mark:
    """What the no-undo rule remembers: the last action's direction and what it displaced.

    `kind` is "p" after a piece move, with `squares`, or "t" after a tile move, with `tiles`: rows
    and columns of quadrants or tiles from the top left, in reading order.
    """

    kind: Literal["p", "t"]
    direction: str
    squares: tuple[Place, ...] = ()
    tiles: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Effect:
    """What an action does, in places of the position before it.

    Attributes:
        kind: "piece", "tile" or "rotation".
        direction: "n", "ne", …; None for a rotation.
        tile: the tile moved or turned; None for a piece move.
        displaced: (from, to) of the chosen piece and those it pushes (quadrants), or of the chosen
            tile and those it pushes (tiles), the chosen one first; of a rotation the tile alone.
            A place "to" may be off the board.
        lost_pieces: letter and place of each piece that leaves the game.
        lost_tiles: the tiles that leave the game.
        offset: what to add to a tile's row and column to get those in the position after.
    """

    kind: Literal["piece", "tile", "rotation"]
    direction: str | None
    tile: Place | None
    displaced: tuple[tuple[Place, Place], ...]
    lost_pieces: tuple[tuple[str, Place], ...]
    lost_tiles: tuple[Place, ...]
    offset: tuple[int, int]


class Position:
    """A position of Skift: board, side to move, no-undo mark and plies played. Immutable.

    Positions compare and hash by value, pickle and copy.

    >>> position = Position.start()
    >>> len(position.legal_actions)
    74
    >>> position = position.play(position.parse_action("d3s"))
    >>> position.text
    '....../.PpPp./.pKkP./.Pk.p./.pPKP./...p.. b p:s:d2,d1 1'
    """

    __slots__ = ("__dict__", "_state")
    _state: Int64Array

    def __init__(self) -> None:
        raise TypeError("use Position.start() or Position.parse(text)")

    # --- Making one ---

    @classmethod
    def from_state(cls, state: Int64Array) -> Self:
        """The position of a state row, (STATE_SIZE,) int64, which is copied and trusted."""
        position = object.__new__(cls)
        position._state = state.copy()
        return position

    @classmethod
    def start(cls) -> Self:
        """The start position of the rulebook."""
        return cls.parse(notation.START_TEXT)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The position that a text describes.

        Raises:
            PositionError: a ValueError; its `field` is fields, board, side, mark or ply.
        """
        return cls.from_state(notation.parse_position(text))

    # --- What it is ---

    @property
    def state(self) -> Int64Array:
        """A copy of the state row, (STATE_SIZE,) int64: see `skift_env.rules`."""
        return self._state.copy()

    @cached_property
    def text(self) -> str:
        """The position as text: board, side to move, no-undo mark, plies."""
        return notation.format_position(self._state)

    @property
    def side(self) -> Side:
        """The side to move."""
        return SIDES[self._state[rules.SIDE]]

    @property
    def ply(self) -> int:
        """Plies played."""
        return int(self._state[rules.PLY])

    @property
    def board(self) -> tuple[str, ...]:
        """Quadrant rows from the top: `K P k p`, `.` an empty quadrant, `_` no tile."""
        return notation.board_rows(self._state)

    @property
    def mark(self) -> Mark | None:
        """What the no-undo rule remembers of the last action."""
        if self._state[rules.MARK] == rules.NO_MARK:
            return None
        direction = rules.DIRECTIONS[self._state[rules.MARK_DIRECTION]]
        places = tuple(notation.marked_places(self._state))
        if self._state[rules.MARK] == rules.PIECE_MARK:
            return Mark("p", direction, squares=places)
        return Mark("t", direction, tiles=places)

    @property
    def control(self) -> dict[Place, Side]:
        """The controlled tiles, by row and column, with the side that controls each."""
        held = [int(rules.controlled(self._state, side)) for side in range(2)]
        return {
            place: SIDES[side]
            for slot, place in enumerate(notation.tile_places(self._state))
            for side in range(2)
            if held[side] >> 4 * slot & 1
        }

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        result = rules.outcome(self._state)
        if result == rules.ONGOING:
            return None
        missing = []
        for side, name in enumerate(SIDES):
            kings, pawns = self._state[rules.PIECES + 2 * side : rules.PIECES + 2 * side + 2]
            if not kings or not pawns:
                what = "king" if pawns else "pawn" if kings else "piece"
                missing.append(f"{name} has no {what} left")
        winner: Side | None = None
        if result != rules.DRAW:
            winner = "white" if result == rules.WHITE_WINS else "black"
        if len(missing) == 2:
            missing.append(f"{winner} has more pieces" if winner else "equal pieces")
        return Outcome(winner, ", ".join(missing))

    @property
    def key(self) -> int:
        """A 64-bit hash of board, side and no-undo mark, without the plies; the same anywhere."""
        return int(position_key(self._state)) % 2**64

    # --- Actions ---

    @cached_property
    def legal_actions(self) -> tuple[int, ...]:
        """The numbers of the legal actions, ascending; empty when the game is over."""
        actions = np.empty(NUM_ACTIONS, np.int64)
        count = rules.legal_actions(self._state, actions)
        return tuple(actions[:count].tolist())

    @property
    def action_mask(self) -> Int8Array:
        """(405,) int8: 1 for each legal action."""
        mask = np.empty(NUM_ACTIONS, np.int8)
        rules.legal_mask(self._state, mask)
        return mask

    def play(self, action: int) -> Self:
        """The position after an action.

        Raises:
            IllegalActionError: naming the action, the position and the rule that forbids it.
        """
        number = checked_action(self._state, action)
        position = self.from_state(self._state)
        rules.play_unchecked(position._state, number)
        return position

    def _name(self, action: object) -> str:
        number = _as_number(action)
        if number is not None and self._has_tile(decode(number)):
            return f"{number} ({self.action_text(number)})"
        return repr(action)

    def _has_tile(self, action: Action) -> bool:
        return bool(action.slot < self._state[rules.NUM_TILES])

    def why_illegal(self, action: object) -> str | None:
        """The rule that forbids an action, in words; None if it is legal."""
        number = _as_number(action)
        if number is None:
            return f"action numbers are the integers 0 … {NUM_ACTIONS - 1}"
        if number in self.legal_actions:
            return None
        if self.outcome is not None:
            return f"the game is over: {self.outcome.reason}"
        state = self._state
        decoded = decode(number)
        if not self._has_tile(decoded):
            return f"there are only {state[rules.NUM_TILES]} tiles"
        if isinstance(decoded, PieceMove):
            square = 4 * decoded.slot + decoded.quadrant
            kind = rules.standing(state, square)
            if kind == rules.EMPTY:
                return "no piece stands there"
            if kind // 2 != state[rules.SIDE]:
                return f"{self.side} is to move, and the piece is not {self.side}'s"
            return "no undo: it would put a piece back where the last action took it from"
        if not int(rules.controlled(state, state[rules.SIDE])) >> 4 * decoded.slot & 1:
            return f"{self.side} does not control the tile"
        if int(state[rules.LANDLOCKED]) >> 4 * decoded.slot & 1:
            return "the tile is landlocked, with a tile on each of its four sides"
        if isinstance(decoded, TileMove):
            choices = max(1, int(rules.split(state, decoded.slot, 2 * decoded.direction)))
            if decoded.choice >= choices:
                return f"{choices} group{'s' * (choices > 1)} to choose from, numbered from 0"
        return "no undo: it would put back what the last action displaced"

    def action_text(self, action: int) -> str:
        """An action in notation: `c3ne`, `B1e`, `B1e=1`, `B1r`.

        Raises:
            IllegalActionError: if there is no such number or no such tile in this position.
        """
        number = _as_number(action)
        if number is None or not self._has_tile(decode(number)):
            raise IllegalActionError(
                f"action {action!r} has no name: {self.why_illegal(action)}, in {self.text!r}"
            )
        return notation.format_action(self._state, decode(number))

    def parse_action(self, text: str) -> int:
        """The number of an action in notation; it need not be legal.

        Raises:
            NotationError: a ValueError, if it is malformed or names what is not there.
        """
        return encode(notation.parse_action(self._state, text))

    def describe(self, action: int) -> str:
        """An action in words, for logs and errors; it must have a name (see `action_text`)."""
        name = self.action_text(action)
        decoded = decode(action)
        if isinstance(decoded, PieceMove):
            kind = rules.standing(self._state, 4 * decoded.slot + decoded.quadrant)
            what = "no piece" if kind == rules.EMPTY else f"{SIDES[kind // 2]} "
            what += "" if kind == rules.EMPTY else ("king", "pawn")[kind % 2]
            return f"{what} on {name.rstrip('nesw')} steps {direction_name(decoded)}"
        tile = f"{self.side} {{}} tile {name[:2]}"
        if not isinstance(decoded, TileMove):
            return tile.format("turns")
        words = f"{tile.format('moves')} {direction_name(decoded)}"
        if int(rules.split(self._state, decoded.slot, 2 * decoded.direction)) > 1:
            words += f" and keeps group {decoded.choice}"
        return words

    def effect(self, action: int) -> Effect:
        """What a legal action displaces and what leaves the game with it.

        Raises:
            IllegalActionError: if the action is illegal.
        """
        after = self.play(action)._state
        state = self._state
        decoded = decode(action)
        if isinstance(decoded, PieceMove):
            return self._piece_effect(decoded)
        places = notation.tile_places(state)
        tile = places[decoded.slot]
        if not isinstance(decoded, TileMove):
            return Effect("rotation", None, tile, ((tile, tile),), (), (), (0, 0))
        direction = 2 * decoded.direction
        d_row, d_column = int(rules.ROW_STEP[direction]), int(rules.COLUMN_STEP[direction])
        line = int(rules.tile_line(state, decoded.slot, direction))
        kept = int(rules.tiles_kept(state, decoded.slot, direction, decoded.choice))
        displaced, lost_tiles, lost_pieces = [], [], []
        staying: list[Place] = []
        for slot, (row, column) in enumerate(places):
            target = (row, column)
            if line >> 4 * slot & 1:
                target = (row + d_row, column + d_column)
                displaced.append(((row, column), target))
            if kept >> 4 * slot & 1:
                staying.append(target)
                continue
            lost_tiles.append((row, column))
            for square in range(4 * slot, 4 * slot + 4):
                kind = rules.standing(state, square)
                if kind != rules.EMPTY:
                    letter = rules.PIECE_LETTERS[kind]
                    lost_pieces.append((letter, notation.square_place(state, square)))
        displaced.sort(key=lambda move: move[0][0] * d_row + move[0][1] * d_column)
        offset = -min(row for row, _ in staying), -min(column for _, column in staying)
        assert len(staying) == after[rules.NUM_TILES]
        return Effect(
            "tile",
            direction_name(decoded),
            tile,
            tuple(displaced),
            tuple(lost_pieces),
            tuple(lost_tiles),
            offset,
        )

    def _piece_effect(self, move: PieceMove) -> Effect:
        state = self._state
        square = 4 * move.slot + move.quadrant
        d_row = int(rules.ROW_STEP[move.direction])
        d_column = int(rules.COLUMN_STEP[move.direction])
        displaced, lost = [], []
        while square != rules.OFF and rules.standing(state, square) != rules.EMPTY:
            row, column = notation.square_place(state, square)
            displaced.append(((row, column), (row + d_row, column + d_column)))
            target = rules.step(state, square, move.direction)
            if target == rules.OFF:
                letter = rules.PIECE_LETTERS[rules.standing(state, square)]
                lost.append((letter, (row, column)))
            square = target
        return Effect(
            "piece", direction_name(move), None, tuple(displaced), tuple(lost), (), (0, 0)
        )

    # --- Learning ---

    def observation(self, kind: ObservationKind = "planes", side: Side | None = None) -> Int8Array:
        """Planes (21, 18, 18) or tokens (9, 52), int8 in {0, 1}, as `side` sees them.

        The default side is the one to move. See `skift_env.observation` for the meaning.

        Raises:
            ValueError: for an unknown kind or side.
        """
        if kind not in SHAPES:
            raise ValueError(f"observation must be 'planes' or 'tokens', not {kind!r}")
        if side not in (None, *SIDES):
            raise ValueError(f"side must be 'white' or 'black', not {side!r}")
        observer = SIDES.index(side or self.side)
        array = np.empty(SHAPES[kind], np.int8)
        write = write_planes if kind == "planes" else write_tokens
        write(self._state, observer, array)
        return array

    def transform(self, symmetry: int, swap_colours: bool = False) -> Self:
        """The position under a symmetry 0 … 7: mirrored left-right if >= 4, then turned clockwise.

        With `swap_colours`, white and black and the side to move change places too.
        """
        position = self.from_state(self._state)
        transform_state(position._state, _check_symmetry(symmetry), swap_colours)
        return position

    def transform_action(self, action: int, symmetry: int) -> int:
        """The number of an action in `transform(symmetry)`; a splinter choice keeps its group."""
        number = _as_number(action)
        if number is None:
            raise IllegalActionError(
                f"action numbers are the integers 0 … {NUM_ACTIONS - 1}, not {action!r}"
            )
        numbers = np.empty(NUM_ACTIONS, np.int64)
        action_images(self._state, _check_symmetry(symmetry), numbers)
        return int(numbers[number])

    # --- A value ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._state.tobytes() == other._state.tobytes()

    def __hash__(self) -> int:
        return hash(self._state.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).parse, (self.text,)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return f"Position.parse({self.text!r})"

    def _repr_svg_(self) -> str:
        from skift_env import svg

        return svg.board(self)


def _as_number(action: object) -> int | None:
    """An action's number, 0 … 404, from any kind of integer (also a 0-d array of one), or None."""
    if isinstance(action, bool | np.bool_):
        return None
    try:
        number = operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        return None
    return number if 0 <= number < NUM_ACTIONS else None


def _check_symmetry(symmetry: int) -> int:
    if symmetry not in range(NUM_SYMMETRIES):
        raise ValueError(f"symmetry must be 0 … {NUM_SYMMETRIES - 1}, not {symmetry!r}")
    return int(symmetry)


def checked_action(state: Int64Array, action: object) -> int:
    """An action as an int, if it is legal in a state row.

    Raises:
        IllegalActionError: naming the action, the position and the rule that forbids it.
    """
    number = _as_number(action)
    if number is not None and rules.is_legal(state, number):
        return number
    position = Position.from_state(state)
    raise IllegalActionError(
        f"illegal action {position._name(action)}: {position.why_illegal(action)}, "
        f"in {position.text!r}"
    )


def perft(position: Position, depth: int) -> int:
    """The number of sequences of `depth` legal actions from a position.

    Raises:
        ValueError: if `depth` is negative.
    """
    if depth < 0:
        raise ValueError(f"depth must be at least 0, not {depth!r}")
    return int(rules.count_sequences(position._state, depth))
