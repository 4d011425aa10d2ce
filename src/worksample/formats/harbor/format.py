"""The Harbor format: the commands `worksample import harbor` and `worksample export harbor`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

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

OBSTACLES = {
    "harbor-compose": "a compose file with several services",
    "harbor-image": "an image with neither a Dockerfile nor a name",
    "harbor-gpu": "a GPU or TPU",
    "harbor-windows": "an operating system other than Linux",
    "harbor-steps": "a step with its own user or network",
    "harbor-mcp": "an MCP server at an address that is not an endpoint",
    "harbor-collect": "collect hooks in services of a compose file",
    "harbor-variable": "an environment variable of the host",
    "harbor-hosts": "allowed hosts given as addresses or networks",
    "harbor-git": "a git repository in its environment folder",
    "harbor-verifier": "a verifier other than tests/test.sh",
    "internet": "the public internet",
}
"""Obstacle -> the requirement of a task that cannot be met here."""


def _import(request: TransferRequest) -> TransferReport:
    from worksample.formats.package_writer import packages_or_faults, report_packages

    from .task_import import ImportHarbor, import_harbor

    assert request.source is not None and request.out is not None
    config = ImportHarbor(
        without_internet=request.flag("without_internet"),
        overwrite=request.flag("overwrite"),
        skip_faulty=request.flag("skip_faulty"),
    )
    packages, complete = packages_or_faults(import_harbor, request.source, request.out, config)
    needs = Counter(word for task in packages for word in task.needs)
    changed = Counter(what for task in packages for what in task.substituted)
    rows: list[tuple[str, int]] = [
        ("written", len(packages)),
        ("attemptable", sum(not task.needs for task in packages)),
    ]
    rows += [("with a solution", sum(task.solution for task in packages))]
    rows += [(f"not attemptable: {word}", count) for word, count in needs.most_common()]
    rows += [(f"substituted: {what}", count) for what, count in changed.most_common()]
    rows += [("graded while the agent's programs run", sum(task.live for task in packages))]
    tables = [ReportTable(("tasks", "count"), rows, right=("count",))] if packages else []
    online = sum(task.needs == ("internet",) for task in packages)
    hints = [ReportLine(f"{online} more can be attempted without the internet: --without-internet")] if online else []
    reasons = {task.name: ", ".join(f"{word} ({OBSTACLES[word]})" for word in task.needs) for task in packages}
    lines = report_packages(packages, str(request.out), reasons, skip_faulty=config.skip_faulty)
    return TransferReport(packages.plain([asdict(task) for task in packages]), (*tables, *hints, *lines), complete)


def _export(request: TransferRequest) -> TransferReport:
    from .task_export import ExportHarbor, export_harbor

    assert request.source is not None and request.out is not None
    settings: dict[str, Any] = {key: request.options[key] for key in ("base", "organisation") if key in request.options}
    exported = list(
        export_harbor(request.source, request.out, ExportHarbor(**settings, overwrite=request.flag("overwrite")))
    )
    rows = [
        (
            package.instance,
            "; ".join(package.lacks) or "yes",
            "yes" if package.solution else "",
            ", ".join(package.software),
        )
        for package in exported
    ]
    written = sum(bool(package.folder) for package in exported)
    parts = (
        ReportTable(("instance", "written", "solution", "needed in the base image"), rows),
        ReportLine(f"{written} tasks in {request.out}"),
    )
    return TransferReport([asdict(package) for package in exported], parts, complete=bool(written))


HARBOR = ExchangeFormat(
    "harbor",
    "Harbor's tasks",
    importer=Transfer(
        "Turn Harbor tasks into packages.",
        """Turn Harbor tasks at or below FOLDER into packages below the folder OUT.

        The verifier becomes the grader, and the solution the audit's reference. If a task needs something that is not
        available here, its instance cannot be attempted, and the reason is recorded (docs/reference/formats.md). A
        faulty task does not stop the others. Existing packages are kept, so the same command again writes the missing
        ones.
        """,
        _import,
        (
            FormatOption(
                "without_internet",
                "Run tasks that need the public internet without it, and tag them; else they cannot be attempted.",
            ),
            SKIP_FAULTY,
            OVERWRITE,
        ),
        source="FOLDER",
        source_is_folder=True,
    ),
    exporter=Transfer(
        "Write a package's instances as Harbor tasks.",
        """Write each instance of PACKAGE as a Harbor task below the folder OUT.

        The grader becomes the verifier, in its own image with the reference. An instance that Harbor cannot express is
        reported and left out; exit code 3 if no instance could be written (docs/reference/formats.md).
        """,
        _export,
        (
            FormatOption("base", "The base image of work and grader; default: python:3.12-slim.", value="IMAGE"),
            FormatOption("organisation", "First half of the tasks' names; default: worksample.", value="NAME"),
            FormatOption("overwrite", "Replace tasks that exist already."),
        ),
        source="PACKAGE",
        source_is_folder=True,
    ),
    obstacles=OBSTACLES,
)
