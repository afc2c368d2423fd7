"""Check a results file from its games: everything in it that can be computed is, anew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skift_env.arena import play_fixtures
from skift_env.manifest import MUST_AGREE, manifest
from skift_env.results import (
    Document,
    ResultsError,
    games_hash,
    member,
    members,
    parse_document,
    read_document,
)
from skift_env.schedule import Fixture
from skift_env.standings import LeagueResult, MatchResult, Standings, in_json


@dataclass(frozen=True)
class Report:
    """What a check of a results file has found."""

    problems: tuple[str, ...]
    """What is wrong, and where."""
    games: int
    """Games replayed without fault."""
    plies: int
    """Moves in these."""
    played_again: int
    """Games that the agents have played again."""
    result: MatchResult | LeagueResult | None
    """The results as computed anew; None if the file is too far from being any."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(path: str | Path, *, play_again: int = 0) -> Report:
    """Check a results file: rules, openings, schedule, every move, outcome and number.

    Moves that are legal and lead to the same result are found out by the hash of the games only,
    which a forger can compute too. So the agents themselves can play some games again; they must
    then make the same moves. That asks for agents that `make` knows, and for the packages that
    they depend on in versions that play alike.

    Args:
        path: the file.
        play_again: how many games the agents play again, spread over the file.

    Raises:
        ResultsError: a ValueError, if it is no results file of a version known here.
        OSError: if it cannot be read.
    """
    document = read_document(Path(path))
    problems = []
    result: MatchResult | LeagueResult | None = None
    repeated = 0
    try:
        problems += manifest_problems(members(document, "", "manifests", dict))
        result, wrong_games = parse_document(document)
        problems += wrong_games or _number_problems(document, result)
        entries = document["games"]
        sha256 = games_hash(entries)
        if member(document, "", "games_sha256", str) != sha256:
            problems.append(f"games_sha256 is not that of the games, {sha256}")
        if not problems and play_again:
            fixtures = list(result.games)
            step = max(1, len(fixtures) // play_again)
            chosen = fixtures[::step][:play_again]
            problems += _repetition_problems(result, chosen)
            repeated = len(chosen)
    except ResultsError as error:
        problems.append(str(error))
    games = result.played if result else ()
    plies = sum(len(game.actions) for game in games)
    return Report(tuple(problems), len(games), plies, repeated, result)


def manifest_problems(manifests: Sequence[Document]) -> list[str]:
    """In what the makers of results differ from what there is here, of what must agree."""
    here = manifest()
    return [
        f"manifests[{number}].{name} is {told.get(name)!r}, here it is {here[name]!r}"
        for number, told in enumerate(manifests)
        for name in MUST_AGREE
        if told.get(name) != here[name]
    ] or ([] if manifests else ["manifests is empty"])


def _number_problems(document: Document, result: MatchResult | LeagueResult) -> list[str]:
    problems = list(_differences(document.get("summary"), in_json(result.summary()), "summary"))
    test = result.sequential_test()
    if test and test.advance(result.games) and len(result.games) > 2 * test.pairs:
        problems.append(f"games go on after the test has decided, with {test.pairs} pairs")
    return problems


def _differences(told: Any, found: Any, where: str) -> Iterator[str]:
    """Where a file's numbers are not those found, but for rounding."""
    if isinstance(told, dict) and isinstance(found, dict) and told.keys() == found.keys():
        for name in found:
            yield from _differences(told[name], found[name], f"{where}.{name}")
    elif isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        for number, pair in enumerate(zip(told, found, strict=True)):
            yield from _differences(*pair, f"{where}[{number}]")
    elif isinstance(found, float) and type(told) in (int, float):
        # Linear algebra differs in the last digits from machine to machine.
        if not math.isclose(told, found, rel_tol=1e-6, abs_tol=1e-6):
            yield f"{where} is {told!r}, the games make it {found!r}"
    elif type(told) is not type(found) or told != found:
        yield f"{where} is {told!r}, the games make it {found!r}"


def _repetition_problems(result: Standings, fixtures: Sequence[Fixture]) -> list[str]:
    problems = []
    players = {name: name for fixture in fixtures for name in fixture[:2]}
    try:
        for fixture, again in play_fixtures(result.schedule, players, fixtures):
            if result.games[fixture].actions != again.actions:
                problems.append(
                    f"played again, pair {fixture.pair}, game {fixture.game} of {fixture.first} – "
                    f"{fixture.second} goes otherwise"
                )
    except ValueError as error:
        problems.append(f"cannot play again: {error}")
    return problems
