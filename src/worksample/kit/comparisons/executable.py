"""Executable artefacts (ALE C.3.2): the agent's program is run against held-out cases, in a box of its own."""

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
    """The arguments and the expected result of one run of a program. Nothing is compared if the expected value is
    None.
    """

    args: Sequence[str] = ()
    stdin: str = ""
    given: Mapping[str, bytes | str | Path] = field(default_factory=dict)
    """Files in the folder in which the program starts."""
    exit: int | None = 0
    stdout: str | Callable[[str], Check] | None = None
    """Text that must be printed (ends of lines and of the whole do not matter), or a function that judges it."""
    files: Mapping[str, bytes | str | Verdict] = field(default_factory=dict)
    """Files that the program must write: their content, or a function that judges the bytes."""


def executable(case: Case, argv: Sequence[str], expects: Sequence[Expect], *, timeout: float = 30.0) -> Check:
    """Return the mean over `expects` of the share that is right: exit code, printed text and each written file.

    argv: the program, such as `["python3", "/task/output/tool.py"]`; `Expect.args` follow it. timeout: seconds of one
    run. A program that hangs or ends with another exit code fails the whole run.
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
