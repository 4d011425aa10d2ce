"""Programs from PyPI: a virtual environment each, by uv where it is at hand, else by pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from worksample.errors import InstallError
from worksample.sandboxes.toolbox import base_folders, base_python
from worksample.sandboxes.toolbox_download import find_pip, find_uv

from . import interpreter, libraries
from .define import PyPI
from .install_result import Got, called

NEWEST = (3, 13)
"""The newest Python that programs are installed on."""


def install(source: PyPI, version: str, folder: Path) -> Got:
    """The package and all it needs in a virtual environment at `folder`. InstallError."""
    python, number = python_of(source)
    wanted = f"{source.package}=={version}" if version else source.package
    called([str(python), "-m", "venv", "--without-pip", str(folder)], folder.parent, "a virtual environment")
    inside = str(folder / "bin/python")
    if uv := find_uv():
        words = [uv, "pip", "install", "--compile-bytecode", "--python", inside]
    else:
        words = [*_pip(), "--python", inside, "install"]
    called([*words, wanted, *source.also], folder.parent, wanted)
    packages = _packages(folder)
    if libraries.loader():
        interpreter.settle(folder, python)
        copy = str(interpreter.folder_of(python))
        return Got(packages[source.package], packages, f"python {number}", python=copy)
    prefix = str(python.parent.parent)
    shown = prefix == "/usr" or any(prefix == one or prefix.startswith(f"{one}/") for one in base_folders())
    return Got(packages[source.package], packages, f"python {number}", python="" if shown else prefix)


def into(folder: Path, requirement: str) -> None:
    """One package's files alone, in a plain folder. InstallError."""
    folder.mkdir()
    uv = find_uv()
    tool = [uv, "pip"] if uv else _pip()
    called([*tool, "install", "--no-deps", "--target", str(folder), requirement], folder, requirement)


def python_of(source: PyPI) -> tuple[Path, str]:
    """A Python of this machine that the package takes: its real path and version. InstallError where there is none."""
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
            "there is neither uv nor pip to install it with",
            where=sys.executable,
            next="apt-get install python3-venv, or put uv on the path (docs/harnesses.md)",
        )
    return pip


def _packages(folder: Path) -> dict[str, str]:
    from importlib.metadata import distributions

    (site,) = folder.glob("lib/python*/site-packages")
    found = distributions(path=[str(site)])
    return dict(sorted((one.metadata["Name"].lower().replace("_", "-"), one.version) for one in found))
