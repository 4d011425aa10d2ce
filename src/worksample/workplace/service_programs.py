"""The programs of a workplace's services: what each service needs on this machine, and the command that installs
missing programs.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.extras import install_command

from .page_libraries import libraries_of
from .redmine import redmine_folder

PROGRAMS = Path(__file__).parent / "in_box"
"""Folder with the platform's own programs that run in the services' box."""
LIBRARY = "/task/service/python"
"""Path in the services' box of the folder with the Python packages of services."""
INSTALL = "worksample workplace install"
_RUBY = """ruby ruby-actionpack-action-caching ruby-actionpack-xml-parser ruby-addressable ruby-bundler ruby-coderay
ruby-commonmarker ruby-task-list ruby-html-pipeline ruby-i18n ruby-jquery-rails ruby-mail ruby-marcel
ruby-mini-magick ruby-mini-mime ruby-net-ldap ruby-nokogiri ruby-rack ruby-rails ruby-rails-dom-testing
ruby-rails-observers ruby-rbpdf ruby-redcarpet ruby-request-store ruby-roadie ruby-roadie-rails ruby-rotp ruby-rouge
ruby-rqrcode ruby-sanitize ruby-zip ruby-sqlite3 puma libjs-chart.js libjs-jquery libjs-jquery-ui libjs-raphael"""
"""Debian packages on which Debian's Redmine depends. The packages for its database setup, its tests and images of
charts are left out.
"""


@dataclass(frozen=True, slots=True)
class ServiceProgram:
    """The programs that one service of a workplace needs."""

    debian: tuple[str, ...] = ()
    """Debian packages of the service. The system services that these packages might start are not needed."""
    python: tuple[str, ...] = ()
    """Python distributions of the service, from the extra `workplace`."""
    keeps: str = ""
    """The Debian package, the Python distribution, or `redmine`, whose version determines the layout of the service's
    state. "" if no version determines it.
    """
    digits: int = 2
    """How many leading numbers of the version identify the layout of the service's state. Changes of later numbers do
    not change the layout.
    """


SERVICES: dict[str, ServiceProgram] = {
    "chat": ServiceProgram(("prosody", "lua-dbi-sqlite3"), keeps="prosody"),
    "tracker": ServiceProgram(tuple(_RUBY.split()), keeps="redmine"),
    "files": ServiceProgram(python=("copyparty",)),
    "git": ServiceProgram(("fcgiwrap", "git"), ("jinja2", "markdown-it-py", "pygments")),
    "calendar": ServiceProgram(python=("radicale",), keeps="radicale", digits=1),
}
"""Name of a service, as in `worksample.tasks.workplace_settings.PORTS` -> the programs that this service needs."""
FONTS = ("fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji")
"""Debian packages with the letters and pictures of people's messages. They are installed with the services; a workplace
works without them, but a screenshot then shows boxes.
"""
_FRONT = ServiceProgram(("nginx-light", "libfaketime"))


def packages(names: Iterable[str]) -> tuple[str, ...]:
    """Return the Debian packages that these services need."""
    programs = [_FRONT, *(SERVICES[name] for name in names)]
    return tuple(dict.fromkeys(package for one in programs for package in one.debian))


def missing_fonts() -> tuple[str, ...]:
    """Return the packages of fonts that this machine lacks."""
    have = _installed_packages(FONTS)
    return tuple(package for package in FONTS if package not in have)


def missing_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Return the Debian packages that these services need and this machine lacks."""
    wanted = packages(names)
    have = _installed_packages(wanted)
    return tuple(package for package in wanted if package not in have)


def missing_python(names: Iterable[str]) -> tuple[str, ...]:
    """Return the Python distributions that these services need and this environment lacks."""
    return tuple(one for name in names for one in SERVICES[name].python if not _is_installed(one))


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def missing_programs(names: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements of these services that this machine lacks: Debian packages, Python modules, and
    downloads.
    """
    given = tuple(names)
    return (
        *missing_packages(given),
        *missing_python(given),
        *(one.package for one in libraries_of(given) if one.path() is None),
        *(("redmine",) if "tracker" in given and redmine_folder() is None else ()),
    )


def missing_programs_command(names: Iterable[str]) -> str:
    """Return the command that installs what these services lack on this machine, or "" if nothing is missing."""
    given = tuple(names)
    lines = []
    if missing_python(given):
        lines.append(install_command("workplace"))
    if set(missing_programs(given)) - set(missing_python(given)):
        lines.append(INSTALL)
    return " && ".join(lines)


def require_programs(names: Iterable[str]) -> None:
    """Raise SandboxUnavailable, with the command to type, if a program of these services is missing."""
    names = tuple(names)
    if line := missing_programs_command(names):
        lacking = ", ".join(missing_programs(names))
        what = f"programs of the workplace's services are missing: {lacking}"
        raise SandboxUnavailable(what, where="workplace", next=line)


def python_folder(names: Iterable[str]) -> Path:
    """Return the folder of Python packages for the services' box."""
    from worksample.sandboxes.python_toolbox import library_folder

    return library_folder(tuple(sorted({one for name in names for one in SERVICES[name].python})), LIBRARY)


def versions(names: Iterable[str]) -> str:
    """Return a text with everything besides the company that determines a state: the services' versions and the
    platform's own programs.
    """
    given = sorted(names)
    modules = [f"{name}=={importlib.metadata.version(name)}" for one in given for name in SERVICES[one].python]
    debian = [f"{package}={version}" for package, version in sorted(_installed_packages(packages(given)).items())]
    tracker = [folder.name] if "tracker" in given and (folder := redmine_folder()) is not None else []
    return "\n".join([*debian, *modules, *tracker, _programs_digest()])


def version_lines(names: Iterable[str]) -> dict[str, str]:
    """Return, for each service, the line of versions that can use the same state.

    Security updates do not change the line. A service has no line if its state consists of plain files or of git
    repositories.
    """
    found = {}
    for name in names:
        one = SERVICES[name]
        if one.keeps == "redmine":
            folder = redmine_folder()
            version = folder.name.removeprefix("redmine-") if folder is not None else ""
        elif one.keeps in one.python:
            version = importlib.metadata.version(one.keeps)
        else:
            version = _installed_packages((one.keeps,)).get(one.keeps, "") if one.keeps else ""
        found[name] = f"{one.keeps} {'.'.join(version.split('.')[: one.digits])}" if one.keeps else name
    return found


def _installed_packages(wanted: tuple[str, ...]) -> dict[str, str]:
    """Return name -> version for those of the `wanted` Debian packages that are installed."""
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
    """Return the digest of the platform's own programs that run in the services' box."""
    digest = hashlib.sha256()
    for path in sorted(path for path in PROGRAMS.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(PROGRAMS)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()
