"""Run a shell on a terminal. Input arrives in frames (kind, length, content); the terminal's output goes to stdout."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

HEAD = struct.Struct("!BI")
KEYS, SIZE = 0, 1


def take(fd: int, data: bytes) -> bytes:
    """Execute the complete frames in `data` and return the rest."""
    while len(data) >= HEAD.size:
        kind, length = HEAD.unpack_from(data)
        if len(data) < HEAD.size + length:
            break
        content, data = data[HEAD.size : HEAD.size + length], data[HEAD.size + length :]
        if kind == SIZE:
            rows, columns = struct.unpack("!HH", content)
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        while kind == KEYS and content:
            content = content[os.write(fd, content) :]
    return data


def main() -> None:
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(sys.argv[1], sys.argv[1:])
    data = b""
    while True:
        ready = select.select([fd, 0], [], [])[0]
        if fd in ready:
            try:
                shown = os.read(fd, 65536)
            except OSError:
                break
            if not shown:
                break
            os.write(1, shown)
        if 0 in ready:
            said = os.read(0, 65536)
            if not said:
                break
            data = take(fd, data + said)
    os._exit(0)


if __name__ == "__main__":
    main()
