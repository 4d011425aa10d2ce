"""Frames between the platform and the exec server: length, kind, number, payload.

A number stands for one thing that has streams: a command, a connection, or a listening socket. The platform numbers
from 1 up; the server numbers connections that programs make from `JOINED_FROM` up.
"""

from __future__ import annotations

from struct import Struct

HEAD = Struct("!IBI")
DONE = Struct("!iBdd")
"""Return code, flags (TIMED_OUT, TRUNCATED, STARVED), seconds on the clock, and seconds that the command had."""
GRANT = Struct("!BQ")
"""OUT or ERR, and how many more bytes of it may be sent."""
NUMBER = Struct("!I")

# platform -> server
START = 1
"""Payload: marshal of {op, argv, cwd, env, timeout, fair, limit, input, more, path, mode}; `op` is run, read, write,
connect, listen; `fair` is None, or seconds and backstop of a FairTimeout.

With a `limit`, that many bytes of output are sent and the rest is dropped; without one (None), output is a stream:
`WINDOW` bytes of each kind, then what MORE grants, and its end is sent.
"""
INPUT = 2
"""A piece of standard input, after a WANT; an empty piece ends it and needs no WANT."""
KILL = 3
"""Kill the command, or close the socket, with that number."""
CLEAR = 4
STOP = 5
CONTINUE = 6
MORE = 7
"""Payload: GRANT."""
HOLD = 8
"""Stop the time of a command with a FairTimeout; an empty payload lets it run again."""
# server -> platform
OUT = 16
"""Standard output; for a stream, an empty payload is its end."""
ERR = 17
WANT = 18
"""The input so far was taken: send the next piece."""
ENDED = 19
FAILED = 20
"""The command could not be started, or a file not reached: errno as decimal text, and the folder if that was the
cause.
"""
OVER = 21
"""The watchdog killed a process for memory."""
DEAF = 22
"""Nobody reads the input any more."""
JOINED = 23
"""A program has connected to a listening socket; payload: the NUMBER of the connection."""

TIMED_OUT = 1
TRUNCATED = 2
STARVED = 4

CHUNK = 1 << 18
"""Bytes of input under way at once."""
WINDOW = 1 << 18
"""Bytes of a stream that may be under way before any were read."""
JOINED_FROM = 1 << 31


def pack(kind: int, number: int, payload: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    return HEAD.pack(len(payload), kind, number) + payload
