"""What every route works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worksample.app.config import AppConfig
    from worksample.app.content_origin.capabilities import Capabilities
    from worksample.app.prerendering.view_preparer import ViewPreparer
    from worksample.app.rubrics.suggestions import CriteriaSuggester
    from worksample.app.workstations.manager import Workstations
    from worksample.people import People
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class AppServices:
    """One per server; routes find it at `request.app.state.services`."""

    config: AppConfig
    store: Store
    people: People
    capabilities: Capabilities
    """Addresses of deliverables: minted for an item's panes, found by content requests."""
    view_preparer: ViewPreparer
    """Turns deliverables into views, each once, in the background and on demand."""
    workstations: Workstations
    """The places at which people sit and work, with their boxes."""
    suggester: CriteriaSuggester | None = None
    """The model that suggests criteria; None where none is configured."""
