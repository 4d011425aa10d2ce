"""The session on a screen, in the agent's box: a message bus with its own settings, and the programs that start with
the desktop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from worksample.box import Box, Process
from worksample.errors import SandboxError

from .display_config import BUS, RUNTIME
from .seeded_profiles import seeding_script

BUS_CONFIG = f"{RUNTIME}/session.conf"
BUS_SETTINGS = f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={BUS}</listen>
  <auth>EXTERNAL</auth>
  <standard_session_servicedirs/>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
START_WAIT = 30.0
_ADD_FONTS = 'mkdir -p ~/.local/share/fonts && ln -sfn "$1" ~/.local/share/fonts/task-"$2"'
_START_BUS = 'exec dbus-daemon --nofork --nopidfile --nosyslog --config-file="$1" --print-address=1'


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """Programs and content of a desktop at its beginning."""

    programs: tuple[str, ...] = ()
    """Commands of a shell that start with the desktop."""
    clipboard: str = ""
    """Text on the clipboard at the beginning."""
    fonts: tuple[str, ...] = ()
    """Folders in the box with more fonts."""


async def start_session(box: Box, config: SessionConfig) -> list[Process]:
    """Start the session in the agent's box and return its processes. A box without a message bus, as some images are,
    gets a session without one. Raises SandboxError if the box is lost, or a program cannot be started.
    """
    made = await box.run(["sh", "-c", f"mkdir -p -m 700 {RUNTIME} && command -v dbus-daemon"], timeout=60)
    await box.run(["sh", "-c", seeding_script()], timeout=60)
    started = []
    if made.returncode == 0:
        await box.write(BUS_CONFIG, BUS_SETTINGS.encode())
        bus = await box.start(["sh", "-c", _START_BUS, "sh", BUS_CONFIG])
        started.append(bus)
        try:
            async with asyncio.timeout(START_WAIT):
                said = await bus.stdout.read()
        except TimeoutError:
            said = b""
        if not said:
            why = (await bus.stderr.read()).decode(errors="replace")[-500:] if said == b"" else ""
            raise SandboxError(
                f"the message bus of the desktop did not start: {why}", where="desktop", next="worksample doctor"
            )
    for number, folder in enumerate(config.fonts):
        await box.run(["sh", "-c", _ADD_FONTS, "sh", folder, str(number)], timeout=60)
    return [*started, *await start_programs(box, config.programs)]


async def start_programs(box: Box, commands: Sequence[str]) -> list[Process]:
    """Start commands of a shell in the box, without waiting for their ends. What they print is dropped."""
    return [await box.start(["sh", "-c", f"exec >/dev/null 2>&1 </dev/null; {command}"]) for command in commands]
