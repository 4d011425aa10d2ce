"""The review app as one ASGI application over a store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from worksample.app.accounts.sign_in_throttle import SignInThrottle
from worksample.app.config import AppConfig
from worksample.app.content_origin import content_app
from worksample.app.content_origin.capability_hosts import Capabilities
from worksample.app.prerendering.view_preparer import ViewPreparer
from worksample.app.rubrics.suggestions import load_suggester
from worksample.app.server.api import make_api
from worksample.app.server.authentication import SignedOut, find_session
from worksample.app.server.middleware.cross_site_guard import CrossSiteGuard
from worksample.app.server.middleware.host_routing import HostRouter
from worksample.app.server.middleware.request_limits import RequestLimits
from worksample.app.server.middleware.security_headers import API_HEADERS, SecurityHeaders, app_headers, viewer_headers
from worksample.app.server.middleware.static_files import StaticPages
from worksample.app.server.route_services import AppServices
from worksample.app.workstations.workstation_actions import Workstations
from worksample.models import close_models
from worksample.people import People
from worksample.people.clock import moment, now_in_microseconds

if TYPE_CHECKING:
    from worksample.people import Instructions
    from worksample.people.clock import Clock
    from worksample.store import Store

_USUAL = AppConfig()


def create_app(
    store: Store,
    config: AppConfig = _USUAL,
    *,
    clock: Clock = now_in_microseconds,
    dates: Clock | None = None,
    instructions: Instructions | None = None,
) -> HostRouter:
    """Build the application: the app, the viewer and deliverables, told apart by the Host header.

    `clock`: microseconds since 1970. `dates`: the clock that dates answers, by default `clock`. `instructions`: by
    default the package's own. The caller closes the store. Background work starts with the server's lifespan.
    """
    services = AppServices(
        config=config,
        store=store,
        people=People(store, clock=clock, dates=dates, instructions=instructions),
        capabilities=Capabilities(store, clock, hours=config.capability_hours),
        view_preparer=ViewPreparer(store, config),
        workstations=Workstations(store, lambda: moment(clock())),
        suggester=load_suggester(store, config.judges),
    )
    return HostRouter(
        services,
        app=SecurityHeaders(_app(services), app_headers(config)),
        viewer=SecurityHeaders(StaticPages("viewer.html", config.static, everywhere=False), viewer_headers(config)),
        content=content_app(services),
        lifespan=lambda: _lifespan(services),
    )


def _app(services: AppServices) -> ASGIApp:
    """Build the app's origin: the API behind its guards, and the front end at all other paths."""
    api = make_api()
    api.state.services, api.state.throttle = services, SignInThrottle(services.config)

    def opens_session(tokens: tuple[str, ...]) -> bool:
        try:
            find_session(services, tokens)
        except SignedOut:
            return False
        return True

    guarded = SecurityHeaders(
        CrossSiteGuard(RequestLimits(api, services.config, opens_session), services.config), API_HEADERS
    )
    return ApiOrPages(guarded, StaticPages("index.html", services.config.static, everywhere=True))


@asynccontextmanager
async def _lifespan(services: AppServices) -> AsyncIterator[None]:
    await services.view_preparer.start()
    services.workstations.begin()
    try:
        yield
    finally:
        await services.workstations.stop()
        await services.view_preparer.stop()
        await close_models()


class ApiOrPages:
    """Dispatcher on the app's host: the API under `/api`, the front end at all other paths."""

    def __init__(self, api: ASGIApp, front: ASGIApp) -> None:
        self._api, self._front = api, front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        chosen = self._api if path == "/api" or path.startswith("/api/") else self._front
        await chosen(scope, receive, send)
