"""Training speed, learning included: `python -m benchmarks.bench_training`.

The PPO baseline's trainer with each of its networks, and sb3-contrib's MaskablePPO on PettingZoo's
`connect_four_v3` in 8 environments, with SB3's own settings and its MlpPolicy, in the same run:
rollouts and updates, without evaluations. A step is an action of the learner; in the baseline the
opponent's reply, by a policy of the pool, goes with it. In Connect Four, as in PettingZoo's
tutorial, the learner plays both sides. Contestants take turns over several rounds; ratios are
medians of the ratios within a round. All may use as many threads as the configuration says.
"""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.measure import SEED, Patience, median, ratio, spread

AIMS = {"slots": 4, "mlp": 8}


class Baseline:
    """The PPO baseline as `configs/ppo.yaml` has it, with one of its networks."""

    def __init__(self, network: str, quick: bool) -> None:
        from rich.console import Console

        from baselines.config import load_config
        from baselines.train_ppo import PpoConfig, Run

        overrides = [f"network={{name: {network}}}", f"seed={SEED}", "evaluation.every=0"]
        if quick:
            overrides += ["num_envs=8", "ppo.rollout_steps=4", "ppo.batch_size=16", "save_every=2"]
        config = load_config(PpoConfig, measure.ROOT / "configs" / "ppo.yaml", overrides)
        self.folder = tempfile.TemporaryDirectory()
        self.console = Console(file=io.StringIO())
        self.leg = config.save_every
        self.run = Run(config, Path(self.folder.name))
        self.run.begin()

    def learn(self) -> int:
        """One leg of rollouts and updates; return its steps."""
        self.run.leg(self.leg)
        return self.leg * self.run.rollout_size

    def close(self) -> None:
        """Delete the run's folder."""
        self.run.close()
        self.folder.cleanup()


class ConnectFour:
    """MaskablePPO as in PettingZoo's tutorial, in 8 environments."""

    def __init__(self, quick: bool) -> None:
        from sb3_contrib import MaskablePPO
        from sb3_contrib.common.wrappers import ActionMasker
        from stable_baselines3.common.vec_env import DummyVecEnv

        steps = 8 if quick else 2048
        env = DummyVecEnv([lambda: ActionMasker(single_env(), lambda env: env.mask())] * 8)
        self.rollout = 8 * steps
        self.model = MaskablePPO("MlpPolicy", env, n_steps=steps, device="cpu", seed=SEED)

    def learn(self) -> int:
        """One rollout and update; return its steps."""
        self.model.learn(self.rollout, reset_num_timesteps=False)
        return self.rollout

    def close(self) -> None:
        """End the environments."""
        self.model.get_env().close()


def single_env() -> Any:
    """`connect_four_v3` as an environment of Gymnasium that plays both sides."""
    import gymnasium
    import numpy as np
    from pettingzoo.classic import connect_four_v3

    class BothSides(gymnasium.Env):
        def __init__(self) -> None:
            self.game = connect_four_v3.env()
            self.game.reset(seed=SEED)
            agent = self.game.possible_agents[0]
            self.observation_space = self.game.observation_space(agent)["observation"]
            self.action_space = self.game.action_space(agent)

        def mask(self) -> np.ndarray:
            return np.asarray(self.game.last()[0]["action_mask"], np.bool_)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.game.reset(seed=seed)
            return self.game.last()[0]["observation"], {}

        def step(self, action: Any) -> Any:
            mover = self.game.agent_selection
            self.game.step(int(action))
            observation, _, terminated, truncated, _ = self.game.last()
            return observation["observation"], self.game.rewards[mover], terminated, truncated, {}

    return BothSides()


def main() -> None:
    parser = measure.arguments(__doc__, rounds=5)
    arguments = parser.parse_args()
    patience = Patience(arguments.patience)
    result = measure.circumstances()
    contestants: dict[str, Baseline | ConnectFour] = {}
    missing = ""
    try:
        contestants["MaskablePPO, connect_four_v3"] = ConnectFour(arguments.quick)
        for network in ("slots", "mlp", "attention"):
            contestants[f"baseline, {network}"] = Baseline(network, arguments.quick)
    except ImportError as error:
        missing = f"missing: {error}"
        contestants.clear()
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for each in contestants.values():  # compile, and get games under way
        each.learn()
    for number in range(2 if arguments.quick else arguments.rounds):
        for name, each in contestants.items():
            measure.progress(f"round {number + 1}, {name}")
            patience.wait()
            began = time.perf_counter()
            steps = each.learn()
            rates[name].append(steps / (time.perf_counter() - began))
    for each in contestants.values():
        each.close()

    ratios: dict[str, float] = {}
    if contestants:
        peer, *ours = contestants
        ratios = {name: ratio(rates[name], rates[peer]) for name in ours}
    rows = [
        (name, spread(found), f"{ratios[name]:.2f}" if name in ratios else "")
        for name, found in rates.items()
    ]
    header = ("training", "steps/s, median (range)", "ratio")
    measure.print_table(header, rows or [("all", missing, "")])
    for network, aim in AIMS.items():
        found = ratios.get(f"baseline, {network}")
        if found is not None and not arguments.quick:
            print(f"{network}: the aim is {aim}: {'reached' if found >= aim else 'missed'}")
    result |= {
        "quick": arguments.quick,
        "begun_on_a_busy_machine": patience.busy,
        "missing": missing,
        "aims": AIMS,
        "steps_per_second": {
            name: {"median": median(found), "rounds": found} for name, found in rates.items()
        },
        "ratios": ratios,
    }
    measure.write_json(arguments.output / "training.json", result)


if __name__ == "__main__":
    main()
