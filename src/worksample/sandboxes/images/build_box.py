"""The sandbox of an image build: separate namespaces, a system-call filter, a folder and a network.

A build needs mounts and namespaces, which boxes do not offer. So the build gets a user namespace in which it is root,
without rights outside. If the platform runs as root, the namespace maps 65,536 user ids that nothing else uses.
Otherwise the namespace maps only the platform's own user id.
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
from worksample.files.scratch_folder import scratch_folder, sweep_scratch_folders
from worksample.sandboxes import cgroups, seccomp
from worksample.sandboxes.availability import require_bubblewrap
from worksample.sandboxes.host_state import BUILD_ROOT
from worksample.sandboxes.processes_by_variable import maker_environment
from worksample.sandboxes.python_toolbox import base_python

from .build_network import BuildNetwork

FIRST, COUNT = 2_100_000, 65_536
"""First user and group id of image builds if the platform runs as root, and the number of these ids."""
PLACE = "/build"
_SHOWN = ("/etc/containers", "/etc/ld.so.cache")


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """Limits of one image build. The limits of the resulting image are in ImageLimits."""

    time: float = 3600.0
    """Maximum wall-clock seconds of a build."""
    memory: int = 4 << 30
    """Maximum bytes of memory of a build, enforced only if control groups are available."""
    processes: int = 2048


@contextmanager
def build_folder() -> Iterator[Path]:
    """Yield a folder for one image build and remove it at the end. Before that, remove the folders that killed builds
    left.
    """
    sweep_scratch_folders(BUILD_ROOT)
    with scratch_folder("build", BUILD_ROOT) as folder:
        yield folder


def give_to_build(folder: Path) -> None:
    """Make the root user of the build's namespace the owner of everything in a folder."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, FIRST, FIRST, follow_symlinks=False)


def has_many_users() -> bool:
    """Return whether builds on this machine can use user ids other than root."""
    return os.geteuid() == 0


def run_build(
    script: str, folder: Path, limits: BuildLimits, network: BuildNetwork, shown: Mapping[str, Path] | None = None
) -> tuple[int, str]:
    """Run a shell script in a build's sandbox. `folder` appears in it at the path PLACE. Return the script's exit
    status and the end of its output. Raises ImageError.

    `shown` maps a path in the build to the folder of the host that appears there read-only.
    """
    found = require_bubblewrap()
    _check_ids()
    groups = cgroups.make(found.parents, f"{os.getpid()}-build-{secrets.token_hex(4)}", limits.memory, limits.processes)
    rules = os.memfd_create("filter", 0)
    try:
        os.write(rules, seccomp.building())
        os.lseek(rules, 0, os.SEEK_SET)
        enter = str(Path(__file__).with_name("enter_namespaces.py"))
        inner = _command(found.bwrap, folder, script, rules, network.env, shown or {})
        with network.serve() as given:
            words = [str(base_python()), "-I", "-S", enter, *network.arguments(given.fileno()), *inner]
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=maker_environment(),
                cwd="/",
                pass_fds=(rules, given.fileno()),
            )
            given.close()
            try:
                return _communicate(process, groups, limits)
            finally:
                process.kill()
                process.wait()
    finally:
        os.close(rules)
        with contextlib.suppress(OSError):
            cgroups.kill(groups)
        cgroups.remove(groups.folders)


def _communicate(process: subprocess.Popen[bytes], groups: cgroups.BoxCgroups, limits: BuildLimits) -> tuple[int, str]:
    assert process.stdout is not None
    asked = process.stdout.read(1)
    if asked == b".":
        _write_id_maps(process.pid)
        cgroups.join(groups, process.pid)
    try:
        said, _ = process.communicate(asked, limits.time)
    except subprocess.TimeoutExpired:
        raise ImageError(
            f"the build did not end within {limits.time:.0f} s",
            where="image",
            next="buildah bud -t one FOLDER && buildah push one oci:NEW, which shows the steps and has no time limit",
        ) from None
    return process.returncode, said.decode(errors="replace")


def _write_id_maps(pid: int) -> None:
    """Write the maps of user and group ids for the user namespace of a build."""
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
            "the user namespace of this machine has too few user ids for root, as a build needs its own",
            where="image",
            next="run the build as an ordinary user",
        )


def _command(
    bwrap: str, folder: Path, script: str, rules: int, more: Mapping[str, str], shown: Mapping[str, Path]
) -> Sequence[str]:
    """Return the bubblewrap command of a build. The build uses the network namespace that enter_namespaces.py
    created.
    """
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
