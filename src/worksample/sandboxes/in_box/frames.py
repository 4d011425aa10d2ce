"""The frames between the platform and the exec server: length, kind, number, payload.

A number stands for one thing that has streams: a command, a connection, or a listening socket. The platform counts from
1 up, the server from `JOINED_FROM` up for connections that programs make.
"""

from __future__ import annotations

from struct import Struct

HEAD = Struct("!IBI")
DONE = Struct("!iBdd")
"""Return code, flags (TIMED_OUT, TRUNCATED, STARVED), seconds on the clock, and those that the command had."""
GRANT = Struct("!BQ")
"""OUT or ERR, and how many more bytes of it may be sent."""
NUMBER = Struct("!I")

# platform -> server
START = 1
"""marshal of {op, argv, cwd, env, timeout, fair, limit, input, more, path, mode}; `op` is run, read, write, connect,
listen; `fair` is None, or seconds and backstop of a FairTimeout.

With a `limit` so many bytes of output are sent and the rest is dropped; without one (None) output is a stream: `WINDOW`
bytes of each kind and then what MORE grants, and its end is told."""
INPUT = 2
"""A piece of standard input, after a WANT; empty is its end, and needs none."""
KILL = 3
"""End the command, or close the socket, of that number."""
CLEAR = 4
STOP = 5
CONTINUE = 6
MORE = 7
"""GRANT."""
HOLD = 8
"""Stop the time of a command with a FairTimeout; empty lets it go on."""
# server -> platform
OUT = 16
"""Of a stream: empty is its end."""
ERR = 17
WANT = 18
"""The input so far was taken: send the next piece."""
ENDED = 19
FAILED = 20
"""The command could not be started, or a file not be reached: errno as decimal text, and the folder if it was that."""
OVER = 21
"""The watchdog killed a process for memory."""
DEAF = 22
"""Nobody reads the input any more."""
JOINED = 23
"""A program has connected to a listening socket: the NUMBER of the connection."""

TIMED_OUT = 1
TRUNCATED = 2
STARVED = 4

CHUNK = 1 << 18
"""Bytes of input on the way at once."""
WINDOW = 1 << 18
"""Bytes of a stream that may be on the way before any were read."""
JOINED_FROM = 1 << 31


def pack(kind: int, number: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return HEAD.pack(len(payload), kind, number) + payload
