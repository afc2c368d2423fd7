"""What the benchmarks share: cores, rounds, start times, and what a result says of its machine."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
SEED = 20260901

PACKAGES = (
    "numpy", "numba", "gymnasium", "pettingzoo", "chess", "open-spiel", "envpool",
    "stable-baselines3", "sb3-contrib", "torch",
)  # fmt: skip

START = """
import json, time
began = time.perf_counter()
import skift_env
import_seconds = time.perf_counter() - began
env = skift_env.skift_v0.env()
env.reset(seed=1)
env.step(int(env.last()[0]["action_mask"].argmax()))
env.last()
aec_seconds = time.perf_counter() - began
games = skift_env.SkiftVectorEnv(1024)
games.step(games.reset(seed=1)[1]["action_mask"].argmax(1))
print(json.dumps({
    "import skift_env": import_seconds,
    "import and first AEC step": aec_seconds,
    "import, first AEC step and first vector step": time.perf_counter() - began,
}))
"""


# --- Cores ---


def available_cores() -> list[int]:
    """The cores of this process; empty where the system does not tell (macOS, Windows)."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


CORES = available_cores()


def pin(count: int) -> None:
    """Keep this thread, and threads that it starts from now on, on the last `count` cores.

    The first core is where systems put most of their own work. Does nothing where cores cannot be
    chosen.
    """
    if CORES:
        os.sched_setaffinity(0, CORES[-count:])


class Patience:
    """Waits, before a measurement, for other processes to leave the cores alone (Linux only).

    Without seconds to wait it never does, and measures a machine as it is.
    """

    LOOK = 0.1
    BUSY = 0.1
    """The share of `LOOK` seconds, of all cores together, that makes a machine busy."""

    def __init__(self, seconds: float) -> None:
        self.seconds_left = seconds
        self.busy = 0
        """How many measurements began on a busy machine."""

    def wait(self) -> None:
        """Return at the first quiet look, or at once when there is no time left to wait."""
        while self._is_busy():
            if self.seconds_left <= 0:
                self.busy += 1
                return
            self.seconds_left -= self.LOOK

    def _is_busy(self) -> bool:
        if not Path("/proc/stat").exists():
            return False
        idle = idle_seconds()
        time.sleep(self.LOOK)
        return idle_seconds() - idle < (1 - self.BUSY) * self.LOOK * (os.cpu_count() or 1)


def idle_seconds() -> float:
    """Since the system's start, of all cores together."""
    ticks = Path("/proc/stat").read_text("ascii").split(maxsplit=6)[4:6]  # idle, and for I/O
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


# --- Rounds ---

Play = Callable[[], tuple[int, float]]
"""Do a piece of work: how many steps it was, and the seconds that count."""


def rate(play: Play, seconds: float) -> float:
    """Steps a second, over pieces of work that take `seconds` or a little more."""
    steps, spent = 0, 0.0
    while spent < seconds:
        more, time_of_it = play()
        steps += more
        spent += time_of_it
    return steps / spent


def spread(rates: Sequence[float]) -> str:
    """The median, with the least and the greatest."""
    low, middle, high = (f"{value:,.0f}" for value in (min(rates), median(rates), max(rates)))
    return f"{middle} ({low} … {high})"


def median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """The median of the ratios within each round, which a slow minute of the machine cancels in."""
    return median([above / below for above, below in zip(numerator, denominator, strict=True)])


# --- Random actions ---


@numba.njit(nogil=True, cache=True)
def pick(masks: np.ndarray, uniforms: np.ndarray, actions: np.ndarray) -> None:
    """Write the floor(uniform * count)-th of the `count` legal actions of each row, 0 if none."""
    for row in range(len(masks)):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[row, action] != 0
        place = int(uniforms[row] * count)
        actions[row] = 0
        for action in range(masks.shape[1]):
            if masks[row, action]:
                if place == 0:
                    actions[row] = action
                    break
                place -= 1


class Chooser:
    """Draws uniformly random legal actions, one generator for each contestant."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)

    def batch(self, masks: np.ndarray) -> np.ndarray:
        """(B,) int64 for masks (B, n) of any 8-bit type."""
        actions = np.empty(len(masks), np.int64)
        pick(masks.view(np.int8), self.rng.random(len(masks)), actions)
        return actions

    def one(self, mask: np.ndarray | list[int]) -> int:
        """One action for a mask (n,)."""
        return int(self.batch(np.asarray(mask, np.int8)[None])[0])


# --- Start ---


def start_seconds(patience: Patience, cold: int, warm: int) -> dict[str, dict[str, list[float]]]:
    """Seconds from a fresh interpreter's first line, in `cold` and `warm` processes.

    A cold one has an empty compile cache; a warm one that which the last cold one left, or, where
    `cold` is 0, the usual one, which an unreported process fills.
    """
    pin(1)
    seconds: dict[str, dict[str, list[float]]] = {}
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules as bytecode, which is the default
    with tempfile.TemporaryDirectory() as folder:
        for run in range(-1 if cold == 0 else 0, cold + warm):
            if 0 <= run < cold:
                environment["NUMBA_CACHE_DIR"] = str(Path(folder) / str(run))
            patience.wait()
            done = subprocess.run(
                [sys.executable, "-c", START],
                cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
            )  # fmt: skip
            if run >= 0:
                kind = seconds.setdefault("cold" if run < cold else "warm", {})
                for name, value in json.loads(done.stdout).items():
                    kind.setdefault(name, []).append(value)
    return seconds


def start_rows(seconds: dict[str, dict[str, list[float]]]) -> list[Sequence[str]]:
    return [
        (f"{kind}: {name}", f"{median(values):.2f} s ({min(values):.2f} … {max(values):.2f})")
        for kind, by_name in seconds.items()
        for name, values in by_name.items()
    ]


# --- Results ---


def arguments(description: str, rounds: int) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument(
        "--patience", type=float, default=0.0, metavar="SECONDS",
        help="how long to wait, in all, for other processes to leave the cores alone",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    return parser


def circumstances() -> dict[str, Any]:
    """When, on which machine, with which versions and at which commit."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "load_before": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
            "pinned": bool(CORES),
        },
        "versions": {name: _version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "HEAD"),
        "changed_since_commit": bool(_git("status", "--porcelain", "skift_env", "benchmarks/*.py")),
    }


def _cpu() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


_tables: list[str] = []


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result, and beside it, in Markdown, the tables that were printed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    about = (
        "`python -m benchmarks.bench_{0}`, {1:.10}, {cores} cores of {cpu}, {system}, "
        "Python {python}"
    ).format(path.stem, result["date"], **result["machine"])
    text = "\n\n".join((f"# {path.stem}", about, *_tables))
    path.with_suffix(".md").write_text(f"{text}\n", "utf-8")
    print(f"\nwritten: {path}, and the tables as {path.with_suffix('.md').name}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """In Markdown, with columns aligned for the eye."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        for cells in (header, rule, *rows)
    )
    table = "\n".join(f"| {line} |" for line in lines)
    _tables.append(table)
    print(f"\n{table}")


def progress(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)
