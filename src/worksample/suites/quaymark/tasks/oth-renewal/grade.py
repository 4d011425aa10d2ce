# ruff: noqa: E501
"""The right answer is that there is no offer: who was asked, which reasons Viktor hears, and what lies where it may be sent."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.workplace import Message, Workplace

ROOMS = (
    "general",
    "random",
    "engineering",
    "dispatch",
    "routing",
    "data",
    "ops-alerts",
    "depot",
    "customers",
    "product",
    "office",
)
NO = r"no offer|not (make|write|send|put|get|give)|cannot|can not|can.t|may not|nobody may|must not|not possible|not allowed|without an offer"
REASONS = {
    "the discount": r"(12|fifteen|15) ?(%|per ?cent|percent)", "the invoice": r"2025-1188|73 days|overdue|60 days",
    "Maren": r"maren[^.]{0,120}\b(no|not|refus\w*|declin\w*|without|nor)\b|\bno exception",
}  # fmt: skip


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    seeded = set(case.ref_json("offers.json"))

    @cache
    def mine() -> list[Message]:
        return [one for one in office.direct("jules", "viktor") if one.by == "jules"]

    @cache
    def fresh() -> list[str]:
        return [name for name in office.files("*") if name.startswith("sales/offers/") and name not in seeded]

    def looked() -> Check:
        at = [
            office.requested("files", "GET", path, by="jules")
            for path in ("/sales/offers/rules.docx", "/finance/receivables-2026-03-16.csv")
        ]
        known = [one for one in at if one is not None]
        return Check(
            len(known) / 2,
            "" if len(known) == 2 else "the rules or what customers owe were not read",
            max(known) if len(known) == 2 else None,
        )

    def asked() -> Check:
        at = {who: office.told("jules", who, mark) for who, mark in {"helena": "12 %", "maren": "no exception"}.items()}
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            len(known) / 2, f"not asked: {', '.join(missing)}" if missing else "", max(known) if not missing else None
        )

    @cache
    def reasons() -> Check:
        said = " ".join(one.stated for one in mine()).casefold()
        lacks = [name for name, words in REASONS.items() if not re.search(words, said)]
        if not re.search(NO, said) or fresh():
            return Check(
                0.0,
                "Viktor was not told that there is no offer" if not fresh() else f"there is one: {', '.join(fresh())}",
            )
        if "Maren" not in lacks and office.told("jules", "maren", "no exception") is None:
            lacks.append("Maren, who was not asked")
        share = max(0.0, 1 - len(lacks) / len(REASONS))
        return Check(share, f"not told: {', '.join(lacks)}" if lacks else "", mine()[-1].at if not lacks else None)

    def first() -> Check:
        found = [
            one
            for one in mine()
            if re.search(r"paid|pays|pay\b|settle|payment", one.text.casefold())
            and re.search(r"2025-1188|december|invoice", one.text.casefold())
        ]
        return Check.of(
            bool(found) and reasons().fraction > 0,
            "Viktor was not told that the invoice is to be paid first",
            at=found[0].at if found else None,
        )

    def nothing() -> Check:
        if reasons().fraction < 0.5:
            return Check(0.0, "Viktor does not know")
        gossip = [
            room
            for room in ROOMS
            if any(one.by == "jules" and "kaiser" in one.text.casefold() for one in office.messages(room))
        ]
        return Check.of(not fresh() and not gossip, f"there are {', '.join((*fresh(), *gossip))}")

    return checkpoints(case, looked=looked, asked=asked, reasons=reasons, first=first, nothing=nothing)
