"""Hypothesis strategies for every kind of record."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from worksample.errors import Cause
from worksample.records import (
    About,
    Agent,
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Arm,
    AssignmentAct,
    AssignmentEvent,
    Capture,
    CaptureStatus,
    CheckpointKind,
    Criteria,
    Criterion,
    Deliverable,
    Ending,
    Environment,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    Experiment,
    GradePayload,
    Grading,
    Holistic,
    Hours,
    Importance,
    Instance,
    Labels,
    Limits,
    Lock,
    Origin,
    Pairwise,
    PairwiseChoice,
    PartPayload,
    Protocol,
    Record,
    Reported,
    ResolutionRule,
    Round,
    SkipReason,
    Slot,
    Source,
    Submission,
    SubmissionPart,
    Suite,
    Tags,
    Task,
    TaskWork,
    Tier,
    Trial,
    TrialOutcome,
    Usage,
    Value,
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
digests = st.integers(0, 2**256 - 1).map(lambda n: f"{n:064x}")
moments = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))
dates = st.dates(date(2020, 1, 1), date(2040, 1, 1))
amounts = st.floats(0, 1e9, allow_nan=False)
shares = st.floats(0, 1, allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
settings = st.dictionaries(words, json_values, max_size=3)
tuples_of_names = st.lists(names, max_size=3).map(tuple)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def _range(cls: type, **rest: Any) -> st.SearchStrategy[Any]:
    pair = st.tuples(amounts, amounts).map(sorted)
    return st.builds(
        lambda p, **kw: cls(low=p[0], high=p[1], **kw), pair, date=dates, source=st.sampled_from(Source), **rest
    )


values = _range(Value, currency=st.sampled_from(["USD", "EUR"]))
hours = _range(Hours)
limits = st.builds(
    Limits, time=maybe(st.floats(0.1, 1e6)), cost=maybe(st.floats(0.1, 1e3)), tokens=maybe(st.integers(1, 9))
)
environments = st.builds(Environment, requires=tuples_of_names, software=tuples_of_names, limits=limits)
deliverables = st.builds(Deliverable, name=words, format=words, required=st.booleans(), about=words)
works = st.builds(
    TaskWork,
    brief=words,
    inputs=digests,
    software=digests,
    environment=environments,
    deliverables=st.lists(deliverables, max_size=2).map(tuple),
)
leaves = st.builds(
    lambda id, text, kind, weight: Criterion(id=id, text=text, kind=kind, **weight),
    st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True),
    words.filter(bool),
    st.sampled_from([None, *CheckpointKind]),
    st.floats(0.1, 10).map(lambda p: {"points": p}) | st.sampled_from(Importance).map(lambda i: {"importance": i}),
)
criteria = st.lists(leaves, max_size=4, unique_by=lambda c: c.id).map(lambda c: Criteria(criteria=tuple(c)))
gradings = st.builds(
    Grading,
    protocol=st.sampled_from(Protocol),
    criteria=criteria,
    reference=digests,
    grader=digests,
    settings=settings,
    notes=words,
)
instances = st.builds(
    Instance,
    id=words,
    task=names,
    name=names,
    title=words,
    version=words,
    canary=words,
    work=works,
    capture=st.builds(Capture, probes=digests, probe_names=tuples_of_names),
    grading=st.dictionaries(st.sampled_from(Protocol), gradings, max_size=2),
    about=st.builds(About, category=words, value=maybe(values), hours=maybe(hours), tags=tuples_of_names),
)
usages = st.builds(
    Usage,
    calls=st.integers(0, 99),
    input_tokens=st.integers(0, 10**9),
    output_tokens=st.integers(0, 10**9),
    cost=maybe(amounts),
    priced=st.booleans(),
)
outcomes = st.just(TrialOutcome(ending=Ending.DONE)) | st.builds(
    TrialOutcome,
    ending=st.sampled_from([e for e in Ending if e is not Ending.DONE]),
    cause=st.sampled_from(Cause),
    reason=words,
)
trials = st.builds(
    Trial,
    id=words,
    slot=words,
    experiment=words,
    agent=words,
    instance=words,
    work=digests,
    capture=digests,
    try_number=st.integers(1, 99),
    outcome=outcomes,
    started=moments,
    ended=moments,
    working_seconds=amounts,
    person_seconds=maybe(amounts),
    steps=st.integers(0, 999),
    usage=st.dictionaries(names, usages, max_size=2),
    limits=limits,
    shown=maybe(digests),
    phases=st.dictionaries(names, amounts, max_size=2),
)
parts = st.builds(
    SubmissionPart,
    manifest=digests,
    status=st.sampled_from(CaptureStatus),
    reason=words,
    files=st.integers(0, 9),
    size=st.integers(0, 9),
)
submissions = st.builds(
    Submission,
    id=words,
    instance=words,
    work=digests,
    capture=digests,
    origin=st.sampled_from(Origin),
    entrant=words,
    at=moments,
    trial=maybe(words),
    experiment=maybe(words),
    parts=st.dictionaries(names, parts, max_size=2),
    reported=st.builds(Reported, cost=maybe(amounts), minutes=maybe(amounts)),
)
grade_parts = st.deferred(
    lambda: st.builds(
        lambda name, points, result, inner: PartPayload(name=name, points=points, parts=tuple(inner), **result),
        words,
        st.floats(0.1, 10),
        shares.map(lambda f: {"fraction": f}) | st.sampled_from(SkipReason).map(lambda s: {"skip": s}),
        st.just([]) | st.lists(grade_parts, max_size=1),
    )
)
grades = st.builds(GradePayload, score=shares, parts=st.lists(grade_parts, max_size=2).map(tuple), reason=words)
payloads = (
    grades
    | st.builds(Holistic, score=st.sampled_from([1, 2, 3]), justification=words)
    | st.builds(Pairwise, completion=st.sampled_from(PairwiseChoice), quality=st.sampled_from(PairwiseChoice))
    | st.builds(Tags, tags=tuples_of_names)
    | st.builds(Labels, labels=st.dictionaries(words, words, max_size=2))
)
said = (
    payloads.map(lambda p: {"outcome": EvaluationOutcome.GIVEN, "payload": p})
    | st.sampled_from(Cause).map(lambda c: {"outcome": EvaluationOutcome.FAILED, "cause": c})
    | st.just({"outcome": EvaluationOutcome.DECLINED})
)
evaluations = st.builds(
    lambda said, **rest: Evaluation(**said, **rest),
    said,
    id=words,
    round=words,
    subject=words,
    second=maybe(words),
    instance=words,
    evaluator=words,
    reason=words,
    record=settings,
    minutes=maybe(amounts),
    cost=maybe(amounts),
    author=words,
    at=moments,
)
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "task": st.builds(
        Task,
        id=words,
        name=names,
        title=words,
        version=words,
        canary=words,
        package=digests,
        ingested=moments,
        instances=tuples_of_names,
    ),
    "instance": instances,
    "suite": st.builds(
        Suite,
        id=words,
        name=names,
        title=words,
        version=words,
        instances=tuples_of_names,
        tiers=st.lists(st.builds(Tier, name=words, instances=tuples_of_names), max_size=2).map(tuple),
        roles=st.dictionaries(words, words, max_size=2),
    ),
    "agent": st.builds(
        Agent.of,
        names,
        words,
        model=maybe(words),
        settings=settings,
        release_date=maybe(dates),
        capabilities=tuples_of_names,
    ),
    "experiment": st.builds(
        Experiment,
        id=words,
        name=names,
        agents=tuples_of_names,
        arms=st.lists(st.builds(Arm, name=names, limits=maybe(limits)), max_size=2).map(tuple),
        repeats=st.integers(1, 9),
        lock=st.builds(Lock, suite=words, instances=tuples_of_names, protocol=st.sampled_from(Protocol), sandbox=words),
        settings=settings,
        author=words,
        at=moments,
    ),
    "slot": st.builds(
        Slot, id=words, experiment=words, agent=words, instance=words, arm=names, repeat=st.integers(1, 9)
    ),
    "trial": trials,
    "seat_event": st.builds(
        AssignmentEvent,
        id=words,
        slot=words,
        number=st.integers(1, 10_000),
        person=words,
        act=st.sampled_from(AssignmentAct),
        at=moments,
        until=maybe(moments),
        output=maybe(digests),
        terminal=maybe(digests),
        text=maybe(digests),
        note=words,
    ),
    "submission": submissions,
    "round": st.builds(
        Round,
        id=words,
        protocol=st.sampled_from(Protocol),
        experiment=maybe(words),
        subjects=tuples_of_names,
        overlap=st.integers(1, 5),
        rule=st.sampled_from(ResolutionRule),
        gradings=st.dictionaries(words, words, max_size=2),
        author=words,
        at=moments,
    ),
    "evaluator": st.builds(Evaluator, id=words, name=words, type=st.sampled_from(EvaluatorKind), at=moments),
    "evaluation": evaluations,
    "amendment": st.builds(
        Amendment,
        id=words,
        action=st.sampled_from([AmendmentAction.STRIKE, AmendmentAction.RESTORE]),
        target=st.sampled_from(AmendmentTarget),
        target_id=words,
        reason=words.filter(bool),
        author=words,
        at=moments,
    ),
}
"""Kind -> strategy."""

records: st.SearchStrategy[Record] = st.one_of(*KINDS.values())
