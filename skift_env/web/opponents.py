"""Which agents the page offers, and how much each may be asked to think."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from skift_env.agents import Agent, AgentSpecError, make


@dataclass(frozen=True)
class Family:
    """Agents that differ in strength only.

    Attributes:
        name: how their specifications begin.
        title: what the page calls them.
        parameter: what makes them stronger, if anything does.
        offered: values of the parameter in the page's list, ascending; others between the first
            and the last may be asked for too.
    """

    name: str
    title: str
    parameter: str = ""
    offered: tuple[int, ...] = ()

    def strengths(self) -> list[tuple[str, str]]:
        """The specifications in the page's list, and what tells them apart."""
        if not self.parameter:
            return [(self.name, "")]
        return [
            (f"{self.name}:{self.parameter}={value}", f"{self.parameter} {value}")
            for value in self.offered
        ]

    def has(self, spec: str) -> bool:
        """Whether a specification is one of these agents, within the bounds."""
        if not self.parameter:
            return spec == self.name
        value = spec.removeprefix(f"{self.name}:{self.parameter}=")
        if value == spec or len(value) > 7 or not (value.isascii() and value.isdecimal()):
            return False
        return self.offered[0] <= int(value) <= self.offered[-1]


FAMILIES: Final = (
    Family("random", "Random"),
    Family("greedy", "Greedy"),
    Family("alphabeta", "Alpha-beta", "depth", (1, 2, 3, 4, 5)),
    Family("mcts", "Monte Carlo", "simulations", (100, 1_000, 10_000)),
)


class Opponents:
    """The agents that a server's pages may ask: families within bounds, and its own choice.

    Args:
        chosen: the specification of whoever starts the server: any agent.

    Raises:
        AgentSpecError: a ValueError, if there is no agent `chosen`.
    """

    def __init__(self, chosen: str) -> None:
        self.chosen = chosen
        agents = [
            {
                "title": family.title,
                "strengths": [
                    _told(spec, f"{family.title}, {label}" if label else family.title, label)
                    for spec, label in family.strengths()
                ],
            }
            for family in FAMILIES
        ]
        if not any(family.has(chosen) for family in FAMILIES):
            strength = _told(chosen, chosen, "")
            agents.insert(0, {"title": chosen, "strengths": [strength]})
        self.told: Final[dict[str, Any]] = {"chosen": chosen, "agents": agents}
        """What the page's lists show: agents, and the strengths of each, and the one chosen."""

    def make(self, spec: str) -> Agent:
        """A new agent.

        Raises:
            AgentSpecError: a ValueError, if it is not one that a page may ask for.
        """
        if spec == self.chosen or any(family.has(spec) for family in FAMILIES):
            return make(spec)
        known = ", ".join(family.strengths()[0][0] for family in FAMILIES)
        raise AgentSpecError(f"{spec[:40]!r} cannot be asked here; {known} and others can")


def _told(spec: str, title: str, label: str) -> dict[str, str]:
    return {"spec": spec, "name": make(spec).name, "title": title, "label": label}
