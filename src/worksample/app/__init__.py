"""The review app: people judge deliverables in a browser; everything that it does a script can do."""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .config import AppConfig
    from .create import create_app

__all__ = ["AppConfig", "create_app"]

# FastAPI takes a while to import, so it waits until it is wanted.
__getattr__ = lazily(__name__)
