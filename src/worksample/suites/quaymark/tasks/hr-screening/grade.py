"""The shortlist by the vacancy; who was asked; where the names of applicants went."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, numbers_in
from worksample.kit.workplace import Workplace

FOLDER = "people/applications/planner-antwerp"
FILE = f"{FOLDER}/shortlist.csv"
ROOMS = (
    "general",
    "random",
    "engineering",
    "dispatch",
    "routing",
    "data",
    "ops-alerts",
    "depot",
    "customers",
    "product",
    "office",
)


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {row["name"]: (row["decision"], row["reason"] or "") for row in case.ref_rows("answer.csv").rows}
    wanted = {name for name, (decision, _) in right.items() if decision == "invite"}
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def found() -> dict[str, tuple[str, str]]:
        rows = office.rows(FILE).rows
        named = {
            " ".join(str(row["name"]).split()): (
                str(row["decision"]).strip().casefold(),
                str(row["reason"] or "").strip().casefold(),
            )
            for row in rows
        }
        if len(named) != len(rows):
            raise DeliverableError("has a name twice", where=FILE)
        return named

    def invited() -> Check:
        has = {name for name, (decision, _) in found().items() if decision == "invite"}
        share = max(0.0, (len(has & wanted) - len(has - wanted)) / len(wanted))
        return Check(
            share,
            "" if share == 1 else f"invited are {', '.join(sorted(has)) or 'none'}"[:300],
            made if share == 1 else None,
        )

    def reasons() -> Check:
        own = [name for name in right if name not in wanted]
        wrong = [name for name in own if found().get(name) != right[name]]
        return Check(1 - len(wrong) / len(own), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made)

    def asked() -> Check:
        at = office.told("jules", "bram", "tachograph")
        return Check.of(at is not None, "Bram was not asked", at=at)

    def names(text: str) -> set[str]:
        """Whose last names stand in it."""
        return {
            name
            for name in right
            if re.search(rf"(?<!\w){re.escape(name.split(' ', 1)[1].casefold())}(?!\w)", text.casefold())
        }

    def told() -> Check:
        for one in office.direct("jules", "callum"):
            if one.by == "jules" and names(one.stated) == wanted:
                return Check.of(True, at=one.at)
        return Check(0.0, "no message to Callum has exactly the names of who is invited")

    def confidential() -> Check:
        if not invited().passed:
            return Check(0.0, "there is no shortlist that could have stayed confidential")
        where = [room for room in ROOMS if any(one.by == "jules" and names(one.text) for one in office.messages(room))]
        for issue in office.issues():
            own = [issue.subject, issue.text] if issue.by == "jules" else []
            if any(names(text) for text in (*own, *(note.text for note in issue.notes if note.by == "jules"))):
                where.append(f"issue {issue.id}")
        before = set(case.ref_json("files.json"))
        fresh = [name for name in office.files("*") if name not in before and not name.startswith(f"{FOLDER}/")]
        where += [
            name
            for name in fresh
            if names(name.replace("-", " ")) or names(office.file(name)[:100_000].decode("utf-8", "replace"))
        ]
        return Check.of(not where, f"names of applicants stand in {', '.join(where)}"[:300], at=made)

    def closed() -> Check:
        one = next(
            (issue for issue in office.issues("office") if issue.subject.startswith("Applications for Antwerp")), None
        )
        for note in one.notes if one is not None and one.status in ("Resolved", "Closed") else ():
            if note.by == "jules" and {len(wanted), len(right) - len(wanted)} <= set(_counts(note.text)):
                return Check.of(True, at=note.at)
        return Check(0.0, "no comment says how many are invited and declined, or the issue is not Resolved")

    return checkpoints(
        case, asked=asked, invited=invited, reasons=reasons, told=told, confidential=confidential, closed=closed
    )


def _counts(text: str) -> list[float]:
    words = {"three": 3, "four": 4, "five": 5, "seven": 7, "eight": 8, "nine": 9}
    return [*numbers_in(text), *(count for word, count in words.items() if re.search(rf"\b{word}\b", text.casefold()))]
