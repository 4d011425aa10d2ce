"""The columns say what the records say: random rounds under every rule, with amendments and second looks."""

import math
import random
from datetime import UTC, datetime, timedelta

import pytest

from worksample.errors import Cause
from worksample.records import (
    Action,
    Amendment,
    Evaluation,
    Evaluator,
    EvaluatorKind,
    Given,
    Grade,
    GradePart,
    Holistic,
    Pairwise,
    Protocol,
    Round,
    Rule,
    Skip,
    Standing,
    Tags,
    Target,
    overrule,
    resolve,
)
from worksample.store import Store
from worksample.store.verdict_frame import overrule_frame, said_frame, verdict_frame

START = datetime(2026, 1, 1, tzinfo=UTC)
SUBJECTS = [f"subject-{n}" for n in range(12)]
JUDGES = [f"judge-{n}" for n in range(5)]


def payload(rng: random.Random, kind: str):
    if kind == "holistic":
        return Holistic(score=rng.choice([1, 2, 3]))
    if kind == "tags":
        return Tags(tags=("corrupt",))
    skip = rng.choice([None, None, None, Skip.NOT_APPLICABLE, Skip.CANNOT_JUDGE])
    inner = GradePart(name="inner", fraction=None if skip else 1.0, skip=skip)
    # A reason that looks like a skip is a text, and decides nothing.
    told = GradePart(name="outer", fraction=0.5, parts=(inner,), reason='"skip":"cannot_judge"')
    return Grade(score=rng.choice([0.0, 0.3, 1.0]), parts=(told,) if rng.random() < 0.7 else (), reason="so it is")


def evaluation(rng: random.Random, round: Round, number: int) -> Evaluation:
    grades = round.protocol is not Protocol.HOLISTIC
    kind = rng.choice(["grade", "grade", "grade", "tags"] if grades else ["holistic"] * 5 + ["tags"])
    outcome = rng.choice([Given.GIVEN] * 5 + [Given.DECLINED, Given.FAILED])
    given = outcome is Given.GIVEN
    said = Evaluation(
        id=f"{round.id}-{number}", round=round.id, subject=rng.choice(SUBJECTS), evaluator=rng.choice(JUDGES),
        instance=f"instance-{rng.randrange(4)}", outcome=outcome, author="test",
        at=START + timedelta(minutes=rng.randrange(20)), reason=rng.choice(["", "said why"]),
        cause=Cause.GRADER_CRASH if outcome is Given.FAILED else None, payload=payload(rng, kind) if given else None,
    )  # fmt: skip
    if given and rng.random() < 0.1:
        return said.replaced(second=rng.choice(SUBJECTS), payload=Pairwise(completion="first", quality="equal"))
    return said


def amendments(rng: random.Random, said: list[Evaluation]) -> list[Amendment]:
    targets = [(Target.EVALUATION, rng.choice(said).id) for _ in range(len(said) // 8)]
    targets += [(Target.EVALUATOR, JUDGES[0]), (Target.SUBMISSION, SUBJECTS[0]), (Target.INSTANCE, "instance-3")]
    targets += [rng.choice(targets) for _ in range(4)]
    return [
        Amendment(id=f"a{n}", action=rng.choice([Action.STRIKE, Action.STRIKE, Action.RESTORE]), target=target,
                  target_id=id, reason="test", author="test", at=START + timedelta(hours=n))
        for n, (target, id) in enumerate(targets)
    ]  # fmt: skip


def a_round(rng: random.Random, name: str) -> Round:
    return Round(
        id=name, protocol=rng.choice([Protocol.HOLISTIC, Protocol.PROGRAM]), overlap=rng.randint(1, 4),
        rule=rng.choice(list(Rule)), author="test", at=START,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store", create=True) as opened:
        opened.commit(*(Evaluator(id=j, name=j, type=EvaluatorKind.PERSON, at=START) for j in JUDGES))
        yield opened


def same(row: dict, verdict) -> None:
    told = (row["standing"], row["passed"], row["label"], row["reason"], row["verdict_cause"])
    assert told == (verdict.standing, verdict.passed, verdict.label, verdict.reason, verdict.cause), row
    assert (row["score"] is None) == (verdict.score is None)
    assert verdict.score is None or math.isclose(row["score"], verdict.score)
    assert row["partial"] == (verdict.grade.partial if verdict.grade else None)
    if verdict.grade is not None:
        assert (row["evaluation"],) == verdict.evaluations


def test_columns_and_records_resolve_alike(store):
    rng = random.Random(5)
    standings = set()
    for number in range(40):
        round = a_round(rng, f"round-{number}")
        said = [evaluation(rng, round, n) for n in range(rng.choice([1, 5, 40, 60]))]
        struck = amendments(rng, said) if said and rng.random() < 0.7 else []
        store.commit(round, *said)
        with store.database.reading() as connection:
            table = verdict_frame(round, said_frame(connection, [round.id], struck))
        expected = resolve(round, said, struck)
        assert table["subject"].to_list() == list(expected)
        for row in table.iter_rows(named=True):
            same(row, expected[row["subject"]])
            standings.add((round.rule, row["standing"]))
    assert len(standings) >= 3 * len(Rule) - 1


def test_columns_and_records_overrule_alike(store):
    rng = random.Random(8)
    changed = 0
    for number in range(15):
        plain = a_round(rng, f"{number}-votes").replaced(protocol=Protocol.HOLISTIC, overlap=3, rule=Rule.MAJORITY)
        looks = ("audit", "late", "adjudication")
        rounds = [plain, *(plain.replaced(id=f"{number}-{kind}", overlap=1, rule=Rule.LATEST) for kind in looks)]
        tables, verdicts = [], []
        for round in rounds:
            said = [evaluation(rng, round, n) for n in range(50 if round is rounds[0] else 6)]
            store.commit(round, *said)
            with store.database.reading() as connection:
                tables.append(verdict_frame(round, said_frame(connection, [round.id], [])))
            verdicts.append(resolve(round, said))
        decided = [{s: v for s, v in told.items() if v.standing is Standing.DECIDED} for told in verdicts]
        expected = overrule(verdicts[0], decided[1] | decided[2], decided[3])
        table = overrule_frame(tables[0], tables[1:3], tables[3:])
        assert table["subject"].to_list() == sorted(expected)
        for row in table.iter_rows(named=True):
            same(row, expected[row["subject"]])
        changed += table.filter(by="audit").height + 100 * table.filter(by="adjudication").height
    assert changed % 100 > 3 and changed > 1000
