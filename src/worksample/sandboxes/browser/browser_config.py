"""Settings of a trial's browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from worksample.kit.workplace import SIGN_IN_PROGRAM
from worksample.records.task import Observation

OBSERVATIONS: tuple[Observation, ...] = get_args(Observation)
"""The kinds of observations. `tree` and `dom` show the page as text. `screenshot` shows the page as a picture, `marks`
as a picture with element ids. `visible` limits the texts to the content of the viewport. `interactable` lists the
elements that can be acted on, with positions. `viewport` gives the size and scroll position of the viewport. `tabs`
lists the tabs.
"""
DEFAULT = ("tree", "tabs")
DOWNLOADS = "/task/scratch/downloads"


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """The settings of one trial's browser."""

    observe: tuple[str, ...] = DEFAULT
    viewport: tuple[int, int] = (1280, 720)
    timeout: float = 10.0
    """Maximum seconds of an action on a page."""
    answer: float = 75.0
    """Seconds after which a driver that has not answered is restarted together with its browser."""
    text: int = 40_000
    """Maximum characters of each text about a page that is shown to an agent."""
    secure: tuple[str, ...] = ()
    """Origins without TLS that the browser treats as secure: the services of a simulated company."""
    downloads: str = DOWNLOADS
    accounts: tuple[tuple[str, str, str], ...] = ()
    """(address, name, password) of each account with which the browser signs in before its first action."""
    sign_in_program: str = SIGN_IN_PROGRAM
    """User agent of the requests that sign in. They are no visits of the agent."""
