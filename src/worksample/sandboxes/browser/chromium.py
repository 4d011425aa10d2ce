"""What a browser needs of this machine."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
from pathlib import Path

from worksample.privileged import root_command

BINARY = Path("/usr/lib/chromium/chromium")
"""Debian's, without its script, which would read settings that no box has. The headless shell would take half of the
processor's time, and cannot be told to take an origin without TLS for secure: no chat could be logged in to."""
PACKAGE = "chromium"
NODE_PACKAGE = "libatomic1"
"""What the Node that Playwright brings is linked with, and a bare Debian has not."""
PROGRAMS = Path(__file__).parent / "in_box"
LIBRARY = "/opt/worksample/sandboxes/browser/python"
OWN = "/opt/worksample/sandboxes/browser/chromium"


def missing_browser_command() -> str:
    """The line to type where something is missing; "" where nothing is."""
    lines = []
    if packages := lacking_packages():
        lines.append(root_command(f"apt-get install -y {' '.join(packages)}"))
    if importlib.util.find_spec("playwright") is None:
        lines.append("pip install 'worksample[browser]'")
    return " && ".join(lines)


def lacking_packages() -> tuple[str, ...]:
    """Debian packages that are missing here."""
    linked = any(Path("/usr/lib").glob("*/libatomic.so.1"))
    return (() if BINARY.exists() else (PACKAGE,)) + (() if linked else (NODE_PACKAGE,))


def playwright_folder() -> Path:
    """The folder of Python packages that the driver's box is given: Playwright, and nothing of the platform."""
    from worksample.sandboxes.toolbox import library_folder

    return library_folder(("playwright",), LIBRARY)


@functools.cache
def chromium_version() -> str:
    """Of Chromium, as its package says."""
    asked = ["dpkg-query", "-W", "-f", "${Version}", PACKAGE]
    try:
        return subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=60, encoding="utf-8", errors="replace"
        ).stdout.strip()
    except FileNotFoundError:
        return ""
