"""The PPO baseline: rewards where they belong, its pool, its files, and resuming."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra baselines")
pytest.importorskip("sb3_contrib", reason="needs the extra baselines")

from drawn import drawn  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import Progress  # noqa: E402

from baselines import curves, train_seeds  # noqa: E402
from baselines.config import ConfigError, dump_config, load_config  # noqa: E402
from baselines.pool import SelfPlayPool  # noqa: E402
from baselines.sb3_policy import NetworkPolicy  # noqa: E402
from baselines.train_ppo import PpoConfig, Run, main  # noqa: E402
from baselines.train_seeds import SeedsConfig  # noqa: E402
from baselines.training_env import MaterialVecEnv, SymmetricVecEnv, inverse  # noqa: E402
from skift_env import Position  # noqa: E402
from skift_env.agents.checkpoint import (  # noqa: E402
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
)
from skift_env.agents.networks import NETWORKS, make_network  # noqa: E402
from skift_env.agents.policy import PolicyAgent  # noqa: E402
from skift_env.sb3 import SkiftVecEnv  # noqa: E402

pytestmark = pytest.mark.compiled_only

SMALL = """
steps: 3_000
num_envs: 16
save_every: 2
network: {name: slots, sizes: {width: 16, depth: 1}}
ppo: {rollout_steps: 16, batch_size: 64}
opponents: {latest: 0.5, past: 0.3, scripted: {random: 0.2}, freeze_every: 2, keep: 3}
evaluation: {opponents: [random], final_pairs: 3}
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, "utf-8")
    return path


def quiet() -> Progress:
    return Progress(console=Console(quiet=True))


@pytest.fixture
def start_run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Make runs in folders of that name, and close them at the end."""
    runs: list[Run] = []

    def start(config: PpoConfig, name: str = "run") -> Run:
        runs.append(Run(config, tmp_path / name))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


# --- Configurations ---


def test_every_config_is_understood() -> None:
    folder = Path(__file__).resolve().parents[1] / "configs"
    files = sorted(folder.glob("*.yaml"))
    assert files
    for file in files:
        kind = SeedsConfig if "seeds:" in file.read_text("utf-8") else PpoConfig
        config = load_config(kind, file)
        assert kind.model_validate_json(config.model_dump_json()) == config


def test_a_dumped_config_is_read_back(config_file: Path, tmp_path: Path) -> None:
    config = load_config(PpoConfig, config_file, ["ppo.epochs=3", "opponents.scripted.greedy=0.5"])
    assert config.ppo.epochs == 3
    assert config.opponents.scripted == {"random": 0.2, "greedy": 0.5}
    (tmp_path / "dumped.yaml").write_text(dump_config(config), "utf-8")
    assert load_config(PpoConfig, tmp_path / "dumped.yaml") == config


@pytest.mark.parametrize(
    ("override", "named"),
    [
        ("ppo.epoch=3", "ppo.epoch"),
        ("ppo.epochs=many", "ppo.epochs"),
        ("network.name=cnn", "network.name"),
        ("steps", "steps"),
        ("steps.more=1", "steps"),
    ],
)
def test_config_errors_name_the_key(config_file: Path, override: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_config(PpoConfig, config_file, [override])


@pytest.mark.parametrize("text", ["- 1", "a: [", "nonsense: 1"])
def test_malformed_config(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        load_config(PpoConfig, path)


# --- Rewards ---


def test_winner_and_loser_get_their_reward_once(
    config_file: Path, start_run: Callable[..., Run]
) -> None:
    config = load_config(PpoConfig, config_file, ["material_reward=0.0", "steps=2_000"])
    run = start_run(config, "run")
    run.begin()
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    step = run.games.step_wait

    def watch() -> object:
        result = step()
        seen.append((result[1], result[2]))
        return result

    run.games.step_wait = watch  # type: ignore[method-assign]
    with quiet() as progress:
        run.train(progress)
    rewards = np.concatenate([pair[0] for pair in seen])
    dones = np.concatenate([pair[1] for pair in seen])
    assert set(np.unique(rewards[~dones])) == {0.0}
    assert set(np.unique(rewards[dones])) in ({-1.0, 1.0}, {-1.0, 0.0, 1.0})
    assert (rewards[dones] == 0).mean() < 0.1  # draws are rare
    # What the last rollout stored is what the last steps gave.
    buffer = run.learner.rollout_buffer
    stored = np.stack([pair[0] for pair in seen[-config.ppo.rollout_steps :]])
    assert buffer.rewards.tolist() == stored.tolist()


def test_every_step_of_a_game_is_worth_its_end(
    config_file: Path, start_run: Callable[..., Run]
) -> None:
    """Without discount, the return of each of the learner's steps is the result of that game."""
    overrides = ["material_reward=0.0", "ppo.gamma=1.0", "ppo.gae_lambda=1.0"]
    overrides += ["ppo.rollout_steps=64", "steps=1_024"]
    config = load_config(PpoConfig, config_file, overrides)
    run = start_run(config, "run")
    with quiet() as progress:
        run.train(progress)
    buffer = run.learner.rollout_buffer
    # The buffer was flattened for the updates, environment by environment.
    returns = buffer.returns.reshape(config.num_envs, -1)
    rewards = buffer.rewards.T
    ends = buffer.episode_starts.T[:, 1:] == 1  # the step before a start is an end
    finished = 0
    for game in range(config.num_envs):
        begin = 0
        for end in np.flatnonzero(ends[game]):
            result = rewards[game, end]
            assert result in (-1, 0, 1)
            assert returns[game, begin : end + 1] == pytest.approx(result, abs=1e-4)
            begin = end + 1
            finished += 1
    assert finished > 20


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_game_lost_in_two_plies_is_worth_that(side: str) -> None:
    """Whatever the learner plays, the reply wins: the critic learns -1, from either side's view."""
    from sb3_contrib import MaskablePPO

    lost = drawn(
        """
        .K k. ..
        .. pp PP
        """
    )
    position = lost if side == "white" else lost.transform(0, swap_colours=True)
    assert position.side == side
    env = SkiftVecEnv(8, "alphabeta:depth=1", side=side, position=position.text, max_plies=50)
    model = MaskablePPO(
        NetworkPolicy, env, n_steps=16, batch_size=32, learning_rate=1e-2, gamma=1.0,
        gae_lambda=1.0, seed=0, device="cpu", policy_kwargs={"network": "slots"},
    )  # fmt: skip
    model.learn(16 * 8 * 4)
    assert (model.rollout_buffer.returns == -1).all()
    value = PolicyAgent(model.policy.network, "learnt").policy(position)[1]
    assert value == pytest.approx(-1, abs=0.1)


def test_material_is_counted_from_the_learners_view() -> None:
    env = MaterialVecEnv(SkiftVecEnv(32, "random"), 0.1)
    env.seed(5)
    env.reset()
    games = env.venv.env.games
    assert (env.material == 0).all()
    total = np.zeros(32)
    generator = np.random.default_rng(0)
    for _ in range(30):
        masks = np.stack(env.env_method("action_masks"))
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])
        _, rewards, dones, _ = env.step(actions)
        total = np.where(dones, 0.0, total + rewards)
    for game in range(32):
        position = Position.from_state(games.states[game])
        pieces = "".join(position.board)
        white = sum(map(pieces.count, "KP")) - sum(map(pieces.count, "kp"))
        own = white if games.learners[game] == 0 else -white
        assert env.material[game] == own
        assert total[game] == pytest.approx(0.1 * own, abs=1e-5)


# --- Symmetries ---


def test_symmetries_are_undone() -> None:
    position = Position.start().play(24)
    for symmetry in range(8):
        back = int(inverse(np.array([symmetry]))[0])
        assert position.transform(symmetry).transform(back) == position


def test_symmetric_games_are_the_same_games() -> None:
    plain, turned = SkiftVecEnv(16, "random"), SymmetricVecEnv(SkiftVecEnv(16, "random"), 3)
    plain.seed(1)
    turned.venv.seed(1)
    plain.reset()
    turned.reset()
    generator = np.random.default_rng(2)
    for _ in range(60):
        masks = np.stack(turned.env_method("action_masks"))
        actions = np.array([generator.choice(np.flatnonzero(mask)) for mask in masks])
        turned.step_async(actions)
        underlying = turned.venv._actions
        assert all(plain.action_masks()[range(16), underlying])
        first, second = turned.step_wait(), plain.step(underlying)
        assert (first[1] == second[1]).all()
        assert (first[2] == second[2]).all()
        assert (turned.venv.env.games.states == plain.env.games.states).all()
    assert len(set(turned.symmetries.tolist())) > 1


# --- The pool ---


def test_pool_draws_by_weight_and_games_keep_their_opponent(tmp_path: Path) -> None:
    sizes = {"width": 8, "depth": 1}
    pool = SelfPlayPool({"random": 0.25}, 0.25, 0.5, 2, "slots", sizes, tmp_path)
    env = SkiftVecEnv(400, pool)
    network = make_network("slots", **sizes)
    env.seed(1)
    pool.refresh(network, 0, freeze=True, in_use=np.zeros(0, np.int16))
    env.reset()
    members = env.env.games.members
    # Latest and past are one and the same as yet.
    assert np.mean(members == 0) == pytest.approx(0.25, abs=0.08)
    before = members.copy()
    agents = [pool.members[place] for place in members]
    pool.refresh(network, 100, freeze=True, in_use=members)
    pool.refresh(network, 200, freeze=True, in_use=members)
    assert [pool.members[place] for place in members] == agents
    masks = env.action_masks()
    _, _, dones, _ = env.step(masks.argmax(1))
    assert (env.env.games.members[~dones] == before[~dones]).all()
    assert len(pool.past) == 2
    assert pool.weights.sum() == pytest.approx(1.0)
    assert len(list(tmp_path.glob("*.safetensors"))) == 3


# --- The policy ---


def test_the_policy_is_that_of_sb3s_distribution() -> None:
    from gymnasium import spaces
    from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution

    torch.manual_seed(1)
    policy = NetworkPolicy(
        spaces.Box(0, 1, (468,)), spaces.Discrete(405), lambda _: 1e-3, network="mlp"
    )
    with torch.no_grad():
        policy.network.policy.weight *= 100  # far from uniform
    env = SkiftVecEnv(64, "random", random_plies=6)
    env.seed(1)
    observations = torch.from_numpy(env.reset()).float()
    masks = np.stack(env.env_method("action_masks"))
    logits, values = policy.network(observations.reshape(-1, 9, 52))
    expected = MaskableCategoricalDistribution(405).proba_distribution(logits)
    expected.apply_masking(masks)
    counts = torch.zeros(64, 405)
    rows = torch.arange(64)
    for _ in range(400):
        actions, found_values, log_probs = policy(observations, action_masks=masks)
        counts[rows, actions] += 1
    assert masks[rows, actions].all()
    assert torch.allclose(log_probs, expected.log_prob(actions), atol=1e-5)
    assert torch.equal(found_values.squeeze(-1), values)
    evaluated = policy.evaluate_actions(observations, actions, torch.from_numpy(masks))
    assert torch.allclose(evaluated[1], log_probs, atol=1e-5)
    assert torch.allclose(evaluated[2], expected.entropy(), atol=1e-4)
    probabilities = expected.distribution.probs
    deviation = (400 * probabilities * (1 - probabilities)).sqrt() + 0.5
    assert ((counts - 400 * probabilities).abs() < 6 * deviation).all()
    best, _, _ = policy(observations, deterministic=True, action_masks=masks)
    assert torch.equal(best, expected.mode())


@pytest.mark.parametrize("name", NETWORKS)
def test_mixed_precision_hardly_changes_a_policy(name: str) -> None:
    from gymnasium import spaces

    env = SkiftVecEnv(32, "random", random_plies=6)
    env.seed(2)
    observations = torch.from_numpy(env.reset()).float()
    masks = np.stack(env.env_method("action_masks"))
    found = []
    for bfloat16 in (False, True):
        torch.manual_seed(2)
        policy = NetworkPolicy(
            spaces.Box(0, 1, (468,)),
            spaces.Discrete(405),
            lambda _: 1e-3,
            network=name,
            bfloat16=bfloat16,
        )
        with torch.no_grad():
            for head in (policy.network.policy, policy.network.value):
                _last_weight(head).mul_(20)
            log_probs, values = policy._run(observations, masks)
        assert log_probs.dtype == values.dtype == torch.float32
        found.append((log_probs, values))
    (exact, exact_values), (mixed, mixed_values) = found
    assert (exact.exp() - mixed.exp()).abs().max() < 0.01
    assert (exact_values - mixed_values).abs().max() < 0.05
    assert exact_values.std() > 0.02  # of something, not of nothing
    assert not torch.equal(exact_values, mixed_values)


def _last_weight(module: torch.nn.Module) -> torch.Tensor:
    return [p for name, p in module.named_parameters() if name.endswith("weight")][-1]


def test_the_entropys_weight_falls_over_the_run(
    config_file: Path, start_run: Callable[..., Run]
) -> None:
    overrides = ["steps=1_024", "overlap=false", "ppo.entropy=0.05", "ppo.final_entropy=0.01"]
    run = start_run(load_config(PpoConfig, config_file, overrides))
    run.begin()
    seen = []
    for _ in range(4):
        run.leg(1)
        seen.append(run.learner.ent_coef)
    assert seen == pytest.approx([0.05, 0.04, 0.03, 0.02])


# --- Resuming ---


def test_resumed_run_equals_the_uninterrupted_one(
    config_file: Path, start_run: Callable[..., Run]
) -> None:
    config = load_config(PpoConfig, config_file)
    whole = start_run(config, "whole")
    with quiet() as progress:
        whole.train(progress)

    class StopHereError(Exception):
        pass

    first = start_run(config, "parts")
    save, saves = first.save, []

    def save_twice_then_stop() -> None:
        save()
        saves.append(1)
        if len(saves) == 3:
            raise StopHereError

    first.save = save_twice_then_stop  # type: ignore[method-assign]
    with pytest.raises(StopHereError), quiet() as progress:
        first.train(progress)
    second = start_run(config, "parts")
    second.resume()
    assert second.iteration == 6
    with quiet() as progress:
        second.train(progress)
    assert second.steps == whole.steps
    for ours, theirs in zip(
        second.network.state_dict().values(), whole.network.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs)
    assert (second.games.env.games.states == whole.games.env.games.states).all()
    assert (second.games.env.games.rngs == whole.games.env.games.rngs).all()
    assert second.pool.past.keys() == whole.pool.past.keys()


def test_the_command_line(
    config_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main([str(config_file), "steps=600", "--run", str(folder)]) == 0
    assert "random" in capsys.readouterr().out
    assert {"config.yaml", "best.safetensors", "last.safetensors", "state.pt"} <= {
        path.name for path in folder.iterdir()
    }
    assert json.loads((folder / "evaluations.json").read_text("utf-8"))[0]["steps"] >= 600
    assert main([str(config_file), "steps=600", "--run", str(folder)]) == 2
    assert "--resume" in capsys.readouterr().out
    assert main([str(config_file), "steps=700", "--run", str(folder), "--resume"]) == 2
    (folder / "state.pt").write_bytes(b"damaged")
    assert main([str(config_file), "steps=600", "--run", str(folder), "--resume"]) == 2


def test_several_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    file, folder = tmp_path / "seeds.yaml", tmp_path / "run"
    small = "\n  ".join(SMALL.replace("3_000", "600").splitlines())
    file.write_text(f"seeds: [3, 4]\ntraining:{small}\n", "utf-8")
    arguments = [str(file), "training.evaluation.every=300", "--run", str(folder)]
    assert train_seeds.main(arguments) == 0
    assert "IQM" in capsys.readouterr().out
    figures = json.loads((folder / "seeds.json").read_text("utf-8"))
    scores = [
        json.loads((folder / f"seed-{seed}" / "final.json").read_text("utf-8"))["scores"]
        for seed in (3, 4)
    ]
    told = figures["opponents"]["random"]
    assert told["scores"] == [each["random"]["score"] for each in scores]
    assert told["iqm"] == pytest.approx(sum(told["scores"]) / 2)
    assert told["interval"] == [min(told["scores"]), max(told["scores"])]
    curve = curves.Curve(folder)
    assert curve.steps.tolist() == sorted(curve.steps)
    assert curve.opponents["random"].shape == (len(curve.steps), 3)
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    last = folder / "seed-4" / "last.safetensors"
    before = last.stat().st_mtime_ns
    assert train_seeds.main(arguments) == 0  # nothing is left to do
    assert last.stat().st_mtime_ns == before
    assert train_seeds.main([*arguments, "training.max_plies=100"]) == 2
    assert curves.main([str(tmp_path / "nowhere"), "--output", str(tmp_path / "x.png")]) == 2


# --- Checkpoints and agents ---


@pytest.mark.parametrize("name", NETWORKS)
def test_a_checkpoint_plays_as_its_network(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = make_network(name, width=16, depth=1)
    path = tmp_path / "policy.safetensors"
    save_checkpoint(path, network, name, {"width": 16, "depth": 1}, {"note": "fresh"})
    loaded, metadata = load_checkpoint(path)
    assert metadata["about"] == {"note": "fresh"}
    agent, again = PolicyAgent(network.eval(), "fresh", 1.0), PolicyAgent.load(path, 1.0)
    assert again.network is not loaded
    position = Position.start()
    generators = np.random.default_rng(1), np.random.default_rng(1)
    while position.outcome is None and position.ply < 60:
        action = agent.act(position, generators[0])
        assert again.act(position, generators[1]) == action
        probabilities, value = agent.policy(position)
        assert probabilities.sum() == pytest.approx(1)
        assert set(np.flatnonzero(probabilities)) <= set(position.legal_actions)
        assert abs(value) < 2
        position = position.play(action)


def test_a_policy_plays_legal_actions_whatever_its_network_says() -> None:
    class Stubborn(torch.nn.Module):
        def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            logits = torch.arange(405.0).repeat(len(tokens), 1) * 100
            return logits, torch.zeros(len(tokens))

    for temperature in (0.0, 1.0):
        position, generator = Position.start(), np.random.default_rng(0)
        agent = PolicyAgent(Stubborn(), "stubborn", temperature)
        while position.outcome is None and position.ply < 40:
            action = agent.act(position, generator)
            assert action == max(position.legal_actions)
            position = position.play(action)


def test_a_batch_plays_as_its_games_alone() -> None:
    torch.manual_seed(0)
    agent = PolicyAgent(make_network("attention"), "fresh", 0.7)
    states = np.stack([Position.start().play(action).state for action in (24, 60, 288, 396)])
    rngs = np.arange(1, 17).reshape(4, 4)
    alone = [int(agent.act_batch(states[i : i + 1], rngs[i : i + 1].copy())[0]) for i in range(4)]
    assert agent.act_batch(states, rngs.copy()).tolist() == alone


def test_damaged_and_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    sizes = {"width": 8, "depth": 1}
    path = tmp_path / "policy.safetensors"
    save_checkpoint(path, make_network("slots", **sizes), "slots", sizes, {})
    good = path.read_bytes()
    missing = tmp_path / "missing.safetensors"
    with pytest.raises(CheckpointError, match="no checkpoint"):
        load_checkpoint(missing)
    changes = {
        "cut": good[: len(good) // 2],
        "noise": b"\0" * 100,
        "format": good.replace(b'\\"format_version\\": 1', b'\\"format_version\\": 2'),
        "network": good.replace(b'\\"network\\": \\"slots\\"', b'\\"network\\": \\"slobs\\"'),
        "sizes": good.replace(b'\\"width\\": 8', b'\\"width\\": 9'),
    }
    for name, data in changes.items():
        assert data != good, name
        path.write_bytes(data)
        with pytest.raises(CheckpointError, match=r"policy\.safetensors"):
            load_checkpoint(path)
    from safetensors.torch import save

    path.write_bytes(save({"weight": torch.zeros(2)}))
    with pytest.raises(CheckpointError, match="not of a Skift policy"):
        load_checkpoint(path)


@pytest.mark.slow
def test_it_learns_to_beat_random(config_file: Path, start_run: Callable[..., Run]) -> None:
    overrides = ["steps=60_000", "num_envs=128", "network.sizes={width: 64}", "ppo.batch_size=512"]
    run = start_run(load_config(PpoConfig, config_file, overrides))
    with quiet() as progress:
        run.train(progress)
    (result,) = run.evaluate(50, Console(quiet=True))
    assert result.score > 0.75
