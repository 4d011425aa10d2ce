"""Python in a box: the base interpreter, and for agents a folder of common libraries (the toolbox) without the
platform.

The platform's own Python environment contains suites and other benchmarks with their references, so the Python of an
agent must never see that environment. The toolbox is a separate virtual environment. It contains the files of a few
distributions and their dependencies; it is created once and shared by all boxes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from worksample.errors import SandboxUnavailable
from worksample.sandboxes.shared_folders import make_once

from .host_state import cache_folder
from .toolbox_download import download, requirement_lines

OFFERED = ("numpy", "polars", "openpyxl", "pillow", "matplotlib", "defusedxml", "ipython")
"""Distributions that the toolbox offers to agents. Only these and their dependencies are copied from the platform's
environment.
"""
MODULES = {"pillow": "PIL", "ipython": "IPython"}
"""Name of a distribution -> its import name, for distributions whose two names differ."""
TARGET = "/opt/worksample/python"
_SECRET = ("worksample", "inspect_evals", "inspect_ai")
_VERSION = "2"
DOWNLOAD_SIZE = "about 430 MB, once per machine (or install worksample[toolbox])"


def base_python() -> Path:
    """Return the real path of the interpreter on which the platform's virtual environment is based."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def platform_python() -> str:
    """Return the path of the platform's own interpreter as a box sees it. The path contains no `..` and no linked
    folders, because a box does not have these.

    The program itself remains a link, because Python finds its environment by the link's location.
    """
    path = Path(sys.executable)
    return str(path.parent.resolve() / path.name) if sys.executable else str(base_python())


@functools.cache
def distributions(offered: tuple[str, ...] = OFFERED) -> tuple[importlib.metadata.Distribution, ...]:
    """Return the offered distributions and their installed dependencies, sorted by name."""
    from packaging.requirements import Requirement

    found: dict[str, importlib.metadata.Distribution] = {}
    queue = list(offered)
    while queue:
        name = re.sub(r"[-_.]+", "-", queue.pop()).lower()
        if name in found or name in ("worksample", "inspect-ai", "inspect-evals"):
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[name] = distribution
        for line in distribution.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                queue.append(requirement.name)
    return tuple(found[name] for name in sorted(found))


def missing_libraries() -> tuple[str, ...]:
    """Return the offered libraries that the platform's environment lacks. If any is missing, all libraries are
    downloaded, so that their versions fit together.
    """
    return tuple(name for name in OFFERED if importlib.util.find_spec(MODULES.get(name, name)) is None)


def needs_download() -> bool:
    """Return whether the toolbox's libraries must be downloaded from a package index."""
    return bool(missing_libraries()) and not _download_folder().is_dir()


def ensure_libraries(note: Callable[[str], None]) -> None:
    """Download missing libraries of the toolbox before the first trial, because every trial would fail without them.

    Raises SandboxUnavailable, with the command to type, if the download fails.
    """
    if needs_download():
        note(f"downloading the Python libraries for agents: {DOWNLOAD_SIZE}")
        toolbox_folder()


def _download_folder() -> Path:
    key = "\n".join([_VERSION, str(base_python()), sys.version, "fetched", *requirement_lines(OFFERED)])
    return cache_folder() / f"toolbox-{hashlib.sha256(key.encode()).hexdigest()[:24]}"


@functools.cache
def toolbox_folder() -> Path:
    """Return the toolbox for the platform's environment and the versions of its libraries. Create the toolbox if it is
    missing.
    """
    if missing_libraries():
        return make_once(_download_folder(), _fill)
    chosen = distributions()
    names = [f"{distribution.metadata['Name']}=={distribution.version}" for distribution in chosen]
    key = "\n".join([_VERSION, str(base_python()), sys.version, *names])
    return make_once(cache_folder() / f"toolbox-{hashlib.sha256(key.encode()).hexdigest()[:24]}", _fill)


def _fill(folder: Path) -> None:
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / python / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    for name in ("python", "python3", python):
        (folder / "bin" / name).symlink_to(base_python())
    config = (
        f"home = {base_python().parent}\ninclude-system-site-packages = false\nversion = {sys.version.split()[0]}\n"
    )
    (folder / "pyvenv.cfg").write_text(config, encoding="utf-8")
    (folder / "site-packages").symlink_to(f"lib/{python}/site-packages")
    if missing_libraries():
        download(requirement_lines(OFFERED), packages)
        chosen = tuple(importlib.metadata.distributions(path=[str(packages)]))
    else:
        chosen = distributions()
        for distribution in chosen:
            _copy(distribution, packages)
    for distribution in chosen:
        for entry in distribution.entry_points:
            if entry.group == "console_scripts":
                _script(folder / "bin" / entry.name, entry)
    _compile(folder, packages)


def library_folder(names: tuple[str, ...], target: str) -> Path:
    """Return a folder for `sys.path` with the named distributions and their dependencies, and nothing else of the
    platform's environment. Create the folder if it is missing.

    `target` is the path of the folder in the box. The caller must check that the distributions are installed.
    """
    chosen = distributions(names)
    listed = [f"{distribution.metadata['Name']}=={distribution.version}" for distribution in chosen]
    key = "\n".join([_VERSION, str(base_python()), sys.version, target, *listed])

    def fill(folder: Path) -> None:
        for distribution in chosen:
            _copy(distribution, folder)
        _compile(folder, folder, target)

    return make_once(cache_folder() / f"library-{hashlib.sha256(key.encode()).hexdigest()[:24]}", fill)


def _compile(folder: Path, packages: Path, target: str = TARGET) -> None:
    """Compile the Python modules of the folder, because boxes cannot: their Python folder is read-only. Tracebacks show
    the paths of the files in the box.
    """
    import compileall
    import py_compile

    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(
        str(packages), quiet=2, workers=2, invalidation_mode=mode, stripdir=str(folder), prependdir=target
    )


def _copy(distribution: importlib.metadata.Distribution, packages: Path) -> None:
    if distribution.files is None:
        raise SandboxUnavailable(
            f"{distribution.metadata['Name']} was installed without a list of its files",
            where="python toolbox",
            next=f"pip install --force-reinstall {distribution.metadata['Name']}",
        )
    top = Path(str(distribution.locate_file(""))).resolve()
    for file in distribution.files:
        source = Path(os.path.normpath(str(distribution.locate_file(file))))
        if not source.is_relative_to(top) or not source.is_file() or source.suffix == ".pth":
            continue  # scripts beside the environment, and files that would run at every start
        target = packages / source.relative_to(top)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            _link(source, target)


def _link(source: Path, target: Path) -> None:
    """Create a hard link if everyone may read the file and it is on the same disk as the target. Otherwise create a
    copy.
    """
    if source.stat().st_mode & 0o004 and not source.is_symlink():
        try:
            os.link(source, target)
        except OSError:
            pass
        else:
            return
    shutil.copyfile(source, target)


def _script(path: Path, entry: importlib.metadata.EntryPoint) -> None:
    module, _, call = entry.value.partition(":")
    call = call.split("[")[0].strip()
    text = f"#!{TARGET}/bin/python\nimport sys\nfrom {module} import {call.split('.')[0]}\nsys.exit({call}())\n"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@functools.cache
def base_folders() -> tuple[str, ...]:
    """Return the folders that the base interpreter needs. A box has them at the same paths as the host."""
    return tuple(sorted({os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}))


@functools.cache
def platform_folders() -> tuple[str, ...]:
    """Return the folders that the Python of a grader needs in addition to the base interpreter: the platform's
    environment, and the source folder of an editable installation.
    """
    source = Path(__file__).resolve().parents[2]
    libraries = {path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and Path(path).is_dir()}
    named = {str(Path(sys.prefix).absolute()), *libraries}
    # Scripts of the environment may name a linked folder; a path with .. is only used in its resolved form.
    folders = {os.path.realpath(path) for path in named} | {path for path in named if ".." not in Path(path).parts}
    folders.add(str(source))
    return tuple(sorted(folder for folder in folders if not any(_is_below(folder, other) for other in folders)))


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip("/") + "/")


@functools.cache
def masked_folders(shown: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders below `shown` that are covered with empty folders, so that an agent cannot see them: the
    installed libraries of the base interpreter, the platform's environment, and the places where the platform and
    other benchmarks are installed.
    """
    candidates = {os.path.realpath(path) for path in (*sys.path, sysconfig.get_path("purelib")) if path}
    candidates = {path for path in candidates if path.endswith(("site-packages", "dist-packages"))}
    for base in base_folders():
        candidates |= {os.path.realpath(path) for path in Path(base).glob("lib*/python3*/site-packages")}
        candidates |= {os.path.realpath(path) for path in Path(base).glob("lib*/python3*/dist-packages")}
    candidates |= {os.path.realpath(path) for path in Path("/usr/local").glob("lib*/python3*/*-packages")}
    if sys.prefix != sys.base_prefix:
        candidates.add(os.path.realpath(sys.prefix))
    for name in _SECRET:
        spec = importlib.util.find_spec(name)
        if spec is not None:
            candidates |= {os.path.realpath(path) for path in spec.submodule_search_locations or ()}
    candidates = {
        path for path in candidates if any(_is_below(path, folder) for folder in shown) and Path(path).is_dir()
    }
    return tuple(sorted(path for path in candidates if not any(_is_below(path, other) for other in candidates)))
