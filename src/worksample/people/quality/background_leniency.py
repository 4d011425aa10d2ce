"""Pass rates by evaluators' background: domain, hours, earnings, rating, pay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from worksample.people.access.evaluator_profile import Profile, person_of, profile_of
from worksample.records import Evaluator

from .round_dashboard import votes_of

if TYPE_CHECKING:
    from worksample.metrics import Estimate
    from worksample.store import Store

TRAITS: dict[str, Callable[[Profile], float | None]] = {
    "hours": lambda p: p.hours,
    "earnings": lambda p: p.earnings,
    "rating": lambda p: p.rating,
    "pay_rate": lambda p: p.pay_rate,
}
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Background:
    """The pass rate of a group. `trait`: domains, or one of TRAITS; `group`: a domain, "below 500" or "500 and more"
    (split at the median), or unknown. `others`: the pass rate of people outside the group on the same items.
    """

    trait: str
    group: str
    people: int
    own: Estimate
    others: Estimate


def backgrounds(store: Store, round: str) -> list[Background]:
    """Return pass rates per trait and group. A person with two domains counts in both."""
    from worksample.metrics import rate

    votes = votes_of(store, round)
    profiles = _profiles(store, {e.evaluator for e in votes.rows})
    said = list(zip(votes.people, votes.subject, votes.positive, strict=True))
    out = []
    for trait, groups in _groups(profiles):
        for group, members in groups.items():
            own = [(subject, yes) for person, subject, yes in said if person in members]
            seen = {subject for subject, _ in own}
            rest = [(subject, yes) for person, subject, yes in said if person not in members and subject in seen]
            # Votes on one item are not independent.
            figures = [
                rate([yes for _, yes in rows], task=[subject for subject, _ in rows], name=name)
                for name, rows in (("lets pass", own), ("others on the same items", rest))
            ]
            out.append(Background(trait, group, len(members), *figures))
    return out


def _profiles(store: Store, versions: set[str]) -> dict[str, Profile]:
    """Return person -> the latest profile under which the person judged."""
    found = store.find(Evaluator, id=sorted(versions)) if versions else []
    return {person_of(e.id): profile_of(e) for e in sorted(found, key=lambda e: (e.at, e.id))}


def _groups(profiles: dict[str, Profile]) -> list[tuple[str, dict[str, set[str]]]]:
    """Split people into groups: trait -> group -> people."""
    domains: dict[str, set[str]] = {}
    for person, profile in sorted(profiles.items()):
        for domain in profile.domains or (UNKNOWN,):
            domains.setdefault(domain, set()).add(person)
    out = [("domains", dict(sorted(domains.items())))]
    for trait, read in TRAITS.items():
        values = {person: value for person, p in profiles.items() if (value := read(p)) is not None}
        groups: dict[str, set[str]] = {}
        if values:
            middle = median(values.values())
            groups[f"below {middle:g}"] = {p for p, v in values.items() if v < middle}
            groups[f"{middle:g} and more"] = {p for p, v in values.items() if v >= middle}
        groups[UNKNOWN] = set(profiles) - set(values)
        out.append((trait, {name: people for name, people in groups.items() if people}))
    return out
