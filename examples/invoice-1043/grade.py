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

    def paid() -> Check:
        notes = issue().notes if issue() else ()
        said = [note for note in notes if note.by == "assistant" and says_total(note.text)]
        return Check.of(bool(said), "no comment of the assistant says the sum", at=said[0].at if said else None)

    def document() -> Check:
        rows = list(csv.reader(io.StringIO(office.file("finance/INV-1043-corrected.csv").decode())))
        texts = " ".join(" ".join(row) for row in rows)
        lines = ("Beginners' lesson", "Doubles, half day", "Instructor's preparation", "Waterproof map")
        untouched = b"INV-1043,2026-02-26,Lakeside School,lessons ,Instructor's preparation,2,61.30" in office.file(
            "finance/invoices-2026.csv"
        )
        right = all(line in texts for line in lines) and says_total(texts) and untouched
        put = office.requested("files", "PUT", "/finance/INV-1043-corrected.csv")
        return Check.of(right, "a line or the sum is missing, or the old file was changed", at=put)

    def told() -> Check:
        mine = [one for one in office.messages("billing") if one.by == "assistant"]
        said = [one for one in mine if "1043" in one.text and says_total(one.text)]
        return Check.of(bool(said), "no message of the assistant has both", at=said[0].at if said else None)

    def meeting() -> Check:
        begins, ends = datetime(2026, 3, 12, 14, tzinfo=UTC), datetime(2026, 3, 12, 14, 30, tzinfo=UTC)
        kept = any((one.begins, one.ends) == (begins, ends) for one in office.events("assistant"))
        return Check.of(kept, "it is not there", at=office.requested("calendar", "PUT", "/assistant/calendar/*"))

    return checkpoints(
        case,
        sum=paid,
        issue=lambda: (one := issue()) is not None and (one.status, one.assigned) == ("Resolved", "rosa"),
        program=program,
        document=document,
        told=told,
        meeting=meeting,
    )
