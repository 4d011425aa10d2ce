"""A job on the work screen: its attachments, what a program found, the questions, and a second expert."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.round.desks import Desks
from app.web.bench import front, given, handed_in, saved, until
from worksample.people import Kind, final_verdicts
from worksample.people.rounds.looks import keep_looks
from worksample.people.rounds.questions import CONTEXT, IDENTIFIERS, QUALITY, Question
from worksample.records import Labels

pytestmark = [pytest.mark.browser, pytest.mark.thorough(quick="cli/test_jobs.py::test_jobs_go_from_a_list_to_a_suite")]


def test_two_experts_qualify_a_job_in_the_browser(place: Desks) -> None:
    office = place.office
    job = office.instances[0]
    looks = keep_looks(office.store, {job.id: {"shown": "**Named and not here:**\n\n- `prices.pdf`"}})
    own = (Question(name="hard", text="How hard is it?", answers=("low", "high")),)
    round = office.open(Kind.QUALIFICATION, subjects=(job.id,), looks=looks, questions=own)
    for name in ("ann", "bob"):
        page = place.sit(name, "expert")
        page.goto("/queues")
        expect(page.get_by_text("Is this job fit to be a task?").first).to_be_visible()
        page.locator(f"[data-kind={Kind.QUALIFICATION}] button").click()
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
