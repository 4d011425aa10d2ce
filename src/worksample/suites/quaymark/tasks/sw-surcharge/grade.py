# ruff: noqa: E501
"""The library is called in a box of its own with prices that it was never shown; its tests are tried on the old code."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cache
from typing import Any

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints, numbers_in
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Issue, Workplace

CALLS = """
import json, sys
from decimal import Decimal
from tariff import price
asked = json.load(open("asked.json"))
said = []
for customer, kilometres, pallets, diesel in asked:
    try:
        said.append(str(price(customer, kilometres, pallets, Decimal(diesel))))
    except Exception as error:
        said.append(type(error).__name__)
json.dump(said, open("said.json", "w"))
"""
DISCOUNTS = {
    "Nordvik Foods": "0.075", "Halden Pharma": "0.120", "Brasserie Lemaire": "0", "Oakridge Garden": "0.035",
    "Kaiser Ersatzteile": "0.050", "Pellworm Dairy": "0.085", "Somebody Else": "0",
}  # fmt: skip
CENT = Decimal("0.01")
EXAMPLE = ("Halden Pharma", 212, 9, "1.73")


def right(customer: str, kilometres: int, pallets: int, diesel: str) -> Decimal:
    base = Decimal("38.00") + Decimal("0.92") * kilometres + Decimal("6.45") * pallets
    net = (base * (1 - Decimal(DISCOUNTS[customer]))).quantize(CENT, ROUND_HALF_UP)
    share = max(Decimal(0), (Decimal(diesel) - Decimal("1.50")) // Decimal("0.05") * Decimal("0.012"))
    return net + (net * share).quantize(CENT, ROUND_HALF_UP)


def asked() -> list[tuple[str, int, int, str]]:
    fuel = ("1.32", "1.50", "1.54", "1.55", "1.73", "1.80", "2.04")
    return [
        (customer, kilometres, pallets, fuel[(kilometres + pallets) % len(fuel)])
        for customer in DISCOUNTS
        for kilometres in range(1, 400, 13)
        for pallets in (1, 2, 5, 14, 33)
    ]


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    repository = office.repository("tariff")

    @cache
    def pushed() -> datetime | None:
        return office.requested("git", "POST", "/tariff.git/git-receive-pack", by="jules")

    def run(argv: list[str], files: dict[str, Any], collect: tuple[str, ...] = ()) -> Any:
        return case.run(argv, files=files, collect=collect, timeout=60)

    @cache
    def said() -> list[str]:
        files = {**repository.contents(), "calls.py": CALLS.encode(), "asked.json": json.dumps(asked()).encode()}
        ran = run(["python3", "-B", "calls.py"], files, ("said.json",))
        try:
            found = json.loads(ran.file("said.json"))
        except ValueError:
            raise DeliverableError("left no answers", where="tariff") from None
        if not isinstance(found, list) or len(found) != len(asked()):
            raise DeliverableError("left no answers", where="tariff")
        return [str(one)[:40] for one in found]

    def off(by: Decimal, only: bool) -> list[str]:
        wrong = []
        for call, text in zip(asked(), said(), strict=True):
            if only and DISCOUNTS[call[0]] == "0":
                continue
            try:
                far = abs(Decimal(text) - right(*call))
            except InvalidOperation:
                far = Decimal(1)
            if not far <= by:
                wrong.append(f"{call}: {text}, not {right(*call)}")
        return wrong

    def discount() -> Check:
        wrong = off(CENT, only=True)
        return Check.of(not wrong, f"{len(wrong)} prices, such as {wrong[:1]}", at=pushed())

    def rounding() -> Check:
        wrong = off(Decimal(0), only=False)
        return Check.of(not wrong, f"{len(wrong)} prices, such as {wrong[:1]}", at=pushed())

    def test() -> Check:
        files = repository.contents()
        old = {f"tariff/{name}": case.reference(f"before/{name}").read_bytes() for name in (
            "__init__.py", "contracts.py", "price.py", "surcharge.py",
        )}  # fmt: skip
        if all(files.get(name) == data for name, data in old.items()):
            return Check(0.0, "the library is as it was")
        unittest = ["python3", "-B", "-m", "unittest", "-q"]
        now = run(unittest, files)
        if now.exit != 0:
            return Check(0.0, f"the tests do not pass: {now.stderr[-300:]}")
        given = {f"given_{name}": data for name, data in {
            "test_price.py": case.reference("tests/test_price.py").read_bytes(),
        }.items()}  # fmt: skip
        kept = run([*unittest, "given_test_price"], {**files, **given})
        if kept.exit != 0:
            return Check(0.0, "the tests that were there do not pass any more")
        rest = {name: data for name, data in files.items() if not name.startswith("tariff/")}
        before = run(unittest, {**rest, **old})
        found = before.exit not in (0, None) and ("FAILED (failures=" in before.stderr)
        return Check.of(found, "no test fails with the library as it was", at=pushed())

    def issue() -> Issue | None:
        wanted = "Customers with a contract pay too much surcharge"
        return next((one for one in office.issues("dispatch") if one.subject.startswith(wanted)), None)

    def amount() -> Check:
        one = issue()
        at = find_statement(
            one.notes if one is not None else (), "jules",
            lambda text: any(abs(n - float(right(*EXAMPLE))) < 0.005 for n in numbers_in(text)),
        )  # fmt: skip
        return Check.of(at is not None, "no comment of Jules says the amount", at=at)

    def resolved() -> Check:
        one = issue()
        done = one is not None and one.status in ("Resolved", "Closed") and pushed() is not None
        return Check.of(done, "the issue is not resolved, or nothing was pushed", at=one.changed if one else None)

    def was_asked() -> Check:
        at = office.told("jules", "dario", "discounted amount")
        return Check.of(at is not None, "Dario was not asked for the rule", at=at)

    return checkpoints(
        case, asked=was_asked, discount=discount, rounding=rounding, test=test, amount=amount, resolved=resolved
    )
