"""The page's server: four files and one door for questions, on the loopback address only.

A page of another site can reach a loopback port, by its address or by a name of its own that it
points there. So the Host has to be one of ours, an Origin has to be that Host, and questions come
as JSON, which a form cannot send. Nothing that a browser sends is evaluated or read as a path.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.proofs_check.explore.desk import Desk

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
FOLDER = Path(__file__).resolve().parent
#: Bytes of a question, and seconds that it may take to arrive.
MOST, PATIENCE = 20_000, 10.0
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
FILES = {
    "explore.js": "text/javascript",
    "chart.js": "text/javascript",
    "explore.css": "text/css",
}


def application(port: int, target: str, desk: Desk) -> Starlette:
    """The application. ``port`` is the one that it will be served on; ``target`` is what it opens with."""
    page = _page(target)

    async def home(_: Request) -> Response:
        return Response(page, media_type="text/html")

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FILES:
            return Response("no such file", 404, media_type="text/plain")
        return Response((FOLDER / name).read_bytes(), media_type=FILES[name])

    async def ask(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return JSONResponse({"refused": "questions are JSON"}, 415)
        try:
            async with asyncio.timeout(PATIENCE):
                task = json.loads(await _body(request))
        except TimeoutError:
            return JSONResponse({"refused": "the question did not arrive"}, 408, {"connection": "close"})
        except ClientDisconnect:
            return Response(status_code=499)
        except (ValueError, RecursionError):
            return JSONResponse({"refused": f"no JSON of at most {MOST} bytes"}, 400)
        if not isinstance(task, dict):
            return JSONResponse({"refused": "a question is a JSON object"}, 400)
        return JSONResponse(await run_in_threadpool(desk.ask, task))

    routes = [Route("/", home), Route("/ask", ask, methods=["POST"]), Route("/{name}", file)]
    made = Starlette(routes=routes)
    made.add_middleware(OnlyOurselves, port=port)
    return made


class OnlyOurselves:
    """Refuses requests under another name or from another page; adds headers that keep the page to itself."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from this page, answer 403 to all else."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        why = self._refusal(Request(scope))
        answer: Callable[[Scope, Receive, Send], Awaitable[None]]
        answer = Response(why, 403, media_type="text/plain") if why else self.app
        await answer(scope, receive, with_headers)

    def _refusal(self, request: Request) -> str:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return f"this page is http://{sorted(self.hosts)[0]}/"
        origins = request.headers.getlist("origin")
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return "questions come from this page only"
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "questions come from this page only"
        return ""


async def _body(request: Request) -> bytes:
    """The body, at most MOST bytes of it. Raises ValueError for more."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST:
            raise ValueError("too long")
        parts.append(part)
    return b"".join(parts)


def _page(target: str) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from gateproof.theory.formula import arities

    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    names: list[Any] = sorted(name for name, arity in arities().items() if arity == (1, 1))
    return environment.get_template("explore.html.j2").render(target=target, names=names)
