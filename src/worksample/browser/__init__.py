"""A browser for agents: Chromium in the agent's box, driven from a box of its own, what it does recorded here."""

from __future__ import annotations

from .actions import ACTIONS, Action, Parameter
from .config import OBSERVATIONS, BrowserConfig
from .ledger import BrowserLedger
from .programs import lacking
from .running import CURRENT, Browser, Seen

__all__ = [
    "ACTIONS",
    "CURRENT",
    "OBSERVATIONS",
    "Action",
    "Browser",
    "BrowserConfig",
    "BrowserLedger",
    "Parameter",
    "Seen",
    "lacking",
]
