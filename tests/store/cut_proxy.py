"""A proxy before a service, whose connections tests cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress


class CutProxy:
    """A TCP proxy on this machine to a TCP address or a Unix socket. `cut` closes all connections and refuses new ones
    until `mend`.

    `on_request` sees what clients send; if it returns True, the bytes are passed on and the connection is closed before
    any answer.
    """

    def __init__(self, target: tuple[str, int] | str, on_request: Callable[[bytes], bool] = lambda _: False) -> None:
        self.target, self.on_request = target, on_request
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._down = False
        self.refused = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            self._down = True
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _end(*pair)

    def mend(self) -> None:
        with self._lock:
            self._down = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = self._connect()
            if server is None:
                _end(client)
                continue
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._pour, args=(client, server, self.on_request), daemon=True).start()
            threading.Thread(target=self._pour, args=(server, client, lambda _: False), daemon=True).start()

    def _connect(self) -> socket.socket | None:
        with self._lock:
            if self._down:
                self.refused += 1
                return None
        family = socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET
        server = socket.socket(family)
        try:
            server.connect(self.target)
        except OSError:
            server.close()
            return None
        return server

    @staticmethod
    def _pour(source: socket.socket, target: socket.socket, ends: Callable[[bytes], bool]) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                last = ends(data)
                if last:
                    # The answer must reach nobody: close this side first.
                    source.shutdown(socket.SHUT_RDWR)
                target.sendall(data)
                if last:
                    target.recv(1)
                    break
        _end(source, target)


def _end(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
