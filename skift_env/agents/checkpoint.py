"""Trained networks as files: weights and a description as data, so that loading runs no code.

A checkpoint is a safetensors file (https://github.com/huggingface/safetensors) whose metadata says
which network it is, in which version of this format and of the observation, and whatever the
trainer wrote beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from skift_env.agents.networks import make_network
from skift_env.files import write_atomically

FORMAT: Final = "skift-policy"
FORMAT_VERSION: Final = 1
OBSERVATION_VERSION: Final = 1
"""Of tokens and action numbers: a network fits the layout that it was trained on."""


class CheckpointError(ValueError):
    """A file that is no checkpoint that this version can use; the message names it and why."""


def save_checkpoint(
    path: Path, network: nn.Module, name: str, sizes: dict[str, Any], about: dict[str, Any]
) -> None:
    """Write a network's weights and description, replacing `path` only when all is written.

    Args:
        path: the file.
        network: made by `make_network(name, **sizes)`.
        name: of the network.
        sizes: of the network.
        about: anything that JSON can hold: how it was trained.
    """
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "observation_version": OBSERVATION_VERSION,
        "network": name,
        "sizes": sizes,
        "about": about,
    }
    tensors = {
        key: value.detach().cpu().contiguous() for key, value in network.state_dict().items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    data = save(tensors, {FORMAT: json.dumps(metadata, sort_keys=True)})
    write_atomically(path, data)


def read_metadata(path: Path) -> dict[str, Any]:
    """The description in a checkpoint.

    Raises:
        CheckpointError: if there is no such file, or it is damaged, foreign or of another version.
    """
    try:
        with safe_open(path, "pt") as file:
            text = (file.metadata() or {}).get(FORMAT)
    except FileNotFoundError:
        raise CheckpointError(f"there is no checkpoint {str(path)!r}") from None
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{str(path)!r} is no checkpoint, or damaged: {error}") from None
    if text is None:
        raise CheckpointError(f"{str(path)!r} holds weights, but not of a Skift policy")
    try:
        metadata = json.loads(text)
        found = metadata["format_version"], metadata["observation_version"]
        metadata["network"], metadata["sizes"]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{str(path)!r} has a damaged description: {error!r}") from None
    if found != (FORMAT_VERSION, OBSERVATION_VERSION):
        raise CheckpointError(
            f"{str(path)!r} has format and observation version {found}, "
            f"this is {(FORMAT_VERSION, OBSERVATION_VERSION)}"
        )
    return dict(metadata)


def load_checkpoint(path: Path) -> tuple[nn.Module, dict[str, Any]]:
    """A checkpoint's network, in evaluation mode, and its description.

    Raises:
        CheckpointError: if there is no such file, or it is damaged, foreign or of another version.
    """
    metadata = read_metadata(path)
    try:
        network = make_network(metadata["network"], **metadata["sizes"])
        with safe_open(path, "pt") as file:
            weights: dict[str, torch.Tensor] = {
                key: file.get_tensor(key) for key in sorted(file.keys())
            }
        network.load_state_dict(weights)
    except (ValueError, TypeError, RuntimeError, SafetensorError) as error:
        raise CheckpointError(f"{str(path)!r}: the weights do not fit: {error}") from None
    return network.eval(), metadata
