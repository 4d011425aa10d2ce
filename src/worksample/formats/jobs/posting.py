"""A job's posting, read and checked from a row of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import Any

from pydantic import ValidationError

from worksample.dollar_text import LARGEST
from worksample.errors import UsageError
from worksample.files.tables import cell_values as cells
from worksample.files.tables.intervals import NumberRange
from worksample.records import ContractType, Criteria, Job, Source
from worksample.tasks.taxonomy import categories, lookup, slug

from .columns import AMOUNTS, RANGES
from .rubric import read_rubric

_LARGEST_EXCHANGE_RATE = 1e5
"""The largest exchange rate: units of a small currency for one US dollar."""
_LARGEST_HOURS = 1e6
"""The largest number of hours of one job."""
_TITLE_LIMIT = 120
"""The largest number of characters of a title that is taken from the description."""


@dataclass(frozen=True, slots=True)
class Posting:
    """A job that is ready to be written as a package."""

    job: Job
    title: str
    description: str
    category: str
    """An id of `worksample.tasks.taxonomy`; "" if the posted names are not Upwork's."""
    criteria: Criteria
    attachments: tuple[str, ...]
    reference: tuple[str, ...]
    """Paths of the human's deliverables."""
    hours: float | None
    occupation: str
    licence: str
    tags: tuple[str, ...]
    source: Source
    ranges: Mapping[str, NumberRange] = field(default_factory=dict)
    """Amounts and `hours` that the list gives as a range; the fields themselves have the middle."""

    @property
    def price(self) -> NumberRange | None:
        """The lowest and highest amount, of the same field as `job.amount`."""
        named = next((name for name in PAID if getattr(self.job, name) is not None), None)
        amount = self.job.amount
        if amount is None or named is None:
            return None
        return self.ranges.get(named, NumberRange(amount, amount))

    @property
    def time(self) -> NumberRange | None:
        """The lowest and highest number of hours."""
        return None if self.hours is None else self.ranges.get("hours", NumberRange(self.hours, self.hours))

    @property
    def day(self) -> date | None:
        """The day when the price was paid or named: the job's end, else its start."""
        at = self.job.end or self.job.start
        return at.date() if at else None


PAID = ("contract_amount", "milestone_amount", "job_amount")
"""Amounts of a job; the first known one counts (`Job.amount`)."""
NO_ID, NO_DESCRIPTION = "no id", "no description"
"""Faults of a row without an id, and of a row without a description."""
_JOB_FIELDS = (
    "contract", "title", "start", "end", "job_amount", "contract_amount", "milestone_amount", "status",
    "payment_verified", "expertise", "category", "subcategory", "subsubcategory", "openings", "milestones",
    "automation_desire", "onet_tasks", "attachments", "attachment_details",
)  # fmt: skip


def read_posting(values: Mapping[str, Any], source: Source) -> Posting:
    """Return a posting from the values of a row. Raises InvalidCell for missing or contradictory values."""
    if not values.get("contract"):
        raise cells.InvalidCell(NO_ID)
    description = values.get("description", "")
    if not cells.text(description):
        raise cells.InvalidCell(NO_DESCRIPTION)
    job = _job(values)
    if job.start and job.end and job.end < job.start:
        raise cells.InvalidCell(f"ends ({job.end:%Y-%m-%d}) before it starts ({job.start:%Y-%m-%d})")
    occupation = values.get("occupation", "")
    code = occupation[:7] if occupation[2:3] == "-" and occupation[:2].isdigit() and occupation[3:7].isdigit() else ""
    rubric = values.get("criteria")
    return Posting(
        job=job, title=_title_line(values.get("title"), description, job.contract), description=description,
        category=category_of(job), criteria=read_rubric(rubric) if not cells.is_blank(rubric) else Criteria(),
        attachments=values.get("attachments", ()), reference=values.get("reference", ()),
        hours=values.get("hours"), occupation=code, licence=values.get("licence", ""),
        tags=values.get("tags", ()), source=source, ranges=values.get(RANGES, {}),
    )  # fmt: skip


def _job(values: Mapping[str, Any]) -> Job:
    kind = str(values.get("type", "")).lower().replace("-", " ").replace("_", " ").split(" ")[0]
    if kind and kind not in set(ContractType):
        raise cells.InvalidCell(f"type {values['type']!r} is neither fixed nor hourly")
    body = {name: values[name] for name in _JOB_FIELDS if name in values}
    currency = str(values.get("currency") or "USD").upper()
    _check_size(values, currency)
    try:
        return Job(currency=currency, type=ContractType(kind) if kind else None, **body)
    except ValidationError as e:
        error = e.errors()[0]
        raise cells.InvalidCell(f"{'.'.join(map(str, error['loc']))}: {error['msg']}") from None


def _check_size(values: Mapping[str, Any], currency: str) -> None:
    """Raise InvalidCell for an impossible price or number of hours, which `metrics` would leave out silently."""
    most = LARGEST if currency == "USD" else LARGEST * _LARGEST_EXCHANGE_RATE
    for name, ceiling, unit in (*((name, most, currency) for name in AMOUNTS), ("hours", _LARGEST_HOURS, "hours")):
        value = values.get(name)
        if isinstance(value, int | float) and value > ceiling:
            shown = f"{value:,.0f}" if value < 1e15 else f"{value:g}"
            raise cells.InvalidCell(f"{name}: {shown} is more than {ceiling:,.0f} {unit}, the highest value accepted")


def _title_line(title: Any, description: str, contract: str) -> str:
    """Return a title in one line: the posted title, else the description's first line, else the id."""
    return cells.text(title) or _first_line(cells.text(description)) or cells.text(contract) or "job"


def _first_line(description: str) -> str:
    first = next((line.strip(" #*") for line in description.splitlines() if line.strip(" #*")), description)
    return (
        first if len(first) <= _TITLE_LIMIT else first[: _TITLE_LIMIT - 1].rsplit(" ", 1)[0] + "\N{HORIZONTAL ELLIPSIS}"
    )


def category_of(job: Job) -> str:
    """Return Upwork's id for the posted names; the id of the top category if the subcategory is unknown."""
    if ":" in job.category:
        return _known_category(job.category)
    top = _upwork_categories("").get(_words(job.category), "")
    return _upwork_categories(top).get(_words(job.subcategory), top) if top else ""


@cache
def _upwork_categories(above: str) -> dict[str, str]:
    """Return words of a title or id -> id, for Upwork's categories directly below `above` ("": the top ones)."""
    found = [c for c in categories("upwork") if c.parent == above]
    return {_words(name): c.id for c in found for name in (c.title, c.id.rpartition("/")[2].removeprefix("upwork:"))}


@lru_cache(10_000)
def _words(title: str) -> str:
    """Return a title as words, so that different spellings agree.

    `Web, Mobile & Software Development` and `web-mobile-software-dev` give the same words.
    """
    return " ".join({"dev": "development"}.get(w, w) for w in slug(title).split("-") if w != "and")


def _known_category(id: str) -> str:
    try:
        return lookup(id).id
    except UsageError:
        return ""
