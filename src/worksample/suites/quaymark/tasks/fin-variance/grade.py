# ruff: noqa: E501
"""The figures by what was planned and posted; who explained what."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, number, numbers_in
from worksample.kit.statements import check_closing
from worksample.kit.workplace import Workplace

FILE = "finance/results/variance-2025-q4"
ASKED = {"petra": ("Engineering",), "bram": ("nine weeks",), "viktor": ("Frankfurt",), "dario": ("cold store is Bram",)}
SAYS = {"400": r"temporar|ramp|flu|nine weeks|ill", "600": r"frankfurt|fair"}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {
        row["centre"]: {name: float(row[name]) for name in ("budget", "actual", "variance")}
        for row in case.ref_rows("answer.csv").rows
    }
    made = office.requested("files", "PUT", f"/{FILE}.csv", by="jules")

    @cache
    def found() -> dict[str, dict[str, float | None]]:
        rows = office.rows(f"{FILE}.csv").rows
        named = {
            str(int(number(row["centre"]) or 0)): {name: number(row[name]) for name in ("budget", "actual", "variance")}
            for row in rows
        }
        if len(named) != len(rows):
            raise DeliverableError("has a centre twice", where=f"{FILE}.csv")
        return named

    def column(*names: str) -> Check:
        wrong = [
            c
            for c, row in right.items()
            if any((has := found().get(c, {}).get(n)) is None or abs(has - row[n]) > 0.0051 for n in names)
        ]
        return Check(
            1 - len(wrong) / len(right), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made
        )

    def asked() -> Check:
        at = {who: office.told("jules", who, *marks) for who, marks in ASKED.items()}
        at["dario, of the gateways"] = office.told("jules", "dario", "post it anew")
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            len(known) / len(at),
            f"not asked: {', '.join(missing)}" if missing else "",
            max(known) if not missing else None,
        )

    def explained() -> Check:
        text = office.file(f"{FILE}.md").decode("utf-8", "replace")
        lines = dict(re.findall(r"^\W*(\d00)\b[^:\n]{0,40}:\W*(.+)$", text, re.M))
        wrong = [centre for centre, why in SAYS.items() if not re.search(why, lines.get(centre, "").casefold())]
        good = set(lines) == set(SAYS) and not wrong
        return Check.of(good, f"explained are {', '.join(sorted(lines)) or 'none'}; not as their leads do: {', '.join(wrong) or 'none'}",
                        at=office.requested("files", "PUT", f"/{FILE}.md", by="jules"))  # fmt: skip

    def closed() -> Check:
        def names_both(text: str) -> bool:
            amounts = [abs(n) for n in numbers_in(text)]
            named = set(re.findall(r"(?<![\d.,])([1-6]00)(?!\d|[.,]\d)", text))
            return named == set(SAYS) and all(
                any(abs(n - abs(right[centre]["variance"])) < 1.01 for n in amounts) for centre in SAYS
            )

        return check_closing(
            office, "office", "Budget of the fourth quarter", "jules", names_both,
            lacks="no comment names both centres with their variances",
        )  # fmt: skip

    return checkpoints(
        case,
        asked=asked,
        budget=lambda: column("budget"),
        actual=lambda: column("actual", "variance"),
        explained=explained,
        closed=closed,
    )
