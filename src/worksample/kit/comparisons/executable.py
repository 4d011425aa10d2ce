"""Executable deliverables (ALE C.3.2): the agent's program runs in a separate box, on test cases that the agent has
never seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worksample.kit.broker_client import Ran
from worksample.kit.case import Case
from worksample.kit.check_score import Check, average

from .exact import normalise

Verdict = Callable[[bytes], Check]


@dataclass(frozen=True, slots=True)
class Expect:
    """The arguments, the input and the expected result of one run of a program. `exit` or `stdout` is not compared if
    it is None.
    """

    args: Sequence[str] = ()
    stdin: str = ""
    given: Mapping[str, bytes | str | Path] = field(default_factory=dict)
    """Contents of the files in the folder in which the program starts, by name."""
    exit: int | None = 0
    stdout: str | Callable[[str], Check] | None = None
    """The text that the program must print, or a function that checks the printed text. White space at the ends of
    lines and of the whole text is ignored.
    """
    files: Mapping[str, bytes | str | Verdict] = field(default_factory=dict)
    """The files that the program must write, by name: the expected content, or a function that checks the written
    bytes.
    """


def executable(case: Case, argv: Sequence[str], expects: Sequence[Expect], *, timeout: float = 30.0) -> Check:
    """Run the agent's program for each item of `expects`, and return the mean share of right results.

    The results of one run are its printed text and each file that the program must write. A run scores 0 if the program
    hangs or returns an unexpected exit code. argv: the program, such as `["python3", "/task/output/tool.py"]`, without
    `Expect.args`. timeout: seconds for each run.
    """
    found = []
    for i, expect in enumerate(expects, 1):
        ran = case.run(
            [*argv, *expect.args], files=expect.given, stdin=expect.stdin, collect=list(expect.files), timeout=timeout
        )
        check = _judge(ran, expect, timeout)
        found.append(Check(check.fraction, f"run {i}: {check.reason}" if check.reason else ""))
    return average(found)


def _judge(ran: Ran, expect: Expect, timeout: float) -> Check:
    if ran.timed_out:
        return Check(0.0, f"did not end within {timeout:g} seconds")
    if expect.exit is not None and ran.exit != expect.exit:
        return Check(0.0, f"exit code {ran.exit} instead of {expect.exit}: {ran.stderr.strip()[-300:]}")
    checks = []
    if callable(expect.stdout):
        checks.append(expect.stdout(ran.stdout))
    elif expect.stdout is not None:
        checks.append(_text(ran.stdout, expect.stdout, "printed"))
    for name, want in expect.files.items():
        if name not in ran.files:
            checks.append(Check(0.0, f"did not write {name}"))
        elif callable(want):
            checks.append(want(ran.files[name]))
        elif isinstance(want, bytes):
            checks.append(Check.of(ran.files[name] == want, "" if ran.files[name] == want else f"{name} differs"))
        else:
            checks.append(_text(ran.files[name].decode("utf-8", "replace"), want, name))
    return average(checks) if checks else Check(1.0)


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in normalise(text).splitlines())


def _text(got: str, want: str, what: str) -> Check:
    left, right = _lines(got), _lines(want)
    return Check.of(left == right, "" if left == right else f"{what}: {left[:120]!r} instead of {right[:120]!r}")
