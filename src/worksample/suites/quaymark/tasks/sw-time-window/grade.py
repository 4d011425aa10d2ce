"""The engine is called in a box of its own with windows and rounds that it was never shown."""

from __future__ import annotations

import json
import re
from datetime import datetime
from functools import cache
from math import hypot
from typing import Any

from worksample.kit import Case, Check, DeliverableError, Grade, checkpoints
from worksample.kit.statements import find_statement
from worksample.kit.workplace import Workplace

CALLS = """
import json
from routing.plan import plan
from routing.windows import read_window, wait
asked, said = json.load(open("asked.json")), {}
def told(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__
said["read"] = [told(lambda: list(read_window(text))) for text in asked["read"]]
said["wait"] = [told(lambda: wait(tuple(window), arrival)) for window, arrival in asked["wait"]]
said["plan"] = [told(lambda: [list(one) for one in plan((0, 0), leaves, stops)]) for leaves, stops in asked["plan"]]
json.dump(said, open("said.json", "w"))
"""
READ = [
    "06:00-10:30",
    "22:00-02:00",
    "23:15-00:45",
    "00:00-23:59",
    "05:00 - 05:00",
    "morning",
    "25:00-02:00",
    "22:00",
    "18:30-06:00",
]
WINDOWS = [(360, 630), (1320, 1560), (1395, 1485), (0, 1439), (1110, 1800)]
ARRIVALS = [
    0,
    40,
    45,
    46,
    119,
    120,
    121,
    300,
    355,
    360,
    500,
    630,
    631,
    1100,
    1200,
    1319,
    1320,
    1400,
    1441,
    1485,
    1486,
    1560,
    1561,
]


def read(text: str) -> list[int]:
    times = []
    for one in text.split("-", 1):
        hours, _, minutes = one.strip().partition(":")
        times.append(int(hours) * 60 + int(minutes))
        if int(hours) > 23:
            raise ValueError
    begins, ends = times
    return [begins, ends if ends >= begins else ends + 1440]


def wait(window: tuple[int, int], arrival: float) -> float | None:
    begins, ends = window
    if arrival <= ends - 1440:
        return 0.0
    return None if arrival > ends else max(0.0, begins - arrival)


def plan(leaves: int, stops: list[dict[str, Any]]) -> Any:
    here, now, left, order = (0, 0), float(leaves), list(stops), []
    while left:
        reachable = []
        for number, stop in enumerate(left):
            x, y = stop["place"]
            arrival = now + hypot(here[0] - x, here[1] - y) * 1.3 / 55.0 * 60
            waiting = wait(tuple(read(stop["window"])), arrival)
            if waiting is not None:
                reachable.append((arrival + waiting, stop["name"], number))
        if not reachable:
            return "ValueError"
        now, name, number = min(reachable)
        order.append([name, now])
        here, now = tuple(left.pop(number)["place"]), now + 12
    return order


def _stop(name: str, x: int, y: int, window: str) -> dict[str, Any]:
    return {"name": name, "place": [x, y], "window": window}


ROUNDS = [
    (300, [_stop("a", 40, 0, "05:00-12:00"), _stop("b", 10, 5, "05:00-12:00"), _stop("c", 12, 30, "08:00-09:30")]),
    (600, [_stop("a", 90, 0, "06:00-10:30")]),
    (1300, [_stop("ott", 20, 0, "22:00-02:00"), _stop("b", 40, 0, "20:00-23:59")]),
    (1390, [_stop("far", 70, 0, "22:00-02:00"), _stop("ott", 10, 0, "23:15-00:45")]),
    (30, [_stop("ott", 15, 0, "22:00-02:00"), _stop("day", 30, 0, "05:00-09:00")]),
    (100, [_stop("ott", 60, 0, "22:00-02:00")]),
    (1550, [_stop("ott", 30, 0, "22:00-02:00")]),
]


def right() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"read": [], "wait": [], "plan": []}
    for text in READ:
        try:
            found["read"].append(read(text))
        except ValueError:
            found["read"].append("ValueError")
    found["wait"] = [wait(window, arrival) for window in WINDOWS for arrival in ARRIVALS]
    found["plan"] = [plan(*one) for one in ROUNDS]
    return found


def same(got: Any, want: Any) -> bool:
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, float) and isinstance(got, int | float):
        return abs(got - want) < 1e-6
    return bool(got == want)


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    repository = office.repository("routing")

    @cache
    def pushed() -> datetime | None:
        return office.requested("git", "POST", "/routing.git/git-receive-pack", by="jules")

    @cache
    def said() -> dict[str, Any]:
        asked = {"read": READ, "wait": [[w, a] for w in WINDOWS for a in ARRIVALS], "plan": ROUNDS}
        files = {**repository.contents(), "calls.py": CALLS.encode(), "asked.json": json.dumps(asked).encode()}
        ran = case.run(["python3", "-B", "calls.py"], files=files, collect=("said.json",), timeout=60)
        try:
            found = json.loads(ran.file("said.json"))
        except ValueError:
            raise DeliverableError("left no answers", where="routing") from None
        return found if isinstance(found, dict) else {}

    def alike(*names: str) -> Check:
        for name in names:
            got, want = said().get(name), right()[name]
            if not isinstance(got, list) or len(got) != len(want):
                return Check(0.0, f"{name}: no answers")
            wrong = [(g, w) for g, w in zip(got, want, strict=True) if not same(g, w)]
            if wrong:
                return Check(
                    0.0, f"{name}: {len(wrong)} of {len(want)} are wrong, such as {wrong[0][0]} and not {wrong[0][1]}"
                )
        return Check.of(True, at=pushed())

    def test() -> Check:
        files = repository.contents()
        names = ("__init__.py", "plan.py", "travel.py", "windows.py")
        old = {f"routing/{name}": case.reference(f"before/{name}").read_bytes() for name in names}
        if all(files.get(name) == data for name, data in old.items()):
            return Check(0.0, "the code is as it was")
        unittest = ["python3", "-B", "-m", "unittest", "-q"]
        if (now := case.run(unittest, files=files, timeout=60)).exit != 0:
            return Check(0.0, f"the tests do not pass: {now.stderr[-300:]}")
        given = {**files, "given_test_plan.py": case.reference("tests/test_plan.py").read_bytes()}
        if case.run([*unittest, "given_test_plan"], files=given, timeout=60).exit != 0:
            return Check(0.0, "the tests that were there do not pass any more")
        rest = {name: data for name, data in files.items() if not name.startswith("routing/")}
        before = case.run(unittest, files={**rest, **old}, timeout=60)
        fails = before.exit not in (0, None) and "FAILED (" in before.stderr and "ImportError" not in before.stderr
        return Check.of(fails, "no test fails with the code as it was", at=pushed())

    def issue() -> Any:
        return next((one for one in office.issues("routing") if one.subject.startswith("Night rounds crash")), None)

    def cause() -> Check:
        named = re.compile(r"r-\d{4}-\d\d")
        at = find_statement(
            issue().notes if issue() is not None else (), "jules",
            lambda text: set(named.findall(text)) == {"r-0312-07"}, about=named.search,
        )  # fmt: skip
        return Check.of(at is not None, "no comment of Jules names the round that crashed first, and it alone", at=at)

    def resolved() -> Check:
        one = issue()
        done = one is not None and one.status in ("Resolved", "Closed") and pushed() is not None
        return Check.of(done, "the issue is not Resolved, or nothing was pushed", at=one.changed if one else None)

    def asked() -> Check:
        at = office.told("jules", "pavel", "1560")
        return Check.of(at is not None, "Pavel was not asked", at=at)

    def plans() -> Check:
        return alike("plan") if issue() is not None else Check(0.0, "the issue is gone")

    return checkpoints(
        case, asked=asked, windows=lambda: alike("read", "wait"), plans=plans, test=test, cause=cause, resolved=resolved
    )
