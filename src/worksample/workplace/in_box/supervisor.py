"""The supervisor of a workplace's services: starts the services with a state, stops them, and resets the state.

It runs in the services' box and imports only the standard library. Every service is a process group of its own.
Programs that take long to load are loaded once, in the supervisor and in the tracker's host, and forked. A reset kills
every process that has answered a request.

    python3 -m in_box.supervisor STATE --services chat,tracker,... [--dialects owncloud,...] [--seed FOLDER]
    python3 -m in_box.supervisor STATE --services chat,tracker,... --spare

The supervisor prints "ready" when all services take requests. Then it obeys lines on the socket /task/scratch/control;
the commands are "reset", and "advance SECONDS", which moves the company's time on. If a service exits by itself, the
supervisor prints the service's name and exits.

With `--spare`, the supervisor loads the programs that take long, without any company. Then it waits for a line of JSON
on its standard input with arguments and variables. It continues as if it had been started with them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .company_time import CompanyTime, preload_variables
from .configurations import write_configs
from .documents import load_documents, serve_documents
from .file_trees import copy_writable, walk
from .ports import BEHIND, PUBLIC, RUN, SOCKETS, connects
from .processes import fork_worker, spawn, wait_for_group
from .tracker_host import TrackerHost

HERE = Path(__file__).parent
PYTHON = "/task/service/python"
CONTROL = "/task/scratch/control"
OTHER_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/var/lib/redmine", "/task/scratch")
"""Folders outside the state in which services write caches, sessions and unfinished uploads."""
WAIT = 60.0
"""Maximum seconds until a started service must answer."""


class ServiceSupervisor:
    """The processes of the services. `state` contains the folders of the services; `seed` is their initial state."""

    def __init__(self, state: Path, names: tuple[str, ...]) -> None:
        self.state, self.names = state, names
        self.seed: Path | None = None
        self.dialects: tuple[str, ...] = ()
        self.accounts: dict[str, str] = {}
        self.running: dict[int, str] = {}
        self.time = CompanyTime()
        self._tracker: TrackerHost | None = None
        self._loaded: dict[Path, int] = {}
        """Size of each file outside the state that existed before any service answered a request."""

    def load(self) -> None:
        """Load the programs that take long, without any data of a company."""
        for folder in (RUN, Path("/var/lib/redmine/default/config"), Path("/var/lib/redmine/default/tmp")):
            folder.mkdir(parents=True, exist_ok=True)
        if "tracker" in self.names:
            self._tracker = TrackerHost(self.state)
        sys.path.insert(0, PYTHON)
        if "files" in self.names:
            load_documents()
        if "calendar" in self.names:
            importlib.import_module("radicale.server")
        if "git" in self.names:
            load_pages()
        if self._tracker is not None:
            self._tracker.wait_until_loaded()
        self._loaded = {path: path.lstat().st_size for path in walk(OTHER_FOLDERS)}

    def begin(self, given: argparse.Namespace) -> None:
        """Start the services with a copy of a seed. The accounts' passwords are in environment variables. Raises
        SystemExit if a service does not answer.
        """
        self.names, self.seed = tuple(given.services.split(",")), given.seed
        self.dialects = tuple(name for name in given.dialects.split(",") if name)
        self.accounts = json.loads(os.environ.pop("WORKPLACE_ACCOUNTS", "{}"))
        if self._tracker is not None:
            self._tracker.set_operator_key(os.environ.get("WORKPLACE_OPERATOR", ""))
        self.restore_state()
        write_configs(self.state, self.names, self.accounts, self.dialects)
        self.start()

    def restore_state(self) -> None:
        """Replace the current state by the initial state."""
        for path in self.state.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self.time.begin(self.seed if self.seed is not None else self.state)
        if self.seed is not None:
            copy_writable(self.seed, self.state)
        (self.state / "log").mkdir(exist_ok=True)

    def start(self) -> None:
        """Start all services, the front door last. Raises SystemExit if a service does not answer."""
        begin: dict[str, Callable[[], int | None]] = {
            "chat": lambda: spawn(
                ["prosody", "--config", str(HERE / "prosody" / "prosody.cfg.lua"), "-F"],
                {**self._env(), **preload_variables()},
            ),
            "tracker": self._start_tracker,
            "files": lambda: fork_worker(lambda: serve_documents(self.state, self.accounts)),
            "git": lambda: spawn(["fcgiwrap", "-f", "-c", "2", "-s", f"unix:{SOCKETS['git']}"], self._env()),
            "calendar": lambda: fork_worker(serve_calendar),
        }
        begin["dialects"] = lambda: fork_worker(
            lambda: serve_dialects(self.state, self._served_dialects(), self.accounts)
        )
        behind = (*self.names, *(("dialects",) if self._served_dialects() else ()))
        for name in behind:
            with contextlib.suppress(FileNotFoundError):
                SOCKETS.get(name, RUN / "none").unlink()
            if (pid := begin[name]()) is not None:
                self.running[pid] = name
        if self._tracker is not None:
            self._tracker.wait_until_started()
        for name in behind:
            self._wait_for_service(name)
        self.running[
            spawn(["nginx", "-e", "stderr", "-c", str(RUN / "nginx.conf")], {**self._env(), **preload_variables()})
        ] = "front door"
        for name in self.names:
            self._wait_for(name, PUBLIC[name])

    def stop(self) -> None:
        """Kill every process that has answered a request."""
        ending, self.running = self.running, {}
        for pid in ending:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        if self._tracker is not None:
            self._tracker.stop()
        for pid in ending:
            wait_for_group(pid)
        if self._tracker is not None:
            self._tracker.wait_until_gone()

    def reset(self) -> None:
        """Restart the services with the initial state. New files outside the state are removed, too."""
        self.stop()
        for path in sorted(walk(OTHER_FOLDERS), reverse=True):
            if str(path) == CONTROL:
                continue
            if path not in self._loaded:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            elif (
                path.is_file() and path.lstat().st_size > self._loaded[path]
            ):  # a log file that the tracker's host keeps open
                os.truncate(path, self._loaded[path])
        self.restore_state()
        write_configs(self.state, self.names, self.accounts, self.dialects)
        self.start()

    def ended_service(self) -> str:
        """Return the name of a service that exited by itself, and its exit status. Return "" if all services run."""
        if self._tracker is not None and (code := self._tracker.exit_status()) is not None:
            return f"tracker ended with exit status {code}"
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ""
            if not pid:
                return ""
            if self._tracker is not None and pid == self._tracker.pid:
                return f"tracker ended with exit status {os.waitstatus_to_exitcode(status)}"
            if (name := self.running.pop(pid, None)) is not None:
                return f"{name} ended with exit status {os.waitstatus_to_exitcode(status)}"

    def _env(self) -> dict[str, str]:
        own = {
            "WORKPLACE_STATE": str(self.state),
            "WORKPLACE_PROGRAMS": str(HERE),
            "PATH": f"{os.environ['PATH']}:/usr/sbin",
        }
        return {**os.environ, **own}

    def _served_dialects(self) -> tuple[str, ...]:
        """Return what the server of the dialects serves: the dialects, and the pages of the repositories."""
        return (*self.dialects, *(("pages",) if "git" in self.names else ()))

    def _start_tracker(self) -> None:
        if self._tracker is not None:
            self._tracker.start()

    def _wait_for_service(self, name: str) -> None:
        self._wait_for(name, SOCKETS.get(name) or BEHIND[name])

    def _wait_for(self, name: str, place: int | Path) -> None:
        end = time.monotonic() + WAIT
        while not connects(place):
            if what := self.ended_service():
                sys.exit(what)
            if time.monotonic() > end:
                sys.exit(f"{name} does not answer")
            time.sleep(0.005)


def load_pages() -> None:
    """Load the pages of the repositories and the dialects, and compile the templates, so that no fork does it again."""
    from .git_pages.rendering import templates

    for module in (
        "dialects.server", "dialects.owncloud", "dialects.gitlab.api", "dialects.plane.api", "dialects.rocketchat.api",
        "git_pages.code_pages", "git_pages.merge_request_pages",
    ):  # fmt: skip
        importlib.import_module(f"in_box.{module}")
    templates()


def serve_dialects(state: Path, dialects: tuple[str, ...], accounts: dict[str, str]) -> None:
    """Run the server of the dialects. Everybody with an account can use it."""
    from .dialects.server import serve

    operator = os.environ.get("WORKPLACE_OPERATOR", "")
    known = {**accounts, **({"operator": operator} if operator else {})}
    serve(SOCKETS["dialects"], dialects, state, known, operator)


def serve_calendar() -> None:
    """Run Radicale with its configuration."""
    run = importlib.import_module("radicale.__main__").run
    sys.argv = ["radicale", "--config", str(RUN / "radicale")]
    run()


@contextlib.contextmanager
def control_socket() -> Iterator[socket.socket]:
    """Yield the socket for commands."""
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(CONTROL)
        one.listen(4)
        yield one


def obey(workplace: ServiceSupervisor, connection: socket.socket) -> None:
    """Read one command from a connection, carry it out and answer it."""
    with connection, connection.makefile("rw") as stream:
        word, begun = stream.readline().strip(), time.monotonic()
        verb, _, moment = word.partition(" ")
        if verb == "advance":
            stream.write(f"done {workplace.time.advance(float(moment)):d}\n")
            return
        if word != "reset":
            stream.write(f"there is no command {word!r}\n")
            return
        workplace.reset()
        stream.write(f"done {time.monotonic() - begun:.4f}\n")


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--services", required=True)
    parser.add_argument("--dialects", default="")
    parser.add_argument("--seed", type=Path)
    parser.add_argument("--spare", action="store_true")
    return parser.parse_args(argv)


def spare_arguments(line: str) -> argparse.Namespace:
    """Return the arguments in the line that a spare supervisor received, and set the environment variables in this
    line.
    """
    if not line:
        sys.exit("no workplace took these programs")
    said = json.loads(line)
    os.environ.update(said["env"])
    return parse_arguments(said["argv"])


def main() -> None:
    """Run the supervisor with the arguments of the command line."""
    given = parse_arguments(sys.argv[1:])
    workplace = ServiceSupervisor(given.state, tuple(given.services.split(",")))
    woken, waking = os.pipe()
    for end in (woken, waking):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    workplace.load()
    if given.spare:
        given = spare_arguments(sys.stdin.readline())
    workplace.begin(given)
    with control_socket() as control:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready, _, _ = select.select([control.fileno(), woken], [], [])
            if woken in ready:
                os.read(woken, 1 << 16)
            if what := workplace.ended_service():
                sys.exit(what)
            if control.fileno() in ready:
                obey(workplace, control.accept()[0])


if __name__ == "__main__":
    main()
