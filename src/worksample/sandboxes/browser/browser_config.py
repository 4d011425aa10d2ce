"""What can be set of a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from worksample.records.task import Observation

OBSERVATIONS: tuple[Observation, ...] = get_args(Observation)
"""tree, dom: the page as text; screenshot, marks: as a picture, without and with ids; visible: the texts hold what
stands in the viewport only; interactable: what can be acted on, with its place; viewport: its size, and how far it is
scrolled; tabs."""
DEFAULT = ("tree", "tabs")
DOWNLOADS = "/task/scratch/downloads"


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """One trial's browser."""

    observe: tuple[str, ...] = DEFAULT
    viewport: tuple[int, int] = (1280, 720)
    timeout: float = 10.0
    """Seconds that an action may take on a page."""
    answer: float = 75.0
    """Seconds until driver and browser are ended and started anew."""
    text: int = 40_000
    """Characters of each text that an agent is shown."""
    secure: tuple[str, ...] = ()
    """Origins without TLS that pages are as free in as with it: a company's services."""
    downloads: str = DOWNLOADS
