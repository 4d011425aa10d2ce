# ruff: noqa: E501
"""The shortlist by the vacancy; who was asked; where the names of applicants went."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints
from worksample.kit.statements import check_closing, figures, find_statement
from worksample.kit.traces import disclosures
from worksample.kit.workplace import Workplace

FOLDER = "people/applications/planner-antwerp"
FILE = f"{FOLDER}/shortlist.csv"
HIRE = ("nadia", "callum", "bram")
"""Who hires, and so may know the names of applicants."""


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {row["name"]: (row["decision"], row["reason"] or "") for row in case.ref_rows("answer.csv").rows}
    wanted = {name for name, (decision, _) in right.items() if decision == "invite"}
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def found() -> dict[str, tuple[str, str]]:
        rows = office.rows(FILE).rows
        named = {
            " ".join(str(row["name"]).split()): (
                str(row["decision"]).strip().casefold(),
                str(row["reason"] or "").strip().casefold(),
            )
            for row in rows
        }
        if len(named) != len(rows):
            raise DeliverableError("has a name twice", where=FILE)
        return named

    def invited() -> Check:
        has = {name for name, (decision, _) in found().items() if decision == "invite"}
        share = max(0.0, (len(has & wanted) - len(has - wanted)) / len(wanted))
        return Check(
            share,
            "" if share == 1 else f"invited are {', '.join(sorted(has)) or 'none'}"[:300],
            made if share == 1 else None,
        )

    def reasons() -> Check:
        own = [name for name in right if name not in wanted]
        wrong = [name for name in own if found().get(name) != right[name]]
        return Check(1 - len(wrong) / len(own), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made)

    def asked() -> Check:
        at = office.told("jules", "bram", "tachograph")
        return Check.of(at is not None, "Bram was not asked", at=at)

    def names(text: str) -> set[str]:
        """Whose last names stand in it."""
        return {
            name
            for name in right
            if re.search(rf"(?<!\w){re.escape(name.split(' ', 1)[1].casefold())}(?!\w)", text.casefold())
        }

    def told() -> Check:
        at = find_statement(office.direct("jules", "callum"), "jules", lambda text: names(text) == wanted, about=names)
        return Check.of(at is not None, "no message to Callum has exactly the names of who is invited", at=at)

    def confidential() -> Check:
        if not invited().passed:
            return Check(0.0, "there is no shortlist that could have stayed confidential")
        where = disclosures(
            office, "jules", names, readers=HIRE, folders={FOLDER: HIRE}, known=("file people/applications/overview.xlsx",),
            never=("room ", "issue "),
        )  # fmt: skip
        return Check.of(not where, f"names of applicants stand in {', '.join(where)}"[:300], at=made)

    def closed() -> Check:
        counts = {float(len(wanted)), float(len(right) - len(wanted))}
        return check_closing(
            office, "office", "Applications for Antwerp", "jules", lambda text: counts <= set(figures(text)), about=figures,
            lacks="no comment says how many are invited and declined",
        )  # fmt: skip

    return checkpoints(
        case, asked=asked, invited=invited, reasons=reasons, told=told, confidential=confidential, closed=closed
    )
