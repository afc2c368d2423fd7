"""The project's networks as a policy of MaskablePPO."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor

from skift_env.agents.networks import make_network
from skift_env.observation import TOKENS_SHAPE


class NetworkPolicy(MaskableActorCriticPolicy):
    """Actor and critic are the two outputs of one of `skift_env.agents.networks`.

    Args:
        *args: observation space (flat tokens), action space, learning-rate schedule.
        network, sizes: of `make_network`.
        **kwargs: as for SB3's policies.
    """

    def __init__(
        self, *args: Any, network: str, sizes: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        self.network_name, self.network_sizes = network, dict(sizes or {})
        super().__init__(*args, net_arch=[], ortho_init=False, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.network = make_network(self.network_name, **self.network_sizes)
        self.optimizer = self.optimizer_class(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def _run(
        self, observations: Tensor, masks: Any
    ) -> tuple[MaskableCategoricalDistribution, Tensor]:
        logits, values = self.network(observations.reshape(-1, *TOKENS_SHAPE))
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        if masks is not None:
            distribution.apply_masking(masks)
        return distribution, values.unsqueeze(-1)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,), values (B, 1) and log-probabilities (B,)."""
        distribution, values = self._run(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values (B, 1), log-probabilities (B,) and entropies (B,)."""
        distribution, values = self._run(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Tensor, action_masks: Any = None) -> Any:
        """The distribution over actions."""
        return self._run(obs, action_masks)[0]

    def predict_values(self, obs: Tensor) -> Tensor:
        """Values (B, 1)."""
        return self._run(obs, None)[1]


torch.distributions.Distribution.set_default_validate_args(False)  # a third of a small update
