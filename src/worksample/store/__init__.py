"""Where everything is kept: objects are the truth, the database an index over them, blobs the contents."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .blobs import Blobs
    from .checking import Fault, check
    from .merging import merge
    from .rebuilding import rebuild
    from .store import Store

__all__ = ["Blobs", "Fault", "Store", "check", "merge", "rebuild"]

# SQLAlchemy takes a while to import, so it waits until one of these is wanted.
__getattr__ = lazily(__name__)
