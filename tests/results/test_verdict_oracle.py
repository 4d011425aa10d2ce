"""Verdict columns agree with a written oracle: random rounds under every rule, with amendments and reviews."""

import math
import random
from datetime import UTC, datetime, timedelta

import pytest

from results.oracle import overruled, verdicts
from worksample.errors import Cause
from worksample.records import (
    Amendment,
    AmendmentAction,
    AmendmentTarget,
    Evaluation,
    EvaluationOutcome,
    Evaluator,
    EvaluatorKind,
    GradePayload,
    Holistic,
    Importance,
    Pairwise,
    PartPayload,
    Protocol,
    ResolutionRule,
    Round,
    SkipReason,
    Standing,
    Tags,
)
from worksample.results.round_evaluations import read_evaluations
from worksample.results.second_looks import overrule_frame
from worksample.results.verdicts import resolve, verdict_frame, wants_leaves
from worksample.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
RULES = [rule for rule in ResolutionRule if rule is not ResolutionRule.VERIFIED]
"""Those of work; a job's qualification has its own."""
SUBJECTS = [f"subject-{n}" for n in range(12)]
JUDGES = [f"judge-{n}" for n in range(5)]


def payload(rng: random.Random, kind: str):
    if kind == "holistic":
        return Holistic(score=rng.choice([1, 2, 3]))
    if kind == "tags":
        return Tags(tags=("corrupt",))
    parts = tuple(part(rng, name) for name in ("one", "two", "three") if rng.random() < 0.95)
    # A reason that looks like a skip is a text, and decides nothing.
    told = PartPayload(name="outer", fraction=0.5, parts=parts, reason='"skip":"cannot_judge"')
    whole = (told,) if rng.random() < 0.5 and parts else parts
    return GradePayload(score=rng.choice([0.0, 0.3, 1.0]), parts=whole if rng.random() < 0.8 else (), reason="so it is")


def part(rng: random.Random, name: str) -> PartPayload:
    skip = rng.choice([None] * 6 + [SkipReason.NOT_APPLICABLE, SkipReason.CANNOT_JUDGE])
    fraction = None if skip else rng.choice([0.0, 0.25, 1.0, 1.0, 1.0])
    importance = {"one": Importance.CRITICAL, "two": Importance.OPTIONAL}.get(name)
    return PartPayload(name=name, fraction=fraction, skip=skip, importance=importance, points=2.0, gate=name == "three")


def evaluation(rng: random.Random, round: Round, number: int) -> Evaluation:
    grades = round.protocol is not Protocol.HOLISTIC
    kind = rng.choice(["grade", "grade", "grade", "tags"] if grades else ["holistic"] * 5 + ["tags"])
    outcome = rng.choice([EvaluationOutcome.GIVEN] * 5 + [EvaluationOutcome.DECLINED, EvaluationOutcome.FAILED])
    given = outcome is EvaluationOutcome.GIVEN
    said = Evaluation(
        id=f"{round.id}-{number}",
        round=round.id,
        subject=rng.choice(SUBJECTS),
        evaluator=rng.choice(JUDGES),
        instance=f"instance-{rng.randrange(4)}",
        outcome=outcome,
        author="test",
        at=START + timedelta(minutes=rng.randrange(20)),
        reason=rng.choice(["", "said why"]),
        cause=Cause.GRADER_CRASH if outcome is EvaluationOutcome.FAILED else None,
        payload=payload(rng, kind) if given else None,
        record={"n": 2} if rng.random() < 0.2 else {},
    )
    if given and rng.random() < 0.1:
        return said.replaced(second=rng.choice(SUBJECTS), payload=Pairwise(completion="first", quality="equal"))
    return said


def amendments(rng: random.Random, said: list[Evaluation]) -> list[Amendment]:
    targets = [(AmendmentTarget.EVALUATION, rng.choice(said).id) for _ in range(len(said) // 8)]
    targets += [
        (AmendmentTarget.EVALUATOR, JUDGES[0]),
        (AmendmentTarget.SUBMISSION, SUBJECTS[0]),
        (AmendmentTarget.INSTANCE, "instance-3"),
    ]
    targets += [rng.choice(targets) for _ in range(4)]
    return [
        Amendment(
            id=f"a{n}",
            action=rng.choice([AmendmentAction.STRIKE, AmendmentAction.STRIKE, AmendmentAction.RESTORE]),
            target=target,
            target_id=id,
            reason="test",
            author="test",
            at=START + timedelta(hours=n),
        )
        for n, (target, id) in enumerate(targets)
    ]


def a_round(rng: random.Random, name: str) -> Round:
    return Round(
        id=name, protocol=rng.choice([Protocol.HOLISTIC, Protocol.PROGRAM, Protocol.RUBRIC]), overlap=rng.randint(1, 4),
        rule=rng.choice(RULES), author="test", at=START,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store", create=True) as opened:
        opened.commit(*(Evaluator(id=j, name=j, type=EvaluatorKind.PERSON, at=START) for j in JUDGES))
        yield opened


def same(row: dict, expected: dict) -> None:
    told = (row["standing"], row["passed"], row["label"], row["reason"], row["verdict_cause"])
    assert told == tuple(expected[n] for n in ("standing", "passed", "label", "reason", "cause")), row
    assert (row["score"] is None) == (expected["score"] is None)
    assert expected["score"] is None or math.isclose(row["score"], expected["score"], abs_tol=1e-12)
    known = row["score"] is not None and row["passed"] is not None
    assert (row["partial"] is None) == (not known)
    assert not known or math.isclose(row["partial"], 0.5 * row["score"] + 0.5 * row["passed"])
    assert row["standing"] == "ungraded" or (row["evaluations"] and row["rounds"])


def told(store: Store, round: Round, amended: list[Amendment]):
    with store.database.reading() as connection:
        said = read_evaluations(connection, [round.id], amended, leaves=wants_leaves(round))
    return verdict_frame(round, said)


def test_columns_agree_with_the_oracle(store):
    rng = random.Random(5)
    standings, reasons = set(), set()
    for number in range(120):
        round = a_round(rng, f"round-{number}")
        said = [evaluation(rng, round, n) for n in range(rng.choice([1, 5, 40, 60]))]
        struck = amendments(rng, said) if said and rng.random() < 0.7 else []
        store.commit(round, *said)
        table = told(store, round, struck)
        expected = verdicts(round, said, struck)
        assert table["subject"].to_list() == list(expected)
        by_records = resolve(round, said, struck)
        assert list(by_records) == list(expected)
        for row in table.iter_rows(named=True):
            same(row, expected[row["subject"]])
            own = by_records[row["subject"]]
            same({**row, **{n: getattr(own, n) for n in ("standing", "passed", "score", "reason")}}, own.model_dump())
            assert list(own.evaluations) == row["evaluations"]
            standings.add((round.rule, round.protocol, row["standing"]))
            reasons.add(row["reason"].partition(":")[0])
    assert len(standings) >= 3 * len(RULES) * 3 - 3
    assert reasons >= {"too few grades", "the raters are split on", "could not be judged", "no criterion applies"}


def test_overruled_columns_agree_with_the_oracle(store):
    rng = random.Random(8)
    changed = 0
    for number in range(15):
        plain = a_round(rng, f"{number}-votes").replaced(
            protocol=Protocol.HOLISTIC, overlap=3, rule=ResolutionRule.MAJORITY
        )
        looks = ("audit", "late", "adjudication")
        rounds = [
            plain,
            *(plain.replaced(id=f"{number}-{kind}", overlap=1, rule=ResolutionRule.LATEST) for kind in looks),
        ]
        tables, each = [], []
        for round in rounds:
            said = [evaluation(rng, round, n) for n in range(50 if round is rounds[0] else 6)]
            store.commit(round, *said)
            tables.append(told(store, round, []))
            each.append(verdicts(round, said))
        decided = [{s: v for s, v in told.items() if v["standing"] is Standing.DECIDED} for told in each]
        expected = overruled(each[0], decided[1] | decided[2], decided[3])
        table = overrule_frame(tables[0], tables[1:3], tables[3:])
        assert table["subject"].to_list() == sorted(expected)
        for row in table.iter_rows(named=True):
            same(row, expected[row["subject"]])
        changed += table.filter(by="audit").height + 100 * table.filter(by="adjudication").height
    assert changed % 100 > 2 and changed > 1000
