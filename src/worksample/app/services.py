"""What every route works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worksample.app.prerendering.preparing import Preparing
    from worksample.app.workstations.work import Workstations
    from worksample.people import People
    from worksample.store import Store

    from .config import AppConfig
    from .content_urls import Capabilities
    from .suggesting import Suggesting


@dataclass(frozen=True, slots=True)
class AppServices:
    """One per server; routes find it at `request.app.state.services`."""

    config: AppConfig
    store: Store
    people: People
    capabilities: Capabilities
    """Addresses of deliverables: minted for an item's panes, found by content requests."""
    preparing: Preparing
    """Turns deliverables into views, each once, in the background and on demand."""
    workstations: Workstations
    """The places at which people sit and work, with their boxes."""
    suggesting: Suggesting | None = None
    """The model that suggests criteria; None where none is configured."""
