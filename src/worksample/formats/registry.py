"""The registry of formats: this package's own, and those that other packages add as entry points."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points

from worksample.errors import ImportFailed, UsageError

from .interface import ExchangeFormat

GROUP = "worksample.formats"
"""The group of entry points: the name is the format's, the value an `ExchangeFormat`."""
_OWN = {
    "atif": "worksample.formats.store_formats:ATIF",
    "gdpval": "worksample.formats.jobs.format:GDPVAL",
    "harbor": "worksample.formats.harbor.format:HARBOR",
    "jobs": "worksample.formats.jobs.format:JOBS",
    "rli": "worksample.formats.jobs.format:RLI",
    "tac": "worksample.formats.tac.format:TAC",
    "training": "worksample.formats.store_formats:TRAINING",
    "upbench": "worksample.formats.upbench.format:UPBENCH",
}
"""This package's own formats, found without installed metadata, so that an older editable install has all of them.
Another package's format of the same name is not used."""


@functools.cache
def _points() -> dict[str, EntryPoint]:
    own = {name: EntryPoint(name, value, GROUP) for name, value in _OWN.items()}
    return dict(sorted(({point.name: point for point in entry_points(group=GROUP)} | own).items()))


def format_names() -> tuple[str, ...]:
    """Return the names of all formats in alphabetical order, without importing any."""
    return tuple(_points())


def find_format(name: str) -> ExchangeFormat:
    """Import and return a format. Raises UsageError for an unknown name, ImportFailed if it cannot be loaded."""
    point = _points().get(name)
    if point is None:
        raise UsageError(
            f"there is no format {name!r}; there are {', '.join(format_names())}", next="worksample import --help"
        )
    owner = point.dist.name if point.dist is not None else ""
    step = f"pip install --upgrade {owner}, or: pip uninstall {owner}" if owner else "install worksample again"
    try:
        found = point.load()
    except (ImportError, AttributeError) as fault:
        raise ImportFailed(f"the format {name!r} cannot be loaded: {fault}", where=point.value, next=step) from fault
    if not isinstance(found, ExchangeFormat):
        raise ImportFailed(
            f"the format {name!r} is not a worksample.formats.ExchangeFormat", where=point.value, next=step
        )
    return found
