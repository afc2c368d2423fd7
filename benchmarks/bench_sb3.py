"""The environment's share of MaskablePPO's time: `python -m benchmarks.bench_sb3`.

sb3-contrib's MaskablePPO with its MlpPolicy learns against the random opponent, on one core. While
it collects a rollout it calls the environment's `step_wait` and, for the masks,
`env_method("action_masks")`: the time in both, over that of all of `collect_rollouts`, is the
environment's share. The rest is the policy network and SB3's own bookkeeping. A step is the
learner's ply and the reply.

`SkiftVecEnv` plays the games as one batch; beside it SB3's `DummyVecEnv` of as many Gymnasium
environments, and `SkiftVecEnv` with a larger network. They take turns over several rounds, one
rollout and one update each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks import measure
from benchmarks.measure import SEED, Patience, median, spread

SHARE_AIM = 0.15


class Stopwatch:
    """Adds up the time that calls of some methods take."""

    def __init__(self, owner: Any, *methods: str) -> None:
        self.seconds = 0.0
        for name in methods:
            setattr(owner, name, self._timed(getattr(owner, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds += time.perf_counter() - began

        return timed

    def read(self) -> float:
        """The seconds since the last reading."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


class Learner:
    """MaskablePPO on an environment, and what was measured of it, a value for each round."""

    def __init__(self, env: Any, steps: int, layers: list[int]) -> None:
        from sb3_contrib import MaskablePPO

        self.rollout = steps * env.num_envs
        self.model = MaskablePPO(
            "MlpPolicy", env, n_steps=steps, batch_size=min(1024, self.rollout), n_epochs=4,
            policy_kwargs={"net_arch": layers}, device="cpu", seed=SEED,
        )  # fmt: skip
        self.in_env = Stopwatch(env, "step_wait", "env_method")
        self.in_rollouts = Stopwatch(self.model, "collect_rollouts")
        self.in_updates = Stopwatch(self.model, "train")
        self.shares: list[float] = []
        self.rollout_rates: list[float] = []
        self.rates: list[float] = []

    def learn(self) -> tuple[float, float, float]:
        """Seconds in the environment, in the rollout and in the update, of one of each."""
        self.in_env.read()
        self.model.learn(self.rollout, reset_num_timesteps=False)
        return self.in_env.read(), self.in_rollouts.read(), self.in_updates.read()

    def take_turn(self) -> None:
        """Measure once more."""
        in_env, in_rollout, in_update = self.learn()
        self.shares.append(in_env / in_rollout)
        self.rollout_rates.append(self.rollout / in_rollout)
        self.rates.append(self.rollout / (in_rollout + in_update))


def learners(num_envs: int, steps: int) -> dict[str, Learner]:
    """The contestants.

    Raises:
        ImportError: without the extra sb3.
    """
    import gymnasium
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv

    from skift_env.sb3 import SkiftVecEnv

    torch.set_num_threads(1)
    singles = DummyVecEnv([lambda: gymnasium.make("skift/Skift-v0")] * num_envs)
    return {
        "SkiftVecEnv, layers 64, 64": Learner(SkiftVecEnv(num_envs), steps, [64, 64]),
        "SkiftVecEnv, layers 256, 256": Learner(SkiftVecEnv(num_envs), steps, [256, 256]),
        "DummyVecEnv, layers 64, 64": Learner(singles, steps, [64, 64]),
    }


def main() -> None:
    parser = measure.arguments(__doc__, rounds=9)
    parser.add_argument("--num-envs", type=int, default=256)
    arguments = parser.parse_args()
    patience = Patience(arguments.patience)
    num_envs, steps, rounds = (
        (4, 4, 2) if arguments.quick else (arguments.num_envs, 64, arguments.rounds)
    )

    result = measure.circumstances()
    measure.pin(1)
    contestants: dict[str, Learner] = {}
    missing = ""
    try:
        contestants = learners(num_envs, steps)
    except ImportError as error:
        missing = f"missing: {error}"
    for learner in contestants.values():  # compile, and get games under way
        learner.learn()
    for number in range(rounds if contestants else 0):
        measure.progress(f"round {number + 1} of {rounds}")
        for learner in contestants.values():
            patience.wait()
            learner.take_turn()

    rows = [
        (
            name,
            f"{median(learner.shares):.1%} ({min(learner.shares):.1%} … {max(learner.shares):.1%})",
            spread(learner.rollout_rates),
            spread(learner.rates),
        )
        for name, learner in contestants.items()
    ]
    header = ("MaskablePPO", "environment's share", "steps/s in rollouts", "with updates")
    measure.print_table(header, rows or [("all", missing, "", "")])
    for name, learner in contestants.items():
        if name.startswith("SkiftVecEnv"):
            reached = "reached" if median(learner.shares) <= SHARE_AIM else "missed"
            print(f"{name}: the aim is a share of at most {SHARE_AIM:.0%}: {reached}")

    result |= {
        "quick": arguments.quick,
        "begun_on_a_busy_machine": patience.busy,
        "num_envs": num_envs,
        "steps_a_rollout": steps,
        "missing": missing,
        "learners": {
            name: {
                "environment_share": {"median": median(each.shares), "rounds": each.shares},
                "rollout_steps_per_second": {
                    "median": median(each.rollout_rates),
                    "rounds": each.rollout_rates,
                },
                "steps_per_second": {"median": median(each.rates), "rounds": each.rates},
            }
            for name, each in contestants.items()
        },
        "aim": SHARE_AIM,
    }
    measure.write_json(arguments.output / "sb3.json", result)


if __name__ == "__main__":
    main()
