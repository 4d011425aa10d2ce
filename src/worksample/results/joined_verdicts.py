"""Verdicts that combine several kinds of evaluators, so that each criterion is answered by its own kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from worksample.errors import Cause
from worksample.metrics.scores.rubric import RubricRules, rubric_scores
from worksample.records import AWAITED, EvaluatorKind, Protocol, Standing, is_full, partial_credit
from worksample.records.weighted_criteria import behind_gates, last_implies_all, weigh

from .criteria_in_force import InstanceCriteria, LeafCriterion
from .criterion_marks import CANNOT, FAIL, FEW, PASS, VOID, agreed_leaves
from .judged_rounds import JudgedRound
from .verdicts import VERDICTS

_ORDER = (EvaluatorKind.PROGRAM, EvaluatorKind.JUDGE, EvaluatorKind.PERSON)
_WHO = {EvaluatorKind.PROGRAM: "a program", EvaluatorKind.JUDGE: "a judge", EvaluatorKind.PERSON: "people"}
_LOOKS = ("adjudication", "audit")
Row = dict[str, Any]


@dataclass
class KindVerdict:
    """The verdict of one kind of evaluator on a submission. `criteria` has the mark and the share of each criterion by
    name.
    """

    verdict: Row
    criteria: dict[str, tuple[str | None, float | None]] = field(default_factory=dict)
    said: tuple[tuple[datetime, str], ...] = ()


Answers = Mapping[EvaluatorKind, Mapping[str, KindVerdict]]


def answers_of(
    deciding: Iterable[JudgedRound], looks: Sequence[JudgedRound], rules: RubricRules
) -> dict[str, KindVerdict]:
    """Return the verdicts of one kind of evaluator by submission. If an audit or an adjudication decided a verdict, the
    answers of that round are returned.
    """
    out: dict[str, KindVerdict] = {}
    for judged in deciding:
        own = {row["subject"]: KindVerdict(row) for row in judged.verdicts.iter_rows(named=True)}
        out |= own
        _fill({s: a for s, a in own.items() if a.verdict["by"] == "votes"}, judged, rules)
        changed = {s: a for s, a in own.items() if a.verdict["by"] != "votes"}
        for look in looks if changed else ():
            _fill({s: a for s, a in changed.items() if look.round.id in a.verdict["rounds"]}, look, rules)
    return out


def _fill(answers: Mapping[str, KindVerdict], judged: JudgedRound, rules: RubricRules) -> None:
    given = judged.given.filter(pl.col("subject").is_in(list(answers)))
    for row in agreed_leaves(judged.round, given, judged.leaves, rules).iter_rows(named=True):
        answers[row["subject"]].criteria[row["name"]] = (row["mark"], row["share"])
    when = dict(given.select("evaluation", "at").iter_rows())
    for answer in answers.values():
        answer.said = tuple((when[e], e) for e in answer.verdict["evaluations"] if e in when)


def join_verdicts(
    protocol: Protocol, asked: Mapping[str, InstanceCriteria], subjects: Mapping[str, str], answers: Answers,
    only: EvaluatorKind | None, whole: EvaluatorKind | None, rules: RubricRules,
) -> pl.DataFrame:  # fmt: skip
    """Return the joined verdicts on `subjects` (submission -> instance), with the columns of `verdict_frame`.

    only: if set, this kind of evaluator answers all criteria. Otherwise each criterion is answered by the kind that it
    names, or by the kind `whole` if it names none. If an answer is missing, the submission is ungraded, and the reason
    names the criterion and the kind of evaluator.
    """
    rows = []
    for subject, instance in sorted(subjects.items()):
        one = JoinedVerdict(asked[instance], subject, answers, only, whole)
        rows.append({**one.open(), **_resting(one), "subject": subject, "open": one.opened, "one": one})
    scored = _scores(protocol, {r["subject"]: r["one"] for r in rows if not r["open"]}, rules)
    shaped = [{name: {**row, **scored.get(row["subject"], {})}.get(name) for name in VERDICTS} for row in rows]
    return pl.DataFrame(shaped, schema=VERDICTS, orient="row")


class JoinedVerdict:
    """The criteria of one submission, each with the answer of its kind of evaluator."""

    def __init__(
        self,
        asked: InstanceCriteria,
        subject: str,
        answers: Answers,
        only: EvaluatorKind | None,
        whole: EvaluatorKind | None,
    ) -> None:
        self.asked = asked
        self.kinds = {leaf.id: only or leaf.by or whole or EvaluatorKind.PERSON for leaf in asked.leaves}
        self.answers = {k: answers[k][subject] for k in set(self.kinds.values()) if subject in answers.get(k, {})}
        self.found = {leaf.id: found for leaf in asked.leaves if (found := self._of(leaf)) is not None}
        self.opened = False

    def _of(self, leaf: LeafCriterion) -> tuple[str | None, float | None] | None:
        answer = self.answers.get(self.kinds[leaf.id])
        return next((answer.criteria[n] for n in leaf.names if n in answer.criteria), None) if answer else None

    @property
    def used(self) -> list[tuple[EvaluatorKind, KindVerdict]]:
        return [(kind, self.answers[kind]) for kind in _ORDER if kind in self.answers]

    def open(self) -> Row:
        """Return why the verdict cannot be decided yet. If it can be decided, return a row with the standing `decided`.

        The first reason that applies is returned: a failure, missing answers, too few raters, split raters, answers
        "could not judge", or no criterion that applies.
        """
        out = next(self._reasons(), None)
        self.opened = out is not None
        return out or {"standing": Standing.DECIDED.value, "reason": ""}

    def _reasons(self) -> Iterator[Row]:
        ungraded, undecided = Standing.UNGRADED.value, Standing.UNDECIDED.value
        for _, answer in self.used:
            told = answer.verdict
            cause = told["verdict_cause"]
            if cause not in (None, Cause.PERSON_DECLINED.value) and told["reason"] != FEW:
                yield {"standing": ungraded, "reason": told["reason"], "verdict_cause": cause}
        awaited = {kind: self._leaf_ids(lambda id: id not in self.found, kind) for kind in _ORDER}
        if any(awaited.values()):
            first = next(kind for kind in _ORDER if awaited[kind])
            why = "; ".join(f"waits for {_WHO[kind]}: {', '.join(names)}" for kind, names in awaited.items() if names)
            yield {"standing": ungraded, "reason": why, "verdict_cause": AWAITED.get(first)}
        for kind, answer in self.used:
            if answer.verdict["reason"] == FEW:
                yield {
                    "standing": undecided, "reason": f"{FEW} by {_WHO[kind]}", "verdict_cause": AWAITED.get(kind),
                }  # fmt: skip
        split = self._leaf_ids(lambda id: self.found[id][0] is None)
        if split:
            yield {"standing": undecided, "reason": f"the raters are split on: {', '.join(split)}"}
        stuck = self._leaf_ids(lambda id: self.found[id][0] == CANNOT)
        if stuck:
            yield {"standing": ungraded, "reason": f"could not be judged: {', '.join(stuck)}"}
        if not any(mark in (PASS, FAIL) for mark, _ in self.found.values()):
            yield {"standing": ungraded, "reason": VOID}

    def _leaf_ids(self, wanted: Any, kind: EvaluatorKind | None = None) -> list[str]:
        return [leaf.id for leaf in self.asked.leaves if kind in (None, self.kinds[leaf.id]) and wanted(leaf.id)]

    @property
    def shares(self) -> dict[str, float | None]:
        """The earned share of each criterion's points, by criterion id. The share is None if the criterion does not
        apply.
        """
        return {id: share if mark in (PASS, FAIL) else None for id, (mark, share) in self.found.items()}

    def marks(self) -> Iterator[tuple[str, str]]:
        """Yield importance and mark of every criterion, after gates and criteria that imply the others were applied."""
        all_passed, gone = last_implies_all(self.asked.nodes, self.shares), behind_gates(self.asked.nodes, self.shares)
        for leaf in self.asked.leaves:
            mark = self.found[leaf.id][0] or ""
            if mark in (PASS, FAIL):
                mark = PASS if all_passed else FAIL if leaf.id in gone else mark
            yield leaf.importance.value, mark


def _resting(one: JoinedVerdict) -> Row:
    """Return the evaluations and rounds that decide a verdict, oldest first, and whether an audit or an adjudication
    decided.
    """
    looks = {answer.verdict["by"] for _, answer in one.used}
    said = sorted(pair for _, answer in one.used for pair in answer.said)
    rounds = dict.fromkeys(r for _, answer in one.used for r in answer.verdict["rounds"])
    alone = one.used[0][1].verdict["evaluation"] if len(one.used) == 1 and not one.opened else None
    return {
        "by": next((by for by in _LOOKS if by in looks), "votes"),
        "evaluations": [evaluation for _, evaluation in said],
        "rounds": list(rounds),
        "evaluation": alone,
    }


def _scores(protocol: Protocol, decided: Mapping[str, JoinedVerdict], rules: RubricRules) -> dict[str, Row]:
    if protocol is Protocol.RUBRIC:
        marks = [(subject, *mark) for subject, one in decided.items() for mark in one.marks()]
        names = ("subject", "importance", "mark")
        table = pl.DataFrame(marks, schema=dict.fromkeys(names, pl.String()), orient="row")
        found = rubric_scores(table["subject"], table["importance"], table["mark"], rules)
        told = found.select("submission", "score", "completed").iter_rows()
    else:
        each = ((subject, weigh(one.asked.nodes, one.shares)) for subject, one in decided.items())
        told = ((subject, score, None if score is None else bool(is_full(score))) for subject, score in each)
    return {s: {"score": score, "passed": passed, "partial": _partial(score, passed)} for s, score, passed in told}


def _partial(score: float | None, passed: bool | None) -> float | None:
    return None if score is None or passed is None else float(partial_credit(score, float(passed)))
