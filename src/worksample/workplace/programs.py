"""The programs behind a workplace's services: what this machine needs for each, and what to type where it lacks it."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import SandboxUnavailable

PROGRAMS = Path(__file__).parent / "in_box"
"""What runs in the services' box."""


@dataclass(frozen=True, slots=True)
class Program:
    """One service. `there`: files of its Debian packages by which we know that they are installed."""

    debian: tuple[str, ...] = ()
    there: tuple[str, ...] = ()
    """Patterns, each of which finds a file."""
    module: str = ""
    """Of a distribution of the same name, from the extra `workplace`."""


SERVICES: dict[str, Program] = {
    "chat": Program(("prosody", "lua-dbi-sqlite3"), ("/usr/bin/prosody", "/usr/lib/*/lua/5.4/dbd/sqlite3.so")),
    "tracker": Program(
        ("redmine", "redmine-sqlite", "ruby-sqlite3", "puma"),
        ("/usr/share/redmine/config/environment.rb", "/usr/bin/puma", "/usr/lib/ruby/vendor_ruby/sqlite3.rb"),
    ),
    "files": Program(module="copyparty"),
    "git": Program(("fcgiwrap", "git"), ("/usr/sbin/fcgiwrap", "/usr/lib/git-core/git-http-backend")),
    "calendar": Program(module="radicale"),
}
"""By the names of `worksample.tasks.workplace.PORTS`."""
_FRONT = Program(("nginx-light",), ("/usr/sbin/nginx",))


def lacking(names: Iterable[str]) -> str:
    """What these services need and this machine has not, as the line to type; "" where nothing lacks."""
    programs = [_FRONT, *(SERVICES[name] for name in names)]
    debian = [
        p
        for one in programs
        if not all(any(Path("/").glob(place.lstrip("/"))) for place in one.there)
        for p in one.debian
    ]
    lines = [f"sudo apt-get install -y --no-install-recommends {' '.join(debian)}"] if debian else []
    if any(one.module and importlib.util.find_spec(one.module) is None for one in programs):
        lines.append("pip install 'worksample[workplace]'")
    return " && ".join(lines)


def require(names: Iterable[str]) -> None:
    """SandboxUnavailable with the line to type where a program is missing."""
    if line := lacking(names):
        raise SandboxUnavailable("programs of the workplace are missing", where="workplace", next=line)


def libraries(names: Iterable[str]) -> Path:
    """The folder of Python packages that the services' box is given."""
    from worksample.sandboxes.toolbox import library_folder

    return library_folder(tuple(sorted(SERVICES[name].module for name in names if SERVICES[name].module)), LIBRARY)


LIBRARY = "/task/service/python"


def versions(names: Iterable[str]) -> str:
    """What decides a state that these services make, besides the company: their versions, and our own programs."""
    programs = [SERVICES[name] for name in sorted(names)]
    packages = sorted({package for one in programs for package in one.debian})
    modules = [f"{one.module}=={importlib.metadata.version(one.module)}" for one in programs if one.module]
    return "\n".join([*_installed(tuple(packages)), *modules, _own()])


def _installed(packages: tuple[str, ...]) -> list[str]:
    if not packages:
        return []
    asked = ["dpkg-query", "-W", "-f", "${Package}=${Version}\n", *packages]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError:
        return ["no dpkg"]
    return sorted(done.stdout.split())


@functools.cache
def _own() -> str:
    """Digest of our programs in the box."""
    digest = hashlib.sha256()
    for path in sorted(path for path in PROGRAMS.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(PROGRAMS)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()
