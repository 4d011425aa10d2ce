"""The interface of an exchange format, and the registry of formats.

A format is an `ExchangeFormat`: its name, importer, exporter and options, and the reasons why an imported instance
cannot be attempted. `worksample import` and `worksample export` build a command from each. Listing formats stays fast
because this module imports nothing heavy; a format imports its own code when it is called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import ImportFailed, UsageError

if TYPE_CHECKING:
    from worksample.records import Experiment
    from worksample.store import Store


@dataclass(frozen=True, slots=True)
class FormatOption:
    """An option of an import or export. It is a flag if it has neither `value` nor `folder`."""

    name: str
    """The key in `TransferRequest.options`; the command line shows `without_internet` as `--without-internet`."""
    help: str
    value: str = ""
    """The placeholder of the value in the help, such as `NAME`."""
    folder: bool = False
    """Whether the value is a folder that must exist."""
    repeatable: bool = False
    flag: str = ""
    """The spelling on the command line, if it does not follow from the name."""

    @property
    def typed_name(self) -> str:
        """The spelling on the command line, such as `--without-internet`."""
        return self.flag or "--" + self.name.replace("_", "-")

    @property
    def is_flag(self) -> bool:
        """True if the option takes no value."""
        return not self.value


STORE = FormatOption("store", "The store; default: $WORKSAMPLE_STORE, else ./.worksample.", value="DIR")
OVERWRITE = FormatOption("overwrite", "Replace packages that exist already.")
SKIP_FAULTY = FormatOption("skip_faulty", "Leave out faulty tasks, name them, and exit with 0.")


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table that is printed after an import or export."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    right: tuple[str, ...] = ()
    """Columns that are aligned to the right."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A line that is printed after an import or export."""

    text: str
    error: bool = False
    """Whether the line goes to standard error."""


@dataclass(frozen=True, slots=True)
class TransferReport:
    """The result of an import or export, for people and for programs."""

    plain: Any
    """The result as JSON types, for `--json`."""
    parts: tuple[ReportTable | ReportLine, ...] = ()
    """The same result for people, in printing order."""
    complete: bool = True
    """False if something requested could not be written. The command then exits with code 3."""


def _find_no_experiment(store: Store, name: str) -> Experiment:
    raise NotImplementedError("find_experiment was not passed, so experiments cannot be looked up")


def _open_store(place: str | None, *, create: bool = False) -> AbstractContextManager[Store]:
    from worksample.store import Store

    return Store.open(place, create=create)


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """The arguments of one import or export, and functions that its caller provides."""

    source: Path | None
    """The file or folder to read; None if the format takes no source."""
    out: Path | None
    """The folder to write."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Option name -> value, for the options that were given."""
    open_store: Callable[..., AbstractContextManager[Store]] = _open_store
    """Open the store in a folder, or the default store for None. `create=True` creates a missing store."""
    find_experiment: Callable[[Store, str], Experiment] = _find_no_experiment
    """Return the experiment with a name or id, or the latest one for "". Raises UsageError if none matches."""
    show_progress: Callable[[int], None] = lambda rows: None
    """Show the number of rows read so far."""

    def flag(self, name: str) -> bool:
        """Return whether a flag was given."""
        return bool(self.options.get(name))

    def text(self, name: str) -> str:
        """Return an option's value, or "" if it was not given."""
        return str(self.options.get(name) or "")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return all values of a repeatable option."""
        return tuple(self.options.get(name) or ())

    def path(self, name: str) -> Path | None:
        """Return an option's value as a path, or None if it was not given."""
        return Path(self.options[name]) if self.options.get(name) else None


@dataclass(frozen=True, slots=True)
class Transfer:
    """A command that imports or exports a format."""

    summary: str
    """One line for the list of formats."""
    help: str
    """The command's help text, including the summary."""
    run: Callable[[TransferRequest], TransferReport]
    """Run the import or export. It imports its own dependencies when it is called. Raises WorksampleError."""
    options: tuple[FormatOption, ...] = ()
    source: str = ""
    """The placeholder of the source argument, such as `TABLE`; "" if the command takes no source."""
    source_is_folder: bool = False
    out_required: bool = True


@dataclass(frozen=True, slots=True)
class ExchangeFormat:
    """A format of another tool that Worksample imports from or exports to."""

    name: str
    """The name on the command line: `worksample import NAME`."""
    title: str
    """The format's title, in one line."""
    importer: Transfer | None = None
    exporter: Transfer | None = None
    obstacles: Mapping[str, str] = field(default_factory=dict)
    """Obstacle -> the reason why an instance with it cannot be attempted.

    An import writes the obstacle's name into the instance's `environment.services`; planning then leaves the instance
    out.
    """


# -- registry of formats


GROUP = "worksample.formats"
"""The group of entry points. Each name is a format's name, and each value an `ExchangeFormat`."""
_OWN_FORMATS = {
    "ale": "worksample.formats.ale.format:ALE",
    "atif": "worksample.formats.export_only_formats:ATIF",
    "gdpval": "worksample.formats.jobs.format:GDPVAL",
    "harbor": "worksample.formats.harbor.format:HARBOR",
    "jobs": "worksample.formats.jobs.format:JOBS",
    "rli": "worksample.formats.jobs.format:RLI",
    "tac": "worksample.formats.tac.format:TAC",
    "training": "worksample.formats.export_only_formats:TRAINING",
    "upbench": "worksample.formats.upbench.format:UPBENCH",
}
"""This package's own formats.

They are not entry points in pyproject.toml, because an editable installation would lose a new or moved format until it
is reinstalled. Formats of other packages cannot replace them.
"""


@functools.cache
def _format_entry_points() -> dict[str, EntryPoint]:
    own = {name: EntryPoint(name, value, GROUP) for name, value in _OWN_FORMATS.items()}
    return dict(sorted(({point.name: point for point in entry_points(group=GROUP)} | own).items()))


def format_names() -> tuple[str, ...]:
    """Return the names of all formats in alphabetical order, without importing any format."""
    return tuple(_format_entry_points())


def find_format(name: str) -> ExchangeFormat:
    """Import and return a format. Raises UsageError for an unknown name, ImportFailed if it cannot be loaded."""
    point = _format_entry_points().get(name)
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
