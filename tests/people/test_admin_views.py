"""Views of an admin and their consequences: names, backgrounds, activity, and exports that can be imported again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from people.worlds import Office, office
from worksample.people import (
    Conflict,
    Denied,
    FaultyRows,
    Form,
    NotReady,
    NotYours,
    Profile,
    RoundKind,
    backgrounds,
    export_csv,
    export_parquet,
    import_judgments,
    invitations,
    last_active,
    refuse_votes_at_work,
    show_names,
)
from worksample.people.access.account_activity import ends_at


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=2, projects=2)


def passing(account: Any, item: Any) -> dict[str, Any]:
    return {"score": 2 if account.name == "ann" else 1, "justification": "report.txt, its first line"}


def test_admin_who_has_seen_names_judges_no_related_round(desk: Office) -> None:
    admin, other = desk.hire("ada", "admin"), desk.hire("abe", "admin")
    round, apart = desk.open(), desk.open()
    given_back = desk.people.drafting.claim(admin, round.id)
    assert given_back is not None
    with pytest.raises(Conflict):
        show_names(desk.store, admin, round.id, clock=desk.clock)
    with pytest.raises(Conflict):
        refuse_votes_at_work(desk.store, admin, round.id)
    desk.people.leasing.release(given_back.id, admin)
    show_names(desk.store, admin, round.id, clock=desk.clock)
    show_names(desk.store, admin, round.id, clock=desk.clock)
    with pytest.raises(NotReady, match="seen the makers' names"):
        desk.people.drafting.claim(admin, round.id)
    with pytest.raises(NotYours):
        desk.people.leasing.heartbeat(given_back.id, admin)
    assert desk.people.drafting.claim(other, round.id) is not None
    assert desk.people.drafting.claim(admin, apart.id) is not None


def test_names_of_a_round_include_reviewing_rounds(desk: Office) -> None:
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    one, two = desk.hire("ada", "admin"), desk.hire("abe", "admin")
    round = desk.open()
    desk.work_off(voters, lambda account, item: {"score": 2, "justification": "all of it"})
    audit, second = desk.open(RoundKind.AUDIT, over=round.id), desk.open(RoundKind.AUDIT, over=round.id)
    show_names(desk.store, one, round.id, clock=desk.clock)
    show_names(desk.store, two, audit.id, clock=desk.clock)
    for account in (one, two):
        for closed in (audit, second, round):
            with pytest.raises(NotReady):
                desk.people.drafting.claim(account, closed.id)
    with pytest.raises(Denied):
        show_names(desk.store, voters[0], round.id, clock=desk.clock)


def test_audit_is_decided_before_votes_are_read(desk: Office) -> None:
    voters = [desk.hire(name) for name in ("ann", "bob", "cem")]
    reviewer = desk.hire("rea", "reviewer")
    round = desk.open()
    desk.work_off(voters, lambda account, item: {"score": 2, "justification": "all of it"})
    audit = desk.open(RoundKind.AUDIT, over=round.id)
    refuse_votes_at_work(desk.store, reviewer, round.id)
    assert desk.people.drafting.claim(reviewer, audit.id) is not None
    with pytest.raises(Conflict):
        refuse_votes_at_work(desk.store, reviewer, round.id)


def test_leniency_is_grouped_by_background(desk: Office) -> None:
    profiles = {
        "ann": Profile(domains=("upwork:design",), hours=10, pay_rate=20),
        "bob": Profile(domains=("upwork:design", "upwork:writing"), hours=900),
        "cem": Profile(),
    }
    voters = [desk.people.accounts.set_profile(desk.hire(name), profile) for name, profile in profiles.items()]
    round = desk.open()
    desk.work_off(voters, passing)
    found = {(b.trait, b.group): b for b in backgrounds(desk.store, round.id)}
    few = found["hours", "below 455"]
    assert (few.people, few.own.value, few.others.value) == (1, 1.0, 0.0)
    design = found["domains", "upwork:design"]
    assert (design.people, design.own.value, design.others.value) == (2, 0.5, 0.0)
    assert design.own.counts.valid == 8
    assert found["domains", "unknown"].people == 1
    assert found["hours", "unknown"].others.value == 0.5
    assert ("rating", "unknown") in found
    assert len([k for k in found if k[0] == "rating"]) == 1


def test_account_list_shows_last_activity(desk: Office) -> None:
    admin = desk.hire("ada", "admin")
    desk.clock.pass_(1)
    token = desk.people.accounts.invite(["expert", "evaluator"], by=admin)
    open_, used = invitations(desk.store)
    assert (open_.roles, open_.author, open_.used) == (("evaluator", "expert"), admin.id, None)
    assert used.used is not None
    assert ends_at(desk.store, token) == open_.expires == desk.clock.now + 7 * 24 * 3600 * 10**6
    assert ends_at(desk.store, "wrong") == 0
    before = desk.clock.now
    desk.clock.pass_(3600)
    desk.people.accounts.redeem(desk.people.accounts.one_time_link("ada"))
    assert last_active(desk.store)[admin.id] == before + 3600 * 10**6


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (RoundKind.HOLISTIC, {"score": 1, "critical_flaw": "it is, in short,\n\"empty\"", "recognised": "no"}),
        (RoundKind.PAIRWISE, {"completion": "first", "quality": "equal", "justification": "whole", "inspected": True}),
        (RoundKind.TAGS, {"tags": ["corrupt", "too long"], "note": "=1+1"}),
        (RoundKind.RUBRIC, {
            "marks": {"title": "pass", "sums": "fail", "tidy": "cannot_judge"},
            "feedback": {"sums": "off by one", "tidy": "too dark"},
        }),
    ],
)  # fmt: skip
def test_csv_export_can_be_imported(desk: Office, tmp_path: Path, kind: RoundKind, answer: dict[str, Any]) -> None:
    person = desk.hire("ann", "evaluator", "expert")
    round = desk.open(kind)
    desk.work_off([person], lambda account, item: answer)
    path = tmp_path / "out.csv"
    count = export_csv(desk.store, round.id, path)
    form = Form(round.versions["people.form"])
    again = import_judgments(desk.store, path.read_bytes(), form, format="csv", author="me")
    assert count > 0
    assert _said(desk, again.id) == _said(desk, round.id)


def _said(desk: Office, round: str) -> list[Any]:
    from worksample.records import Evaluation

    found = desk.store.find(Evaluation, round=round)
    return sorted((e.subject, e.second or "", e.minutes, repr(e.payload), e.at) for e in found)


def test_parquet_export_has_every_evaluation(desk: Office, tmp_path: Path) -> None:
    round = desk.open()
    desk.work_off([desk.hire("ann")], passing)
    empty = desk.open()
    path = tmp_path / "out.parquet"
    assert export_parquet(desk.store, empty.id, path) == 0
    assert pl.read_parquet(path).height == 0
    assert export_parquet(desk.store, round.id, path) == 4
    frame = pl.read_parquet(path)
    assert frame["evaluator"].to_list() == ["ann"] * 4
    assert frame["stands"].all()
    assert frame["at"].dtype == pl.Datetime("us", "UTC")


def test_every_wrong_row_is_named(desk: Office) -> None:
    rows = "".join(f"nobody-{n},ann,1,why\n" for n in range(30))
    data = f"subject,evaluator,score,justification\n{rows}".encode()
    with pytest.raises(FaultyRows) as e:
        import_judgments(desk.store, data, Form.HOLISTIC, format="csv", author="me")
    assert list(e.value.faults) == [f"row {n}" for n in range(2, 32)]
    assert "rows 2, 3, 4, 5, 6 and 25 more: no submission with this id" in e.value.what
