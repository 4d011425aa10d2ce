"""The fork server for programs of tests: it serves all processes of a run and ends with the last one."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# Nothing is imported before: that is seconds, and another matter.
PROGRAM = "import sys\nfrom forking import server\nserver.preload = int\nserver.main(sys.argv[1])"
WAIT = 60.0
"""Seconds that anything may take."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    path = tmp_path / "socket"
    running = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], env={**os.environ, "PYTHONPATH": str(TESTS)})
    until = time.monotonic() + WAIT
    while not path.exists():
        assert running.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    yield str(path), running
    running.kill()
    running.wait()


def connected(path: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(WAIT)
    line.connect(path)
    return line


def begun(path: str, code: str) -> tuple[int, socket.socket]:
    """A program that is forked: its process id, and the line that tells its end."""
    line = connected(path)
    asked = {"module": "timeit", "argv": ["-n", "1", "-r", "1", code], "env": dict(os.environ), "cwd": "/"}
    with Path(os.devnull).open("r+b") as nothing:
        socket.send_fds(line, [json.dumps(asked).encode()], [nothing.fileno()] * 3)
    return int(line.recv(100)), line


def test_fork_server_serves_several_and_ends_with_the_last(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    path, running = server
    first, second = connected(path), connected(path)
    _, line = begun(path, "1 / 0")
    assert line.recv(100) == b"1"
    first.close()
    _, line = begun(path, "pass")
    assert line.recv(100) == b"0", "who began it has gone, and another is still there"
    pid, line = begun(path, "import time; time.sleep(600)")
    second.close()
    assert running.wait(WAIT) == 0
    assert not Path(path).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_program_ends_with_its_requester(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    path, running = server
    keeper = connected(path)
    lines = [begun(path, "import time; time.sleep(600)") for _ in range(3)]
    lines[1][1].close()
    os.kill(lines[0][0], signal.SIGTERM)
    assert lines[0][1].recv(100) == b"-15"
    until = time.monotonic() + WAIT
    while Path(f"/proc/{lines[1][0]}").exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert Path(f"/proc/{lines[2][0]}").exists() and running.poll() is None
    keeper.close()
    assert running.wait(WAIT) == 0
