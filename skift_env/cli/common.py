"""What all commands share: how they refuse, and how an agent is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

AGENT_HELP: Final = """An agent by name and options, such as random, greedy, alphabeta:depth=3 or
mcts:simulations=400."""


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Tell of errors in what the user asked for, without a traceback; exit status 2."""
    try:
        yield
    except errors as error:
        raise typer.BadParameter(str(error)) from None


INPUT_ERRORS: Final = (ValueError, OSError, ImportError)
"""For reading what was given: whatever is wrong, the user gave it."""
