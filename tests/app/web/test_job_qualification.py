"""Job qualification in the browser: attachments, a program's findings, the questions, and a second expert."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.round.driving import axe
from app.web.bench import front, given, handed_in, saved, until
from formats.job_rows import row, write_csv
from worksample.formats.jobs import ImportJobs, import_jobs
from worksample.people import RoundKind, final_verdicts
from worksample.people.rounds.job_questions import CONTEXT, IDENTIFIERS, QUALITY, Question
from worksample.people.rounds.job_screening_results import store_looks
from worksample.python_api.job_qualification import add_jobs
from worksample.records import Instance, Labels, Purpose, ResolutionRule, Round
from worksample.results.job_suitability import deciding_questions

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough(quick="cli/test_jobs_commands.py::test_list_of_jobs_becomes_a_suite"),
]


def test_two_experts_qualify_a_job_in_the_browser(place: Desks) -> None:
    office = place.office
    job = office.instances[0]
    looks = store_looks(office.store, {job.id: {"shown": "**Missing files:**\n\n- `prices.pdf`"}})
    own = (Question(name="hard", text="How hard is it?", answers=("low", "high")),)
    round = office.open(RoundKind.QUALIFICATION, subjects=(job.id,), looks=looks, questions=own)
    for name in ("ann", "bob"):
        page = place.sit(name, "expert")
        page.goto("/queues")
        expect(page.get_by_text("Is this job fit to be a task?").first).to_be_visible()
        page.locator(f"[data-kind={RoundKind.QUALIFICATION}] button").click()
        page.locator("[data-toolbar]").first.wait_for()
        notes = page.get_by_role("dialog", name="Notes on this item")
        expect(notes.get_by_text("prices.pdf")).to_be_visible()
        page.keyboard.press("Escape")
        asked = front(page)
        for question in (CONTEXT, QUALITY, IDENTIFIERS):
            asked.locator(f'[data-ask="{question}"] input[value="yes"]').check()
        asked.locator('[data-ask="hard"] input[value="high"]').check()
        if name == "ann":
            # A no needs its reason.
            asked.locator(f'[data-ask="{IDENTIFIERS}"] input[value="no"]').check()
            page.get_by_role("button", name="Hand in").click()
            expect(asked.locator(f'[data-ask="{IDENTIFIERS}_why"]').get_by_role("alert")).to_be_visible()
            asked.locator(f'[data-ask="{IDENTIFIERS}"] input[value="yes"]').check()
            asked.locator('[data-ask="acceptance_criteria"] textarea').fill("critical - Has a title")
        saved(page)
        page.get_by_role("button", name="Hand in").click()
        handed_in(page)
    first, second = until(lambda: found if len(found := given(place)) == 2 else None)
    assert isinstance(first.payload, Labels) and isinstance(second.payload, Labels)
    assert first.payload.labels["hard"] == "high" and len(first.payload.criteria.leaves) == 1
    assert final_verdicts(office.store, round.id)[job.id].verdict.passed


def test_admin_opens_a_qualification_of_jobs_in_the_browser(place: Desks, tmp_path: Path) -> None:
    place.watch.expected = ("400",)
    rows = [row(contract_id="a", job_title="Reviews", attachments="style.txt;prices.pdf"),
            row(contract_id="b", job_title="A poster", category="Design", attachments=""),
            row(contract_id="c", job_title="By the hour", contract_type="hourly", attachments="")]  # fmt: skip
    (tmp_path / "style.txt").write_text("Write to jane.doe@example.com.")
    made = import_jobs(write_csv(tmp_path / "jobs.csv", rows), tmp_path / "jobs", ImportJobs(missing=True))
    page = place.sit("ada", "admin")
    page.goto("/admin/rounds/new?kind=qualification")
    expect(page.get_by_text("The store has no jobs yet.")).to_be_visible()
    assert len(add_jobs(tmp_path / "jobs", store=place.office.store)) == len(made.written) == 3
    page.reload()
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text("Choose at least one job.")).to_have_count(2)
    expect(page.get_by_text("hourly")).to_be_visible()
    page.get_by_label("Category", exact=True).select_option("Writing")
    page.get_by_role("button", name="Choose all 2").click()
    page.get_by_role("checkbox", name="By the hour").uncheck()
    page.get_by_role("button", name="Add a question").click()
    own = page.get_by_role("group", name="Question 1")
    own.get_by_label("Name").fill("Licence!")
    own.get_by_label("Question", exact=True).fill("May the attachments be used?")
    own.get_by_role("checkbox").check()
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text("A name is small letters").first).to_be_visible()
    own.get_by_label("Name").fill("licence")
    page.get_by_label("Rule").select_option("tie_break")
    assert axe(page) == []
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("heading", name="Qualification")).to_be_visible()
    [round] = [r for r in place.office.store.find(Round) if r.purpose is Purpose.QUALIFICATION]
    [job] = round.subjects
    assert (place.office.store.get(Instance, job).title, round.rule) == ("Reviews", ResolutionRule.TIE_BREAK)
    assert "licence" in deciding_questions(round)
    page.goto("/admin/rounds/new?kind=qualification")
    expect(page.get_by_role("button", name="Choose all 2")).to_be_visible()
    # What the program found stands beside the job that an expert is given.
    page = place.sit("eve", "expert")
    page.goto("/queues")
    page.locator(f"[data-kind={RoundKind.QUALIFICATION}] button").click()
    notes = page.get_by_role("dialog", name="Notes on this item")
    expect(notes.get_by_text("prices.pdf")).to_be_visible()
    page.keyboard.press("Escape")
    expect(front(page).locator('[data-ask="licence"]')).to_be_visible()
