"""The frames between the platform and the exec server: length, kind, command number, payload."""

from __future__ import annotations

from struct import Struct

HEAD = Struct("!IBI")
DONE = Struct("!iBd")
"""Return code, flags (TIMED_OUT, TRUNCATED), seconds."""

# platform -> server
START = 1
"""marshal of {op, argv, cwd, env, timeout, limit, input, more, path, mode}."""
INPUT = 2
"""A piece of standard input; empty is its end."""
KILL = 3
CLEAR = 4
STOP = 5
CONTINUE = 6
# server -> platform
OUT = 16
ERR = 17
WANT = 18
"""The command has taken its input so far: send the next piece."""
ENDED = 19
FAILED = 20
"""The command could not be started, or a file not be reached: errno as decimal text, and the folder if it was that."""
OVER = 21
"""The watchdog killed a process for memory."""

TIMED_OUT = 1
TRUNCATED = 2

CHUNK = 1 << 18
"""Bytes of standard input on the way at once."""


def pack(kind: int, number: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return HEAD.pack(len(payload), kind, number) + payload
