"""Each benchmark runs at its smallest size and says what it measured, and who was not there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.measure import Chooser, rate, ratio
from skift_env import agents
from skift_env.results import read_document
from skift_env.schedule import opening_book
from skift_env.verification import manifest_problems

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.compiled_only


def run(name: str, folder: Path, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--quick", "--output", str(folder)],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(
        (folder / f"{name.removeprefix('bench_')}.json").read_text("utf-8")
    )
    assert result["quick"] is True
    assert result["machine"]["cores"] == os.cpu_count()
    assert result["versions"]["numpy"] == np.__version__
    for reason in missing_ones(result):
        assert reason in done.stdout
    return result


def missing_ones(result: dict[str, Any]) -> list[str]:
    missing = result.get("missing", "")
    reasons = list(missing.values()) if isinstance(missing, dict) else [missing]
    reasons += [row["missing"] for row in result.get("rows", ())]
    return [reason for reason in reasons if reason]


def is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def test_rules(tmp_path: Path) -> None:
    result = run("bench_rules", tmp_path)
    assert (result["perft"]["depth"], result["perft"]["count"]) == (3, 407_732)
    for name in ("Skift, kernel", "Skift, Position objects"):
        assert result["playouts"][name]["median"] > 0
    for game in ("breakthrough", "hex"):
        name = f"OpenSpiel {game}, C++ rollouts"
        assert (name in result["playouts"]) == is_there("pyspiel")
        assert (name in result["missing"]) == (not is_there("pyspiel"))
    for seconds in result["start_seconds"]["warm"].values():
        assert min(seconds) > 0


def test_envs(tmp_path: Path) -> None:
    result = run("bench_envs", tmp_path)
    for row in result["rows"]:
        assert bool(row["missing"]) == (row["median"] is None), row
        if row["name"].startswith(("Skift", "Gymnasium")):
            assert row["median"] > 0, row
        if row["name"].startswith("EnvPool"):
            assert bool(row["missing"]) == (not is_there("envpool")), row
    assert result["bytes"]["state"] <= 384
    assert result["bytes"]["mask"] == 405
    picture = tmp_path / "envs.png"
    assert picture.exists() == is_there("matplotlib") == (not result["plot_missing"])


def test_sb3(tmp_path: Path) -> None:
    result = run("bench_sb3", tmp_path)
    there = is_there("sb3_contrib")
    assert bool(result["missing"]) == (not there)
    assert len(result["learners"]) == (3 if there else 0)
    for learner in result["learners"].values():
        assert 0 < learner["environment_share"]["median"] < 1


def test_agents(tmp_path: Path) -> None:
    result = run("bench_agents", tmp_path)
    for name, unit in (
        ("alphabeta-v1:depth=2", "nodes"),
        ("alphabeta-v1:depth=3", "nodes"),
        ("mcts-v1:simulations=40", "simulations"),
        ("mcts-v1:simulations=40,rollout=8", "simulations"),
        ("random playouts", "plies"),
    ):
        agent = result["agents"][name]
        assert agent["unit"] == f"{unit} per second"
        assert agent["median"] > 0
    assert result["agents"]["random playouts"]["random_plies_in_the_time_of_one"] == 1
    assert result["agents"]["alphabeta-v1:depth=3"]["nodes"] > 0


def test_training(tmp_path: Path) -> None:
    result = run("bench_training", tmp_path)
    there = is_there("sb3_contrib") and is_there("pydantic")
    assert bool(result["missing"]) == (not there)
    assert len(result["steps_per_second"]) == (4 if there else 0)
    assert all(ratio > 0 for ratio in result["ratios"].values())
    assert result["commit"][:7] in (tmp_path / "training.json").read_text("utf-8")
    assert (tmp_path / "training.md").read_text("utf-8").count("| training") == 1


def test_peers_that_are_not_installed_are_named(tmp_path: Path) -> None:
    for peer in ("pyspiel", "envpool", "chess", "sb3_contrib"):
        text = f"raise ModuleNotFoundError('No module named {peer}')\n"
        (tmp_path / f"{peer}.py").write_text(text, "utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    rows = run("bench_envs", tmp_path, PYTHONPATH=path)["rows"]
    for start in ("OpenSpiel", "EnvPool", "PettingZoo chess_v6"):
        reasons = [row["missing"] for row in rows if row["name"].startswith(start)]
        assert reasons
        assert all(reason.startswith("missing: ") for reason in reasons), reasons
    assert all(row["median"] for row in rows if row["name"].startswith("Skift"))
    result = run("bench_sb3", tmp_path, PYTHONPATH=path)
    assert result["missing"].startswith("missing: No module named")
    assert result["learners"] == {}


def test_actions_are_legal_and_uniform() -> None:
    masks = np.zeros((1, 50), np.int8)
    legal = [3, 4, 17, 49]
    masks[0, legal] = 1
    drawn = Chooser().batch(np.repeat(masks, 40_000, axis=0))
    counts = np.bincount(drawn, minlength=50)
    assert np.flatnonzero(counts).tolist() == legal
    assert np.abs(counts[legal] - 10_000).max() < 600  # 6.9 standard deviations


def test_rates_count_only_the_seconds_given() -> None:
    assert rate(lambda: (3, 0.5), 2.0) == 6.0
    assert ratio([1.0, 4.0, 9.0], [1.0, 2.0, 1.0]) == 2.0


def test_the_readmes_speeds_are_those_of_the_results() -> None:
    """To three digits."""
    folder = ROOT / "benchmarks" / "results"
    rows = json.loads((folder / "envs.json").read_text("utf-8"))["rows"]
    envs = {(row["name"], row["batch"], row["threads"]): row["median"] for row in rows}
    playouts = json.loads((folder / "rules.json").read_text("utf-8"))["playouts"]
    expected = (
        envs["Skift vector, tokens", 1024, 1],
        envs["EnvPool ConnectFour-v1", 1024, 1],
        envs["Skift vector, planes", 1024, 1],
        envs["EnvPool Chess-v1", 1024, 1],
        envs["Skift AEC raw_env, planes", 1, 1],
        envs["PettingZoo connect_four_v3 raw_env", 1, 1],
        envs["Skift AEC env, planes", 1, 1],
        envs["PettingZoo connect_four_v3 env", 1, 1],
        playouts["Skift, kernel"]["median"],
        playouts["OpenSpiel breakthrough, C++ rollouts"]["median"],
    )
    speed = (ROOT / "README.md").read_text("utf-8").partition("## Speed")[2].partition("\n## ")[0]
    told = [int(cell.replace(",", "")) for cell in re.findall(r" ([\d,]+) (?=\|)", speed)]
    assert told == [pytest.approx(figure, rel=0.015) for figure in expected]


def test_the_ladder_was_played_by_these_agents_and_rules() -> None:
    document = read_document(ROOT / "benchmarks" / "results" / "ladder.json.gz")
    assert document["summary"]["finished"]
    assert not manifest_problems(document["manifests"])
    assert document["settings"]["openings"]["sha256"] == opening_book("openings-v1").sha256
    ratings = {each["agent"]: each["elo"] for each in document["summary"]["ratings"]["table"]}
    for name in ratings:
        assert agents.make(name).name == name
    readme = (ROOT / "README.md").read_text("utf-8")
    told = dict(
        re.findall(
            r"\| `([\w:=.]+)` \| ([\d,]+) \|",
            readme.partition("<!-- ladder -->")[2].split("\n\n")[0],
        )
    )
    assert {agents.make(spec).name: int(elo.replace(",", "")) for spec, elo in told.items()} == {
        name: round(elo) for name, elo in ratings.items()
    }
