"""A process that has Inspect imported and forks the command line from there: a killed run costs no new start-up.

Reads one JSON object per line from standard input; forks a child that runs `worksample` with its `words`, and with its
`fault` in WORKSAMPLE_FAULT; prints its process id, and when it is over its exit code (minus the signal that ended it).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType


def serve() -> None:
    """In the server process."""
    from inspect_ai.model import get_model

    from worksample.cli.boundary import code_of

    get_model("mockllm/model")
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(2, 1)
            os.environ["WORKSAMPLE_FAULT"] = asked["fault"]
            os._exit(code_of(asked["words"]))
        print(pid, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


class ForkServer:
    """In the test: `start` begins a command line and gives its process id, `wait` its exit code."""

    def __init__(self, errors: Path, environment: dict[str, str]) -> None:
        self.errors = errors
        with errors.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )

    def start(self, *words: object, fault: str = "") -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"words": [str(w) for w in words], "fault": fault}) + "\n")
        self.process.stdin.flush()
        return self._number()

    def wait(self) -> int:
        return self._number()

    def run(self, *words: object, fault: str = "") -> int:
        self.start(*words, fault=fault)
        return self.wait()

    def _number(self) -> int:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()[-3000:]
        return int(line)

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


if __name__ == "__main__":
    serve()
