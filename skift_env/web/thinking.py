"""Agents at work: in threads, for a bounded time, so that no game holds up another."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeAlias, TypeVar

from skift_env.web.inputs import RefusedError

P = ParamSpec("P")
R = TypeVar("R")
Task: TypeAlias = tuple["Future[Any]", Callable[[], Any]]


class Thinkers:
    """Threads in which agents think. Their kernels run without the GIL, so several think at once.

    They are daemons, unlike those of a ThreadPoolExecutor, for which Python waits when it ends:
    whoever stops the server need not sit out a long search.

    Args:
        threads: how many agents think at the same time.
        waiting: how many more requests may wait for their turn.
        per_client: how many requests one client may have here, thinking or waiting.
        seconds: how long a request may take, with the wait.
    """

    def __init__(self, *, threads: int, waiting: int, per_client: int, seconds: float) -> None:
        self.threads, self.most = threads, threads + waiting
        self.per_client, self.seconds = per_client, seconds
        self._threads: list[threading.Thread] = []
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
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
            if len(self._threads) < self.threads:
                name = f"thinking {len(self._threads) + 1}"
                self._threads.append(threading.Thread(target=self._work, name=name, daemon=True))
                self._threads[-1].start()
        future: Future[R] = Future()
        future.add_done_callback(lambda _: self._done(client))
        self._tasks.put((future, partial(function, *args, **kwargs)))
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

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, function = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = function()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

    def close(self) -> None:
        """Take no more work, and drop what waits; threads end when they are done thinking."""
        while True:
            try:
                task = self._tasks.get_nowait()
            except Empty:
                break
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
