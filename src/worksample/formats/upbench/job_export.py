"""Export of a job's instance as a row of `projects`."""

from __future__ import annotations

import re
from typing import Any

from worksample.formats.jobs.job_package import AFTER, BEFORE, FRAME
from worksample.formats.jobs.posting import category_of
from worksample.records import About, Instance, Job, Protocol, Source
from worksample.tasks.taxonomy import lookup

from .cell_json import criteria_cell
from .tables import Row


def contract_of(instance: Instance) -> str:
    """Return the marketplace's id of a job; for other work `task/name`."""
    job = instance.about.job
    return job.contract if job else instance.key


def project_row(instance: Instance, inputs: tuple[str, ...]) -> Row:
    """Return the row of a job. inputs: paths of its inputs, which are the attachments of work without a posting."""
    about, job = instance.about, instance.about.job
    rubric = instance.grading.get(Protocol.RUBRIC)
    row = {
        "contract_id": contract_of(instance),
        "job_description": description_of(instance),
        "acceptance_criteria": criteria_cell(rubric.criteria) if rubric else None,
        **_amount_columns(about),
        **(
            _posting_columns(job)
            if job
            else {**_category_columns(about), "job_title": instance.title or None, "attachments": list(inputs)}
        ),
    }
    return {name: None if value in ("", []) else value for name, value in row.items()}


def description_of(instance: Instance) -> str:
    """Return the description inside an imported job's brief, else the whole brief."""
    brief = re.sub(r"\r+\n", "\n", instance.work.brief)
    head, tail = brief.startswith(BEFORE), brief.rfind(AFTER)
    if head and tail >= len(BEFORE) and brief.endswith(FRAME):
        return brief[len(BEFORE) : tail]
    return brief


def _posting_columns(job: Job) -> Row:
    return {
        "start_ts": job.start, "end_ts": job.end, "job_title": job.title, "expertise_tier": job.expertise,
        "category": job.category, "subcategory": job.subcategory, "subsubcategory": job.subsubcategory,
        "num_openings": job.openings, "num_milestones": job.milestones,
        "automation_desire_rating": job.automation_desire, "onet_tasks": list(job.onet_tasks),
        "attachments": [job.attachment_details.get(name, name) for name in job.attachments],
        "contract_type": job.type.value if job.type else None, "status": job.status,
        "payment_verified": job.payment_verified,
    }  # fmt: skip


def _category_columns(about: About) -> Row:
    """Return the titles of a category, if they lead back to it, else its id."""
    if not about.category or not category_of(Job(contract="-", category=about.category)):
        return {"category": about.category}
    found = lookup(about.category)
    names = (lookup(found.parent).title, found.title) if found.parent else (found.title, "")
    same = category_of(Job(contract="-", category=names[0], subcategory=names[1])) == about.category
    return {"category": names[0], "subcategory": names[1]} if same else {"category": about.category}


def _amount_columns(about: About) -> Row:
    """Return the amounts, their currency and source, and the hours.

    The table has one column for the source, so hours from another source are left out.
    """
    job, value, hours = about.job, about.value, about.hours
    known: dict[str, Any] = {}
    if job is not None:
        names = ("job_amount", "contract_amount", "milestone_amount")
        known = {name: amount for name in names if (amount := getattr(job, name)) is not None}
    elif value is not None:
        known = {"contract_amount": value.middle}
    source = value.source if value else Source.PAID if known else hours.source if hours else None
    own = job.currency if job else value.currency if value else None
    return {
        **known, "currency": own if known else None, "amount_source": source.value if source else None,
        "hours": hours.middle if hours and hours.source is source else None,
    }  # fmt: skip
