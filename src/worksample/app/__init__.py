"""The review app: people judge deliverables in a browser; everything that it does a script can do."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import AppConfig
    from .create import create_app

__all__ = ["AppConfig", "create_app"]

# FastAPI takes a while to import, so it waits until it is wanted.
_HOMES = {"AppConfig": "config", "create_app": "create"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
