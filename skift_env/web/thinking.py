"""Agents at work: in threads, for a bounded time, so that no game holds up another."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from skift_env.web.inputs import RefusedError

P = ParamSpec("P")
R = TypeVar("R")


class Thinkers:
    """Threads in which agents think. Their kernels run without the GIL, so several think at once.

    Args:
        threads: how many agents think at the same time.
        waiting: how many more requests may wait for their turn.
        per_client: how many requests one client may have here, thinking or waiting.
        seconds: how long a request may take, with the wait.
    """

    def __init__(self, *, threads: int, waiting: int, per_client: int, seconds: float) -> None:
        self.most, self.per_client, self.seconds = threads + waiting, per_client, seconds
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="thinking")
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()

    async def think(
        self, client: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """What the function returns, run in a thread.

        A thread cannot be stopped: one that is late goes on, and counts until it is done. The
        bounds on what agents may be asked see to it that it will be.

        Raises:
            RefusedError: 429 or 503 if there is too much to do, 504 if it takes too long.
        """
        with self._lock:
            if self._asked[client] >= self.per_client:
                raise RefusedError(429, "too many requests to agents at a time, from this address")
            if self._asked.total() >= self.most:
                raise RefusedError(503, "all agents are busy")
            self._asked[client] += 1
        future = self._pool.submit(function, *args, **kwargs)
        future.add_done_callback(lambda _: self._done(client))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except asyncio.TimeoutError:
            raise RefusedError(
                504, f"the agent has not answered within {self.seconds:g} seconds"
            ) from None

    def _done(self, client: str) -> None:
        with self._lock:
            self._asked[client] -= 1
            if not self._asked[client]:
                del self._asked[client]

    def close(self) -> None:
        """Take no more work, and drop what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)
