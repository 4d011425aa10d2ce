"""Installation from PyPI, in a virtual environment for each program. It uses uv if uv is available, and otherwise
pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from worksample.errors import InstallError
from worksample.sandboxes.python_toolbox import base_folders, base_python
from worksample.sandboxes.toolbox_download import find_pip, find_uv

from . import portable_python as python_copy
from . import shared_libraries
from .agent_program import PyPI
from .install_result import InstallResult, run_installer

NEWEST = (3, 13)
"""Newest Python version that is used for installed programs."""


def install(source: PyPI, version: str, folder: Path, path: str = "") -> InstallResult:
    """Install a package with its dependencies in a virtual environment at `folder`. `path` is a folder, wheel or
    archive from which the package itself comes. Raises InstallError if the installation fails, or if the path holds
    another package.
    """
    python, number = python_of(source)
    wanted = path or (f"{source.package}=={version}" if version else source.package)
    run_installer([str(python), "-m", "venv", "--without-pip", str(folder)], folder.parent, "a virtual environment")
    inside = str(folder / "bin/python")
    if uv := find_uv():
        words = [uv, "pip", "install", "--compile-bytecode", "--python", inside]
    else:
        words = [*_pip(), "--python", inside, "install"]
    run_installer([*words, wanted, *source.also], folder.parent, wanted)
    packages = _packages(folder)
    if source.package not in packages:
        raise InstallError(f"{wanted} is not the package {source.package}", where=wanted, next="name another path")
    if shared_libraries.loader():
        python_copy.use_copied_python(folder, python)
        copy = str(python_copy.folder_of(python))
        return InstallResult(packages[source.package], packages, f"python {number}", python=copy)
    prefix = str(python.parent.parent)
    shown = prefix == "/usr" or any(prefix == one or prefix.startswith(f"{one}/") for one in base_folders())
    return InstallResult(packages[source.package], packages, f"python {number}", python="" if shown else prefix)


def install_files(folder: Path, requirement: str) -> None:
    """Install the files of one package, without its dependencies, into a plain folder. Raises InstallError if the
    installation fails.
    """
    folder.mkdir()
    uv = find_uv()
    tool = [uv, "pip"] if uv else _pip()
    run_installer([*tool, "install", "--no-deps", "--target", str(folder), requirement], folder, requirement)


def python_of(source: PyPI) -> tuple[Path, str]:
    """Return the real path and the version of a Python on this machine that the package supports. Raises InstallError
    if this machine has none.
    """
    for path in _pythons():
        said = subprocess.run(
            [str(path), "-c", "import sys, venv; print(*sys.version_info[:3]); print(sys._base_executable)"],
            capture_output=True,
            text=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
        if said.returncode == 0:
            version, real = said.stdout.splitlines()
            if source.python <= tuple(map(int, version.split()[:2])) <= NEWEST:
                return Path(real).resolve(), version.replace(" ", ".")
    least = ".".join(map(str, source.python))
    raise InstallError(
        f"{source.package} needs Python {least} or newer, and this machine has none",
        where="PATH, pyenv and uv were looked at",
        next=f"uv python install {least}",
    )


def _pythons() -> Iterator[Path]:
    yield base_python()
    names = [f"python{major}.{minor}" for major, minor in ((3, 12), (3, 13), (3, 11))]
    yield from (Path(found) for name in names if (found := shutil.which(name)))
    homes = (os.environ.get("PYENV_ROOT", "~/.pyenv") + "/versions", "~/.local/share/uv/python")
    for home in homes:
        for name in names:
            yield from sorted(Path(home).expanduser().glob(f"*/bin/{name}"))


def _pip() -> list[str]:
    pip = find_pip()
    if not pip:
        raise InstallError(
            "the agent cannot be installed: neither uv nor pip is available",
            where=sys.executable,
            next="apt-get install python3-venv, or put uv on the path (docs/how-to/choose-an-agent.md)",
        )
    return pip


def _packages(folder: Path) -> dict[str, str]:
    from importlib.metadata import distributions

    (site,) = folder.glob("lib/python*/site-packages")
    found = distributions(path=[str(site)])
    return dict(sorted((one.metadata["Name"].lower().replace("_", "-"), one.version) for one in found))
