# ruff: noqa: E501
"""The result by orders and what came; the issues; who was warned of the account that is another one."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, number, numbers_in
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Workplace

FILE = "finance/results/invoices-2026-02.csv"
OTHER, TWICE = "2026-131", "88213"


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {row["invoice"]: row for row in case.ref_rows("answer.csv").rows}
    total = sum(float(row["amount"]) for row in right.values())
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def found() -> dict[str, tuple[str, str, float | None]]:
        rows = office.rows(FILE).rows
        named = {
            "".join(str(row["invoice"]).split()): (str(row["decision"]).strip().casefold(), str(row["reason"] or "").strip().casefold(), number(row["amount"]))
            for row in rows
        }  # fmt: skip
        if len(named) != len(rows):
            raise DeliverableError("has an invoice twice", where=FILE)
        return named

    def paid() -> Check:
        wanted = {one for one, row in right.items() if row["decision"] == "pay"}
        has = {one for one, (decision, _, _) in found().items() if decision == "pay"}
        good = [one for one in wanted & has if abs((found()[one][2] or 0) - float(right[one]["amount"])) < 0.0051]
        share = max(0.0, (len(good) - len(has - wanted)) / len(wanted))
        return Check(
            share, "" if share == 1 else f"paid are {', '.join(sorted(has)) or 'none'}", made if share == 1 else None
        )

    def held() -> Check:
        wanted = {one: row["reason"] for one, row in right.items() if row["decision"] == "hold"}
        wrong = [one for one, why in wanted.items() if found().get(one, ("", "", 0))[:2] != ("hold", why)]
        return Check(
            1 - len(wrong) / len(wanted), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made
        )

    def asked() -> Check:
        at = office.told("jules", "bram", "4490")
        return Check.of(at is not None, "Bram was not asked", at=at)

    def warned() -> Check:
        at = find_statement(
            office.direct("jules", "helena"), "jules",
            lambda text: OTHER in text and re.search(r"account|iban|bank", text), about=re.compile(r"\d{4}-\d+").search,
        )  # fmt: skip
        return Check.of(at is not None, f"Helena was not told of the account on {OTHER}", at=at)

    def issues() -> Check:
        wanted = {one: row["reason"] for one, row in right.items() if row["decision"] == "hold"}
        mine = [one for one in office.issues("office") if one.by == "jules"]
        about = {
            one.id: invoice
            for one in mine
            for invoice in right
            if re.search(rf"(?<![\w-]){re.escape(invoice)}(?![\w-])", one.subject)
        }
        if set(about.values()) != set(wanted) or len(about) != len(mine):
            return Check(
                0.0, f"there are {len(mine)} issues, about {', '.join(sorted(set(about.values()))) or 'none of them'}"
            )
        good = [one for one in mine if one.assigned == "dario" and wanted[about[one.id]] in one.text.casefold()]
        at = max(one.at for one in good) if good else None
        return Check.of(len(good) == len(mine), "an issue is not Dario's, or does not say the reason", at=at)

    def told() -> Check:
        mine = office.direct("jules", "dario")
        sums = find_statement(
            mine, "jules", lambda text: any(abs(n - total) < 0.0051 for n in numbers_in(text)),
            about=re.compile(r"\d+[.,]\d\d(?!\d)").search,
        )  # fmt: skip
        twice = find_statement(
            mine, "jules", lambda text: re.search(r"twice|again|second time|doubl|duplicate|two (copies|of it)", text),
            about=lambda text: TWICE in text.replace(" ", ""),
        )  # fmt: skip
        at = max(sums, twice) if sums and twice else None
        return Check.of(bool(sums and twice), f"the sum: {bool(sums)}, what came twice: {bool(twice)}", at=at)

    return checkpoints(case, asked=asked, paid=paid, held=held, warned=warned, issues=issues, told=told)
