"""A root file system made of this machine's own programs: an image that needs no registry and no network."""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

PROGRAMS = (
    "bash sh cat ls cp mv rm rmdir mkdir touch ln chmod chown id env sleep true false head tail grep sed find sort",
    "uniq wc tr cut echo printf test seq date df du stat mktemp mkfifo mknod mount umount unshare nsenter setpriv",
    "readlink realpath dd nohup timeout kill pgrep setsid nice renice chroot sync tee tar gzip xargs whoami groups",
    "uname hostname su expr dirname basename yes od paste comm sha256sum python3",
)
"""What tests and attacks use. `su` is a program that is setuid on the machine."""
_LIBRARY = re.compile(rb"(/\S+) \(0x")


def make(folder: Path, python: str = "/usr/bin/python3") -> Path:
    """`folder` as a root: programs, their libraries, Debian's own Python."""
    for name in ("tmp", "etc", "root", "usr/bin", "var/tmp", "home/app", "srv/work"):
        (folder / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        link = Path("/") / name
        (folder / name).symlink_to(link.readlink() if link.is_symlink() else f"usr/{name}")
    (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\napp:x:1234:1234::/home/app:/bin/bash\n")
    (folder / "etc/group").write_text("root:x:0:\napp:x:1234:\n")
    (folder / "etc/note").write_text("of the image\n")
    programs = [path for name in " ".join(PROGRAMS).split() if (path := Path("/usr/bin") / name).exists()]
    for path in programs:
        _copy(path, folder)
    standard = Path(os.path.realpath(python)).name
    library = Path("/usr/lib") / standard
    skipped = ("__pycache__", "test", "dist-packages", "idlelib", "lib2to3", "ensurepip", "pydoc_data")
    modules = [Path(at) / name for at, below, names in os.walk(library) for name in names if _kept(below, skipped)]
    for path in modules:
        _copy(path, folder)
    natives = [path for path in modules if path.suffix == ".so"]
    told = subprocess.run(["ldd", *map(str, [*programs, *natives])], capture_output=True, check=False).stdout
    for name in sorted(set(_LIBRARY.findall(told))):
        _copy(Path(name.decode()), folder)
    return folder


def _kept(below: list[str], skipped: tuple[str, ...]) -> bool:
    below[:] = [name for name in below if name not in skipped]
    return True


def _copy(path: Path, folder: Path) -> None:
    real = Path(os.path.realpath(path.parent)) / path.name
    target = folder / str(real).lstrip("/")
    if target.exists() or target.is_symlink():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if real.is_symlink():
        beyond = Path(os.path.realpath(real))
        _copy(beyond, folder)
        target.symlink_to(beyond)
    else:
        target.write_bytes(real.read_bytes())
        target.chmod(0o755 if real.stat().st_mode & 0o100 else 0o644)


def tarred(folder: Path) -> bytes:
    """As a layer, or as the tar of a root file system."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.add(folder, arcname=".", recursive=True)
    return out.getvalue()
