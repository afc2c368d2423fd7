"""The server: a page, and an API that keeps no games.

Every request carries its whole game, so that the server has nothing to lose and games cannot
disturb each other. The API takes and gives JSON objects; an error is `{"error": "what is wrong"}`
with a status of 400 or above.

| request | members | answer |
|---|---|---|
| GET /api/agents | | `agents` that one may ask, and the one `chosen` to begin with |
| POST /api/position | game, `turned` | what the page shows: see `skift_env.web.telling` |
| POST /api/why | game, `move` | whether it is `legal`, and `why` not |
| POST /api/agent | game, `agent`, `seed` | the agent's `name`, its `move` and that in `words` |
| POST /api/hint | game, `agent`, `seed` | the agent's `name` and its `moves`, the best first |
| POST /api/record | game, `white`, `black` | the game's `record`: see `skift_env.records` |

A game is `start`, the text of a position (if missing, the rulebook's), and `moves`, a list of moves
in notation. `agent` is a specification as for `skift_env.agents.make`, `seed` a number from which
the agent's random choices come, `white` and `black` are names, `turned` shows black's side below.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from skift_env.agents import Agent, AgentSpecError
from skift_env.position import Position
from skift_env.records import Game, Termination, format_game
from skift_env.shapes import THEMES, css_variables
from skift_env.web.guard import Guard
from skift_env.web.hints import adviser, best_moves
from skift_env.web.inputs import LONGEST_NAME, MOST_BYTES, RefusedError, Request, judge
from skift_env.web.opponents import Opponents
from skift_env.web.telling import sentence, tell
from skift_env.web.thinking import Thinkers

Answer: TypeAlias = dict[str, Any]

STATIC: Final = Path(__file__).parent / "static"
PAGE: Final = {
    "/": ("index.html", "text/html"),
    "/app.js": ("app.js", "text/javascript"),
    "/style.css": ("style.css", "text/css"),
}
LONGEST_SPEC: Final = 500
MOST_REQUESTS: Final = 64
SIDES: Final = ("White", "Black")
WON: Final = "..Kp/..k./.P../.... w - 40"
"""A position with a win in one, over which no agent thinks for long."""
BODY_SECONDS: Final = 10.0
"""How long a client may take to send a request's body."""


def create_app(
    opponent: str = "greedy",
    *,
    names: Collection[str] = ("localhost",),
    seconds: float = 60.0,
    threads: int | None = None,
) -> ASGIApp:
    """The ASGI application.

    Args:
        opponent: the agent that a new page begins with. It may be any; others are bounded.
        names: host names to answer to, besides all addresses.
        seconds: how long an agent may think.
        threads: how many agents think at a time; by default one for each processor, at least two.

    Raises:
        AgentSpecError: a ValueError, if there is no such opponent.
    """
    api = _Api(Opponents(opponent), threads or max(2, os.cpu_count() or 1), seconds)
    app = Starlette(
        routes=[
            *(
                Route(path, _constant((STATIC / name).read_text("utf-8"), kind))
                for path, (name, kind) in PAGE.items()
            ),
            Route("/theme.css", _constant(_theme(), "text/css")),
            Route("/api/agents", _constant(json.dumps(api.opponents.told), "application/json")),
            *(
                Route(f"/api/{name}", _answering(answer), methods=["POST"])
                for name, answer in api.answers.items()
            ),
        ],
        exception_handlers={RefusedError: _refused, HTTPException: _failed, Exception: _broken},
        lifespan=api.lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, names=names, most_requests=MOST_REQUESTS)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address.

    Raises:
        OSError: naming the address, if that is not possible.
    """
    with ExitStack() as stack:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            family, kind, protocol, _, address = found[0]
            listener = stack.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":  # elsewhere it would let two servers share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(128)
        except (OSError, UnicodeError) as error:  # the latter for a name that cannot be one
            why = getattr(error, "strerror", None) or error
            raise OSError(f"cannot listen on {host}, port {port}: {why}") from error
        stack.pop_all()
    return listener


def page_address(listener: socket.socket) -> str:
    """The page's address, for a browser on this machine."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def server_config(app: ASGIApp) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=4 * MOST_REQUESTS,
        timeout_graceful_shutdown=2,
    )


class _Api:
    """The answers by name, and the agents and threads that they take."""

    def __init__(self, opponents: Opponents, threads: int, seconds: float) -> None:
        self.opponents = opponents
        self.thinkers = Thinkers(
            threads=threads, waiting=8 * threads, per_client=5 * threads, seconds=seconds
        )
        self.answers = {
            "position": self.position,
            "why": self.why,
            "agent": self.agent,
            "hint": self.hint,
            "record": self.record,
        }

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        warm_up = asyncio.create_task(self.warm_up())
        yield
        warm_up.cancel()
        self.thinkers.close()

    async def warm_up(self) -> None:
        """Compile or load the kernels, which takes a while: the rules before the opponent."""
        client = "the server itself"
        await self.position(Request({}), client)
        await self.agent(Request({"agent": self.opponents.chosen, "start": WON}), client)

    async def position(self, request: Request, client: str) -> Answer:
        return await run_in_threadpool(lambda: tell(request.line(), turned=request.flag("turned")))

    async def why(self, request: Request, client: str) -> Answer:
        def judged() -> Answer:
            _, why = judge(request.line().position, request.text("move", 1000))
            return {"legal": why is None, "why": why}

        return await run_in_threadpool(judged)

    async def agent(self, request: Request, client: str) -> Answer:
        def choose() -> Answer:
            position, agent, rng = self.asked(request)
            action = agent.act(position, rng)
            return {
                "name": agent.name,
                "move": position.action_text(action),
                "words": sentence(position, action),
            }

        return await self.thinkers.think(client, choose)

    async def hint(self, request: Request, client: str) -> Answer:
        def advise() -> Answer:
            position, agent, rng = self.asked(request)
            agent = adviser(agent)
            moves = [
                {
                    "move": position.action_text(action),
                    "words": sentence(position, action),
                    "rating": rating,
                }
                for action, rating in best_moves(agent, position, rng)
            ]
            return {"name": agent.name, "moves": moves}

        return await self.thinkers.think(client, advise)

    async def record(self, request: Request, client: str) -> Answer:
        def recorded() -> Answer:
            line = request.line()
            names = {side: request.text(side.lower(), LONGEST_NAME, side) for side in SIDES}
            ended: Termination = "unfinished" if line.position.outcome is None else "normal"
            game = Game(line.positions[0], line.actions, ended, names)
            return {"record": format_game(game)}

        return await run_in_threadpool(recorded)

    def asked(self, request: Request) -> tuple[Position, Agent, np.random.Generator]:
        """Who is asked about which position, and where its random choices come from."""
        line, seed = request.line(), request.seed()
        position = line.position
        if position.outcome is not None:
            raise RefusedError(409, f"the game is over: {position.outcome.reason}")
        try:
            agent = self.opponents.make(request.text("agent", LONGEST_SPEC))
        except AgentSpecError as error:
            raise RefusedError(422, f"agent: {error}") from None
        return position, agent, np.random.default_rng([seed, len(line.actions)])


def _answering(
    answer: Callable[[Request, str], Awaitable[Answer]],
) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def respond(http: HttpRequest) -> Response:
        kind = http.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # a page of another site cannot send that unasked
            raise RefusedError(415, "the body's type must be application/json")
        try:
            body = await asyncio.wait_for(_body(http), BODY_SECONDS)
        except asyncio.TimeoutError:
            raise RefusedError(408, "the body did not arrive in time") from None
        client = http.client.host if http.client else ""
        try:
            return JSONResponse(await answer(Request.parse(body), client))
        except asyncio.CancelledError:
            raise RefusedError(503, "the server is being stopped") from None

    return respond


async def _body(http: HttpRequest) -> bytes:
    body = bytearray()
    async for chunk in http.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise RefusedError(413, f"the body has more than {MOST_BYTES} bytes")
    return bytes(body)


def _constant(content: str, kind: str) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def respond(_: HttpRequest) -> Response:
        return Response(content, media_type=kind)

    return respond


def _theme() -> str:
    """A style sheet with the colours of the pictures' themes as CSS variables."""
    light, dark = (css_variables(THEMES[name]) for name in ("light", "dark"))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


async def _refused(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    headers = {"Retry-After": "1"} if error.status in (429, 503) else None
    return JSONResponse({"error": error.message}, error.status, headers)


async def _failed(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _broken(_: HttpRequest, __: Exception) -> Response:
    return JSONResponse({"error": "the server failed; its log says how"}, 500)
