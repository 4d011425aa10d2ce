"""Download of the toolbox's libraries from a package index, if the platform's own environment lacks some of them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.extras import install_command

from .guarded_subprocess import run_guarded
from .host_state import cache_folder, runtime_folder

SECONDS = 900
EXTRA = "toolbox"


def requirement_lines(offered: Sequence[str]) -> tuple[str, ...]:
    """Return a requirement line for each offered library. The line names the installed version, or else the versions
    that the platform's own extra allows.
    """
    from packaging.requirements import Requirement

    declared = {r.name: str(r.specifier) for r in map(Requirement, importlib.metadata.requires("worksample") or ())}
    return tuple(f"{name}{_installed_version(name) or declared.get(name, '')}" for name in offered)


def download(lines: Sequence[str], packages: Path) -> None:
    """Install the required libraries with their dependencies into the folder `packages`. Raises SandboxUnavailable,
    with the command to type, if that fails.
    """
    words = [*installer(), "--quiet", "--target", str(packages), *lines]
    try:
        done = run_guarded(words, SECONDS, env=_environment())
        said = (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said:
        raise _download_error(" ".join(said.split())[-300:])
    shutil.rmtree(packages / "bin", ignore_errors=True)


def _installed_version(name: str) -> str:
    try:
        return f"=={importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def _environment() -> dict[str, str]:
    """Return the environment variables for the installer. If the home folder is not writable, uv's cache lies beside
    the platform's cache.
    """
    ours = cache_folder()
    return {**os.environ, **({"UV_CACHE_DIR": str(ours / "uv")} if ours.is_relative_to(runtime_folder()) else {})}


def installer() -> list[str]:
    """Return the command of uv or pip. Raises SandboxUnavailable, with the command to type, if neither is installed."""
    if uv := find_uv():
        return [uv, "pip", "install", "--python", sys.executable]
    if pip := find_pip():
        return [*pip, "install"]
    raise _download_error("neither uv nor pip is installed")


def find_uv() -> str:
    """Return the path of uv: the program named by $UV, or on the PATH, or beside the platform's Python. Return "" if
    none of them exists.
    """
    beside = Path(sys.executable).with_name("uv")
    return os.environ.get("UV") or shutil.which("uv") or (str(beside) if beside.exists() else "")


def find_pip() -> list[str]:
    """Return the command of pip, or else of the pip that is bundled with Python. Return an empty list if neither
    exists.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    spec = importlib.util.find_spec("ensurepip")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for wheel in sorted(Path(folder, "_bundled").glob("pip-*.whl")):
            return [sys.executable, f"{wheel}/pip"]
    return []


def _download_error(why: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the Python libraries for agents cannot be downloaded: {why}",
        where="python toolbox",
        next=install_command(EXTRA),
    )
