"""Filters of jobs: UpBench's own (3.2), or none; each excluded job has a reason."""

from __future__ import annotations

from collections.abc import Callable

from worksample.records import ContractType, Job

_DONE = frozenset({"completed", "complete", "closed", "finished", "done", "paid", "ended"})


def _is_completed(job: Job) -> bool:
    return not job.status or job.status.lower() in _DONE


def _is_verified(job: Job) -> bool:
    return job.payment_verified is not False


def _is_fixed_price(job: Job) -> bool:
    return job.type is not ContractType.HOURLY


def _has_single_milestone(job: Job) -> bool:
    return job.milestones is None or job.milestones <= 1


FILTERS: dict[str, Callable[[Job], bool]] = {
    "completed": _is_completed,
    "payment-verified": _is_verified,
    "fixed-price": _is_fixed_price,
    "single-milestone": _has_single_milestone,
}
"""In the order of the funnel. A job that does not say passes: a table of finished jobs needs no column for it."""
UPBENCH = tuple(FILTERS)


def first_failed_filter(job: Job, filters: tuple[str, ...]) -> str:
    """Return the first filter that a job fails, or ""."""
    return next((name for name in filters if not FILTERS[name](job)), "")


def exclusion_tags(job: Job) -> tuple[str, ...]:
    """Return tags for work that the paper's preset excludes."""
    out = [] if _is_fixed_price(job) else ["hourly"]
    return tuple(out if _has_single_milestone(job) else [*out, "several-milestones"])
