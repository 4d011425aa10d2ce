"""Python kernel of a trial, which runs inside the box. `kernel call SOCKET` runs one cell, and starts the kernel if
needed.

The request is JSON on standard input: {"code", "seconds", "bytes"}. The answer is JSON on standard output: {"output",
"dropped", "state": "done" | "error" | "interrupted" | "lost", "started"}. The kernel's variables stay between calls. A
cell that exceeds its time limit is interrupted as if by Ctrl-C. If the cell does not stop, the kernel is killed.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

GRACE = 10.0
BOOT = 60.0


class OutputTap:
    """Capture of everything that any process writes to the file descriptors 1 and 2. The beginning and the end of long
    output are stored.
    """

    def __init__(self, keep: int) -> None:
        self.head, self.tail, self.size, self.keep = bytearray(), bytearray(), 0, keep
        self.mark = os.urandom(16).hex().encode()
        self.done = threading.Event()
        reader, self.writer = os.pipe()
        threading.Thread(target=self.drain, args=(reader,), daemon=True).start()

    def drain(self, reader: int) -> None:
        open_ = True
        while True:
            data = os.read(reader, 65536)
            if not data:
                break
            if not open_:
                continue
            self.take(data)
            at = self.tail.find(self.mark) if self.tail else self.head.find(self.mark)
            if at >= 0:
                part = self.tail if self.tail else self.head
                self.size -= len(part) - at
                del part[at:]
                open_ = False
                self.done.set()
        self.done.set()
        os.close(reader)

    def take(self, data: bytes) -> None:
        self.size += len(data)
        room = self.keep - len(self.head)
        if room > 0 and not self.tail:
            self.head += data[:room]
            data = data[room:]
        if data or self.tail:
            self.tail += data
            del self.tail[: -(self.keep + len(self.mark))]

    def text(self) -> tuple[str, int]:
        os.write(self.writer, self.mark)
        os.close(self.writer)
        self.done.wait(5)
        head, tail = bytes(self.head), bytes(self.tail[-self.keep :])
        head = head.replace(self.mark, b"")
        dropped = max(0, self.size - len(head) - len(tail))
        if dropped:
            return (head + b"\n[... %d bytes left out ...]\n" % dropped + tail).decode("utf-8", "replace"), dropped
        return (head + tail).decode("utf-8", "replace"), 0


def serve(path: Path) -> None:
    for fd in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    os.environ.setdefault("MPLBACKEND", "Agg")
    os.environ["IPYTHONDIR"] = str(path.parent / ".ipython")
    listener = socket.socket(socket.AF_UNIX)
    draft = path.with_name("draft")
    listener.bind(str(draft))
    shell = make_shell()
    listener.listen(16)
    draft.rename(path)
    while True:
        peer, _ = listener.accept()
        try:
            answer(shell, peer)
        except (OSError, ValueError, KeyError):
            pass
        finally:
            peer.close()


def make_shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.cache_size = 100
    shell = InteractiveShell.instance(config=config)
    sys.path.insert(0, "")
    return shell


def answer(shell: Any, peer: socket.socket) -> None:
    request = json.loads(receive(peer))
    tap = OutputTap(max(100, int(request["bytes"]) // 2))
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(tap.writer, 1)
    os.dup2(tap.writer, 2)
    overdue: list[bool] = []

    def interrupt(*_: object) -> None:
        overdue.append(True)
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    state = "done"
    try:
        signal.setitimer(signal.ITIMER_REAL, float(request["seconds"]), 1.0)
        result = shell.run_cell(request["code"], store_history=True)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not result.success:
            state = "error"
    except (KeyboardInterrupt, SystemExit):
        state = "error"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        quiet(sys.stdout)
        quiet(sys.stderr)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.close(null)
    text, dropped = tap.text()
    reply = {"output": text, "dropped": dropped, "state": "interrupted" if overdue else state}
    peer.sendall(json.dumps(reply).encode() + b"\n")


def quiet(stream: TextIO) -> None:
    try:
        stream.flush()
    except (OSError, ValueError, AttributeError):
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def receive(peer: socket.socket) -> bytes:
    data = bytearray()
    while not data.endswith(b"\n"):
        part = peer.recv(1 << 16)
        if not part:
            break
        data += part
    return bytes(data)


def call(path: Path) -> dict[str, Any]:
    request = json.loads(sys.stdin.read())
    started = False
    peer = connect(path)
    if peer is None:
        start(path)
        started = True
        peer = connect(path)
        if peer is None:
            return {"output": why(path), "dropped": 0, "state": "lost", "started": True}
    peer.settimeout(float(request["seconds"]) + GRACE)
    try:
        peer.sendall(json.dumps(request).encode() + b"\n")
        data = receive(peer)
        if data:
            return {**json.loads(data), "started": started}
        text = "the kernel ended"
    except TimeoutError:
        text = "the cell could not be interrupted"
    except (OSError, ValueError) as error:
        text = f"the kernel ended: {error}"
    kill(peer)
    path.unlink(missing_ok=True)
    return {"output": text, "dropped": 0, "state": "lost", "started": started}


def kill(peer: socket.socket) -> None:
    try:
        pid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        if pid > 1:
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def connect(path: Path) -> socket.socket | None:
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(str(path))
    except OSError:
        peer.close()
        return None
    return peer


def start(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in (path, path.with_name("draft")):
        stale.unlink(missing_ok=True)
    with path.with_name("log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", os.environ["KERNEL_SOURCE"], "serve", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={k: v for k, v in os.environ.items() if k != "KERNEL_SOURCE"},
        )
    until = time.monotonic() + BOOT
    while time.monotonic() < until and process.poll() is None and not path.exists():
        time.sleep(0.01)


def why(path: Path) -> str:
    try:
        said = path.with_name("log").read_text(encoding="utf-8", errors="replace")[-2000:]
    except OSError as error:
        said = str(error)
    return f"the Python session did not start: {said}"


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(Path(sys.argv[2]))
    else:
        sys.stdout.write(json.dumps(call(Path(sys.argv[2]))) + "\n")
