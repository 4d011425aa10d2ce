# ruff: noqa: E501
"""The result's lines by what really happened; who was asked; what was said."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, numbers_in
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Workplace

FILE = "data/results/on-time-2026-02.csv"


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {depot: tuple(pair) for depot, pair in case.ref_json("answer.json").items()}
    whole = tuple(map(sum, zip(*right.values(), strict=True)))
    rate = round(100 * whole[1] / whole[0], 1)
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def rows() -> dict[str, dict[str, str]]:
        try:
            found = list(csv.DictReader(io.StringIO(office.file(FILE).decode("utf-8-sig"))))
        except (UnicodeDecodeError, csv.Error):
            raise DeliverableError("is no CSV in UTF-8", where=FILE) from None
        named = {(row.get("depot") or "").strip(): row for row in found}
        if len(named) != len(found):
            raise DeliverableError("has a depot twice", where=FILE)
        return named

    def number(depot: str, column: str) -> float:
        try:
            return float((rows()[depot].get(column) or "").strip().removesuffix("%"))
        except (KeyError, ValueError):
            return -1.0

    def column(name: str, place: int) -> Check:
        wrong = [depot for depot, pair in right.items() if number(depot, name) != pair[place]]
        return Check(1 - len(wrong) / 3, f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made)

    def rates() -> Check:
        every = {**right, "all": whole}
        wrong = [d for d, (n, good) in every.items() if abs(number(d, "rate") - 100 * good / n) > 0.0501]
        total = (number("all", "deliveries"), number("all", "on_time")) == whole
        return Check.of(not wrong and total, f"wrong: {', '.join(wrong) or 'the line for all'}", at=made)

    def said() -> Check:
        at = find_statement(
            office.messages("data"), "jules",
            lambda text: "@rafael" in text and any(min(abs(n - rate), abs(100 * n - rate)) < 0.051 for n in numbers_in(text)),
            about=lambda text: re.search(r"\d ?%|per ?cent|\d\.\d", text),
        )  # fmt: skip
        return Check.of(at is not None, f"no message to Rafael says {rate} %", at=at)

    def untouched() -> Check:
        same = hashlib.sha256(office.file("data/deliveries-2026-02.xlsx")).hexdigest() == case.ref_json("sheet.json")
        if not set(right) <= set(rows()):
            return Check(0.0, "nothing was worked out")
        return Check.of(same and FILE in office.files("*"), "the workbook was changed, or there is no result", at=made)

    def asked() -> Check:
        mei, rafael = office.told("jules", "mei", "Rafael"), office.told("jules", "rafael", "15 minutes")
        share = ((mei is not None) + (rafael is not None)) / 2
        return Check(share, "" if share == 1 else "Mei or Rafael was not asked", rafael if share == 1 else None)

    return checkpoints(
        case, asked=asked, deliveries=lambda: column("deliveries", 0), on_time=lambda: column("on_time", 1), rates=rates,
        said=said, untouched=untouched,
    )  # fmt: skip
