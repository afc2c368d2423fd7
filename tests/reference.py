"""The game of Skift a second time: slow, plain, and sharing nothing with `skift_env`.

It is here to disagree with the engine. Tiles and pieces are individuals that keep their identity
through the game, standing on a table without edges; positions are dictionaries from individuals to
places; each action names everything it displaces and where to. So the rules can be written as the
rulebook says them, "this piece may not return to the quadrant it came from" among them.

The section numbers are those of the rules page: 1 board, 2 a turn, 3 splintering, 4 no undo,
5 end of the game, 6 action numbers, 7 text. Observations come last.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

Place = tuple[int, int]  # (row, column) on the table, of a tile's cell or of a piece's quadrant

DIRECTIONS = {
    "n": (-1, 0), "ne": (-1, 1), "e": (0, 1), "se": (1, 1),
    "s": (1, 0), "sw": (1, -1), "w": (0, -1), "nw": (-1, -1),
}  # fmt: skip
TILE_DIRECTIONS = ("n", "e", "s", "w")
OTHER = {"white": "black", "black": "white"}
LETTERS = {
    "K": ("white", "king"), "P": ("white", "pawn"), "k": ("black", "king"), "p": ("black", "pawn"),
}  # fmt: skip
START = "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"


# Section 1: what there is, and where it lies


@dataclass(frozen=True, eq=False)  # eq=False: two pieces are never the same piece
class Piece:
    """A king or a pawn of a side."""

    side: str
    kind: str


@dataclass(frozen=True, eq=False)
class Tile:
    """One of the square tiles."""


Individual = TypeVar("Individual", Piece, Tile)


def step(place: Place, direction: str, times: int = 1) -> Place:
    """The place so many steps away (section 1: rows grow southward, columns eastward)."""
    down, right = DIRECTIONS[direction]
    return place[0] + times * down, place[1] + times * right


def cell_of(quadrant: Place) -> Place:
    """The cell that a quadrant is a quarter of (section 1)."""
    return quadrant[0] // 2, quadrant[1] // 2


def corner_of(quadrant: Place) -> int:
    """Which quarter of its cell a quadrant is: NW, NE, SW, SE as 0 to 3 (section 6)."""
    return 2 * (quadrant[0] % 2) + quadrant[1] % 2


def quadrants_of(cell: Place) -> list[Place]:
    """The four quadrants of a cell in the order of `corner_of` (section 1)."""
    row, column = cell
    return [(2 * row + i, 2 * column + j) for i in (0, 1) for j in (0, 1)]


def opposite_corner(quadrant: Place) -> Place:
    """Where a half turn of its tile takes a quadrant: NW and SE, NE and SW (section 2)."""
    return quadrants_of(cell_of(quadrant))[3 - corner_of(quadrant)]


def line_from(
    first: Individual, direction: str, standing: Mapping[Individual, Place]
) -> list[Individual]:
    """The unbroken line that starts with `first` and runs in the direction (section 2)."""
    at = {place: individual for individual, place in standing.items()}
    line, place = [first], step(standing[first], direction)
    while place in at:
        line.append(at[place])
        place = step(place, direction)
    return line


def groups(cells: Collection[Place]) -> list[set[Place]]:
    """The cells split into groups connected by sides and corners (section 3)."""
    left, found = set(cells), []
    while left:
        group, border = set(), {left.pop()}
        while border:
            group |= border
            border = {step(cell, d) for cell in border for d in DIRECTIONS} & left
            left -= border
        found.append(group)
    return found


class Action(NamedTuple):
    """One action: its number and text, every individual that it displaces with the place it goes
    to, those of them that it may not be undone for, and the cells that stay if tiles splinter."""

    number: int
    text: str
    goes_to: dict[Piece | Tile, Place]
    remembered: list[Piece] | list[Tile]
    stays: set[Place]


class ReferenceGame:
    """A position with its memory of the last action. It never changes: `play` makes a new one.

    `came_from` is that memory: where the individuals that the last action displaced, and that are
    still there, stood before it.
    """

    def __init__(
        self,
        tiles: Mapping[Tile, Place],
        pieces: Mapping[Piece, Place],
        side: str,
        came_from: Mapping[Piece | Tile, Place],
        ply: int,
    ) -> None:
        self.tiles, self.pieces, self.side = tiles, pieces, side
        self.came_from, self.ply = came_from, ply
        cells = tiles.values()
        self.top, self.left = min(r for r, _ in cells), min(c for _, c in cells)
        self.bottom, self.right = max(r for r, _ in cells) + 1, max(c for _, c in cells) + 1

    @classmethod
    def start(cls) -> ReferenceGame:
        """The position before the first move (section 1)."""
        return cls.from_text(START)

    @cached_property
    def places(self) -> dict[Piece | Tile, Place]:
        """Where everything stands: the cells of the tiles, the quadrants of the pieces."""
        return dict([*self.tiles.items(), *self.pieces.items()])

    # Section 2: a turn

    def pieces_on(self, tile: Tile) -> list[Piece]:
        """The pieces on a tile (section 2)."""
        return [p for p, quadrant in self.pieces.items() if cell_of(quadrant) == self.tiles[tile]]

    def controller(self, tile: Tile) -> str | None:
        """Who has more kings on the tile; if equal, more pieces; if equal, nobody (section 2)."""
        here = self.pieces_on(tile)
        for counted in ([p for p in here if p.kind == "king"], here):
            white = sum(p.side == "white" for p in counted)
            black = len(counted) - white
            if white != black:
                return "white" if white > black else "black"
        return None

    def landlocked(self, tile: Tile) -> bool:
        """Whether the tile has a tile on each of its four sides (section 2)."""
        cells = set(self.tiles.values())
        return all(step(self.tiles[tile], d) in cells for d in TILE_DIRECTIONS)

    def may_choose(self, tile: Tile) -> bool:
        """Whether the side to move may move or turn the tile (section 2)."""
        return self.controller(tile) == self.side and not self.landlocked(tile)

    def piece_moves(self) -> Iterator[Action]:
        """Every step of every own piece, with the line that it pushes (section 2)."""
        for piece, quadrant in self.pieces.items():
            if piece.side == self.side:
                for d, direction in enumerate(DIRECTIONS):
                    line = line_from(piece, direction, self.pieces)
                    yield Action(
                        32 * self.slots[cell_of(quadrant)] + 8 * corner_of(quadrant) + d,
                        self.name(piece) + direction,
                        {pushed: step(self.pieces[pushed], direction) for pushed in line},
                        line,
                        set(self.tiles.values()),
                    )

    def tile_moves(self) -> Iterator[Action]:
        """Every push of every tile that may be chosen, once for each group that may stay
        (sections 2 and 3). Pieces ride along."""
        for tile in filter(self.may_choose, self.tiles):
            for d, direction in enumerate(TILE_DIRECTIONS):
                line = line_from(tile, direction, self.tiles)
                goes_to: dict[Piece | Tile, Place] = {}
                for pushed in line:
                    goes_to[pushed] = step(self.tiles[pushed], direction)
                    for rider in self.pieces_on(pushed):
                        goes_to[rider] = step(self.pieces[rider], direction, times=2)
                after = {t: goes_to.get(t, cell) for t, cell in self.tiles.items()}
                for choice, group in enumerate(self.choices(set(after.values()), after[tile])):
                    yield Action(
                        288 + 12 * self.slots[self.tiles[tile]] + 3 * d + choice,
                        self.name(tile) + direction + (f"={choice}" if choice else ""),
                        goes_to,
                        line,
                        group,
                    )

    def rotations(self) -> Iterator[Action]:
        """Every half turn of a tile that may be chosen (section 2); nothing to remember of it
        (section 4)."""
        for tile in filter(self.may_choose, self.tiles):
            yield Action(
                396 + self.slots[self.tiles[tile]],
                self.name(tile) + "r",
                {piece: opposite_corner(self.pieces[piece]) for piece in self.pieces_on(tile)},
                [],
                set(self.tiles.values()),
            )

    # Section 3: splintering

    @staticmethod
    def choices(cells: set[Place], chosen: Place) -> list[set[Place]]:
        """The groups of which any may stay, in the order of their choice numbers (section 3):
        the largest, that of the chosen tile first, the others in reading order."""
        found = groups(cells)
        largest = max(map(len, found))
        tied = [group for group in found if len(group) == largest]
        return sorted(tied, key=lambda group: (chosen not in group, min(group)))

    # Section 4: no undo

    def undoes(self, action: Action) -> bool:
        """Whether an individual would return to the place it came from (section 4)."""
        return any(action.goes_to.get(x) == place for x, place in self.came_from.items())

    # Section 5: end of the game

    @property
    def result(self) -> str | None:
        """None, "white", "black" or "draw" (section 5)."""
        armies = {side: [p for p in self.pieces if p.side == side] for side in OTHER}
        out = [s for s in OTHER if {p.kind for p in armies[s]} != {"king", "pawn"}]
        if len(out) < 2:
            return OTHER[out[0]] if out else None
        white, black = len(armies["white"]), len(armies["black"])
        return "draw" if white == black else "white" if white > black else "black"

    # Playing

    @cached_property
    def actions(self) -> dict[int, Action]:
        """All that may be done, by number; nothing when the game is over (sections 2 to 5)."""
        if self.result is not None:
            return {}
        every = [*self.piece_moves(), *self.tile_moves(), *self.rotations()]
        legal = {action.number: action for action in every if not self.undoes(action)}
        return dict(sorted(legal.items()))

    def legal(self) -> dict[int, str]:
        """The legal action numbers, ascending, with their texts (sections 6 and 7)."""
        return {number: action.text for number, action in self.actions.items()}

    def play(self, number: int) -> ReferenceGame:
        """The game after a legal action (section 2); KeyError if it is none."""
        return self.after(self.actions[number])

    def after(self, action: Action) -> ReferenceGame:
        """The game after an action: displaced, splintered, off the tiles and out (2 and 3)."""
        tiles = {t: action.goes_to.get(t, cell) for t, cell in self.tiles.items()}
        tiles = {t: cell for t, cell in tiles.items() if cell in action.stays}
        pieces = {p: action.goes_to.get(p, quadrant) for p, quadrant in self.pieces.items()}
        pieces = {p: q for p, q in pieces.items() if cell_of(q) in action.stays}
        came_from = {x: self.places[x] for x in action.remembered if x in tiles or x in pieces}
        return ReferenceGame(tiles, pieces, OTHER[self.side], came_from, self.ply + 1)

    # Section 6: action numbers

    @cached_property
    def slots(self) -> dict[Place, int]:
        """The number of each tile by its cell: reading order (section 6)."""
        return {cell: slot for slot, cell in enumerate(sorted(self.tiles.values()))}

    # Section 7: text

    def name(self, x: Piece | Tile) -> str:
        """`c3` for the square of a piece, `B1` for a tile, from the lower left (section 7)."""
        row, column = self.places[x]
        if isinstance(x, Tile):
            return f"{chr(ord('A') + column - self.left)}{self.bottom - row}"
        return f"{chr(ord('a') + column - 2 * self.left)}{2 * self.bottom - row}"

    @property
    def board(self) -> str:
        """The quadrant rows from the top, joined by `/` (section 7)."""
        letters = {kind: letter for letter, kind in LETTERS.items()}
        drawn = {quadrant: "." for cell in self.tiles.values() for quadrant in quadrants_of(cell)}
        drawn |= {q: letters[piece.side, piece.kind] for piece, q in self.pieces.items()}
        rows = range(2 * self.top, 2 * self.bottom)
        columns = range(2 * self.left, 2 * self.right)
        return "/".join("".join(drawn.get((r, c), "_") for c in columns) for r in rows)

    @property
    def marked_direction(self) -> str:
        """The direction of the last action, seen from what it displaced (section 7)."""
        x, origin = next(iter(self.came_from.items()))
        return next(d for d in DIRECTIONS if step(origin, d) == self.places[x])

    @property
    def mark(self) -> str:
        """The no-undo mark (section 7)."""
        if not self.came_from:
            return "-"
        form = "t" if self.came_from.keys() <= self.tiles.keys() else "p"
        # all came from the same direction, so where they were is in the order of where they are
        names = [self.name(x) for x in sorted(self.came_from, key=self.came_from.__getitem__)]
        return f"{form}:{self.marked_direction}:{','.join(names)}"

    @property
    def text(self) -> str:
        """The position as text (section 7)."""
        return f"{self.board} {self.side[0]} {self.mark} {self.ply}"

    @classmethod
    def from_text(cls, text: str) -> ReferenceGame:
        """The position of a valid text, with the memory that its mark tells of (section 7)."""
        board, side, mark, ply = text.split(" ")
        tiles: dict[Tile, Place] = {}
        pieces: dict[Piece, Place] = {}
        for row, letters in enumerate(board.split("/")):
            for column, letter in enumerate(letters):
                if letter != "_" and row % 2 == column % 2 == 0:
                    tiles[Tile()] = cell_of((row, column))
                if letter in LETTERS:
                    pieces[Piece(*LETTERS[letter])] = (row, column)
        game = cls(tiles, pieces, {"w": "white", "b": "black"}[side], {}, int(ply))
        if mark == "-":
            return game
        form, direction, names = mark.split(":")
        individuals = {"p": Piece, "t": Tile}[form]
        named = {game.name(x): x for x in game.places if isinstance(x, individuals)}
        marked = [named[name] for name in names.split(",")]
        came_from = {x: step(game.places[x], direction, times=-1) for x in marked}
        return cls(tiles, pieces, game.side, came_from, game.ply)

    # Observations

    def observation(self, kind: str, side: str) -> set[tuple[int, ...]]:
        """The indices that are 1 in the observation "planes" or "tokens" of a side."""
        return {"planes": self.planes, "tokens": self.tokens}[kind](side)

    def planes(self, side: str) -> set[tuple[int, ...]]:
        """The (plane, row, column) that are 1 in the 21 planes of 18 by 18 quadrants."""
        ones: set[tuple[int, Place]] = set()
        for piece, quadrant in self.pieces.items():
            ones.add((self.piece_kind(piece, side), quadrant))
            if piece in self.came_from:
                ones.add((8 + list(DIRECTIONS).index(self.marked_direction), quadrant))
        for tile, cell in self.tiles.items():
            features = {4} | {5 + feature for feature in self.tile_features(tile, side)}
            if tile in self.came_from:
                features.add(16 + TILE_DIRECTIONS.index(self.marked_direction))
            ones |= {(feature, quadrant) for feature in features for quadrant in quadrants_of(cell)}
        planes: set[tuple[int, ...]] = {
            (plane, r - 2 * self.top, c - 2 * self.left) for plane, (r, c) in ones
        }
        if self.side == side:
            planes |= {(20, row, column) for row in range(18) for column in range(18)}
        return planes

    def tokens(self, side: str) -> set[tuple[int, ...]]:
        """The (slot, feature) that are 1 in the nine rows of 52 features, a row a tile."""
        ones: set[tuple[int, ...]] = set()
        for tile, cell in self.tiles.items():
            here = self.pieces_on(tile)
            features = {0, 1 + cell[0] - self.top, 10 + cell[1] - self.left}
            for piece in here:
                corner = corner_of(self.pieces[piece])
                features.add(19 + 4 * self.piece_kind(piece, side) + corner)
                if piece in self.came_from:
                    features.add(38 + corner)
            features |= {35 + feature for feature in self.tile_features(tile, side)}
            if tile in self.came_from:
                features.add(42)
            if not self.came_from.keys().isdisjoint([tile, *here]):
                features.add(43 + list(DIRECTIONS).index(self.marked_direction))
            if self.side == side:
                features.add(51)
            ones |= {(self.slots[cell], feature) for feature in features}
        return ones

    @staticmethod
    def piece_kind(piece: Piece, side: str) -> int:
        """Own king, own pawn, opponent's king, opponent's pawn as 0 to 3."""
        return 2 * (piece.side != side) + (piece.kind == "pawn")

    def tile_features(self, tile: Tile, side: str) -> set[int]:
        """Which are true of a tile: 0 own control, 1 the opponent's, 2 landlocked."""
        control = self.controller(tile)
        truths = (control == side, control == OTHER[side], self.landlocked(tile))
        return {number for number, true in enumerate(truths) if true}


# Section 7: texts to refuse


def fault(text: str) -> str | None:
    """The first field of a text that is at fault, or None if the text is a position (section 7)."""
    if not re.fullmatch(r"\S+( \S+){3}", text):
        return "fields"
    board, side, mark, ply = text.split(" ")
    if not board_is_sound(board):
        return "board"
    if side not in ("w", "b"):
        return "side"
    if not re.fullmatch("0|[1-9][0-9]*", ply):
        return "ply"
    return None if mark == "-" or mark_is_sound(text) else "mark"


def board_is_sound(board: str) -> bool:
    """Whether whole tiles lie anchored and connected, with no more than there are (section 7)."""
    rows = board.split("/")
    if len({len(row) for row in rows}) > 1 or len(rows) % 2 or len(rows[0]) % 2:
        return False
    drawn = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}
    cells = {cell_of(quadrant) for quadrant, letter in drawn.items() if letter != "_"}
    return (
        set(drawn.values()) <= {*LETTERS, ".", "_"}
        and all(drawn[quadrant] != "_" for cell in cells for quadrant in quadrants_of(cell))
        and 1 <= len(cells) <= 9
        and {r for r, _ in cells} >= {0, len(rows) // 2 - 1}
        and {c for _, c in cells} >= {0, len(rows[0]) // 2 - 1}
        and len(groups(cells)) == 1
        and all(board.count(king) <= 2 for king in "Kk")
        and all(board.count(pawn) <= 6 for pawn in "Pp")
    )


def mark_is_sound(text: str) -> bool:
    """Whether some action of the other side can have left the mark (section 7).

    Takes the action back, then looks whether doing it again gives the text. What the action may
    have driven off the tiles or splintered away need not be put back for that.
    """
    try:
        now = ReferenceGame.from_text(text)
    except (KeyError, ValueError):  # an unknown form, direction or name; not three parts
        return False
    if now.ply == 0:
        return False
    tiles = {t: now.came_from.get(t, cell) for t, cell in now.tiles.items()}
    pieces = {piece: now.came_from.get(piece, quadrant) for piece, quadrant in now.pieces.items()}
    for tile, cell in tiles.items():
        if tile in now.came_from:
            for rider in now.pieces_on(tile):
                pieces[rider] = quadrants_of(cell)[corner_of(now.pieces[rider])]
    cells = set(tiles.values())
    whole = (
        len(cells) == len(tiles)
        and len(groups(cells)) == 1
        and len(set(pieces.values())) == len(pieces)
        and all(cell_of(quadrant) in cells for quadrant in pieces.values())
    )
    if not whole:
        return False
    before = ReferenceGame(tiles, pieces, OTHER[now.side], {}, now.ply - 1)
    return any(before.after(a).text == text for a in (*before.piece_moves(), *before.tile_moves()))
