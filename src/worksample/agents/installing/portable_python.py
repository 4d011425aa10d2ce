"""Copy of this machine's Python that works in any box. Programs that are installed from PyPI run on it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once

from . import shared_libraries
from .agent_program import INTERPRETER

_LEFT_OUT = ("site-packages", "dist-packages", "test", "idlelib", "turtledemo", "ensurepip", "config-*", "__pycache__")
_NO_WINDOWS = ("tkinter", "_tkinter*", "turtle.py")
_ASKED = """
import json, sys, sysconfig
prefix = sys.base_prefix
places = sorted({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
library = sysconfig.get_config_var("INSTSONAME") if sysconfig.get_config_var("Py_ENABLE_SHARED") else ""
print(json.dumps([prefix, places, library or "", sysconfig.get_config_var("LIBDIR") or "", sys.version]))
"""


def folder_of(python: Path) -> Path:
    """Return the folder with the copy of a Python (`bin` and the standard library), and create the copy if it is
    missing.

    Packages that are installed in this Python are not copied, so that a program has only the packages of its own
    virtual environment.
    """
    said = subprocess.run(
        [str(python), "-I", "-c", _ASKED],
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        errors="replace",
    ).stdout
    prefix, places, library, beside, version = json.loads(said)
    key = hashlib.sha256("\n".join([str(python), version, prefix, shared_libraries.glibc()]).encode()).hexdigest()[:24]

    def fill(folder: Path) -> None:
        (folder / "bin").mkdir()
        shutil.copy2(python, folder / "bin" / python.name)
        for place in places:
            shutil.copytree(
                place,
                folder / Path(place).relative_to(prefix),
                ignore=shutil.ignore_patterns(*_LEFT_OUT, *_NO_WINDOWS),
                dirs_exist_ok=True,
                ignore_dangling_symlinks=True,
            )
        if library:
            (folder / shared_libraries.SHARED).mkdir()
            shutil.copy2(Path(beside) / library, folder / shared_libraries.SHARED / library)
        shared_libraries.relink(folder)

    return make_once(cache_folder() / f"interpreter-{key}", fill)


def use_copied_python(environment: Path, python: Path) -> None:
    """Change a virtual environment so that it uses the copied Python, at the path that the copy has in a box."""
    link = environment / "bin" / "python"
    for path in (environment / "bin").iterdir():
        if path.is_symlink() and path.name.startswith("python"):
            path.unlink()
            path.symlink_to("python")
    link.unlink(missing_ok=True)
    link.symlink_to(f"{INTERPRETER}/bin/{python.name}")
    config = environment / "pyvenv.cfg"
    lines = [line for line in config.read_text(encoding="utf-8").splitlines() if not line.startswith(("home", "exec"))]
    config.write_text("\n".join([f"home = {INTERPRETER}/bin", *lines]) + "\n", encoding="utf-8")
