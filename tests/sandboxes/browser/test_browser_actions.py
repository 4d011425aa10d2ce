"""Actions in the agent's browser, their observations and their record."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from PIL import Image

from sandboxes.browser.site import AT, Stage, staged
from worksample.files import HashSink
from worksample.kit.browser_record import Browsed
from worksample.sandboxes.browser import ACTIONS, OBSERVATIONS, BrowserConfig

pytestmark = [pytest.mark.box, pytest.mark.browser]
ALL = BrowserConfig(observe=OBSERVATIONS)


async def _form(stage: Stage) -> None:
    seen = await stage.on("link 'To the form'", "click")
    assert "Form - " in seen.text and "Far below" in seen.text
    await stage.on("textbox 'Name'", "fill", value="Ada")
    seen = await stage.on("combobox 'Size'", "select_option", options=["large"])
    assert "combobox 'Size', value='large'" in seen.text
    seen = await stage.on("checkbox 'Agreed'", "click")
    assert "checkbox 'Agreed', focused, checked" in seen.text
    assert "button 'Pressed'" in (await stage.on("button 'Inner'", "click")).text
    assert "Shadow - " in (await stage.on("button 'In shadow'", "click")).text
    seen = await stage.on("textbox 'Name'", "press", keys="Enter")
    assert "Sent - " in seen.text and "n=Ada&s=2&c=on" in seen.text


async def test_form_is_filled_in_and_actions_are_recorded(tmp_path: Path) -> None:
    async with staged() as stage:
        assert "heading 'Start'" in (await stage.do("goto", url=AT)).text
        await _form(stage)
        assert f"{AT}/form" in (await stage.do("go_back")).text  # as it was left: its title is the one it was given
        assert "no element '4711'" in (await stage.do("click", bid="4711")).error
        seen = await stage.do("goto", url="http://elsewhere.example.com/")
        assert "net::ERR_" in seen.error
        seen = await stage.do("goto", url=f"{AT}/no-such-page")
        assert not seen.error
        await stage.do("send_msg", text="done")
        ledger = stage.browser.ledger
    kept = _laid_out(ledger, tmp_path)
    assert [act.action for act in kept.acts][:2] == ["goto", "noop"] and len(kept.acts) == len(ledger.actions)
    assert kept.acts[0].title == "Start" and kept.messages == ["done"]
    assert next(iter(kept.visited(f"{AT}/form"))).status == 200
    assert kept.visited("*sent?n=Ada*") and not kept.visited("*no-such-page")
    assert [visit.status for visit in kept.visits if visit.url.endswith("no-such-page")] == [404]
    pictures = [Image.open(tmp_path / act.screen).size for act in kept.acts if act.screen]
    assert set(pictures) == {(1280, 720)} and len(pictures) > 10


async def test_browser_is_signed_in_before_the_first_action(tmp_path: Path) -> None:
    accounts = tuple((AT + page, "ann", "s3cret") for page in ("/basic", "/member"))
    async with staged(BrowserConfig(accounts=(*accounts, (AT + "/form", "ann", "s3cret")))) as stage:
        seen = await stage.do("noop", wait_ms=0)
        assert f"could not sign in at {AT}/form" in seen.text and f"{AT}/member" not in seen.text
        assert "Hello ann" in (await stage.do("goto", url=f"{AT}/inside")).text
        assert "Hello ann" in (await stage.do("goto", url=f"{AT}/basic")).text
        ledger = stage.browser.ledger
    kept = _laid_out(ledger, tmp_path)
    assert [visit.url for visit in kept.visits] == [f"{AT}/inside", f"{AT}/basic"]


def _laid_out(ledger: object, folder: Path) -> Browsed:
    class Files(HashSink):
        def put(self, data: bytes) -> str:
            digest = super().put(data)
            (folder / digest).write_bytes(data)
            return digest

    from worksample.files import read_manifest

    part = ledger.part(Files())  # type: ignore[attr-defined]
    for entry in read_manifest((folder / part.manifest).read_bytes()).entries:
        (folder / entry.path).parent.mkdir(exist_ok=True)
        (folder / entry.path).write_bytes((folder / str(entry.blob)).read_bytes())
    return Browsed(folder)


@pytest.mark.thorough(
    quick="sandboxes/browser/test_browser_actions.py::test_form_is_filled_in_and_actions_are_recorded"
)
async def test_files_tabs_dialogs_and_pictures_work() -> None:
    async with staged(ALL) as stage:
        seen = await stage.do("goto", url=AT)
        assert Image.open(io.BytesIO(seen.picture)).format == "JPEG"
        assert "viewport 1280x720" in seen.text and "<h1 bid=" in seen.text and "] a 'To the form' at " in seen.text
        seen = await stage.on("link 'A file'", "click")
        seen = seen if "downloaded" in seen.text else await stage.do("noop")
        assert "downloaded to /task/scratch/downloads/report.bin" in seen.text
        assert await stage.box.read("/task/scratch/downloads/report.bin", 100) == b"some content"
        seen = await stage.on("link 'Another tab'", "click")
        seen = seen if "a new tab" in seen.text else await stage.do("noop")
        assert "a new tab was opened" in seen.text and "tab 1 (active)" in seen.text
        assert "Far below" not in seen.text  # `visible`
        assert "Far below" in (await stage.do("scroll", y=5000)).text
        assert "Start - " in (await stage.do("tab_close")).text
        await stage.do("tab_new")
        assert "tab 0 (active)" in (await stage.do("tab_focus", tab=0)).text
        assert "there is no tab 7" in (await stage.do("tab_focus", tab=7)).error
        await stage.do("goto", url=f"{AT}/upload")
        await stage.box.write("/task/scratch/x.txt", b"from a file")
        seen = await stage.on("button 'File", "upload_file", path="/task/scratch/x.txt")
        assert "from a file - " in (await stage.do("noop", wait_ms=300)).text
        assert "cannot be read" in (await stage.do("upload_file", bid="1", path="/task/scratch/none")).error
        await stage.do("goto", url=f"{AT}/confirm")
        seen = await stage.on("button 'Delete'", "click")
        assert "confirm 'Sure?' was accepted" in seen.text and "true - " in seen.text


@pytest.mark.thorough(
    quick="sandboxes/browser/test_browser_actions.py::test_form_is_filled_in_and_actions_are_recorded"
)
async def test_mouse_keys_boxes_dialogs_and_several_files_work() -> None:
    async with staged() as stage:
        await stage.do("goto", url=f"{AT}/fields")
        assert re.search("checkbox 'Agreed'.*, checked", (await stage.on("checkbox 'Agreed'", "check")).text)
        assert ", checked" not in (await stage.on("checkbox 'Agreed'", "uncheck")).text
        assert "before" not in (await stage.on("textbox 'Text'", "clear")).text
        await stage.on("textbox 'Text'", "focus")
        assert "pasted" in (await stage.do("keyboard_insert_text", text="pasted")).text
        await stage.do("keyboard_down", key="Shift")
        seen = await stage.do("keyboard_up", key="Shift")
        assert "downShift upShift" in seen.text
        assert "downF9 upF9" in (await stage.do("keyboard_press", key="F9")).text
        await stage.do("mouse_move", x=10, y=310)
        await stage.do("mouse_down", x=20, y=320)
        assert "mousedown20 mouseup30" in (await stage.do("mouse_up", x=30, y=330)).text
        assert (
            "mousedown40 mouseup60"
            in (await stage.do("mouse_drag_and_drop", from_x=40, from_y=340, to_x=60, to_y=350)).text
        )
        assert "dblclick70" in (await stage.do("mouse_dblclick", x=70, y=340)).text
        assert "usual/true - " in (await stage.on("button 'Ask'", "click")).text
        await stage.do("answer_dialog", accept=True, text="Ann")
        seen = await stage.on("button 'Ask'", "click")
        assert "prompt 'Name?' was answered with 'Ann'" in seen.text and "Ann/true - " in seen.text
        await stage.do("answer_dialog", accept=False)
        assert "null/true - " in (await stage.on("button 'Ask'", "click")).text
        await stage.do("goto", url=f"{AT}/two")
        paths = [f"/task/scratch/{name}" for name in ("a.txt", "b.txt")]
        for path in paths:
            await stage.box.write(path, b"x")
        assert "a.txt+b.txt - " in (await stage.on("button 'Files", "upload_file", paths=paths)).text
        assert "a.txt - " in (await stage.do("mouse_upload_file", x=60, y=20, path=paths[0])).text
        assert "name a file" in (await stage.do("upload_file", bid="1")).error
        assert "the reason was recorded" in (await stage.do("report_infeasible", reason="The form is gone")).text
        assert stage.browser.ledger.actions[-1]["with"] == {"reason": "The form is gone"}


def test_arguments_are_checked_before_any_action() -> None:
    click, scroll = ACTIONS["click"], ACTIONS["scroll"]
    assert click.wrong({"bid": "1"}) == "" and "needs 'bid'" in click.wrong({})
    assert "takes no 'x'" in click.wrong({"bid": "1", "x": 1})
    for bad in (1, None, "\ud800", "a" * 1_000_000, ["1"]):
        assert click.wrong({"bid": bad})
    for bad in ("1", float("nan"), 1e9, True):
        assert scroll.wrong({"y": bad})
    assert click.wrong({"bid": "1", "button": "fourth"}) and click.wrong({"bid": "1", "modifiers": "Alt"})
