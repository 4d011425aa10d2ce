"""Whole items on the work page, by keyboard alone, in the real viewer."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from app.round.desks import Desks
from app.web.bench import WHY, dialog, front, given, handed_in, saved, scrolls, shows, start, until
from app.web.studio import HOSTILE_NAME
from worksample.people import Gold, RoundKind
from worksample.records import GradePayload, Holistic, Pairwise, ResolutionRule, Tags

pytestmark = [pytest.mark.browser, pytest.mark.long]


def focused(page: Page) -> str:
    """What the keyboard is at."""
    found: str = page.evaluate(
        "(e => e.dataset.tree ?? e.dataset.pane ?? e.dataset.filter ?? e.tagName)(document.activeElement)"
    )
    return found


def test_holistic_item_is_done_by_keyboard(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = place.sit("ann")
    page.get_by_role("button", name="Start").focus()
    page.keyboard.press("Enter")
    dialog(page, "Notes on this item").wait_for()
    page.keyboard.press("Escape")
    shows(page, "Alternative", "final/report.txt")
    until(lambda: focused(page) == "Alternative", page=page)
    assert scrolls(page) == [0, 0]
    # Through the files: down, into a folder, and open one.
    page.keyboard.press("p")
    assert focused(page) == "Reference"
    page.keyboard.press("p")
    for key in ("Home", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    shows(page, "Alternative", "final/data/Figures.csv")
    page.keyboard.press("/")
    page.keyboard.type("report")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    shows(page, "Alternative", "final/report.txt")
    # Handing in too early says what is missing, and where.
    page.keyboard.press("Control+Enter")
    expect(front(page).locator('[data-ask="score"]').get_by_role("alert")).to_have_text("Choose an answer.")
    expect(front(page).locator('[data-ask="justification"]').get_by_role("alert")).to_have_text("Write a reason.")
    page.keyboard.press("2")
    page.keyboard.press("w")
    page.keyboard.type(WHY)
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    page.keyboard.press("5")
    saved(page)
    page.keyboard.press("f")
    expect(front(page).locator("section[data-section]:visible")).to_have_count(1)
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Holistic)
    assert (evaluation.payload.score, evaluation.payload.justification) == (2, WHY)
    assert evaluation.record["recognised"] == "guess" and evaluation.record["inspected"] is True
    # The next one, which may be of the same project: nothing is answered in it.
    until(lambda: front(page).count() == 1 and front(page).locator("[data-ask=score] :checked").count() == 0, page=page)
    # It begins side by side again; its notes wait until they are asked for.
    expect(front(page).locator("section[data-section]:visible")).to_have_count(2)
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("o")
    expect(dialog(page, "Notes on this item")).to_be_visible()


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_holistic_item_is_done_by_keyboard")
def test_critical_flaw_ends_the_judgment(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    page.keyboard.press("3")
    page.keyboard.press("c")
    page.keyboard.type("it does not open")
    expect(front(page).get_by_role("radio").first).to_be_checked()
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Holistic)
    assert (evaluation.payload.score, evaluation.payload.justification) == (1, "it does not open")


def test_pair_is_flipped_to_the_same_place(place: Desks) -> None:
    place.office.open(RoundKind.PAIRWISE)
    page = start(place.sit("ann"), RoundKind.PAIRWISE)
    bench = front(page)
    shows(page, "AD-2", "final/report.txt")
    assert bench.locator("section[data-section]:visible").count() == 3
    page.keyboard.press("l")
    expect(bench.locator("section[data-section]:visible")).to_have_count(1)
    page.keyboard.press("Shift+Digit2")
    expect(bench.locator("[data-section=AD-1]")).to_be_visible()
    viewer = bench.frame_locator("iframe[data-pane=AD-1]")
    viewer.get_by_text("line 3:", exact=False).first.wait_for()
    # Within the viewer: move, then flip by Tab.
    viewer.locator("body").press("Home")
    box = bench.locator("iframe[data-pane=AD-1]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, 3000)
    page.wait_for_timeout(600)
    top = viewer.get_by_text("line 160:", exact=False).first
    expect(top).to_be_visible()
    page.keyboard.press("e")
    page.keyboard.press("Tab")
    expect(bench.locator("[data-section=AD-2]")).to_be_visible()
    expect(bench.locator("[data-section=AD-1]")).to_be_hidden()
    other = bench.frame_locator("iframe[data-pane=AD-2]")
    expect(other.get_by_text("line 160:", exact=False).first).to_be_visible()
    # On to the reference, which has the same file under another path.
    page.keyboard.press("f")
    expect(bench.locator("[data-section=Reference]")).to_be_visible()
    shows(page, "Reference", "report.txt")
    for key in ("1", "5", "w"):
        page.keyboard.press(key)
    page.keyboard.type("AD-1 has the months in order")
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Pairwise)
    assert (evaluation.payload.completion.value, evaluation.payload.quality.value) == ("first", "equal")


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_holistic_item_is_done_by_keyboard")
def test_keys_work_within_a_viewer(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    shows(page, "Alternative", "final/report.txt")
    front(page).frame_locator("iframe[data-pane=Alternative]").get_by_text("line 3:", exact=False).first.click()
    page.keyboard.press("1")
    expect(front(page).get_by_role("radio").first).to_be_checked()
    page.keyboard.press("?")
    expect(dialog(page, "Keys")).to_be_visible()
    for printed in ("Ctrl+Enter", "F6", "]"):
        expect(dialog(page, "Keys").get_by_text(printed, exact=True)).to_be_visible()
    expect(dialog(page, "Keys").get_by_role("heading", name="Rubric")).to_have_count(0)
    page.keyboard.press("Escape")
    # Tab flips from within a viewer, again and again.
    page.keyboard.press("l")
    front(page).frame_locator("iframe[data-pane=Alternative]").get_by_text("line 3:", exact=False).first.click()
    for side in ("Reference", "Alternative", "Reference"):
        page.keyboard.press("Tab")
        expect(front(page).locator(f"[data-section={side}]")).to_be_visible()
        until(lambda side=side: focused(page) == side, page=page)


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_pair_is_flipped_to_the_same_place")
def test_linked_panes_keep_the_same_place(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    bench = front(page)
    shows(page, "Alternative", "final/report.txt")
    shows(page, "Reference", "report.txt")
    left, right = (bench.frame_locator(f"iframe[data-pane={name}]") for name in ("Reference", "Alternative"))
    for frame in (left, right):
        frame.get_by_text("line 3:", exact=False).first.wait_for()
    page.keyboard.press("s")
    box = bench.locator("iframe[data-pane=Reference]").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 200)
    page.mouse.wheel(0, 3000)
    expect(left.get_by_text("line 160:", exact=False).first).to_be_visible()
    expect(right.get_by_text("line 160:", exact=False).first).to_be_visible()
    # A file that is opened on one side is opened on the other.
    page.keyboard.press("p")
    bench.locator("[data-tree=Reference]").get_by_text("figures.csv").click()
    shows(page, "Alternative", "final/data/Figures.csv")


def test_rubric_is_marked_by_keyboard(place: Desks) -> None:
    place.office.open(RoundKind.RUBRIC)
    page = start(place.sit("ann", "expert"), RoundKind.RUBRIC)
    shows(page, "Deliverable", HOSTILE_NAME)
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    alerts = front(page).locator("[data-criterion]").get_by_role("alert")
    expect(alerts).to_have_text(["Say why.", "Not marked yet."])
    page.keyboard.press("r")
    page.keyboard.type("the sum of May is off")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("3")
    page.keyboard.press("r")
    page.keyboard.type("nothing to tidy")
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, GradePayload)
    assert [(p.name, p.fraction, p.reason) for p in evaluation.payload.parts] == [
        ("title", 1.0, ""), ("sums", 0.0, "the sum of May is off"), ("tidy", None, "nothing to tidy"),
    ]  # fmt: skip


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_rubric_is_marked_by_keyboard")
def test_given_and_free_tags_are_stored(place: Desks) -> None:
    place.office.open(RoundKind.TAGS)
    page = start(place.sit("ann"), RoundKind.TAGS)
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("3")
    page.get_by_label("A tag of your own").fill("Wrong  Year")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    handed_in(page)
    (evaluation,) = given(place)
    assert isinstance(evaluation.payload, Tags)
    assert sorted(evaluation.payload.tags) == ["incomplete", "wrong year"]


@pytest.mark.thorough(quick="app/test_evaluator_api.py::test_incomplete_answer_names_each_faulty_question")
def test_partly_shown_work_needs_an_answer(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    shows(page, "Alternative", "final/report.txt")
    front(page).locator("[data-tree=Alternative]").get_by_text("more.bin").click()
    expect(front(page).get_by_text("needed: a file could not be shown in full")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.type("more.bin is noise")
    page.keyboard.press("Control+Enter")
    expect(front(page).locator("[data-ask=inspected]").get_by_role("alert")).to_be_visible()
    assert given(place) == []
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    handed_in(page)
    assert given(place)[0].record["inspected"] is False


@pytest.mark.thorough(quick="app/web/test_work_page.py::test_holistic_item_is_done_by_keyboard")
def test_next_item_is_loaded_behind_the_open_one(place: Desks) -> None:
    place.office.open(RoundKind.HOLISTIC)
    page = start(place.sit("ann"))
    behind = page.locator(".bench[inert]")
    behind.locator('iframe[title^="Alternative: final/report.txt"]').wait_for(state="attached")
    rows = behind.frame_locator("iframe[data-pane=Alternative]").get_by_text("line 3:", exact=False)
    rows.first.wait_for(state="attached")
    seen = until(lambda: page.locator(".bench[inert] .seen").count() == 0)
    assert seen
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.type(WHY)
    # The same frames come to the front: nothing is loaded anew.
    behind.evaluate(
        "bench => [bench, bench.querySelector('iframe')].forEach((it) => it.setAttribute('data-loaded', 'behind'))"
    )
    page.keyboard.press("Control+Enter")
    handed_in(page)
    brought = page.locator(".bench[data-loaded=behind]:not([inert])")
    expect(brought.locator("iframe[data-loaded=behind]")).to_be_visible()
    expect(brought.locator(".seen").first).to_be_attached()
    page.goto("/queues")
    expect(page.get_by_text("1 open", exact=False)).to_be_visible()


@pytest.mark.thorough(quick="app/test_evaluator_api.py::test_quiz_shows_the_right_answer_afterwards")
def test_quiz_shows_the_right_answer_and_the_result(place: Desks) -> None:
    gold = tuple(Gold(f"s-maker-0.p{n}", {"score": 1}, f"reason {n}: the year is wrong") for n in range(2))
    quiz = place.office.open(RoundKind.CALIBRATION, gold=gold)
    place.office.open(RoundKind.HOLISTIC, quiz=quiz.id)
    page = place.sit("ann")
    expect(page.locator("[data-kind=holistic]").get_by_text("Pass the quiz first.")).to_be_visible()
    page.locator("[data-kind=holistic]").get_by_role("button", name="Take the quiz").click()
    for n, title in enumerate(("Right", "Right")):
        if n == 0:
            dialog(page, "Notes on this item").wait_for()
            page.keyboard.press("Escape")
        expect(front(page).locator("[data-ask=score] input:not(:checked)")).to_have_count(3)
        page.keyboard.press("1")
        page.keyboard.press("w")
        page.keyboard.type("the year is wrong")
        page.keyboard.press("Control+Enter")
        expect(dialog(page, title).get_by_text("the year is wrong", exact=False)).to_be_visible()
        passed = dialog(page, title).get_by_text("You passed the quiz.", exact=False)
        expect(passed).to_have_count(n)
        page.keyboard.press("Enter")
        dialog(page, title).wait_for(state="detached")
    page.goto("/queues")
    expect(page.locator("[data-kind=calibration]").get_by_text("passed", exact=True)).to_be_visible()
    expect(page.locator("[data-kind=holistic]").get_by_role("button", name="Start")).to_be_visible()


def test_adjudicator_sees_votes_after_deciding(place: Desks) -> None:
    office = place.office
    voters = [office.hire(name) for name in ("v1", "v2", "v3")]
    round = office.open(subjects=("s-maker-0.p0",))
    office.work_off(
        voters, lambda a, _: {"score": 2 if a is voters[0] else 1, "justification": f"{WHY}, I think"}, round.id
    )
    office.open(RoundKind.ADJUDICATION, over=round.id)
    page = start(place.sit("rita", "reviewer"), RoundKind.ADJUDICATION)
    assert "I think" not in page.content()
    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.type("the figures are made up")
    page.keyboard.press("Control+Enter")
    votes = dialog(page, "What others said before")
    expect(votes.get_by_role("heading", name="Vote 3", exact=False)).to_be_visible()
    expect(votes.get_by_text("I think", exact=False)).to_have_count(3)
    assert "v1" not in votes.inner_text()
    votes.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Nothing is left here for you.")).to_be_visible()


@pytest.mark.thorough(quick="app/test_evaluator_api.py::test_forged_or_lost_lease_gives_nothing")
def test_lost_lease_is_reported_and_the_draft_kept(place: Desks) -> None:
    place.office.open(subjects=("s-maker-0.p0",), overlap=1, rule=ResolutionRule.LATEST)
    page = start(place.sit("ann"))
    page.keyboard.press("1")
    saved(page)
    place.office.clock.pass_(20 * 60)
    bob = place.office.hire("bob")
    assert place.office.people.drafting.claim(bob) is not None
    place.watch.expected = ("409",)
    page.keyboard.press("w")
    page.keyboard.type("half a sentence")
    expect(page.get_by_text("This item is no longer yours", exact=False)).to_be_visible()
    expect(front(page).get_by_role("button", name="Hand in")).to_be_disabled()
    expect(front(page).get_by_label("Why? Name files", exact=False)).to_have_value("half a sentence")
    page.get_by_role("button", name="To the next item").click()
    expect(page.get_by_text("Nothing is left here for you.")).to_be_visible()
