"""Matches between two agents, and leagues of many.

The unit is a pair of games: one opening, colours swapped. A result is determined by agents,
openings, seed and limits; neither workers nor interruptions change it.

>>> from skift_env.match import play_match
>>> result = play_match("random", "random", pairs=10, openings="start", seed=1)
>>> len(result.games), result.counts.pairs
(20, 10)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Generic, TypeVar

from skift_env.arena import AgentLike, WorkerError, as_agent, play_fixtures, play_game
from skift_env.episodes import DEFAULT_MAX_PLIES, is_count
from skift_env.files import FileLockedError, locked
from skift_env.manifest import manifest
from skift_env.records import Game
from skift_env.results import Document, load, save, settings
from skift_env.schedule import Fixture, Openings, Schedule, opening_book
from skift_env.standings import BOOTSTRAP, LeagueResult, MatchResult, SequentialTest, SprtBounds
from skift_env.verification import manifest_problems

__all__ = [
    "FileLockedError",
    "LeagueResult",
    "MatchError",
    "MatchResult",
    "SprtBounds",
    "WorkerError",
    "league",
    "play_game",
    "play_match",
]

DEFAULT_OPENINGS: Final = "openings-v1"
DEFAULT_ANCHOR: Final = "random-v1"

SECONDS_BETWEEN_REPORTS: Final = 0.2
SECONDS_BETWEEN_SAVES: Final = 2.0
SAVING_SHARE: Final = 20
"""Playing takes at least so many times as long as saving."""

AnyResult = TypeVar("AnyResult", MatchResult, LeagueResult)


class MatchError(ValueError):
    """A match that cannot be played so, or not be resumed; the message says why."""


def play_match(
    a: AgentLike,
    b: AgentLike,
    *,
    pairs: int = 100,
    openings: Openings = DEFAULT_OPENINGS,
    seed: int = 0,
    workers: int = 1,
    max_plies: int = DEFAULT_MAX_PLIES,
    move_seconds: float | None = None,
    sprt: SprtBounds | None = None,
    file: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[MatchResult], None] | None = None,
) -> MatchResult:
    """Play pairs of games between two agents.

    An agent that crashes, makes an illegal move or takes too long loses that game, see
    `play_game`. Ctrl-C (`KeyboardInterrupt`) passes through, after the games played were saved.

    Args:
        a: the agent whose strength is measured: a specification or an agent. Agents must not carry
            anything from game to game that changes their moves.
        b: its opponent.
        pairs: how many pairs of games; with `sprt`, the most.
        openings: a name, or positions; every pair has one of them.
        seed: of the order of openings and of all random numbers.
        workers: how many processes play; see `arena.play_fixtures` for what more than one ask for.
        max_plies: the ply at which a game is cut, with the score of a draw.
        move_seconds: what an agent may take for a move, or None: whatever it likes.
        sprt: bounds of a sequential test, which ends the match as soon as it decides.
        file: where to keep the results as they grow; see `skift_env.results`.
        resume: go on with the results in `file`, if there are any; `pairs` may have grown.
        progress: called with the results so far, a few times a second, and at the end.

    Raises:
        MatchError: a ValueError, if the file is of another match.
        ValueError: for an unknown agent or opening, or a number out of range.
        FileExistsError: if there is a file and `resume` is false.
        FileLockedError: an OSError, if another process writes the file.
        WorkerError: if a worker process dies.
    """
    players = _players((a, b), workers)
    names = tuple(name for name, _ in players)
    schedule = Schedule(names, opening_book(openings), seed, pairs, max_plies, move_seconds)
    empty = MatchResult(schedule, {}, sprt)
    return _Session(empty, dict(players), workers, _path(file), resume, progress).run()


def league(
    agents: Sequence[AgentLike],
    *,
    pairs: int = 100,
    openings: Openings = DEFAULT_OPENINGS,
    seed: int = 0,
    workers: int = 1,
    max_plies: int = DEFAULT_MAX_PLIES,
    move_seconds: float | None = None,
    anchor: str | None = None,
    bootstrap: int = BOOTSTRAP,
    file: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[LeagueResult], None] | None = None,
) -> LeagueResult:
    """Let every two of some agents play a match, and rate them all on one scale.

    `agents` are two or more, all different, in any order. Each two play `pairs` pairs of games, and
    all from the same openings. The rating of `anchor` is 0: by default that of random, or of the
    first agent if random does not take part. The intervals come from `bootstrap` replicates.

    The other arguments and the errors are those of `play_match`; a league that is resumed may have
    more agents than its file.
    """
    players = dict(_players(agents, workers))
    names = list(players)
    if len(names) < len(agents):
        raise MatchError(f"a league has each agent once, but of {len(agents)} some are repeated")
    if anchor is None:
        anchor = DEFAULT_ANCHOR if DEFAULT_ANCHOR in names else names[0]
    elif anchor not in names:
        anchor = as_agent(anchor).name
    if anchor not in names:
        raise MatchError(f"anchor {anchor} does not take part: {', '.join(names)}")
    if not is_count(bootstrap) or bootstrap < 1:
        raise MatchError(f"bootstrap must be an integer >= 1, not {bootstrap!r}")
    # Sorted, so that who is first in a pairing does not depend on the order given.
    schedule = Schedule(
        tuple(sorted(names)), opening_book(openings), seed, pairs, max_plies, move_seconds
    )
    empty = LeagueResult(schedule, {}, anchor, bootstrap)
    return _Session(empty, players, workers, _path(file), resume, progress).run()


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)


def _players(agents: Sequence[AgentLike], workers: int) -> list[tuple[str, AgentLike]]:
    """Each agent with its name; as specifications, where possible, if workers will make them."""
    if not is_count(workers) or workers < 1:
        raise MatchError(f"workers must be an integer >= 1, not {workers!r}")
    if len(agents) < 2:
        raise MatchError(f"two agents or more are needed, not {len(agents)}")
    made = [as_agent(agent) for agent in agents]
    by_name: dict[str, AgentLike] = {}
    for agent, itself in zip(agents, made, strict=True):
        other = by_name.setdefault(itself.name, agent)
        if other is not agent and not (isinstance(agent, str) and isinstance(other, str)):
            raise MatchError(f"two different agents have the name {itself.name}")
    players = made if workers == 1 else agents
    return [(itself.name, player) for itself, player in zip(made, players, strict=True)]


@dataclass
class _Session(Generic[AnyResult]):
    """A match or league under way."""

    empty: AnyResult
    players: Mapping[str, AgentLike]
    workers: int
    file: Path | None
    resume: bool
    progress: Callable[[AnyResult], None] | None
    games: dict[Fixture, Game] = field(default_factory=dict)
    manifests: list[Document] = field(default_factory=list)
    test: SequentialTest | None = None

    def run(self) -> AnyResult:
        """Play what is to be played; the results."""
        with ExitStack() as stack:
            if self.file:
                stack.enter_context(locked(self.file))
                if self.file.exists():
                    self.load(self.file)
            self.test = self.empty.sequential_test()
            try:
                self.play()
            finally:
                self.save()
            result = self.result()
            if self.progress:
                self.progress(result)
            return result

    def load(self, file: Path) -> None:
        """Take over the games of a file, if they belong to this match."""
        if not self.resume:
            raise FileExistsError(f"{file} exists; resume it, or choose another file")
        saved = load(file)
        told, wanted = settings(saved.result), settings(self.empty)
        faults = [
            f"{name} is {told[name]!r} in the file, not {wanted[name]!r}"
            for name in told.keys() & wanted.keys() - {"agents", "pairs", "anchor", "bootstrap"}
            if told[name] != wanted[name]
        ]
        if type(saved.result) is not type(self.empty):
            faults.append("one is a match, the other a league")
        missing = set(told["agents"]) - set(wanted["agents"])
        if missing or ("sprt" in told and told["agents"] != wanted["agents"]):
            faults.append(f"the file's agents are {', '.join(told['agents'])}")
        if told["pairs"] > wanted["pairs"]:
            faults.append(f"the file has {told['pairs']} pairs, more than {wanted['pairs']}")
        faults += manifest_problems(saved.manifests)
        if faults:
            raise MatchError(f"cannot resume {file}: {'; '.join(sorted(faults))}")
        self.games |= saved.result.games
        self.manifests += saved.manifests

    def play(self) -> None:
        """Play the games not played yet, until a sequential test decides."""
        if self.test and self.test.advance(self.games):
            return
        left = [fixture for fixture in self.empty.schedule.fixtures() if fixture not in self.games]
        if not left:
            return
        here = manifest()
        if here not in self.manifests:
            self.manifests.append(here)
        last_report, next_save = 0.0, time.monotonic() + SECONDS_BETWEEN_SAVES
        played = play_fixtures(self.empty.schedule, self.players, left, self.workers)
        with closing(played):
            for fixture, game in played:
                self.games[fixture] = game
                if self.test and self.test.advance(self.games):
                    return
                now = time.monotonic()
                if self.progress and now - last_report >= SECONDS_BETWEEN_REPORTS:
                    self.progress(self.result())
                    last_report = now
                if now >= next_save:
                    self.save()
                    spent = time.monotonic() - now
                    next_save = now + max(SECONDS_BETWEEN_SAVES, SAVING_SHARE * spent)

    def result(self) -> AnyResult:
        """The results so far, without the games that a sequential test no longer asked for."""
        last_pair = self.empty.schedule.pairs
        if self.test and self.test.state.decision:
            last_pair = self.test.pairs
        games = {
            fixture: self.games[fixture]
            for fixture in self.empty.schedule.fixtures()
            if fixture in self.games and fixture.pair < last_pair
        }
        return replace(self.empty, games=games)

    def save(self) -> None:
        """Write the file."""
        if self.file:
            save(self.file, self.result(), self.manifests)
