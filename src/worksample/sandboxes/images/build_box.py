"""The place that a build has: namespaces and a filter of its own, a folder to work in, the network that it was allowed.

A build needs mounts and namespaces, which no box gives. So it has a user namespace in which it is root and outside of
which it is nobody: for a platform that is root 65,536 ids that nothing else has, for an ordinary user that user alone.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import ImageError
from worksample.files.scratch import scratch_folder, sweep_scratch_folders
from worksample.sandboxes import cgroups, seccomp
from worksample.sandboxes.availability import require
from worksample.sandboxes.host_state import OPEN
from worksample.sandboxes.marked_processes import of_this_process
from worksample.sandboxes.toolbox import base_python

from .build_network import BuildNetwork

FIRST, COUNT = 2_100_000, 65_536
"""User and group ids of the host that builds of a root platform run as."""
PLACE = "/build"
_SHOWN = ("/etc/containers", "/etc/ld.so.cache")


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What one build may use. The size of the image that comes out is held by ImageLimits."""

    time: float = 3600.0
    """Seconds."""
    memory: int = 4 << 30
    """Bytes; held where control groups can be had."""
    processes: int = 2048


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for one build, removed at its end. What killed builds left goes first."""
    sweep_scratch_folders(OPEN)
    with scratch_folder("build", OPEN) as folder:
        yield folder


def give(folder: Path) -> None:
    """Let the build's root own everything in a folder."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, FIRST, FIRST, follow_symlinks=False)


def many_users() -> bool:
    """Whether a build has more users than its root."""
    return os.geteuid() == 0


def run(
    script: str, folder: Path, limits: BuildLimits, network: BuildNetwork, shown: Mapping[str, Path] | None = None
) -> tuple[int, str]:
    """Run a script of sh with `folder` at PLACE; its exit status and the end of what it said. Raises ImageError.

    shown: place -> folder that it finds there, read-only.
    """
    found = require()
    _check_ids()
    groups = cgroups.make(found.parents, f"{os.getpid()}-build-{secrets.token_hex(4)}", limits.memory, limits.processes)
    rules = os.memfd_create("filter", 0)
    try:
        os.write(rules, seccomp.building())
        os.lseek(rules, 0, os.SEEK_SET)
        enter = str(Path(__file__).with_name("enter_namespaces.py"))
        inner = _command(found.bwrap, folder, script, rules, network.env, shown or {})
        with network.served() as given:
            words = [str(base_python()), "-I", "-S", enter, *network.words(given.fileno()), *inner]
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=of_this_process(),
                cwd="/",
                pass_fds=(rules, given.fileno()),
            )
            given.close()
            try:
                return _finished(process, groups, limits)
            finally:
                process.kill()
                process.wait()
    finally:
        os.close(rules)
        with contextlib.suppress(OSError):
            cgroups.kill(groups)
        cgroups.remove(groups.folders)


def _finished(process: subprocess.Popen[bytes], groups: cgroups.Groups, limits: BuildLimits) -> tuple[int, str]:
    assert process.stdout is not None
    asked = process.stdout.read(1)
    if asked == b".":
        _map(process.pid)
        cgroups.join(groups, process.pid)
    try:
        said, _ = process.communicate(asked, limits.time)
    except subprocess.TimeoutExpired:
        raise ImageError(
            f"its build did not end within {limits.time:.0f} s",
            where="image",
            next="buildah bud -t one FOLDER && buildah push one oci:NEW, which shows its steps and has no such limit",
        ) from None
    return process.returncode, said.decode(errors="replace")


def _map(pid: int) -> None:
    """Who is root in the namespace, and who else there is."""
    line = f"0 {FIRST} {COUNT}" if os.geteuid() == 0 else f"0 {os.geteuid()} 1"
    groups = line if os.geteuid() == 0 else f"0 {os.getegid()} 1"
    if os.geteuid() != 0:
        Path(f"/proc/{pid}/setgroups").write_text("deny", encoding="ascii")
    Path(f"/proc/{pid}/uid_map").write_text(line, encoding="ascii")
    Path(f"/proc/{pid}/gid_map").write_text(groups, encoding="ascii")


def _check_ids() -> None:
    spans = [
        tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    ]
    if os.geteuid() == 0 and not any(low <= FIRST and low + count >= FIRST + COUNT for low, _, count in spans):
        raise ImageError(
            "this machine gives root too few user ids for a build to have its own",
            where="image",
            next="run it as an ordinary user",
        )


def _command(
    bwrap: str, folder: Path, script: str, rules: int, more: Mapping[str, str], shown: Mapping[str, Path]
) -> Sequence[str]:
    """The network is the one that enter_namespaces.py made."""
    words = [bwrap, "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--die-with-parent", "--new-session", "--clearenv", "--cap-add", "ALL", "--seccomp", str(rules)]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib64"):
        top = Path("/") / name
        words += (
            ["--symlink", str(top.readlink()), str(top)] if top.is_symlink() else ["--ro-bind-try", str(top), str(top)]
        )
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--dir", "/sys"]
    words += ["--dir", "/etc"]
    for path in _SHOWN:
        words += ["--ro-bind-try", path, path]
    words += ["--bind", str(folder), PLACE, "--chdir", PLACE]
    for place, given in shown.items():
        words += ["--ro-bind", str(given), place]
    env = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": PLACE, "TMPDIR": PLACE, "LANG": "C.UTF-8"}
    env |= {"_CONTAINERS_USERNS_CONFIGURED": "1", "BUILDAH_ISOLATION": "chroot", **more}
    for key, value in env.items():
        words += ["--setenv", key, value]
    return [*words, "/bin/sh", "-ec", script]
