"""Opponents for self-play: the policy as it was lately, frozen past ones, and scripted agents.

Each game draws its opponent when it begins and keeps it to its end.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from skift_env.agents.checkpoint import save_checkpoint
from skift_env.agents.networks import make_network
from skift_env.agents.policy import PolicyAgent
from skift_env.game_batch import Mixture


class SelfPlayPool(Mixture):
    """Scripted agents at the first places, then policies.

    Args:
        scripted: weight of each scripted agent, by specification.
        latest: weight of the policy as it was at the last `refresh`.
        past: weight of the frozen past policies, all together.
        keep: how many past policies are kept; when there are more, the most crowded in time goes.
        network, sizes: of the policies.
        folder: where past policies are written.
        temperature: of all policies.
    """

    def __init__(
        self,
        scripted: Mapping[str, float],
        latest: float,
        past: float,
        keep: int,
        network: str,
        sizes: dict[str, Any],
        folder: Path,
        temperature: float = 1.0,
    ) -> None:
        self.temperature = temperature
        self.scripted = dict(scripted)
        self.latest_weight, self.past_weight, self.keep = latest, past, keep
        self.network, self.sizes, self.folder = network, sizes, folder
        self.latest: int | None = None  # its place
        self.past: dict[int, int] = {}  # place by step at which it was frozen
        # A pool that starts with policies only plays at random until the first refresh.
        starting = [*self.scripted, "random"]
        super().__init__(starting, [*self.scripted.values(), 0.0 if scripted else 1.0])

    def refresh(self, network: nn.Module, step: int, freeze: bool, in_use: np.ndarray) -> None:
        """Put the policy as it is now at the place of the latest; also keep it if `freeze`.

        Args:
            network: the policy.
            step: environment steps so far.
            freeze: whether it joins the past policies.
            in_use: places that games under way play against; these agents stay where they are.
        """
        as_it_is = copy.deepcopy(network).eval()
        agent = PolicyAgent(as_it_is, f"policy at step {step}", self.temperature)
        self.latest = self._place(agent, in_use)
        if freeze and self.past_weight:
            path = self.folder / f"{step:010d}.safetensors"
            about = {"environment_steps": step}
            save_checkpoint(path, network, self.network, self.sizes, about)
            self.past[step] = self.latest
            if len(self.past) > self.keep:
                del self.past[self._most_crowded()]
        self._weigh()

    def _place(self, agent: PolicyAgent, in_use: np.ndarray) -> int:
        taken = {*range(len(self.scripted)), *self.past.values(), *map(int, in_use)}
        for place in range(len(self.members)):
            if place not in taken:
                self.members[place] = agent
                return place
        self.members.append(agent)
        return len(self.members) - 1

    def _most_crowded(self) -> int:
        """The past policy between whose neighbours there are the fewest steps; not the ends."""
        steps = sorted(self.past)
        gaps = {steps[i]: steps[i + 1] - steps[i - 1] for i in range(1, len(steps) - 1)}
        return min(gaps, key=gaps.__getitem__) if gaps else steps[0]

    def _weigh(self) -> None:
        weights = np.zeros(len(self.members))
        weights[: len(self.scripted)] = list(self.scripted.values())
        if self.latest is not None:
            weights[self.latest] += self.latest_weight
        for place in self.past.values():
            weights[place] += self.past_weight / len(self.past)
        self.weights = weights

    def state(self) -> dict[str, Any]:
        """All that `restore` needs, as numbers, strings and tensors."""
        policies = {
            place: {"name": agent.name, "weights": agent.network.state_dict()}
            for place, agent in enumerate(self.members)
            if isinstance(agent, PolicyAgent)
        }
        return {
            "policies": policies,
            "members": len(self.members),
            "latest": self.latest,
            "past": self.past,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Become the pool whose `state` this is."""
        while len(self.members) < state["members"]:
            self.members.append(self.members[-1])
        for place, policy in state["policies"].items():
            network = make_network(self.network, **self.sizes)
            network.load_state_dict(policy["weights"])
            self.members[place] = PolicyAgent(network.eval(), policy["name"], self.temperature)
        self.latest, self.past = state["latest"], dict(state["past"])
        if self.latest is not None:
            self._weigh()
