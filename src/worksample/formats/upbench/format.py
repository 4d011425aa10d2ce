"""The UpBench format: the commands `worksample import upbench` and `worksample export upbench`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from worksample.errors import UsageError
from worksample.formats.interface import (
    STORE,
    ExchangeFormat,
    FormatOption,
    ReportLine,
    ReportTable,
    Transfer,
    TransferReport,
    TransferRequest,
)
from worksample.formats.jobs.format import JOB_OPTIONS, import_job_table, price_source

if TYPE_CHECKING:
    from worksample.store import Store

    from .table_import import ImportedTables

_JOB_TABLE_OPTIONS = ("mapping", "filters", "missing", "overwrite")
"""Options for a single table of jobs that a folder of six tables does not take."""
LISTED_ROWS = 20
"""The number of faults, and of cohorts, that are listed."""


def _import(request: TransferRequest) -> TransferReport:
    from .table_files import holds_tables

    assert request.source is not None and request.out is not None
    if holds_tables(request.source):
        return _import_tables(request, request.source, request.out)
    for name in ("store", "dry_run"):
        if request.options.get(name):
            raise UsageError(
                f"--{name.replace('_', '-')} works only with a folder of UpBench's six tables",
                where=str(request.source), next="give that folder as TABLE",
            )  # fmt: skip
    return import_job_table("upbench", request)


def _import_tables(request: TransferRequest, folder: Path, out: Path) -> TransferReport:
    """Import the six tables into the store, and write a suite of their jobs."""
    from .table_import import ImportUpbench, import_upbench

    for option in JOB_OPTIONS:
        if option.name in _JOB_TABLE_OPTIONS and request.options.get(option.name):
            raise UsageError(
                f"{option.typed_name} works only with a table of jobs, not with a folder of six tables",
                where=str(folder), next=f"leave out {option.typed_name}",
            )  # fmt: skip
    dry_run = request.flag("dry_run")
    config = ImportUpbench(
        encoding=request.text("encoding"), decimal=request.text("decimal"), files=request.path("files"),
        source=price_source(request), visibility="public" if request.flag("public") else "private",
        skip_faulty=request.flag("skip_faulty"), dry_run=dry_run,
    )  # fmt: skip
    with _store_for(request, dry_run=dry_run) as store:
        imported = import_upbench(store, folder, out, config)
    return TransferReport(imported.plain(), _report(imported, str(out), dry_run=dry_run))


@contextmanager
def _store_for(request: TransferRequest, *, dry_run: bool) -> Iterator[Store]:
    """Open the store; for a dry run without one, an empty store that is removed afterwards."""
    from worksample.store.location import is_store

    where = request.options.get("store")
    with ExitStack() as opened:
        absent = dry_run and not is_store(where)
        place = opened.enter_context(TemporaryDirectory()) if absent else where
        yield opened.enter_context(request.open_store(place, create=absent or not dry_run))


def _report(imported: ImportedTables, out: str, *, dry_run: bool) -> tuple[ReportTable | ReportLine, ...]:
    """Report new and changed rows, the effect on cohorts, and rows and columns that were left out."""
    names = ("new", "changed", "same", "gone")
    rows = [(name, *(counts[n] for n in names)) for name, counts in imported.refresh.rows.items()]
    parts: list[ReportTable | ReportLine] = [ReportTable(("table", *names), rows, right=names)]
    for name, columns in imported.refresh.columns.items():
        parts.append(ReportLine(f"  {name} changed in {', '.join(f'{c} ({n})' for c, n in columns.items())}"))
    cohorts = [
        (c.month, _before_and_after(c.jobs), _before_and_after(c.judged), _before_and_after(c.passed))
        for c in imported.refresh.cohorts
        if c.jobs[0] != c.jobs[1] or c.judged[0] != c.judged[1] or c.passed[0] != c.passed[1]
    ]
    if cohorts:
        heads = ("cohort", "jobs", "first attempts judged", "passed")
        parts.append(ReportTable(heads, cohorts[-LISTED_ROWS:], right=heads[1:]))
    lines = [f"  and {len(cohorts) - LISTED_ROWS} earlier cohorts"] if len(cohorts) > LISTED_ROWS else []
    lines += [f"  left out: {place}: {what}" for place, what in list(imported.faults.items())[:LISTED_ROWS]]
    lines += [f"  ignored columns of {name}: {', '.join(left)}" for name, left in imported.unread.items()]
    if imported.missing:
        lines.append(f"  missing files that the tables name: {imported.missing}")
    if imported.contradicted:
        lines.append(
            f"  judgements that contradict their criteria: {imported.contradicted}; verdicts follow the criteria"
        )
    if dry_run:
        lines.append("nothing was written")
    else:
        lines.append(f"suite: {out}")
        lines += [f"  next: worksample metrics {imported.experiment}"] if imported.experiment else []
    return (*parts, *map(ReportLine, lines))


def _before_and_after(counts: tuple[int, int]) -> str:
    return str(counts[1]) if counts[0] == counts[1] else f"{counts[0]} -> {counts[1]}"


def _export(request: TransferRequest) -> TransferReport:
    from .table_export import ExportUpbench, export_upbench

    assert request.out is not None
    config = ExportUpbench(
        format=request.text("format") or "csv", private=request.flag("private"), files=request.flag("files")
    )
    names = request.texts("experiments")
    with request.open_store(request.options.get("store")) as store:
        chosen = [request.find_experiment(store, name) for name in names] if names else None
        exported = export_upbench(store, request.out, chosen, config)
    lines = [f"  left out: {count} {what}" for what, count in exported.left_out.items()]
    if exported.left_out.get("jobs of private suites"):
        lines.append("  add --private to include private suites")
    lines.append(f"tables: {request.out}" + (f", with {exported.beside} files" if config.files else ""))
    files = [str(path) for path in exported.files]
    plain = {"rows": exported.rows, "left_out": exported.left_out, "files": files, "beside": exported.beside}
    rows = ReportTable(("table", "rows"), list(exported.rows.items()), right=("rows",))
    return TransferReport(plain, (rows, *map(ReportLine, lines)))


UPBENCH = ExchangeFormat(
    "upbench",
    "UpBench's six tables",
    importer=Transfer(
        "Import UpBench's tables: jobs, submissions and evaluations.",
        """Turn a table like UpBench's `projects` into a suite of task packages below the folder OUT.

        As in the paper (3.2), jobs that are not completed, have no verified payment, are paid by the hour or have
        several milestones are left out and counted. If TABLE is a folder with the six tables of UpBench's appendix B,
        these jobs are imported too, but marked and left out of the suite, and all qualifications, submissions and
        evaluations are added to the store (docs/reference/formats.md).
        """,
        _import,
        (
            *JOB_OPTIONS,
            FormatOption("dry_run", "Report what the six tables would change, and write nothing."),
            STORE,
        ),
        source="TABLE",
    ),
    exporter=Transfer(
        "Write UpBench's six tables, from jobs to evaluators.",
        """Write UpBench's six tables into the folder OUT: projects, qualifications, submissions, evaluations,
        evaluators, agents.

        Jobs of private suites are left out. Data from `worksample import upbench` are written back unchanged
        (docs/reference/formats.md).
        """,
        _export,
        (
            FormatOption("format", "csv (default), json, jsonl or parquet.", value="NAME"),
            FormatOption(
                "experiments", "Name or id; by default all. Repeatable.", value="TEXT", repeatable=True,
                flag="--experiment",
            ),
            FormatOption("private", "Include jobs of private suites, with their submissions and evaluations."),
            FormatOption(
                "files",
                "Also write the submitted files and the jobs' attachments, in the folders that an import reads.",
            ),
            STORE,
        ),
    ),
)  # fmt: skip
