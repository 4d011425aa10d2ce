"""Import of a table of jobs as a suite of packages. Each row is written, filtered out or faulty, and counted."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from worksample.errors import FaultyRows, UsageError
from worksample.files.tables.cell_values import InvalidCell
from worksample.files.tables.table_reader import FaultyRow
from worksample.records import Source
from worksample.tasks.taxonomy import slug

from .column_map import refuse_unclear_columns
from .columns import Columns, choose_columns
from .filters import FILTERS, UPBENCH, first_failed_filter
from .job_package import choose_folder, find_files, with_available_files, write_package
from .posting import NO_DESCRIPTION, NO_ID, Posting, read_posting
from .project_folders import open_jobs

COUNTS_FILE = "import.json"
"""The file with the counts of rows and exclusions, beside the suite."""
REQUIRED_FIELDS = {"contract": "the job's id", "description": "the brief"}
"""Required field -> its meaning."""


@dataclass(frozen=True, slots=True)
class ImportJobs:
    """Settings of an import."""

    preset: str = "jobs"
    """The set of column names: `jobs`, `upbench` or `gdpval`."""
    mapping: Path | None = None
    """A TOML file with a firm's own column names."""
    encoding: str = ""
    """The encoding of a CSV; "" to infer it from the first bytes, by default UTF-8."""
    decimal: str = ""
    """The decimal mark of every number; "" to infer it from each column. An ambiguous column is an error."""
    dates: str = ""
    """The order of every date, `DMY`, `MDY` or `YMD`; "" to infer it from each column."""
    sheet: str = ""
    """The sheet of a workbook; "" for the only visible one with rows."""
    files: Path | None = None
    """The folder of attachments and deliverables; None for the table's own folder."""
    filters: tuple[str, ...] = ()
    """Names from `filters.FILTERS`. The preset `upbench` uses all of them."""
    source: Source = Source.PAID
    """The source of prices and hours."""
    day: date | None = None
    """The date of prices and hours for jobs without a date; None for today."""
    visibility: str = "private"
    skip_faulty: bool = False
    """Whether the other rows are written if some are faulty."""
    overwrite: bool = False
    missing: bool = False
    """Whether jobs are imported even if attachments are missing, not regular files or too large. Their qualification
    names those files.
    """


@dataclass(frozen=True, slots=True)
class ImportedJobs:
    """The outcome for all rows. `rows` = written + there + the sum of `left_out` + the number of faults."""

    rows: int
    written: tuple[str, ...]
    """Names of the packages."""
    there: int
    """Number of jobs whose packages existed already."""
    left_out: dict[str, int]
    """Filter -> number of jobs that it excluded, in the order of application."""
    faults: dict[str, str]
    """`line N` -> the row's faults."""
    without_price: int
    foreign: dict[str, int]
    """Currency other than US dollars -> number of jobs priced in it. Figures in dollars leave these jobs out."""
    without_category: int
    unread: tuple[str, ...]
    """Columns that no field uses."""
    numbers: tuple[str, ...] = ()
    """One line for each column with ambiguous numbers or dates, or with ranges: how they were read, and why."""


def import_jobs(
    table: Path, out: Path, config: ImportJobs, *, show_progress: Callable[[int], None] = lambda rows: None
) -> ImportedJobs:
    """Write a suite of packages below `out`, one for each job. show_progress: called with the number of rows read.

    All rows are read first. If one is faulty, nothing is written, unless `skip_faulty`. An existing package is kept, so
    an interrupted import can be continued. Raises ImportFailed, UsageError, ManifestError.
    """
    for name in config.filters:
        if name not in FILTERS:
            raise UsageError(
                f"there is no filter {name!r}; there are {', '.join(FILTERS)}", next=f"--filter {next(iter(FILTERS))}"
            )
    filters = UPBENCH if config.preset == "upbench" else config.filters
    files = config.files or (table if table.is_dir() else table.parent)
    if not files.is_dir():
        raise UsageError("there is no such folder", where=str(files), next="--files DIR with the attachments")
    tally = _Tally()
    with open_jobs(table, config.encoding, config.sheet) as opened:
        chosen = choose_columns(opened.header, config.preset, config.mapping, config.decimal, config.dates)
        notes = opened.notes
        columns = chosen.with_rows(opened.rows)
        unread = (*columns.unread, *opened.nameless)
    for line, posting in _postings(table, config, columns, filters, tally, show_progress):
        try:
            if not config.missing:
                find_files(posting, files)
        except InvalidCell as e:
            tally.faults[f"line {line}"] = str(e)
    if tally.faults and set(tally.faults.values()) <= {NO_ID, NO_DESCRIPTION}:
        _need_columns(table, out, config, chosen)
    if tally.faults and not config.skip_faulty:
        step = "correct them, or leave them out with --skip-faulty"
        raise FaultyRows(tally.faults, step, where=str(table), rows=tally.rows, what="jobs")
    tally = _Tally()
    written: list[str] = []
    there = 0
    day = config.day or date.today()
    owners: dict[str, str] = {}
    for line, posting in _postings(table, config, columns, filters, tally, show_progress):
        root = choose_folder(posting, out, owners)
        if root.exists() and not config.overwrite:
            there += 1
            continue
        try:
            whole = with_available_files(posting, files) if config.missing else posting
            write_package(whole, root, files, day, f"{table.name}, {posting.job.contract}")
        except InvalidCell as e:
            tally.faults[f"line {line}"] = str(e)
            continue
        written.append(root.name)
        tally.without_price += posting.job.amount is None
        if posting.job.amount is not None and posting.job.currency != "USD":
            tally.foreign[posting.job.currency] += 1
        tally.without_category += not posting.category
    left_out = {f: tally.left_out[f] for f in FILTERS if f in tally.left_out}
    if written:
        _write_suite(out, table, config)
    if written or there:
        counts = {"rows": tally.rows, "left_out": left_out, "faults": len(tally.faults)}
        (out / COUNTS_FILE).write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return ImportedJobs(
        tally.rows, tuple(written), there, left_out, tally.faults, tally.without_price,
        dict(tally.foreign.most_common()), tally.without_category, unread, (*notes, *columns.notes()),
    )  # fmt: skip


@dataclass(slots=True)
class _Tally:
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)
    without_price: int = 0
    foreign: Counter[str] = field(default_factory=Counter)
    without_category: int = 0


def _postings(
    table: Path, config: ImportJobs, columns: Columns, filters: tuple[str, ...], tally: _Tally,
    show_progress: Callable[[int], None],
) -> Iterator[tuple[int, Posting]]:  # fmt: skip
    """Yield (line, posting) for the jobs that pass the filters; count the others and the faults in `tally`."""
    seen: dict[str, int] = {}
    with open_jobs(table, config.encoding, config.sheet) as opened:
        for line, row in opened.rows:
            tally.rows += 1
            if tally.rows % 1000 == 0:
                show_progress(tally.rows)
            try:
                if isinstance(row, FaultyRow):
                    raise InvalidCell(row.what)
                values, faults = columns.read_row(row)
                if faults:
                    raise InvalidCell("; ".join(faults))
                if columns.line_ids and not values.get("contract"):
                    values["contract"] = f"line-{line}"
                posting = read_posting(values, config.source)
                before = seen.setdefault(posting.job.contract, line)
                if before != line:
                    raise InvalidCell(f"the id {posting.job.contract[:80]!r} is already used in line {before}")
            except InvalidCell as e:
                tally.faults[f"line {line}"] = str(e)
                continue
            reason = first_failed_filter(posting.job, filters)
            if reason:
                tally.left_out[reason] += 1
                continue
            yield line, posting
    show_progress(tally.rows)


def _need_columns(table: Path, out: Path, config: ImportJobs, columns: Columns) -> None:
    """Raise UnclearColumns with a map to confirm if a required field has neither a column nor a fixed value."""
    lacking = {
        name: meaning
        for name, meaning in REQUIRED_FIELDS.items()
        if name not in columns.of and name not in columns.values and not (name == "contract" and columns.line_ids)
    }
    if not lacking:
        return
    command = f"worksample import {config.preset} {shlex.quote(str(table))} {shlex.quote(str(out))}"
    with open_jobs(table, config.encoding, config.sheet) as opened:
        refuse_unclear_columns(table, opened.header, opened.rows, lacking, command)


def _write_suite(out: Path, table: Path, config: ImportJobs) -> None:
    """Write `suite.toml` for the packages, unless it exists."""
    path = out / "suite.toml"
    if path.exists():
        return
    name = re.sub(r"^[^a-z0-9]+", "", slug(out.resolve().name)) or "jobs"
    path.write_text(
        f'name = "{name}"\ntitle = "Jobs of {slug(table.stem)}"\nversion = "1"\n'
        f'visibility = "{config.visibility}"\ntasks = ["*"]\n',
        encoding="utf-8",
    )
