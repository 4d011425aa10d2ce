"""Shared libraries with which a program runs in any box: this machine's glibc loader and the needed libraries, in one
folder.

An executable contains the path of the loader with which the kernel starts it. This path is replaced by the path of the
copied loader, which searches the folder of copied libraries first. Environment variables are not used, because child
processes would inherit them. So a shell that the program starts uses the libraries of the box's image.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from . import elf_header
from .agent_program import LIBRARIES

LOADER = f"{LIBRARIES}/ld.so"
_USUAL = {
    "x86_64": ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/"),
    "aarch64": ("/lib/ld-linux-aarch64.so.1", "/lib/aarch64-linux-gnu/"),
}
"""For each machine type: the path of glibc's loader in executables, and the first folder that Debian's loader
searches.
"""
SHARED = "shared"
"""Name of the subfolder for libraries that are found only by name."""
_CACHE = b"/etc/ld.so.cache\0"
_ASKED_FOR_LATER = ("libgcc_s.so.1", "libstdc++.so.6", "libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")
"""Libraries that glibc and add-ons of Node load by name while a program runs. No file's header mentions these
libraries.
"""


@functools.cache
def loader() -> bytes:
    """Return the bytes of this machine's loader, changed so that it searches the folder of copied libraries first.
    Return b"" if the loader does not have the form of Debian's loader.

    The path of the loader's cache is made invalid, because the cache would name libraries of the box's image.
    """
    path, place = _USUAL.get(platform.machine(), ("", ""))
    if not path or not Path(path).is_file():
        return b""
    own = Path(path).read_bytes()
    first = f"{place}\0".encode()
    folder = LIBRARIES.ljust(len(place), "/").encode() + b"\0"  # additional slashes have no effect
    if first not in own or _CACHE not in own or len(folder) != len(first):
        return b""
    return own.replace(b"\0" + first, b"\0" + folder).replace(_CACHE, b"/opt/worksample-\0")


def glibc() -> str:
    """Return the version of this machine's glibc. It is a part of the runtime of programs."""
    return " ".join(platform.libc_ver())


def relink(folder: Path) -> bool:
    """Change the executables below a folder so that they use the copied loader. Return whether any file was changed.
    Executables with another loader are not changed.
    """
    usual, changed = _USUAL.get(platform.machine(), ("", ""))[0], False
    for path in _files(folder):
        found = elf_header.read_elf(path)
        if found is None or found.loader != usual or len(LOADER) >= found.room:
            continue
        fresh = path.with_name(f".{path.name}.standing")  # the file may be a hard link into the installer's cache
        shutil.copy2(path, fresh)
        with fresh.open("r+b") as file:
            file.seek(found.at)
            file.write(LOADER.encode().ljust(found.room, b"\0"))
        fresh.replace(path)
        changed = True
    return changed


def gather(folder: Path, *programs: Path) -> None:
    """Create `folder` with the loader and with all libraries of this machine that files below `programs` need."""
    folder.mkdir()
    (folder / Path(LOADER).name).write_bytes(loader())
    (folder / Path(LOADER).name).chmod(0o755)
    shared = {path.name: path for top in programs for path in top.glob(f"{SHARED}/*")}
    own = {path.name for top in programs for path in _files(top)} - shared.keys()
    found, here = {Path(path).name for path, _ in _USUAL.values()}, _libraries() | shared
    queue = [
        *_ASKED_FOR_LATER,
        *(name for top in programs for path in _files(top) for name in _missing_libraries(path)),
    ]
    while queue:
        name = queue.pop()
        if name in found or name in own or name not in here:
            continue
        found.add(name)
        shutil.copyfile(here[name], folder / name)
        queue += _missing_libraries(here[name])


def _missing_libraries(path: Path) -> tuple[str, ...]:
    found = elf_header.read_elf(path)
    return found.needed if found is not None else ()


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for path in (Path(parent) / name for name in names):
            if not path.is_symlink() and path.is_file():
                yield path


def _libraries() -> dict[str, Path]:
    """Return the libraries that this machine's loader finds, by name. If several have the same name, return the one
    that the loader would choose.
    """
    kind = {"x86_64": "x86-64", "aarch64": "AArch64"}[platform.machine()]
    tool = shutil.which("ldconfig", path="/sbin:/usr/sbin") or "ldconfig"
    said = subprocess.run(
        [tool, "-p"], capture_output=True, text=True, check=True, encoding="utf-8", errors="replace"
    ).stdout
    lines = re.findall(rf"^\s*(\S+) \([^)]*{kind}[^)]*\) => (\S+)$", said, re.M)
    return {name: Path(path) for name, path in reversed(lines)}
