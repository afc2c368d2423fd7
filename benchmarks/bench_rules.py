"""Speed of the rules alone, on one core: `python -m benchmarks.bench_rules`.

Random playouts: games of uniformly random legal plies from the start position to their end. A ply
is one action played: the legal actions are generated, one is drawn, it is played. No observation,
no mask.

- Skift plays them in one compiled kernel, `skift_env.playouts.count_random_plies`, which stops at
  the end of the game in which the plies asked for are complete. Only those asked for count.
- OpenSpiel's C++: its `RandomRolloutEvaluator`, called by one simulation of its `MCTSBot` at the
  start position. All rollouts of a call run in C++ from that position to the end. They do not say
  how many plies they were: it is the number of rollouts times the mean length of random games,
  which is measured here on other games, and whose standard error is printed.
- Each through its Python objects too: `Position.play` against `State.apply_action`. The plies
  are counted there.

Perft from the start position, whose number of action sequences must be right.

Start: a fresh process from the import to the first steps, with and without compiled kernels.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.measure import SEED, Patience, median, ratio, spread
from skift_env import Position, perft
from skift_env.episodes import DEFAULT_MAX_PLIES
from skift_env.playouts import count_random_plies
from skift_env.rng import seed_words

OPEN_SPIEL_GAMES = ("breakthrough", "hex")
PERFT = {1: 74, 2: 5_460, 3: 407_732, 4: 30_511_112, 5: 2_285_066_640}


class SkiftKernel:
    """Random games in the kernel."""

    def __init__(self, plies: int) -> None:
        self.plies = plies
        self.start = Position.start().state
        self.rng = seed_words(np.random.default_rng(SEED))

    def __call__(self) -> tuple[int, float]:
        """Play `plies` plies."""
        began = time.perf_counter()
        count_random_plies(self.start, self.rng, self.plies, DEFAULT_MAX_PLIES)
        return self.plies, time.perf_counter() - began


class SkiftObjects:
    """A random game of immutable positions."""

    def __init__(self) -> None:
        self.rng = random.Random(SEED)

    def __call__(self) -> tuple[int, float]:
        """Play a game."""
        began = time.perf_counter()
        position = Position.start()
        while actions := position.legal_actions:
            position = position.play(self.rng.choice(actions))
        return position.ply, time.perf_counter() - began


class OpenSpielObjects:
    """A random game of OpenSpiel's states, which change in place."""

    def __init__(self, name: str) -> None:
        import pyspiel

        self.game = pyspiel.load_game(name)
        self.rng = random.Random(SEED)

    def __call__(self) -> tuple[int, float]:
        """Play a game."""
        began = time.perf_counter()
        state = self.game.new_initial_state()
        plies = 0
        while actions := state.legal_actions():  # none when the game is over
            state.apply_action(self.rng.choice(actions))
            plies += 1
        return plies, time.perf_counter() - began


class OpenSpielRollouts:
    """Random games inside OpenSpiel's C++."""

    def __init__(self, name: str, rollouts: int, games_counted: int) -> None:
        import pyspiel

        game = pyspiel.load_game(name)
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, SEED)
        self.bot = pyspiel.MCTSBot(
            game, evaluator, uct_c=1.0, max_simulations=1, max_memory_mb=100, solve=False,
            seed=SEED, verbose=False,
        )  # fmt: skip
        self.start = game.new_initial_state()
        self.rollouts = rollouts
        counter = OpenSpielObjects(name)
        lengths = [counter()[0] for _ in range(games_counted)]
        self.mean_length = float(np.mean(lengths))
        self.standard_error = float(np.std(lengths, ddof=1) / np.sqrt(games_counted))

    def __call__(self) -> tuple[int, float]:
        """Play all rollouts of a call."""
        began = time.perf_counter()
        root = self.bot.mcts_search(self.start)
        spent = time.perf_counter() - began
        # Were the tree grown, some rollouts would have begun later in the game.
        assert root.explore_count == 1
        assert not root.children
        return round(self.rollouts * self.mean_length), spent


def measure_playouts(
    patience: Patience, rounds: int, seconds: float, piece: int
) -> tuple[dict, dict, dict]:
    """Rates by name, a list of one for each round; lengths of games; reasons of those missing.

    `piece` is the size of a piece of work, in plies or so.
    """
    contestants: dict[str, Any] = {
        "Skift, kernel": SkiftKernel(piece),
        "Skift, Position objects": SkiftObjects(),
    }
    lengths, missing = {}, {}
    for game in OPEN_SPIEL_GAMES:
        try:
            rollouts = OpenSpielRollouts(game, rollouts=piece // 100, games_counted=piece // 100)
        except ImportError as error:
            missing[f"OpenSpiel {game}, C++ rollouts"] = f"missing: {error}"
            missing[f"OpenSpiel {game}, State objects"] = f"missing: {error}"
            continue
        lengths[game] = {"mean": rollouts.mean_length, "standard_error": rollouts.standard_error}
        contestants[f"OpenSpiel {game}, C++ rollouts"] = rollouts
        contestants[f"OpenSpiel {game}, State objects"] = OpenSpielObjects(game)
    for contestant in contestants.values():  # compile, and fill caches
        contestant()
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds):
        measure.progress(f"playouts, round {number + 1} of {rounds}")
        for name, contestant in contestants.items():
            patience.wait()
            rates[name].append(measure.rate(contestant, seconds))
    return rates, lengths, missing


def measure_perft(patience: Patience, depth: int) -> dict[str, Any]:
    measure.progress(f"perft to depth {depth}")
    perft(Position.start(), 1)
    patience.wait()
    began = time.perf_counter()
    count = perft(Position.start(), depth)
    seconds = time.perf_counter() - began
    if count != PERFT[depth]:
        raise AssertionError(f"perft {depth} from the start is {PERFT[depth]}, not {count}")
    return {"depth": depth, "count": count, "seconds": seconds}


def main() -> None:
    arguments = measure.arguments(__doc__, rounds=9).parse_args()
    quick = arguments.quick
    patience = Patience(arguments.patience)

    result = measure.circumstances()
    measure.pin(1)
    rates, lengths, missing = (
        measure_playouts(patience, 2, 0.01, 1_000)
        if quick
        else measure_playouts(patience, arguments.rounds, 1.0, 200_000)
    )
    counted = measure_perft(patience, 3 if quick else 5)
    measure.progress("start")
    start = measure.start_seconds(patience, *((0, 1) if quick else (3, 7)))

    kernel = rates["Skift, kernel"]
    rows = [
        (name, spread(values), f"{ratio(kernel, values):.2f}") for name, values in rates.items()
    ]
    rows += [(name, reason, "") for name, reason in missing.items()]
    measure.print_table(("random playouts", "plies/s, median (range)", "kernel ÷ this"), rows)
    for game, length in lengths.items():
        print(f"{game}: {length['mean']:.2f} ± {length['standard_error']:.2f} plies a game")
    per_second = counted["count"] / counted["seconds"]
    print(
        f"\nperft {counted['depth']} = {counted['count']:,}, as it should be: "
        f"{counted['seconds']:.1f} s, {per_second:,.0f} sequences/s"
    )
    measure.print_table(("start", "median (range)"), measure.start_rows(start))

    result |= {
        "quick": quick,
        "begun_on_a_busy_machine": patience.busy,
        "unit": "plies per second",
        "playouts": {
            name: {"median": median(values), "rounds": values} for name, values in rates.items()
        },
        "missing": missing,
        "game_lengths": lengths,
        "kernel_ratio": {name: ratio(kernel, values) for name, values in rates.items()},
        "perft": counted,
        "start_seconds": start,
    }
    measure.write_json(arguments.output / "rules.json", result)


if __name__ == "__main__":
    main()
