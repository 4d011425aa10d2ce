"""The HTTP server: sockets, worker processes, and an orderly stop."""

from __future__ import annotations

import dataclasses
import errno
import gc
import json
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from worksample.app.config import AppConfig
from worksample.errors import UsageError

if TYPE_CHECKING:
    import uvicorn

VARIABLE = "_WORKSAMPLE_APP"
"""Environment variable that tells worker processes what to serve."""
STOP_SECONDS = 8
"""Seconds that running requests get when the server stops."""


@dataclass(frozen=True, slots=True)
class BoundSocket:
    """A listening socket, and the addresses as a browser sees them."""

    socket: socket.socket
    config: AppConfig

    def url(self, path: str = "/") -> str:
        """Return the address of a page of the app."""
        return f"{self.config.app_origin}{path}"


def listen(config: AppConfig, *, bind: str = "127.0.0.1", port: int | None = None, free: bool = False) -> BoundSocket:
    """Bind a socket. `port`: the port to listen on, by default the one that browsers see; 0 takes a free one.

    `free`: take a free port if that one is in use. Raises UsageError if the port is in use or not permitted, or if the
    front end is not built.
    """
    if not (config.static / "index.html").is_file():
        raise UsageError("the app's pages are not built", where=str(config.static), next="./dev web, in the checkout")
    wanted = config.port if port is None else port
    try:
        bound = _bind(bind, wanted)
    except OSError as e:
        if e.errno == errno.EADDRINUSE and free:
            bound = _bind(bind, 0)
        else:
            raise _bind_error(e, bind, wanted) from e
    taken: int = bound.getsockname()[1]
    if port is None or port == 0:
        config = dataclasses.replace(config, port=taken)
    return BoundSocket(bound, config)


def _bind(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, port))
        bound.listen(2048)
    except OSError:
        bound.close()
        raise
    return bound


def _bind_error(e: OSError, address: str, port: int) -> UsageError:
    if e.errno == errno.EADDRINUSE:
        return UsageError(f"port {port} is in use", next="--port 0 takes a free one")
    if e.errno == errno.EACCES:
        return UsageError(f"port {port} may not be used by this account", next="--port 8765, or a proxy in front")
    return UsageError(f"cannot listen at {address}: {e.strerror or e}", next="--bind 127.0.0.1")


def serve(app: Any, listening: BoundSocket, ready: Callable[[], None]) -> None:
    """Serve in this process until it is stopped. Calls `ready` when the server answers requests."""
    import uvicorn

    class ReadyServer(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                # A full collection over long-lived objects would delay all responses.
                gc.freeze()
                ready()

    try:
        ReadyServer(uvicorn_config(app, listening.config)).run(sockets=[listening.socket])
    except KeyboardInterrupt:
        return
    finally:
        listening.socket.close()


@contextmanager
def serve_in_thread(app: Any, listening: BoundSocket) -> Iterator[BoundSocket]:
    """Serve in a thread until the block ends, for scripts and tests. The server answers from the block's start."""
    import uvicorn

    server = uvicorn.Server(uvicorn_config(app, listening.config))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening.socket]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield listening
    finally:
        server.should_exit = True
        thread.join(STOP_SECONDS + 2)
        listening.socket.close()


def serve_many(where: str, listening: BoundSocket, workers: int, ready: Callable[[], None]) -> None:
    """Serve a store by several processes that share the socket. A process that dies is restarted."""
    from uvicorn.supervisors import Multiprocess

    config = uvicorn_config("worksample.app.server.worker_entry_point:make_app", listening.config, workers=workers)
    config.factory = True
    os.environ[VARIABLE] = json.dumps({"store": where, "config": asdict(listening.config)}, default=str)
    try:
        ready()
        Multiprocess(config, sockets=[listening.socket]).run()
    except KeyboardInterrupt:
        return
    finally:
        del os.environ[VARIABLE]
        listening.socket.close()


def uvicorn_config(app: Any, config: AppConfig, *, workers: int = 1) -> uvicorn.Config:
    """Configure uvicorn: no access log, because addresses of deliverables are secrets; forwarded addresses only with
    https.
    """
    import uvicorn

    from worksample.app.server.middleware.strict_http_parser import StrictHttpProtocol

    return uvicorn.Config(
        app,
        workers=workers,
        http=partial(StrictHttpProtocol, head_seconds=config.head_seconds),  # type: ignore[arg-type]
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=config.scheme == "https",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def open_browser(url: str) -> bool:
    """Open a page in this machine's browser without waiting. Return False if the machine has no display."""
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        # A text browser would take the terminal from the server.
        return False
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    return True
