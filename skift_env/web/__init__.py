"""Play in the browser: a small server and its page (extra `web`).

>>> from skift_env.web import serve
>>> serve(opponent="greedy")  # doctest: +SKIP
"""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress

from skift_env.render import import_extra


def serve(
    host: str = "127.0.0.1",
    port: int = 8000,
    opponent: str = "greedy",
    open_browser: bool = True,
    announce: Callable[[str], object] | None = None,
) -> None:
    """Serve the page until interrupted (Ctrl-C).

    Args:
        host: the address to listen on. Any but a loopback address lets other machines in.
        port: 0 takes one that is free.
        opponent: the agent that the page begins with.
        open_browser: show the page in the user's browser.
        announce: called with the page's address once the server listens.

    Raises:
        AgentSpecError: a ValueError, if there is no such opponent.
        OSError: if it cannot listen there.
        gymnasium.error.DependencyNotInstalled: where Starlette or Uvicorn is missing.
    """
    import_extra("starlette", "starlette", "web")
    uvicorn = import_extra("uvicorn", "uvicorn", "web")
    from skift_env.web import server

    names = {"localhost", host.lower(), socket.gethostname().lower()}
    app = server.create_app(opponent, names=names)
    with server.listen(host, port) as listener:
        address = server.page_address(listener)
        if announce is not None:
            announce(address)
        if open_browser:
            webbrowser.open(address)  # the socket listens already: the browser waits for an answer
        with suppress(KeyboardInterrupt):
            uvicorn.Server(server.server_config(app)).run(sockets=[listener])
