"""Verdicts one subject at a time, written down as the documentation says them: what the columns are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median, median_high, median_low
from typing import Any

from worksample.errors import POLICY, Cause
from worksample.records import (
    Amendment,
    Criteria,
    Criterion,
    Evaluation,
    EvaluationOutcome,
    GradePayload,
    Holistic,
    Importance,
    PartPayload,
    Protocol,
    ResolutionRule,
    Round,
    Standing,
    struck,
    targets_of,
)

Told = dict[str, Any]
UNDECIDED, UNGRADED = Standing.UNDECIDED, Standing.UNGRADED
WHO = {"program": "a program", "judge": "a judge", "person": "people"}
CAUSE = {"program": None, "judge": Cause.JUDGE_AWAITED, "person": Cause.PERSON_AWAITED}


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
        subject: excused(round, [e for e in rows if not out.intersection(targets_of(e))])
        for subject, rows in sorted(subjects.items())
    }


def excused(round: Round, rows: list[Evaluation]) -> Told:
    """What is short of answers waits for its people or its judge, but not for one that was asked in vain."""
    found = verdict(round, rows)
    if not found["reason"].startswith("too few") or CAUSE[round.by.value] is None:
        return found
    failed = [e for e in rows if e.outcome is EvaluationOutcome.FAILED]
    if not failed:
        return {**found, "cause": CAUSE[round.by.value]}
    return told(UNGRADED, f"{found['reason']}: {why_failed(failed[-1])}", cause=failed[-1].cause)


def why_failed(e: Evaluation) -> str:
    return e.reason or (POLICY[e.cause].description if e.cause else "declined")


def verdict(round: Round, rows: list[Evaluation]) -> Told:
    if not rows:
        return told(UNGRADED, "every evaluation of it was struck")
    given = [e for e in rows if e.outcome is EvaluationOutcome.GIVEN]
    payloads = [e.payload for e in given]
    if not payloads:
        return told(UNGRADED, why_failed(rows[-1]), cause=rows[-1].cause)
    holistic = [((e.evaluator, e.draw), e.payload.score) for e in given if isinstance(e.payload, Holistic)]
    votes = [score for _, score in (holistic if round.rule is ResolutionRule.LATEST else once(holistic))]
    grades = latest(given)
    if votes:
        return voted(round, votes)
    if holistic or not grades:
        return told(UNDECIDED, "no payload that decides")
    if round.rule is ResolutionRule.LATEST:
        return alone(round, grades[-1])
    return meant(round, grades) if round.rule is ResolutionRule.MEAN else agreed(round, grades)


def latest(said: Iterable[Evaluation]) -> list[GradePayload]:
    """Of several grades by one evaluator the last, where it stands."""
    graded = [e for e in said if isinstance(e.payload, GradePayload)]
    last = {(e.evaluator, e.draw): e.id for e in graded}
    return [e.payload for e in graded if e.id in last.values() and isinstance(e.payload, GradePayload)]


def once(votes: list[tuple[tuple[str, int], int]]) -> list[tuple[tuple[str, int], int]]:
    """Nobody counts twice, and who contradicts himself not at all."""
    said: dict[tuple[str, int], set[int]] = {}
    for who, score in votes:
        said.setdefault(who, set()).add(score)
    return [vote for vote in dict.fromkeys(votes) if len(said[vote[0]]) == 1]


def voted(round: Round, votes: list[int]) -> Told:
    if round.rule is ResolutionRule.LATEST:
        votes, wanted = votes[-1:], 1
    elif round.rule is ResolutionRule.TIE_BREAK:
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


def alone(round: Round, grade: GradePayload) -> Told:
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


def meant(round: Round, grades: list[GradePayload]) -> Told:
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


def mark(part: PartPayload) -> str:
    return part.skip.value if part.skip else "pass" if part.passed else "fail"


def agreed(round: Round, grades: list[GradePayload]) -> Told:
    """Each criterion by itself, then the whole."""
    tie = round.rule is ResolutionRule.TIE_BREAK
    if tie:
        grades = grades[:3]
    whole = [{p.name: p for p in g.leaves} or {"": PartPayload(name="", fraction=g.score)} for g in grades]
    names = list(dict.fromkeys(name for parts in whole for name in parts))
    common: dict[str, str | None] = {}
    for name in names:
        said = Counter(mark(parts[name]) if name in parts else "cannot_judge" for parts in whole)
        value, count = said.most_common(1)[0]
        common[name] = value if 2 * count > len(grades) else None
    split = [n or "the whole" for n, m in common.items() if m is None]
    stuck = [n or "the whole" for n, m in common.items() if m == "cannot_judge"]
    if len(grades) < (2 if tie else round.overlap) or (tie and split and len(grades) < 3):
        return told(UNDECIDED, "too few grades")
    if split:
        return told(UNDECIDED, f"the raters are split on: {', '.join(split)}")
    if stuck:
        return told(UNGRADED, f"could not be judged: {', '.join(stuck)}")
    if "pass" not in common.values() and "fail" not in common.values():
        return told(UNGRADED, "no criterion applies")
    first = {n: next(parts[n] for parts in whole if n in parts) for n in names}
    if round.protocol is Protocol.RUBRIC:
        return told(Standing.DECIDED, **rubric([(first[n].importance, m or "") for n, m in common.items()]))
    return told(Standing.DECIDED, **shares(grades, whole, common, first))


def shares(
    grades: list[GradePayload],
    whole: list[dict[str, PartPayload]],
    agreed: dict[str, str | None],
    first: dict[str, PartPayload],
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


# -- verdicts that join several kinds of evaluators


def asked(nodes: Sequence[Criterion], above: tuple[str, ...] = ()) -> list[tuple[Criterion, tuple[str, ...]]]:
    """Leaves with the names under which their answers may stand."""
    out = []
    for node in nodes:
        names = (node.id, *above)
        out += asked(node.parts, names) if node.parts else [(node, names)]
    return out


def said_by(round: Round, rows: list[Evaluation]) -> dict[str, tuple[str | None, float | None]]:
    """Criterion -> (mark, share), by the round's rule; None for a mark on which raters are split."""
    grades = latest(rows)
    if round.rule is ResolutionRule.LATEST:
        grades = grades[-1:]
    elif round.rule is ResolutionRule.TIE_BREAK:
        grades = grades[:3]
    out: dict[str, tuple[str | None, float | None]] = {}
    whole = [{p.name: p for p in g.leaves} for g in grades]
    for name in dict.fromkeys(name for parts in whole for name in parts):
        marks = [mark(parts[name]) if name in parts else "cannot_judge" for parts in whole]
        shares = [parts[name].fraction for parts in whole if name in parts and parts[name].fraction is not None]
        value, count = Counter(marks).most_common(1)[0]
        if round.rule is ResolutionRule.MEAN and round.protocol is not Protocol.RUBRIC:
            named = [mark(parts[name]) for parts in whole if name in parts]
            if "cannot_judge" in named:
                out[name] = ("cannot_judge", None)
            elif not shares:
                out[name] = ("not_applicable", None)
            else:
                share = sum(shares) / len(shares)
                out[name] = ("pass" if share >= 1 - 1e-9 else "fail", share)
        elif 2 * count <= len(grades):
            out[name] = (None, None)
        else:
            missed = [parts[name].fraction for parts in whole if name in parts and mark(parts[name]) == "fail"]
            out[name] = (value, 1.0 if value == "pass" else median(missed) if value == "fail" else None)
    return out


def joined(
    protocol: Protocol, criteria: Criteria, rounds: Mapping[str, Round], said: Mapping[str, list[Evaluation]],
    only: str | None = None,
) -> Told:  # fmt: skip
    """`rounds` and `said` (of one subject, what stands, by time): by kind of evaluator."""
    leaves = asked(criteria.criteria)
    kinds = {leaf.id: only or leaf.by.value for leaf, _ in leaves}
    answers = {kind: said_by(rounds[kind], said.get(kind, [])) if kind in rounds else {} for kind in WHO}
    for kind in WHO:
        rows = said.get(kind, []) if kind in rounds else []
        silent = not any(e.outcome is EvaluationOutcome.GIVEN for e in rows)
        if kind in kinds.values() and rows and silent and rows[-1].outcome is EvaluationOutcome.FAILED:
            return told(UNGRADED, why_failed(rows[-1]), cause=rows[-1].cause)
        if (
            kind in kinds.values()
            and rows
            and (alone := excused(rounds[kind], rows))["reason"].startswith("too few grades: ")
        ):
            return alone
    found: dict[str, tuple[str | None, float | None]] = {}
    missing: dict[str, list[str]] = {kind: [] for kind in WHO}
    for leaf, names in leaves:
        mine = answers[kinds[leaf.id]]
        name = next((n for n in names if n in mine), None)
        if name is None:
            missing[kinds[leaf.id]].append(leaf.id)
        else:
            found[leaf.id] = mine[name]
    if any(missing.values()):
        why = "; ".join(f"waits for {WHO[kind]}: {', '.join(ids)}" for kind, ids in missing.items() if ids)
        return told(UNGRADED, why, cause=next(CAUSE[kind] for kind in WHO if missing[kind]))
    for kind in sorted(set(kinds.values()), key=list(WHO).index):
        count = len(latest(said.get(kind, [])))
        rule, split = rounds[kind].rule, any(m is None for m, _ in answers[kind].values())
        wanted = {ResolutionRule.LATEST: 1, ResolutionRule.TIE_BREAK: 3 if split else 2}.get(rule, rounds[kind].overlap)
        if count < wanted:
            return told(UNDECIDED, f"too few grades by {WHO[kind]}", cause=CAUSE[kind])
    split_on = [id for id, (m, _) in found.items() if m is None]
    if split_on:
        return told(UNDECIDED, f"the raters are split on: {', '.join(split_on)}")
    stuck = [id for id, (m, _) in found.items() if m == "cannot_judge"]
    if stuck:
        return told(UNGRADED, f"could not be judged: {', '.join(stuck)}")
    if all(m == "not_applicable" for m, _ in found.values()):
        return told(UNGRADED, "no criterion applies")
    shares = {id: share for id, (_, share) in found.items()}
    after, implied = settle(criteria.criteria, shares)
    if protocol is Protocol.RUBRIC:
        marks = [
            (
                leaf.importance,
                "not_applicable" if shares[leaf.id] is None else "pass" if after[leaf.id] == 1 else "fail",
            )
            for leaf, _ in leaves
        ]
        return told(Standing.DECIDED, **rubric(marks))
    applies = [leaf for leaf, _ in leaves if shares[leaf.id] is not None]
    points = sum(leaf.worth for leaf in applies)
    score = 1.0 if implied else sum(leaf.worth * (after[leaf.id] or 0.0) for leaf in applies) / points
    return told(Standing.DECIDED, score=score, passed=score >= 1 - 1e-9)


def settle(nodes: Sequence[Criterion], shares: Mapping[str, float | None]) -> tuple[dict[str, float | None], bool]:
    """Every leaf's share after gates and the criterion that implies the others: down the tree, one gate at a time."""
    out = dict(shares)

    def worth(node: Criterion) -> float | None:
        below = [(leaf.worth, out[leaf.id]) for leaf in node.leaves if out[leaf.id] is not None]
        return sum(w * (s or 0.0) for w, s in below) / sum(w for w, _ in below) if below else None

    def close(level: Sequence[Criterion]) -> bool:
        for node in level:
            close(node.parts)
        got = [worth(node) for node in level if node.gate]
        failed = any(share is not None and share < 1 - 1e-9 for share in got)
        for leaf in (leaf for node in level for leaf in node.leaves) if failed else ():
            out[leaf.id] = None if out[leaf.id] is None else 0.0
        return failed

    closed = close(nodes)
    last = worth(nodes[-1])
    implied = nodes[-1].implies_others and not closed and last is not None and last >= 1 - 1e-9
    if implied:
        out = {id: None if share is None else 1.0 for id, share in out.items()}
    return {id: 1.0 if share is not None and share >= 1 - 1e-9 else share for id, share in out.items()}, implied
