"""Results of matches and leagues as JSON files that anyone can check.

A file is one object (UTF-8) with these members:

- `schema_version`: 1.
- `kind`: "match" or "league".
- `manifests`: what it was made with, an object as `skift_env.manifest.manifest` returns it:
  ruleset, environment and engine hash, which must be those of the reader, and versions, commit and
  machine. There are several if the games were played in several goes that differ in these.
- `settings`: `agents` (names; two, or a league), `openings` (`name`, `sha256` of the positions'
  texts one a line, `count`, and the `positions` if the name is "custom"), `seed`, `pairs` of games
  for each two agents, `max_plies`, `move_seconds` (null: no limit); of a match `sprt` (null, or
  `elo0`, `elo1`, `alpha`, `beta`), of a league `anchor` and `bootstrap`.
- `summary`: the numbers. `finished`, `games`, `distinct_games`, `draws` (by the rules),
  `ply_limit_hits`, `first_mover_score`, `mean_plies`, `faults` by agent. Of a match, as the first
  agent sees it: `pairs`, `pentanomial`, `losses_draws_wins`, `pair_variance`, `game_variance`, the
  `estimate` of Elo (fields of `ratings.EloEstimate`) and `sprt` (of `ratings.SprtState`). Of a
  league: `ratings` with the `table` and what else `ratings.LeagueFit` says, and its `matches`.
  Infinite numbers are "inf" and "-inf"; null means that the games do not tell.
- `games_sha256`: hash of the games, each as a line of JSON without spaces.
- `games`: in scheduled order, one a line: `white`, `black`, `pair`, `game` (0: the first agent is
  white, 1: the second), `opening` (number in the openings), `result` and `termination` (see
  `skift_env.records`), `comment` (what went wrong, if something did), `moves` in notation.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from skift_env.arena import fixture_tags
from skift_env.files import write_atomically
from skift_env.manifest import manifest
from skift_env.position import Position
from skift_env.records import FAULTS, Game
from skift_env.schedule import Fixture, OpeningBook, Schedule, opening_book
from skift_env.standings import (
    LeagueResult,
    MatchResult,
    SprtBounds,
    Standings,
    in_json,
)

SCHEMA_VERSION: Final = 1
MATCH_TERMINATIONS: Final = ("normal", "ply limit", *FAULTS)
CUSTOM: Final = "custom"

Document: TypeAlias = dict[str, Any]


class ResultsError(ValueError):
    """A file that holds no results, or results that cannot be; the message says where."""


# --- Writing -----------------------------------------------------------------------------------


def settings(result: Standings) -> Document:
    """The member `settings` of a file."""
    schedule = result.schedule
    book = schedule.book
    openings: Document = {
        "name": book.name,
        "sha256": book.sha256,
        "count": len(book.positions),
    }
    if book.name == CUSTOM:
        openings["positions"] = [position.text for position in book.positions]
    document: Document = {
        "agents": list(schedule.agents),
        "openings": openings,
        "seed": int(schedule.seed),
        "pairs": int(schedule.pairs),
        "max_plies": int(schedule.max_plies),
        "move_seconds": schedule.move_seconds,
    }
    if isinstance(result, MatchResult):
        document["sprt"] = asdict(result.sprt_bounds) if result.sprt_bounds else None
    elif isinstance(result, LeagueResult):
        document |= {"anchor": result.anchor, "bootstrap": result.bootstrap}
    return document


def save(path: str | Path, result: Standings, manifests: Sequence[Document] = ()) -> None:
    """Write results, made here and now unless `manifests` are given; the file changes at once.

    Raises:
        OSError: if it cannot be written.
    """
    games = [_game_entry(result.schedule, *item) for item in result.games.items()]
    head = {
        "schema_version": SCHEMA_VERSION,
        "kind": "league" if isinstance(result, LeagueResult) else "match",
        "manifests": list(manifests) or [manifest()],
        "settings": settings(result),
        "summary": in_json(result.summary()),
        "games_sha256": games_hash(games),
    }
    text = json.dumps(head, indent=1).removesuffix("\n}")
    rows = ",".join("\n  " + json.dumps(game) for game in games)
    write_atomically(Path(path), f'{text},\n "games": [{rows}\n ]\n}}\n')


def _game_entry(schedule: Schedule, fixture: Fixture, game: Game) -> Document:
    return {
        "white": fixture.white,
        "black": fixture.black,
        "pair": fixture.pair,
        "game": fixture.game,
        "opening": schedule.opening(fixture.pair),
        "result": game.result,
        "termination": game.termination,
        "comment": game.comments.get(len(game.actions), ""),
        "moves": " ".join(game.moves),
    }


def games_hash(entries: Sequence[Any]) -> str:
    """The member `games_sha256` of a file with these games."""
    lines = (json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


# --- Reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """What a results file holds."""

    result: MatchResult | LeagueResult
    manifests: tuple[Document, ...]


def load(path: str | Path) -> Saved:
    """The results of a file. Every game is replayed, but the file's own numbers are not looked at.

    Raises:
        ResultsError: a ValueError, if it holds none, or one of the games cannot have been played.
        OSError: if it cannot be read.
    """
    document = read_document(Path(path))
    try:
        manifests = tuple(members(document, "", "manifests", dict))
        result, problems = parse_document(document)
    except ResultsError as error:
        raise ResultsError(f"{path}: {error}") from None
    if problems:
        raise ResultsError(f"{path}: {problems[0]}")
    return Saved(result, manifests)


def read_document(path: Path) -> Document:
    """The object in a file, plain or named .gz, of which only the schema version is looked at."""
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        document = json.loads(content.decode("utf-8"))
    except (ValueError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ResultsError(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict) or "schema_version" not in document:
        raise ResultsError(f"{path} holds no results of a match or league")
    if document["schema_version"] != SCHEMA_VERSION:
        raise ResultsError(
            f"{path} has schema version {document['schema_version']!r}, "
            f"this program knows version {SCHEMA_VERSION}"
        )
    return document


def member(parent: Document, where: str, name: str, *kinds: type) -> Any:
    """A member of an object in a file, of one of these kinds of value."""
    value = parent.get(name, ...)
    if type(value) not in kinds:  # not isinstance: JSON's true is no number
        told = "is missing" if value is ... else f"is {value!r}"
        wanted = " or ".join(_KINDS[kind] for kind in kinds)
        raise ResultsError(f"{where}{name} {told}, not {wanted}")
    return value


_KINDS: Final = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def members(parent: Document, where: str, name: str, kind: type) -> list[Any]:
    """A member that is a list of such values."""
    values: list[Any] = member(parent, where, name, list)
    for number, value in enumerate(values):
        if type(value) is not kind:
            raise ResultsError(f"{where}{name}[{number}] is {value!r}, not {_KINDS[kind]}")
    return values


def parse_document(document: Document) -> tuple[MatchResult | LeagueResult, list[str]]:
    """The results of a file, of those games that can have been, and what is wrong with others."""
    kind = document.get("kind")
    if kind not in ("match", "league"):
        raise ResultsError(f"kind is {kind!r}, neither 'match' nor 'league'")
    told = member(document, "", "settings", dict)
    try:
        schedule = Schedule(
            agents=tuple(members(told, "settings.", "agents", str)),
            book=_book(member(told, "settings.", "openings", dict)),
            seed=member(told, "settings.", "seed", int),
            pairs=member(told, "settings.", "pairs", int),
            max_plies=member(told, "settings.", "max_plies", int),
            move_seconds=member(told, "settings.", "move_seconds", float, int, type(None)),
        )
        games, problems = _games(schedule, members(document, "", "games", dict))
        if kind == "league":
            anchor = member(told, "settings.", "anchor", str)
            bootstrap = member(told, "settings.", "bootstrap", int)
            return LeagueResult(schedule, games, anchor, bootstrap), problems
        bounds = None
        if member(told, "settings.", "sprt", dict, type(None)) is not None:
            names = ("elo0", "elo1", "alpha", "beta")
            bounds = SprtBounds(
                *(member(told["sprt"], "settings.sprt.", name, float, int) for name in names)
            )
    except ResultsError:
        raise
    except ValueError as error:
        raise ResultsError(f"settings: {error}") from None
    return MatchResult(schedule, games, bounds), problems


def _book(told: Document) -> OpeningBook:
    where = "settings.openings."
    name = member(told, where, "name", str)
    if name == CUSTOM:
        texts = members(told, where, "positions", str)
        book = OpeningBook(name, tuple(Position.parse(text) for text in texts))
    else:
        book = opening_book(name)
    sha256 = member(told, where, "sha256", str)
    if sha256 != book.sha256:
        raise ResultsError(f"{where}sha256 is {sha256!r}, but {name!r} has {book.sha256!r}")
    return book


def _games(
    schedule: Schedule, entries: Sequence[Document]
) -> tuple[dict[Fixture, Game], list[str]]:
    order = {fixture: number for number, fixture in enumerate(schedule.fixtures())}
    games: dict[Fixture, Game] = {}
    problems: list[str] = []
    last = -1
    for number, entry in enumerate(entries):
        try:
            fixture = _fixture(entry)
            if order.get(fixture, -1) <= last:
                raise ResultsError(
                    f"pair {fixture.pair}, game {fixture.game} of {fixture.first} – "
                    f"{fixture.second} is not scheduled, repeated or out of order"
                )
            last = order[fixture]
            games[fixture] = _game(schedule, fixture, entry)
        except ValueError as error:
            problems.append(f"games[{number}]: {error}")
    return games, problems


def _fixture(entry: Document) -> Fixture:
    white, black = (member(entry, "", side, str) for side in ("white", "black"))
    pair, game = (member(entry, "", name, int) for name in ("pair", "game"))
    return Fixture(black, white, pair, game) if game else Fixture(white, black, pair, game)


def _game(schedule: Schedule, fixture: Fixture, entry: Document) -> Game:
    """A game of a file, replayed; ValueError if it cannot be that fixture's."""
    opening = member(entry, "", "opening", int)
    if opening != schedule.opening(fixture.pair):
        raise ResultsError(f"opening is {opening}, scheduled is {schedule.opening(fixture.pair)}")
    position = start = schedule.start(fixture.pair)
    actions = []
    for number, move in enumerate(member(entry, "", "moves", str).split(), start=1):
        try:
            actions.append(position.parse_action(move))
            position = position.play(actions[-1])
        except ValueError as error:
            raise ResultsError(f"move {number}: {error}") from None
    comment = member(entry, "", "comment", str)
    game = Game(
        start,
        tuple(actions),
        member(entry, "", "termination", str),
        fixture_tags(schedule, fixture),
        {len(actions): comment} if comment else {},
    )
    at_limit = game.termination == "ply limit"
    if game.termination not in MATCH_TERMINATIONS:
        raise ResultsError(f"termination {game.termination!r} in a match")
    if position.ply > schedule.max_plies or (at_limit and position.ply < schedule.max_plies):
        limit = f"max_plies is {schedule.max_plies}"
        raise ResultsError(f"{game.termination!r} at ply {position.ply}, but {limit}")
    result = member(entry, "", "result", str)
    if result != game.result:
        raise ResultsError(f"result is {result!r}, but the game makes it {game.result!r}")
    return game
