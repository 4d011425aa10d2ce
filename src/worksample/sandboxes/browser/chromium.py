"""Chromium and Playwright on this machine: their paths, and the command that installs them."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
from pathlib import Path

from worksample.extras import install_command
from worksample.sudo_command import root_command

BINARY = Path("/usr/lib/chromium/chromium")
"""Path of Debian's Chromium program. Debian's start script is not used, because the script reads settings that no box
has.

Chromium's headless shell would need half the processor time. But the shell cannot treat an origin without TLS as
secure, so nobody could log in to the company's chat.
"""
PACKAGE = "chromium"
NODE_PACKAGE = "libatomic1"
"""Debian package that the Node program of Playwright needs and that a minimal Debian lacks."""
PROGRAMS = Path(__file__).parent / "in_box"
LIBRARY = "/opt/worksample/sandboxes/browser/python"
OWN = "/opt/worksample/sandboxes/browser/chromium"


def missing_browser_command() -> str:
    """Return the command that installs the missing parts of the browser, or "" if nothing is missing."""
    lines = []
    if packages := lacking_packages():
        lines.append(root_command(f"apt-get install -y {' '.join(packages)}"))
    if importlib.util.find_spec("playwright") is None:
        lines.append(install_command("browser"))
    return " && ".join(lines)


def lacking_packages() -> tuple[str, ...]:
    """Return the Debian packages that the browser needs and this machine lacks."""
    linked = any(Path("/usr/lib").glob("*/libatomic.so.1"))
    return (() if BINARY.exists() else (PACKAGE,)) + (() if linked else (NODE_PACKAGE,))


def playwright_folder() -> Path:
    """Return the folder of Python packages for the driver's box. The folder holds Playwright and its dependencies, and
    nothing of the platform.
    """
    from worksample.sandboxes.python_toolbox import library_folder

    return library_folder(("playwright",), LIBRARY)


@functools.cache
def chromium_version() -> str:
    """Return the version of the Debian package of Chromium, or "" on a machine without dpkg."""
    asked = ["dpkg-query", "-W", "-f", "${Version}", PACKAGE]
    try:
        return subprocess.run(
            asked, capture_output=True, text=True, check=False, timeout=60, encoding="utf-8", errors="replace"
        ).stdout.strip()
    except FileNotFoundError:
        return ""
