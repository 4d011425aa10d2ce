"""Verdicts one subject at a time, written down as the documentation says them: what the columns are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median, median_high, median_low
from typing import Any

from worksample.errors import POLICY
from worksample.records import (
    Amendment,
    Evaluation,
    Given,
    Grade,
    GradePart,
    Holistic,
    Importance,
    Protocol,
    Round,
    Rule,
    Standing,
    struck,
    targets_of,
)

Told = dict[str, Any]
UNDECIDED, UNGRADED = Standing.UNDECIDED, Standing.UNGRADED


def told(standing: Standing, reason: str = "", **more: Any) -> Told:
    blank = {"score": None, "passed": None, "label": None, "cause": None}
    return {**blank, "standing": standing, "reason": reason, **more}


def verdicts(round: Round, said: Iterable[Evaluation], amendments: Iterable[Amendment] = ()) -> dict[str, Told]:
    out = struck(amendments)
    subjects: dict[str, list[Evaluation]] = {}
    for e in sorted(said, key=lambda e: (e.at, e.id)):
        if e.second is None and e.round == round.id:
            subjects.setdefault(e.subject, []).append(e)
    return {
        subject: verdict(round, [e for e in rows if not out.intersection(targets_of(e))])
        for subject, rows in sorted(subjects.items())
    }


def verdict(round: Round, rows: list[Evaluation]) -> Told:
    if not rows:
        return told(UNGRADED, "every evaluation of it was struck")
    given = [e for e in rows if e.outcome is Given.GIVEN]
    payloads = [e.payload for e in given]
    if not payloads:
        last = rows[-1]
        return told(UNGRADED, last.reason or (POLICY[last.cause].says if last.cause else "declined"), cause=last.cause)
    holistic = [(e.evaluator, e.payload.score) for e in given if isinstance(e.payload, Holistic)]
    votes = [score for _, score in (holistic if round.rule is Rule.LATEST else once(holistic))]
    grades = [p for p in payloads if isinstance(p, Grade)]
    if votes:
        return voted(round, votes)
    if holistic or not grades:
        return told(UNDECIDED, "no payload that decides")
    if round.rule is Rule.LATEST:
        return alone(round, grades[-1])
    return meant(round, grades) if round.rule is Rule.MEAN else joined(round, grades)


def once(votes: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Nobody counts twice, and who contradicts himself not at all."""
    said: dict[str, set[int]] = {}
    for who, score in votes:
        said.setdefault(who, set()).add(score)
    return [vote for vote in dict.fromkeys(votes) if len(said[vote[0]]) == 1]


def voted(round: Round, votes: list[int]) -> Told:
    if round.rule is Rule.LATEST:
        votes, wanted = votes[-1:], 1
    elif round.rule is Rule.TIE_BREAK:
        wanted = 3 if len({v >= 2 for v in votes[:2]}) == 2 else 2
        votes = votes[:wanted]
    else:
        wanted = max(round.overlap, len(votes))
    passes = sum(v >= 2 for v in votes)
    if 2 * max(passes, len(votes) - passes) <= wanted:
        return told(UNDECIDED, "too few votes" if len(votes) < wanted else "the votes are split")
    value, count = Counter(votes).most_common(1)[0]
    middle = median_low(votes) if len(votes) == wanted and median_low(votes) == median_high(votes) else None
    label = value if 2 * count > wanted else middle
    passed = 2 * passes > wanted
    return told(Standing.DECIDED, score=float(passed), passed=passed, label=label)


def alone(round: Round, grade: Grade) -> Told:
    if grade.undecided:
        return told(UNGRADED, f"could not be judged: {', '.join(grade.undecided)}")
    if grade.void:
        return told(UNGRADED, "no criterion applies")
    if round.protocol is Protocol.RUBRIC and grade.parts:
        return told(Standing.DECIDED, **rubric([(p.importance, mark(p)) for p in grade.leaves]))
    return told(Standing.DECIDED, score=grade.score, passed=grade.score >= 1 - 1e-9)


def rubric(marks: list[tuple[Importance | None, str]]) -> Told:
    counting = [(i or Importance.IMPORTANT, m) for i, m in marks if m in ("pass", "fail")]
    gates = [m == "pass" for i, m in counting if i in (Importance.CRITICAL, Importance.IMPORTANT)]
    share = sum(m == "pass" for _, m in counting) / len(counting)
    return {"score": share, "passed": all(gates) if gates else None}


def meant(round: Round, grades: list[Grade]) -> Told:
    if len(grades) < round.overlap:
        return told(UNDECIDED, "too few grades")
    each = [alone(round, g) for g in grades]
    open_ = [one["reason"] for one in each if one["score"] is None]
    if open_:
        return told(UNGRADED, open_[0])
    gated = all(one["passed"] is not None for one in each)
    twice = 2 * sum(bool(one["passed"]) for one in each)
    passed = twice > len(each)
    gated = gated and not (round.protocol is Protocol.RUBRIC and twice == len(each))
    return told(Standing.DECIDED, score=sum(one["score"] for one in each) / len(each), passed=passed if gated else None)


def mark(part: GradePart) -> str:
    return part.skip.value if part.skip else "pass" if part.passed else "fail"


def joined(round: Round, grades: list[Grade]) -> Told:
    """Each criterion by itself, then the whole."""
    tie = round.rule is Rule.TIE_BREAK
    if tie:
        grades = grades[:3]
    whole = [{p.name: p for p in g.leaves} or {"": GradePart(name="", fraction=g.score)} for g in grades]
    names = list(dict.fromkeys(name for parts in whole for name in parts))
    agreed: dict[str, str | None] = {}
    for name in names:
        said = Counter(mark(parts[name]) if name in parts else "cannot_judge" for parts in whole)
        value, count = said.most_common(1)[0]
        agreed[name] = value if 2 * count > len(grades) else None
    split = [n or "the whole" for n, m in agreed.items() if m is None]
    stuck = [n or "the whole" for n, m in agreed.items() if m == "cannot_judge"]
    if len(grades) < (2 if tie else round.overlap) or (tie and split and len(grades) < 3):
        return told(UNDECIDED, "too few grades")
    if split:
        return told(UNDECIDED, f"the raters are split on: {', '.join(split)}")
    if stuck:
        return told(UNGRADED, f"could not be judged: {', '.join(stuck)}")
    if "pass" not in agreed.values() and "fail" not in agreed.values():
        return told(UNGRADED, "no criterion applies")
    first = {n: next(parts[n] for parts in whole if n in parts) for n in names}
    if round.protocol is Protocol.RUBRIC:
        return told(Standing.DECIDED, **rubric([(first[n].importance, m or "") for n, m in agreed.items()]))
    return told(Standing.DECIDED, **shares(grades, whole, agreed, first))


def shares(
    grades: list[Grade], whole: list[dict[str, GradePart]], agreed: dict[str, str | None], first: dict[str, GradePart]
) -> Told:
    got = {}
    for name, outcome in agreed.items():
        missed = [p[name].fraction or 0.0 for p in whole if name in p and mark(p[name]) == "fail"]
        got[name] = 1.0 if outcome == "pass" else median(missed) if outcome == "fail" else None
    score = None
    for grade, parts in zip(grades, whole, strict=True):
        same = parts.keys() == agreed.keys() and all(
            mark(parts[n]) == m and (m != "fail" or parts[n].fraction == got[n]) for n, m in agreed.items()
        )
        score = grade.score if same else score
    if score is None:
        counted = {n: share for n, share in got.items() if share is not None}
        closed = any(p[n].gate and agreed[n] == "fail" for p in whole for n in p)
        points = sum(first[n].points for n in counted)
        score = 0.0 if closed else sum(share * first[n].points for n, share in counted.items()) / points
    return {"score": score, "passed": score >= 1 - 1e-9}


def overruled(votes: Mapping[str, Told], audits: Mapping[str, Told], judged: Mapping[str, Told]) -> dict[str, Told]:
    """`audits` and `judged` hold what they decided, the latest of each."""
    out = dict(votes)
    for subject, own in votes.items():
        if subject in judged:
            out[subject] = judged[subject]
        elif own["passed"] and subject in audits and audits[subject]["passed"] is False:
            out[subject] = audits[subject]
    return out
