"""The project's networks as a policy of MaskablePPO."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor

from skift_env.agents.networks import make_network
from skift_env.observation import TOKENS_SHAPE

ILLEGAL = -1e8
"""The logit of an action that the mask forbids, as in sb3-contrib: its probability is 0."""


class NetworkPolicy(MaskableActorCriticPolicy):
    """Actor and critic are the two outputs of one of `skift_env.agents.networks`.

    The arithmetic is that of SB3's distribution, in one pass over the 405 logits instead of five.

    Args:
        *args: observation space (flat tokens), action space, learning-rate schedule.
        network, sizes: of `make_network`.
        bfloat16: run the network in mixed precision, which pays on CPUs that have such numbers.
        **kwargs: as for SB3's policies.
    """

    def __init__(
        self,
        *args: Any,
        network: str,
        sizes: dict[str, Any] | None = None,
        bfloat16: bool = False,
        **kwargs: Any,
    ) -> None:
        self.network_name, self.network_sizes = network, dict(sizes or {})
        self.bfloat16 = bfloat16
        super().__init__(*args, net_arch=[], ortho_init=False, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.network = make_network(self.network_name, **self.network_sizes)
        self.optimizer = self.optimizer_class(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def _ask(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, 405) and values (B,), float32."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
            logits, values = self.network(observations.reshape(-1, *TOKENS_SHAPE))
        return logits.float(), values.float()

    def _run(self, observations: Tensor, masks: Any) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the actions (B, 405), and values (B, 1)."""
        logits, values = self._ask(observations)
        if masks is not None:
            allowed = torch.as_tensor(masks, dtype=torch.bool).reshape(logits.shape)
            logits = logits.masked_fill(~allowed, ILLEGAL)
        return torch.log_softmax(logits, dim=-1), values.unsqueeze(-1)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (B,), values (B, 1) and log-probabilities (B,)."""
        log_probs, values = self._run(obs, action_masks)
        # Exponential noise: the smallest of e / p is action i with probability p[i].
        noise = 0.0 if deterministic else torch.empty_like(log_probs).exponential_().log()
        actions = (log_probs - noise).argmax(-1)
        return actions, values, _of(actions, log_probs)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values (B, 1), log-probabilities (B,) and entropies (B,)."""
        log_probs, values = self._run(obs, action_masks)
        entropies = -(log_probs.exp() * log_probs).sum(-1)
        return values, _of(actions, log_probs), entropies

    def get_distribution(self, obs: Tensor, action_masks: Any = None) -> Any:
        """SB3's distribution over actions."""
        return self.action_dist.proba_distribution(self._run(obs, action_masks)[0])

    def predict_values(self, obs: Tensor) -> Tensor:
        """Values (B, 1)."""
        return self._ask(obs)[1].unsqueeze(-1)


def _of(actions: Tensor, log_probs: Tensor) -> Tensor:
    return log_probs.gather(-1, actions.long().unsqueeze(-1)).squeeze(-1)
