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

from .converse_js import converse_folder
from .redmine import redmine_folder

PROGRAMS = Path(__file__).parent / "in_box"
"""What runs in the services' box."""
LIBRARY = "/task/service/python"
"""Where that box has the services that are Python's."""
INSTALL = "worksample workplace install"
_RUBY = """ruby ruby-actionpack-action-caching ruby-actionpack-xml-parser ruby-addressable ruby-bundler ruby-coderay
ruby-commonmarker ruby-task-list ruby-html-pipeline ruby-i18n ruby-jquery-rails ruby-mail ruby-marcel
ruby-mini-magick ruby-mini-mime ruby-net-ldap ruby-nokogiri ruby-rack ruby-rails ruby-rails-dom-testing
ruby-rails-observers ruby-rbpdf ruby-redcarpet ruby-request-store ruby-roadie ruby-roadie-rails ruby-rotp ruby-rouge
ruby-rqrcode ruby-sanitize ruby-zip ruby-sqlite3 puma libjs-chart.js libjs-jquery libjs-jquery-ui libjs-raphael"""
"""What Debian's Redmine depends on, without what sets up its database, its tests' library and pictures of charts."""


@dataclass(frozen=True, slots=True)
class ServiceProgram:
    """One service."""

    debian: tuple[str, ...] = ()
    """Packages. None of them starts a service of its own that we need, and ours need none."""
    module: str = ""
    """Of a distribution of the same name, from the extra `workplace`."""
    keeps: str = ""
    """The package, distribution or `redmine` whose version decides how its state is laid out; "": none does."""
    digits: int = 2
    """Of that version: how many numbers change only with the layout."""


SERVICES: dict[str, ServiceProgram] = {
    "chat": ServiceProgram(("prosody", "lua-dbi-sqlite3"), keeps="prosody"),
    "tracker": ServiceProgram(tuple(_RUBY.split()), keeps="redmine"),
    "files": ServiceProgram(module="copyparty"),
    "git": ServiceProgram(("fcgiwrap", "git")),
    "calendar": ServiceProgram(module="radicale", keeps="radicale", digits=1),
}
"""By the names of `worksample.tasks.workplace.PORTS`."""
_FRONT = ServiceProgram(("nginx-light",))


def packages(names: Iterable[str]) -> tuple[str, ...]:
    """Debian's packages that these services need."""
    programs = [_FRONT, *(SERVICES[name] for name in names)]
    return tuple(dict.fromkeys(package for one in programs for package in one.debian))


def missing_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Those of Debian's packages that this machine has not."""
    wanted = packages(names)
    have = _installed_packages(wanted)
    return tuple(package for package in wanted if package not in have)


def missing_programs_command(names: Iterable[str]) -> str:
    """The line to type where this machine has not all that these services need; "" where nothing lacks."""
    given = tuple(names)
    modules = [SERVICES[name].module for name in given if SERVICES[name].module]
    lines = []
    if any(importlib.util.find_spec(module) is None for module in modules):
        lines.append("pip install 'worksample[workplace]'")
    fetched = {"tracker": redmine_folder, "chat": converse_folder}
    if missing_packages(given) or any(fetched[name]() is None for name in given if name in fetched):
        lines.append(INSTALL)
    return " && ".join(lines)


def require_programs(names: Iterable[str]) -> None:
    """SandboxUnavailable with the line to type where a program is missing."""
    if line := missing_programs_command(names):
        raise SandboxUnavailable("programs of the workplace are missing", where="workplace", next=line)


def python_folder(names: Iterable[str]) -> Path:
    """The folder of Python packages that the services' box is given."""
    from worksample.sandboxes.toolbox import library_folder

    return library_folder(tuple(sorted(SERVICES[name].module for name in names if SERVICES[name].module)), LIBRARY)


def versions(names: Iterable[str]) -> str:
    """What decides a state that these services make, besides the company: their versions, and our own programs."""
    given = sorted(names)
    modules = [
        f"{name}=={importlib.metadata.version(name)}" for name in (SERVICES[one].module for one in given) if name
    ]
    debian = [f"{package}={version}" for package, version in sorted(_installed_packages(packages(given)).items())]
    tracker = [folder.name] if "tracker" in given and (folder := redmine_folder()) is not None else []
    return "\n".join([*debian, *modules, *tracker, _programs_digest()])


def version_lines(names: Iterable[str]) -> dict[str, str]:
    """Service -> the line of versions that share its state: what one of them left the others can begin with.

    Security updates stay in their line. A service whose state is plain files, or git's, has none.
    """
    found = {}
    for name in names:
        one = SERVICES[name]
        if one.keeps == "redmine":
            folder = redmine_folder()
            version = folder.name.removeprefix("redmine-") if folder is not None else ""
        elif one.module:
            version = importlib.metadata.version(one.module)
        else:
            version = _installed_packages((one.keeps,)).get(one.keeps, "") if one.keeps else ""
        found[name] = f"{one.keeps} {'.'.join(version.split('.')[: one.digits])}" if one.keeps else name
    return found


def _installed_packages(wanted: tuple[str, ...]) -> dict[str, str]:
    """Package -> version."""
    asked = ["dpkg-query", "-W", "-f", "${Package} ${Version} ${db:Status-Status}\n", *wanted]
    try:
        done = subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=60, encoding="utf-8", errors="replace"
        )
    except FileNotFoundError:
        return {}
    lines = [line.split() for line in done.stdout.splitlines()]
    return {line[0]: line[1] for line in lines if len(line) == 3 and line[2] == "installed"}


@functools.cache
def _programs_digest() -> str:
    """Digest of our programs in the box."""
    digest = hashlib.sha256()
    for path in sorted(path for path in PROGRAMS.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(PROGRAMS)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()
