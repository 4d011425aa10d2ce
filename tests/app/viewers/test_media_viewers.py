"""Sounds, films and MIDI play in the real viewer with the duration of their files."""

from __future__ import annotations

import pytest

from app.viewers.showing import Panes, Seen
from app.viewers.tools import press, second, wait

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]
SOUNDS = ("swell.mp3", "swell.wav", "swell.ogg", "swell.flac", "swell.m4a", "swell.wma")
FILMS = ("clip.mp4", "clip.webm", "clip.mkv", "clip.avi", "clip.mov")
TIME = "document.querySelector('audio, video').currentTime"


@pytest.mark.quick("swell.mp3")
@pytest.mark.parametrize("name", SOUNDS)
def test_sound_is_shown_with_its_waveform(seen: Panes, name: str) -> None:
    found = seen.show(f"media/{name}")
    assert (found.said["kind"], found.report["playable"]) == ("audio", True)
    assert found.report["seconds"] == pytest.approx(3, abs=0.15)
    assert found.report["peaks"] > 1_500
    column = [max(tall_at(found, x) for x in range(at, at + 3)) for at in (30, 450)]
    assert column[1] > 4 * column[0], column


def tall_at(found: Seen, x: int) -> int:
    """How many pixels of a column belong to the outline."""
    paper = found.picture.getpixel((450, 112))
    return sum(found.picture.getpixel((x, y)) != paper for y in range(115, 600))


@pytest.mark.quick("clip.mp4")
@pytest.mark.parametrize("name", FILMS)
def test_film_has_a_picture(seen: Panes, name: str) -> None:
    found = seen.show(f"media/{name}", rest=0.5)
    assert found.said["kind"] == "video"
    assert (found.report["videoWidth"], found.report["videoHeight"]) == (320, 180)
    assert found.report["seconds"] == pytest.approx(2, abs=0.15)
    assert found.report["peaks"] > 1_500
    assert found.colours > 100, "no frame is to be seen"


@pytest.mark.thorough(quick="app/viewers/test_media_viewers.py::test_film_has_a_picture[clip.mp4]")
def test_film_without_sound_says_so(seen: Panes) -> None:
    assert seen.show("media/silent.mp4").report["peaks"] == 0
    assert seen.frame.get_by_text("There is no sound").is_visible()


@pytest.mark.thorough(quick="app/viewers/test_media_viewers.py::test_sound_is_shown_with_its_waveform[swell.mp3]")
def test_film_without_decodable_picture_plays_its_sound(seen: Panes) -> None:
    """A browser that lacks a film's decoder plays the sound and calls that a success: as with this one."""
    sound = seen.folder.source("media/swell.m4a")
    films = "**/.worksample/original?path=media*clip.mp4"
    seen.page.route(films, lambda route: route.fulfill(body=sound, headers={"access-control-allow-origin": "*"}))
    try:
        found = seen.show("media/clip.mp4")
        assert found.report["videoWidth"] == 0
        assert seen.frame.get_by_role("alert").text_content().startswith("Only the sound plays")  # type: ignore[union-attr]
    finally:
        seen.page.unroute(films)


def test_damaged_sound_is_a_card(seen: Panes) -> None:
    found = seen.show("media/broken.mp3")
    assert found.said["kind"] == "card" and "damaged" in found.said["problem"]


def test_keys_and_clicks_seek(seen: Panes) -> None:
    seen.show("media/swell.mp3")
    frame = seen.frame
    box = frame.locator("canvas").bounding_box()
    assert box is not None
    seen.page.mouse.click(box["x"] + box["width"] * 2 / 3, box["y"] + 50)
    seen.page.wait_for_timeout(300)
    assert frame.evaluate(TIME) == pytest.approx(2, abs=0.05)
    press(seen, "canvas", "Shift+ArrowLeft")
    assert frame.evaluate(TIME) == pytest.approx(1, abs=0.05)
    press(seen, "canvas", "Home")
    assert frame.evaluate(TIME) == 0
    frame.get_by_label("Speed").select_option("2")
    press(seen, "canvas", " ", rest=1)
    moving = frame.evaluate("[document.querySelector('audio').paused, document.querySelector('audio').playbackRate]")
    assert moving == [False, 2]
    assert frame.evaluate(TIME) > 0.5
    press(seen, "canvas", " ")
    assert frame.evaluate("document.querySelector('audio').paused") is True


@pytest.mark.thorough(quick="app/viewers/test_media_viewers.py::test_keys_and_clicks_seek")
def test_film_steps_by_frames(seen: Panes) -> None:
    before = seen.show("media/clip.mp4", rest=0.5)
    wait(seen.frame, "document.querySelector('video').readyState >= 2")
    press(seen, ".picture", ".", ".", ".")
    assert seen.frame.evaluate(TIME) == pytest.approx(0.35, abs=0.01)
    assert Seen(before.said, seen.look("stepped")).unlike(before) > 0.2
    press(seen, ".picture", ",")
    assert seen.frame.evaluate(TIME) == pytest.approx(0.25, abs=0.01)


def test_captions_beside_a_film_are_shown_on_request(seen: Panes) -> None:
    before = seen.show("media/clip.mp4", rest=0.5)
    assert before.report["captions"] == 2
    seen.frame.get_by_role("button", name="Captions").click()
    seen.page.wait_for_timeout(700)
    assert seen.frame.evaluate("document.querySelector('video').textTracks[0].activeCues[0].text") == "Hello"
    assert Seen(before.said, seen.look("captions")).unlike(before) > 0.05


@pytest.mark.quick("media/swell.mp3-media/swell.wav")
@pytest.mark.parametrize(
    ("mine", "theirs"), [("media/clip.mp4", "media/clip.webm"), ("media/swell.mp3", "media/swell.wav")]
)
def test_two_panes_play_at_the_same_time(seen: Panes, mine: str, theirs: str) -> None:
    seen.show(mine)
    with second(seen) as other:
        other.show(theirs)
        press(seen, "body", "Shift+ArrowRight")
        place = seen.until("k => window.told.filter(m => m.type === k && m.state.time > 0).at(-1)", "state")["state"]
        assert place["time"] == pytest.approx(1, abs=0.05)
        other.tell(type="sync", state=place)
        wait(other.frame, f"{TIME} > 0")
        other.page.wait_for_timeout(250)
        assert other.frame.evaluate(TIME) == pytest.approx(1, abs=0.05)
        assert other.said("state") == [], "a pane that follows must not lead"


def test_midi_has_a_piano_roll(seen: Panes) -> None:
    before = seen.show("media/song.mid")
    assert (before.report["notes"], before.report["tracks"], before.report["sound"]) == (12, 2, True)
    assert before.report["seconds"] == pytest.approx(4, abs=3.5)
    frame = seen.frame
    names = frame.get_by_role("list", name="Tracks").get_by_role("listitem").all_text_contents()
    assert ["Melody" in names[0], "Bass" in names[1]] == [True, True]
    frame.get_by_label("Bass").uncheck()
    seen.page.wait_for_timeout(300)
    after = Seen(before.said, seen.look("song-muted"))
    orange = lambda found: sum(n for n, (r, g, b) in found.pane.getcolors(1 << 24) or () if r > 200 > 170 > g > b)  # noqa: E731
    assert orange(before) > 4 * orange(after)
    box = frame.locator(".roll canvas").bounding_box()
    assert box is not None
    seen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    seen.page.wait_for_timeout(300)
    assert frame.evaluate(TIME) > 1
