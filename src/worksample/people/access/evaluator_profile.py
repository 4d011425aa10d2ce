"""Background of an evaluator. Each version of it is stored as an Evaluator record."""

from __future__ import annotations

import json

from pydantic import Field

from worksample.people.clock import moment
from worksample.records import Evaluator, EvaluatorKind, Frozen, canonical, digest_of


class Profile(Frozen):
    """Background of an evaluator (RLI 3.4, UpBench 3.2). None means that a value is unknown. Each change makes a new
    version.
    """

    domains: tuple[str, ...] = ()
    """Categories such as `upwork:design`. A queue that matches domains offers items of these and of categories below
    them. `set:tech` stands for all domains of an expert set (`worksample.tasks.taxonomy.EXPERT_SETS`).
    """
    skills: tuple[str, ...] = ()
    hours: float | None = Field(default=None, ge=0)
    """Number of hours of paid work that the person has done in these domains."""
    earnings: float | None = Field(default=None, ge=0)
    """Amount in US dollars that the person has earned in these domains."""
    rating: float | None = Field(default=None, ge=0, le=5)
    """Mean rating of the person by clients, from 0 to 5."""
    pay_rate: float | None = Field(default=None, ge=0)
    """Pay of the person for evaluating, in US dollars per hour."""


def evaluator_of(account: str, name: str, profile: Profile, at: int) -> Evaluator:
    """Build the record of one version. Its id is derived from person and profile, so equal versions are one record.

    `standing` holds the profile as JSON without the domains, which are a separate column.
    """
    rest = profile.plain()
    domains = tuple(rest.pop("domains"))
    version = digest_of({"name": name, **profile.plain()})[:12]
    return Evaluator(
        id=f"person-{account}@{version}",
        name=name,
        type=EvaluatorKind.PERSON,
        version=version,
        domains=domains,
        standing=canonical(rest).decode(),
        at=moment(at),
    )


def profile_of(evaluator: Evaluator) -> Profile:
    """Return the profile in a version of a person's record."""
    rest = json.loads(evaluator.standing) if evaluator.standing else {}
    return Profile(domains=evaluator.domains, **rest)


def person_of(evaluator: str) -> str:
    """Return the account id in the id of a person's Evaluator record, whatever its version. Ids of other evaluators are
    returned unchanged.
    """
    return evaluator.removeprefix("person-").rpartition("@")[0] if evaluator.startswith("person-") else evaluator
