"""Checkpoints over what the services were left with."""

import csv
import io
from datetime import UTC, datetime

from worksample.kit import Case, Check, Grade, checkpoints, numbers_in
from worksample.kit.workplace import Issue, Workplace


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    total = float(case.ref_json("answer.json")["total"])

    def issue() -> Issue | None:
        return next((one for one in office.issues("billing") if one.subject.startswith("INV-1043")), None)

    def says_total(text: str) -> bool:
        return any(abs(found - total) < 0.005 for found in numbers_in(text))

    def program() -> Check:
        repository = office.repository("billing")
        text = repository.file("rates.py").decode()
        right = '"lessons": 9' in text.replace("'", '"') and '"rental": 21' in text and '"goods": 21' in text
        kept = b"def total(lines)" in repository.file("total.py") and len(repository.commits()) > 3
        return Check(float(right and kept), "the rates are right" if right else f"rates.py says {text[:200]!r}")

    def document() -> bool:
        rows = list(csv.reader(io.StringIO(office.file("finance/INV-1043-corrected.csv").decode())))
        texts = " ".join(" ".join(row) for row in rows)
        lines = ("Beginners' lesson", "Doubles, half day", "Instructor's preparation", "Waterproof map")
        untouched = b"INV-1043,2026-02-26,Lakeside School,lessons ,Instructor's preparation,2,61.30" in office.file(
            "finance/invoices-2026.csv"
        )
        return all(line in texts for line in lines) and says_total(texts) and untouched

    def told() -> bool:
        mine = [one for one in office.messages("billing") if one.by == "assistant"]
        return any("1043" in one.text and says_total(one.text) for one in mine)

    def meeting() -> bool:
        begins, ends = datetime(2026, 3, 12, 14, tzinfo=UTC), datetime(2026, 3, 12, 14, 30, tzinfo=UTC)
        return any((one.begins, one.ends) == (begins, ends) for one in office.events("assistant"))

    return checkpoints(
        case,
        sum=lambda: (one := issue()) is not None and any(says_total(n.text) for n in one.notes if n.by == "assistant"),
        issue=lambda: (one := issue()) is not None and (one.status, one.assigned) == ("Resolved", "rosa"),
        program=program,
        document=document,
        told=told,
        meeting=meeting,
    )
