"""The host process of the tracker. It loads Redmine once, answers no requests itself, and forks the processes that
answer requests.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from .ports import SOCKETS
from .processes import wait_for_group

HERE = Path(__file__).parent


class TrackerHost:
    """The host process of the tracker. It begins to load Redmine at once. This process and the host send each other
    words (see `redmine.rb`).
    """

    def __init__(self, state: Path) -> None:
        home = Path("/var/lib/redmine/default")
        (home / "log").mkdir(exist_ok=True)
        (home / "config" / "database.yml").write_text(
            f"production:\n  adapter: sqlite3\n  database: {state}/tracker/tracker.sqlite\n  timeout: 10000\n",
            encoding="utf-8",
        )
        (home / "config" / "configuration.yml").write_text(
            f"default:\n  attachments_storage_path: {state}/tracker/attachments\n", encoding="utf-8"
        )
        env = {**os.environ, "SECRET_KEY_BASE": os.urandom(64).hex()}
        self._process = subprocess.Popen(
            ["ruby", str(HERE / "redmine.rb"), "serve", str(SOCKETS["tracker"])],
            env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            encoding="utf-8", errors="replace",
        )  # fmt: skip
        self.pid = self._process.pid
        self._asked = 0
        """Process id of the fork of the host that answers requests; 0 without a fork."""

    def wait_until_loaded(self) -> None:
        """Wait until the host has loaded Redmine."""
        self._wait_for_word("loaded")

    def set_operator_key(self, operator: str) -> None:
        """Send the operator's API key to the host."""
        self._send(f"operator {operator}")

    def start(self) -> None:
        """Make the host fork a process that answers requests. `wait_until_started` waits for this process."""
        self._send("start")

    def wait_until_started(self) -> None:
        """Wait until the forked process answers requests."""
        self._asked = int(self._wait_for_word("started"))

    def stop(self) -> None:
        """End the forked process that answers requests."""
        self._send("stop")
        self._wait_for_word("stopped")

    def wait_until_gone(self) -> None:
        """Wait until the forked process and all its child processes have exited."""
        wait_for_group(self._asked)

    def exit_status(self) -> int | None:
        """Return the exit status of the host, or None while the host runs."""
        return self._process.poll()

    def _send(self, word: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()

    def _wait_for_word(self, word: str) -> str:
        """Wait until the host sends a certain word. Return the text that follows the word."""
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()).split()[:1] != [word]:
            if not line:
                sys.exit("tracker ended before it was ready")
        return line.strip().removeprefix(word)
