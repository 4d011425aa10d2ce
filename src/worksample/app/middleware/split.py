"""The app's host: the API under `/api`, the front end at every other path."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Split:
    def __init__(self, api: ASGIApp, front: ASGIApp) -> None:
        self._api, self._front = api, front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        chosen = self._api if path == "/api" or path.startswith("/api/") else self._front
        await chosen(scope, receive, send)
