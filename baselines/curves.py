"""Learning curves of runs: `python -m baselines.curves RUN... --output curves.png`.

A run is the folder of one training, or a folder of several that differ in their seeds only
(`seed-N`). One panel for each opponent met in evaluations; the upper row against the learner's
plies, the lower one against minutes of training. Lines are the scores, or their interquartile
means over seeds; bands are 95 % intervals: of the games for one run, over seeds for several.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skift_env.ratings import iqm, iqm_interval

BOOTSTRAP_SEED = 0


def over_seeds(scores: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The interquartile mean of one score a seed, and its 95 % bootstrap interval over seeds."""
    return iqm(scores), iqm_interval([scores], np.random.default_rng(BOOTSTRAP_SEED))


class Curve:
    """What the evaluations of a run say, averaged over its seeds.

    Attributes:
        name: the folder's.
        steps, minutes: (E,) float64, of each evaluation.
        opponents: by name, (E, 3): score, and the ends of its interval.

    Raises:
        OSError: if the folder holds no evaluations.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        seeds = sorted(folder.glob("seed-*")) or [folder]
        runs = [json.loads((seed / "evaluations.json").read_text("utf-8")) for seed in seeds]
        count = min(map(len, runs))
        self.steps = np.array([runs[0][i]["steps"] for i in range(count)], np.float64)
        self.minutes = np.array(
            [np.mean([run[i]["seconds"] for run in runs]) / 60 for i in range(count)], np.float64
        )
        self.opponents = {
            opponent: np.array([_point([run[i]["scores"][opponent] for run in runs])
                                for i in range(count)])
            for opponent in runs[0][0]["scores"]
        }  # fmt: skip


def _point(told: list[dict[str, Any]]) -> tuple[float, float, float]:
    if len(told) == 1:
        return (told[0]["score"], *told[0]["interval"])
    mean, interval = over_seeds([each["score"] for each in told])
    return mean, *interval


def draw(folders: Sequence[Path], path: Path) -> Path:
    """Draw the curves of runs to an image file.

    Raises:
        OSError: if a folder holds no evaluations, or the file cannot be written.
    """
    from matplotlib.figure import Figure

    drawn = [Curve(folder) for folder in folders]
    opponents = list(dict.fromkeys(name for curve in drawn for name in curve.opponents))
    figure = Figure(figsize=(3.2 * len(opponents) + 0.6, 6), layout="constrained")
    rows = figure.subplots(2, len(opponents), sharey=True, squeeze=False)
    for axes_row, unit in zip(rows, ("learner's plies, millions", "minutes"), strict=True):
        for axes, opponent in zip(axes_row, opponents, strict=True):
            for curve in drawn:
                if opponent not in curve.opponents:
                    continue
                across = curve.minutes if unit == "minutes" else curve.steps / 1e6
                score, low, high = 100 * curve.opponents[opponent].T
                (line,) = axes.plot(across, score, label=curve.name, marker=".")
                axes.fill_between(across, low, high, color=line.get_color(), alpha=0.2, lw=0)
            axes.set(title=f"against {opponent}", xlabel=unit, ylim=(-2, 102))
            axes.grid(color="#dddddd")
            axes.spines[["top", "right"]].set_visible(False)
        axes_row[0].set_ylabel("score, %")
    if len(drawn) > 1:
        handles, labels = rows[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(drawn), frameon=False)
    figure.savefig(path, dpi=130)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m baselines.curves", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="run folders")
    parser.add_argument("--output", type=Path, default=Path("curves.png"), help="an image file")
    given = parser.parse_args(arguments)
    try:
        print(draw(given.runs, given.output))
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
