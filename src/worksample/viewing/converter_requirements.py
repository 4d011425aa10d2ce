"""Programs and libraries that the converters require, as Debian packages and Python distributions."""

from __future__ import annotations

import functools
import importlib.metadata
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from worksample.extras import install_command
from worksample.sudo_command import root_command


@dataclass(frozen=True, slots=True)
class Need:
    """A program or library that a converter requires. `program` must be on the PATH. `file` must exist. `module` is a
    Python distribution of the extra `viewers`. `debian` lists the packages that provide the program.
    """

    title: str
    program: str = ""
    file: str = ""
    debian: tuple[str, ...] = ()
    module: str = ""
    version: tuple[str, ...] = ()
    """Command that prints the version of the program."""

    @property
    def line(self) -> str:
        """The command that installs the program or library."""
        return _install_command(self.debian, extra=bool(self.module))


def _install_command(debian: Iterable[str], *, extra: bool) -> str:
    lines = []
    if packages := tuple(dict.fromkeys(debian)):
        lines.append(root_command(f"apt-get install -y --no-install-recommends {' '.join(packages)}"))
    if extra:
        lines.append(install_command("viewers"))
    return " && ".join(lines)


NEEDS: dict[str, Need] = {
    "libreoffice": Need(
        "LibreOffice",
        program="soffice",
        debian=("libreoffice-calc", "libreoffice-writer", "libreoffice-impress"),
        # Running the program takes a second and creates a profile.
        version=("dpkg-query", "-W", "-f", "${Version}", "libreoffice-core"),
    ),
    "ffmpeg": Need("ffmpeg", program="ffmpeg", debian=("ffmpeg",), version=("ffmpeg", "-version")),
    "fluidsynth": Need(
        "FluidSynth", program="fluidsynth", debian=("fluidsynth", "timgm6mb-soundfont"), version=("fluidsynth", "-V")
    ),
    "soundfont": Need(
        "a General MIDI soundfont", file="/usr/share/sounds/sf2/TimGM6mb.sf2", debian=("timgm6mb-soundfont",)
    ),
    "poppler": Need("poppler", program="pdfinfo", debian=("poppler-utils",), version=("pdfinfo", "-v")),
    "pandoc": Need("pandoc", program="pandoc", debian=("pandoc",), version=("pandoc", "--version")),
    "bsdtar": Need("bsdtar", program="bsdtar", debian=("libarchive-tools",), version=("bsdtar", "--version")),
    "psd-tools": Need("psd-tools", module="psd-tools"),
    "ezdxf": Need("ezdxf", module="ezdxf"),
    "ezdwg": Need("ezdwg", module="ezdwg"),
    "pikepdf": Need("pikepdf", module="pikepdf"),
    "mido": Need("mido", module="mido"),
    "olefile": Need("olefile", module="olefile"),
    "openskp": Need("openskp", module="openskp"),
    "pygments": Need("Pygments", module="pygments"),
    "markdown-it-py": Need("markdown-it-py", module="markdown-it-py"),
    "zstandard": Need("zstandard", module="zstandard"),
    "pillow": Need("Pillow", module="pillow"),
    "openpyxl": Need("openpyxl", module="openpyxl"),
}
FONTS = ("fonts-liberation", "fonts-crosextra-carlito", "fonts-crosextra-caladea", "fonts-noto-core", "fonts-noto-cjk")
"""Debian packages of fonts. Without these fonts, office documents have a different layout than on their author's
machine.
"""
DEBIAN = tuple(dict.fromkeys([p for need in NEEDS.values() for p in need.debian] + list(FONTS)))
"""All Debian packages that viewers can use."""
_NUMBER = re.compile(r"\d+(?:\.\d+)+")


@functools.cache
def version(name: str) -> str | None:
    """Return the installed version of a requirement, "" if it has no version, or None if it is not installed."""
    need = NEEDS[name]
    if need.module:
        try:
            return importlib.metadata.version(need.module)
        except importlib.metadata.PackageNotFoundError:
            return None
    if (need.program and not shutil.which(need.program)) or (need.file and not Path(need.file).exists()):
        return None
    if not need.version:
        return ""
    try:
        done = subprocess.run(
            need.version, capture_output=True, text=True, timeout=600, check=False, encoding="utf-8", errors="replace"
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    found = _NUMBER.search(done.stdout + done.stderr)
    return found.group() if found else ""


def name_with_version(name: str) -> str:
    """Return the name and version of a requirement, such as "LibreOffice 7.4.7"."""
    return f"{NEEDS[name].title} {version(name) or ''}".strip()


def install_line(names: Iterable[str]) -> str:
    """Return the commands that install all named requirements, one command per installer. Return "" if no name is
    given.
    """
    wanted = [NEEDS[name] for name in names]
    return _install_command(
        (package for need in wanted for package in need.debian), extra=any(need.module for need in wanted)
    )


def missing(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if version(name) is None]
