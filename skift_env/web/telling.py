"""A position as the page needs it: the picture, and all that can be clicked, with what it does.

Places are points in the units of the picture, so that the page needs no geometry, and whether and
why an action is legal is told for each thing that one might try, so that it needs no rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from skift_env.actions import PieceMove, decode
from skift_env.drawing import headline, lost_pieces, scene
from skift_env.notation import Place, square_name, tile_name
from skift_env.position import Effect, Position
from skift_env.shapes import Point, css_theme
from skift_env.svg import element
from skift_env.trace import STEPS, LastAction, Trace
from skift_env.view import WIDTH, View
from skift_env.web.inputs import Line

Answer: TypeAlias = dict[str, Any]

WIDEST: Final = 7.0
"""Cells across, at most, of a picture that holds still although the board does not."""

DIRECTION_WORDS: Final = {
    "n": "north", "ne": "north-east", "e": "east", "se": "south-east",
    "s": "south", "sw": "south-west", "w": "west", "nw": "north-west",
}  # fmt: skip
TILE_DIRECTIONS: Final = ("n", "e", "s", "w")

_THEME: Final = css_theme()


def tell(line: Line, *, turned: bool = False) -> Answer:
    """All that the page shows of a game so far, seen with white below or `turned` by 180°."""
    return _Teller(line, turned).told()


def piece_word(letter: str) -> str:
    """`white king` and so on, for a letter of the board."""
    side = "white" if letter.isupper() else "black"
    return f"{side} {'king' if letter in 'Kk' else 'pawn'}"


def sentence(position: Position, action: int) -> str:
    """A legal action and all that it brings about, in words."""
    effect, names = position.effect(action), _Names(position)
    if effect.kind == "rotation":
        assert effect.tile is not None
        return f"Tile {names.tile(effect.tile)} turns by 180°."
    assert effect.direction is not None
    way, (first, *pushed) = DIRECTION_WORDS[effect.direction], effect.displaced
    if effect.kind == "piece":
        words = f"{names.piece(first[0]).capitalize()} steps {way}"
        onto = names.square(first[1])
        words += f" to {onto}" if onto else " off the board"
        if pushed:
            words += f", pushing {_list(names.piece(at) for at, _ in pushed)}"
        words += "."
    else:
        words = f"Tile {names.tile(first[0])} moves {way}"
        if pushed:
            words += f", pushing {_list(names.tile(at) for at, _ in pushed)}"
        words += "."
        if effect.lost_tiles:
            tiles = _list(names.tile(tile) for tile in sorted(effect.lost_tiles))
            plural = len(effect.lost_tiles) > 1
            words += f" {'Tiles' if plural else 'Tile'} {tiles} splinter{'s' * (not plural)} off"
            letters = "".join(letter for letter, _ in effect.lost_pieces)
            words += f", with {_counted(letters)}." if letters else "."
        return words
    if effect.lost_pieces:
        lost = names.piece(effect.lost_pieces[0][1])
        words += f" {lost.capitalize()} leaves the game."
    return words


def outcome_sentence(position: Position) -> str:
    """Who won and why, or who is to move."""
    outcome = position.outcome
    return headline(position) + (f": {outcome.reason}." if outcome else ".")


class _Names:
    """What squares, tiles and pieces of a position are called."""

    def __init__(self, position: Position) -> None:
        self.board = position.board
        self.rows, self.columns = len(self.board), len(self.board[0])

    def square(self, place: Place) -> str | None:
        """The name of a square; None if there is none at this place."""
        row, column = place
        if 0 <= row < self.rows and 0 <= column < self.columns and self.board[row][column] != "_":
            return square_name(place, self.rows)
        return None

    def tile(self, place: Place) -> str:
        return tile_name(place, self.rows // 2)

    def piece(self, place: Place) -> str:
        letter = self.board[place[0]][place[1]]
        return f"{piece_word(letter)} {square_name(place, self.rows)}"


class _Teller:
    """One answer in the making."""

    def __init__(self, line: Line, turned: bool) -> None:
        self.line, self.position, self.names = line, line.position, _Names(line.position)
        self.view = steady_view(line, turned)
        self.control = self.position.control
        self.legal = frozenset(self.position.legal_actions)

    def told(self) -> Answer:
        position, outcome, last = self.position, self.position.outcome, self.line.last_action
        white, black = lost_pieces(position)
        return {
            "text": position.text,
            "side": position.side,
            "ply": position.ply,
            "sides": [each.side for each in self.line.positions],
            "headline": headline(position),
            "status": outcome_sentence(position),
            "outcome": outcome and {"winner": outcome.winner, "reason": outcome.reason},
            "last": last and {"move": last[0].action_text(last[1]), "words": sentence(*last)},
            "lost": {"white": white, "black": black},
            "size": WIDTH,
            "cell": self.view.scale,
            "picture": drawn(position, last, self.view),
            "squares": [self.square(place) for place in self.places(1)],
            "tiles": [self.tile(place) for place in self.places(2)],
        }

    def places(self, size: int) -> list[Place]:
        """The board's squares (size 1) or tiles (size 2), in reading order."""
        board = self.names.board
        return [
            (row // size, column // size)
            for row in range(0, len(board), size)
            for column in range(0, len(board[0]), size)
            if board[row][column] != "_"
        ]

    def square(self, place: Place) -> Answer:
        letter = self.names.board[place[0]][place[1]]
        name = square_name(place, self.names.rows)
        tile = place[0] // 2, place[1] // 2
        told: Answer = {
            "name": name,
            "at": self.view.square_xy(place),
            "tile": self.names.tile(tile),
            "label": f"{name}, {'empty' if letter == '.' else piece_word(letter)}",
            "side": None if letter == "." else "white" if letter.isupper() else "black",
        }
        if letter != ".":
            targets = {
                direction: self.view.square_xy((place[0] + step[0], place[1] + step[1]))
                for direction, step in STEPS.items()
            }
            self.add_options(told, name, targets)
        return told

    def tile(self, place: Place) -> Answer:
        name, at = self.names.tile(place), self.view.tile_xy(place)
        board, controller = self.names.board, self.control.get(place)
        letters = [
            board[row][column]
            for row in (2 * place[0], 2 * place[0] + 1)
            for column in (2 * place[1], 2 * place[1] + 1)
        ]
        pieces = _counted("".join(letters))
        by = f"controlled by {controller}" if controller else "controlled by nobody"
        told: Answer = {
            "name": name,
            "at": at,
            "label": f"Tile {name}, {by}, {f'with {pieces}' if pieces else 'empty'}",
            "side": controller,
        }
        targets = {"r": at}
        for direction in TILE_DIRECTIONS:
            step = STEPS[direction]
            beside = self.view.tile_xy((place[0] + step[0], place[1] + step[1]))
            targets[direction] = ((at[0] + beside[0]) / 2, (at[1] + beside[1]) / 2)
        self.add_options(told, name, targets)
        return told

    def add_options(self, told: Answer, name: str, targets: dict[str, Point]) -> None:
        """What can be done with a piece or tile, if anything; else `why` not."""
        options = [self.option(name + way, way, at) for way, at in targets.items()]
        if any("actions" in option for option in options):
            told["options"] = options
        else:
            told["why"] = options[0]["why"]

    def option(self, text: str, way: str, at: Point) -> Answer:
        """A way to go or to turn, with its actions, two or three if there is a choice of groups."""
        position = self.position
        told: Answer = {"way": way, "at": at}
        actions = [position.parse_action(text)]
        if way in TILE_DIRECTIONS and text[0].isupper():
            actions += [position.parse_action(f"{text}={choice}") for choice in (1, 2)]
        actions = [action for action in actions if action in self.legal]
        if not actions:
            told["why"] = position.why_illegal(position.parse_action(text))
            told["label"] = f"{DIRECTION_WORDS.get(way, 'turn')}: not allowed"
            return told
        told["label"] = DIRECTION_WORDS.get(way, "turn")
        told["actions"] = [self.action(action) for action in actions]
        if len(actions) > 1:
            for told_action, action in zip(told["actions"], actions, strict=True):
                told_action.update(self.choice(action))
        return told

    def action(self, action: int) -> Answer:
        """A legal action: what it displaces, from where to where, and what is lost."""
        position = self.position
        effect = position.effect(action)
        point = self.view.square_xy if effect.kind == "piece" else self.view.tile_xy
        return {
            "number": action,
            "text": position.action_text(action),
            "words": sentence(position, action),
            "moves": [(point(a), point(b)) for a, b in effect.displaced if a != b],
            "lost": [self.view.square_xy(at) for _, at in effect.lost_pieces],
            "lost_tiles": [self.view.tile_xy(tile) for tile in effect.lost_tiles],
        }

    def choice(self, action: int) -> Answer:
        """One of several groups that may stay: where it is after the push, and the picture."""
        effect = self.position.effect(action)
        view = View(self.view.box.shifted(*effect.offset), self.view.turned)
        moved = dict(effect.displaced)
        stay = [tile for tile in self.places(2) if tile not in effect.lost_tiles]
        return {
            "group": [self.view.tile_xy(moved.get(tile, tile)) for tile in stay],
            "label": self.group_label(effect, stay),
            "picture": drawn(self.position.play(action), (self.position, action), view),
        }

    def group_label(self, effect: Effect, stay: Sequence[Place]) -> str:
        tiles = _list(self.names.tile(tile) for tile in stay)
        board = self.names.board
        letters = "".join(
            board[2 * row + i // 2][2 * column + i % 2] for row, column in stay for i in range(4)
        )
        return f"Keep {tiles}: {_counted(letters) or 'no pieces'}"


def drawn(position: Position, last_action: LastAction | None, view: View) -> str:
    """The board as SVG elements whose colours are the CSS variables of the themes."""
    picture = scene(position, last_action=last_action, theme=_THEME, view=view, status=False)
    return "".join(map(element, picture.shapes))


def steady_view(line: Line, turned: bool) -> View:
    """The part of the table to show, which changes as little as possible from ply to ply."""
    row = column = 0  # where the present board's top left lies on the table of the first
    shown = Trace().box(line.positions[0])
    for (before, after), action in zip(pairwise(line.positions), line.actions, strict=True):
        if isinstance(decode(action), PieceMove):
            continue  # the tiles stay where they are
        d_row, d_column = before.effect(action).offset
        row, column = row - d_row, column - d_column
        box = Trace().box(after).shifted(row, column)
        shown = shown.union(box)
        if shown.span > WIDEST:
            shown = box
    if line.last_action is not None:
        trace = Trace.of(line.position, line.last_action)
        shown = shown.union(trace.box(line.position).shifted(row, column))
    return View(shown.shifted(-row, -column), turned)


def _list(words: Iterable[str]) -> str:
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _counted(letters: str) -> str:
    """The pieces that letters of the board stand for: `1 white king and 2 black pawns`."""
    numbers = {letter: letters.count(letter) for letter in "KPkp"}
    return _list(
        f"{number} {piece_word(letter)}{'s' * (number > 1)}"
        for letter, number in numbers.items()
        if number
    )
