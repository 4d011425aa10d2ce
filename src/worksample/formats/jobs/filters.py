"""Filters of jobs, as UpBench applies them (3.2). Each excluded job is counted under the first filter that it fails."""

from __future__ import annotations

from collections.abc import Callable

from worksample.records import ContractType, Job

_COMPLETED_STATUSES = frozenset({"completed", "complete", "closed", "finished", "done", "paid", "ended"})


def _is_completed(job: Job) -> bool:
    return not job.status or job.status.lower() in _COMPLETED_STATUSES


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
"""Filter -> whether a job passes it, in the order of application.

A job passes if its table lacks the information: a table of finished jobs needs no column for the status.
"""
UPBENCH = tuple(FILTERS)


def first_failed_filter(job: Job, filters: tuple[str, ...]) -> str:
    """Return the first filter that a job fails, or ""."""
    return next((name for name in filters if not FILTERS[name](job)), "")


def exclusion_tags(job: Job) -> tuple[str, ...]:
    """Return tags for a job that UpBench's filters would exclude: by the hour, or with several milestones."""
    out = [] if _is_fixed_price(job) else ["hourly"]
    return tuple(out if _has_single_milestone(job) else [*out, "several-milestones"])
