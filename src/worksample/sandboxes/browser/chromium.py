"""Chromium and Playwright on this machine: their paths, and the command that installs them."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
from pathlib import Path

from worksample.extras import install_command
from worksample.sudo_command import root_command

BINARY = Path("/usr/lib/chromium/chromium")
"""Debian's Chromium, without its start script, which would read settings that no box has. The headless shell would
halve the processor time, but cannot treat an origin without TLS as secure, so nobody could log in to the chat.
"""
PACKAGE = "chromium"
NODE_PACKAGE = "libatomic1"
"""The library that Playwright's Node is linked with and a bare Debian lacks."""
PROGRAMS = Path(__file__).parent / "in_box"
LIBRARY = "/opt/worksample/sandboxes/browser/python"
OWN = "/opt/worksample/sandboxes/browser/chromium"


def missing_browser_command() -> str:
    """Return the command that installs what is missing, or "" if nothing is."""
    lines = []
    if packages := lacking_packages():
        lines.append(root_command(f"apt-get install -y {' '.join(packages)}"))
    if importlib.util.find_spec("playwright") is None:
        lines.append(install_command("browser"))
    return " && ".join(lines)


def lacking_packages() -> tuple[str, ...]:
    """Return the Debian packages that are missing on this machine."""
    linked = any(Path("/usr/lib").glob("*/libatomic.so.1"))
    return (() if BINARY.exists() else (PACKAGE,)) + (() if linked else (NODE_PACKAGE,))


def playwright_folder() -> Path:
    """Return the folder of Python packages for the driver's box: Playwright and its dependencies, nothing of the
    platform.
    """
    from worksample.sandboxes.python_toolbox import library_folder

    return library_folder(("playwright",), LIBRARY)


@functools.cache
def chromium_version() -> str:
    """Return the version of the Chromium package, or "" without dpkg."""
    asked = ["dpkg-query", "-W", "-f", "${Version}", PACKAGE]
    try:
        return subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=60, encoding="utf-8", errors="replace"
        ).stdout.strip()
    except FileNotFoundError:
        return ""
