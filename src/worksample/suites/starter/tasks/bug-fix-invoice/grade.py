"""Bug fix: the delivered package is called in a box of its own, and the delivered test is tried on known faults."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePosixPath
from typing import Any

from worksample.kit import Case, Check, DeliverableError, Grade, Ran, ReferenceUnreadable, weighted
from worksample.kit.text import parse_json

PACKAGE = "invoicer/"
TEST = "test_regression.py"
FILES, BYTES = 60, 1 << 20
SECONDS = 20.0
NOTHING = "nothing of what was reported is mended"
Files = dict[str, bytes | str | Path]


def given(case: Case) -> Files:
    """The package as the agent was given it."""
    folder = case.input("invoicer")
    return {PACKAGE + path.name: path for path in sorted(folder.glob("*.py"))}


def fixed(case: Case) -> Files:
    """The reference's package: what was given, with the files of the reference over it."""
    names = [n for n in case.references("*.py") if n.startswith(PACKAGE)]
    return {**given(case), **{n: case.reference(n) for n in names}}


def delivered(case: Case) -> Files:
    """What was given, with what was delivered over it. DeliverableError where nothing was, or far too much."""
    names = [n for n in case.outputs() if n.startswith(PACKAGE) and "__pycache__" not in n and not n.endswith(".pyc")]
    if not names:
        raise DeliverableError("holds no file", where=PACKAGE)
    if len(names) > FILES or sum(case.output(n).stat().st_size for n in names) > BYTES:
        raise DeliverableError(f"holds more than {FILES} files or {BYTES:,} bytes", where=PACKAGE)
    files: Files = {**given(case), **{n: case.output(n) for n in names}}
    for name in names:
        above = [parent.as_posix() for parent in PurePosixPath(name).parents]
        if not (name.isascii() and name.isprintable()) or any(a in files for a in above):
            raise DeliverableError(f"holds a file that no module can be: {name[:60]!r}", where=PACKAGE)
    return files


def result_of(ran: Ran, name: str) -> Any:
    """The JSON that a program left. DeliverableError where it left none."""
    if ran.timed_out:
        raise DeliverableError(f"did not end within {SECONDS:g} seconds", where="the delivered code")
    try:
        found = parse_json(ran.file(name).decode("utf-8")) if len(ran.file(name)) <= BYTES else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise DeliverableError(f"left no results: {ran.stderr.strip()[-300:]}", where="the delivered code")
    return found


def same(got: Any, want: Any) -> bool:
    """Whether two answers are equal; decimals by value, dictionaries without order."""
    if isinstance(want, dict) and "$decimal" in want:
        try:
            found = Decimal(got["$decimal"])
            return found.is_finite() and found == Decimal(want["$decimal"])
        except (TypeError, KeyError, ValueError, InvalidOperation):
            return False
    if isinstance(want, dict) and "$dict" in want:
        pairs = got.get("$dict") if isinstance(got, dict) else None
        if not isinstance(pairs, list) or len(pairs) != len(want["$dict"]):
            return False
        return all(any(same(pair, other) for pair in pairs) for other in want["$dict"])
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return bool(got == want)


class Trial:
    """The delivered package's answers to all calls, asked for once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.calls = case.ref_json("cases.json")
        self.found: dict[str, Any] | DeliverableError | None = None
        if not isinstance(self.calls, list) or not self.calls:
            raise ReferenceUnreadable("holds no calls", where="cases.json")

    def answers(self) -> dict[str, Any]:
        if self.found is None:
            self.found = self.ask()
        if isinstance(self.found, DeliverableError):
            raise DeliverableError(str(self.found))
        return self.found

    def ask(self) -> dict[str, Any] | DeliverableError:
        asked = json.dumps([{k: c[k] for k in ("id", "call", "args")} for c in self.calls])
        driver = self.case.folder("grader") / "drive.py"
        try:
            files = {**delivered(self.case), "drive.py": driver, "calls.json": asked}
            ran = self.case.run(["python3", "-B", "drive.py"], files=files, collect=["answers.json"], timeout=SECONDS)
            found: dict[str, Any] = result_of(ran, "answers.json")
        except DeliverableError as error:
            return error
        return found

    def group(self, name: str) -> Check:
        """The share of a group's calls that are answered rightly."""
        chosen = [c for c in self.calls if c["group"] == name]
        answers = self.answers()
        wrong = [c for c in chosen if not same(answers.get(c["id"]), c["expect"])]
        says = [f"{c['call']}({json.dumps(c['args'])[1:-1][:80]}): {answers.get(c['id'])!r:.80}" for c in wrong[:3]]
        return Check(
            1 - len(wrong) / len(chosen), f"{len(wrong)} of {len(chosen)} wrong: " + "; ".join(says) if wrong else ""
        )

    def kept(self) -> Check:
        """What worked still works; that counts only where something was mended."""
        if not self.group("reported").fraction:
            return Check(0.0, NOTHING)
        found = self.group("kept")
        return Check.of(found.passed, found.reason)


def tested(case: Case, package: Files) -> dict[str, Any]:
    """What becomes of the delivered test on one version of the package: {"run": tests, "bad": those that fail}."""
    runner = case.folder("grader") / "runtests.py"
    files = {**package, TEST: case.output(TEST), "runtests.py": runner}
    ran = case.run(["python3", "-B", "runtests.py"], files=files, collect=["result.json"], timeout=SECONDS)
    found: dict[str, Any] = result_of(ran, "result.json")
    return found


def regression(trial: Trial) -> Check:
    """The share of the faults, brought back one at a time, that the delivered test notices; none if it fails without.

    As with what was kept, that counts only where something was mended: the tests that were given notice some faults.
    """
    case = trial.case
    faults, right = case.ref_json("faults.json"), fixed(case)
    if case.output(TEST).stat().st_size > BYTES:
        raise DeliverableError(f"is larger than {BYTES:,} bytes", where=TEST)
    if not trial.group("reported").fraction:
        return Check(0.0, NOTHING)
    sound = tested(case, right)
    if not sound.get("run") or sound.get("bad") != 0:
        return Check(0.0, f"on a right package: {sound.get('run')!r:.20} tests ran, {sound.get('bad')!r:.20} failed")
    missed = [f["name"] for f in faults if not tested(case, right | {f["file"]: broken(case, f)}).get("bad")]
    return Check(1 - len(missed) / len(faults), f"does not notice: {', '.join(missed)}" if missed else "")


def broken(case: Case, fault: dict[str, str]) -> str:
    """A file of the right package with one fault. ReferenceUnreadable where the fault does not fit the file."""
    text = case.ref_text(fault["file"])
    if text.count(fault["find"]) != 1:
        raise ReferenceUnreadable(f"the fault {fault['name']} does not fit {fault['file']}", where="faults.json")
    return text.replace(fault["find"], fault["replace"])


def grade(case: Case) -> Grade:
    trial = Trial(case)
    return weighted(
        case,
        reported=lambda: trial.group("reported"),
        causes=lambda: trial.group("causes"),
        kept=trial.kept,
        regression=lambda: regression(trial),
    )
