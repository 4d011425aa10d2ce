"""Formats for tables of jobs: `worksample import jobs`, `gdpval` and `rli`. They differ in their column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from worksample.errors import UsageError, list_faults
from worksample.formats.interface import (
    OVERWRITE,
    ExchangeFormat,
    FormatOption,
    ReportLine,
    ReportTable,
    Transfer,
    TransferReport,
    TransferRequest,
)

if TYPE_CHECKING:
    from worksample.records import Source

    from .table_import import ImportedJobs

NAMED_PROJECTS = 5
"""The number of incomplete projects that are named."""
JOB_OPTIONS = (
    FormatOption("mapping", "A TOML file that names the columns.", value="FILE", flag="--map"),
    FormatOption("encoding", "The encoding of a CSV that is not UTF-8, such as cp1252.", value="NAME"),
    FormatOption(
        "decimal", "The decimal mark of all numbers, `,` or `.`; default: inferred from each column.",
        value="MARK",
    ),
    FormatOption(
        "dates", "The order in all dates: DMY, MDY or YMD; default: inferred from each column.", value="ORDER",
    ),
    FormatOption("sheet", "The sheet of a workbook; default: the only visible one with rows.", value="NAME"),
    FormatOption("files", "The folder with the attachments; default: the table's own.", value="DIR"),
    FormatOption(
        "filters", "Keep only completed, payment-verified, fixed-price or single-milestone jobs. Repeatable.",
        value="NAME", repeatable=True, flag="--filter",
    ),
    FormatOption(
        "source", "The source of prices: paid (default), self_reported, estimated or illustrative.", value="NAME"
    ),
    FormatOption("public", "Make the suite public; by default it is private."),
    FormatOption("skip_faulty", "Leave out rows with errors, and count them."),
    FormatOption(
        "missing",
        "Also import jobs with missing or too large attachments; their qualification lists those files.",
    ),
    OVERWRITE,
)  # fmt: skip
"""Options of every import of a table of jobs."""


def import_job_table(preset: str, request: TransferRequest) -> TransferReport:
    """Import a table of jobs with the column names of a preset; report how many rows were written, excluded and
    faulty.
    """
    from .project_folders import incomplete_projects
    from .table_import import ImportJobs, import_jobs

    assert request.source is not None and request.out is not None
    config = ImportJobs(
        preset="jobs" if preset == "rli" else preset,
        mapping=request.path("mapping"), encoding=request.text("encoding"), decimal=request.text("decimal"),
        dates=request.text("dates"), sheet=request.text("sheet"),
        files=request.path("files"), filters=request.texts("filters"), source=price_source(request),
        visibility="public" if request.flag("public") else "private",
        skip_faulty=request.flag("skip_faulty"), overwrite=request.flag("overwrite"), missing=request.flag("missing"),
    )  # fmt: skip
    imported = import_jobs(request.source, request.out, config, show_progress=request.show_progress)
    plain = {**{name: getattr(imported, name) for name in imported.__slots__}, "out": str(request.out)}
    bare = incomplete_projects(request.source) if request.source.is_dir() else {}
    if bare:
        plain["incomplete"] = {what: list(names) for what, names in bare.items()}
    return TransferReport(plain, (*_incomplete(bare), *_report(imported, str(request.out))))


def _incomplete(bare: Mapping[str, Sequence[str]]) -> Iterator[ReportLine]:
    """Yield a line for each part that project folders lack."""
    for what, names in bare.items():
        some = ", ".join(names[:NAMED_PROJECTS]) + (" ..." if len(names) > NAMED_PROJECTS else "")
        yield ReportLine(f"  projects without {what}: {len(names)} ({some})")


def price_source(request: TransferRequest) -> Source:
    """Return the value of `--source`. Raises UsageError for an unknown one."""
    from worksample.records import Source

    name = request.text("source")
    if name and name not in set(Source):
        raise UsageError(
            f"there is no source {name!r}; there are {', '.join(Source)}", where="--source", next="--source paid"
        )
    return Source(name or Source.PAID)


def _report(imported: ImportedJobs, out: str) -> tuple[ReportTable | ReportLine, ...]:
    """Report how many jobs were left out at each step, and what is unusual about the others."""
    rows = [("rows", imported.rows), *((f"left out: not {name}", n) for name, n in imported.left_out.items())]
    rows += [("faulty", len(imported.faults)), ("already there", imported.there), ("written", len(imported.written))]
    shown = [row for row in rows if row[1] or row[0] in ("rows", "written")]
    lines = [f"  {line}" for line in list_faults(imported.faults)]
    if imported.unread:
        lines.append(f"  ignored columns: {', '.join(imported.unread)}")
    lines += [f"  {note}" for note in imported.numbers]
    if imported.without_price:
        lines.append(f"  without a price: {imported.without_price}; they are left out of figures in dollars")
    if imported.foreign:
        priced = ", ".join(f"{n} in {currency}" for currency, n in imported.foreign.items())
        lines.append(f"  priced in a currency other than US dollars: {priced}; they are left out of figures in dollars")
    if imported.without_category:
        lines.append(f"  without a category of Upwork's: {imported.without_category}")
    if not imported.written and not imported.there:
        lines.append(f"no job was imported, so {out} was not written")
    else:
        lines += [f"suite: {out}", f"  next: worksample suite describe {out}"]
        lines.append(f"        worksample jobs qualify {out}, so that experts choose the suitable jobs")
    return (ReportTable(("jobs", "count"), shown, right=("count",)), *map(ReportLine, lines))


def _job_format(name: str, title: str, summary: str, help: str, source: str = "TABLE") -> ExchangeFormat:
    run = partial(import_job_table, name)
    return ExchangeFormat(name, title, importer=Transfer(summary, help, run, JOB_OPTIONS, source=source))


JOBS = _job_format(
    "jobs",
    "Tables of jobs",
    "Turn a table of jobs into packages: a firm's own list, a marketplace's.",
    """Turn a table of jobs into a suite of task packages below the folder OUT.

    TABLE is a .csv, .tsv, .xlsx, .json, .jsonl or .parquet with one job per row; --map names its columns
    (docs/reference/formats.md). If a row has errors, nothing is written, unless --skip-faulty leaves such rows out.
    """,
)
GDPVAL = _job_format(
    "gdpval",
    "GDPval's table, files and rubrics",
    "Turn GDPval's table, files and rubrics into packages.",
    """Turn GDPval's table (.parquet, .jsonl) into a suite of task packages below the folder OUT.

    --files is the folder that holds `reference_files/` and `deliverable_files/`; default: the table's own. The rubrics
    become criteria for people to judge, and the expert's files become the reference.
    """,
)
RLI = _job_format(
    "rli",
    "Folders of projects, as the Remote Labor Index describes them",
    "Turn folders with a brief, inputs and a human deliverable into packages.",
    """Turn a folder of projects, laid out as RLI describes them, into a suite of packages below the folder OUT.

    Each project's folder has a brief (brief.md), inputs/, human_deliverable/ and may have a metadata.json with price,
    hours and category (docs/reference/formats.md).
    """,
    source="FOLDER",
)
