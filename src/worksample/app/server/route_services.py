"""The services that all routes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worksample.app.config import AppConfig
    from worksample.app.content_origin.capability_hosts import Capabilities
    from worksample.app.prerendering.view_preparer import ViewPreparer
    from worksample.app.rubrics.suggestions import CriteriaSuggester
    from worksample.app.workstations.workstation_actions import Workstations
    from worksample.people import People
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class AppServices:
    """The services of one server; routes find them at `request.app.state.services`."""

    config: AppConfig
    store: Store
    people: People
    capabilities: Capabilities
    """Addresses of deliverables: created for an item's panes, looked up by content requests."""
    view_preparer: ViewPreparer
    """Makes views of deliverables, each once, in the background and on demand."""
    workstations: Workstations
    """The open boxes in which people work."""
    suggester: CriteriaSuggester | None = None
    """The model that suggests criteria; None if none is configured."""
