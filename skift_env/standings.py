"""What games of a schedule say: the numbers of a match, and those of a league.

All are computed from the games, none is stored; `summary()` is what a results file tells of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from skift_env.ratings import (
    EloEstimate,
    LeagueFit,
    MatchCounts,
    Result,
    ResultError,
    SprtState,
    elo_estimate,
    fit_ratings,
    sprt,
)
from skift_env.records import FAULTS, Game
from skift_env.schedule import Fixture, Schedule

BOOTSTRAP: Final = 1000
"""Replicates for the intervals of league ratings."""


@dataclass(frozen=True)
class SprtBounds:
    """Stop a match when its pairs decide between two Elo differences; see `ratings.sprt`.

    Raises:
        ValueError: unless elo0 < elo1 are finite, alpha > 0, beta > 0 and alpha + beta < 1.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        self.test((0, 0, 0, 0, 0))

    def test(self, pentanomial: Iterable[int]) -> SprtState:
        """The state of the test after pairs that scored 0, 1/2, 1, 3/2, 2."""
        return sprt(tuple(pentanomial), self.elo0, self.elo1, self.alpha, self.beta)


class SequentialTest:
    """An SPRT fed with whole pairs in scheduled order, until it decides.

    The order matters: were pairs counted as they end, those with short games would come first, and
    these are not like the others.
    """

    def __init__(self, schedule: Schedule, bounds: SprtBounds) -> None:
        self.schedule, self.bounds = schedule, bounds
        self.pairs = 0
        self._pentanomial = [0] * 5
        self.state = bounds.test(self._pentanomial)

    def advance(self, games: Mapping[Fixture, Game]) -> bool:
        """Count the pairs that follow and are complete; whether the test has decided."""
        first, second = self.schedule.agents
        while self.state.decision is None:
            fixtures = [Fixture(first, second, self.pairs, game) for game in (0, 1)]
            if not all(fixture in games for fixture in fixtures):
                break
            points = sum(first_score(fixture, games[fixture]) for fixture in fixtures)
            self._pentanomial[int(2 * points)] += 1
            self.pairs += 1
            self.state = self.bounds.test(self._pentanomial)
        return self.state.decision is not None


def white_score(game: Game) -> float:
    """White's score of a game of a match, none of which is unfinished."""
    assert game.score is not None
    return game.score


def first_score(fixture: Fixture, game: Game) -> float:
    """The score of the fixture's first agent."""
    return 1 - white_score(game) if fixture.game else white_score(game)


@dataclass(frozen=True, eq=False)
class Standings(ABC):
    """Games of a schedule, all of them or those played so far."""

    schedule: Schedule
    games: Mapping[Fixture, Game]
    """In scheduled order."""

    @property
    def distinct_games(self) -> int:
        """How many games differ: repetitions by deterministic agents are no further evidence."""
        return len({(game.start, game.actions) for game in self.games.values()})

    @property
    def draws(self) -> int:
        """Games drawn by the rules."""
        drawn = (game.termination == "normal" and game.winner is None for game in self.played)
        return sum(drawn)

    @property
    def ply_limit_hits(self) -> int:
        """Games cut at the ply limit, which score as draws."""
        return sum(game.termination == "ply limit" for game in self.played)

    @property
    def first_mover_score(self) -> float | None:
        """Mean score of white, in [0, 1]; None without games."""
        scores = [white_score(game) for game in self.played]
        return sum(scores) / len(scores) if scores else None

    @property
    def mean_plies(self) -> float | None:
        """Mean number of plies that the agents played in a game; None without games."""
        plies = [len(game.actions) for game in self.played]
        return sum(plies) / len(plies) if plies else None

    @property
    def faults(self) -> dict[str, dict[str, int]]:
        """Games lost by failing, by agent and by what happened; agents without any left out."""
        counts: dict[str, dict[str, int]] = {}
        for fixture, game in self.games.items():
            if game.termination in FAULTS:
                agent = fixture.white if game.final.side == "white" else fixture.black
                kinds = counts.setdefault(agent, dict.fromkeys(FAULTS, 0))
                kinds[game.termination] += 1
        return dict(sorted(counts.items()))

    @property
    def played(self) -> tuple[Game, ...]:
        """The games alone."""
        return tuple(self.games.values())

    @property
    def finished(self) -> bool:
        """Whether no game is left to play."""
        return len(self.games) == len(self.schedule)

    def sequential_test(self) -> SequentialTest | None:
        """The test that can end the games early, if there is one, before the first pair."""
        return None

    def common_summary(self) -> dict[str, Any]:
        """Plain numbers, those that matches and leagues share."""
        return {
            "finished": self.finished,
            "games": len(self.games),
            "distinct_games": self.distinct_games,
            "draws": self.draws,
            "ply_limit_hits": self.ply_limit_hits,
            "first_mover_score": self.first_mover_score,
            "mean_plies": self.mean_plies,
            "faults": self.faults,
        }

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them but for infinite ones."""


@dataclass(frozen=True, eq=False)
class MatchResult(Standings):
    """A match as its first agent sees it."""

    sprt_bounds: SprtBounds | None = None

    @cached_property
    def counts(self) -> MatchCounts:
        """The first agent's results, by pair and by game."""
        # By role, not by name: an agent may play itself.
        rows: list[Result] = []
        for fixture, game in self.games.items():
            roles = ("second", "first") if fixture.game else ("first", "second")
            rows.append((*roles, white_score(game), fixture.pair))
        return MatchCounts.from_results(rows, "first")

    @cached_property
    def elo(self) -> EloEstimate | None:
        """By how much the first agent is stronger; None without a complete pair."""
        return elo_estimate(self.counts.pentanomial) if self.counts.pairs else None

    @cached_property
    def sprt(self) -> SprtState | None:
        """The sequential test, if the match is one, over the pairs without a gap before them."""
        test = self.sequential_test()
        if test is None:
            return None
        test.advance(self.games)
        return test.state

    def sequential_test(self) -> SequentialTest | None:
        """The test that can end the games early, if there is one, before the first pair."""
        return SequentialTest(self.schedule, self.sprt_bounds) if self.sprt_bounds else None

    @property
    def finished(self) -> bool:
        """Whether no game is left to play: all are played, or the sequential test has decided."""
        return super().finished or (self.sprt is not None and self.sprt.decision is not None)

    def summary(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them but for infinite ones."""
        counts = self.counts
        return {
            **self.common_summary(),
            "pairs": counts.pairs,
            "pentanomial": list(counts.pentanomial),
            "losses_draws_wins": list(counts.trinomial),
            "pair_variance": counts.pair_variance if counts.pairs else None,
            "game_variance": counts.game_variance if counts.pairs else None,
            "estimate": None if self.elo is None else asdict(self.elo),
            "sprt": None if self.sprt is None else asdict(self.sprt),
        }


@dataclass(frozen=True, eq=False)
class LeagueResult(Standings):
    """A league: everyone has played everyone."""

    anchor: str
    """The agent that is rated 0."""
    bootstrap: int = BOOTSTRAP

    @cached_property
    def fit(self) -> LeagueFit | None:
        """The ratings; None as long as games do not link all agents."""
        rows: list[Result] = [
            (fixture.white, fixture.black, white_score(game), fixture.pair)
            for fixture, game in self.games.items()
        ]
        if {name for row in rows for name in row[:2]} != set(self.schedule.agents):
            return None
        rng = np.random.default_rng(self.schedule.seed)
        try:
            return fit_ratings(rows, self.anchor, rng, bootstrap=self.bootstrap)
        except ResultError:
            return None

    def match(self, first: str, second: str) -> MatchResult:
        """The games of two agents as a match.

        Raises:
            ValueError: if they do not play each other.
        """
        for name in (first, second):
            if name not in self.schedule.agents:
                known = ", ".join(self.schedule.agents)
                raise ValueError(f"agent {name!r} is not in the league: {known}")
        if first == second:
            raise ValueError(f"{first} does not play itself in a league")
        turned = self.schedule.agents.index(first) > self.schedule.agents.index(second)
        games = {
            Fixture(first, second, fixture.pair, fixture.game ^ turned): game
            for fixture, game in self.games.items()
            if {fixture.first, fixture.second} == {first, second}
        }
        schedule = replace(self.schedule, agents=(first, second))
        return MatchResult(schedule, dict(sorted(games.items())))

    def summary(self) -> dict[str, Any]:
        """All numbers, as JSON can hold them but for infinite ones."""
        matches = []
        for first, second in self.schedule.pairings:
            match = self.match(first, second).summary()
            kept = {name: match[name] for name in ("pairs", "pentanomial", "losses_draws_wins")}
            estimate = match["estimate"] or {"elo": None, "elo_interval": None}
            kept |= {name: estimate[name] for name in ("elo", "elo_interval")}
            matches.append({"first": first, "second": second, **kept})
        return {
            **self.common_summary(),
            "ratings": None if self.fit is None else _fit_summary(self.fit),
            "matches": matches,
        }


def _fit_summary(fit: LeagueFit) -> dict[str, Any]:
    return {
        "anchor": fit.anchor,
        "table": [asdict(rating) for rating in fit.ratings],
        "first_mover_elo": fit.first_mover_elo,
        "first_mover_interval": fit.first_mover_interval,
        "draw": fit.draw,
        "draw_interval": fit.draw_interval,
        "groups": fit.groups,
    }


def in_json(value: Any) -> Any:
    """A value as JSON holds it: lists for tuples, "inf" and "-inf" for infinite numbers."""
    if isinstance(value, dict):
        return {name: in_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [in_json(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
