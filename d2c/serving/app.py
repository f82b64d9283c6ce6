"""The server's page, its JSON interface, and which requests are refused.

A page from another site in the user's browser can reach servers on the same machine, too. So POST is only for
pages of this server and for programs (checked by Origin), and every request must use a name that nobody else
can give to this machine (checked by Host): an address, localhost, or the name the server was started with.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import ipaddress
import json
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from d2c.serving.tasks import Answer, Task, refusal, too_late
from d2c.serving.workers import Workers
from d2c.viewing.page import page

Handler = Callable[[Request], Awaitable[Response]]
_JSON, _HTML = "application/json", "text/html; charset=utf-8"
_SCRIPT = re.compile("<script>(.*?)</script>", re.DOTALL)
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'; worker-src blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_ADDRESSES = "; there are POST /parse, GET /, GET /info and GET /health"
_ELSEWHERE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
_SECURE = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Site:
    """The addresses of the server, and what it answers at each.

    host:  the name or address that the server was started with
    about: what it says of itself
    """

    def __init__(self, workers: Workers, host: str, about: dict[str, Any]) -> None:
        self._workers, self._host, self._about = workers, host.lower(), about
        self._page = "".join(page("d2c.viewing", "serve.html", **_empty(about)))
        scripts = [hashlib.sha256(one.encode()).digest() for one in _SCRIPT.findall(self._page)]
        known = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in scripts)
        self._policy = {"Content-Security-Policy": f"{_POLICY}; script-src {known}"}

    def application(self) -> Starlette:
        """Return the application that uvicorn runs."""
        return Starlette(
            routes=[
                Route("/", self._checked(self._shown)),
                Route("/info", self._checked(self._info)),
                Route("/health", self._checked(self._health)),
                Route("/parse", self._checked(self._parsed), methods=["POST"]),
                Route("/page", self._checked(self._parsed), methods=["POST"]),
            ],
            exception_handlers={HTTPException: _refused, Exception: _broken},
        )

    def _checked(self, handle: Handler) -> Handler:
        async def check(request: Request) -> Response:
            named, origin = request.headers.get("host", ""), request.headers.get("origin")
            if not self._is_ours(named):
                raise HTTPException(421, f"this server is not called {named!r:.80}; --host gives it a name")
            if request.method == "POST" and origin and origin.partition("://")[2] != named:
                raise HTTPException(403, "pages from other servers may not send requests to this one")
            return await handle(request)

        return check

    def _is_ours(self, named: str) -> bool:
        """Return whether a Host header names an address, localhost, or what the server was started with."""
        with suppress(ValueError):
            parts = urlsplit(f"//{named}")
            name, _ = parts.hostname or "", parts.port  # raises ValueError where it is no number
            return name in ("localhost", self._host) or bool(ipaddress.ip_address(name))
        return False

    async def _shown(self, _: Request) -> Response:
        return _response(200, self._page.encode(), _HTML, self._policy)

    async def _info(self, _: Request) -> Response:
        return _response(200, json.dumps(self._about).encode())

    async def _health(self, _: Request) -> Response:
        state = self._workers.state
        return _response(200 if state["ready"] else 503, json.dumps(state).encode())

    async def _parsed(self, request: Request) -> Response:
        limits, of_page = self._workers.limits, request.url.path == "/page"
        until = time.monotonic() + limits.max_seconds
        try:
            async with asyncio.timeout(limits.max_seconds):
                body = await _body(request, limits.max_bytes)
            answer = await self._workers.answer(Task(body, of_page), until)
        except TimeoutError:
            answer = too_late(limits)
        except ClientDisconnect:
            answer = refusal(400, "the request ended before its body did")  # nobody reads it
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._workers.tell(f"d2c: {answer.status}: {json.loads(answer.body)['error']}")
        return _answered(answer)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = _ADDRESSES if error.status_code in _ELSEWHERE else ""
    return _answered(refusal(error.status_code, error.detail + what), error.headers)


async def _broken(_: Request, __: Exception) -> Response:
    return _answered(refusal(500, "the server has a fault; it has written which"))


def _empty(about: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the page's template while no sentence is parsed yet."""
    data = {"sure": False, "query": "", "tags": [], "labels": [], "arcs": []}
    return {"name": about["name"], "most": about["most_trees"], "sentences": [], "data": lambda: data}


def _response(status: int, body: bytes, kind: str = _JSON, headers: Any = None) -> Response:
    return Response(body, status, {**_SECURE, **(headers or {})}, kind)


def _answered(answer: Answer, headers: Any = None) -> Response:
    again = {"Retry-After": "1"} if answer.status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return _response(answer.status, answer.body, headers={**again, **(headers or {})})


async def _body(request: Request, most: int) -> bytes:
    """Return the body of a request. Raises HTTPException as soon as it is known to be too long."""
    read, said = bytearray(), request.headers.get("content-length", "0")
    too_long = HTTPException(413, f"more than {most:,} bytes; send it in parts")
    if said.isdecimal() and int(said) > most:
        raise too_long
    async for piece in request.stream():
        read += piece
        if len(read) > most:
            raise too_long
    return bytes(read)
