"""Bank reconciliation: pairs and reasons as sets, the entries posted anew, the identity of the balances computed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from worksample.kit import (
    Case,
    Check,
    DeliverableError,
    Grade,
    ReferenceUnreadable,
    Table,
    close,
    every,
    number,
    plain_text,
    read_csv,
    weighted,
)

BANK = "1200"
MOST = 1e12
"""No entry is larger; sums of such are still exact."""
Entries = dict[tuple[str, str, str], float]


@contextmanager
def ours() -> Iterator[None]:
    """What would be the agent's fault in a deliverable is ours in the reference: nobody is graded then."""
    try:
        yield
    except DeliverableError as error:
        raise ReferenceUnreadable(str(error)) from error


def keyed(table: Table, *columns: str) -> set[tuple[str, ...]]:
    """The rows as a set of texts. DeliverableError for a missing column."""
    lacking = [c for c in columns if c not in table.columns]
    if lacking:
        raise DeliverableError(f"has no column {lacking[0]!r}; it has {', '.join(table.columns)}")
    return {tuple(plain_text(row[c]) for c in columns) for row in table.rows}


def net_share(got: set[tuple[str, ...]], want: set[tuple[str, ...]]) -> Check:
    """Right rows less wrong ones, as a share of those that are wanted."""
    wrong, lost = got - want, want - got
    says = [f"wrong: {' '.join(r)}" for r in sorted(wrong)[:5]] + [f"missing: {' '.join(r)}" for r in sorted(lost)[:5]]
    share = max(0, len(got & want) - len(wrong)) / len(want)
    return Check(share, "; ".join(says))


def groups(got: set[tuple[str, ...]], want: set[tuple[str, ...]]) -> Check:
    """Pairs of lines that have more than one partner, all of them and no others."""
    checks = []
    for side in (0, 1):
        partners: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for pair in want:
            partners[pair[side]].add(pair)
        for name, pairs in sorted(partners.items()):
            if len(pairs) > 1:
                found = {p for p in got if p[side] == name}
                checks.append(Check.of(found == pairs, f"{name} has {len(found & pairs)} of its {len(pairs)} partners"))
    return every(checks)


def entries(table: Table) -> Entries:
    """Amounts by (ref, debit account, credit account). DeliverableError for an amount that is none, or not above 0."""
    keyed(table, "ref", "debit_account", "credit_account", "amount")
    found: Entries = defaultdict(float)
    for row in table.rows:
        amount = number(row["amount"])
        if amount is None or not 0 < amount <= MOST:
            said = str(row["amount"])[:60]
            raise DeliverableError(f"the amount {said!r} is no number above 0 that books hold", where="adjustments.csv")
        found[plain_text(row["ref"]), account(row["debit_account"]), account(row["credit_account"])] += amount
    return dict(found)


def account(value: Any) -> str:
    """`7900`, `7900.0` and `7900 Exchange differences` are one account."""
    return plain_text(value).partition(" ")[0].removesuffix(".0")


def adjustments(got: Entries, want: Entries, tolerance: float) -> Check:
    right = [k for k, v in got.items() if k in want and close(v, want[k], tolerance)]
    wrong = [f"wrong: {' '.join(k)} {got[k]:.2f}" for k in sorted(got) if k not in right]
    lost = [f"missing: {' '.join(k)} {want[k]:.2f}" for k in sorted(want) if k not in right]
    return Check(max(0, len(right) - len(wrong)) / len(want), "; ".join([*wrong[:5], *lost[:5]]))


def posted(found: Entries) -> dict[str, float]:
    """What each account moves by, debits positive."""
    moves: dict[str, list[float]] = defaultdict(list)
    for (_, debit, credit), amount in found.items():
        moves[debit].append(amount)
        moves[credit].append(-amount)
    return {name: math.fsum(amounts) for name, amounts in moves.items()}


def accounts(got: Entries, want: Entries, tolerance: float) -> Check:
    mine, theirs = posted(got), posted(want)
    wrong = [a for a in sorted({*mine, *theirs}) if not close(mine.get(a, 0.0), theirs.get(a, 0.0), tolerance)]
    says = [f"{a} moves by {mine.get(a, 0.0):.2f} instead of {theirs.get(a, 0.0):.2f}" for a in wrong]
    return Check.of(not wrong, "; ".join(says))


def ledger_amounts(case: Case) -> dict[str, float]:
    """Signed amounts of the ledger's entries, money in positive, by lower-case number."""
    found = {}
    for name in ("ledger.csv", "open-items.csv"):
        for row in read_csv(case.input(name), ",").rows:
            debit, credit = number(row["Debit"]) or 0.0, number(row["Credit"]) or 0.0
            if row["Entry"]:
                found[plain_text(row["Entry"])] = debit - credit
    return found


def balances(case: Case, want: Mapping[str, float], tolerance: float) -> Check:
    """The five figures, and that they follow from what was delivered."""
    got = case.json("reconciliation.json")
    if not isinstance(got, dict):
        raise DeliverableError("is no object", where="reconciliation.json")
    checks = []
    for name, value in want.items():
        found = number(got.get(name))
        right = found is not None and close(found, value, tolerance)
        checks.append(Check.of(right, f"{name} is {got.get(name)!r:.40} instead of {value:.2f}"))
    amounts = ledger_amounts(case)
    unmatched = keyed(case.rows("unmatched.csv"), "side", "ref", "reason")
    transit = math.fsum(
        amounts.get(ref, 0.0) for side, ref, why in unmatched if (side, why) == ("ledger", "in_transit")
    )
    adjusted = want["ledger_balance"] + posted(entries(case.rows("adjustments.csv"))).get(BANK, 0.0)
    gap = adjusted - want["bank_balance"] - transit
    checks.append(Check.of(close(gap, 0.0, tolerance), f"the delivered entries and items leave {gap:.2f} unexplained"))
    checked = every(checks)
    return Check.of(checked.passed, checked.reason)


def grade(case: Case) -> Grade:
    tolerance = case.setting("tolerance")
    with ours():
        pairs = keyed(case.ref_rows("matches.csv"), "bank_ref", "ledger_entry")
        alone = keyed(case.ref_rows("unmatched.csv"), "side", "ref", "reason")
        journal = entries(case.ref_rows("adjustments.csv"))
    figures = case.ref_json("reconciliation.json")
    return weighted(
        case,
        matches=lambda: net_share(keyed(case.rows("matches.csv"), "bank_ref", "ledger_entry"), pairs),
        groups=lambda: groups(keyed(case.rows("matches.csv"), "bank_ref", "ledger_entry"), pairs),
        unmatched=lambda: net_share(keyed(case.rows("unmatched.csv"), "side", "ref", "reason"), alone),
        adjustments=lambda: adjustments(entries(case.rows("adjustments.csv")), journal, tolerance),
        accounts=lambda: accounts(entries(case.rows("adjustments.csv")), journal, tolerance),
        balances=lambda: balances(case, figures, tolerance),
    )
