"""Networks on the nine tile tokens, in PyTorch (extra `torch`): logits for 405 actions and a value.

Each takes tokens (B, 9, 52), of any dtype, as the side to move sees them, and returns logits
(B, 405) and values (B,), in about -1 … 1. Illegal actions are for the caller to mask.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn

from skift_env.observation import TOKENS_SHAPE
from skift_env.rules import MAX_TILES

NUM_SLOTS: Final = MAX_TILES
TOKEN_SIZE: Final = TOKENS_SHAPE[1]
PIECES: Final = slice(19, 35)
AROUND_SIZE: Final = 8 * 16

# What each slot says: 32 piece moves, 12 tile moves, 1 rotation.
PIECE_LOGITS: Final = 32
TILE_LOGITS: Final = 12
SLOT_LOGITS: Final = PIECE_LOGITS + TILE_LOGITS + 1


def action_logits(slots: Tensor) -> Tensor:
    """Logits (B, 405) in the order of the action numbers, from those by slot (B, 9, 45)."""
    pieces = slots[..., :PIECE_LOGITS]
    tiles = slots[..., PIECE_LOGITS : PIECE_LOGITS + TILE_LOGITS]
    rotations = slots[..., -1]
    return torch.cat([pieces.flatten(1), tiles.flatten(1), rotations], dim=1)


class WithNeighbours(nn.Module):
    """Tokens with the pieces on the eight tiles around each: (B, 9, 52) to (B, 9, 180)."""

    size: Final = TOKEN_SIZE + AROUND_SIZE

    def __init__(self) -> None:
        super().__init__()
        # Cells of an 11 x 11 grid, one cell of margin around the largest board.
        steps = [-12, -11, -10, -1, 1, 10, 11, 12]
        places = torch.arange(9.0)
        self.register_buffer("steps", torch.tensor(steps), persistent=False)
        self.register_buffer("places", places, persistent=False)
        self.steps: Tensor
        self.places: Tensor

    def forward(self, tokens: Tensor) -> Tensor:
        """Float tokens (B, 9, 52) to (B, 9, 180)."""
        rows = tokens[..., 1:10] @ self.places
        columns = tokens[..., 10:19] @ self.places
        cells = (11 * (rows + 1) + columns + 1).long()  # absent tiles fall on cell 12 with nothing
        batch = tokens.shape[0]
        pieces = tokens[..., PIECES]
        grid = tokens.new_zeros(batch, 121, pieces.shape[-1])
        grid.scatter_add_(1, cells.unsqueeze(-1).expand_as(pieces), pieces)
        around = (cells.unsqueeze(-1) + self.steps).reshape(batch, -1, 1)
        seen = grid.gather(1, around.expand(-1, -1, pieces.shape[-1]))
        seen = seen.reshape(batch, NUM_SLOTS, AROUND_SIZE) * tokens[..., :1]
        return torch.cat([tokens, seen], dim=-1)


class Mlp(nn.Module):
    """A plain perceptron on all tokens at once."""

    def __init__(self, width: int = 256, depth: int = 2) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        size = NUM_SLOTS * TOKEN_SIZE
        for _ in range(depth):
            layers += [nn.Linear(size, width), nn.ReLU()]
            size = width
        self.body = nn.Sequential(*layers)
        self.policy = nn.Linear(size, NUM_SLOTS * SLOT_LOGITS)
        self.value = nn.Linear(size, 1)
        _soften(self.policy, self.value)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens (B, 9, 52) to logits (B, 405) and values (B,)."""
        body = self.body(tokens.float().flatten(1))
        slots = self.policy(body).reshape(-1, NUM_SLOTS, SLOT_LOGITS)
        return action_logits(slots), self.value(body).squeeze(-1)


class _Residual(nn.Module):
    """A layer on each slot that also sees the mean over the tiles."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.own = nn.Linear(width, width)
        self.mean = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, slots: Tensor, present: Tensor) -> Tensor:
        normed = self.norm(slots)
        mean = (normed * present).sum(1, keepdim=True) / present.sum(1, keepdim=True).clamp(min=1)
        result: Tensor = slots + self.out(torch.relu(self.own(normed) + self.mean(mean)))
        return result


class Slots(nn.Module):
    """The same layers on each tile, which sees its neighbours' pieces and the mean of all tiles."""

    def __init__(self, width: int = 64, depth: int = 2) -> None:
        super().__init__()
        self.tokens = WithNeighbours()
        self.first = nn.Linear(WithNeighbours.size, width)
        self.blocks = nn.ModuleList(_Residual(width) for _ in range(depth))
        self.policy = nn.Linear(width, SLOT_LOGITS)
        self.value = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))
        _soften(self.policy, self.value[-1])

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens (B, 9, 52) to logits (B, 405) and values (B,)."""
        tokens = tokens.float()
        present = tokens[..., :1]
        slots = torch.relu(self.first(self.tokens(tokens)))
        for block in self.blocks:
            slots = block(slots, present)
        return action_logits(self.policy(slots)), self.value(_pool(slots, present)).squeeze(-1)


class Attention(nn.Module):
    """Transformer layers over the nine tiles."""

    def __init__(self, width: int = 64, depth: int = 2, heads: int = 4) -> None:
        super().__init__()
        self.tokens = WithNeighbours()
        self.first = nn.Linear(WithNeighbours.size, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.policy = nn.Linear(width, SLOT_LOGITS)
        self.value = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))
        _soften(self.policy, self.value[-1])

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens (B, 9, 52) to logits (B, 405) and values (B,)."""
        tokens = tokens.float()
        present = tokens[..., :1]
        slots = self.layers(
            self.first(self.tokens(tokens)), src_key_padding_mask=present.squeeze(-1) == 0
        )
        return action_logits(self.policy(slots)), self.value(_pool(slots, present)).squeeze(-1)


def _pool(slots: Tensor, present: Tensor) -> Tensor:
    """Mean and maximum over the tiles that are there: (B, 9, width) to (B, 2 * width)."""
    mean = (slots * present).sum(1) / present.sum(1).clamp(min=1)
    return torch.cat([mean, slots.masked_fill(present == 0, -1e4).amax(1)], dim=-1)


def _soften(*heads: nn.Module) -> None:
    """Let a fresh network play nearly uniformly and expect nearly nothing."""
    for head in heads:
        assert isinstance(head, nn.Linear)
        nn.init.normal_(head.weight, std=0.01)
        nn.init.zeros_(head.bias)


NETWORKS: Final[dict[str, type[nn.Module]]] = {
    "mlp": Mlp,
    "slots": Slots,
    "attention": Attention,
}


def make_network(name: str, **sizes: Any) -> nn.Module:
    """A fresh network.

    Raises:
        ValueError: for an unknown name or size.
    """
    if name not in NETWORKS:
        raise ValueError(f"network must be one of {', '.join(NETWORKS)}, not {name!r}")
    try:
        return NETWORKS[name](**sizes)
    except TypeError as error:
        raise ValueError(f"network {name}: {error}") from None
