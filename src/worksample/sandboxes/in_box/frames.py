"""The frames that the platform and the exec server exchange: length, kind, number, payload.

The number of a frame identifies one exchange: a command, a connection, or a listening socket. The platform gives its
exchanges the numbers from 1 up. The exec server numbers connections that programs make from `JOINED_FROM` up.
"""

from __future__ import annotations

from struct import Struct

HEAD = Struct("!IBI")
DONE = Struct("!iBdd")
"""Payload of the frame that reports the end of a command: return code, flags (TIMED_OUT, TRUNCATED, STARVED),
wall-clock seconds, and the seconds that count towards the command's time limit.
"""
GRANT = Struct("!BQ")
"""Payload of a MORE frame: the output stream (OUT or ERR), and how many more bytes of it may be sent."""
NUMBER = Struct("!I")

# platform -> server
START = 1
"""Frame that starts a command or an operation. Its payload is the marshalled dictionary {op, argv, cwd, env, timeout,
fair, limit, input, more, path, mode}. `op` is run, read, write, connect or listen. `fair` is None, or the seconds
and the backstop of a FairTimeout.

If `limit` is a number, this many bytes of output are sent and the rest is dropped. If `limit` is None, the output is a
stream: the exec server sends `WINDOW` bytes of each output stream, then as many as MORE frames grant, and reports the
end of the stream.
"""
INPUT = 2
"""Frame with a piece of standard input, sent after a WANT frame. An empty piece ends the input and may be sent without
a WANT frame.
"""
KILL = 3
"""Frame that kills the command or closes the socket with the frame's number."""
CLEAR = 4
STOP = 5
CONTINUE = 6
MORE = 7
"""Frame that allows the exec server to send more output. Its payload is a GRANT."""
HOLD = 8
"""Frame that stops the time of a command with a FairTimeout. If the payload is empty, the time continues."""
# server -> platform
OUT = 16
"""Frame with a piece of standard output. For a stream, an empty payload marks the end."""
ERR = 17
WANT = 18
"""Frame that requests the next piece of input, because the command has taken all earlier input."""
ENDED = 19
FAILED = 20
"""Frame that reports that a command could not be started or a file could not be reached. Its payload is the errno as
decimal text, and the folder if the folder was the cause.
"""
OVER = 21
"""Frame that reports that the watchdog killed a process for using too much memory."""
DEAF = 22
"""Frame that reports that no program reads the input any more."""
JOINED = 23
"""Frame that reports a new connection of a program to a listening socket. Its payload is the NUMBER of the
connection.
"""

TIMED_OUT = 1
TRUNCATED = 2
STARVED = 4

CHUNK = 1 << 18
"""Maximum bytes of input that are sent before the exec server requests more."""
WINDOW = 1 << 18
"""Bytes of an output stream that the exec server may send before the platform has read any."""
JOINED_FROM = 1 << 31


def pack(kind: int, number: int, payload: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    return HEAD.pack(len(payload), kind, number) + payload
