"""The chat says who was asked and agreed, the tracker who approved, and the files what is ordered."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime
from functools import cache

from worksample.kit import Case, Check, Grade, checkpoints, number, numbers_in
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Workplace

ORDER = "office/orders/desktops.csv"
SUBJECT = "Desktops for the new planners"


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    wanted = case.ref_json("order.json")

    def heard(who: str, mark: str) -> datetime | None:
        return next((one.at for one in office.direct("jules", who) if one.by == who and mark in one.text), None)

    def agreed() -> datetime | None:
        """When Callum agreed, after Helena had said what is left: a sum that was guessed is no reason."""
        left, fewer = heard("helena", "3,200"), heard("callum", "two desktop")
        return fewer if left is not None and fewer is not None and left <= fewer else None

    def said(who: str, mark: str) -> Check:
        at = heard(who, mark)
        return Check.of(at is not None, f"{who} was not brought to say it", at=at)

    @cache
    def order() -> Check:
        try:
            text = office.file(ORDER).decode("utf-8-sig")
            rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if any(row)]
        except (UnicodeDecodeError, csv.Error) as error:
            return Check(0.0, f"{ORDER} cannot be read: {error}")
        if len(rows) < 2 or any(len(row) != 3 for row in rows):
            return Check(0.0, "the order has not three columns with a head and a total")
        lines, total = rows[1:-1], rows[-1]
        found = {article: [number(quantity), number(price)] for article, quantity, price in lines}
        right = len(found) == len(lines) and found == wanted["articles"]
        summed = total[0].casefold() == "total" and number(total[2]) == wanted["total"]
        at = office.requested("files", "PUT", f"/{ORDER}", by="jules")
        return Check.of(right and summed, f"ordered are {found}, the total is {total[2]!r}"[:300], at=at)

    def approved() -> Check:
        found = [one for one in office.issues("office") if one.subject.startswith(SUBJECT)]
        notes = [note for one in found for note in one.notes if note.by == "helena" and "3,136.00" in note.text]
        if not notes:
            return Check(0.0, "there is no approval by Helena")
        return Check.of(order().passed, "she approved two of each, and the order says something else", at=notes[0].at)

    def told() -> Check:
        since = agreed()
        mine = [one for one in office.direct("jules", "callum") if since is not None and one.at >= since]
        at = find_statement(
            mine, "jules", lambda text: _says_all(text, wanted["total"]),
            about=lambda text: re.search(r"desktop|computer|ws-440", text) and numbers_in(text),
        )  # fmt: skip
        return Check.of(
            at is not None, "no message to Callum, after he agreed, says how many of each, and the sum", at=at
        )

    return checkpoints(
        case,
        needs=lambda: said("callum", "three desktop"),
        budget=lambda: said("helena", "3,200"),
        negotiated=lambda: Check.of(agreed() is not None, "he did not agree knowing what is left", at=agreed()),
        order=order,
        approved=approved,
        told=told,
    )


def _says_all(text: str, total: float) -> bool:
    """Two desktops, two mice and the sum."""
    two = r"(?<![\w.,])(?:2|two)(?![\w.,]*\d)"
    what = {"desktops": r"desktops?|computers?|workstations?|ws-440", "mice": r"mouse|mice|mo-12"}
    near = all(
        re.search(rf"{two} ?x?\b[^.;,]{{0,30}}?(?:{words})|(?:{words})\b(?: ordered)?[ :=x]{{1,4}}{two}", text)
        for words in what.values()
    )
    return near and any(abs(one - total) < 0.005 for one in numbers_in(text))
