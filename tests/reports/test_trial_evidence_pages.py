"""Evidence on a trial's page: browser screenshots and colleagues' messages, within limits."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from reports.test_leaderboard_and_site import HOSTILE, deliver
from store import worlds
from worksample.records import Submission
from worksample.reports import write_report
from worksample.reports.static_site.screenshots import LARGEST, MOST, jpeg_size, screens_of
from worksample.store import Store

EVIL = HOSTILE.decode()


def jpeg(colour: str = "red", size: tuple[int, int] = (64, 36)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "JPEG")
    return out.getvalue()


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def act(number: int, screen: str = "", **more: Any) -> dict[str, Any]:
    row = {"n": number, "at": "2026-03-01T10:00:00+00:00", "action": "click", "with": {"bid": "7"}, **more}
    return {**row, "screen": screen} if screen else row


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return worlds.planted(Store.open(tmp_path / "store", create=True), worlds.World())


def kept(store: Store, browser: dict[str, bytes], colleagues: bytes = b"", slot: int = 0) -> Submission:
    """A trial with these records."""
    world = worlds.World()
    trial = world.trial(slot, f"t{slot}", ended=1)
    parts = {"browser": deliver(store, browser), "colleagues": deliver(store, {"colleagues.jsonl": colleagues})}
    submission = world.submission(trial).replaced(parts=parts)
    store.commit(trial, submission)
    return submission


def test_page_shows_actions_beside_screenshots(store: Store, tmp_path: Path) -> None:
    rows = (
        {"browser": "Chromium 1"},
        act(1, "screens/00001.jpg", element="button 'Save'", url="http://a/", title=EVIL),
        act(2, "screens/00002.jpg", action="noop", **{"with": {"wait_ms": 5}}),
        act(3, "screens/00003.jpg", error=EVIL, remarks=[EVIL]),
        act(4, action="send_msg", **{"with": {"text": EVIL}}),
    )
    same = jpeg()
    browser = {"actions.jsonl": lines(*rows), "screens/00001.jpg": same, "screens/00002.jpg": same}
    browser["screens/00003.jpg"] = jpeg("blue")
    talk = lines(
        {
            "colleague": "rosa",
            "by": "jules",
            "room": "",
            "heard": EVIL,
            "said": EVIL,
            "answered": "2026-03-16T10:00:00",
        },
        {
            "colleague": "ines",
            "to": "",
            "room": "general",
            "said": "Hello.",
            "person": True,
            "clock": "2026-03-16T11:00",
        },
    )
    kept(store, browser, talk)
    write_report(store, (), tmp_path / "report")
    [path] = (tmp_path / "report/trials").rglob("*.html")
    text = path.read_text()
    assert "<script>alert" not in text and "onerror=alert(2)>" not in text and "&lt;script&gt;" in text
    assert text.count('loading="lazy"') == 2, "what looks the same is shown once"
    assert "button &#39;Save&#39;" in text and "1 click" in text and "2 noop" in text
    assert "not done: &lt;script" in text and "played by a person" in text and "No picture." in text
    pictures = sorted((tmp_path / "report/files").glob("*.jpg"))
    assert len(pictures) == 2 and {Image.open(one).size for one in pictures} == {(64, 36)}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xd8\xff", b"<svg onload=alert(1)>", jpeg()[:20], b"\xff\xd8\xff\xe0\x00\x00" + bytes(40),
        b"\xff\xd8\xff\xe0\x00\x01" + bytes(40), b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100,
        b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 65000, 65000) + bytes(20), jpeg() + bytes(LARGEST),
    ],
)  # fmt: skip
def test_invalid_pictures_are_left_out(store: Store, tmp_path: Path, data: bytes) -> None:
    browser = {"actions.jsonl": lines(act(1, "screens/00001.jpg")), "screens/00001.jpg": data}
    found = screens_of(store, kept(store, browser), tmp_path / "site", "../")
    assert [one.image for one in found.screens] == [""] and not (tmp_path / "site").exists()


def test_damaged_records_show_their_beginning(store: Store, tmp_path: Path) -> None:
    rows = lines(act(1)) + b"[" * 100_000 + b"\n" + lines(act(2))
    talk = (
        lines({"colleague": 5, "by": {}, "did": [], "heard": None, "said": ["x"]}, ["no row"], {"colleague": "b"})
        + b"{"
    )
    found = screens_of(store, kept(store, {"actions.jsonl": rows}, talk), tmp_path, "../")
    assert [deed.number for one in found.screens for deed in one.deeds] == [1]
    assert [(one.colleague, one.said) for one in found.said] == [("5", '["x"]'), ("b", "")]
    odd = act(1, **{"with": [1], "remarks": 5, "title": {}, "n": "x", "screen": {}, "element": []})
    other = kept(store, {"actions.jsonl": lines(odd)}, slot=1)
    assert screens_of(store, other, tmp_path, "../").screens[0].deeds[0].number == 0
    assert screens_of(store, None, tmp_path, "../").screens == ()


def test_first_entries_of_many_are_shown(store: Store, tmp_path: Path) -> None:
    pictures = {f"screens/{n}.jpg": jpeg(size=(n % 90 + 8, n // 90 + 8)) for n in range(MOST + 30)}
    rows = [act(n, f"screens/{n}.jpg") for n in range(MOST + 30)]
    found = screens_of(store, kept(store, {"actions.jsonl": lines(*rows), **pictures}), tmp_path, "../")
    assert (len(found.screens), found.left_out) == (MOST, 30)


def test_picture_size_is_read_from_its_header() -> None:
    assert jpeg_size(jpeg(size=(321, 123))) == (321, 123)
    out = io.BytesIO()
    Image.new("RGB", (40, 50)).save(out, "JPEG", progressive=True, exif=b"Exif\0\0" + bytes(200))
    assert jpeg_size(out.getvalue()) == (40, 50)
