"""Where everything is kept: objects are the truth, the database an index over them, blobs the contents.

The verbs live in files of their own: `check`, `rebuild`, `merge`, `export`, `frames`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .blobs import Blobs
    from .store import Store

__all__ = ["Blobs", "Store"]


def __getattr__(name: str) -> Any:
    # SQLAlchemy takes a while to import, so it waits until a store is wanted.
    if name == "Store":
        from .store import Store

        return Store
    if name == "Blobs":
        from .blobs import Blobs

        return Blobs
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
