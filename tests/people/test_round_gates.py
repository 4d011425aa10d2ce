"""Conditions of rounds: pilots allow instructions, quizzes open queues, gold items are hidden among items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, text

from people.worlds import Office, office
from worksample.errors import ImportFailed, PlanError, UsageError
from worksample.people import (
    SPECS,
    Conflict,
    Form,
    Gold,
    NotReady,
    PeopleRound,
    RoundKind,
    export_jsonl,
    final_verdicts,
    gold_results,
    import_judgments,
    pilots,
    read_instructions,
    read_stored_instructions,
    refill_queue,
    shipped_instructions,
)
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import ResolutionRule, Round
from worksample.store import Store, rebuild
from worksample.store.people_tables import assignments, items, queues

YES: dict[str, Any] = {"score": 2, "justification": "all there"}
NO: dict[str, Any] = {"score": 1, "justification": "nothing there"}


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path)


def test_agreeing_pilot_allows_the_instructions(desk: Office) -> None:
    voters = [desk.hire("ann"), desk.hire("bob")]
    with pytest.raises(PlanError, match="no pilot has passed"):
        desk.open(waive_pilot="")
    first = desk.open(RoundKind.PILOT, sample=6)
    assert len(first.subjects) == 6
    desk.work_off(voters, lambda account, item: YES if account is voters[0] else NO)
    with pytest.raises(PlanError, match=r"reached 0\.0 % agreement on 6 items"):
        desk.open(waive_pilot="")
    desk.open(RoundKind.PILOT, sample=6)
    desk.work_off(voters, lambda account, item: NO)
    round = desk.open(waive_pilot="")
    assert "people.waived_pilot" not in round.versions
    assert [p.passed for p in pilots(desk.store, round.versions["instructions"])] == [False, True]


def test_pilot_with_few_items_allows_nothing(desk: Office) -> None:
    voters = [desk.hire("ann"), desk.hire("bob")]
    desk.open(RoundKind.PILOT, sample=4)
    desk.work_off(voters, lambda account, item: NO)
    with pytest.raises(PlanError, match="at least 5"):
        desk.open(waive_pilot="")


def test_instructions_are_stored_by_version(desk: Office, tmp_path: Path) -> None:
    own = shipped_instructions()
    assert set(own.pages) == {"training", *Form}
    for words in ("reasonable client", "error is acceptable", "vector", "no language", "do not match"):
        assert words in own.pages["training"]
    folder = tmp_path / "pages"
    folder.mkdir()
    with pytest.raises(UsageError, match="no page"):
        read_instructions(folder)
    (folder / "holistic.md").write_text("# Our own")
    changed = read_instructions(folder)
    assert changed.version != own.version and changed.pages["training"] == own.pages["training"]
    assert read_stored_instructions(desk.store, changed.keep(desk.store)) == changed


def test_quiz_opens_a_queue(desk: Office) -> None:
    people = desk.people
    ann, bob = desk.hire("ann"), desk.hire("bob")
    gold = tuple(Gold(f"s-maker-{n}.p0", {"score": 1 + n // 2}, f"because {n}") for n in range(3))
    quiz = desk.open(RoundKind.CALIBRATION, gold=gold)
    round = desk.open(quiz=quiz.id)
    right = {f"s-maker-{n}.p0": 1 + n // 2 for n in range(3)}
    for person, good in ((ann, True), (bob, False)):
        for _ in range(3):
            with pytest.raises(NotReady, match="quiz"):
                people.drafting.claim(person, round.id)
            item = people.drafting.claim(person, quiz.id)
            assert item is not None
            with pytest.raises(Conflict):
                people.judging.quiz_answer(item.id, person)
            with pytest.raises(Conflict, match="items of a quiz cannot be skipped"):
                people.judging.skip(item.id, person, "hard")
            (shown,) = desk.behind(item)
            score = right[shown] if good else 1
            people.judging.submit(item.id, person, {"score": score, "justification": "seen"}, "k")
            answer = people.judging.quiz_answer(item.id, person)
            assert answer["right"] == (score == right[shown]) and answer["explanation"].startswith("because")
    assert people.drafting.claim(ann, round.id) is not None
    with pytest.raises(NotReady):
        people.drafting.claim(bob, round.id)
    shares = {r.account: (r.share.value, r.passed) for r in gold_results(people.store, quiz.id)}
    assert shares[ann.id] == (1.0, True)
    assert shares[bob.id] == (pytest.approx(2 / 3), False)


def test_hidden_gold_is_answered_by_all_and_counts_in_no_figure(desk: Office) -> None:
    voters = [desk.hire("ann"), desk.hire("bob")]
    ids = tuple(f"s-maker-{a}.p{p}" for a in range(2) for p in range(3))
    round = desk.open(subjects=ids, overlap=1, rule=ResolutionRule.LATEST, gold=(Gold("s-maker-2.p0", {"score": 1}),))
    seen: list[dict[str, Any]] = []

    def answer(account: Any, item: Any) -> dict[str, Any]:
        seen.append({**item.plain(), "id": "", "instance": "", "title": "", "brief": "", "shown": []})
        return YES

    assert desk.work_off(voters, answer) == 6 + 2
    assert len({json.dumps({**s, "expires": 0}) for s in seen}) == 1, "gold looks like any other item"
    assert set(final_verdicts(desk.people.store, round.id)) == set(ids)
    assert dashboard.progress(desk.people.store, round.id).items == 6
    assert [r.share.value for r in gold_results(desk.people.store, round.id)] == [0.0, 0.0]


def test_gold_item_needs_no_tie_break(desk: Office) -> None:
    people = [desk.hire(name) for name in ("ann", "bob", "cem", "dan")]
    gold = (Gold("s-maker-2.p0", {"score": 1}),)
    round = desk.open(subjects=("s-maker-0.p0",), overlap=2, rule=ResolutionRule.TIE_BREAK, gold=gold)
    said: dict[str, list[str]] = {}

    def answer(account: Any, item: Any) -> dict[str, Any]:
        """The first to answer an item says yes, all others no."""
        said.setdefault(item.id, []).append(account.id)
        return YES if len(said[item.id]) == 1 else NO

    desk.work_off(people, answer)
    assert sorted(map(len, said.values())) == [3, 4], "a third about the one, and everybody about the gold"
    assert len(gold_results(desk.people.store, round.id)) == 4


@pytest.mark.parametrize(("second", "asked"), [("pass", 2), ("not_applicable", 3)])
def test_rubric_needs_a_third_vote_if_two_differ_on_a_criterion(desk: Office, second: str, asked: int) -> None:
    people = [desk.hire(name, "expert") for name in ("ann", "bob", "cem", "dan")]
    desk.open(RoundKind.RUBRIC, subjects=("s-maker-0.p0",), rule=ResolutionRule.TIE_BREAK)
    marks = iter(["pass", second, "pass", "pass"])

    def answer(account: Any, item: Any) -> dict[str, Any]:
        mark = next(marks)
        why = {} if mark == "pass" else {"sums": "there are no sums"}
        return {"marks": {"title": "fail", "sums": mark, "tidy": "pass"}, "feedback": {"title": "it has none", **why}}

    # Whether it passes is the same in all of them.
    assert desk.work_off(people, answer) == asked


def test_lost_queue_is_rebuilt(desk: Office) -> None:
    voters = [desk.hire("ann"), desk.hire("bob"), desk.hire("cem")]
    round = desk.open()
    for voter in voters[:2]:
        item = desk.people.drafting.claim(voter)
        assert item is not None
        desk.people.judging.submit(item.id, voter, NO, "k")
    with desk.store.database.reading() as connection:
        before = sorted(map(tuple, connection.execute(select(items.c.id, items.c.place))))
    rebuild(desk.store)
    assert dashboard.progress(desk.people.store, round.id).given == 2
    with desk.store.database.writing() as connection:
        for table in (items, queues, assignments):
            connection.execute(delete(table))
    assert refill_queue(desk.people.store, round.id, clock=desk.people.clock) == 12
    assert refill_queue(desk.people.store, round.id, clock=desk.people.clock) == 0
    with desk.store.database.reading() as connection:
        assert sorted(map(tuple, connection.execute(select(items.c.id, items.c.place)))) == before
    assert dashboard.progress(desk.people.store, round.id).open == 34
    assert desk.work_off(voters, lambda account, item: NO) == 34
    assert all(len(f.verdict.evaluations) == 3 for f in final_verdicts(desk.people.store, round.id).values())


def test_dashboard_counts_answers(desk: Office) -> None:
    voters = [desk.hire("ann"), desk.hire("bob"), desk.hire("cem")]
    round = desk.open()
    # cem lets everything pass, the others nothing.
    desk.work_off(voters, lambda account, item: YES if account is voters[2] else NO)
    people = desk.people
    agreement = dashboard.agreement(people.store, round.id)
    assert agreement.share.value == pytest.approx(1 / 3) and agreement.hard.value == 0.0
    assert agreement.positive.value == 0.0 and agreement.ac1.value is not None
    own = {row.name: (row.own.value, row.others.value) for row in dashboard.leniency(people.store, round.id)}
    assert own == {"ann": (0.0, 0.5), "bob": (0.0, 0.5), "cem": (1.0, 0.0)}
    assert [(t.given, t.minutes, t.over) for t in dashboard.throughput(people.store, round.id)] == [(12, 0.75, 0)] * 3


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_judgments_are_imported_and_exported(desk: Office, tmp_path: Path, format: str) -> None:
    rows = [
        {"subject": f"s-maker-0.p{p}", "evaluator": name, "score": score, "justification": 'so, "it" is', "minutes": 3}
        for p, scores in enumerate(((2, 2, 1), (1, 1, 1)))
        for name, score in zip(("ann", "bob", "cem"), scores, strict=True)
    ]
    if format == "csv":
        head = list(rows[0])
        lines = [head, *([str(r[k]).replace('"', '""') for k in head] for r in rows)]
        data = "".join(",".join(f'"{cell}"' for cell in line) + "\r\n" for line in lines).encode()
    else:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    round = import_judgments(desk.store, data, Form.HOLISTIC, format=format, author="me")
    assert import_judgments(desk.store, data, Form.HOLISTIC, format=format, author="me") == round
    found = {s: f.verdict.passed for s, f in final_verdicts(desk.people.store, round.id).items()}
    assert found == {"s-maker-0.p0": True, "s-maker-0.p1": False}
    assert export_jsonl(desk.store, round.id, tmp_path / "out.jsonl") == 6
    lines_out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {(r["subject"], r["evaluator"], r["payload"]["score"], r["minutes"]) for r in lines_out} == {
        (r["subject"], r["evaluator"], r["score"], r["minutes"]) for r in rows
    }


LINE = b'{"subject": "s-maker-0.p0", "evaluator": "a", "score": 1, "justification": "x"}\n'


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (b"", "csv", "no row"),
        (b"subject,evaluator\n", "csv", "no row"),
        (b"subject,evaluator,score,justification\nnope,ann,2,x\n", "csv", "row 2: no submission"),
        (b"subject,evaluator,score,justification\ns-maker-0.p0,ann,2\n", "csv", "row 2: has fewer cells"),
        (b"subject,evaluator,score,justification,wage\ns-maker-0.p0,ann,2,x,9\n", "csv", "unknown column 'wage'"),
        (b"\xe9", "csv", "UTF-8"),
        (b"subject;evaluator;score;minutes\ns-maker-0.p0;ann;2;1.200\n", "csv", r"`1\.200` is 1\.2 or 1200"),
        (b'subject,evaluator\n"s,ann\n', "csv", "line 2: a quote that is opened"),
        (b"[1]\n", "jsonl", "is not an object"),
        (b"{\n", "jsonl", "row 1: is not JSON"),
        (b'{"subject": "s-maker-0.p0", "evaluator": "a", "score": 2}\n', "jsonl", "justification: is missing"),
        (LINE.replace(b"}", b', "minutes": -1}'), "jsonl", "minutes"),
        (LINE.replace(b"}", b', "minutes": ' + b"9" * 5000 + b"}"), "jsonl", "minutes .*is infinite or NaN"),
        (LINE * 2, "jsonl", "earlier row"),
        (b"x", "xml", "no such format"),
    ],
)  # fmt: skip
def test_invalid_import_changes_nothing(desk: Office, data: bytes, format: str, says: str) -> None:
    with pytest.raises(ImportFailed, match=says):
        import_judgments(desk.store, data, Form.HOLISTIC, format=format, author="me")
    assert desk.store.find(Round) == []


@pytest.mark.parametrize(
    "options",
    [
        {"kind": RoundKind.HOLISTIC},
        {"kind": RoundKind.AUDIT, "experiment": "x1"},
        {"kind": RoundKind.HOLISTIC, "experiment": "x1", "over": "r"},
        {"kind": RoundKind.HOLISTIC, "experiment": "x1", "subjects": ("s",)},
        {"kind": RoundKind.CALIBRATION},
        {"kind": RoundKind.PAIRWISE, "experiment": "x1", "form": Form.RUBRIC},
        {"kind": RoundKind.HOLISTIC, "experiment": "x1", "overlap": 0},
    ],
)
def test_invalid_rounds_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as told:
        PeopleRound(**options)
    assert told.value.next


def test_every_form_has_a_page_and_unique_question_names() -> None:
    for form, spec in SPECS.items():
        names = [ask.name for ask in spec.asks]
        assert len(names) == len(set(names)) and spec.minutes > 0 and form in shipped_instructions().pages


def test_older_store_gets_the_tables(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store, store.database.writing() as connection:
        for name in PEOPLE:
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with Store.open(tmp_path / "s") as store:
        assert Office(store).hire("ann").name == "ann"


PEOPLE = (
    "capabilities",
    "accounts",
    "sessions",
    "tickets",
    "queues",
    "items",
    "assignments",
    "drafts",
    "seen",
    "activity",
)
