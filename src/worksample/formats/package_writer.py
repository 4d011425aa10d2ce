"""Writer of imported packages: a faulty task does not stop the others, and an interrupted import can be continued."""

from __future__ import annotations

import errno
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, overload

from worksample.errors import ImportFailed, WorksampleError

from .interface import ReportLine

T = TypeVar("T")
P = ParamSpec("P")
NAME_LIMIT = 90
"""The largest number of characters in a package's name."""
LISTED_FAULTS = 20
"""The number of faults that a message lists."""
_DRAFTS = ".importing"
_MACHINE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors of this machine, which would stop every other package too."""


@dataclass(frozen=True, slots=True)
class PendingPackage(Generic[T]):
    """A package to write: its place in the source, its name, and the function that writes it."""

    place: str
    """The task's name in messages, such as its folder or line."""
    name: str
    write: Callable[[Path], T]
    """Write the package into a new folder with this path. Raises an error if the task is faulty."""


@dataclass(frozen=True, slots=True)
class Packages(Sequence[T]):
    """The outcome of an import. As a sequence: the packages that were written."""

    written: tuple[T, ...] = ()
    there: tuple[str, ...] = ()
    """Names of packages that existed already and were left unchanged."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Place -> the reason why its package was not written."""

    def __len__(self) -> int:
        return len(self.written)

    def __iter__(self) -> Iterator[T]:
        return iter(self.written)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self.written[at]

    def plain(self, written: Sequence[Any]) -> dict[str, Any]:
        """Return the outcome as JSON types. written: the written packages as JSON types."""
        return {"written": list(written), "there": list(self.there), "faults": dict(self.faults)}

    def summary(self) -> str:
        """Return the counts of written, existing and faulty packages in words."""
        counts = [f"{len(self.written)} written"]
        counts += [f"{len(self.there)} already there"] if self.there else []
        counts += [f"{len(self.faults)} faulty"] if self.faults else []
        return ", ".join(counts)


class FaultyPackages(ImportFailed):
    """An error for faulty tasks, raised after all others were written. `packages`: the outcome for every task."""

    def __init__(self, packages: Packages[Any], next: str) -> None:
        shown = [f"  {place}: {what}" for place, what in list(packages.faults.items())[:LISTED_FAULTS]]
        more = [f"  and {len(packages.faults) - LISTED_FAULTS} more"] if len(packages.faults) > LISTED_FAULTS else []
        super().__init__("\n".join([f"packages: {packages.summary()}", *shown, *more]), next=next)
        self.packages = packages


def packages_or_faults(run: Callable[P, Packages[T]], *args: P.args, **named: P.kwargs) -> tuple[Packages[T], bool]:
    """Run an import; return the packages, and False if faulty tasks were found that the caller did not ask to skip."""
    try:
        return run(*args, **named), True
    except FaultyPackages as fault:
        return fault.packages, False


def report_packages(
    found: Packages[T], out: str, reasons: Mapping[str, str], *, skip_faulty: bool
) -> Iterator[ReportLine]:
    """Yield the lines of a report: faulty tasks, counts, and the next command.

    reasons: package -> why it cannot be attempted, or "". skip_faulty: whether the user asked to leave out faulty
    tasks.
    """
    error = not skip_faulty
    for place, what in list(found.faults.items())[:LISTED_FAULTS]:
        yield ReportLine(f"{'left out' if skip_faulty else 'error'}: {place}: {what}", error)
    if len(found.faults) > LISTED_FAULTS:
        yield ReportLine(f"and {len(found.faults) - LISTED_FAULTS} more", error)
    yield ReportLine(f"packages in {out}: {found.summary()}")
    if found.faults and not skip_faulty:
        yield ReportLine(
            "  next: correct the tasks and run the same command again, or leave them out with --skip-faulty"
        )
        return
    name = next((name for name, reason in reasons.items() if not reason), None)
    if name is not None:
        yield ReportLine(f"  next: worksample task check {out}/{name}")
    elif reasons:
        first, reason = next(iter(reasons.items()))
        yield ReportLine(f"  none of them can be attempted here; the reason for {first}: {reason}")
    elif found.there:
        yield ReportLine(f"  next: worksample task check {out}/{found.there[0]}")


def write_packages(
    pending: Iterable[PendingPackage[T]], out: Path, *, overwrite: bool = False, skip_faulty: bool = False, next: str
) -> Packages[T]:
    """Write each package below `out` completely or not at all; keep existing ones, unless `overwrite`.

    next: the next command if a package is faulty. Raises FaultyPackages, after all others are written, if some are
    faulty, unless `skip_faulty`.
    """
    written: list[T] = []
    there: list[str] = []
    faults: dict[str, str] = {}
    first: WorksampleError | None = None
    for package in pending:
        root = out / package.name
        if root.exists() and not overwrite:
            there.append(package.name)
            continue
        try:
            written.append(_write_package(package, root))
        except (WorksampleError, UnicodeError) as fault:
            faults[package.place] = describe_fault(fault)
            first = first or (fault if isinstance(fault, WorksampleError) else None)
        except OSError as fault:
            if fault.errno in _MACHINE_ERRORS:
                raise
            faults[package.place] = f"{fault.filename}: {(fault.strerror or type(fault).__name__).lower()}"
    found = Packages(tuple(written), tuple(there), faults)
    if faults and not skip_faulty:
        step = first.next if first is not None and first.next and len(faults) == 1 else next
        raise FaultyPackages(found, step)
    return found


def _write_package(package: PendingPackage[T], root: Path) -> T:
    """Write a package into a temporary folder, then rename it, so that an interrupted import leaves no partial
    package.
    """
    drafts = root.parent / _DRAFTS
    draft = drafts / root.name
    shutil.rmtree(draft, ignore_errors=True)
    drafts.mkdir(parents=True, exist_ok=True)
    try:
        result = package.write(draft)
        if root.exists():
            shutil.rmtree(root)
        draft.rename(root)
        return result
    finally:
        shutil.rmtree(drafts, ignore_errors=True)


def describe_fault(fault: Exception) -> str:
    """Return an error's place and message as one line."""
    if isinstance(fault, WorksampleError):
        return f"{fault.where}: {fault.what}" if fault.where else fault.what
    return f"is not UTF-8 text: {fault}"


def package_names(places: Sequence[str]) -> dict[str, str]:
    """Return place -> package name. A place is a path below the source.

    All names differ, and they do not depend on the order of places. Accents are removed. If several places give the
    same name, ignoring case, the place spelled exactly like it gets the name, else the first; the others get a suffix
    from the digest of their place.
    """
    by_name: dict[str, list[str]] = {}
    for place in sorted(places):
        by_name.setdefault(plain_name(place.rpartition("/")[2]), []).append(place)
    found: dict[str, str] = {}
    for name, alike in by_name.items():
        first = next((p for p in alike if p.rpartition("/")[2] == name), alike[0])
        for place in alike:
            found[place] = name if place == first else f"{name}-{sha256(place.encode()).hexdigest()[:8]}"
    return found


def plain_name(text: str) -> str:
    """Return a name of lower-case ASCII letters, digits, `.`, `_` and `-`."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    name = re.sub(r"[^a-z0-9._-]+", "-", bare.replace("ß", "ss").lower()).strip("-._")[:NAME_LIMIT].strip("-._")
    if name:
        return name
    return f"task-{sha256(text.encode()).hexdigest()[:8]}" if text else "task"
