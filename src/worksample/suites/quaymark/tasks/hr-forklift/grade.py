"""Who goes to the course, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, figures
from worksample.kit.workplace import Workplace

FILE = "people/forklift-course.csv"
ASKED = {"nadia": ("2029", "Samir"), "bram": ("22 April", "13:00")}
BEGINS, MINUTES, INVITED = datetime(2026, 4, 22, 13, tzinfo=UTC), 180, {"bram", "nadia"}
COUNTS = (3.0,)


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")

    def asked() -> Check:
        at = {who: office.told("jules", who, *marks) for who, marks in ASKED.items()}
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            len(known) / len(at),
            f"not asked: {', '.join(missing)}" if missing else "",
            max(known) if not missing else None,
        )

    def table() -> Check:
        rows = [
            tuple(str(cell if cell is not None else "").strip().casefold() for cell in row.values())
            for row in office.rows(FILE).rows
        ]
        right = [
            tuple(str(cell).strip().casefold() for cell in row.values()) for row in case.ref_rows("answer.csv").rows
        ]
        missing, extra = [row for row in right if row not in rows], [row for row in rows if row not in right]
        share = max(0.0, 1 - (len(missing) + len(extra)) / len(right))
        return Check(
            share,
            f"missing: {missing}; extra: {extra}"[:300] if share < 1 else "",
            office.requested("files", "PUT", f"/{FILE}", by="jules") if share == 1 else None,
        )

    def event() -> Check:
        own = [one for one in office.events("jules") if "forklift" in one.title.casefold()]
        right = len(own) == 1 and own[0].begins == BEGINS and own[0].ends == BEGINS + timedelta(minutes=MINUTES)
        invited = {address.partition("@")[0] for one in own for address in one.with_}
        good = right and invited - {"jules"} == INVITED
        return Check.of(
            good,
            f"{len(own)} events; invited: {', '.join(sorted(invited))}",
            at=office.requested("calendar", "PUT", "/jules/calendar/*", by="jules"),
        )

    def closed() -> Check:
        return check_closing(
            office,
            "office",
            "A course for the forklifts",
            "jules",
            lambda text: set(COUNTS) <= set(figures(text)),
            lacks="no comment says how many",
        )

    return checkpoints(case, asked=asked, table=table, event=event, closed=closed)
