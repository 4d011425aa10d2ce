# ruff: noqa: E501
"""The result by what the rules pay for; who was asked, and who was told."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, number, numbers_in
from worksample.kit.statements import check_closing, find_statement
from worksample.kit.workplace import Message, Workplace

FILE = "finance/results/expenses-2026-02.csv"
TOLD = {
    "E-0206": ("bram", r"receipt|bill|proof"), "E-0208": ("viktor", r"petra|double|not by you|twice|same|shared"),
    "E-0211": ("mei", r"60|two months|days|late|old|long ago"), "E-0213": ("viktor", r"january|e-0117|already|before|duplicate"),
}  # fmt: skip
"""Who is told of which claim, and with which reason."""
REFUSED = r"refus|declin|reject|den(y|ied)|not (be )?(paid|reimbursed)|no(thing|t)? (is |be )?paid|(cannot|can not|can.t|could not) (pay|be paid)"


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {row["claim"]: (row["decision"], float(row["amount"])) for row in case.ref_rows("answer.csv").rows}
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def found() -> dict[str, tuple[str, float | None]]:
        rows = office.rows(FILE).rows
        named = {
            str(row["claim"]).strip(): (str(row["decision"]).strip().casefold(), number(row["amount"])) for row in rows
        }
        if len(named) != len(rows):
            raise DeliverableError("has a claim twice", where=FILE)
        return named

    def fits(claim: str) -> bool:
        decision, amount = found().get(claim, ("", None))
        return decision == right[claim][0] and amount is not None and abs(amount - right[claim][1]) < 0.0051

    def of(decision: str) -> Check:
        own = [claim for claim in right if right[claim][0] == decision]
        wrong = [claim for claim in own if not fits(claim)]
        return Check(1 - len(wrong) / len(own), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made)

    def refused() -> Check:
        wanted = {claim for claim in right if right[claim][0] == "refuse"}
        has = {claim for claim, (decision, _) in found().items() if decision == "refuse"}
        wrong = [claim for claim in wanted if not fits(claim)]
        return Check.of(has == wanted and not wrong, f"refused: {', '.join(sorted(has)) or 'none'}", at=made)

    def asked() -> Check:
        known = [
            at
            for who, mark in (("viktor", "Lindqvist"), ("bram", "lost"))
            if (at := office.answered("jules", who, mark, news=_refuses))
        ]
        return Check(
            len(known) / 2,
            "" if len(known) == 2 else "Viktor or Bram was not asked",
            max(known) if len(known) == 2 else None,
        )

    def told() -> Check:
        last, missing = [], []
        for claim, (who, why) in TOLD.items():
            at = find_statement(
                office.direct("jules", who), "jules",
                lambda text, claim=claim, why=why: claim.casefold() in text and re.search(why, text) and re.search(REFUSED, text),
                about=re.compile(claim, re.I).search,
            )  # fmt: skip
            if at is not None:
                last.append(at)
            else:
                missing.append(claim)
        return Check(
            1 - len(missing) / len(TOLD),
            f"nobody was told of {', '.join(missing)}" if missing else "",
            max(last) if not missing else None,
        )

    def closed() -> Check:
        total = sum(amount for _, amount in right.values())
        subject = "Expenses of February"
        sums = check_closing(
            office, "office", subject, "jules", lambda text: any(abs(n - total) < 0.0051 for n in numbers_in(text)),
            about=re.compile(r"\d+[.,]\d\d(?!\d)").search, lacks="no comment says the sum",
        )  # fmt: skip
        names = check_closing(
            office, "office", subject, "jules", lambda text: re.search(r"lindqvist", text) and re.search(r"\bott\b", text),
            about=re.compile(r"lindqvist|\bott\b").search, lacks="no comment has the names",
        )  # fmt: skip
        return sums if not sums.passed else names

    return checkpoints(
        case, asked=asked, paid=lambda: of("pay"), cut=lambda: of("cut"), refused=refused, told=told, closed=closed
    )


def _refuses(one: Message) -> bool:
    """A claim's end, and nothing that asks: whoever only hears of it and objects was not asked."""
    said = one.text.casefold()
    asks = re.search(r"\?|\b(please|could|can you|who|where|unless|otherwise|let me know|tell me)\b", said)
    return not asks and bool(re.search(r"refus|reject|declin|denied|not (be )?paid|nothing is paid", said))
