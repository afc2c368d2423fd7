"""Results on the terminal: tables, summaries and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable

from skift_env.ratings import SprtState
from skift_env.reports import Table, elo_text, interval_text, ratings_table, score_matrix
from skift_env.standings import LeagueResult, MatchResult, Standings
from skift_env.verification import Report


def show_result(console: Console, result: MatchResult | LeagueResult) -> None:
    """Print the numbers of a match or league."""
    if isinstance(result, MatchResult):
        _show_rows(console, _match_rows(result) | _common_rows(result))
        return
    if result.fit is None:
        console.print("No ratings: the games played do not link all agents yet.")
    else:
        _show_table(console, ratings_table(result))
        _show_table(console, score_matrix(result))
    _show_rows(console, _league_rows(result) | _common_rows(result))


def show_report(console: Console, report: Report) -> None:
    """Print what a check of a results file has found."""
    if report.result is not None and report.ok:
        show_result(console, report.result)
    for problem in report.problems:
        console.print(f"wrong: {problem}", soft_wrap=True)
    again = f", of which {report.played_again} were played again" if report.played_again else ""
    replayed = f"{report.games} games with {report.plies} moves replayed{again}"
    verdict = "all is as it should be" if report.ok else f"{len(report.problems)} wrong"
    console.print(f"{replayed}: {verdict}", soft_wrap=True)


def _show_table(console: Console, table: Table) -> None:
    shown = RichTable()
    for number, title in enumerate(table.header):
        shown.add_column(title, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    console.print(shown)


def _show_rows(console: Console, rows: dict[str, str]) -> None:
    shown = RichTable.grid(padding=(0, 2))
    for name, value in rows.items():
        shown.add_row(name, value)
    console.print(shown, highlight=False)


def _match_rows(match: MatchResult) -> dict[str, str]:
    first, second = match.schedule.agents
    losses, draws, wins = match.counts.trinomial
    rows = {
        "match": f"{first} – {second}",
        "games": f"{match.counts.games}: {wins} won, {draws} drawn, {losses} lost",
    }
    if match.elo is not None:
        elo = match.elo
        low, high = elo.score_interval
        normalised = interval_text(elo.normalised_elo_interval)
        rows |= {
            "pairs": ", ".join(
                f"{count} × {points}"
                for count, points in zip(
                    match.counts.pentanomial, ("0", "½", "1", "1½", "2"), strict=True
                )
            ),
            "score": f"{_percent(elo.score)} (95 %: {_percent(low)} … {_percent(high)})",
            "Elo": f"{elo_text(elo.elo)} (95 %: {interval_text(elo.elo_interval)})",
            "normalised Elo": f"{elo_text(elo.normalised_elo)} (95 %: {normalised})",
            "superiority": f"{_percent(elo.superiority)} likely to be the stronger",
        }
    if match.sprt is not None and match.sprt_bounds is not None:
        rows["SPRT"] = _sprt_text(match.sprt)
        if match.sprt.decision is not None:
            h0 = match.sprt.decision == "H0"
            elo_meant = match.sprt_bounds.elo0 if h0 else match.sprt_bounds.elo1
            rows["decision"] = f"{match.sprt.decision}, stronger by {elo_meant:g} Elo"
    return rows


def _league_rows(league: LeagueResult) -> dict[str, str]:
    fit = league.fit
    if fit is None:
        return {}
    first = f"{elo_text(fit.first_mover_elo)} ({interval_text(fit.first_mover_interval)})"
    rows = {"first move, Elo": first}
    if len(fit.groups) > 1:
        told = " | ".join(", ".join(group) for group in fit.groups)
        rows["not linked"] = f"no point was ever taken from a group further left: {told}"
    return rows


def _common_rows(result: Standings) -> dict[str, str]:
    rows = {}
    if result.first_mover_score is not None and result.mean_plies is not None:
        rows["first mover"] = f"scores {_percent(result.first_mover_score)}"
        rows["mean length"] = f"{result.mean_plies:.1f} plies"
    rows["draws"] = f"{result.draws} by the rules, {result.ply_limit_hits} at the ply limit"
    rows["distinct games"] = f"{result.distinct_games} of {len(result.games)}"
    faults = [
        f"{agent}: {', '.join(f'{count} × {kind}' for kind, count in kinds.items() if count)}"
        for agent, kinds in result.faults.items()
    ]
    if faults:
        rows["faults"] = "; ".join(faults)
    if not result.finished:
        rows["unfinished"] = f"{len(result.games)} of {len(result.schedule)} games are played"
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sprt_text(state: SprtState) -> str:
    return f"LLR {state.llr:.2f} in {state.lower:.2f} … {state.upper:.2f}"


@contextmanager
def progress_bar(
    console: Console, games: int
) -> Iterator[Callable[[MatchResult | LeagueResult], None]]:
    """A bar with the running estimate, and the function that moves it."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[estimate]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("games", total=games, estimate="")

        def advance(result: MatchResult | LeagueResult) -> None:
            bar.update(task, completed=len(result.games), estimate=_estimate(result))

        yield advance


def _estimate(result: MatchResult | LeagueResult) -> str:
    if isinstance(result, LeagueResult) or result.elo is None:
        return ""
    told = f"Elo {elo_text(result.elo.elo)} ({interval_text(result.elo.elo_interval)})"
    return told if result.sprt is None else f"{told}, {_sprt_text(result.sprt)}"
