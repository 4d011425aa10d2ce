"""The web page of the chat: Converse.js, extracted from its npm package as static files. The package is downloaded and
not part of the platform.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from worksample.agents.installing.install_result import run_installer
from worksample.agents.installing.npm import node_folder
from worksample.errors import InstallError, SandboxUnavailable
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once

VERSION = "14.0.0"
"""Version of Converse.js. The licence of this version is MPL-2.0."""
_LEFT_OUT = (".map", "/converse.js", "/converse.css", "/website.css", "/website.min.css")


def converse_folder() -> Path | None:
    """Return the folder with the files of Converse.js, or None if the files have not been downloaded."""
    folder = cache_folder() / f"converse-{VERSION}"
    return folder if folder.is_dir() else None


def fetch_converse() -> Path:
    """Download Converse.js from the registry that npm is configured for, and return the folder of its files. Raises
    SandboxUnavailable if that fails.
    """
    return make_once(cache_folder() / f"converse-{VERSION}", _fill)


def _fill(folder: Path) -> None:
    with scratch_folder("converse") as made:
        try:
            node = node_folder()
            npm = node / "lib/node_modules/npm/bin/npm-cli.js"
            words = [str(node / "bin/node"), str(npm), "pack", "--silent", f"converse.js@{VERSION}"]
            run_installer(words, made, f"converse.js {VERSION}")
        except InstallError as error:
            raise SandboxUnavailable(error.what, where="workplace", next=error.next) from error
        [archive] = made.glob("*.tgz")
        _unpack(archive, folder)


def _unpack(archive: Path, folder: Path) -> None:
    """Extract the files that the chat serves. `tarfile` filters are not used, because they came with Python 3.11.4 and
    Debian 12 has Python 3.11.2.
    """
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.removeprefix("package/dist/")
            kept = member.isfile() and name != member.name and not member.name.endswith(_LEFT_OUT)
            source = tar.extractfile(member) if kept else None
            if source is None or ".." in Path(name).parts or Path(name).is_absolute():
                continue
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
