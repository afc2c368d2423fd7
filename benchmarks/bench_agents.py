"""Speed of the searching agents, on one core: `python -m benchmarks.bench_agents`.

Each searches the same positions, the first openings of openings-v1, one after the other:

- alpha-beta to depths 3 and 4: nodes a second, a node being a position visited, those of the
  quiescence search and of all depths of the iterative deepening counted;
- Monte Carlo tree search without and with a rollout: simulations a second. Each evaluates all
  successors of a leaf, and ends with a quiescence search, which is the shorter after a rollout,
  for that has taken what there was to win.

Beside them random playouts, which only play: plies a second, see `bench_rules`. Contestants take
turns over several rounds; ratios are medians of the ratios within a round.

First each is checked in one position: alpha-beta must find the same value without its table, and
the visits of a tree search must add up to its simulations.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.bench_rules import SkiftKernel
from benchmarks.measure import SEED, Patience, median, ratio, spread
from skift_env import Position, openings
from skift_env.agents.alphabeta import AlphaBeta
from skift_env.agents.mcts import MonteCarlo

PLAYOUTS = "random playouts"


class Nodes:
    """Alpha-beta search to a depth, position after position."""

    unit = "nodes"

    def __init__(self, depth: int, positions: Sequence[Position]) -> None:
        self.agent = AlphaBeta(depth)
        self.positions = cycle(positions)

    def __call__(self) -> tuple[int, float]:
        """Search the next position."""
        position = next(self.positions)
        began = time.perf_counter()
        found = self.agent.search(position)
        return found.nodes, time.perf_counter() - began

    def check(self, position: Position) -> dict[str, Any]:
        """What is found in a position, with and without the transposition table."""
        found = self.agent.search(position)
        bare = self.agent.search(position, use_table=False)
        if (found.value, found.depth) != (bare.value, bare.depth):
            raise AssertionError(f"{found} with the table, {bare} without, in {position.text!r}")
        return {"nodes": found.nodes, "nodes_without_table": bare.nodes}


class Simulations:
    """Monte Carlo tree search with a budget, position after position."""

    unit = "simulations"

    def __init__(self, simulations: int, rollout: int, positions: Sequence[Position]) -> None:
        self.agent = MonteCarlo(simulations, rollout)
        self.simulations = simulations
        self.positions = cycle(positions)

    def __call__(self) -> tuple[int, float]:
        """Search the next position."""
        position = next(self.positions)
        began = time.perf_counter()
        self.agent.search(position, np.random.default_rng(SEED))
        return self.simulations, time.perf_counter() - began

    def check(self, position: Position) -> dict[str, Any]:
        """How many actions were visited in a position; the visits must add up."""
        visits, _ = self.agent.search(position, np.random.default_rng(SEED))
        if visits.sum() != self.simulations:
            raise AssertionError(f"{visits.sum()} visits, not {self.simulations}")
        return {"actions_visited": int((visits > 0).sum())}


def main() -> None:
    arguments = measure.arguments(__doc__, rounds=9).parse_args()
    quick = arguments.quick
    patience = Patience(arguments.patience)
    rounds, seconds = (2, 0.01) if quick else (arguments.rounds, 1.0)

    result = measure.circumstances()
    measure.pin(1)
    positions = openings.load()[:20]
    depths, simulations = ((2, 3), 40) if quick else ((3, 4), 400)
    contenders = [
        *(Nodes(depth, positions) for depth in depths),
        *(Simulations(simulations, rollout, positions) for rollout in (0, 8)),
    ]
    searches = {contender.agent.name: contender for contender in contenders}
    checks = {name: search.check(positions[0]) for name, search in searches.items()}
    contestants = {**searches, PLAYOUTS: SkiftKernel(1_000 if quick else 50_000)}
    for contestant in contestants.values():  # compile, and fill caches
        contestant()
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        measure.progress(f"searches, round {number + 1} of {rounds}")
        for name, contestant in contestants.items():
            patience.wait()
            rates[name].append(measure.rate(contestant, seconds))

    units = {name: search.unit for name, search in searches.items()} | {PLAYOUTS: "plies"}
    plies = {name: ratio(rates[PLAYOUTS], values) for name, values in rates.items()}
    measure.print_table(
        ("agent", "a second, median (range)", "of", "random plies in the time of one"),
        [(name, spread(rates[name]), units[name], f"{plies[name]:.1f}") for name in rates],
    )
    result |= {
        "quick": quick,
        "begun_on_a_busy_machine": patience.busy,
        "agents": {
            name: {
                "unit": f"{units[name]} per second",
                "median": median(values),
                "rounds": values,
                "random_plies_in_the_time_of_one": plies[name],
                **checks.get(name, {}),
            }
            for name, values in rates.items()
        },
    }
    measure.write_json(arguments.output / "agents.json", result)


if __name__ == "__main__":
    main()
