"""Counts by cause and month, as Oskar has them counted."""

from __future__ import annotations

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, figures
from worksample.kit.workplace import Workplace

FILE = "data/results/complaints-2026.csv"
ASKED = {"oskar": ("quality", "leave it out")}
COUNTS = (26.0,)


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

    def closed() -> Check:
        return check_closing(
            office,
            "insights",
            "Causes of complaints in 2026",
            "jules",
            lambda text: set(COUNTS) <= set(figures(text)),
            lacks="no comment says how many",
        )

    return checkpoints(case, asked=asked, table=table, closed=closed)
