"""The tracker is compared with what it was, issue by issue; the chat says who was asked."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Issue, Workplace

HOURS = {"lena": 24, "tomas": 10, "aiko": 26, "grace": 12}
NAMES = {"lena": "lena", "tomas": "tom[aá]s", "aiko": "aiko", "grace": "grace"}
SAID = {"lena": "24 hours", "tomas": "16 hours", "aiko": "30 hours", "grace": "20 hours"}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    plan, before = case.ref_json("plan.json"), case.ref_json("before.json")

    @cache
    def issues() -> list[Issue]:
        """As they were numbered; none where one is gone."""
        found = [one for one in office.issues("dispatch") if one.subject in {row[0] for row in before}]
        return found if [one.subject for one in found] == [row[0] for row in before] else []

    def sprints() -> dict[str, str]:
        return {one.subject: one.sprint for one in issues()}

    def moved() -> Check:
        now = sprints()
        wrong = [one for one in plan["in"] if now.get(one) != "Sprint 11"]
        wrong += [one for one in plan["out"] if now.get(one) == "Sprint 11"]
        touched = [one.changed for one in issues() if one.subject in plan["in"]]
        return Check.of(not wrong, f"wrong: {'; '.join(wrong)[:300]}", at=max(touched, default=None))

    def rest() -> Check:
        now = sprints()
        wrong = [one for one in plan["out"] if now.get(one, "gone") != ""]
        return Check.of(not wrong, f"not without a sprint: {'; '.join(wrong)[:300]}")

    def kept() -> Check:
        if not moved().passed:
            return Check(0.0, "the sprint is not filled")
        free = {*plan["in"], *plan["out"]}
        wrong = [
            one.subject
            for one, row in zip(issues(), before, strict=True)
            if [one.status, one.priority, one.assigned] != row[1:4]
            or (one.subject not in free and one.sprint != row[4])
        ]
        return Check.of(not wrong, f"changed: {'; '.join(wrong)[:300]}")

    def asked() -> Check:
        found = {who: office.told("jules", who, mark) for who, mark in SAID.items()}
        missing = [who for who, at in found.items() if at is None]
        known = [at for at in found.values() if at is not None]
        share = len(known) / len(SAID)
        return Check(share, f"not asked: {', '.join(missing)}" if missing else "", max(known) if not missing else None)

    def sent_on() -> Check:
        at = office.told("jules", "lena", "15 hours")
        return Check.of(at is not None, "Lena was not asked about Grace", at=at)

    def said() -> Check:
        wanted = {who: [float(n)] for who, n in HOURS.items()}

        def right(text: str) -> bool:
            after = {who: rf"{name}\b\D{{0,24}}?(\d+(?:\.\d+)?)(?![\d.]*\d)" for who, name in NAMES.items()}
            before = {who: rf"(\d+(?:\.\d+)?) ?h(?:ours|rs)? (?:for|of) {name}\b" for who, name in NAMES.items()}
            return any(
                {who: [float(n) for n in re.findall(pattern, text)] for who, pattern in ways.items()} == wanted
                for ways in (after, before)
            )

        at = find_statement(
            office.messages("dispatch"), "jules", right,
            about=lambda text: all(re.search(rf"{name}\b", text) for name in NAMES.values()),
        )  # fmt: skip
        return Check.of(at is not None, "no message of Jules has all four with their hours", at=at)

    return checkpoints(case, asked=asked, sent_on=sent_on, moved=moved, rest=rest, kept=kept, said=said)
