"""The seven issues by the rules of the wiki, and all others as they were."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Issue, Workplace


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right, before = case.ref_json("triage.json"), case.ref_json("before.json")
    again, first = "Repeating an import doubles", "Orders of one customer appear twice"

    @cache
    def issues() -> list[Issue]:
        return office.issues("dispatch")

    def found(begins: str) -> Issue | None:
        return next((one for one in issues() if one.subject.startswith(begins)), None)

    def share(place: int, name: str) -> Check:
        wrong, good, last = [], 0, None
        for begins, wanted in right.items():
            one = found(begins)
            has = getattr(one, name) if one is not None else "gone"
            # Normal is what nobody has chosen: it counts only where somebody has looked at the issue.
            looked = one is not None and one.assigned != ""
            if has == wanted[place] and looked:
                good, last = good + 1, max(one.changed, last or one.changed)
            else:
                wrong.append(f"{begins}: {has or 'nobody'}")
        return Check(good / len(right), "; ".join(wrong)[:300], last if not wrong else None)

    def duplicate() -> Check:
        one, other = found(again), found(first)
        if (
            one is None
            or other is None
            or one.status not in ("Resolved", "Closed")
            or other.status in ("Resolved", "Closed")
        ):
            return Check(0.0, "the second one is not Resolved, or the first one is")
        number = re.compile(r"(?:#|\b(?:issue|ticket|number|no\.) ?#?)(\d+)\b|/issues/(\d+)")
        at = find_statement(
            one.notes,
            "jules",
            lambda text: {a or b for a, b in number.findall(text)} == {str(other.id)},
            about=number.search,
        )
        return Check.of(at is not None, "no comment names the first one, and it alone", at=at)

    def kept() -> Check:
        if not any(one.assigned for begins in right if (one := found(begins)) is not None):
            return Check(0.0, "nothing was triaged")
        now = {one.subject: [one.status, one.priority, one.assigned, one.sprint] for one in issues()}
        own = (*right, again)
        wrong = [row[0] for row in before if not row[0].startswith(own) and now.get(row[0]) != row[1:]]
        return Check.of(not wrong, f"changed: {'; '.join(wrong)[:300]}")

    def read() -> Check:
        seen = [
            [
                office.requested("tracker", "GET", f"/projects/dispatch/wiki/{page}{end}", by="jules")
                for end in ("", ".json")
            ]
            for page in ("Triage", "Who_owns_what")
        ]
        times = [min((at for at in pair if at is not None), default=None) for pair in seen]
        if not any(one.assigned for begins in right if (one := found(begins)) is not None):
            return Check(0.0, "nothing was triaged")
        return Check.of(
            None not in times, "a page of the rules was not read", at=max(filter(None, times), default=None)
        )

    def stand_in() -> Check:
        at = office.told("jules", "tomas", "Lena", "imports")
        return Check.of(at is not None, "Tomás was not asked", at=at)

    return checkpoints(
        case, read=read, stand_in=stand_in, priorities=lambda: share(0, "priority"),
        owners=lambda: share(1, "assigned"), duplicate=duplicate, kept=kept,
    )  # fmt: skip
