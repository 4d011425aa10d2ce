"""A list of jobs to give advice on, read from a table in any usual format."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from worksample.errors import FaultyRows, UsageError
from worksample.files.tables import cell_values as cells
from worksample.files.tables.table_reader import FaultyRow
from worksample.formats.jobs.column_map import refuse_unclear_columns
from worksample.formats.jobs.columns import AMOUNTS, Columns, choose_columns
from worksample.formats.jobs.posting import Posting, read_posting
from worksample.formats.jobs.project_folders import open_jobs
from worksample.records import Job, Source

MONTHLY = ("monthly", "per_month", "times_a_month", "a_month", "how_often", "frequency", "count")
"""Accepted names of the column that gives the number of times that a job occurs in a month."""
MOST = 5_000
"""Maximum number of jobs in one list."""
FOREIGN = "and costs are in US dollars"
"""End of the message about an amount in another currency."""


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job of the list. `value` is what the job is worth in US dollars if it is done well. `hours` is the time that a
    person needs. `monthly` is how often the job occurs in a month.
    """

    row: str
    title: str
    text: str
    """The text from which similarity is computed: title, description and the suffixes of its files."""
    category: str
    value: float
    hours: float | None
    monthly: float


def read_list(
    table: Path,
    *,
    mapping: Path | None = None,
    encoding: str = "",
    monthly: str = "",
    decimal: str = "",
    dates: str = "",
    sheet: str = "",
    told: Callable[[str], None] = lambda note: None,
) -> tuple[ListedJob, ...]:
    """Read the jobs of a .csv, .tsv, .xlsx, .json, .jsonl or .parquet file.

    `monthly` names the column of jobs per month, if it has another name. `decimal`: the decimal mark of all numbers.
    `dates`: the order of all dates. If one of them is "", each column decides. `told` is called with a note on how
    unclear numbers and dates are read. Raises FaultyRows with every fault by line, UsageError for an empty list, an
    unknown column, or more than `MOST` jobs.
    """
    found: list[ListedJob] = []
    faults: dict[str, str] = {}
    rows = 0
    with open_jobs(table, encoding, sheet) as opened:
        chosen = choose_columns(opened.header, "jobs", mapping, decimal, dates)
        often = _monthly(opened.header, monthly or chosen.monthly)
        columns = chosen.with_rows(opened.rows, (often,) if often else ())
        for note in (*opened.notes, *columns.notes()):
            told(note)
    _need_columns(table, chosen, encoding, sheet)
    with open_jobs(table, encoding, sheet) as opened:
        for rows, (n, row) in enumerate(opened.rows, 1):  # noqa: B007 - how many there are is told below
            try:
                if isinstance(row, FaultyRow):
                    raise cells.InvalidCell(row.what)
                said, wrong = columns.read_row(row)
                if wrong:
                    raise cells.InvalidCell("; ".join(wrong))
                found.append(_read_job(f"line {n}", said, _times(columns, often, row)))
            except cells.InvalidCell as e:
                faults[f"line {n}"] = str(e)
            if len(found) > MOST:
                raise UsageError(f"the list has more than {MOST:,} jobs", where=str(table), next="split the list")
    if faults:
        unread = [name for name in columns.unread if name != often]
        raise FaultyRows(faults, next=_step(faults, unread), where=str(table), rows=rows)
    if not found:
        raise UsageError(
            "the list has no jobs", where=str(table), next="write one row per job (docs/tutorials/firm.md)"
        )
    return tuple(found)


def _need_columns(table: Path, chosen: Columns, encoding: str, sheet: str) -> None:
    """Raise UnclearColumns with a map to confirm if no column gives the jobs' titles or values."""
    known = {*chosen.of, *chosen.values}
    lacking = {} if known & {*AMOUNTS} else {"contract_amount": "what the job is worth"}
    lacking |= {} if known & {"title", "description"} else {"title": "what the job is"}
    if lacking:
        with open_jobs(table, encoding, sheet) as opened:
            command = f"worksample advise {shlex.quote(str(table))}"
            refuse_unclear_columns(table, opened.header, opened.rows, lacking, command)


def _step(faults: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return the next step for the user after faulty lines. Amounts in another currency are not wrong, but they cannot
    be compared.
    """
    foreign = sum(FOREIGN in what for what in faults.values())
    if foreign == len(faults):
        return "write the values in US dollars and try again"
    unread = ", ".join(columns)
    hint = f"; unused columns: {unread} (a file for --map can assign them)" if unread else ""
    return f"correct the file{', with the values in US dollars,' if foreign else ''} and try again{hint}"


def words_of(title: str, description: str, files: Sequence[str]) -> str:
    """Return the title, the description and the file types of a job as one text."""
    endings = sorted({PurePosixPath(f).suffix.lstrip(".").lower() for f in files} - {""})
    return "\n".join(part for part in (title, description, " ".join(endings)) if part)


def _monthly(header: Sequence[str], named: str) -> str:
    if named:
        if named not in header:
            raise UsageError(
                f"the table has no column {named!r}", where="--monthly", next=f"one of {', '.join(header)}"
            )
        return named
    known = {h.strip().lower().replace(" ", "_"): h for h in reversed(header)}
    return next((known[name] for name in MONTHLY if name in known), "")


def _times(columns: Columns, often: str, row: Mapping[str, Any]) -> float:
    """Return the number of times that the job occurs in a month; 1 if the list does not say."""
    if not often or cells.is_blank(row.get(often)):
        return 1.0
    try:
        return columns.numbers.read_interval(often, row[often])[0].middle
    except cells.InvalidCell as e:
        raise cells.InvalidCell(f"the number of times a month: {e}") from None


def _read_job(row: str, said: Mapping[str, Any], monthly: float) -> ListedJob:
    title = said.get("title", "")
    posting = read_posting({"contract": row, **said, "description": said.get("description") or title}, Source.ESTIMATED)
    value = _value(posting.job)
    text = words_of(posting.title, posting.description, posting.attachments)
    return ListedJob(row, posting.title, text, _category(posting), value, posting.hours, monthly)


def _value(job: Job) -> float:
    if job.currency != "USD":
        raise cells.InvalidCell(f"the value of the job is in {job.currency}, {FOREIGN}")
    if job.amount is None:
        raise cells.InvalidCell("the job has no value (its worth in US dollars, if done well)")
    return job.amount


def _category(posting: Posting) -> str:
    """Return the category of the taxonomy if the job's category is one of them. Otherwise return the category as the
    list states it.
    """
    return posting.category or "/".join(part for part in (posting.job.category, posting.job.subcategory) if part)
