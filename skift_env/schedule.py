"""What is to be played: by whom, from which openings, with which random numbers.

A schedule is fixed before the first game, and game by game: its opening and generators follow from
the seed, the two names and its number. So neither the order of play, nor the number of workers, nor
an interruption, nor a further agent in the league changes any game.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from skift_env.episodes import DEFAULT_MAX_PLIES, is_count
from skift_env.openings import load
from skift_env.position import Position

START: Final = "start"
"""Name of the opening book that holds the rulebook's start only."""


class ScheduleError(ValueError):
    """Games that cannot be played so; the message names what is wrong with which argument."""


@dataclass(frozen=True)
class OpeningBook:
    """Positions to start games from, under a name.

    Raises:
        ScheduleError: a ValueError, if there is none, or the game is over in one.
    """

    name: str
    positions: tuple[Position, ...]

    def __post_init__(self) -> None:
        if not self.positions:
            raise ScheduleError(f"openings {self.name!r}: no positions")
        for number, position in enumerate(self.positions):
            if position.outcome is not None:
                raise ScheduleError(
                    f"openings {self.name!r}, number {number}: "
                    f"the game is over in {position.text!r}"
                )

    @cached_property
    def sha256(self) -> str:
        """Hash of the texts of the positions, one a line: 64 hexadecimal digits."""
        text = "".join(position.text + "\n" for position in self.positions)
        return hashlib.sha256(text.encode()).hexdigest()


Openings: TypeAlias = str | Sequence[Position] | OpeningBook
"""A name that `skift_env.openings` knows, or "start"; or positions, or positions with a name."""


def opening_book(openings: Openings) -> OpeningBook:
    """The openings of that name, or of these positions, which are then called "custom".

    Raises:
        ValueError: for an unknown name, or positions that are no openings.
    """
    if isinstance(openings, OpeningBook):
        return openings
    if not isinstance(openings, str):
        return OpeningBook("custom", tuple(openings))
    if openings == START:
        return OpeningBook(START, (Position.start(),))
    return OpeningBook(openings, load(openings))


class Fixture(NamedTuple):
    """One game to play: its two agents, and the number of its pair and in it (0 or 1).

    `first` has white in game 0.
    """

    first: str
    second: str
    pair: int
    game: int

    @property
    def white(self) -> str:
        """Name of the agent that moves first."""
        return self.second if self.game else self.first

    @property
    def black(self) -> str:
        """Name of the other agent."""
        return self.first if self.game else self.second


@dataclass(frozen=True)
class Schedule:
    """Pairs of games, each two agents the same number, and what they are played with.

    Args:
        agents: their names: two, which may be equal, or a league of two or more.
        book: the openings. Each two agents play the same ones, in a shuffled order, and all of
            them once before any comes again.
        seed: an integer >= 0.
        pairs: how many pairs of games each two agents play.
        max_plies: the ply at which a game is cut; those of its opening count.
        move_seconds: what an agent may take for a move, or None: whatever it likes. Times differ
            from run to run, so with a limit results need not be reproducible.

    Raises:
        ScheduleError: a ValueError, for other numbers or names.
    """

    agents: tuple[str, ...]
    book: OpeningBook
    seed: int = 0
    pairs: int = 100
    max_plies: int = DEFAULT_MAX_PLIES
    move_seconds: float | None = None

    def __post_init__(self) -> None:
        if len(self.agents) < 2:
            raise ScheduleError(f"two agents or more are needed, not {len(self.agents)}")
        for name in self.agents if len(self.agents) > 2 else ():
            if self.agents.count(name) > 1:
                raise ScheduleError(f"a league has each agent once, but {name} is repeated")
        for what, number, least in (
            ("seed", self.seed, 0),
            ("pairs", self.pairs, 1),
            ("max_plies", self.max_plies, 1),
        ):
            if not is_count(number) or number < least:
                raise ScheduleError(f"{what} must be an integer >= {least}, not {number!r}")
        seconds = self.move_seconds
        if seconds is not None and not 0 < seconds < math.inf:
            raise ScheduleError(f"move_seconds must be a positive number, not {seconds!r}")
        for number, position in enumerate(self.book.positions):
            if position.ply >= self.max_plies:
                raise ScheduleError(
                    f"openings {self.book.name!r}, number {number}: at ply {position.ply}, "
                    f"max_plies = {self.max_plies} leaves no ply to play"
                )

    @property
    def pairings(self) -> tuple[tuple[str, str], ...]:
        """Each two agents."""
        return tuple(combinations(self.agents, 2))

    def fixtures(self) -> Iterator[Fixture]:
        """All games, in the order in which they count: everyone's first pair before the second."""
        for pair in range(self.pairs):
            for first, second in self.pairings:
                yield Fixture(first, second, pair, 0)
                yield Fixture(first, second, pair, 1)

    def __len__(self) -> int:
        return 2 * self.pairs * len(self.pairings)

    def opening(self, pair: int) -> int:
        """The number of the position in the book from which a pair starts."""
        block, place = divmod(pair, len(self.book.positions))
        # Words of a SeedSequence, unlike a Generator's shuffle, are the same in all NumPy versions.
        sequence = np.random.SeedSequence(self.seed, spawn_key=(block,))
        keys = sequence.generate_state(len(self.book.positions), np.uint64)
        return int(np.argsort(keys, kind="stable")[place])

    def start(self, pair: int) -> Position:
        """The position from which a pair starts."""
        return self.book.positions[self.opening(pair)]

    def seed_sequence(self, fixture: Fixture) -> np.random.SeedSequence:
        """The source of all random numbers of a game."""
        digest = hashlib.sha256(f"{fixture.first}\n{fixture.second}".encode()).digest()
        words = (int.from_bytes(digest[at : at + 4], "little") for at in (0, 4))
        return np.random.SeedSequence(self.seed, spawn_key=(*words, fixture.pair, fixture.game))
