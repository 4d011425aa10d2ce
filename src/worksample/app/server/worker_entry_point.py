"""Entry point of a worker process: one of several that serve a store."""

from __future__ import annotations

import gc
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.app.config import AppConfig

from .application import create_app
from .http_server import VARIABLE

PATHS = ("static", "judges")
"""Settings that are paths; they arrive as text."""

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def make_app() -> ASGIApp:
    """Build the application from the settings in the environment variable."""
    from worksample.store import Store

    told = json.loads(os.environ[VARIABLE])
    threading.Thread(target=_stop_with_parent, args=(os.getppid(),), daemon=True).start()
    config = AppConfig(**{**told["config"], **{key: Path(path) for key in PATHS if (path := told["config"][key])}})
    made = create_app(Store.open(told["store"]), config)
    gc.freeze()  # as `http_server.serve` does
    return made


def _stop_with_parent(parent: int) -> None:
    """Stop this process when the process that started it has died; otherwise it would keep the port."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
