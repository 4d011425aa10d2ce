"""Balances by contracts, absences and what Nadia knows; who was told of what lapses."""

from __future__ import annotations

import re
from functools import cache

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, number
from worksample.kit.statements import check_closing, figures, find_statement
from worksample.kit.workplace import Workplace

FILE = "people/leave/balances-2026-03-31.csv"
COLUMNS = ("entitlement", "carried", "taken", "left", "lapses")


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    right = {row["who"]: {name: float(row[name]) for name in COLUMNS} for row in case.ref_rows("answer.csv").rows}
    losing = {who: row["lapses"] for who, row in right.items() if row["lapses"]}
    made = office.requested("files", "PUT", f"/{FILE}", by="jules")

    @cache
    def found() -> dict[str, dict[str, float | None]]:
        rows = office.rows(FILE).rows
        named = {str(row["who"]).strip().casefold(): {name: number(row[name]) for name in COLUMNS} for row in rows}
        if len(named) != len(rows):
            raise DeliverableError("has somebody twice", where=FILE)
        return named

    def columns(*names: str) -> Check:
        wrong = [
            who for who, row in right.items() if any(found().get(who, {}).get(name) != row[name] for name in names)
        ]
        return Check(
            1 - len(wrong) / len(right), f"wrong: {', '.join(wrong)}" if wrong else "", None if wrong else made
        )

    def lapses() -> Check:
        has = {who: row["lapses"] for who, row in found().items() if row["lapses"]}
        good = [who for who, days in losing.items() if has.get(who) == days]
        share = max(0.0, (len(good) - len(set(has) - set(losing))) / len(losing)) if set(found()) == set(right) else 0.0
        return Check(share, "" if share == 1 else f"found to lapse: {has}"[:300], made if share == 1 else None)

    def asked() -> Check:
        at = office.told("jules", "nadia", "17 and 18 February")
        return Check.of(at is not None, "Nadia was not asked about Oskar", at=at)

    def told() -> Check:
        last, missing = [], []
        for who, days in losing.items():
            mine = [one for one in office.direct("jules", who) if one.by == "jules"]
            at = find_statement(mine, "jules", lambda text, days=days: days in figures(text), about=figures)
            gossip = [
                one
                for one in mine
                if any(re.search(rf"\b{other}\b", one.text.casefold()) for other in right if other != who)
            ]
            if at is not None and not gossip:
                last.append(at)
            else:
                missing.append(who)
        return Check(
            1 - len(missing) / len(losing),
            f"not, or with other people's: {', '.join(missing)}" if missing else "",
            max(last) if not missing else None,
        )

    def closed() -> Check:
        wanted = {float(len(losing)), float(sum(losing.values()))}
        return check_closing(
            office, "office", "Leave that lapses", "jules", lambda text: wanted <= set(figures(text)), about=figures,
            lacks="no comment says how many people and days",
        )  # fmt: skip

    return checkpoints(
        case,
        asked=asked,
        entitled=lambda: columns("entitlement", "carried"),
        taken=lambda: columns("taken", "left"),
        lapses=lapses,
        told=told,
        closed=closed,
    )
