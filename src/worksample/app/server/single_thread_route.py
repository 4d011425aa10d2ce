"""Routes that authenticate, do their work and serialise the response in one thread.

FastAPI would switch threads three times: for the dependency that asks the database, for the route, and for validating
the response. With fifty people at work each switch waits for the interpreter's lock.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from .authentication import SessionOf, SignedIn, SignedOut, services_of, signed_in, tokens_of


async def require_session_token(request: Request) -> None:
    """Refuse a request without a session token before its body is read. Raises SignedOut."""
    services = await services_of(request)
    if not tokens_of(request.scope, services.config):
        raise SignedOut("not signed in", next="sign in")


class SingleThreadRoute(APIRoute):
    """An `APIRoute` for plain functions that set no response headers."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        endpoint = inspect.unwrap(endpoint)  # including a router in another one builds its routes again
        signature = inspect.signature(endpoint, eval_str=True)
        kinds = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        account = [name for name, kind in kinds.items() if kind == SignedIn]
        session = [name for name, kind in kinds.items() if kind == SessionOf]

        @functools.wraps(endpoint)
        def run(*, request: Request, **given: Any) -> Any:
            found = signed_in(request)
            given |= dict.fromkeys(account, found) | dict.fromkeys(session, request.state.session)
            return self._answer(endpoint(**given))

        asking = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        others = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in signature.parameters.items()
            if name not in (*account, *session)
        ]
        run.__signature__ = signature.replace(parameters=[asking, *others])  # type: ignore[attr-defined]
        before = [d for d in options.pop("dependencies", None) or () if d.dependency is not require_session_token]
        super().__init__(path, run, dependencies=[Depends(require_session_token), *before], **options)

    def _answer(self, said: Any) -> Any:
        if self.response_field is None or isinstance(said, Response):
            return said
        content = self.response_field.serialize_json(said)
        return Response(content, status_code=self.status_code or 200, media_type="application/json")
