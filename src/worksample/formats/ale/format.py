"""The format of Agents' Last Exam: the command `worksample import ale`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.formats.interface import (
    OVERWRITE,
    SKIP_FAULTY,
    ExchangeFormat,
    FormatOption,
    ReportLine,
    ReportTable,
    Transfer,
    TransferReport,
    TransferRequest,
)

from .obstacles import OBSTACLES

if TYPE_CHECKING:
    from .listing import AleInstance, AleListing


def _import(request: TransferRequest) -> TransferReport:
    from .checkout import read_checkout
    from .package_list import list_packages

    assert request.source is not None
    packages = read_checkout(request.source, request.text("tier"))
    listings = list_packages(packages, request.source)
    if request.out is None:
        return _report(request, listings)
    return _write(request, listings, request.source, request.out)


def _write(request: TransferRequest, listings: list[AleListing], checkout: Path, out: Path) -> TransferReport:
    """Write the packages, and report how many instances can be attempted."""
    from worksample.formats.package_writer import packages_or_faults, report_packages

    from .task_import import import_ale

    packages, complete = packages_or_faults(
        import_ale, listings, checkout, out, data=request.path("data"), overwrite=request.flag("overwrite"),
        skip_faulty=request.flag("skip_faulty"),
    )  # fmt: skip
    needs = Counter(word for task in packages for words in task.needs.values() for word in words)
    rows: list[tuple[str, int]] = [
        ("packages", len(packages)),
        ("instances", sum(len(task.needs) for task in packages)),
        ("attemptable instances", sum(task.runnable for task in packages)),
    ]
    rows += [(f"{word}: {OBSTACLES[word]}", needs[word]) for word in OBSTACLES if needs[word]]
    tables = [ReportTable(("", "count"), rows, right=("count",))] if packages else []
    reasons = {
        task.name: "" if task.runnable else ", ".join(dict.fromkeys(w for ws in task.needs.values() for w in ws))
        for task in packages
    }
    lines = report_packages(packages, str(out), reasons, skip_faulty=request.flag("skip_faulty"))
    return TransferReport(packages.plain([asdict(task) for task in packages]), (*tables, *lines), complete)


def _report(request: TransferRequest, listings: list[AleListing]) -> TransferReport:
    """List packages and instances with their reasons."""
    from .obstacles import obstacles_of

    data = request.path("data")
    rows, plain = [], []
    reasons: Counter[str] = Counter()
    count = 0
    for listing in listings:
        found = [(one, obstacles_of(listing, one, data)) for one in listing.instances]
        count += len(found)
        runnable = sum(not obstacles for _, obstacles in found)
        names = dict.fromkeys(name for _, obstacles in found for name in obstacles)
        reasons.update(name for _, obstacles in found for name in obstacles)
        why = ", ".join(names) if found else "ale-load"
        rows.append((listing.package.place, ", ".join(listing.package.tiers), len(found), runnable, why))
        plain.append(_plain(listing, found))
    counts: list[tuple[str, Any]] = [("packages", len(listings)), ("instances", count)]
    counts += [("runnable", sum(row[3] for row in rows))]
    starts = [fault for listing in listings for fault in listing.starts.values()]
    counts += [
        ("start() ran in a box, without data", starts.count("")),
        ("start() failed", len(starts) - starts.count("")),
    ]
    counts += [(f"{name}: {need}", reasons[name]) for name, need in OBSTACLES.items() if reasons[name]]
    faults = [ReportLine(f"{one.package.place}: {one.fault}") for one in listings if one.fault]
    return TransferReport(
        plain,
        (
            ReportTable(("package", "tier", "instances", "runnable", "needs"), rows, right=("instances", "runnable")),
            *faults,
            ReportTable(("", "count"), counts, right=("count",)),
        ),
    )


def _plain(listing: AleListing, found: list[tuple[AleInstance, dict[str, str]]]) -> dict[str, Any]:
    package = listing.package
    return {
        "package": package.place, "tiers": list(package.tiers), "snapshot": package.snapshot, "fault": listing.fault,
        "libraries": list(listing.absent),
        "instances": [
            {
                "name": one.name, "system": one.system, "paths": one.paths, "start": listing.starts.get(one.name),
                "needs": {name: OBSTACLES[name] + (f": {detail}" if detail else "") for name, detail in needs.items()},
            }
            for one, needs in found
        ],
    }  # fmt: skip


ALE = ExchangeFormat(
    "ale",
    "The public packages of Agents' Last Exam",
    importer=Transfer(
        "Turn a checkout of Agents' Last Exam into packages.",
        """Turn the packages of CHECKOUT, a copy of Agents' Last Exam's repository, into packages below the folder OUT.
        Without OUT, list them.

        An instance that needs something that is not available here cannot be attempted, and the reason is recorded.

        Each package's load() runs in a sandbox of its own, twice, and the results are compared
        (docs/reference/formats.md).
        """,
        _import,
        (
            FormatOption("tier", "Only packages of this tier: near-term, full-spectrum or last-exam.", value="NAME"),
            FormatOption(
                "data", "The instances' files: FOLDER/DOMAIN/TASK/VARIANT/{input,software,reference}.", value="FOLDER",
                folder=True,
            ),
            SKIP_FAULTY,
            OVERWRITE,
        ),
        source="CHECKOUT",
        source_is_folder=True,
        out_required=False,
    ),
    obstacles=OBSTACLES,
)  # fmt: skip
