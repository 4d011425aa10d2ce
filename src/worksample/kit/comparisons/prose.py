"""Free text by narrow probes (ALE C.3.2): what a text must say, must not say, and how long it may be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check
from worksample.kit.free_text import flat, mentions, numbers_in, words
from worksample.kit.numbers import close

RUN = 6
"""Number of words in a row that count as copied."""
COPIED = 0.5
"""Share of a text's runs of words that may come from one source."""


@dataclass(frozen=True, slots=True)
class TextProbe:
    """Narrow question to a text.

    about: phrases of which one must occur in a sentence. value: a number that this sentence must give, within
    `tolerance`. others: numbers that may stand in such a sentence beside it. says: phrases of which one must occur in
    the sentence. denies: phrases that must not.
    """

    about: Sequence[str]
    value: float | None = None
    tolerance: float = 0.0
    others: Sequence[float] = ()
    says: Sequence[str] = ()
    denies: Sequence[str] = ()


def probe_text(
    text: str, probes: Sequence[TextProbe], *, length: tuple[int, int], sources: Sequence[str] = ()
) -> Check:
    """Return the share of probes that a text answers right.

    A probe is answered by the sentences that mention what it is about. Each of them must fit: a text that gives two
    different numbers for one thing, or a list of every possible answer, does not. length: fewest and most words;
    outside of them the score is 0. sources: texts of the task; a text that is mostly copied from one scores 0.
    """
    if not probes:
        raise GraderError("no probes are given", cause=Cause.GRADER_CRASH, next="pass one probe or more")
    many = words(text)
    if not length[0] <= many <= length[1]:
        return Check(0.0, f"has {many} words instead of {length[0]} to {length[1]}")
    if any(copied_share(text, source) > COPIED for source in sources):
        return Check(0.0, "is copied from what was provided")
    sentences = [flat(one) for one in re.split(r"(?<=[.!?;])\s+|\n+", text) if one.strip()]
    wrong = [f"{probe.about[0]!r}: {why}" for probe in probes if (why := _fault(probe, sentences))]
    return Check(1 - len(wrong) / len(probes), "; ".join(wrong))


def _fault(probe: TextProbe, sentences: Sequence[str]) -> str:
    about = [one for one in sentences if mentions(one, [list(probe.about)]).passed]
    if not about:
        return "is not mentioned"
    if probe.value is not None:
        given = [n for one in about for n in numbers_in(one)]
        if not any(close(n, probe.value, probe.tolerance) for n in given):
            return f"{probe.value:g} is not given"
        allowed = (probe.value, *probe.others)
        stray = [n for n in given if not any(close(n, a, probe.tolerance) for a in allowed)]
        if stray:
            return f"{stray[0]:g} is given, too"
    if probe.says and not any(mentions(one, [list(probe.says)]).passed for one in about):
        return f"{probe.says[0]!r} is not said"
    if probe.denies and any(mentions(one, [list(probe.denies)]).passed for one in about):
        return "the opposite is said"
    return ""


def copied_share(text: str, source: str) -> float:
    """Return the share of a text's runs of `RUN` words that occur in a source."""

    def runs(one: str) -> list[tuple[str, ...]]:
        found = re.findall(r"\w+", flat(one))
        return [tuple(found[i : i + RUN]) for i in range(len(found) - RUN + 1)]

    mine = runs(text)
    theirs = set(runs(source))
    return sum(run in theirs for run in mine) / len(mine) if mine else 0.0
