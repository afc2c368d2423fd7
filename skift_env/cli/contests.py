"""The commands that let agents play each other, and the one that checks what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from skift_env import match, reports
from skift_env.agents import AgentSpecError
from skift_env.arena import as_agent
from skift_env.cli.common import AGENT_HELP, INPUT_ERRORS, refusing
from skift_env.cli.views import progress_bar, show_report, show_result
from skift_env.episodes import DEFAULT_MAX_PLIES
from skift_env.position import Position, PositionError
from skift_env.records import write_games
from skift_env.results import ResultsError
from skift_env.schedule import START, OpeningBook, ScheduleError, opening_book
from skift_env.standings import BOOTSTRAP, LeagueResult, MatchResult, SprtBounds
from skift_env.verification import verify as check_file

NOT_FOUND: Final = 1
"""Exit status of a check that found something wrong."""
INTERRUPTED: Final = 130
"""Exit status after Ctrl-C, as shells have it."""


PLAY_ERRORS: Final = (
    AgentSpecError,
    ScheduleError,
    ResultsError,
    OSError,
    match.MatchError,
    match.WorkerError,
)
"""For playing, where other errors are our own."""

# --- What several commands take ----------------------------------------------------------------

AgentA = Annotated[str, typer.Argument(metavar="A", help=AGENT_HELP)]
AgentB = Annotated[str, typer.Argument(metavar="B", help="Its opponent.")]
Pairs = Annotated[
    int, typer.Option(help="Pairs of games for each two agents: one opening, colours swapped.")
]
OpeningsName = Annotated[
    str,
    typer.Option(
        "--openings",
        metavar="NAME|FILE",
        help=f"Where games start: a known list, {START!r} for the usual start, or a file with a "
        "position a line.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the order of openings and of all agents.")]
Workers = Annotated[int, typer.Option(help="Processes that play. They do not change the result.")]
MaxPlies = Annotated[int, typer.Option(help="Cut a game at this ply; it scores as a draw.")]
MoveSeconds = Annotated[
    float | None,
    typer.Option(help="Who takes longer for a move loses the game. Such results may not repeat."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Keep results and games in a JSON file."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the games in --output.")]
Records = Annotated[
    Path | None,
    typer.Option("--games", metavar="FILE", help="Write the games as records (text) to a file."),
]


def _openings(name: str) -> OpeningBook:
    """The openings of that name, or in that file."""
    file = Path(name)
    if not file.is_file():
        return opening_book(name)
    positions = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if line.strip():
            try:
                positions.append(Position.parse(line.strip()))
            except PositionError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None
    return opening_book(positions)


def _check_files(output: Path | None, resume: bool, *later: Path | None) -> None:
    """Find out before the games, not after, what cannot be written."""
    if resume and output is None:
        raise ValueError("--resume goes on with the file of --output, which is not given")
    for file in later:
        if file and not file.parent.is_dir():
            raise ValueError(f"{file.parent.as_posix()} is no folder")


def _out() -> Console:
    return Console(highlight=False, markup=False)


def _finish(result: MatchResult | LeagueResult, records: Path | None) -> None:
    show_result(_out(), result)
    if records:
        with refusing(OSError):
            write_games(records, result.played)


@contextmanager
def _watched(games: int, output: Path | None) -> Iterator[Any]:
    """A progress bar; after Ctrl-C, what was played up to then, and how to go on."""
    last: list[MatchResult | LeagueResult] = []
    try:
        with progress_bar(Console(stderr=True), games) as advance:

            def note(result: MatchResult | LeagueResult) -> None:
                last[:] = [result]
                advance(result)

            yield note
    except KeyboardInterrupt:
        if last:
            show_result(_out(), last[0])
        kept = f"kept in {output}; go on with --resume" if output else "not kept: no --output"
        typer.echo(f"Interrupted. The games are {kept}.", err=True)
        raise typer.Exit(INTERRUPTED) from None


# --- Commands ----------------------------------------------------------------------------------


def match_command(
    a: AgentA,
    b: AgentB,
    pairs: Pairs = 100,
    openings: OpeningsName = match.DEFAULT_OPENINGS,
    seed: Seed = 0,
    workers: Workers = 1,
    max_plies: MaxPlies = DEFAULT_MAX_PLIES,
    move_seconds: MoveSeconds = None,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="ELO0 ELO1",
            help="Stop as soon as it is decided whether A is stronger by ELO0 or by ELO1; "
            "--pairs is then the most.",
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="With --sprt: chance of ELO1 when ELO0 is true.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(help="With --sprt: chance of ELO0 when ELO1 is true.")
    ] = 0.05,
    output: Output = None,
    resume: Resume = False,
    games: Records = None,
) -> None:
    """Measure by how much agent A is stronger than B.

    For example: skift match alphabeta:depth=2 greedy --pairs 200 --workers 4 -o result.json
    """
    with refusing(*INPUT_ERRORS):
        _check_files(output, resume, games)
        for agent in (a, b):
            as_agent(agent)
        book = _openings(openings)
        bounds = SprtBounds(*sprt, alpha, beta) if sprt else None
    with refusing(*PLAY_ERRORS), _watched(2 * pairs, output) as progress:
        result = match.play_match(
            a,
            b,
            pairs=pairs,
            openings=book,
            seed=seed,
            workers=workers,
            max_plies=max_plies,
            move_seconds=move_seconds,
            sprt=bounds,
            file=output,
            resume=resume,
            progress=progress,
        )
    _finish(result, games)


def league(
    agents: Annotated[
        list[str],
        typer.Argument(metavar="AGENT", help="Two or more, such as random greedy mcts."),
    ],
    pairs: Pairs = 100,
    openings: OpeningsName = match.DEFAULT_OPENINGS,
    seed: Seed = 0,
    workers: Workers = 1,
    max_plies: MaxPlies = DEFAULT_MAX_PLIES,
    move_seconds: MoveSeconds = None,
    anchor: Annotated[
        str | None, typer.Option(help="The agent rated 0; random if it takes part, else the first.")
    ] = None,
    bootstrap: Annotated[int, typer.Option(help="Replicates for the intervals.")] = BOOTSTRAP,
    output: Output = None,
    resume: Resume = False,
    games: Records = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write both tables as Markdown.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw ratings and scores (png, svg, pdf).")
    ] = None,
) -> None:
    """Rate agents by matches of every two of them.

    For example: skift league random greedy alphabeta:depth=2 --pairs 100 -o league.json
    """
    with refusing(*INPUT_ERRORS):
        _check_files(output, resume, games, table, plot)
        for agent in (*agents, *([anchor] if anchor else [])):
            as_agent(agent)
        book = _openings(openings)
    total = pairs * len(agents) * (len(agents) - 1)
    with refusing(*PLAY_ERRORS), _watched(total, output) as progress:
        result = match.league(
            agents,
            pairs=pairs,
            openings=book,
            seed=seed,
            workers=workers,
            max_plies=max_plies,
            move_seconds=move_seconds,
            anchor=anchor,
            bootstrap=bootstrap,
            file=output,
            resume=resume,
            progress=progress,
        )
    _finish(result, games)
    with refusing(*INPUT_ERRORS):
        if table:
            tables = reports.ratings_table(result), reports.score_matrix(result)
            table.write_text("\n".join(part.markdown() for part in tables), "utf-8")
        if plot:
            reports.plot(result, plot)


def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A results file of a match or league.")
    ],
    play_again: Annotated[
        int, typer.Option(metavar="N", min=0, help="Let the agents play N of the games again.")
    ] = 0,
) -> None:
    """Check a results file by replaying it.

    Every game is replayed, every number computed anew from the games.

    The exit status is 1 if anything is wrong.
    """
    with refusing(ResultsError, OSError):
        report = check_file(file, play_again=play_again)
    show_report(_out(), report)
    if not report.ok:
        raise typer.Exit(NOT_FOUND)
