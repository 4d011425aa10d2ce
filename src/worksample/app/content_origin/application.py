"""The content origin as an ASGI application. It uses no cookies: the host name alone grants access."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from worksample.app.content_origin.blocked_requests import BlockedRequests
from worksample.app.content_origin.capability_hosts import Grant
from worksample.app.content_origin.file_view import serve_artefact
from worksample.errors import WorksampleError

from .blocked_requests import serve_blocked_requests
from .content_request import ContentServices
from .database_query import serve_query
from .delivered_website import serve_site
from .error_responses import ContentRefused, not_found, refusal_response
from .file_list import serve_file_list
from .file_tree import FileTreeCache
from .file_view import serve_view
from .original_file import serve_original
from .rendered_page import serve_page
from .security_policies import usual_headers

if TYPE_CHECKING:
    from worksample.app.server.route_services import AppServices

PREFIX = "/.worksample/"
LONGEST = 8_192
"""Most characters of an address."""
Handler = Callable[[ContentServices, Grant, Request], Awaitable[Response]]
_READ = ("GET", "HEAD")
_ROUTES: dict[str, tuple[Handler, tuple[str, ...]]] = {
    "files": (serve_file_list, _READ),
    "view": (serve_view, _READ),
    "artefact": (serve_artefact, _READ),
    "original": (serve_original, _READ),
    "page": (serve_page, _READ),
    "query": (serve_query, ("POST",)),
    "blocked": (serve_blocked_requests, (*_READ, "POST")),
}
_SHOWN_HEADERS = "Accept-Ranges, Content-Encoding, Content-Length, Content-Range, ETag, Retry-After"


def content_app(services: AppServices) -> ASGIApp:
    """Build the application. It answers only on hosts `<capability>.c.HOST`; other hosts get 421."""
    app = _Origin(ContentServices(services, FileTreeCache(services.store), BlockedRequests()))
    return _UsualHeaders(ServerErrorMiddleware(app, handler=_server_error), services)


async def _server_error(request: Request, error: Exception) -> Response:
    return refusal_response(ContentRefused(500, "the server failed to answer; its log says why"))


class _UsualHeaders:
    """Middleware that adds the security headers to every response and lets the app and the viewer read it."""

    def __init__(self, app: ASGIApp, services: AppServices) -> None:
        self._app = app
        config = services.config
        self._usual = [(name.encode(), value.encode()) for name, value in usual_headers(config).items()]
        self._readers = {config.app_origin.encode(), config.viewer_origin.encode()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        origin = dict(scope["headers"]).get(b"origin")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name.lower(), value) for name, value in message.get("headers", ())]
                have = {name for name, _ in headers}
                headers += [pair for pair in self._usual if pair[0] not in have]
                if scope["path"].startswith(PREFIX):
                    headers = _readable(headers, origin if origin in self._readers else None)
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, with_headers)


def _readable(headers: list[tuple[bytes, bytes]], origin: bytes | None) -> list[tuple[bytes, bytes]]:
    vary = b", ".join([value for name, value in headers if name == b"vary"] + [b"Origin"])
    out = [pair for pair in headers if pair[0] != b"vary"] + [(b"vary", vary)]
    if origin is not None:
        out.append((b"access-control-allow-origin", origin))
        out.append((b"access-control-expose-headers", _SHOWN_HEADERS.encode()))
    return out


class _Origin:
    """Dispatcher of requests to the routes below `/.worksample/` or to the deliverable's own pages."""

    def __init__(self, content: ContentServices) -> None:
        self._content = content
        self._ending = f".c.{content.services.config.netloc}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except (ContentRefused, WorksampleError) as error:
            response = refusal_response(error)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        scope = request.scope
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > LONGEST:
            raise ContentRefused(414, "the address is too long")
        path: str = scope["path"]
        handler: Handler | None = serve_site
        methods: tuple[str, ...] = _READ
        if path.startswith(PREFIX):
            handler, methods = _ROUTES.get(path.removeprefix(PREFIX), (None, _READ))
        if request.method == "OPTIONS" and path.startswith(PREFIX) and handler is not None:
            return _preflight_response(methods)
        if request.method not in methods:
            raise ContentRefused(405, "this method is not allowed at this address", {"allow": ", ".join(methods)})
        grant = await self._grant(request)
        if handler is None:
            raise not_found()
        return await handler(self._content, grant, request)

    async def _grant(self, request: Request) -> Grant:
        """Return the grant of the request's host name. A wrong host name and an expired one get the same response."""
        hosts = request.headers.getlist("host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        if not host.endswith(self._ending):
            raise ContentRefused(421, "nothing exists at this address")
        label = host.removesuffix(self._ending)
        capabilities = self._content.services.capabilities
        grant = capabilities.find_remembered(label) or await asyncio.to_thread(capabilities.find, label)
        if grant is None:
            raise ContentRefused(404, "this address has expired")
        return grant


def _preflight_response(methods: tuple[str, ...]) -> Response:
    """Answer the CORS preflight request that a browser sends before the viewer posts JSON or asks for a range."""
    headers = {
        "access-control-allow-methods": ", ".join(methods),
        "access-control-allow-headers": "content-type, range, if-none-match, if-range",
        "access-control-max-age": "600",
    }
    return Response(status_code=204, headers=headers)
