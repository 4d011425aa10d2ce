"""Soil water: days against what a table of zeros would reach, sums within half a millimetre."""

from worksample.kit import Case, Check, Grade, Table, tabular, values, weighted
from worksample.kit.comparisons.bands import above_floor


def grade(case: Case) -> Grade:
    want = case.ref_rows("balance.csv")
    columns = [name for name in want.columns if name != "date"]
    zeros = Table.of([{"date": row["date"], **dict.fromkeys(columns, 0)} for row in want.rows])

    def days() -> Check:
        floor = tabular(zeros, want, keys=["date"], tolerance=0.01).fraction
        return above_floor(tabular(case.rows("balance.csv"), want, keys=["date"], tolerance=0.01), floor)

    return weighted(
        case,
        days=days,
        season=lambda: values(case.output("season.json"), case.reference("season.json"), tolerance=0.5),
    )
