"""Actions on a desktop reach programs as a person's would, and the screen is seen after each."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from inspect_ai.tool._tools._computer._computer import _COMPUTER_TOOL_PARAMETERS, Action, is_computer_tool_info
from PIL import Image

from sandboxes.desktop.stage import Lines, Stage, pixel, staged
from worksample.sandboxes.desktop import DisplayConfig, SessionConfig
from worksample.sandboxes.desktop.bridge_actions import BRIDGE
from worksample.sandboxes.desktop.computer_actions import CARRIED, COMPUTER

pytestmark = [pytest.mark.box, pytest.mark.desktop]


async def events(lines: Lines, count: int) -> list[str]:
    return [await lines.next() for _ in range(count)]


async def test_clicks_and_keys_reach_programs_and_change_the_screen() -> None:
    async with staged() as stage:
        lines = await stage.painter()
        before = await stage.do("computer", action="screenshot")
        seen = await stage.do("computer", action="left_click", coordinate=[200, 200])
        assert pixel(seen.picture, 210, 210) != pixel(before.picture, 210, 210)
        assert await events(lines, 2) == ["press 1 200 200 0", "release 1 200 200 0"]
        await stage.do("computer", action="double_click", coordinate=[201, 202])
        assert [line.split()[0] for line in await events(lines, 4)] == ["press", "release"] * 2
        await stage.do("computer", action="type", text="aB€")
        typed = [int((await _one_with(lines, "key")).split()[1]) for _ in range(4)]
        assert [one for one in typed if one not in (0xFFE1, 0xFFE5)] == [ord("a"), ord("B"), 0x010020AC], typed
        await stage.do("computer", action="key", text="ctrl+shift+s")
        assert await _one_with(lines, f"key {ord('S')} 5")
        await stage.do("computer", action="key", text="ctrl+s")
        assert await _one_with(lines, f"key {ord('s')} 4")
        await stage.do("computer", action="scroll", scroll_direction="down", scroll_amount=2)
        assert await _one_with(lines, "press 5")
        await stage.do("computer", action="left_click_drag", start_coordinate=[120, 150], coordinate=[300, 310])
        assert await _one_with(lines, "press 1 120 150") and await _one_with(lines, "release 1 300 310")
        assert (await stage.do("computer", action="cursor_position")).text == "X=300,Y=310"


async def _one_with(lines: Lines, beginning: str) -> str:
    for _ in range(60):
        if (line := await lines.next()).startswith(beginning):
            return line
    return ""


async def test_bridge_tools_take_coordinates_of_a_thousand() -> None:
    async with staged() as stage:
        lines = await stage.painter()
        await stage.do("click", coordinate=[500, 500], button="right")
        assert await events(lines, 2) == ["press 3 320 240 0", "release 3 320 240 0"]
        await stage.do("key_down", keys=["shift"])
        await stage.do("key", keys=["a"])
        assert await _one_with(lines, f"key {ord('A')} 1")
        await stage.do("key_up", keys=["shift"])
        await stage.do("drag", start_coordinate=[250, 400], coordinate=[600, 600])
        assert await _one_with(lines, "press 1 160 192")
        assert (await stage.do("cursor_position")).text == "X=600,Y=600"
        assert (await stage.do("screenshot", save_path="/task/output/shot.jpg")).text
        assert (await stage.box.read("/task/output/shot.jpg", 1 << 22)).startswith(b"\xff\xd8\xff")


IMPOSSIBLE: list[tuple[str, dict[str, Any], str]] = [
    ("computer", {"action": "left_click", "coordinate": [640, 10]}, "outside the screen"),
    ("computer", {"action": "left_click", "coordinate": [10, -1]}, "outside the screen"),
    ("computer", {"action": "left_click", "coordinate": [1, 2, 3]}, "two numbers"),
    ("computer", {"action": "key", "text": "ctrl+nonsense"}, "no key 'nonsense'"),
    ("computer", {"action": "key"}, "needs 'text'"),
    ("computer", {"action": "zoom", "region": [5, 5, 5, 9]}, "x0 below x1"),
    ("computer", {"action": "wait", "duration": 1000}, "between 0 and 60"),
    ("computer", {"action": "fly"}, "one of"),
    ("computer", {}, "either action or actions"),
    ("computer", {"actions": [{"action": "wait", "duration": 0}] * 51}, "1 to 50"),
    ("computer", {"action": "key", "text": "a", "repeat": 101}, "between 1 and 100"),
    ("click", {"coordinate": [1001, 0]}, "from 0 to 1000"),
    ("key", {"keys": ["hyperspace"]}, "no key"),
    ("drag", {}, "needs 'coordinate'"),
    ("open_the_door", {}, "no action"),
]  # fmt: skip


async def test_impossible_actions_are_refused_and_recorded(shared: Stage) -> None:
    for name, given, why in IMPOSSIBLE:
        seen = await shared.desktop.act(name, given)
        assert why in seen.error and not seen.picture
        assert why in shared.desktop.ledger.actions[-1]["error"]


async def test_equal_actions_without_effect_are_remarked(shared: Stage) -> None:
    await shared.do("computer", action="mouse_move", coordinate=[400, 20])
    said = [(await shared.do("computer", action="right_click", coordinate=[400, 20])).text for _ in range(6)]
    assert "same action" in said[-1] and not said[0]


async def test_zoom_shows_a_region_enlarged(shared: Stage) -> None:
    seen = await shared.do("computer", action="zoom", region=[0, 0, 160, 120])
    assert Image.open(io.BytesIO(seen.picture)).size == (640, 480)


async def test_two_actions_at_once_run_one_after_another(shared: Stage) -> None:
    first = len(shared.desktop.ledger.actions)
    await asyncio.gather(*(shared.do("computer", action="mouse_move", coordinate=[n, n]) for n in (10, 20, 30)))
    rows = shared.desktop.ledger.actions[first:]
    assert [row["with"]["coordinate"] for row in rows] == [row["pointer"] for row in rows]


async def test_large_screens_are_scaled_and_coordinates_mapped_back() -> None:
    async with staged(DisplayConfig(2560, 1440)) as stage:
        lines = await stage.painter()
        seen = await stage.do("computer", action="screenshot")
        width, height = Image.open(io.BytesIO(seen.picture)).size
        assert width * height <= 1_150_000 and abs(width / height - 16 / 9) < 0.01
        await stage.do("computer", action="mouse_move", coordinate=[5, 5])
        at = [round(300 * width / 2560), round(200 * height / 1440)]
        await stage.do("computer", action="left_click", coordinate=at)
        _, _, x, y, _ = (await lines.next()).split()
        assert abs(int(x) - 300) <= 2 and abs(int(y) - 200) <= 2


def test_computer_has_the_vocabulary_of_inspects_tool() -> None:
    from typing import get_args

    from inspect_ai.tool import ToolInfo, ToolParams

    assert set(CARRIED) >= set(get_args(Action))
    assert set(COMPUTER.parameters) == _COMPUTER_TOOL_PARAMETERS
    shape = ToolParams.model_validate(COMPUTER.schema())
    assert is_computer_tool_info(ToolInfo(name="computer", description="", parameters=shape))
    assert len(BRIDGE) == 14


async def test_clipboard_and_programs_begin_with_the_desktop() -> None:
    session = SessionConfig(programs=("echo started > /task/output/note",), clipboard="für später ✓")
    async with staged(session=session) as stage:
        code = "import tkinter as t; r = t.Tk(); r.withdraw(); print(ascii(r.clipboard_get()), flush=True)"
        said = await stage.box.run(["python3", "-c", code], timeout=60)
        if b"tkinter" not in said.stderr:
            assert said.stdout.decode().strip() == ascii("für später ✓"), said.stderr
        for _ in range(100):
            if (await stage.box.run(["cat", "/task/output/note"])).stdout == b"started\n":
                break
        else:
            pytest.fail("the program was not started")
