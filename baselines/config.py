"""Typed configurations from YAML files: unknown keys and wrong types are errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError


class Config(BaseModel):
    """Base of all configurations."""

    model_config = ConfigDict(extra="forbid", frozen=True)


C = TypeVar("C", bound=Config)


class ConfigError(ValueError):
    """A configuration that is not understood; the message names file, key and value."""


def load_config(kind: type[C], path: Path, overrides: Sequence[str] = ()) -> C:
    """The configuration of a YAML file, with overrides such as `ppo.epochs=3` applied.

    Raises:
        ConfigError: for a missing or malformed file, an unknown key or a value of a wrong type.
    """
    try:
        values = yaml.safe_load(path.read_text("utf-8")) or {}
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {str(path)!r}: {error}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must hold keys and values, not {values!r}")
    for override in overrides:
        _apply(values, override)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        lines = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']} (got {fault['input']!r})"
            for fault in error.errors()
        ]
        raise ConfigError(f"{path}: " + "; ".join(lines)) from None


def _apply(values: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    if not equals or not name:
        raise ConfigError(f"an override is key=value or group.key=value, not {override!r}")
    *groups, key = name.split(".")
    for group in groups:
        values = values.setdefault(group, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{group!r} is no group of keys, in the override {override!r}")
    try:
        values[key] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"the override {override!r} is not YAML: {error}") from None


def dump_config(config: Config) -> str:
    """The resolved configuration as YAML, which `load_config` reads back."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
