"""Which jobs are taken in: UpBench's own (3.2), or all that are sound; each that stays out has its reason."""

from __future__ import annotations

from collections.abc import Callable

from worksample.records import ContractType, Job

_DONE = frozenset({"completed", "complete", "closed", "finished", "done", "paid", "ended"})


def _completed(job: Job) -> bool:
    return not job.status or job.status.lower() in _DONE


def _verified(job: Job) -> bool:
    return job.payment_verified is not False


def _fixed(job: Job) -> bool:
    return job.type is not ContractType.HOURLY


def _single(job: Job) -> bool:
    return job.milestones is None or job.milestones <= 1


FILTERS: dict[str, Callable[[Job], bool]] = {
    "completed": _completed, "payment-verified": _verified, "fixed-price": _fixed, "single-milestone": _single,
}  # fmt: skip
"""In the order of the funnel. A job that does not say passes: a table of finished jobs needs no column for it."""
UPBENCH = tuple(FILTERS)


def first_failed_filter(job: Job, filters: tuple[str, ...]) -> str:
    """The first filter that a job does not pass, or ""."""
    return next((name for name in filters if not FILTERS[name](job)), "")


def exclusion_tags(job: Job) -> tuple[str, ...]:
    """Tags for work that the paper's preset leaves out."""
    out = [] if _fixed(job) else ["hourly"]
    return tuple(out if _single(job) else [*out, "several-milestones"])
