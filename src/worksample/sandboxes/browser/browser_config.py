"""Settings of a trial's browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from worksample.records.task import Observation

OBSERVATIONS: tuple[Observation, ...] = get_args(Observation)
"""Kinds of observations. tree, dom: the page as text; screenshot, marks: as a picture, without and with element ids;
visible: texts hold only the viewport's content; interactable: elements that can be acted on, with positions;
viewport: its size and scroll position; tabs.
"""
DEFAULT = ("tree", "tabs")
DOWNLOADS = "/task/scratch/downloads"


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """The settings of one trial's browser."""

    observe: tuple[str, ...] = DEFAULT
    viewport: tuple[int, int] = (1280, 720)
    timeout: float = 10.0
    """Seconds that an action on a page may take."""
    answer: float = 75.0
    """Seconds until a driver that does not answer is restarted with its browser."""
    text: int = 40_000
    """Maximum characters of each text that an agent is shown."""
    secure: tuple[str, ...] = ()
    """Origins without TLS that the browser treats as secure: a company's services."""
    downloads: str = DOWNLOADS
