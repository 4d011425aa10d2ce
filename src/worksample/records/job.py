"""Job postings from which tasks are made. They come from a marketplace or from a firm's own list of work."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from .base import Frozen, Moment, omittable


class ContractType(StrEnum):
    FIXED = "fixed"
    """The client pays one price for the whole job."""
    HOURLY = "hourly"


class Job(Frozen):
    """A job posting and its contract (UpBench B, Table 4). Unknown values are None or empty, never 0."""

    contract: str = Field(min_length=1, max_length=200)
    """Id of the contract on the marketplace."""
    title: str = omittable("")
    """Title of the posting. The title of the task is a separate, one-line text. Omitted if the posting had no title."""
    start: Moment | None = None
    end: Moment | None = None
    job_amount: float | None = Field(default=None, ge=0)
    """Amount in the posting, in the currency of the job. UpBench has three fields for amounts: job, contract and
    milestone.
    """
    contract_amount: float | None = Field(default=None, ge=0)
    milestone_amount: float | None = Field(default=None, ge=0)
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")
    type: ContractType | None = None
    status: str = ""
    payment_verified: bool | None = None
    expertise: str = ""
    """Level of expertise that the marketplace states, such as `Intermediate`."""
    category: str = ""
    """Category in the posting. The category of the task is a different value: an id of `worksample.tasks.taxonomy`."""
    subcategory: str = ""
    subsubcategory: str = ""
    openings: int | None = Field(default=None, ge=0)
    milestones: int | None = Field(default=None, ge=0)
    automation_desire: float | None = None
    """How much workers want work of this kind to be automated, on the scale of the source."""
    onet_tasks: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    """Names of the posting's attachments. The files themselves are in `inputs/` of the task package."""
    attachment_details: dict[str, dict[str, str | int | float | bool]] = omittable({})
    """Further details in the posting about each attachment, by attachment. Omitted if empty."""

    @property
    def cohort(self) -> str:
        """Return the month in which the job starts, such as `2026-03`; "" if the start is unknown."""
        return f"{self.start:%Y-%m}" if self.start else ""

    @property
    def amount(self) -> float | None:
        """Return the amount paid for the job: the contract's amount, otherwise the milestone's, otherwise the posted
        amount. Return None if all three are unknown.
        """
        known = (self.contract_amount, self.milestone_amount, self.job_amount)
        return next((a for a in known if a is not None), None)
