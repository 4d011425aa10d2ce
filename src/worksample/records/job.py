"""Job postings behind tasks, from a marketplace or a firm's own list."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from .base import Frozen, Moment, omittable


class ContractType(StrEnum):
    FIXED = "fixed"
    """One price for the whole job."""
    HOURLY = "hourly"


class Job(Frozen):
    """A contract and its posting (UpBench B, Table 4). Unknown values are None or empty, never 0."""

    contract: str = Field(min_length=1, max_length=200)
    """The marketplace's id of the contract."""
    title: str = omittable("")
    """The title as posted; the task's title is one line. Omitted if the list had none."""
    start: Moment | None = None
    end: Moment | None = None
    job_amount: float | None = Field(default=None, ge=0)
    """The posted amount, in the currency of the task's value. UpBench has three fields for paid amounts."""
    contract_amount: float | None = Field(default=None, ge=0)
    milestone_amount: float | None = Field(default=None, ge=0)
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")
    type: ContractType | None = None
    status: str = ""
    payment_verified: bool | None = None
    expertise: str = ""
    """The marketplace's tier, such as `Intermediate`."""
    category: str = ""
    """The category as posted; the task's category is an id of `worksample.tasks.taxonomy`."""
    subcategory: str = ""
    subsubcategory: str = ""
    openings: int | None = Field(default=None, ge=0)
    milestones: int | None = Field(default=None, ge=0)
    automation_desire: float | None = None
    """How much workers want such work automated, on the marketplace's scale."""
    onet_tasks: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    """Names as posted; the files are in the package's `inputs/`."""
    attachment_details: dict[str, dict[str, str | int | float | bool]] = omittable({})
    """Attachment -> further details in the posting. Omitted if empty."""

    @property
    def cohort(self) -> str:
        """Return the month in which the job starts, such as `2026-03`; "" if unknown."""
        return f"{self.start:%Y-%m}" if self.start else ""

    @property
    def amount(self) -> float | None:
        """Return the amount paid: the contract's, else the milestone's, else the posted one."""
        known = (self.contract_amount, self.milestone_amount, self.job_amount)
        return next((a for a in known if a is not None), None)
