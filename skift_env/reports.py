"""A league to read: table, matrix and plot (extra `plot`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from skift_env.ratings import Interval, LeagueFit
from skift_env.standings import LeagueResult


class Table(NamedTuple):
    """Texts in rows and columns."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table in Markdown; all columns but the first are aligned to the right."""
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]

        def line(row: Sequence[str]) -> str:
            padded = [row[0].ljust(widths[0])]
            padded += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            return f"| {' | '.join(padded)} |\n"

        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        return "".join(map(line, (cells[0], rule, *cells[1:])))


def ratings_table(league: LeagueResult) -> Table:
    """The agents, strongest first, with Elo and interval.

    Raises:
        ValueError: if the games do not link all agents yet.
    """
    fit = _fit(league)
    header = ("Agent", "Elo", f"{100 * fit.confidence:g} % interval", "Games", "Score")
    rows = [
        (
            rating.agent,
            f"{rating.elo:.0f}",
            interval_text(rating.interval) if rating.agent != fit.anchor else "anchor",
            str(rating.games),
            f"{100 * rating.score:.1f} %",
        )
        for rating in fit.ratings
    ]
    return Table(header, tuple(rows))


def score_matrix(league: LeagueResult) -> Table:
    """Each agent's score against each other one, in percent, strongest first.

    Raises:
        ValueError: if the games do not link all agents yet.
    """
    fit = _fit(league)
    numbers = [str(place) for place in range(1, len(fit.agents) + 1)]
    rows = []
    for place, (agent, games, points) in enumerate(
        zip(fit.agents, fit.games, fit.points, strict=True)
    ):
        scores = [f"{100 * p / g:.0f}" if g else "" for p, g in zip(points, games, strict=True)]
        scores[place] = "–"
        rows.append((f"{numbers[place]} {agent}", *scores))
    return Table(("Score in % against", *numbers), tuple(rows))


def elo_text(elo: float) -> str:
    """A difference with its sign, without decimals."""
    return f"{elo:+.0f}".replace("inf", "∞").replace("-", "−")


def interval_text(interval: Interval) -> str:
    """An interval of Elo differences."""
    return f"{elo_text(interval[0])} … {elo_text(interval[1])}"


def plot(league: LeagueResult, path: str | Path) -> None:
    """Draw ratings with their intervals, and the matrix of scores, to a file; its name's ending
    says in which format (png, svg, pdf).

    Raises:
        ImportError: if Matplotlib is missing.
        ValueError: if the games do not link all agents yet, or for an unknown ending.
        OSError: if the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            'Matplotlib is not installed, run `pip install "skift-env[plot]"`'
        ) from error
    fit = _fit(league)
    figure = Figure(figsize=(11, 2 + 0.45 * len(fit.agents)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _draw_ratings(left, fit)
    _draw_scores(right, fit)
    figure.savefig(Path(path), dpi=150)


def _draw_ratings(axes: Any, fit: LeagueFit) -> None:
    places = range(len(fit.agents))
    elo = [rating.elo for rating in fit.ratings]
    below = [rating.elo - rating.interval[0] for rating in fit.ratings]
    above = [rating.interval[1] - rating.elo for rating in fit.ratings]
    axes.errorbar(elo, places, xerr=(below, above), fmt="o", color="black", capsize=3)
    axes.set_yticks(places, [f"{agent}  {place}" for place, agent in enumerate(fit.agents, 1)])
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"Elo above {fit.anchor}, with {100 * fit.confidence:g} % intervals")


def _draw_scores(axes: Any, fit: LeagueFit) -> None:
    places = range(len(fit.agents))
    shares = fit.points / fit.games.clip(min=1)
    shares[fit.games == 0] = float("nan")
    axes.imshow(shares, cmap="RdYlGn", vmin=0, vmax=1)
    for row in places:
        for column in places:
            if fit.games[row, column]:
                text = f"{100 * shares[row, column]:.0f}"
                axes.text(column, row, text, ha="center", va="center", fontsize="small")
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks(places, [str(place + 1) for place in places])
    axes.set_xlabel("Score of row against column, in %")


def _fit(league: LeagueResult) -> LeagueFit:
    if league.fit is None:
        raise ValueError("no ratings: the games played do not link all agents yet")
    return league.fit
