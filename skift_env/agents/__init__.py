"""Opponents by name: `make("alphabeta:depth=3")`.

A specification is `name`, `name-vN`, or either with parameters: `mcts-v1:simulations=400`. A name
without a version means the newest one. Versions are frozen: one that plays differently gets a new
number.

    random                            uniformly random
    greedy:noise=X                    one ply ahead: material and control; by chance X at random
    alphabeta:depth=N,nodes=N         alpha-beta search, limited by either or both
    mcts:simulations=N,rollout=N      Monte Carlo tree search
    ppo:path=FILE,temperature=X       a trained policy (extra `torch`)

The modules of agents are imported when one is made.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any, Final, cast, get_args, get_type_hints

from skift_env.agents.agent import Agent, BatchAgent, KernelAgent
from skift_env.agents.random_agent import RandomAgent

__all__ = [
    "Agent",
    "AgentSpecError",
    "BatchAgent",
    "KernelAgent",
    "RandomAgent",
    "make",
    "names",
    "register",
]

_AGENTS: Final[dict[str, str | Callable[..., Agent]]] = {
    "random-v1": "skift_env.agents.random_agent:RandomAgent",
    "greedy-v1": "skift_env.agents.greedy:Greedy",
    "alphabeta-v1": "skift_env.agents.alphabeta:AlphaBeta",
    "mcts-v1": "skift_env.agents.mcts:MonteCarlo",
    "ppo-v1": "skift_env.agents.policy:PolicyAgent.load",
}


class AgentSpecError(ValueError):
    """A specification that stands for no agent; the message says why and what there is."""


def names() -> tuple[str, ...]:
    """The agents there are, with their versions, in the order in which they were registered."""
    return tuple(_AGENTS)


def register(name: str, factory: str | Callable[..., Agent]) -> None:
    """Add an agent, whose `make` calls `factory` with the parameters of the specification.

    Args:
        name: a new name with a version, such as "mine-v1".
        factory: a class or function with annotated parameters (int, float, bool or str, also with
            None), or where to find it, "package.module:name" or
            "package.module:class.method", imported when it is needed. Its
            ValueErrors become AgentSpecErrors. The agent's `name` is to be its specification.

    Raises:
        AgentSpecError: if the name is taken or has another form.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*-v[1-9][0-9]*", name):
        raise AgentSpecError(f"an agent is registered as 'name-vN', in lower case, not {name!r}")
    if name in _AGENTS:
        raise AgentSpecError(f"there is an agent {name!r} already")
    _AGENTS[name] = factory


def make(spec: str) -> Agent:
    """The agent that a specification stands for: see the top of this module.

    Raises:
        AgentSpecError: naming what is wrong with it, and what there is.
    """
    name, colon, rest = spec.partition(":")
    try:
        factory = _factory(_full_name(name, spec))
    except ModuleNotFoundError as error:
        raise AgentSpecError(
            f"{spec!r} needs the package {error.name!r}, which is not installed"
        ) from error
    parameters = inspect.signature(factory).parameters
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    values: dict[str, Any] = {}
    for item in rest.split(",") if colon else ():
        key, equals, text = item.partition("=")
        if not equals or not key or not text:
            raise AgentSpecError(f"{item!r} in {spec!r} is not of the form 'parameter=value'")
        if key not in parameters:
            known = ", ".join(parameters) or "no parameters"
            raise AgentSpecError(f"no parameter {key!r} in {spec!r}: {name} takes {known}")
        if key in values:
            raise AgentSpecError(f"{key} is given twice in {spec!r}")
        try:
            values[key] = _parsed(text, hints.get(key, str))
        except ValueError as error:
            raise AgentSpecError(f"{key} must be {error}, not {text!r}, in {spec!r}") from None
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in values:
            raise AgentSpecError(f"{spec!r} lacks the parameter {key!r}")
    try:
        return factory(**values)
    except ValueError as error:
        raise AgentSpecError(f"{error}, in {spec!r}") from error


def _full_name(name: str, spec: str) -> str:
    """A name with its version: the newest unless given."""
    if name in _AGENTS:
        return name
    versions: dict[str, list[int]] = {}
    for full in _AGENTS:
        known, _, number = full.rpartition("-v")
        versions.setdefault(known, []).append(int(number))
    if name in versions:
        return f"{name}-v{max(versions[name])}"
    known, dash, _ = name.rpartition("-v")
    if dash and known in versions:
        there = ", ".join(f"{known}-v{number}" for number in sorted(versions[known]))
        raise AgentSpecError(f"no agent {name!r} in {spec!r}; there is {there}")
    raise AgentSpecError(f"no agent {name!r} in {spec!r}; there are {', '.join(sorted(versions))}")


def _factory(name: str) -> Callable[..., Agent]:
    factory = _AGENTS[name]
    if isinstance(factory, str):
        module, _, attribute = factory.partition(":")
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return cast("Callable[..., Agent]", found)
    return factory


def _parsed(text: str, hint: Any) -> int | float | bool | str:
    """A parameter's value; the ValueError's message says what it must be."""
    types = (hint, *get_args(hint))
    if bool in types:
        if text not in ("true", "false"):
            raise ValueError("true or false")
        return text == "true"
    if int in types:
        if not re.fullmatch("-?[0-9]{1,18}", text, re.ASCII):
            raise ValueError("an integer")
        return int(text)
    if float in types:
        try:
            return float(text)
        except ValueError:
            raise ValueError("a number") from None
    return text
