"""python -m benchmarks.colleague_audit: which kinds of planted faults the audit of colleagues finds, and false alarms.

Each of 18 kinds is planted into one colleague of five companies; twenty companies are good, with colleagues of
different manners. All are made by `tests/workplace/colleagues/planted.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from workplace.colleagues.planted import PLANTED, GoodColleague, companies, planted
from worksample.workplace.colleagues.colleague_audit import ColleagueFinding, audit
from worksample.workplace.colleagues.colleague_profile import Colleague

GOOD, EACH = 20, 5


def findings_of(company: Sequence[Colleague], number: int, kind: str = "") -> tuple[ColleagueFinding, ...]:
    """Return the findings in a company in which the second colleague has a fault, if `kind` names one."""
    by = {one.id: GoodColleague(number + place) for place, one in enumerate(company)}
    if kind:
        by[company[1].id] = planted(kind, number + 1)
    return asyncio.run(audit(company, lambda one: by[one.id])).findings


def found_kinds() -> dict[str, int]:
    """Return, for each planted kind, in how many of the companies the audit names the fault and the right colleague."""
    counts = {}
    for kind, (_, wanted) in PLANTED.items():
        found = [
            (company[1].id, findings_of(company, number, kind))
            for number, company in enumerate(companies(EACH, seed=11))
        ]
        counts[kind] = sum(any(one.colleague == who and one.fault in wanted for one in all_) for who, all_ in found)
    return counts


def false_alarms() -> list[tuple[int, ColleagueFinding]]:
    """Return the findings in the good companies, each with the company's number."""
    return [(number, one) for number, company in enumerate(companies(GOOD)) for one in findings_of(company, number)]


def main() -> None:
    """Print both counts."""
    counts = found_kinds()
    for kind, count in counts.items():
        print(f"{kind:30} {count} of {EACH}")
    print(f"{sum(count == EACH for count in counts.values())} of {len(counts)} kinds are found in all {EACH} companies")
    alarms = false_alarms()
    for number, one in alarms:
        print(f"company {number}: {one.colleague} {one.fault.value} {one.about}: {one.asked!r} -> {one.answered!r}")
    print(f"{len({number for number, _ in alarms})} of {GOOD} good companies have a false alarm")


if __name__ == "__main__":
    main()
