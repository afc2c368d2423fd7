"""The page's server, running for a test, and a plain client for it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn
from drawn import drawn

from skift_env.web import server

PATIENCE = 300.0
"""Seconds: the first request of each kind may have to wait for the compiler."""


SPLITTING = drawn(
    """
    p. __ __
    k. __ __

    .. K. __
    .. PP __

    __ __ .p
    __ __ .P
    """
)
"""After B2e, two groups of two tiles are left to choose from."""


class Reply(NamedTuple):
    """What the server said: its status, headers (names in lower case) and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, which must be JSON."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)


class Client:
    """Sends requests to a server on this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    def request(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """The reply to a request, whose path and headers go out as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, names, reply.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        """The reply to GET."""
        return self.request("GET", path, headers=headers)

    def post(self, name: str, **members: Any) -> Reply:
        """The reply to a request of the API."""
        kind = {"Content-Type": "application/json"}
        return self.request("POST", f"/api/{name}", json.dumps(members), kind)

    def told(self, name: str, **members: Any) -> Any:
        """The answer to a request of the API that must succeed."""
        reply = self.post(name, **members)
        assert reply.status == 200, reply
        return reply.json


@contextmanager
def served(opponent: str = "random", *, port: int = 0, **settings: Any) -> Iterator[Client]:
    """A server on a port, a free one by default; the settings are those of `create_app`."""
    listener = server.listen("127.0.0.1", port)
    app = server.create_app(opponent, **({"seconds": PATIENCE} | settings))
    running = uvicorn.Server(server.server_config(app))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Client(listener.getsockname()[1])
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
