"""Rounds on the admin's pages: opening, gold items of a quiz, leaks in blind copies."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.web.bench import judged
from people.worlds import folder_of
from worksample.people import RoundKind, final_verdicts, list_queues
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Submission
from worksample.viewing import prepare

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_round_is_opened_with_fields_of_its_kind_then_paused_and_closed(team: Desks) -> None:
    team.watch.expected = ("400",)
    page = team.sit("ada", "admin")
    page.goto("/admin")
    page.get_by_role("link", name="New round").click()
    page.get_by_role("radio", name="Audit of positives").check()
    expect(page.get_by_label("Round to review")).to_be_visible()
    expect(page.get_by_label("Experiment")).to_have_count(0)
    page.get_by_role("radio", name="Holistic").check()
    # There is one experiment, so it is that one.
    expect(page.get_by_label("Experiment")).to_have_value("x1")
    page.get_by_label("Experiment").select_option("")
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text("Choose the experiment whose work is judged.")).to_have_count(2)
    expect(page.get_by_label("Experiment")).to_be_focused()

    page.get_by_label("Experiment").select_option("x1")
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text("No pilot has passed with this version of the instructions")).to_be_visible()
    page.get_by_label("Reason to go without a pilot").fill("two deliverables only")
    page.get_by_label("Rule").select_option("tie_break")
    expect(page.get_by_label("Votes on each item")).to_have_count(0)
    page.get_by_role("checkbox", name="reviewer").check()
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("heading", name="Holistic: x")).to_be_visible()
    expect(page.get_by_text("Without a pilot: two deliverables only")).to_be_visible()

    [queue] = list_queues(team.office.people.store)
    assert (queue.kind, queue.rule, queue.state) == (RoundKind.HOLISTIC, "tie_break", "open")
    assert set(queue.settings["roles"]) == {"admin", "evaluator", "expert", "reviewer"}
    for button, state in (("Pause", "paused"), ("Close", "closed"), ("Open", "open")):
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator(".badge").first).to_have_text(state.capitalize())
        assert list_queues(team.office.people.store)[0].state == state
    team.office.deliver_late("maker-1")
    page.get_by_role("button", name="Top up").click()
    expect(page.get_by_text("1 item was added.")).to_be_visible()
    assert dashboard.progress(team.office.people.store, queue.round).items == 5


@pytest.mark.thorough(quick="app/admin/test_rounds.py::test_gold_items_and_roles_are_stored")
def test_quiz_uses_gold_items_of_a_decided_round(team: Desks) -> None:
    round = judged(team)
    page = team.sit("ada", "admin")
    page.goto("/admin/rounds/new?kind=calibration")
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text("A calibration needs gold items.")).to_have_count(2)
    page.get_by_label("Take from a round").select_option(round)
    page.get_by_role("button", name="Add report/p0").first.click()
    gold = page.get_by_role("group", name="Gold item 1")
    subject = gold.get_by_label("Submission").input_value()
    passed = final_verdicts(team.office.people.store, round)[subject].verdict.passed
    expect(gold.get_by_label("Would a reasonable client")).to_have_value("2" if passed else "1")
    gold.get_by_label("Explanation").fill("the brief asks for a total")
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("heading", name="Calibration")).to_be_visible()
    quiz = list_queues(team.office.people.store)[-1]
    assert quiz.kind is RoundKind.CALIBRATION
    page.goto("/admin/pilots")
    expect(page.get_by_role("heading", name="Quizzes", exact=True)).to_be_visible()


@pytest.mark.thorough(quick="app/admin/test_round_evidence.py::test_files_that_may_name_their_makers_are_listed")
@pytest.mark.box
def test_leaks_in_blind_copies_are_listed(team: Desks) -> None:
    office = team.office
    made = office.store.get(Submission, "s-maker-0.p0")
    digest = folder_of(office.store, {"by maker-0.pdf": b"%PDF-1.4 cut", "notes.txt": b"hello"})
    part = made.parts["output"].replaced(manifest=digest, files=2)
    office.store.commit(made.replaced(id="s-other", experiment=None, trial=None, parts={"output": part}))
    round = office.open(subjects=("s-other",))
    # The browser's own loop runs in this thread.
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: asyncio.run(prepare(office.store, office.store.manifest(digest)))).result()
    page = team.sit("ada", "admin")
    page.goto(f"/admin/rounds/{round.id}/more")
    expect(page.get_by_text("2 files looked at. 1 file may say who made them.")).to_be_visible()
    kept = page.get_by_role("table", name="Leaks in blind copies").get_by_role("row")
    expect(kept).to_have_count(2)
    expect(kept.nth(1)).to_contain_text("by █████.pdf")
