"""Sales clean-up: the table is compared line by line, branch totals are added up anew."""

from __future__ import annotations

import math
import re
from collections import defaultdict

from worksample.kit import Case, Check, Grade, Table, number, plain_text, tabular, weighted

MOST = 1e12
"""An amount beyond it is a slip of the pen, and wrong where it stands."""
LINE = ("branch", "invoice", "position")
_FOLD = str.maketrans(
    {"\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2014": "-", "\u2019": "'", "\u02bc": "'", "`": "'"}
)
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?$")


def folded(table: Table) -> Table:
    """The table with dashes and apostrophes of one kind, and without midnight behind a date."""
    rows = []
    for row in table.rows:
        plain = {k: v.translate(_FOLD) if isinstance(v, str) else v for k, v in row.items()}
        rows.append({k: _MIDNIGHT.sub("", v.strip()) if isinstance(v, str) else v for k, v in plain.items()})
    return Table(table.columns, tuple(rows))


def totals_of(table: Table) -> dict[str, int]:
    """Cents per branch; a cell that is no number, or no amount of a branch, adds nothing."""
    amounts: dict[str, list[float]] = defaultdict(list)
    for row in table.rows:
        amount = number(row.get("amount")) or 0.0
        amounts[plain_text(row.get("branch"))].append(amount if abs(amount) <= MOST else 0.0)
    return {branch: round(100 * math.fsum(found)) for branch, found in amounts.items()}


def totals(got: Table, want: Table) -> Check:
    found, expected = totals_of(got), totals_of(want)
    wrong = [b for b in sorted({*found, *expected}) if found.get(b) != expected.get(b)]
    says = "; ".join(f"{b}: {found.get(b, 0) / 100:.2f} instead of {expected.get(b, 0) / 100:.2f}" for b in wrong)
    return Check.of(not wrong, says)


def grade(case: Case) -> Grade:
    sales, issues = folded(case.ref_rows("sales.csv")), case.ref_rows("issues.csv")

    def column(*names: str) -> Check:
        allowed = {name: case.setting("tolerance").get(name, 0.0) for name in names}
        return tabular(folded(case.rows("sales.csv")), sales, keys=LINE, columns=names, tolerance=allowed)

    return weighted(
        case,
        lines=lambda: tabular(case.rows("sales.csv"), sales, keys=LINE, columns=()),
        dates=lambda: column("date"),
        products=lambda: column("product"),
        customers=lambda: column("customer"),
        quantities=lambda: column("quantity"),
        prices=lambda: column("unit_price", "amount"),
        totals=lambda: totals(case.rows("sales.csv"), sales),
        issues=lambda: tabular(case.rows("issues.csv"), issues, keys=(*LINE, "issue"), columns=()),
    )
