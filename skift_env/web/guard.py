"""What stands between the network and the application: whom it answers, how much, how safely."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """ASGI middleware that refuses foreign hosts and floods, and adds the security headers.

    A page of another site can reach a server on this machine under a name of its own (DNS
    rebinding), but not under an address: hosts are answered by address, and by the names given.

    Args:
        app: what to guard.
        names: host names to answer to.
        most_requests: how many requests are answered at a time; others get status 503.
    """

    def __init__(self, app: ASGIApp, *, names: Collection[str], most_requests: int) -> None:
        self.app, self.names, self.most_requests = app, set(names), most_requests
        self.requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or let the application answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app
        if not self._is_known(Headers(scope=scope).get("host", "")):
            app = _refusal(421, "this server does not answer to that host name")
        elif self.requests >= self.most_requests:
            app = _refusal(503, "too many requests at a time", {"Retry-After": "1"})
        self.requests += 1
        try:
            await app(scope, receive, send_with_headers)
        finally:
            self.requests -= 1

    def _is_known(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        if not name or not port.isdecimal():
            name = host
        name = name.removeprefix("[").removesuffix("]").lower().rstrip(".")
        if name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _refusal(status: int, error: str, headers: dict[str, str] | None = None) -> ASGIApp:
    return JSONResponse({"error": error}, status, headers)
