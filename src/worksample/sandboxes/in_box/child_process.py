"""Start of a child process as the agent's user, for one command or one file operation."""

# contextlib would add to the start-up time of a box.
# ruff: noqa: SIM105

from __future__ import annotations

import os
import resource
import warnings  # noqa: F401 - os.execvpe imports it, and would do so in every child

from . import files, system_calls
from .boot import write_text
from .sockets import bind_or_connect

TYPE_CHECKING = False  # typing and collections would add a quarter to the start-up time of a box
if TYPE_CHECKING:
    from typing import Any


class Starter:
    """Starter of child processes. Each child runs as the only user of the box, with the limits of the box."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.space: int = plan.get("space", -1)
        """Descriptor of the user namespace that commands enter, or -1 without a user namespace."""
        self.limits = [(getattr(resource, name), value) for name, value in plan["rlimits"].items()]

    def start(self, request: dict[str, Any], reached: int = -1) -> tuple[int, int, int, int, int]:
        """Start a child process for a request. Return the process id and the exec server's ends of stdin (-1 without
        input), stdout, stderr and a status pipe. If the child cannot start, it writes the errno to the status pipe
        as a decimal number.

        `reached` is the socket that the child connects or binds.
        """
        near, far = [-1], [reached]
        try:
            if reached < 0 and (request["input"] or request["more"]):
                far[0], near[0] = os.pipe()
            elif reached < 0:
                far[0] = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
            for _ in ("stdout", "stderr", "trouble"):
                one, other = os.pipe()
                near.append(one)
                far.append(other)
            pid = os.fork()
        except OSError:
            for descriptor in near:
                if descriptor >= 0:
                    os.close(descriptor)
            self._close_far(far, reached)
            raise
        if pid == 0:
            self._child(request, *far)
        self._close_far(far, reached)
        stdin, stdout, stderr, trouble = near
        return pid, stdin, stdout, stderr, trouble

    @staticmethod
    def _close_far(far: list[int], reached: int) -> None:
        for descriptor in far:
            if descriptor >= 0 and descriptor != reached:
                os.close(descriptor)

    def _child(self, request: dict[str, Any], stdin: int, stdout: int, stderr: int, trouble: int) -> None:
        """Run the request in the child. Never returns."""
        status = 127
        try:
            os.setsid()
            for near, far in ((0, stdin), (1, stdout), (2, stderr)):
                os.dup2(far, near, inheritable=True)
            os.dup2(trouble, 3, inheritable=False)
            if self.space >= 0:
                os.dup2(self.space, 4, inheritable=False)
            os.closerange(4 if self.space < 0 else 5, 1 << 16)
            if self.plan["background"]:
                _give_way()
            self._lower()
            status = self._perform(request)
        except OSError as failure:
            os.write(3, str(failure.errno).encode())
        except ValueError:  # a null byte or half a surrogate pair in an argument
            os.write(3, b"22")
        finally:
            os._exit(status)

    def _lower(self) -> None:
        for which, value in self.limits:
            resource.setrlimit(which, (value, value))
        try:
            write_text("/proc/self/oom_score_adj", "1000")
        except OSError:
            pass  # a nested box may not do this
        if self.space >= 0:
            self._enter(self.plan["image"]["user"])
        elif self.plan["root"]:
            os.setgroups([])
            os.setresgid(self.plan["gid"], self.plan["gid"], self.plan["gid"])
            os.setresuid(self.plan["uid"], self.plan["uid"], self.plan["uid"])
            system_calls.capabilities(())
        system_calls.prctl(system_calls.PR_SET_CHILD_SUBREAPER, 1)

    def _enter(self, user: int) -> None:
        """Become the user of the image in the box's user namespace. This namespace maps the image's user to the user of
        the box and maps no other user.
        """
        os.setgroups([])
        system_calls.setns(4, system_calls.CLONE_NEWUSER)
        os.close(4)
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        system_calls.drop_bounding()
        system_calls.capabilities(())
        system_calls.seccomp(self.plan["seccomp"])

    def _perform(self, request: dict[str, Any]) -> int:
        try:
            os.chdir(request["cwd"])
        except OSError as failure:
            os.write(3, f"{failure.errno} {request['cwd']}".encode())
            return 127
        if request["op"] == "read":
            files.read_file(request["path"], request["limit"], lambda piece: files.write_all(1, piece))
            return 0
        if request["op"] == "write":
            files.write_file(request["path"], request["mode"], lambda: os.read(0, files.PIECE))
            return 0
        if request["op"] in ("connect", "listen"):
            bind_or_connect(request["op"], request["path"])
            return 0
        for number in self.plan["signals"]:
            _default(number)
        argv, env = request["argv"], request["env"]
        os.execvpe(argv[0], argv, env)


def _give_way() -> None:
    """Lower the processor share of the new session, on machines without a control group for this. A lower priority of
    the processes would not suffice, because it counts only within a session.
    """
    try:
        write_text("/proc/self/autogroup", "19")
    except OSError:
        pass  # not supported, or set by another process within the last tenth of a second


def _default(number: int) -> None:
    import _signal  # type: ignore[import-not-found]

    _signal.signal(number, _signal.SIG_DFL)
