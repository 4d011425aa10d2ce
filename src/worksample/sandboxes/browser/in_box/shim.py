"""Stands where Playwright looks for its browser: what it writes on descriptor 3 goes over a socket to whoever has the
real one, and what comes from there on descriptor 4."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

PIECE = 1 << 16


def main() -> None:
    """See the module."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(sys.argv[1])

        def out() -> None:
            with contextlib.suppress(OSError):
                while data := os.read(3, PIECE):
                    line.sendall(data)
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

        threading.Thread(target=out, daemon=True).start()
        with contextlib.suppress(OSError):
            while data := line.recv(PIECE):
                sent = 0
                while sent < len(data):
                    sent += os.write(4, data[sent:])
    os._exit(0)


if __name__ == "__main__":
    main()
