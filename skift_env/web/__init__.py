"""Play in the browser: a small server and its page (extra `web`).

>>> from skift_env.web import serve
>>> serve(opponent="greedy")  # doctest: +SKIP
"""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlencode

from skift_env.position import Position
from skift_env.render import import_extra
from skift_env.types import Side


def serve(
    opponent: str | None = None,
    *,
    side: Side | None = None,
    start: Position | None = None,
    seed: int | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    open_browser: bool = True,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve the page until interrupted (Ctrl-C).

    The page begins a new game if any of the first four arguments is given. Otherwise it goes on
    with the browser's last one.

    Args:
        opponent: the agent to begin with, by default `greedy`; the page offers others too.
        side: the person's side, by default white.
        start: the first position, by default the rulebook's.
        seed: of the agent's choices, 0 … 2³² − 1, by default a new one for each game.
        host: the address to listen on. Any but a loopback address lets other machines in.
        port: 0 takes one that is free.
        open_browser: show the page in the user's browser.
        announce: called with the page's address once the server listens.

    Raises:
        AgentSpecError: a ValueError, if there is no such opponent.
        ValueError: if the seed is out of range.
        OSError: if it cannot listen there.
        gymnasium.error.DependencyNotInstalled: where Starlette or Uvicorn is missing.
    """
    import_extra("starlette", "starlette", "web")
    uvicorn = import_extra("uvicorn", "uvicorn", "web")
    from skift_env.web import server
    from skift_env.web.inputs import MOST_SEED

    if seed is not None and not 0 <= seed <= MOST_SEED:
        raise ValueError(f"seed {seed} is not in 0 … {MOST_SEED}")
    app = server.create_app(
        opponent or "greedy", names={"localhost", host.lower(), socket.gethostname().lower()}
    )
    given = {"agent": opponent, "you": side, "start": start and start.text, "seed": seed}
    game = urlencode({name: value for name, value in given.items() if value is not None})
    with server.listen(host, port) as listener:
        address = server.page_address(listener) + (game and f"#{game}")
        if announce is not None:
            announce(address)
        if open_browser:
            # The socket listens already, so that the browser waits for an answer. One that runs
            # in the terminal comes back only when its user leaves it: hence the thread.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        with suppress(KeyboardInterrupt):
            uvicorn.Server(server.server_config(app)).run(sockets=[listener])
