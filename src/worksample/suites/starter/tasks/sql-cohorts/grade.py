"""Cohort query: its table, and the query itself run on the given copy and on a database that no agent has seen."""

from __future__ import annotations

from pathlib import Path

from readonly import select

from worksample.kit import Case, Check, Grade, Table, tabular, weighted

ROW = ("cohort", "month")


def grade(case: Case) -> Grade:
    tolerance = case.setting("tolerance")
    given, hidden = case.ref_rows("cohorts.csv"), case.ref_rows("hidden.csv")
    copy, other = case.input(case.setting("database")), case.reference("hidden.sqlite")

    def compared(got: Table, want: Table, *columns: str, partial: bool = True) -> Check:
        allowed = {name: tolerance[name] for name in columns if name in tolerance}
        return tabular(got, want, keys=ROW, columns=columns, tolerance=allowed, partial=partial)

    def found(database: Path, want: Table, *columns: str, partial: bool = False) -> Check:
        return compared(select(database, case.text("cohorts.sql")), want, *columns, partial=partial)

    return weighted(
        case,
        {
            "table": lambda: compared(case.rows("cohorts.csv"), given, "customers", "revenue"),
            "query": lambda: found(copy, given, "customers", "revenue"),
            "other-cohorts": lambda: found(other, hidden, "customers", partial=True),
            "other-revenue": lambda: found(other, hidden, "revenue"),
        },
    )
