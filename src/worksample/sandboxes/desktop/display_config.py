"""Settings of a box's screen, and the programs of this machine that a screen needs."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
from dataclasses import dataclass

from worksample.box import BoxConfig, Mount
from worksample.extras import install_command
from worksample.sudo_command import root_command

WIDTH, HEIGHT = 1366, 768
"""Usual size of a screen: the one that the native computer tools of models are told about."""
X_FOLDER = "/tmp/.X11-unix"
"""Folder of the X server's socket, at the same path in all boxes."""
DISPLAY = ":0"
RUNTIME = "/tmp/.desktop"
"""Folder in the agent's box with the sockets of the desktop's session, which only the box's user can open."""
BUS = f"{RUNTIME}/bus"
PACKAGES = {
    "Xvnc": "tigervnc-standalone-server",
    "openbox": "openbox",
    "dbus-daemon": "dbus",
    "xkbcomp": "x11-xkb-utils",
}
"""Programs that a screen needs, with the Debian packages that bring them."""


@dataclass(frozen=True, slots=True)
class DisplayConfig:
    """The screen of one box. Sizes in pixels."""

    width: int = WIDTH
    height: int = HEIGHT
    depth: int = 24
    frame_rate: int = 120
    """Maximum number of pictures per second."""


def missing_desktop_command() -> str:
    """Return the command that installs what a desktop needs and this machine lacks; "" if nothing is missing."""
    lines = []
    if packages := lacking_packages():
        lines.append(root_command(f"apt-get install -y {' '.join(packages)}"))
    if any(importlib.util.find_spec(name) is None for name in ("Xlib", "jeepney")):
        lines.append(install_command("desktop"))
    return " && ".join(lines)


def lacking_packages() -> tuple[str, ...]:
    """Return the Debian packages that a desktop needs and this machine lacks."""
    return tuple(package for program, package in PACKAGES.items() if shutil.which(program) is None)


@functools.cache
def has_locale(name: str) -> bool:
    """Return whether this machine has a locale, such as `de_DE.UTF-8`."""
    said = subprocess.run(
        ["locale", "-a"], capture_output=True, text=True, check=False, encoding="utf-8", errors="replace"
    )
    known = {line.strip().lower().replace("-", "") for line in said.stdout.splitlines()}
    return name.lower().replace("-", "") in known


def with_display(config: BoxConfig, folder: str) -> BoxConfig:
    """Return the config of a box whose programs draw on the X server that listens in the host's `folder`."""
    from dataclasses import replace

    env = {
        "DISPLAY": DISPLAY,
        "XDG_RUNTIME_DIR": RUNTIME,
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={BUS}",
        "GDK_BACKEND": "x11",
        "QT_QPA_PLATFORM": "xcb",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "NO_AT_BRIDGE": "0",
    } | dict(config.env)
    mount = Mount(folder, X_FOLDER, live=True)
    return replace(config, mounts=(*config.mounts, mount), env=tuple(env.items()))
