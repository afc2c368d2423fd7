"""One training configuration with several seeds: `python -m baselines.train_seeds CONFIG`.

The seeds are trained one after the other, each in a folder of its own. At the end a table gives the
interquartile mean over the seeds' final evaluations with its stratified bootstrap interval, and a
plot the learning curves. Started again, it goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import Console
from rich.table import Table

from baselines import curves
from baselines.config import Config, ConfigError, dump_config, load_config
from baselines.train_ppo import PpoConfig, train
from skift_env.files import FileLockedError, write_atomically
from skift_env.manifest import manifest


class SeedsConfig(Config):
    """The runs: `training` once for each of the `seeds`, which take the place of its own."""

    seeds: list[int] = Field(min_length=1)
    training: PpoConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m baselines.train_seeds", description=__doc__)
    parser.add_argument("config", type=Path, help="a YAML file with seeds and training")
    parser.add_argument("overrides", nargs="*", help="key=value, such as training.steps=100_000")
    parser.add_argument("--run", type=Path, help="run folder (default: runs/ and the file's name)")
    given = parser.parse_intermixed_args(arguments)
    console = Console()
    folder = given.run or Path("runs") / given.config.stem
    try:
        config = load_config(SeedsConfig, given.config, given.overrides)
        _claim(folder, config)
        for seed in config.seeds:
            run = folder / f"seed-{seed}"
            if (run / "final.json").exists():
                continue
            console.rule(f"seed {seed}")
            train(config.training.model_copy(update={"seed": seed}), run, console, resume=None)
    except (ValueError, FileLockedError) as error:
        console.print(f"error: {error}", style="red", markup=False)
        return 2
    except KeyboardInterrupt:
        console.print(f"interrupted; the same command goes on in {folder}", markup=False)
        return 130
    report(folder, config, console)
    return 0


def _claim(folder: Path, config: SeedsConfig) -> None:
    """Write the configuration, or check that it is the one that is there."""
    path, text = folder / "config.yaml", dump_config(config)
    if path.exists() and path.read_text("utf-8") != text:
        raise ConfigError(f"{folder} holds runs of another configuration; name another by --run")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


def report(folder: Path, config: SeedsConfig, console: Console) -> None:
    """Print the scores over seeds, and write them as JSON and as a plot."""
    runs = [folder / f"seed-{seed}" for seed in config.seeds]
    finals = [json.loads((run / "final.json").read_text("utf-8")) for run in runs]
    opponents = config.training.evaluation.opponents
    scores = {
        opponent: [final["scores"][opponent]["score"] for final in finals] for opponent in opponents
    }
    figures: dict[str, Any] = {"seeds": config.seeds, "opponents": {}}
    table = Table("opponent", *(f"seed {seed}" for seed in config.seeds), "IQM", "95 % interval")
    for opponent, values in scores.items():
        mean, (low, high) = curves.over_seeds(values)
        figures["opponents"][opponent] = {"scores": values, "iqm": mean, "interval": [low, high]}
        each = (f"{value:.1%}" for value in values)
        table.add_row(opponent, *each, f"{mean:.1%}", f"{low:.1%} … {high:.1%}")
    console.print(table)
    figures["seconds"] = [final["seconds"] for final in finals]
    figures["steps"] = [final["steps"] for final in finals]
    figures["manifest"] = manifest()
    write_atomically(folder / "seeds.json", json.dumps(figures, indent=1))
    console.print(f"curves: {curves.draw([folder], folder / 'curves.png')}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
