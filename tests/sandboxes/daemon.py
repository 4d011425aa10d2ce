"""A Docker daemon for tests: the machine's, where one answers, else one of their own in a temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.sandboxes.containers import docker_daemon as daemon


def lacks() -> str:
    """Why there can be none, with the line to type; or nothing."""
    with suppress(SandboxUnavailable):
        daemon.connect(daemon.daemon_url())
        return ""
    if os.geteuid() == 0 and shutil.which("dockerd"):
        return ""
    return "no Docker daemon answers, and none can be started: sudo apt-get install -y docker.io"


@contextmanager
def running() -> Iterator[str]:
    """Where it answers."""
    with suppress(SandboxUnavailable):
        yield daemon.connect(daemon.daemon_url()).url
        return
    with started() as own:
        yield own.url


class Started:
    """A daemon of the tests' own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.url = folder, f"unix://{folder}/socket"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return once it answers."""
        words = ["dockerd", "--iptables=false", "--bridge=none", f"--data-root={self.folder}/data", f"-H={self.url}"]
        words += [f"--exec-root={self.folder}/exec", f"--pidfile={self.folder}/pid"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        daemon.connect.cache_clear()
        for _ in range(600):
            try:
                daemon.connect(self.url)
                return
            except SandboxUnavailable:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(0.1)
                    break
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def kill(self) -> None:
        """As when the machine ends it: at once, with its containerd, and what it was doing stays undone."""
        assert self._process is not None
        for pid in (self._process.pid, *self._containerd()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        for left in self.folder.glob("**/*.pid"):
            left.unlink(missing_ok=True)
        (self.folder / "pid").unlink(missing_ok=True)

    def _containerd(self) -> list[int]:
        with suppress(OSError, ValueError):
            return [int((self.folder / "exec/containerd/containerd.pid").read_text())]
        return []

    def stop(self) -> None:
        """Its containers end with it."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def started() -> Iterator[Started]:
    """One of its own."""
    folder = Path(tempfile.mkdtemp(prefix="ws-docker-", dir="/var/tmp"))  # paths of sockets are short
    own = Started(folder)
    try:
        own.start()
        yield own
    finally:
        own.stop()
        for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            place = line.split(" ")[1]
            if place.startswith(f"{folder}/"):
                subprocess.run(["umount", "-l", place], check=False)
        shutil.rmtree(folder, ignore_errors=True)
