"""Struck work is given to nobody until it is restored, however it was struck."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from people.worlds import Office, office
from store.worlds import START
from worksample.cli.commands.amend import command
from worksample.experiments.strike_and_restore import amend
from worksample.people import Account, Conflict, RoundKind, own_queues, withdraw
from worksample.people import struck_records as amending
from worksample.people.judging.withdrawn_items import WITHDRAWN
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Amendment, AmendmentAction, AmendmentTarget, ResolutionRule, Submission, struck
from worksample.store.people_tables import items

YES = {"score": 2, "justification": "all there"}
SUBJECT = "s-maker-0.p0"


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path, agents=2, projects=2)


def about(desk: Office, target: AmendmentTarget) -> str:
    submission = desk.store.get(Submission, SUBJECT)
    assert submission.trial is not None
    return {
        AmendmentTarget.SUBMISSION: SUBJECT,
        AmendmentTarget.TRIAL: submission.trial,
        AmendmentTarget.INSTANCE: submission.instance,
    }[target]


def offered(desk: Office, account: Account) -> set[str]:
    """All that the person is given, each given back."""
    got = []
    while (item := desk.people.drafting.claim(account, ahead=True)) is not None and item.id not in [i.id for i in got]:
        got.append(item)
    for item in got:
        desk.people.leasing.release(item.id, account)
    return {shown for item in got for shown in desk.behind(item)}


@pytest.mark.parametrize("target", [AmendmentTarget.SUBMISSION, AmendmentTarget.TRIAL, AmendmentTarget.INSTANCE])
@pytest.mark.parametrize("kind", [RoundKind.HOLISTIC, RoundKind.PAIRWISE])
def test_struck_work_is_given_out_only_after_restoring(desk: Office, target: AmendmentTarget, kind: RoundKind) -> None:
    ann, dana = desk.hire("ann"), desk.hire("dana", "admin")
    options = {"per_pair": 2} if kind is RoundKind.PAIRWISE else {"overlap": 1, "rule": ResolutionRule.LATEST}
    round = desk.open(kind, most_open=99, **options)
    everything = {f"s-maker-{a}.p{p}" for a in range(2) for p in range(2)}
    assert offered(desk, ann) == everything
    gone = {
        s for s in everything
        if s == SUBJECT or (s.endswith(".p0") and (target is AmendmentTarget.INSTANCE or kind is RoundKind.PAIRWISE))
    }  # fmt: skip
    before = dashboard.progress(desk.people.store, round.id)
    amending.amend(
        desk.people.store, dana, AmendmentAction.STRIKE, target, about(desk, target), "a leak", clock=desk.people.clock
    )
    assert offered(desk, ann) == everything - gone
    after = dashboard.progress(desk.people.store, round.id)
    away = len(gone) if kind is RoundKind.HOLISTIC else 1
    assert (after.withdrawn, after.open) == (away, before.open - away * (before.open // before.items))
    assert [s.left for s in own_queues(desk.people.store, ann)] == [before.items - away]
    desk.clock.pass_(1)
    amending.amend(
        desk.people.store,
        dana,
        AmendmentAction.RESTORE,
        target,
        about(desk, target),
        "it was none",
        clock=desk.people.clock,
    )
    assert offered(desk, ann) == everything and dashboard.progress(desk.people.store, round.id) == before


@pytest.mark.parametrize("target", ["evaluation", "evaluator"])
def test_work_struck_on_the_command_line_is_asked_again(desk: Office, tmp_path: Path, target: str) -> None:
    ann, bob = desk.hire("ann"), desk.hire("bob")
    desk.open(subjects=(SUBJECT,), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    said = desk.people.judging.submit(item.id, ann, YES, "k")
    assert desk.people.drafting.claim(bob) is None
    id = said.id if target == "evaluation" else said.evaluator
    for action, left in (("strike", 1), ("restore", 0), ("strike", 1)):
        words = [action, target, id, "--reason", "so", "--store", str(tmp_path / "s")]
        done = CliRunner().invoke(command, words)
        assert done.exit_code == 0, done.output
        assert [s.left for s in own_queues(desk.people.store, bob)] == [left]
    assert desk.people.drafting.claim(bob) is not None and desk.people.drafting.claim(ann) is None


@pytest.mark.parametrize("kind", [RoundKind.HOLISTIC, RoundKind.PAIRWISE])
def test_struck_vote_causes_no_tie(desk: Office, kind: RoundKind) -> None:
    ann, bob, cem, dan = (desk.hire(name) for name in ("ann", "bob", "cem", "dan"))
    dana, pairs = desk.hire("dana", "admin"), kind is RoundKind.PAIRWISE
    chosen = {"per_pair": 1} if pairs else {"subjects": (SUBJECT,)}
    desk.open(kind, rule=ResolutionRule.TIE_BREAK, overlap=2, **chosen)

    def vote(account: Account, passes: bool) -> str:
        item = desk.people.drafting.claim(account)
        assert item is not None
        # Whoever stands first for this person: one side of the pair, or the other.
        side = "first" if (desk.behind(item)[0].startswith("s-maker-0") or not pairs) == passes else "second"
        said = {"completion": side, "quality": side} if pairs else {"score": 2 if passes else 1}
        return desk.people.judging.submit(item.id, account, {**said, "justification": "seen"}, account.id).id

    gone = vote(ann, False)
    amending.amend(
        desk.people.store,
        dana,
        AmendmentAction.STRIKE,
        AmendmentTarget.EVALUATION,
        gone,
        "a slip",
        clock=desk.people.clock,
    )
    vote(bob, True)
    vote(cem, True)
    assert desk.people.drafting.claim(dan) is None


def test_item_withdrawn_by_an_admin_stays_out_after_restoring(desk: Office) -> None:
    ann, dana = desk.hire("ann"), desk.hire("dana", "admin")
    desk.open(subjects=(SUBJECT,), overlap=1, rule=ResolutionRule.LATEST)
    item = desk.people.drafting.claim(ann)
    assert item is not None
    desk.people.leasing.release(item.id, ann)
    withdraw(desk.people.store, dana, item.id)
    amending.amend(
        desk.people.store,
        dana,
        AmendmentAction.STRIKE,
        AmendmentTarget.SUBMISSION,
        SUBJECT,
        "a leak",
        clock=desk.people.clock,
    )
    desk.clock.pass_(1)
    amending.amend(
        desk.people.store,
        dana,
        AmendmentAction.RESTORE,
        AmendmentTarget.SUBMISSION,
        SUBJECT,
        "it was none",
        clock=desk.people.clock,
    )
    assert desk.people.drafting.claim(ann) is None


def test_leased_item_can_be_handed_in_and_returned_one_is_not_offered_again(desk: Office) -> None:
    ann, bob, cem = desk.hire("ann"), desk.hire("bob"), desk.hire("cem")
    desk.open(subjects=(SUBJECT,), overlap=3)
    held, ran_out, skipped = (desk.people.drafting.claim(account) for account in (ann, bob, cem))
    assert held is not None and ran_out is not None and skipped is not None
    desk.people.leasing.release(ran_out.id, bob)
    desk.people.judging.skip(skipped.id, cem, "I made it")
    # Not by way of the app.
    amend(
        desk.store, action="strike", target="trial", id=about(desk, AmendmentTarget.TRIAL), reason="a leak", author="me"
    )
    desk.people.judging.submit(held.id, ann, YES, "k")
    assert desk.people.drafting.claim(bob) is None
    with pytest.raises(Conflict):
        desk.people.leasing.heartbeat(ran_out.id, bob)
    with pytest.raises(Conflict):
        desk.people.leasing.take_back(skipped.id, cem)


TARGETS = st.sampled_from(
    [
        (AmendmentTarget.SUBMISSION, "s-maker-0.p0"),
        (AmendmentTarget.SUBMISSION, "s-maker-1.p1"),
        (AmendmentTarget.TRIAL, "t-maker-0.p0"),
        (AmendmentTarget.TRIAL, "t-maker-1.p0"),
        (AmendmentTarget.INSTANCE, 0),
        (AmendmentTarget.INSTANCE, 1),
    ]
)
CHANGES = st.lists(
    st.tuples(TARGETS, st.sampled_from([AmendmentAction.STRIKE, AmendmentAction.RESTORE]), st.integers(0, 3)),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES)
def test_queue_agrees_with_recorded_amendments(
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[tuple[AmendmentTarget, str | int], AmendmentAction, int]],
) -> None:
    desk = office(tmp_path_factory.mktemp("office"), agents=2, projects=2)
    desk.open(overlap=1, rule=ResolutionRule.LATEST)
    made = [
        Amendment(
            id=f"a{n * 7 % 13:02}", action=action, target=target, reason="why", author="me",
            target_id=id if isinstance(id, str) else desk.instances[id].id, at=START + timedelta(seconds=second),
        )
        for n, ((target, id), action, second) in enumerate(changes)
    ]  # fmt: skip
    if made:
        desk.store.commit(*made)
    out = struck(made)
    with desk.store.database.reading() as connection:
        rows = connection.execute(select(items.c.subject, WITHDRAWN.label("withdrawn"))).all()
    assert len(rows) == 4
    for row in rows:
        s = desk.store.get(Submission, row.subject)
        assert s.trial is not None
        about = {
            (AmendmentTarget.SUBMISSION, s.id),
            (AmendmentTarget.TRIAL, s.trial),
            (AmendmentTarget.INSTANCE, s.instance),
        }
        assert bool(row.withdrawn) == bool(about & out)
    desk.store.close()
