"""The API as one FastAPI application, and its OpenAPI schema."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import GZipMiddleware

from worksample import __version__

from .middleware import error_responses as problems
from .middleware.compression import LARGE, LEVEL

SCHEMA = "/api/v1/openapi.json"
_ROUTERS = (
    "accounts.session_routes", "accounts.profile_routes", "judging.training", "judging.routes", "rounds.routes",
    "accounts.admin_routes", "evidence.routes", "rounds.transfer", "rounds.flags", "prerendering.routes",
    "rubrics.routes", "rounds.experiment_overview", "workstations.routes",
)  # fmt: skip


def make_api() -> FastAPI:
    """Build the API with all routes. `create_app` sets its `state`."""
    app = FastAPI(
        title="Worksample",
        version=__version__,
        description="The API of the review app. Every error has the same shape.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_name,
        responses=problems.error_responses(400),
    )
    for router in routers():
        app.include_router(router)
    problems.install_error_handlers(app)
    app.add_middleware(GZipMiddleware, minimum_size=LARGE, compresslevel=LEVEL)
    schema = app.openapi
    app.openapi = lambda: _remove_default_422(schema())  # type: ignore[method-assign]

    @app.get(SCHEMA, include_in_schema=False)
    async def openapi() -> dict[str, Any]:
        return app.openapi()

    return app


def routers() -> list[APIRouter]:
    """Return the routers of all features."""
    found = []
    for name in _ROUTERS:
        router = import_module(f"worksample.app.{name}").router
        assert isinstance(router, APIRouter)
        found.append(router)
    return found


def _name(route: APIRoute) -> str:
    """Name an operation after its function."""
    return route.name


def _remove_default_422(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove FastAPI's own 422 from the schema: this API answers an invalid request with 400 and its own error body."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            refused = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
            if refused.get("schema", {}).get("$ref", "").endswith("HTTPValidationError"):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        schema.get("components", {}).get("schemas", {}).pop(name, None)
    return schema
