"""A stand-in for the browser program that Playwright starts. The stand-in relays file descriptors 3 and 4 to a socket.
The platform connects this socket with the real browser in the agent's box.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

PIECE = 1 << 16


def main() -> None:
    """Relay bytes between Playwright and the socket until one of the two sides ends."""
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
