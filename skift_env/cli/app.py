"""The commands of `skift`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from gymnasium.error import DependencyNotInstalled

from skift_env import __version__
from skift_env.arena import as_agent
from skift_env.cli import contests
from skift_env.cli.common import AGENT_HELP, INPUT_ERRORS, refusing
from skift_env.cli.terminal import TerminalGame, complete_with_tab
from skift_env.position import Position, PositionError
from skift_env.position import perft as count_sequences
from skift_env.render import text as draw
from skift_env.replay import convert
from skift_env.schedule import START
from skift_env.types import Side
from skift_env.web import serve

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _position(words: list[str]) -> Position:
    """The position that words mean, quoted together or not; none are the usual start."""
    text = " ".join(words)
    return Position.start() if text in ("", START) else Position.parse(text)


@app.callback(invoke_without_command=True)
def skift(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Skift, a board game for two: play it, and measure who plays it better."""
    if version:
        typer.echo(f"skift-env {__version__}")
        raise typer.Exit


app.command("match")(contests.match_command)
app.command()(contests.league)
app.command()(contests.verify)


@app.command()
def perft(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[POSITION] DEPTH",
            help="A position's text (by default the usual start), and how many plies deep.",
        ),
    ],
    divide: Annotated[bool, typer.Option("--divide", help="Show the count for each move.")] = False,
) -> None:
    """Count sequences of legal moves, to check the rules.

    For example: skift perft 3
    """
    *words, depth = arguments
    if not depth.isdecimal() or not depth.isascii():
        raise typer.BadParameter(f"DEPTH must be a whole number >= 0, not {depth!r}")
    with refusing(PositionError):
        position = _position(words)
    if depth == "0":
        typer.echo("1")
        return
    counts = {
        position.action_text(action): count_sequences(position.play(action), int(depth) - 1)
        for action in position.legal_actions
    }
    if divide:
        for move, count in sorted(counts.items()):
            typer.echo(f"{move} {count}")
    typer.echo(str(sum(counts.values())))


@app.command()
def show(
    position: Annotated[
        list[str] | None,
        typer.Argument(metavar="POSITION", help="Its text; by default the usual start."),
    ] = None,
    moves: Annotated[bool, typer.Option("--moves", help="List the legal moves as well.")] = False,
) -> None:
    """Show a position as a board.

    For example: skift show "....../.PpPp./.pKkP./.PkKp./.pPpP./...... w - 0"
    """
    with refusing(PositionError):
        shown = _position(position or [])
    typer.echo(draw(shown))
    if moves:
        typer.echo()
        for action in shown.legal_actions:
            typer.echo(f"{shown.action_text(action):6} {action:3}  {shown.describe(action)}")


@app.command()
def replay(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Game records, or (.json) results with their games."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A page (.html), an animation (.gif) or a film (.mp4); by default a page.",
        ),
    ] = None,
    game: Annotated[
        int | None,
        typer.Option(metavar="N", help="Its number in the file. A page can hold all of them."),
    ] = None,
    size: Annotated[int, typer.Option(help="Width of an animation or film in pixels.")] = 480,
    seconds: Annotated[float, typer.Option(help="Time for a ply in an animation or film.")] = 0.9,
    black: Annotated[
        bool, typer.Option("--black", help="Show an animation or film from black's side.")
    ] = False,
    dark: Annotated[bool, typer.Option("--dark", help="A dark animation or film.")] = False,
) -> None:
    """Make games a page to step through them, an animated GIF or a film.

    For example: skift replay result.json -o games.html
    """
    target = output or file.with_suffix(".html")
    with refusing(*INPUT_ERRORS, DependencyNotInstalled):
        count = convert(
            file,
            target,
            game=game,
            size=size,
            seconds=seconds,
            orientation="black" if black else "white",
            theme="dark" if dark else "light",
        )
    typer.echo(f"{target}: {count} game{'s' * (count != 1)}")


class Seat(str, Enum):
    """Which side a person plays."""

    white = "white"
    black = "black"
    random = "random"


@app.command()
def play(
    agent: Annotated[
        str | None,
        typer.Argument(
            metavar="AGENT", help=f"{AGENT_HELP} By default greedy.", show_default=False
        ),
    ] = None,
    opponent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="The same, as an option.")
    ] = None,
    side: Annotated[
        Seat | None, typer.Option(help="Your side, by default white, which moves first.")
    ] = None,
    position: Annotated[
        str | None, typer.Option(help="Start from this position's text, not the usual start.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the agent, to play the same game again.")
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Play in the browser.")] = False,
    host: Annotated[
        str,
        typer.Option(
            help="With --web: the address to listen on; by default for this machine only."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --web: its port; 0 for a free one.")
    ] = 8000,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="With --web: only tell the page's address.")
    ] = False,
) -> None:
    """Play against an agent, in the terminal or in the browser.

    Type help in the terminal to learn how. Without any agent, side, position and seed, the page in
    the browser goes on with the last game played there.

    For example: skift play alphabeta:depth=2 --side black
    """
    if agent is not None and opponent is not None:
        raise typer.BadParameter("two agents are given; you play against one")
    chosen = agent or opponent
    with refusing(*INPUT_ERRORS):
        start = None if position is None else _position([position])
        if start is not None and start.outcome is not None:
            raise ValueError(f"the game is over in this position: {start.outcome.reason}")
    source = np.random.SeedSequence(seed)
    sides: tuple[Side, Side] = ("white", "black")
    if side is Seat.random:
        yours = sides[int(source.generate_state(1)[0]) % 2]
    else:
        yours = sides[side is Seat.black]
    if web:
        with refusing(*INPUT_ERRORS, DependencyNotInstalled):
            serve(
                chosen,
                side=None if side is None else yours,
                start=start,
                seed=seed,
                host=host,
                port=port,
                open_browser=not no_browser,
                announce=lambda address: typer.echo(f"Play at {address} and end with Ctrl-C."),
            )
        return
    with refusing(*INPUT_ERRORS):
        against = as_agent(chosen or "greedy")
    game = TerminalGame(against, start or Position.start(), yours, source, say=typer.echo)
    complete_with_tab(game)
    try:
        game.run()
    except KeyboardInterrupt:
        typer.echo()
