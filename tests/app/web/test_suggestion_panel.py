"""A model's draft in the panel of the rubric editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from app.admin.test_suggestions import MODEL, TEXTS, config, drafted
from app.round.desks import desks
from app.web.test_rubric_pages import fits
from openai_server import Answer, Fault, serving
from worksample.errors import RecordMissing
from worksample.people.rubrics.versions import versions

BRIEF = "Write a report of the year's sales, one page."


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a package that the engine uses
@pytest.mark.browser
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="app/admin/test_suggestions.py::test_expert_accepts_suggestions_and_becomes_author")
def test_draft_changes_nothing_until_it_is_taken(
    chrome: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    answers = [drafted(*TEXTS), Answer(fault=Fault.BROKEN)]
    with serving(answers) as model:
        judges = config(tmp_path, model).judges
        with desks(chrome, tmp_path, judges=judges) as team:
            team.watch.expected = ("Failed to load resource",)
            page = team.sit("eva", "expert")
            page.goto("/rubrics")
            page.get_by_label("Name").fill("report")
            page.get_by_role("button", name="Write it").click()
            page.get_by_role("button", name="Have a model draft some").click()
            panel = page.get_by_role("region", name="A model's draft")
            expect(panel).to_contain_text(f"The brief goes to {MODEL}")
            panel.get_by_label("The brief, as the client wrote it").fill(BRIEF)
            panel.get_by_label("How many criteria").fill("3")
            panel.get_by_role("button", name="Draft", exact=True).click()
            # The server loads the engine with its first question.
            expect(panel.get_by_role("listitem")).to_have_count(3, timeout=300_000)
            expect(panel).to_contain_text("3 of 3 left to look at")
            # The linter looks at a model's words as at a person's.
            poor = panel.get_by_role("listitem").filter(has_text=TEXTS[1])
            expect(poor.get_by_text("subjective")).to_be_visible()
            expect(page.get_by_label("Criterion 1", exact=True)).to_have_value("")
            with pytest.raises(RecordMissing, match="no such rubric"):
                versions(team.office.store, "report")
            assert fits(page, "draft") == []
            page.set_viewport_size({"width": 1280, "height": 800})

            poor.get_by_role("button", name="Leave it out").click()
            panel.get_by_role("button", name=f"Take it {TEXTS[0]}").click()
            panel.get_by_role("button", name=f"Take it {TEXTS[2]}").click()
            expect(panel).to_contain_text("0 of 3 left to look at")
            expect(page.get_by_label("Criterion 1", exact=True)).to_have_value(TEXTS[0])
            page.get_by_label("Criterion 2", exact=True).fill("Names the wrong year in its title")
            page.get_by_role("button", name="Save").first.click()
            expect(page.get_by_role("heading", name="After version 1")).to_be_visible()
            taken = page.locator("[data-taken]")
            expect(taken).to_contain_text(f"With criteria of a draft by {MODEL}")
            expect(taken).to_contain_text("it suggested 3, 1 of them stand as they were")
            [version] = versions(team.office.store, "report")
            assert [c.text for c in version.criteria.criteria] == [TEXTS[0], "Names the wrong year in its title"]
            assert len(model.requests) == 1

            # The service breaks: it is said in the panel, and what stands is as it was.
            panel.get_by_role("button", name="Draft", exact=True).click()
            expect(panel.get_by_role("alert")).to_be_visible(timeout=60_000)
            expect(page.get_by_label("Criterion 1", exact=True)).to_have_value(TEXTS[0])
            assert versions(team.office.store, "report") == [version]
