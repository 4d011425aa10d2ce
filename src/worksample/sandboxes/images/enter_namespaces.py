"""A program that enters a new user namespace and a new network namespace, waits until the platform has written the id
maps of the user namespace, and executes another program.

It imports nothing of the platform, and exits when the platform exits.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
BACKLOG = 1024


def main() -> None:
    """Request the id maps with a byte on standard output, wait for a byte on standard input, then execute the program.

    The arguments are the descriptor of a socket, the addresses and ports to listen on, and the program.
    """
    _unshare(CLONE_NEWUSER, "user")
    os.write(1, b".")
    if os.read(0, 1) != b".":
        sys.exit(1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    _unshare(CLONE_NEWNET, "network")
    with socket.socket(fileno=int(sys.argv[1])) as platform:
        own = _listening([place for place in sys.argv[2].split(",") if place])
        if own:
            socket.send_fds(platform, [b"."], [one.fileno() for one in own])
    os.execv(sys.argv[3], sys.argv[3:])


def _unshare(kind: int, name: str) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(kind):
        sys.exit(f"no {name} namespace: {os.strerror(ctypes.get_errno())}")


def _listening(places: list[str]) -> list[socket.socket]:
    """Activate the loopback interface and return sockets that listen at the given addresses."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    for place in places:
        address, _, port = place.rpartition(":")
        found.append(socket.create_server((address, int(port)), backlog=BACKLOG))
    return found


if __name__ == "__main__":
    main()
