"""Games between agents, one or many at once, whatever the agents do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from skift_env import agents
from skift_env.agents import Agent
from skift_env.episodes import DEFAULT_MAX_PLIES
from skift_env.position import IllegalActionError, Position
from skift_env.records import Game, Termination
from skift_env.schedule import Fixture, Schedule

AgentLike: TypeAlias = str | Agent
"""A specification for `skift_env.agents.make`, or an agent."""

MESSAGE_LENGTH = 500


class WorkerError(RuntimeError):
    """A worker process died; the message names the games that it can have been playing."""


def as_agent(agent: AgentLike) -> Agent:
    """The agent itself.

    Raises:
        AgentSpecError: a ValueError, for a specification of none.
    """
    return agents.make(agent) if isinstance(agent, str) else agent


def play_game(
    white: AgentLike,
    black: AgentLike,
    *,
    start: Position | None = None,
    seed: int | np.random.SeedSequence = 0,
    max_plies: int = DEFAULT_MAX_PLIES,
    move_seconds: float | None = None,
) -> Game:
    """Play a game. Whatever an agent does wrong costs it the game, and nothing else.

    An exception ends it as a `crash`, no legal action as an `illegal move`; a `TimeoutError`, or
    more than `move_seconds` for a move, as an `overrun`. A comment then says what happened.

    Args:
        white: who moves the white pieces.
        black: who moves the black pieces.
        start: the first position, by default the rulebook's.
        seed: each side draws from a generator of its own made from this.
        max_plies: the ply at which the game is cut, with the score of a draw.
        move_seconds: what an agent may take for a move; one that does not return is waited for.
    """
    players = as_agent(white), as_agent(black)
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    position = Position.start() if start is None else start
    course = _play(players, position, sequence, max_plies, move_seconds)
    tags = {"White": players[0].name, "Black": players[1].name}
    return _game(position, course, tags)


_Course: TypeAlias = tuple[tuple[int, ...], Termination, str]
"""Actions, termination, and what went wrong, if something did: what a worker sends back."""


class _StoppedError(Exception):
    """A game was given up because the match is."""


def _play(
    players: tuple[Agent, Agent],
    position: Position,
    sequence: np.random.SeedSequence,
    max_plies: int,
    move_seconds: float | None,
    stopped: Callable[[], bool] = lambda: False,
) -> _Course:
    # Not sequence.spawn, which would give other children the second time.
    rngs = [
        np.random.default_rng(
            np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, side))
        )
        for side in range(2)
    ]
    actions: list[int] = []
    while position.outcome is None:
        if position.ply >= max_plies:
            return tuple(actions), "ply limit", ""
        if stopped():
            raise _StoppedError
        side = 0 if position.side == "white" else 1
        begun = time.perf_counter()
        try:
            action = players[side].act(position, rngs[side])
        except TimeoutError as error:
            return tuple(actions), "overrun", _message(error)
        except (Exception, SystemExit) as error:
            return tuple(actions), "crash", _message(error)
        seconds = time.perf_counter() - begun
        if move_seconds is not None and seconds > move_seconds:
            message = f"{seconds:.2f} s for a move, {move_seconds:g} s allowed"
            return tuple(actions), "overrun", message
        try:
            position = position.play(action)
        except IllegalActionError as error:
            return tuple(actions), "illegal move", _message(error)
        actions.append(int(action))
    return tuple(actions), "normal", ""


def _message(error: BaseException) -> str:
    text = str(error)[:MESSAGE_LENGTH].encode("utf-8", "backslashreplace").decode()
    return text if isinstance(error, IllegalActionError) else f"{type(error).__name__}: {text}"


def _game(start: Position, course: _Course, tags: Mapping[str, str]) -> Game:
    actions, termination, message = course
    return Game(start, actions, termination, tags, {len(actions): message} if message else {})


def fixture_tags(schedule: Schedule, fixture: Fixture) -> dict[str, str]:
    """What the record of a game says of where it comes from."""
    return {
        "White": fixture.white,
        "Black": fixture.black,
        "Round": f"{fixture.pair + 1}.{fixture.game + 1}",
        "Seed": str(schedule.seed),
    }


# --- Many games --------------------------------------------------------------------------------


class Players:
    """The agents of a schedule by name, made when first needed.

    One agent plays all games of its name in a process: it must not carry anything from game to
    game that changes its moves.
    """

    def __init__(self, by_name: Mapping[str, AgentLike]) -> None:
        self.by_name = dict(by_name)

    def play(
        self, schedule: Schedule, fixture: Fixture, stopped: Callable[[], bool] = lambda: False
    ) -> _Course:
        """Play a game of the schedule."""
        for name in (fixture.white, fixture.black):
            self.by_name[name] = as_agent(self.by_name[name])
        players = as_agent(self.by_name[fixture.white]), as_agent(self.by_name[fixture.black])
        return _play(
            players,
            schedule.start(fixture.pair),
            schedule.seed_sequence(fixture),
            schedule.max_plies,
            schedule.move_seconds,
            stopped,
        )


def play_fixtures(
    schedule: Schedule,
    players: Mapping[str, AgentLike],
    fixtures: Iterable[Fixture],
    workers: int = 1,
) -> Generator[tuple[Fixture, Game], None, None]:
    """Play games of a schedule and yield each as it ends, in any order if there are `workers` > 1.

    Workers are processes started afresh ("spawn"), so agents that are not specifications must
    pickle, and a script that asks for workers must guard its start with `__name__ == "__main__"`.
    Closing the iterator, or an exception such as Ctrl-C, stops them within a move.

    Raises:
        WorkerError: if a worker process dies.
    """

    def finished(fixture: Fixture, course: _Course) -> tuple[Fixture, Game]:
        start, tags = schedule.start(fixture.pair), fixture_tags(schedule, fixture)
        return fixture, _game(start, course, tags)

    if workers == 1:
        team = Players(players)
        for fixture in fixtures:
            yield finished(fixture, team.play(schedule, fixture))
        return
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(
        workers, context, initializer=_start_worker, initargs=(schedule, dict(players), stop)
    )
    running: dict[Future[_Course], Fixture] = {}
    to_play = iter(fixtures)
    try:
        while True:
            # Few ahead: when a sequential test ends the match, what runs is thrown away.
            for fixture in islice(to_play, 2 * workers - len(running)):
                running[pool.submit(_play_in_worker, fixture)] = fixture
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    course = future.result()
                except BrokenProcessPool:
                    names = ", ".join(map(_fixture_name, running.values()))
                    raise WorkerError(f"a worker process died playing one of: {names}") from None
                yield finished(running.pop(future), course)
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _fixture_name(fixture: Fixture) -> str:
    return f"{fixture.white} – {fixture.black}, pair {fixture.pair}"


_work: dict[str, Any] = {}
"""What a worker process plays: schedule, team and the match's signal to stop."""


def _start_worker(schedule: Schedule, players: Mapping[str, AgentLike], stop: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the match handles it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work.update(schedule=schedule, team=Players(players), stopped=stop.is_set)


def _end_with_parent() -> None:
    """End this process if the match is killed, which else would leave it waiting for work."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _play_in_worker(fixture: Fixture) -> _Course:
    course: _Course = _work["team"].play(_work["schedule"], fixture, _work["stopped"])
    return course
