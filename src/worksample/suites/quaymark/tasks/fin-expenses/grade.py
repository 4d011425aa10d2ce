"""The result by what the rules pay for; who was asked, and who was told."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, number, numbers_in
from worksample.kit.workplace import Message, Workplace

FILE = "finance/results/expenses-2026-02.csv"
TOLD = {
    "E-0206": ("bram", r"receipt|bill"), "E-0208": ("viktor", r"petra|double|twice|same|shared"),
    "E-0211": ("mei", r"60|days|late|old|long ago"), "E-0213": ("viktor", r"january|e-0117|already|before"),
}  # fmt: skip
"""Who is told of which claim, and with which reason."""


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
            mine = (one for one in office.direct("jules", who) if one.by == "jules")
            said = [one.at for one in mine if claim in one.stated and re.search(why, one.stated.casefold())]
            if said:
                last.append(said[0])
            else:
                missing.append(claim)
        return Check(
            1 - len(missing) / len(TOLD),
            f"nobody was told of {', '.join(missing)}" if missing else "",
            max(last) if not missing else None,
        )

    def closed() -> Check:
        one = next(
            (issue for issue in office.issues("office") if issue.subject.startswith("Expenses of February")), None
        )
        total = sum(amount for _, amount in right.values())
        notes = [note for note in one.notes if note.by == "jules"] if one is not None else []
        sums = [
            note for note in notes if len(f := numbers_in(note.text)) < 20 and any(abs(n - total) < 0.0051 for n in f)
        ]
        names = [
            note
            for note in notes
            if re.search(r"lindqvist", note.text.casefold()) and re.search(r"\bott\b", note.text.casefold())
        ]
        done = one is not None and one.status in ("Resolved", "Closed")
        at = max(sums[0].at, names[0].at) if sums and names else None
        return Check.of(
            bool(sums and names and done), f"the sum: {bool(sums)}, the names: {bool(names)}, Resolved: {done}", at=at
        )

    return checkpoints(
        case, asked=asked, paid=lambda: of("pay"), cut=lambda: of("cut"), refused=refused, told=told, closed=closed
    )


def _refuses(one: Message) -> bool:
    """A claim's end, and nothing that asks: whoever only hears of it and objects was not asked."""
    said = one.text.casefold()
    asks = re.search(r"\?|\b(please|could|can you|who|where|unless|otherwise|let me know|tell me)\b", said)
    return not asks and bool(re.search(r"refus|reject|declin|denied|not (be )?paid|nothing is paid", said))
