"""Where everything is kept: objects are the truth, the database an index over them, blobs the contents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .blobs import Blobs
    from .checking import Fault, check
    from .merging import merge
    from .rebuilding import rebuild
    from .store import Store

__all__ = ["Blobs", "Fault", "Store", "check", "merge", "rebuild"]

# SQLAlchemy takes a while to import, so it waits until one of these is wanted.
_HOMES = {
    "Blobs": "blobs",
    "Fault": "checking",
    "Store": "store",
    "check": "checking",
    "merge": "merging",
    "rebuild": "rebuilding",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
