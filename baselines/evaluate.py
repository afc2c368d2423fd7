"""Any agent against the ladder: `python -m baselines.evaluate SPEC_OR_CHECKPOINT`.

Each opponent is met over the same openings with colours swapped, by the match runner. The figures
are of the policy's most likely action unless the specification says otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from torch import nn

from skift_env.agents import make
from skift_env.agents.agent import Agent
from skift_env.agents.checkpoint import save_checkpoint
from skift_env.agents.policy import PolicyAgent
from skift_env.files import write_atomically
from skift_env.manifest import manifest
from skift_env.match import MatchResult, play_match

LADDER = ("random", "greedy", "alphabeta:depth=1", "alphabeta:depth=2")


@dataclass(frozen=True)
class Evaluation:
    """A match against one opponent; draws and games cut at the ply limit count half."""

    opponent: str
    result: MatchResult

    @property
    def score(self) -> float:
        """Points a game, 0 … 1."""
        return self.result.counts.score

    @property
    def interval(self) -> tuple[float, float]:
        """Of the score, at 95 %, from the variance of pairs."""
        assert self.result.elo is not None
        return self.result.elo.score_interval

    def as_json(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "opponent": self.opponent,
            "score": self.score,
            "interval": list(self.interval),
            "games": len(self.result.games),
            "distinct_games": self.result.distinct_games,
            "draws": self.result.draws,
            "cut": self.result.ply_limit_hits,
            "mean_plies": self.result.mean_plies,
        }


def evaluate(
    agent: Agent, opponents: Sequence[str], pairs: int, seed: int, folder: Path | None = None
) -> list[Evaluation]:
    """Play `pairs` pairs of games against each opponent; keep their results in `folder`, if any."""
    evaluations = []
    for place, opponent in enumerate(opponents):
        file = None if folder is None else folder / f"match-{place}.json"
        evaluations.append(
            Evaluation(opponent, play_match(agent, opponent, pairs=pairs, seed=seed, file=file))
        )
    return evaluations


def print_table(evaluations: Sequence[Evaluation], console: Console) -> None:
    """Show scores with their intervals, and how games ended."""
    table = Table(
        "opponent", "score", "95 % interval", "games", "distinct", "draws", "cut", "plies"
    )
    for each in evaluations:
        low, high = each.interval
        result = each.result
        table.add_row(
            each.opponent,
            f"{each.score:.1%}",
            f"{low:.1%} … {high:.1%}",
            *(str(n) for n in (len(result.games), result.distinct_games, result.draws)),
            str(result.ply_limit_hits),
            f"{result.mean_plies:.0f}",
        )
    console.print(table)


def conclude(
    network: nn.Module,
    kind: tuple[str, dict[str, Any]],
    folder: Path,
    about: dict[str, Any],
    *,
    opponents: Sequence[str] = ("random",),
    pairs: int = 200,
    seed: int = 0,
) -> list[Evaluation]:
    """End a training: write its policy, play opponents, show the table and write the figures.

    Args:
        network: made by `make_network`, of the kind (name, sizes).
        kind: of the network.
        folder: gets `last.safetensors` and `final.json`.
        about: how it was trained, as data: trainer, config, environment steps, seconds.
        opponents: specifications.
        pairs: of games for each of them.
        seed: of the matches.
    """
    console = Console()
    path = folder / "last.safetensors"
    save_checkpoint(path, network, *kind, about)
    evaluations = evaluate(PolicyAgent.load(path), opponents, pairs, seed)
    scores = {each.opponent: each.as_json() for each in evaluations}
    final = about | {"scores": scores, "manifest": manifest()}
    write_atomically(folder / "final.json", json.dumps(final, indent=1))
    print_table(evaluations, console)
    console.print(f"policy: {path}", markup=False)
    return evaluations


def load_agent(text: str, temperature: float) -> Agent:
    """The agent of a specification, or of a checkpoint's path."""
    if Path(text).suffix == ".safetensors":
        return PolicyAgent.load(text, temperature)
    return make(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m baselines.evaluate", description=__doc__)
    parser.add_argument("agent", help="a specification such as greedy, or a .safetensors file")
    parser.add_argument("--opponents", nargs="+", default=list(LADDER), help="specifications")
    parser.add_argument("--pairs", type=int, default=200, help="pairs of games for each opponent")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=0.0, help="of a policy; 0: argmax")
    parser.add_argument("--output", type=Path, help="a folder for figures, manifest and games")
    given = parser.parse_args(arguments)
    console = Console()
    try:
        agent = load_agent(given.agent, given.temperature)
        evaluations = evaluate(agent, given.opponents, given.pairs, given.seed, given.output)
    except (ValueError, OSError) as error:
        console.print(f"error: {error}", style="red", markup=False)
        return 2
    print_table(evaluations, console)
    if given.output:
        figures = {
            "agent": agent.name,
            "seed": given.seed,
            "evaluations": [each.as_json() for each in evaluations],
            "manifest": manifest(),
        }
        write_atomically(given.output / "evaluation.json", json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
