"""Play a game of random legal actions through the PettingZoo API, and show it.

`python -m skift_env.demo --help` tells the options.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from skift_env import skift_v0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; None stands for the arguments of the process."""
    parser = argparse.ArgumentParser(
        prog="python -m skift_env.demo",
        description="Play a game of random legal actions and show it.",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the game, 0 by default")
    parser.add_argument(
        "--render",
        choices=("ansi", "human"),
        default="ansi",
        help="show the last position in the terminal, or every position in a window",
    )
    options = parser.parse_args(arguments)
    env = skift_v0.env(render_mode=options.render)
    moves, rewards = play_randomly(env, options.seed)
    turns = [
        f"{i // 2 + 1:3}. {' '.join(f'{move:5}' for move in moves[i : i + 2])}"
        for i in range(0, len(moves), 2)
    ]
    for i in range(0, len(turns), 4):
        print("  ".join(turns[i : i + 4]).rstrip())
    print()
    if options.render == "ansi":
        print(env.render(), end="\n\n")
    print(", ".join(f"{agent} gets {reward}" for agent, reward in sorted(rewards.items())))
    env.close()


def play_randomly(env: Any, seed: int) -> tuple[list[str], dict[str, float]]:
    """Play a game to its end; return the moves in notation and what each agent gets for it."""
    rng = np.random.default_rng(seed)
    moves: list[str] = []
    rewards: dict[str, float] = {}
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, rewards[agent], terminated, truncated, _ = env.last()
        action = None
        if not (terminated or truncated):
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
            moves.append(env.unwrapped.position.action_text(action))
        env.step(action)
    return moves, rewards


if __name__ == "__main__":
    main()
