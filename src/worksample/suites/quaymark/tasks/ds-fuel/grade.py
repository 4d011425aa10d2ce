"""The figures of 24 vehicles, and the issues about them."""

from __future__ import annotations

import csv
import io
import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, numbers_in
from worksample.kit.statements import check_closing
from worksample.kit.workplace import Workplace

FILE = "data/results/fuel-2026-02.csv"


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = case.ref_json("answer.json")
    rates = right["rates"]
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def rows() -> dict[str, str]:
        try:
            found = list(csv.DictReader(io.StringIO(office.file(FILE).decode("utf-8-sig"))))
        except (UnicodeDecodeError, csv.Error):
            raise DeliverableError("is no CSV in UTF-8", where=FILE) from None
        named = {(row.get("vehicle") or "").strip(): (row.get("per_100km") or "").strip() for row in found}
        if len(named) != len(found):
            raise DeliverableError("has a vehicle twice", where=FILE)
        return named

    def fits(vehicle: str) -> bool:
        try:
            return abs(float(rows()[vehicle]) - rates[vehicle]) <= 0.0501
        except (KeyError, ValueError):
            return False

    def says(text: str, vehicle: str) -> bool:
        figures = numbers_in(text)
        return len(figures) < 15 and any(abs(one - rates[vehicle]) <= 0.0501 for one in figures)

    def figures() -> Check:
        wrong = [vehicle for vehicle in rates if vehicle != "QM-17" and not fits(vehicle)]
        return Check.of(not wrong, f"wrong: {', '.join(wrong)}", at=made)

    def qm17() -> Check:
        return Check.of(fits("QM-17"), f"QM-17 has {rows().get('QM-17', 'no line')}", at=made)

    def found() -> Check:
        mine = [one for one in office.issues("platform") if one.by == "jules"]
        about = {v for one in mine for v in re.findall(r"QM-\d\d", one.subject) if v in rates}
        if about != set(right["over"]):
            return Check(0.0, f"there are issues about {', '.join(sorted(about)) or 'nobody'}")
        good = [one for one in mine for v in about if v in one.subject and one.assigned == "bram" and says(one.text, v)]
        return Check.of(
            len(good) >= len(about), "it is not Bram's, or does not say the figure", at=good[0].at if good else None
        )

    def closed() -> Check:
        return check_closing(
            office,
            "insights",
            "Odometer of QM-17",
            "jules",
            lambda text: says(text, "QM-17"),
            lacks="no comment says its figure",
        )

    def asked() -> Check:
        mei, bram = office.told("jules", "mei", "but the first"), office.told("jules", "bram", "412880")
        known = [at for at in (mei, bram) if at is not None]
        return Check(
            len(known) / 2,
            "" if len(known) == 2 else "Mei or Bram was not asked",
            max(known) if len(known) == 2 else None,
        )

    return checkpoints(case, asked=asked, figures=figures, qm17=qm17, found=found, closed=closed)
