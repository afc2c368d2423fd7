r"""Game records: games as text, many to a file, in the manner of chess's PGN.

    [White "alphabeta-v1:depth=2"]
    [Black "random-v1"]
    [Result "1-0"]
    [Position "..PP../..kK../...... b - 8"]
    [Termination "normal"]
    [Plies "3"]

    1... d2n {a mistake} 2. c3n d4e 1-0

A record is tags, one a line, then moves with comments in braces, then the result: `1-0`, `0-1`,
`1/2-1/2` or `*` (none). White's n-th move of the record is numbered `n.`, black's `n...` where a
number is due: at the start and after a comment. Numbers may be left out. Between the parts any
white space will do. In values and comments a backslash comes before a backslash, a quotation
mark and a closing brace, and `\n`, `\r` stand for line breaks.

Four tags are not free, since the game itself determines them; where they are missing, a reader
takes the first three values: `Position` (the rulebook's start), `Termination` (`normal` or
`unfinished`), `Result` and `Plies`.

| termination | how the game stopped | result |
|---|---|---|
| `normal` | by the rules | what the rules say |
| `ply limit` | cut, as it got too long | `1/2-1/2` |
| `illegal move`, `crash`, `overrun`, `resignation` | the side to move failed or gave up | it lost |
| `unfinished` | it just stopped | `*` |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NoReturn, TypeAlias, get_args

from skift_env.position import IllegalActionError, NotationError, Position, PositionError
from skift_env.types import Side

Termination: TypeAlias = Literal[
    "normal", "ply limit", "illegal move", "crash", "overrun", "resignation", "unfinished"
]
TERMINATIONS: Final[tuple[Termination, ...]] = get_args(Termination)
FAULTS: Final = ("illegal move", "crash", "overrun")
"""Terminations by a program that does not do what an agent must."""

SCORES: Final = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "*": None}
"""White's score for each result."""

DERIVED_TAGS: Final = ("Result", "Position", "Termination", "Plies")
WIDTH: Final = 80


class RecordError(ValueError):
    """A text that is no game record; `line` and `column`, counted from 1, are where it fails."""

    def __init__(self, line: int, column: int, fault: str) -> None:
        super().__init__(line, column, fault)
        self.line, self.column, self.fault = line, column, fault

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.fault}"


@dataclass(frozen=True)
class Game:
    """A game played: legal from its first action to its last, and stopped for a known reason.

    Args:
        start: the position that it began from.
        actions: the action numbers.
        termination: why it stopped; see the table above.
        tags: names and texts, such as White and Black, but for those that the game determines.
        comments: texts by the number of plies before them, 0 … len(actions).

    Raises:
        IllegalActionError: a ValueError, for an illegal action.
        ValueError: for a termination, tag or comment that cannot be.
    """

    start: Position
    actions: tuple[int, ...]
    termination: Termination = "normal"
    tags: Mapping[str, str] = field(default_factory=dict)
    comments: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checked_termination(self.final, self.termination)
        fault = ""
        for name in self.tags:
            if name in DERIVED_TAGS or not re.fullmatch(_NAME, name):
                fault = f"a record cannot have a tag {name!r}"
        for ply, comment in self.comments.items():
            if not 0 <= ply <= len(self.actions) or not comment:
                fault = f"a game of {len(self.actions)} plies has no comment {comment!r} at {ply}"
        if fault:
            raise ValueError(fault)

    def positions(self) -> Iterator[Position]:
        """The positions from first to last, one more than actions."""
        position = self.start
        yield position
        for action in self.actions:
            position = position.play(action)
            yield position

    @cached_property
    def final(self) -> Position:
        """The last position."""
        *_, final = self.positions()
        return final

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The actions in notation."""
        pairs = zip(self.positions(), self.actions, strict=False)
        return tuple(position.action_text(action) for position, action in pairs)

    @property
    def winner(self) -> Side | None:
        """Who won, be it by the other's failure; None for a draw or an unfinished game."""
        if self.final.outcome is not None:
            return self.final.outcome.winner
        if self.termination in ("ply limit", "unfinished"):
            return None
        return "black" if self.final.side == "white" else "white"

    @property
    def result(self) -> str:
        """`1-0`, `0-1`, `1/2-1/2` or `*`."""
        if self.termination == "unfinished":
            return "*"
        return {"white": "1-0", "black": "0-1", None: "1/2-1/2"}[self.winner]

    @property
    def score(self) -> float | None:
        """White's score, 0, 1/2 or 1; None for an unfinished game."""
        return SCORES[self.result]

    def _repr_html_(self) -> str:
        from skift_env import replay

        return replay.embedded(self)


def checked_termination(final: Position, termination: str) -> Termination:
    """How a game stopped, if it can have stopped so in its final position.

    Raises:
        ValueError: if it cannot.
    """
    if termination not in TERMINATIONS:
        raise ValueError(f"termination {termination!r} is none of {', '.join(TERMINATIONS)}")
    if final.outcome is None and termination == "normal":
        raise ValueError(f"termination 'normal', but the game goes on in {final.text!r}")
    if final.outcome is not None and termination != "normal":
        raise ValueError(
            f"termination {termination!r}, but the game is over: {final.outcome.reason}"
        )
    return TERMINATIONS[TERMINATIONS.index(termination)]


# --- Writing -----------------------------------------------------------------------------------


def format_game(game: Game) -> str:
    """A game as a record, which `parse_game` turns back into an equal game."""
    tags = dict(game.tags)
    tags["Result"] = game.result
    if game.start != Position.start():
        tags["Position"] = game.start.text
    tags |= {"Termination": game.termination, "Plies": str(len(game.actions))}
    lines = [f'[{name} "{_escape(value, _QUOTE)}"]' for name, value in tags.items()]
    lines += ["", ""]
    for token in _tokens(game):
        if lines[-1] and len(lines[-1]) + 1 + len(token) > WIDTH:
            lines.append("")
        lines[-1] += f" {token}" if lines[-1] else token
    return "\n".join(lines) + "\n"


def format_games(games: Iterable[Game]) -> str:
    """Games as records, with an empty line between them."""
    return "\n".join(format_game(game) for game in games)


def _tokens(game: Game) -> Iterator[str]:
    number, number_due = 1, True
    sides = (position.side for position in game.positions())
    for ply, (side, move) in enumerate(zip(sides, (*game.moves, None), strict=True)):
        if ply in game.comments:
            yield f"{{{_escape(game.comments[ply], _BRACE)}}}"
            number_due = True
        if move is None:
            break
        prefix = "" if side == "black" and not number_due else _number(number, side) + " "
        yield prefix + move  # never apart at the end of a line
        number += side == "black"
        number_due = False
    yield game.result


def _number(number: int, side: Side) -> str:
    return f"{number}." if side == "white" else f"{number}..."


# --- Reading -----------------------------------------------------------------------------------


_NAME: Final = "[A-Za-z][A-Za-z0-9_]*"
_TAG: Final = re.compile(rf'\[({_NAME})[ \t]+"((?:[^"\\\n]|\\.)*)"[ \t]*\]')
_COMMENT: Final = re.compile(r"\{((?:[^}\\]|\\.)*)\}", re.DOTALL)
_RESULT: Final = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)(?![^\s\[{])")
_NUMBER: Final = re.compile(r"[0-9]+\.+")
_WORD: Final = re.compile(r"[^\s\[\]{}]+")
_SPACE: Final = re.compile(r"\s*")

_QUOTE: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", '"': '\\"'}
_BRACE: Final = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "}": "\\}"}


def parse_games(text: str) -> list[Game]:
    """The games of a text.

    Raises:
        RecordError: a ValueError that names line and column.
    """
    reader = _Reader(text)
    games = []
    while reader.at < len(text):
        games.append(reader.game())
    return games


def parse_game(text: str) -> Game:
    """The one game of a text.

    Raises:
        RecordError: a ValueError that names line and column.
    """
    reader = _Reader(text)
    game = reader.game()
    if reader.at < len(text):
        reader.refuse(reader.at, "expected one game, but there is more")
    return game


def read_games(path: str | Path) -> list[Game]:
    """The games of a file, UTF-8.

    Raises:
        RecordError: a ValueError that names line and column.
        OSError: if the file cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise RecordError(line, column, "not UTF-8 text") from None
    return parse_games(text.replace("\r\n", "\n").replace("\r", "\n"))


def write_games(path: str | Path, games: Iterable[Game], *, append: bool = False) -> None:
    """Write games to a file, UTF-8, or add them to its end.

    Raises:
        OSError: if the file cannot be written.
    """
    text = format_games(games)
    with Path(path).open("a" if append else "w", encoding="utf-8", newline="\n") as file:
        file.write(("\n" if append and file.tell() else "") + text)


class _Reader:
    """A place in a text that goes forward, game by game."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.skip_space()

    def refuse(self, at: int, fault: str) -> NoReturn:
        line = self.text.count("\n", 0, at) + 1
        raise RecordError(line, at - self.text.rfind("\n", 0, at), fault)

    def skip_space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found
        self.at = found.end()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What matches here, if anything does; step over it and the white space behind it."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
            self.skip_space()
        return found

    def unescape(self, found: re.Match[str], group: int, escapes: Mapping[str, str]) -> str:
        letters = {code[1]: letter for letter, code in escapes.items()}

        def replace(escape: re.Match[str]) -> str:
            if escape[1] not in letters:
                at = found.start(group) + escape.start()
                self.refuse(at, f"unknown escape {escape[0]}")
            return letters[escape[1]]

        return re.sub(r"\\(.)", replace, found[group], flags=re.DOTALL)

    def game(self) -> Game:
        tags: dict[str, str] = {}
        places: dict[str, int] = {}
        while self.text.startswith("[", self.at):
            at = self.at
            found = self.take(_TAG)
            if not found:
                self.refuse(at, 'expected a tag like [White "random"] in one line')
            if found[1] in tags:
                self.refuse(at, f"a second tag {found[1]}")
            tags[found[1]] = self.unescape(found, 2, _QUOTE)
            places[found[1]] = found.start(2)
        start = Position.start()
        if "Position" in tags:
            try:
                start = Position.parse(tags["Position"])
            except PositionError as error:
                self.refuse(places["Position"], f"tag Position: {error}")
        final, actions, comments = self.moves(start)
        at_result = self.at
        result = self.take(_RESULT)
        if not result:
            self.refuse(at_result, "expected a move, a comment in braces, or the game's result")
        usual = "unfinished" if final.outcome is None else "normal"
        try:
            termination = checked_termination(final, tags.get("Termination", usual))
        except ValueError as error:
            self.refuse(places.get("Termination", at_result), str(error))
        free = {name: value for name, value in tags.items() if name not in DERIVED_TAGS}
        game = Game(start, tuple(actions), termination, free, comments)
        if result[0] != game.result:
            due = f"{game.result} (termination {termination})"
            self.refuse(at_result, f"result {result[0]}, but the game makes it {due}")
        for name, value in (("Result", game.result), ("Plies", str(len(actions)))):
            if tags.get(name, value) != value:
                self.refuse(places[name], f"tag {name}: {tags[name]!r} should be {value!r}")
        return game

    def moves(self, position: Position) -> tuple[Position, list[int], dict[int, str]]:
        """The position after the moves that follow here, the moves and the comments."""
        actions: list[int] = []
        comments: dict[int, str] = {}
        number = 1
        while self.at < len(self.text) and not _RESULT.match(self.text, self.at):
            at = self.at
            if found := self.take(_COMMENT):
                comment = self.unescape(found, 1, _BRACE)
                before = comments.get(len(actions))
                if comment:
                    comments[len(actions)] = f"{before} {comment}" if before else comment
            elif self.text.startswith("{", at):
                self.refuse(at, "a comment without its closing brace")
            elif found := self.take(_NUMBER):
                due = _number(number, position.side)
                if found[0] != due:
                    self.refuse(at, f"number {found[0]}, but {position.side}'s move here is {due}")
            elif found := self.take(_WORD):
                side = position.side
                try:
                    actions.append(position.parse_action(found[0]))
                    position = position.play(actions[-1])
                except (NotationError, IllegalActionError) as error:
                    self.refuse(at, str(error))
                number += side == "black"
            else:
                break
        return position, actions, comments


def _escape(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(letter, letter) for letter in text)
