"""The programs of web pages: files of npm packages that a workplace serves. They are downloaded and not part of the
platform.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from worksample.agents.installing.install_result import run_installer
from worksample.agents.installing.npm import node_folder
from worksample.errors import InstallError, SandboxUnavailable
from worksample.files.scratch_folder import scratch_folder
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import make_once


@dataclass(frozen=True, slots=True)
class PageLibrary:
    """An npm package with files of a web page. `service` is the service whose page needs them."""

    package: str
    version: str
    service: str
    folder: str = ""
    """Folder of the package whose files are served."""
    files: tuple[str, ...] = ()
    """The files that are served; if empty, all except `left_out`."""
    left_out: tuple[str, ...] = ()
    """Ends of the names of files that are not served."""

    @property
    def name(self) -> str:
        """Name of the folder in the services' box."""
        return self.package.removesuffix(".js")

    def path(self) -> Path | None:
        """Return the folder with the files, or None if they have not been downloaded."""
        folder = self._place()
        return folder if folder.is_dir() else None

    def fetch(self) -> Path:
        """Download the package from the registry that npm is configured for, and return the folder of its files. Raises
        SandboxUnavailable if that fails.
        """
        return make_once(self._place(), self._fill)

    def _place(self) -> Path:
        return cache_folder() / f"{self.name}-{self.version}"

    def _fill(self, folder: Path) -> None:
        with scratch_folder(self.name) as made:
            try:
                node = node_folder()
                npm = node / "lib/node_modules/npm/bin/npm-cli.js"
                words = [str(node / "bin/node"), str(npm), "pack", "--silent", f"{self.package}@{self.version}"]
                run_installer(words, made, f"{self.package} {self.version}")
            except InstallError as error:
                raise SandboxUnavailable(error.what, where="workplace", next=error.next) from error
            [archive] = made.glob("*.tgz")
            self.unpack(archive, folder)

    def unpack(self, archive: Path, folder: Path) -> None:
        """Extract the served files of an archive. `tarfile` filters are not used, because they came with Python 3.11.4
        and Debian 12 has Python 3.11.2.
        """
        beginning = f"package/{self.folder}"
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.removeprefix(beginning)
                wanted = name in self.files if self.files else not member.name.endswith(self.left_out)
                kept = member.isfile() and name != member.name and wanted
                source = tar.extractfile(member) if kept else None
                if source is None or ".." in Path(name).parts or Path(name).is_absolute():
                    continue
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with source, target.open("wb") as out:
                    shutil.copyfileobj(source, out)


LIBRARIES = (
    # MPL-2.0: the chat's page.
    PageLibrary(
        "converse.js", "14.0.0", "chat", "dist/",
        left_out=(".map", "/converse.js", "/converse.css", "/website.css", "/website.min.css"),
    ),
    # MIT and MPL-2.0: the calendar's page, and what reads and writes its events.
    PageLibrary("fullcalendar", "6.1.21", "calendar", files=("index.global.min.js",)),
    PageLibrary("ical.js", "2.2.1", "calendar", "dist/", ("ical.min.js",)),
)  # fmt: skip


def libraries_of(names: Iterable[str]) -> tuple[PageLibrary, ...]:
    """Return the libraries that the pages of these services need."""
    given = set(names)
    return tuple(one for one in LIBRARIES if one.service in given)
