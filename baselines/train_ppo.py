"""Self-play training with sb3-contrib's MaskablePPO: `python -m baselines.train_ppo CONFIG`.

The learner plays both colours against a pool: its own policy as it was lately, frozen past ones,
and scripted agents. A run folder holds the resolved configuration, TensorBoard logs, the best and
the last checkpoint, and the state from which `--resume` goes on.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed

from baselines.config import Config, ConfigError, dump_config, load_config
from baselines.evaluate import Evaluation, evaluate, print_table
from baselines.pool import SelfPlayPool
from baselines.sb3_policy import NetworkPolicy
from baselines.training_env import MaterialVecEnv, SymmetricVecEnv
from skift_env.agents.checkpoint import save_checkpoint
from skift_env.agents.policy import PolicyAgent
from skift_env.files import FileLockedError, locked, write_atomically
from skift_env.manifest import manifest
from skift_env.sb3 import SkiftVecEnv

STATE_VERSION = 1
STATE, FINAL = "state.pt", "final.json"


class Network(Config):
    """Which of `skift_env.agents.networks`, and its sizes."""

    name: Literal["mlp", "slots", "attention"] = "slots"
    sizes: dict[str, int] = Field(default_factory=dict)


class Ppo(Config):
    """Settings of PPO, as in Stable-Baselines3.

    Over the run the learning rate falls to zero in a line, and the weight of the entropy from
    `entropy` to `final_entropy` (None: it stays).
    """

    learning_rate: float = 1e-3
    rollout_steps: int = 32
    batch_size: int = 512
    epochs: int = 2
    gamma: float = 0.97
    gae_lambda: float = 0.8
    clip_range: float = 0.2
    entropy: float = 0.05
    final_entropy: float | None = None
    value_weight: float = 0.5
    max_grad_norm: float = 0.5


class Opponents(Config):
    """Shares of the games by opponent; they need not sum to 1."""

    latest: float = 0.7
    past: float = 0.3
    scripted: dict[str, float] = Field(default_factory=dict)
    refresh_every: int = 1  # iterations after which the latest policy is renewed
    freeze_every: int = 20  # iterations after which it joins the past policies
    keep: int = 4  # past policies
    temperature: float = 1.0  # at which policies play as opponents; below 1 they blunder less


class EvaluationPlan(Config):
    """Matches on fixed openings, of the policy's most likely actions."""

    every: int = 0  # environment steps; 0: only at the end
    pairs: int = 50
    final_pairs: int = 200
    opponents: list[str] = Field(default_factory=lambda: ["random", "greedy"])


class PpoConfig(Config):
    """A training run."""

    seed: int = 0
    steps: int = 200_000  # the learner's plies
    num_envs: int = 256
    overlap: bool = True  # learn from one rollout while the next is collected
    torch_threads: int = 1  # of each of the two
    bfloat16: bool = False  # the learner's network in mixed precision: faster on CPUs that have it
    save_every: int = 20  # iterations
    masks: bool = True  # False: no masks, an illegal action loses the game
    symmetry: bool = True
    material_reward: float = 0.1  # for each piece
    random_plies: int = 4
    max_plies: int = 300
    network: Network = Network()
    ppo: Ppo = Ppo()
    opponents: Opponents = Opponents()
    evaluation: EvaluationPlan = EvaluationPlan()


class Run:
    """One training run: what it is made of, and how it is saved and taken up again."""

    def __init__(self, config: PpoConfig, folder: Path) -> None:
        self.config, self.folder = config, folder
        set_random_seed(config.seed)
        torch.set_num_threads(config.torch_threads)
        opponents = config.opponents
        self.pool = SelfPlayPool(
            opponents.scripted,
            opponents.latest,
            opponents.past,
            opponents.keep,
            config.network.name,
            config.network.sizes,
            folder / "pool",
            opponents.temperature,
        )
        self.games = SkiftVecEnv(
            config.num_envs,
            self.pool,
            random_plies=config.random_plies,
            max_plies=config.max_plies,
        )
        self.games.seed(config.seed)
        self.rollout_size = config.num_envs * config.ppo.rollout_steps
        env: Any = self.games
        self.symmetric = SymmetricVecEnv(env, config.seed) if config.symmetry else None
        env = self.symmetric or env
        self.material = MaterialVecEnv(env, config.material_reward)
        self.env = self.material
        self.learner, self.actor = (self._new_model() for _ in range(2))
        self.logger = configure(str(folder / "logs"), ["tensorboard"])
        self.learner.set_logger(self.logger)
        self.actor.set_logger(self.logger)
        self.counter = GameCounter()
        self.counter.init_callback(self.actor)
        self.thread = ThreadPoolExecutor(1)
        self.iteration = 0
        self.seconds = 0.0
        self.best_score = -1.0
        self.evaluations: list[dict[str, Any]] = []

    def _new_model(self) -> MaskablePPO:
        ppo, network = self.config.ppo, self.config.network
        return MaskablePPO(
            NetworkPolicy,
            self.env,
            learning_rate=lambda left: left * ppo.learning_rate,
            n_steps=ppo.rollout_steps,
            batch_size=ppo.batch_size,
            n_epochs=ppo.epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip_range,
            ent_coef=ppo.entropy,
            vf_coef=ppo.value_weight,
            max_grad_norm=ppo.max_grad_norm,
            seed=self.config.seed,
            device="cpu",
            policy_kwargs={
                "network": network.name,
                "sizes": network.sizes,
                "bfloat16": self.config.bfloat16,
            },
        )

    def close(self) -> None:
        """Close the logs and end the threads."""
        self.thread.shutdown()
        self.logger.close()
        self.games.close()

    @property
    def network(self) -> Any:
        """The network that learns; between legs it is also the one that plays."""
        return self.learner.policy.network

    @property
    def steps(self) -> int:
        """The learner's plies so far."""
        return int(self.actor.num_timesteps)

    # --- The loop ---

    def train(self, progress: Progress) -> None:
        """Learn until all steps are done; after each leg of the run, save and maybe evaluate."""
        config = self.config
        if self.iteration == 0:
            self.begin()
        task = progress.add_task(
            "training", total=config.steps, completed=self.steps, speed="", length=""
        )

        def show() -> None:
            progress.update(
                task,
                completed=min(self.steps, config.steps),
                speed=f"{self.steps / self.seconds:,.0f} steps/s",
                length=f"{self.counter.mean_plies():.0f} plies a game",
            )

        while self.steps < config.steps:
            before = self.steps
            left = -(-(config.steps - self.steps) // self.rollout_size)
            self.leg(min(config.save_every, left), show)
            self.counter.record(self.steps / self.seconds)
            self.logger.dump(self.steps)
            if not progress.console.is_terminal:  # where no bar is shown
                progress.console.print(
                    f"{self.steps:>10,} steps, {self.seconds:5.0f} s: "
                    f"{self.counter.mean_plies():.0f} plies a game"
                )
            plan = config.evaluation
            due = plan.every and before // plan.every < self.steps // plan.every
            if due and self.steps < config.steps:  # `finish` evaluates the end
                self.evaluate(plan.pairs, progress.console)
            self.save()

    def begin(self) -> None:
        """Start the games of a run that is not resumed."""
        self.actor._setup_learn(self.config.steps, None)

    def leg(self, iterations: int, show: Callable[[], None] = lambda: None) -> None:
        """Collect rollouts and learn from each, which is the loop of `MaskablePPO.learn`.

        With `overlap`, a thread learns from one rollout while the next is collected by the policy
        as it was before, until at the end of the leg all have been learnt from.
        """
        overlap = self.config.overlap
        for number in range(iterations):
            started = time.perf_counter()
            self._renew_opponents()
            learning = self.thread.submit(self._learn) if overlap and number else None
            self._collect()
            if learning is not None:
                learning.result()
            swapped = self.actor.rollout_buffer, self.learner.rollout_buffer
            self.learner.rollout_buffer, self.actor.rollout_buffer = swapped
            if not overlap or number == iterations - 1:
                self._learn()
            self.actor.policy.load_state_dict(self.learner.policy.state_dict())
            self.iteration += 1
            self.seconds += time.perf_counter() - started
            show()

    def _collect(self) -> None:
        buffer, steps = self.actor.rollout_buffer, self.config.ppo.rollout_steps
        self.actor.collect_rollouts(self.env, self.counter, buffer, steps, self.config.masks)

    def _learn(self) -> None:
        """Learn from the rollout that was handed over."""
        if self.config.overlap:
            self._renew_log_probs()
        done = self.learner._n_updates // self.config.ppo.epochs
        learner, ppo = self.learner, self.config.ppo
        learner._update_current_progress_remaining(done * self.rollout_size, self.config.steps)
        last = ppo.entropy if ppo.final_entropy is None else ppo.final_entropy
        learner.ent_coef = last + learner._current_progress_remaining * (ppo.entropy - last)
        learner.train()

    def _renew_log_probs(self) -> None:
        """Let PPO stay near the policy that it starts from, not the older one that played.

        Of a rollout collected by the policy before the last update, the ratio to that one would be
        clipped already where the last update went. See Hilton et al. 2021, "Batch size-invariance
        for policy optimization" (https://arxiv.org/abs/2110.00641), which tells the proximal policy
        from the one that played; the weights between the two, near 1, are left out here.
        """
        buffer, policy = self.learner.rollout_buffer, self.learner.policy
        with torch.no_grad():
            for step in range(buffer.buffer_size):
                _, log_probs, _ = policy.evaluate_actions(
                    torch.from_numpy(buffer.observations[step]),
                    torch.from_numpy(buffer.actions[step]).flatten(),
                    torch.from_numpy(buffer.action_masks[step]) if self.config.masks else None,
                )
                buffer.log_probs[step] = log_probs.numpy()

    def _renew_opponents(self) -> None:
        plan = self.config.opponents
        if self.iteration % plan.refresh_every == 0 and plan.latest + plan.past > 0:
            freeze = self.iteration % plan.freeze_every == 0
            in_use = self.games.env.games.members
            self.pool.refresh(self.actor.policy.network, self.steps, freeze, in_use)

    def evaluate(self, pairs: int, console: Console) -> list[Evaluation]:
        """Play the ladder, log it, and keep the checkpoint if it is the best."""
        agent = PolicyAgent(self.network.eval(), "policy")
        results = evaluate(agent, self.config.evaluation.opponents, pairs, seed=self.config.seed)
        score = sum(result.score for result in results) / len(results)
        told = {
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "scores": {result.opponent: result.as_json() for result in results},
        }
        self.evaluations.append(told)
        for result in results:
            self.logger.record(f"score/{result.opponent}", result.score)
        self.logger.dump(self.steps)
        write_atomically(self.folder / "evaluations.json", json.dumps(self.evaluations, indent=1))
        scores = ", ".join(f"{result.opponent} {result.score:.1%}" for result in results)
        console.print(f"{self.steps:>10,} steps, {self.seconds:5.0f} s: {scores}")
        if score > self.best_score:
            self.best_score = score
            self.checkpoint("best")
        return results

    def finish(self, console: Console) -> None:
        """Write the last checkpoint and its figures, from more games than on the way."""
        path = self.checkpoint("last")
        results = self.evaluate(self.config.evaluation.final_pairs, console)
        final = self.evaluations[-1] | {"manifest": manifest()}
        write_atomically(self.folder / FINAL, json.dumps(final, indent=1))
        print_table(results, console)
        console.print(f"policy: {path}", markup=False)

    def checkpoint(self, name: str) -> Path:
        """Write the policy as it is now."""
        path = self.folder / f"{name}.safetensors"
        about = {
            "trainer": "baselines.train_ppo",
            "environment_steps": self.steps,
            "seconds": round(self.seconds, 1),
            "config": self.config.model_dump(mode="json"),
        }
        network = self.config.network
        save_checkpoint(path, self.network, network.name, network.sizes, about)
        return path

    # --- Saving and resuming ---

    def _arrays(self) -> dict[str, np.ndarray]:
        """The arrays of games under way, to be saved, and filled on resuming."""
        games = self.games.env.games
        names = ("states", "rngs", "learners", "over", "members", "replies")
        arrays = {name: getattr(games, name) for name in names}
        arrays["material"] = self.material.material
        if self.symmetric is not None:
            arrays["symmetries"] = self.symmetric.symmetries
        return arrays

    def save(self) -> None:
        """Write all that the next iteration depends on, in one file that holds data only."""
        learner, actor = self.learner, self.actor
        kind, words, place, has_gauss, cached = np.random.get_state()  # noqa: NPY002 (SB3 uses it)
        assert kind == "MT19937"
        state = {
            "version": STATE_VERSION,
            "config": self.config.model_dump_json(),
            "iteration": self.iteration,
            "seconds": self.seconds,
            "best_score": self.best_score,
            "evaluations": json.dumps(self.evaluations),
            "steps": self.steps,
            "updates": learner._n_updates,
            "policy": learner.policy.state_dict(),
            "optimizer": learner.policy.optimizer.state_dict(),
            "pool": self.pool.state(),
            "torch": torch.get_rng_state(),
            "numpy": [torch.from_numpy(words.astype(np.int64)), place, has_gauss, cached],
            "python": json.dumps(random.getstate()),
            "last_observations": torch.from_numpy(actor._last_obs.copy()),
            "last_starts": torch.from_numpy(np.asarray(actor._last_episode_starts, np.bool_)),
            "masks": torch.from_numpy(self.games.action_masks().copy()),
            "arrays": {name: torch.from_numpy(a.copy()) for name, a in self._arrays().items()},
        }
        if self.symmetric is not None:
            state["symmetry"] = json.dumps(self.symmetric.generator.bit_generator.state)
            state["shown_masks"] = torch.from_numpy(self.symmetric.masks.copy())
        file = io.BytesIO()
        torch.save(state, file)
        write_atomically(self.folder / STATE, file.getvalue())

    def resume(self) -> None:
        """Go on from the saved state.

        Raises:
            ConfigError: if it is missing, damaged, of another version or configuration.
        """
        path = self.folder / STATE
        try:
            state = torch.load(path, weights_only=True)
            version, config = state["version"], state["config"]
        except Exception as error:
            raise ConfigError(f"cannot resume from {str(path)!r}: {error}") from None
        if version != STATE_VERSION:
            raise ConfigError(f"{path} has version {version}, this is {STATE_VERSION}")
        if config != self.config.model_dump_json():
            raise ConfigError(f"{path} is of a run with another configuration")
        learner, actor = self.learner, self.actor
        self.begin()
        self.iteration, self.seconds = state["iteration"], state["seconds"]
        self.best_score = state["best_score"]
        self.evaluations = json.loads(state["evaluations"])
        actor.num_timesteps, learner._n_updates = state["steps"], state["updates"]
        learner.policy.load_state_dict(state["policy"])
        learner.policy.optimizer.load_state_dict(state["optimizer"])
        actor.policy.load_state_dict(state["policy"])
        self.pool.restore(state["pool"])
        for name, array in self._arrays().items():
            array[:] = state["arrays"][name].numpy()
        actor._last_obs = state["last_observations"].numpy()
        actor._last_episode_starts = state["last_starts"].numpy()
        self.games._masks = state["masks"].numpy()
        if self.symmetric is not None:
            self.symmetric.generator.bit_generator.state = json.loads(state["symmetry"])
            self.symmetric.observations = actor._last_obs
            self.symmetric.masks = state["shown_masks"].numpy()
        torch.set_rng_state(state["torch"])
        words, place, has_gauss, cached = state["numpy"]
        words = words.numpy().astype(np.uint32)
        np.random.set_state(("MT19937", words, place, has_gauss, cached))  # noqa: NPY002
        version, internal, gauss = json.loads(state["python"])
        random.setstate((version, tuple(internal), gauss))


class GameCounter(BaseCallback):
    """How long games are, which tells passive play, and how they end."""

    def __init__(self) -> None:
        super().__init__()
        self.plies: list[int] = []
        self.cut = 0
        self.lengths = np.zeros(0, np.int64)

    def _on_step(self) -> bool:
        dones = self.locals["dones"]
        if len(self.lengths) != len(dones):
            self.lengths = np.zeros(len(dones), np.int64)
        self.lengths += 2
        for game in np.flatnonzero(dones):
            self.plies.append(int(self.lengths[game]))
            self.cut += self.locals["infos"][game]["TimeLimit.truncated"]
        self.lengths[dones] = 0
        return True

    def mean_plies(self) -> float:
        """Mean length of the last games, about: each learner's step counts as two plies."""
        return float(np.mean(self.plies[-500:])) if self.plies else 0.0

    def record(self, speed: float) -> None:
        """Log what was seen since the last time."""
        recent = self.plies[-500:]
        if recent:
            self.logger.record("games/mean_plies", float(np.mean(recent)))
        self.logger.record("games/cut_at_max_plies", self.cut)
        self.logger.record("time/steps_per_second", speed)
        self.plies, self.cut = recent, 0


def train(config: PpoConfig, folder: Path, console: Console, resume: bool | None) -> None:
    """Train in a folder, from where it was interrupted if `resume`; None: if there is a state.

    Raises:
        ConfigError: if the folder holds a run and is not to be resumed, or cannot be.
        FileLockedError: if another process trains in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / STATE):
        begun = (folder / STATE).exists()
        if begun and resume is False:
            raise ConfigError(f"{folder} holds a run: --resume it, or name another folder by --run")
        run = Run(config, folder)
        try:
            if resume or (begun and resume is None):
                run.resume()
            write_atomically(folder / "config.yaml", dump_config(config))
            with Progress(*PROGRESS, console=console) as progress:
                run.train(progress)
            run.finish(console)
        finally:
            run.close()


PROGRESS = (
    TextColumn("{task.description}"),
    BarColumn(),
    TextColumn("{task.completed:,}/{task.total:,}"),
    TextColumn("{task.fields[speed]}"),
    TextColumn("{task.fields[length]}"),
    TimeRemainingColumn(),
)


def main(arguments: list[str] | None = None) -> int:
    """The command line; see `--help`."""
    parser = argparse.ArgumentParser(prog="python -m baselines.train_ppo", description=__doc__)
    parser.add_argument("config", type=Path, help="a YAML file of configs/")
    parser.add_argument("overrides", nargs="*", help="key=value, such as ppo.epochs=3")
    parser.add_argument("--run", type=Path, help="run folder (default: runs/ and the file's name)")
    parser.add_argument("--resume", action="store_true", help="go on with an interrupted run")
    given = parser.parse_intermixed_args(arguments)
    console = Console()
    folder = given.run or Path("runs") / given.config.stem
    try:
        config = load_config(PpoConfig, given.config, given.overrides)
        train(config, folder, console, given.resume)
    except (ValueError, FileLockedError) as error:
        console.print(f"error: {error}", style="red", markup=False)
        return 2
    except KeyboardInterrupt:
        console.print(f"interrupted; go on with --resume --run {folder}", markup=False)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
