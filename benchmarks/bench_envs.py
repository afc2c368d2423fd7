"""Speed of whole environments, ours and others, in one run: `python -m benchmarks.bench_envs`.

All play uniformly random legal actions. A step is one action played, whose observation and mask of
legal actions have been handed over in the way of that library:

- PettingZoo: `last()` and `step()`, for every ply; the two steps after the end are left out.
- OpenSpiel: `legal_actions_mask()`, an observation written into a NumPy array by
  `open_spiel.python.observation`, and `apply_action()`, from a loop in Python.
- Vector environments: `step()`, which returns both; `CartPole-v1` has no mask. EnvPool's games
  return each game's observation twice, once for each player.

Against an opponent, a step is the learner's ply and the reply.

Counted: the time inside the library, also that of resets; not that of choosing actions, which is
the same compiled function for all. Rows of a vector environment that start a new game in the step
after the end are no steps, though their time counts.

Contestants take turns over several rounds; figures are medians, ratios are medians of the ratios
within a round. Single-threaded ones stay on one core, with all their threads; those with two
threads have two. A peer that is not installed is listed as missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from benchmarks import measure
from benchmarks.measure import SEED, Chooser, Patience, median, ratio, spread
from skift_env import SkiftVectorEnv, skift_v0

BATCHES = (1, 64, 1_024, 16_384)
STATE_BYTES_AIM = 384


# --- One way to play for each kind of library ---


class Aec:
    """A game in PettingZoo's form."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.env.reset(seed=SEED)
        self.chooser = Chooser()

    def __call__(self) -> tuple[int, float]:
        """Play a ply, or begin a new game."""
        began = time.perf_counter()
        observation, _, terminated, truncated, _ = self.env.last()
        if terminated or truncated:
            self.env.reset()
            return 0, time.perf_counter() - began
        spent = time.perf_counter() - began
        action = self.chooser.one(observation["action_mask"])
        began = time.perf_counter()
        self.env.step(action)
        return 1, spent + time.perf_counter() - began


class Single:
    """A game in Gymnasium's form, with its mask in info."""

    def __init__(self, env: gymnasium.Env) -> None:
        self.env = env
        self.mask = self.env.reset(seed=SEED)[1]["action_mask"]
        self.chooser = Chooser()

    def __call__(self) -> tuple[int, float]:
        """Play a step."""
        action = self.chooser.one(self.mask)
        began = time.perf_counter()
        _, _, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            _, info = self.env.reset()
        spent = time.perf_counter() - began
        self.mask = info["action_mask"]
        return 1, spent


class OpenSpiel:
    """A game of OpenSpiel, played from Python."""

    def __init__(self, name: str) -> None:
        import pyspiel
        from open_spiel.python.games import tic_tac_toe  # noqa: F401  registers the Python game
        from open_spiel.python.observation import make_observation

        self.game = pyspiel.load_game(name)
        self.state = self.game.new_initial_state()
        self.observation = make_observation(self.game)
        self.chooser = Chooser()

    def __call__(self) -> tuple[int, float]:
        """Play a ply."""
        began = time.perf_counter()
        mask = self.state.legal_actions_mask()
        self.observation.set_from(self.state, self.state.current_player())
        spent = time.perf_counter() - began
        action = self.chooser.one(mask)
        began = time.perf_counter()
        self.state.apply_action(action)
        if self.state.is_terminal():
            self.state = self.game.new_initial_state()
        return 1, spent + time.perf_counter() - began


class Vector:
    """Many games in Gymnasium's form, which start anew in the step after their end."""

    def __init__(self, env: gymnasium.vector.VectorEnv, **options: Any) -> None:
        self.env = env
        _, info = self.env.reset(seed=SEED, options=options or None)
        self.mask = info.get("action_mask")
        self.over = np.zeros(env.num_envs, np.bool_)
        self.chooser = Chooser()

    def __call__(self) -> tuple[int, float]:
        """Step all games."""
        if self.mask is None:
            actions = self.chooser.rng.integers(self.env.single_action_space.n, size=len(self.over))
        else:
            actions = self.chooser.batch(self.mask)
        began = time.perf_counter()
        _, _, terminated, truncated, info = self.env.step(actions)
        spent = time.perf_counter() - began
        steps = len(self.over) - np.count_nonzero(self.over)
        self.mask = info.get("action_mask")
        self.over = terminated | truncated
        return int(steps), spent


class EnvPool:
    """Games of EnvPool. Their rows come back in any order, with the numbers of their games."""

    def __init__(self, name: str, batch: int, threads: int) -> None:
        import envpool

        self.env = envpool.make(
            name, env_type="gymnasium", num_envs=batch, num_threads=threads, seed=1
        )
        _, self.info = self.env.reset()
        self.over = np.zeros(batch, np.bool_)
        self.chooser = Chooser()

    def __call__(self) -> tuple[int, float]:
        """Step all games."""
        actions = self.chooser.batch(self.info["legal_action_mask"]).astype(np.int32)
        began = time.perf_counter()
        _, _, terminated, truncated, self.info = self.env.step(actions, self.info["env_id"])
        spent = time.perf_counter() - began
        steps = len(self.over) - np.count_nonzero(self.over)
        self.over = terminated | truncated
        return int(steps), spent


# --- Who takes part ---


@dataclass
class Contestant:
    """An environment in one size, and what was measured of it."""

    name: str
    make: Callable[[], Any] = field(repr=False)
    batch: int = 1
    threads: int = 1
    rates: list[float] = field(default_factory=list)
    missing: str = ""
    play: Any = None

    def start(self, seconds: float) -> None:
        """Make the environment and play until everything is compiled and games are under way."""
        measure.pin(self.threads)
        try:
            self.play = self.make()
        except ImportError as error:  # also PettingZoo's and Gymnasium's DependencyNotInstalled
            self.missing = f"missing: {error}"
        else:
            measure.rate(self.play, seconds)

    def take_turn(self, seconds: float) -> None:
        """Measure once more."""
        measure.pin(self.threads)
        self.rates.append(measure.rate(self.play, seconds))

    def __str__(self) -> str:
        return f"{self.name}, {self.batch:,} × {self.threads}"


def skift_vector(batch: int, threads: int, **options: Any) -> Vector:
    """Our vector environment, its first games at different plies so that they end apart."""
    env = SkiftVectorEnv(batch, num_threads=threads, **options)
    return Vector(env, random_plies=[game % 40 for game in range(batch)])


def pettingzoo_game(name: str, wrapped: bool) -> Aec:
    if name == "chess_v6":
        from pettingzoo.classic import chess_v6 as module
    else:
        from pettingzoo.classic import connect_four_v3 as module
    return Aec(module.env() if wrapped else module.raw_env())


def one_at_a_time() -> list[Contestant]:
    """Those that play one game."""
    contestants = []
    for kind in ("planes", "tokens"):
        for form in ("raw_env", "env"):
            contestants.append(
                Contestant(
                    f"Skift AEC {form}, {kind}",
                    lambda form=form, kind=kind: Aec(getattr(skift_v0, form)(observation=kind)),
                )
            )
    for game in ("connect_four_v3", "chess_v6"):
        for form in ("raw_env", "env"):
            contestants.append(
                Contestant(
                    f"PettingZoo {game} {form}",
                    lambda game=game, form=form: pettingzoo_game(game, form == "env"),
                )
            )
    for game, language in (
        ("connect_four", "C++"),
        ("breakthrough", "C++"),
        ("python_tic_tac_toe", "Python"),
    ):
        contestants.append(
            Contestant(f"OpenSpiel {game} ({language})", lambda game=game: OpenSpiel(game))
        )
    contestants.append(
        Contestant(
            "Skift Gymnasium skift/Skift-v0, opponent random",
            lambda: Single(gymnasium.make("skift/Skift-v0", disable_env_checker=True)),
        )
    )
    return contestants


SKIFT_VECTOR: dict[str, dict[str, Any]] = {
    "tokens": {},
    "planes": {"observation": "planes"},
    "tokens, opponent random": {"opponent": "random"},
    "tokens, copy=False": {"copy": False},
    "tokens, float32": {"float32": True},
    "planes, copy=False": {"observation": "planes", "copy": False},
}
EVERY_BATCH = ("tokens", "planes", "tokens, opponent random")


def many_at_once(batches: tuple[int, ...], middle: int) -> list[Contestant]:
    """Those that play many games; some in the middle batch size only."""
    contestants = []
    for name, options in SKIFT_VECTOR.items():
        for batch in batches if name in EVERY_BATCH else sorted({middle, batches[-1]}):
            for threads in (1, 2) if batch > 1 else (1,):
                contestants.append(
                    Contestant(
                        f"Skift vector, {name}",
                        lambda batch=batch, threads=threads, options=options: skift_vector(
                            batch, threads, **options
                        ),
                        batch,
                        threads,
                    )
                )
    for game, sizes in (("ConnectFour-v1", batches), ("Chess-v1", (middle,))):
        for batch in sizes:
            for threads in (1, 2) if batch > 1 else (1,):
                contestants.append(
                    Contestant(
                        f"EnvPool {game}",
                        lambda game=game, batch=batch, threads=threads: EnvPool(
                            game, batch, threads
                        ),
                        batch,
                        threads,
                    )
                )
    for batch in batches:
        contestants.append(
            Contestant(
                "Gymnasium CartPole-v1 vector",
                lambda batch=batch: Vector(
                    gymnasium.make_vec(
                        "CartPole-v1", batch, vectorization_mode="vector_entry_point"
                    )
                ),
                batch,
            )
        )
    return contestants


# --- What is aimed at ---

Key = tuple[str, int, int]  # name, batch, threads


def aims(middle: int, largest: int) -> list[tuple[str, Key, Key | None, float]]:
    """What is compared, the contestant above, that below (None: steps/s themselves), the aim."""
    tokens = ("Skift vector, tokens", middle, 1)
    most = ("Skift vector, tokens", largest, 1)
    raw, wrapped = ("Skift AEC raw_env, planes", 1, 1), ("Skift AEC env, planes", 1, 1)
    connect_four, chess = "PettingZoo connect_four_v3", "PettingZoo chess_v6"
    return [
        ("vector, tokens: steps/s", tokens, None, 1.2e6),
        ("vector, planes: steps/s", ("Skift vector, planes", middle, 1), None, 0.7e6),
        ("vector, tokens ÷ EnvPool connect four", tokens, ("EnvPool ConnectFour-v1", middle, 1), 8),
        (
            "vector, tokens ÷ PettingZoo connect four, wrapped",
            tokens,
            (f"{connect_four} env", 1, 1),
            80,
        ),
        ("two threads ÷ one, tokens", ("Skift vector, tokens", largest, 2), most, 1.7),
        ("AEC raw ÷ connect four raw", raw, (f"{connect_four} raw_env", 1, 1), 1),
        ("AEC wrapped ÷ connect four wrapped", wrapped, (f"{connect_four} env", 1, 1), 1),
        ("AEC raw ÷ chess raw", raw, (f"{chess} raw_env", 1, 1), 30),
        ("AEC wrapped ÷ chess wrapped", wrapped, (f"{chess} env", 1, 1), 30),
    ]


def compare(contestants: list[Contestant], middle: int, largest: int) -> list[dict[str, Any]]:
    by_key = {(each.name, each.batch, each.threads): each for each in contestants}
    comparisons = []
    for what, above, below, aim in aims(middle, largest):
        sides = [by_key[key] for key in (above, below) if key is not None]
        missing = next((each.missing for each in sides if each.missing), "")
        value = None
        if not missing:
            value = ratio(sides[0].rates, sides[1].rates) if below else median(sides[0].rates)
        comparisons.append({"what": what, "aim": aim, "value": value, "missing": missing})
    return comparisons


def verdict(comparison: dict[str, Any]) -> str:
    if comparison["value"] is None:
        return "not measured"
    share = comparison["value"] / comparison["aim"]
    return "reached" if share >= 1 else f"missed, {share:.0%} of it"


def state_bytes() -> dict[str, int]:
    """Bytes for each game of our vector environment."""
    env = SkiftVectorEnv(256, observation="tokens")
    planes = SkiftVectorEnv(256, observation="planes")
    arrays = [array for array in vars(env.games).values() if isinstance(array, np.ndarray)]
    return {
        "state": env.games.states.nbytes // 256,
        "state, generator and results": sum(array.nbytes for array in arrays) // 256,
        "mask": env.reset(seed=SEED)[1]["action_mask"].nbytes // 256,
        "tokens": env.reset(seed=SEED)[0].nbytes // 256,
        "planes": planes.reset(seed=SEED)[0].nbytes // 256,
    }


# --- The picture ---

LINES = (  # name, threads, colour, line style
    ("Skift vector, tokens", 2, "#12457d", "-"),
    ("Skift vector, tokens", 1, "#2f7fd1", "-"),
    ("Skift vector, tokens, opponent random", 1, "#2f7fd1", ":"),
    ("Skift vector, planes", 1, "#2f7fd1", "--"),
    ("Gymnasium CartPole-v1 vector", 1, "#7a7a7a", "-"),
    ("EnvPool ConnectFour-v1", 2, "#a14a00", "-"),
    ("EnvPool ConnectFour-v1", 1, "#e08a3c", "-"),
    ("EnvPool Chess-v1", 2, "#a14a00", "--"),
)
POINTS = {
    "Skift AEC raw_env, planes": "#2f7fd1",
    "OpenSpiel connect_four (C++)": "#3f8f4f",
    "PettingZoo connect_four_v3 env": "#9b4fa5",
    "PettingZoo chess_v6 env": "#9b4fa5",
}


def draw(contestants: list[Contestant], path: Path) -> str:
    """Steps/s against batch size, as a PNG; returns why not, if matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        return f"missing: {error}"
    mpl.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9.5, 6), layout="constrained")
    present = [each for each in contestants if each.rates]
    for name, threads, colour, style in LINES:
        line = [each for each in present if (each.name, each.threads) == (name, threads)]
        if threads == 2:  # one game has one thread
            line = [each for each in present if (each.name, each.batch) == (name, 1)] + line
        label = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
        axes.plot(
            [each.batch for each in line],
            [median(each.rates) for each in line],
            color=colour, linestyle=style, marker="o", markersize=4, label=label,
        )  # fmt: skip
    for each in present:
        if each.name in POINTS:
            axes.plot(
                1, median(each.rates), color=POINTS[each.name], linestyle="none",
                marker="sDv^"[list(POINTS).index(each.name)], label=each.name,
            )  # fmt: skip
    axes.set(
        xscale="log", yscale="log", xlabel="games at once", ylabel="steps a second",
        title="Random play with observation and mask of legal actions",
    )  # fmt: skip
    batches = sorted({each.batch for each in present})
    axes.set_xticks(batches, [f"{batch:,}" for batch in batches])
    axes.minorticks_off()
    axes.grid(color="#dddddd")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return ""


# --- The command ---


def main() -> None:
    parser = measure.arguments(__doc__, rounds=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="per contestant and round")
    arguments = parser.parse_args()
    quick = arguments.quick
    patience = Patience(arguments.patience)
    rounds, seconds = (2, 0.001) if quick else (arguments.rounds, arguments.seconds)
    batches = (1, 4, 8) if quick else BATCHES
    middle = batches[-2]

    result = measure.circumstances()
    contestants = one_at_a_time() + many_at_once(batches, middle)
    for each in contestants:
        measure.progress(f"start {each}")
        each.start(2 * seconds)
    present = [each for each in contestants if not each.missing]
    for number in range(rounds):
        measure.progress(f"round {number + 1} of {rounds}")
        for each in present:
            patience.wait()
            each.take_turn(seconds)
    comparisons = compare(contestants, middle, batches[-1])
    memory = state_bytes()
    measure.progress("start times")
    start = measure.start_seconds(patience, *((0, 1) if quick else (3, 7)))

    rows = [
        (
            each.name,
            f"{each.batch:,}",
            str(each.threads),
            each.missing or spread(each.rates),
        )
        for each in contestants
    ]
    measure.print_table(("environment", "games", "threads", "steps/s, median (range)"), rows)
    if quick:
        print("\nThe sizes of --quick say nothing about the aims.")
    rows = [
        (
            each["what"],
            f"{each['aim']:,}",
            each["missing"] or f"{each['value']:,.2f}",
            verdict(each),
        )
        for each in comparisons
    ]
    rows.append(
        (
            "bytes of state for each game",
            f"≤ {STATE_BYTES_AIM}",
            str(memory["state"]),
            "reached" if memory["state"] <= STATE_BYTES_AIM else "missed",
        )
    )
    measure.print_table(("figure", "aim", "measured", ""), rows)
    measure.print_table(
        ("memory of a game", "bytes"), [(name, str(size)) for name, size in memory.items()]
    )
    measure.print_table(("start", "median (range)"), measure.start_rows(start))

    missing_plot = draw(contestants, arguments.output / "envs.png")
    if missing_plot:
        print(f"\nno plot: {missing_plot}")
    result |= {
        "quick": quick,
        "begun_on_a_busy_machine": patience.busy,
        "unit": "steps per second",
        "rows": [
            {
                "name": each.name,
                "batch": each.batch,
                "threads": each.threads,
                "median": median(each.rates) if each.rates else None,
                "rounds": each.rates,
                "missing": each.missing,
            }
            for each in contestants
        ],
        "comparisons": comparisons,
        "bytes": memory,
        "start_seconds": start,
        "plot_missing": missing_plot,
    }
    measure.write_json(arguments.output / "envs.json", result)


if __name__ == "__main__":
    main()
