"""Who judges: a person's background, as versions of an Evaluator record."""

from __future__ import annotations

import json

from pydantic import Field

from worksample.people.clock import moment
from worksample.records import Evaluator, EvaluatorKind, Frozen, canonical, digest_of


class Profile(Frozen):
    """What is known of an evaluator (RLI 3.4, UpBench 3.2). None is unknown. A change makes a new version."""

    domains: tuple[str, ...] = ()
    """Categories such as `upwork:design`; a queue that matches domains gives out these and what lies under them.
    `set:tech` stands for all of a set of experts (`worksample.tasks.taxonomy.EXPERT_SETS`)."""
    skills: tuple[str, ...] = ()
    hours: float | None = Field(default=None, ge=0)
    """Hours of paid work in these domains so far."""
    earnings: float | None = Field(default=None, ge=0)
    """US dollars earned by them."""
    rating: float | None = Field(default=None, ge=0, le=5)
    """Clients' mean rating, 0 to 5."""
    pay_rate: float | None = Field(default=None, ge=0)
    """US dollars an hour for evaluating."""


def evaluator_of(account: str, name: str, profile: Profile, at: int) -> Evaluator:
    """The record of one version. Its id says the person and the profile, so that equal versions are one.

    `standing` holds the profile as JSON, without the domains, which are a column of their own.
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
    """The profile that a version of a person's record holds."""
    rest = json.loads(evaluator.standing) if evaluator.standing else {}
    return Profile(domains=evaluator.domains, **rest)


def person_of(evaluator: str) -> str:
    """The account behind an evaluator's id, whatever its version; other evaluators stand for themselves."""
    return evaluator.removeprefix("person-").rpartition("@")[0] if evaluator.startswith("person-") else evaluator
