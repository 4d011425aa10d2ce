"""The tracker's host: Redmine, loaded in a process that answers nobody and forks the ones that do."""

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
    """The host process, which begins to load at once; both sides send words (see `redmine.rb`)."""

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
        """Process id of its fork that answers."""

    def wait_until_loaded(self) -> None:
        """Wait until Redmine is loaded."""
        self._wait_for_word("loaded")

    def set_operator_key(self, operator: str) -> None:
        """Send the operator's key."""
        self._send(f"operator {operator}")

    def start(self) -> None:
        """Fork a process that answers; `wait_until_started` waits for it."""
        self._send("start")

    def wait_until_started(self) -> None:
        """Wait until the fork answers."""
        self._asked = int(self._wait_for_word("started"))

    def stop(self) -> None:
        """End the fork that answers."""
        self._send("stop")
        self._wait_for_word("stopped")

    def wait_until_gone(self) -> None:
        """Wait for the last process that the fork had started."""
        wait_for_group(self._asked)

    def exit_status(self) -> int | None:
        """Return the host's exit status; None if it runs."""
        return self._process.poll()

    def _send(self, word: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()

    def _wait_for_word(self, word: str) -> str:
        """Wait for a word of the host and return what follows it."""
        assert self._process.stdout is not None
        while (line := self._process.stdout.readline()).split()[:1] != [word]:
            if not line:
                sys.exit("tracker ended before it was ready")
        return line.strip().removeprefix(word)
