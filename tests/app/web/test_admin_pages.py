"""The admin's and reviewer's pages in Chromium, with the real server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.round.desks import Desks
from app.round.driving import axe
from app.web.bench import judged
from running.profiles import is_quick_run
from worksample.people import Denied, RoundKind, all_flags, final_verdicts, raise_flag
from worksample.people.quality import round_dashboard as dashboard
from worksample.records import Standing

pytestmark = [pytest.mark.browser, pytest.mark.long]


def row(page: Page, text: str) -> Any:
    """The table row whose cells hold a text."""
    return page.get_by_role("row").filter(has_text=text)


def test_person_is_invited_given_a_role_and_disabled(team: Desks) -> None:
    team.watch.expected = ("401",)
    page = team.sit("ada", "admin")
    page.goto("/admin/people")
    page.get_by_role("button", name="Invite").click()
    link = page.get_by_role("textbox", name="Link").input_value()
    assert link.startswith(f"{team.served.config.app_origin}/invite#")
    page.keyboard.press("Escape")
    expect(row(page, "open")).to_have_count(1)

    guest = team.stranger()
    guest.goto(link)
    guest.get_by_label("Name").fill("Greta")
    for field in guest.locator("input[type=password]").all():
        field.fill("a password of some words")
    guest.keyboard.press("Enter")
    expect(guest.get_by_role("banner").get_by_role("button", name="Sign out")).to_be_visible()
    expect(guest.get_by_role("navigation", name="Main").get_by_role("link", name="Rounds")).to_have_count(0)

    page.reload()
    expect(row(page, "accepted")).to_have_count(2)
    row(page, "Greta").get_by_role("button", name="Roles").click()
    page.get_by_role("dialog").get_by_role("checkbox", name="reviewer").check()
    page.get_by_role("button", name="Save").click()
    expect(row(page, "Greta").get_by_text("reviewer", exact=True)).to_be_visible()
    guest.reload()
    guest.get_by_role("link", name="Rounds").click()
    expect(guest.get_by_role("heading", name="Rounds", level=1)).to_be_visible()

    row(page, "Greta").get_by_role("button", name="Disable").click()
    expect(row(page, "Greta").get_by_text("disabled", exact=True)).to_be_visible()
    guest.reload()
    expect(guest.get_by_role("button", name="Sign in")).to_be_visible()
    row(page, "Greta").get_by_role("button", name="Enable").click()
    row(page, "Greta").get_by_role("button", name="Sign-in link").click()
    guest.goto(page.get_by_role("textbox", name="Link").input_value())
    expect(guest.get_by_role("banner").get_by_role("button", name="Sign out")).to_be_visible()


@pytest.mark.thorough(quick="app/admin/test_rounds.py::test_dashboard_has_every_figure")
def test_dashboard_agrees_with_the_library(team: Desks) -> None:
    round = judged(team)
    people = team.office.people
    page = team.sit("ada", "admin")
    page.goto(f"/admin/rounds/{round}")
    found = dashboard.agreement(people.store, round)
    shown = page.get_by_role("table", name="Agreement of holistic votes")
    for label, figure in (
        ("Agreement", found.share), ("Hard disagreement", found.hard), ("On positives", found.positive),
        ("Alpha, nominal", found.alpha_nominal), ("Alpha, ordinal", found.alpha_ordinal),
        ("Alpha, interval", found.alpha_interval), ("AC1", found.ac1),
    ):  # fmt: skip
        cell = shown.locator("tr", has=page.locator("th", has_text=re.compile(rf"^\s*{label}\s*:"))).locator("td")
        expect(cell).to_contain_text(figure.format_value())
        if figure.low is not None and figure.unit == "share":
            expect(cell).to_contain_text(f"{figure.low * 100:.1f} to {(figure.high or 0) * 100:.1f} %")
    expect(page.get_by_role("progressbar", name="Answers given")).to_have_attribute("aria-valuetext", "12 of 12")

    table = page.get_by_role("table", name="Leniency of each person")
    for one in dashboard.leniency(people.store, round):
        cells = table.get_by_role("row").filter(has_text=one.name).get_by_role("cell")
        expect(cells.nth(0)).to_contain_text(f"{one.own.format_value()} %")
        expect(cells.nth(1)).to_contain_text(f"{one.others.format_value()} %")
    dots = page.locator(".own").evaluate_all("dots => dots.map(d => Number(d.getAttribute('cx')))")
    # On an axis from 8 to 292: ann passes all four, the others two.
    assert dots[:3] == [8 + 284 * (one.own.value or 0) for one in dashboard.leniency(people.store, round)]
    rows = page.get_by_role("table", name="Throughput of each person").get_by_role("row")
    names = {account.id: account.name for account in people.accounts.all()}
    for one in dashboard.throughput(people.store, round):
        expect(rows.filter(has_text=names[one.person]).get_by_role("cell").nth(1)).to_have_text(str(one.given))


def test_struck_vote_changes_the_verdict_and_is_restored(team: Desks) -> None:
    round = judged(team)
    people = team.office.people
    passes = {s: f.verdict.passed for s, f in final_verdicts(people.store, round).items()}
    subject = next(s for s, passed in sorted(passes.items()) if not passed)
    page = team.sit("ada", "admin")
    page.goto(f"/admin/rounds/{round}/verdicts")
    expect(page.get_by_text("maker-0")).to_have_count(0)
    line = page.locator(f"tr[data-submission='{subject}']")
    expect(line).to_contain_text("Not accepted")

    # By the keyboard alone, from the row's button on.
    line.get_by_role("button", name="3 votes").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Strike the vote of bob").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_label("Why")).to_be_focused()
    page.keyboard.type("judged in eleven seconds")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(line).to_contain_text("Undecided")
    expect(page.get_by_text("judged in eleven seconds")).to_be_visible()
    assert final_verdicts(people.store, round)[subject].verdict.standing is Standing.UNDECIDED
    assert dashboard.progress(people.store, round).open == 1

    page.get_by_role("button", name="Restore the vote of bob").click()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("Say why.")).to_be_visible()
    page.get_by_label("Why").fill("the clock was wrong")
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(line).to_contain_text("Not accepted")
    assert final_verdicts(people.store, round)[subject].verdict.passed is False


@pytest.mark.thorough(
    quick="app/admin/test_round_evidence.py::test_names_require_an_admin_and_bar_the_admin_from_judging"
)
def test_names_are_shown_after_consent(team: Desks) -> None:
    round = judged(team)
    page = team.sit("ada", "admin")
    page.goto(f"/admin/rounds/{round}/verdicts")
    expect(row(page, "Agent 1").first).to_be_visible()
    page.get_by_role("button", name="Show names").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep the numbers").click()
    expect(page.get_by_text("maker-0")).to_have_count(0)
    page.get_by_role("button", name="Show names").click()
    page.get_by_role("dialog").get_by_role("button", name="Show names").click()
    expect(row(page, "maker-0").first).to_be_visible()
    expect(page.get_by_text("nothing of this round")).to_be_visible()


@pytest.mark.thorough(quick="app/admin/test_rounds.py::test_submissions_with_findings_are_struck")
def test_integrity_findings_are_struck_together(team: Desks) -> None:
    round = judged(team)
    over = team.office.open(RoundKind.INTEGRITY, over=round, sample=1)
    reviewer = team.office.hire("rita", "reviewer")
    answer = {"finding": "shortcut", "justification": "step 3 copies the input"}
    team.office.work_off([reviewer], lambda _a, _i: answer, over.id)
    found = [s for s, f in final_verdicts(team.office.people.store, round).items() if f.integrity]
    page = team.sit("ada", "admin")
    page.goto(f"/admin/rounds/{round}/verdicts")
    page.get_by_role("button", name="Strike them").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Strike {len(found)}").click()
    expect(page.get_by_role("table").get_by_text("Ungraded").first).to_be_visible()
    standing = {s: f.verdict.standing for s, f in final_verdicts(team.office.people.store, round).items()}
    assert found and all(standing[s] is Standing.UNGRADED for s in found)


@pytest.mark.thorough(
    quick="app/admin/test_accounts_flags_and_transfer.py::test_faulty_import_lists_every_row_and_imports_nothing"
)
def test_faulty_file_lists_each_row_and_imports_nothing(team: Desks) -> None:
    team.watch.expected = ("422",)
    subjects = [f"s-maker-0.{i.name}" for i in team.office.instances]
    page = team.sit("ada", "admin")
    page.goto("/admin/import")
    bad = ["subject,evaluator,score,justification"]
    bad += [f"{subjects[0]},zoe,2,all is there", f"{subjects[1]},zoe,9,all is there", "nobody,zoe,1,nothing is there"]
    page.get_by_label("Or paste its rows").fill("\n".join(bad))
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("2 rows are wrong; nothing was imported.")).to_be_visible()
    faults = page.get_by_role("table", name="Faulty rows").get_by_role("row")
    expect(faults).to_have_count(3)
    expect(faults.nth(1)).to_contain_text("row 3")
    expect(faults.nth(2)).to_contain_text("row 4")

    lines = [
        json.dumps({"subject": s, "evaluator": "zoe", "score": 2, "justification": "all is there"}) for s in subjects
    ]
    file = {"name": "judged.jsonl", "mimeType": "text/plain", "buffer": "\n".join(lines).encode()}
    page.get_by_label("Choose a file").set_input_files(file)  # type: ignore[arg-type]
    expect(page.get_by_label("Format")).to_have_value("jsonl")
    page.get_by_role("button", name="Import").click()
    page.get_by_role("link", name="To the round").click()
    expect(page.get_by_role("heading", name="Holistic, imported")).to_be_visible()
    page.get_by_role("link", name="Verdicts and votes").click()
    expect(page.get_by_text("Accepted", exact=True)).to_have_count(2)


@pytest.mark.thorough(quick="app/admin/test_accounts_flags_and_transfer.py::test_flagged_items_can_be_withdrawn")
def test_flagged_item_is_withdrawn(team: Desks) -> None:
    round = team.office.open(RoundKind.HOLISTIC)
    ann = team.office.hire("ann")
    item = team.office.people.drafting.claim(ann, round.id)
    assert item is not None
    raise_flag(
        team.office.people.store,
        item.id,
        ann,
        "broken file",
        "<b>report.txt</b> is cut off",
        clock=team.office.people.clock,
    )
    page = team.sit("ada", "admin")
    page.goto("/admin/flags")
    expect(page.get_by_text("<b>report.txt</b> is cut off")).to_be_visible()
    page.get_by_role("button", name="Withdraw the item").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("withdrawn", exact=True)).to_be_visible()
    assert dashboard.progress(team.office.people.store, round.id).withdrawn == 1
    page.get_by_role("button", name="Close the flag").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Close the flag").click()
    expect(dialog.get_by_text("Write a few words.")).to_be_visible()
    dialog.get_by_label("What was done").fill("cut off by the <agent> itself")
    dialog.get_by_role("button", name="Close the flag").click()
    expect(page.get_by_text("cut off by the <agent> itself")).to_be_visible()
    (flag,) = all_flags(team.office.people.store)
    assert flag.closed is not None and flag.closed.note == "cut off by the <agent> itself"


@pytest.mark.thorough(quick="app/admin/test_accounts_flags_and_transfer.py::test_open_invitation_can_be_revoked")
def test_invitation_is_revoked(team: Desks) -> None:
    token = team.office.people.accounts.invite(["expert"])
    page = team.sit("ada", "admin")
    page.goto("/admin/people")
    page.get_by_role("button", name="Revoke the invitation of expert").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row(page, "taken back")).to_have_count(1)
    with pytest.raises(Denied):
        team.office.people.accounts.invitation_roles(token)


def test_reviewer_reads_only_and_evaluator_sees_no_admin_page(team: Desks) -> None:
    round = judged(team)
    page = team.sit("rita", "reviewer")
    names: list[str] = []
    for path in ("/admin", f"/admin/rounds/{round}", f"/admin/rounds/{round}/verdicts"):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        names += page.get_by_role("main").get_by_role("button").all_inner_texts()
        links = page.get_by_role("main").get_by_role("link").all_inner_texts()
        assert not {"New round", "Settings, flags, export", "JSON Lines"} & {text.strip() for text in links}
    page.get_by_role("button", name="3 votes").first.click()
    expect(page.get_by_text("report.txt, its first line").first).to_be_visible()
    names += page.get_by_role("main").get_by_role("button").all_inner_texts()
    reading = {"Refresh", "Who", "Given", "Skipped", "Minutes", "Over", "Last"}
    assert all(name.startswith("3 votes") or name.strip(" ↑↓") in reading for name in names), names
    page.goto("/admin/people")
    expect(page.get_by_text("There is nothing here.")).to_be_visible()

    other = team.sit("eva", "evaluator")
    assert "Rounds" not in other.get_by_role("navigation", name="Main").inner_text()
    other.goto("/admin")
    expect(other.get_by_text("Only admins and reviewers can open this page.")).to_be_visible()


@pytest.mark.quick("False-1280")
@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 1280), (False, 768)])
def test_axe_finds_no_serious_violation_on_admin_pages(team: Desks, dark: bool, width: int) -> None:
    round = judged(team)
    pairs = team.office.open(RoundKind.PAIRWISE).id
    page = team.sit("ada", "admin", dark=dark)
    page.set_viewport_size({"width": width, "height": 800})
    paths = ["", "/rounds/new", "/rounds/new?kind=calibration", f"/rounds/new?kind=integrity&over={round}"]
    paths += [f"/rounds/{id}{tab}" for id in (round, pairs) for tab in ("", "/verdicts", "/more")]
    paths += ["/pilots", "/people", "/flags", "/import", "/conversions", "/formats"]
    # Of screens that are alike the quick profile looks at one.
    for path in paths[::3] if is_quick_run() else paths:
        page.goto(f"/admin{path}")
        page.wait_for_load_state("networkidle")
        if path == f"/rounds/{round}/verdicts":
            page.get_by_role("button", name="3 votes").first.click()
        assert axe(page) == [], path
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, f"{path} scrolls sideways by {wide}"
