"""Folders that are created once and shared by all boxes, such as the boxes' /etc and the compiled modules of the exec
server.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from worksample.files.machine import is_lock_of_another_machine, sign_lock

from .host_state import cache_folder

_COPIED = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "os-release",
    "debian_version",
    "issue",
    "alternatives",
    "fonts",
    "localtime",
    "timezone",
    "mime.types",
    "magic",
    "services",
    "protocols",
    "ethertypes",
    "rpc",
    "inputrc",
    "locale.alias",
    "locale.conf",
    "terminfo",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ca-certificates.conf",
    "pki/tls/certs",
    "pki/ca-trust/extracted",
    "gai.conf",
    "libreoffice",
    "ImageMagick-6",
    "ImageMagick-7",
    "ghostscript",
    "texmf",
    "java-17-openjdk",
    "java-21-openjdk",
    "python3",
    "perl",
    "adduser.conf",
    "deluser.conf",
)
"""Files and folders of the host's /etc that programs in a box need. The host's users, passwords, keys, names and
settings are not copied.
"""

PATH = "/opt/worksample/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PROFILE = f"""export PATH="{PATH}"
if [ -n "${{BASH_VERSION-}}" ] && [ -f /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi
"""
_OWN = {
    "profile": _PROFILE,
    "bash.bashrc": "",
    "hostname": "worksample\n",
    "host.conf": "multi on\n",
    "resolv.conf": "",
    "nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n",
    "shells": "/bin/sh\n/bin/bash\n",
    "environment": f'PATH="{PATH}"\n',
    "machine-id": "0" * 32 + "\n",
}
_LINKED = {
    "passwd": "../run/worksample/passwd",
    "group": "../run/worksample/group",
    "mtab": "../proc/self/mounts",
    "hosts": "../run/worksample/hosts",
}


def user_files(uid: int, gid: int, home: str) -> dict[str, str]:
    """Return the files of a box's user database: path -> content."""
    nobody = 65534
    return {
        "/run/worksample/passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\n"
        f"agent:x:{uid}:{gid}:agent:{home}:/bin/bash\nnobody:x:{nobody}:{nobody}:nobody:/nonexistent:/usr/sbin/nologin\n",
        "/run/worksample/group": f"root:x:0:\nagent:x:{gid}:\nnogroup:x:{nobody}:\n",
    }


def hosts_file(addresses: Mapping[str, str]) -> dict[str, str]:
    """Return the hosts file of a box: path -> content. A box cannot resolve names in any other way."""
    lines = ["127.0.0.1 localhost worksample", "::1 localhost", *(f"{ip} {name}" for name, ip in addresses.items())]
    return {"/run/worksample/hosts": "\n".join(lines) + "\n"}


@functools.cache
def etc_folder() -> Path:
    """Return the folder that is mounted as /etc in every box. If the host's files have changed, a new folder is
    created.
    """
    source = Path("/etc")
    digest = hashlib.sha256(repr((_OWN, _LINKED)).encode())
    for name in _COPIED:
        for path in _tree(source / name):
            state = path.lstat()
            digest.update(f"{path}\0{state.st_mode}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    return make_once(cache_folder() / f"etc-{digest.hexdigest()[:24]}", _fill_etc)


def _tree(path: Path) -> list[Path]:
    if path.is_symlink() or not path.is_dir():
        return [path] if path.is_symlink() or path.exists() else []
    return [path, *sorted(Path(folder) / name for folder, below, files in os.walk(path) for name in (*below, *files))]


def _fill_etc(folder: Path) -> None:
    for name in _COPIED:
        for path in _tree(Path("/etc") / name):
            target = folder / path.relative_to("/etc")
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                target.symlink_to(path.readlink())
            elif path.is_dir():
                target.mkdir(exist_ok=True)
            elif path.is_file() and path.stat().st_mode & 0o004:
                shutil.copyfile(path, target)
    for name, text in _OWN.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name, link in _LINKED.items():
        (folder / name).symlink_to(link)


@functools.cache
def server_folder() -> Path:
    """Return a folder that contains the modules of the exec server, compiled for this interpreter, as the package
    `in_box`.
    """
    source = Path(__file__).parent / "in_box"
    modules = sorted(source.glob("*.py"))
    # Includes the package's name, since modules of another package name cannot be imported.
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER + source.name.encode())
    for module in modules:
        digest.update(module.name.encode() + b"\0" + module.read_bytes())

    def fill(folder: Path) -> None:
        import py_compile

        (folder / "in_box").mkdir()
        for module in modules:
            target = folder / "in_box" / f"{module.stem}.pyc"
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(module), str(target), f"in_box/{module.name}", doraise=True, invalidation_mode=mode)

    return make_once(cache_folder() / f"server-{digest.hexdigest()[:24]}", fill)


def make_once(folder: Path, fill: Callable[[Path], None], *, readable: bool = True) -> Path:
    """Return a folder after `fill` has created its content, if the folder does not exist yet. One process creates the
    folder while others wait, and no process sees an incomplete folder.

    `readable` says whether every user of this machine may read everything in the folder.
    """
    if folder.is_dir():
        return folder
    with folder.with_name(f".{folder.name}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
        if folder.is_dir():
            return folder
        fresh = folder.with_name(f".{folder.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)  # left by a killed process
        fresh.mkdir(mode=0o755)
        try:
            fill(fresh)
            if readable:
                _readable(fresh)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)  # if it failed
    return folder


def remove_halves(folder: Path) -> list[str]:
    """Remove the incomplete copies that killed processes left in `folder`, in which `make_once` creates folders. Return
    the names of the removed copies.
    """
    removed = []
    for half in folder.glob(".*.new"):
        with half.with_suffix(".lock").open("a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # it is being made
            if is_lock_of_another_machine(lock):
                continue
            shutil.rmtree(half, ignore_errors=True)
            removed.append(half.name)
    return removed


def _readable(folder: Path) -> None:
    """Make everything in a folder readable for every user, even if the creator's umask forbids this. Boxes run as other
    users.
    """
    folder.chmod(0o755)
    for parent, below, files in os.walk(folder):
        for path in (Path(parent) / name for name in (*below, *files)):
            if not path.is_symlink():  # a link may lead to the host's own files
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
