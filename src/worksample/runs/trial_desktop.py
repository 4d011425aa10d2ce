"""The desktop of a trial: it is opened before the agent works, and its record is a part of the submission."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from worksample.box import Box
from worksample.errors import SandboxError
from worksample.sandboxes.desktop import Desktop, DesktopLedger, ScreenEnded, SessionConfig
from worksample.sandboxes.desktop.desktop_ledger import PART

from .recorder_base import Parts, Recorder
from .trial_context import TrialContext

if TYPE_CHECKING:
    from worksample.files import Sink
    from worksample.sandboxes.desktop import Display


class DesktopRecorder(Recorder):
    """Recorder of the desktop: actions with the screen before and after, windows, and the film."""

    rank = 25

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    async def stop(self) -> None:
        """Store the last picture and end the film."""
        with contextlib.suppress(SandboxError, ScreenEnded):  # the screen is lost: what was recorded before remains
            await self._desktop.keep_picture()
        await self._desktop.close()

    def parts(self, sink: Sink) -> Parts:
        """Return the record as a part of the submission."""
        return {PART: self._desktop.ledger.part(sink)}


async def open_desktop(context: TrialContext, box: Box) -> Desktop | None:
    """Open the trial's desktop and register its recorder. Return None if the task has no desktop. Raises
    SandboxError.
    """
    spec, display = context.spec.instance.work.environment.desktop, _display_of()
    if spec is None or display is None:
        return None
    session = SessionConfig(spec.programs, spec.clipboard, spec.fonts)
    desktop = Desktop(box, display, session, DesktopLedger())
    context.record(DesktopRecorder(desktop))
    with context.measure("desktop"):
        await desktop.open()
    return desktop


def _display_of() -> Display | None:
    """Return the screen of the current sample's box, or None if the box has no screen."""
    from inspect_ai.util import sandbox

    from worksample.sandboxes import provider

    try:
        return provider.display_of(sandbox())
    except ProcessLookupError:
        return None
