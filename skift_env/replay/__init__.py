"""Games to look at again: as a page for a browser, an animated GIF or a film.

>>> from skift_env import replay
>>> from skift_env.records import parse_game
>>> game = parse_game('[White "one"] [Black "two"] 1. d3s {[%eval 0.1]} c5ne *')
>>> page = replay.html(game)
>>> page.splitlines()[0], '"moves":["d3s","c5ne"]' in page
('<!DOCTYPE html>', True)
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skift_env.drawing import Orientation
from skift_env.replay.camera import steady_views
from skift_env.replay.film import frames, write_gif, write_mp4
from skift_env.replay.page import embedded, html, values, write_html

if TYPE_CHECKING:
    from skift_env.records import Game

__all__ = [
    "FORMATS",
    "convert",
    "embedded",
    "frames",
    "html",
    "load",
    "steady_views",
    "values",
    "write_gif",
    "write_html",
    "write_mp4",
]

FORMATS: Final = (".html", ".gif", ".mp4")


def load(path: str | PathLike[str]) -> list[Game]:
    """The games of a file: of results if it is named `.json` or `.json.gz`, else of records.

    Raises:
        RecordError, ResultsError: a ValueError that says what is wrong and where.
        OSError: if the file cannot be read.
    """
    from skift_env import records, results

    source = Path(path)
    if source.name.lower().endswith((".json", ".json.gz")):
        return list(results.load(source).result.played)
    return records.read_games(source)


def convert(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    game: int | None = None,
    size: int = 480,
    seconds: float = 0.9,
    orientation: Orientation = "white",
    theme: str = "light",
) -> int:
    """Turn a file of games into a page, GIF or film, by the target's name: `skift replay`.

    Args:
        source: a file for `load`.
        target: the file to write: `.html`, `.gif` or `.mp4`.
        game: its number in the file, from 1; by default all, of which only a page can hold several.
        size: width of a GIF or film in pixels.
        seconds: time for a ply in a GIF or film.
        orientation: from whose side a GIF or film shows the board.
        theme: "light" or "dark" for a GIF or film; a page goes by its reader's settings.

    Returns:
        The number of games written.

    Raises:
        ValueError: for another ending, a number without game, several games for one film, a file
            without games or with errors, and wrong options.
        OSError: if a file cannot be read or written.
        gymnasium.error.DependencyNotInstalled: where the package for a GIF or film is missing.
    """
    ending = Path(target).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{target} must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    games = load(source)
    if not games:
        raise ValueError(f"{source} has no game")
    if game is not None:
        if not 1 <= game <= len(games):
            raise ValueError(f"{source} has games 1 … {len(games)}, not {game}")
        games = [games[game - 1]]
    if ending == ".html":
        write_html(target, games, title=Path(source).stem)
        return len(games)
    if len(games) > 1:
        raise ValueError(
            f"{source} has {len(games)} games, and {target} holds one: choose a number"
        )
    write = write_gif if ending == ".gif" else write_mp4
    write(target, games[0], size=size, seconds=seconds, orientation=orientation, theme=theme)
    return 1
