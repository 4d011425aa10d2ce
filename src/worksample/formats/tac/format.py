"""The format of TheAgentCompany's tasks: the command `worksample import tac`, for the installed port or an original
copy.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import ImportFailed, UsageError
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

from .original_world import OBSTACLES

if TYPE_CHECKING:
    from .original_import import OriginalTask


def _import(request: TransferRequest) -> TransferReport:
    copy = request.path("original")
    if copy is not None:
        if request.flag("list") or request.out is None:
            return _list_copy(request, copy)
        return _import_copy(request, copy, request.out)
    if request.path("projects") is not None:
        raise UsageError(
            "--projects works only with --original, as no task of the port uses GitLab or Plane",
            next="worksample import tac OUT --original COPY --projects FOLDER",
        )
    if request.flag("list"):
        from .port_import import installed_tasks

        names = [task.name for task in installed_tasks()]
        return TransferReport(names, tuple(map(ReportLine, names)))
    if request.out is None:
        raise UsageError("the folder OUT is missing", next="worksample import tac OUT")
    return _import_port(request, request.out)


def _import_port(request: TransferRequest, out: Path) -> TransferReport:
    """Import the tasks of the installed port, `inspect_evals`."""
    from worksample.formats.package_writer import packages_or_faults, report_packages

    from .port_import import import_tac

    packages, complete = packages_or_faults(
        import_tac, out, tasks=request.texts("tasks"), as_published=request.flag("as_published"),
        overwrite=request.flag("overwrite"), documents=request.path("documents"),
        skip_faulty=request.flag("skip_faulty"),
    )  # fmt: skip
    rows = [
        (i.name, "yes" if i.runnable else "no", ", ".join(i.needs), "a judge model" if i.judge else "")
        for i in packages
    ]
    tables = [ReportTable(("task", "runs here", "needs", ""), rows)] if packages else []
    reasons = {i.package.name: ", ".join(i.needs) for i in packages}
    lines = report_packages(packages, str(out), reasons, skip_faulty=request.flag("skip_faulty"))
    plain = packages.plain([{**asdict(item), "package": str(item.package)} for item in packages])
    return TransferReport(plain, (*tables, *lines), complete)


def _import_copy(request: TransferRequest, copy: Path, out: Path) -> TransferReport:
    """Import the tasks from a copy of TheAgentCompany's own repository."""
    from worksample.formats.package_writer import packages_or_faults, report_packages

    from .original_import import import_original, read_originals

    packages, complete = packages_or_faults(
        import_original, copy, out, tasks=request.texts("tasks"), overwrite=request.flag("overwrite"),
        documents=request.path("documents"), more=request.path("projects"), skip_faulty=request.flag("skip_faulty"),
    )  # fmt: skip
    folders = request.path("documents"), request.path("projects")
    found = {one.id: one.obstacles(*folders) for one in read_originals(copy, {})}
    reasons = {root.name: "; ".join(found.get(root.name, {}).values()) for root in packages}
    lines = report_packages(packages, str(out), reasons, skip_faulty=request.flag("skip_faulty"))
    return TransferReport(packages.plain([str(root) for root in packages]), tuple(lines), complete)


def _why(task: OriginalTask, documents: Path | None, more: Path | None) -> str:
    return "; ".join(task.obstacles(documents, more).values())


def _list_copy(request: TransferRequest, copy: Path) -> TransferReport:
    """List the tasks of a copy, with the services that each needs, and the service contents that are missing."""
    from .original_import import count_needs, read_originals

    refused: dict[str, ImportFailed] = {}
    found = read_originals(copy, refused)
    folders = request.path("documents"), request.path("projects")

    def plain(task: OriginalTask) -> dict[str, object]:
        return {
            "name": task.name, "services": task.services, "lacks": task.lacks, "obstacles": task.obstacles(*folders),
            "contents": task.missing_contents(*folders),
            "programs": task.unrun_programs,
        }  # fmt: skip

    rows = [
        (task.name, ", ".join(task.services), "no" if task.obstacles(*folders) else "yes", _why(task, *folders))
        for task in found
    ]
    counts = [(name, str(count), str(run)) for name, (count, run) in count_needs(found, *folders).items()]
    return TransferReport(
        [*map(plain, found), *({"name": name, "unreadable": fault.what} for name, fault in refused.items())],
        (
            ReportTable(("task", "needs", "runs here", "missing"), rows),
            ReportTable(("needs", "tasks", "run here"), counts),
            *(ReportLine(f"{name} cannot be read: {fault.what}", error=True) for name, fault in refused.items()),
        ),
    )


TAC = ExchangeFormat(
    "tac",
    "TheAgentCompany's tasks",
    importer=Transfer(
        "Turn an installed copy of TheAgentCompany's tasks into packages.",
        """Turn TheAgentCompany's tasks into packages below the folder OUT, from the installed port or a copy.

        Needs the extra: pip install 'worksample[tac]'. The evaluators are called unmodified in the grading box
        (docs/reference/formats.md).
        """,
        _import,
        (
            FormatOption("tasks", "Only this task. Repeatable.", value="NAME", repeatable=True, flag="--task"),
            FormatOption("list", "List the tasks of the installed copy and stop."),
            FormatOption("as_published", "Keep ground truth within the agent's reach, as in the published images."),
            FormatOption(
                "documents", "The files on ownCloud, from its root; the port has only some of them.", value="FOLDER",
                folder=True,
            ),
            FormatOption(
                "original", "A copy of TheAgentCompany's own repository, instead of the installed port.", value="COPY",
                folder=True,
            ),
            FormatOption(
                "projects",
                "With --original: projects, repositories and wikis of GitLab and Plane, in the format of a company's "
                "folder.",
                value="FOLDER", folder=True,
            ),
            SKIP_FAULTY,
            OVERWRITE,
        ),
        out_required=False,
    ),
    obstacles=OBSTACLES,
)  # fmt: skip
