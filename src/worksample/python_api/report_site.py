"""`report`: compare agents, and write the static site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .event_loops import call, call_async
from .run_results import Run, board_and_site, name_of
from .stores_and_packages import use_store

if TYPE_CHECKING:
    from worksample.reports.leaderboard_frame import Leaderboard
    from worksample.reports.static_site.site import ReportConfig

    from .stores_and_packages import Where

    Experiments = str | Run | Sequence[str | Run]


def report(
    experiments: Experiments = (), out: str | Path | None = None, *, store: Where = None,
    config: ReportConfig | None = None,
) -> Leaderboard:  # fmt: skip
    """Return the leaderboard of experiments with equal locks, and write the report as a site if `out` is given.

    - `experiments=["first", "second"]`: names, ids or `Run`s; default: the store's latest.
    - `out="report"`: the folder of the site.
    - `store="results"`: the store's folder or URL, or an open `Store`; default: the store of the `Run`, else as for
      `run`.
    - `config=ReportConfig(illustrative=True)`: what the report shows.

    Raises MissingExtra for a site without the extra `report`, and PlanError if the locks differ.
    """
    return call(lambda stop: _report(experiments, out, store, config))


async def report_async(
    experiments: Experiments = (), out: str | Path | None = None, *, store: Where = None,
    config: ReportConfig | None = None,
) -> Leaderboard:  # fmt: skip
    """Report as `report` does, with the same arguments; for code that runs in an event loop."""
    return await call_async(lambda stop: _report(experiments, out, store, config))


def _report(experiments: Experiments, out: str | Path | None, store: Where, config: ReportConfig | None) -> Leaderboard:
    given = [experiments] if isinstance(experiments, str | Run) else list(experiments)
    where = next((one.store for one in given if isinstance(one, Run)), None) if store is None else store
    with use_store(where) as open_:
        names = [name_of(one) for one in given if one]
        return board_and_site(open_, names, None if out is None else Path(out), config)
