"""3D models in the real viewer: their sizes match the files, and nothing external is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app.viewers.showing import Panes, Seen
from app.viewers.tools import Beats, press, second

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.converters, pytest.mark.long]
BOX = {"triangles": 12, "meshes": 1}

EXPECTED: dict[str, dict[str, object]] = {
    "solid/box.glb": BOX | {"x": 2, "y": 3, "z": 4, "unit": "m", "animations": 1, "materials": 1},
    "solid/box.gltf": BOX | {"x": 2, "y": 3, "z": 4, "textures": 1, "missing": 0},
    "solid/draco.gltf": BOX | {"x": 1, "y": 1, "z": 1},
    "solid/meshopt.glb": BOX | {"x": 1, "y": 1, "z": 1},
    "solid/uastc.glb": BOX | {"textures": 1},
    "solid/etc1s.glb": BOX | {"textures": 1},
    "solid/box.obj": BOX | {"x": 2, "y": 3, "z": 4, "materials": 2, "textures": 1, "notes": ""},
    "solid/box.stl": BOX | {"x": 2, "y": 3, "z": 4, "unit": ""},
    "solid/text.stl": BOX | {"x": 2, "y": 3, "z": 4},
    "solid/box.ply": BOX | {"x": 2, "y": 3, "z": 4},
    "solid/cloud.ply": {"triangles": 0, "points": 8, "x": 2, "y": 3, "z": 4},
    "solid/box.fbx": BOX | {"x": 2, "y": 3, "z": 4, "unit": "cm", "textures": 1, "missing": 0},
    "solid/box.3ds": BOX | {"x": 2, "y": 3, "z": 4},
    # COLLADA's reader turns it upright and scales it to metres.
    "solid/box.dae": BOX | {"x": 0.02, "y": 0.04, "z": 0.03, "unit": "m"},
    "solid/box.3mf": BOX | {"x": 2, "y": 3, "z": 4, "unit": "in"},
    "solid/box.3dm": BOX | {"x": 2, "y": 3, "z": 4, "unit": "mm"},
    "solid/roof.skp": {"triangles": 2, "x": 25400, "z": 25400, "unit": "mm"},
    "cad/box.step": BOX | {"x": 2, "y": 3, "z": 4, "unit": "mm", "parts": 1},
    "cad/house.ifc": {"triangles": 48, "shapes": 4, "parts": 6, "x": 4, "y": 5.8, "z": 4.3, "unit": "m"},
}


@pytest.mark.quick("solid/box.glb", "cad/box.step", "cad/house.ifc")
@pytest.mark.parametrize("path", EXPECTED)
def test_model_is_shown(seen: Panes, path: str) -> None:
    found = seen.show(path)
    assert found.said["kind"] == ("ifc" if path.endswith("ifc") else "cad" if path.startswith("cad") else "model")
    facts = EXPECTED[path]
    assert {key: found.report.get(key) for key in facts} == facts, found.report
    # Eight dots are less than a box.
    assert inked(found) > (0.002 if "cloud" in path else 0.05), "the canvas is blank"


def inked(found: Seen) -> float:
    """The share of the canvas, without what lies beside and below it, that is not background or grid."""
    width, height = found.picture.size
    part = found.picture.crop((10, 120, int(width * 0.62), height - 80))
    counts = sorted((n for n, _ in part.getcolors(1 << 24) or ()), reverse=True)
    return 1 - (counts[0] / sum(counts)) if counts else 0.0


@pytest.mark.quick("solid/box.stl")
@pytest.mark.parametrize("path", ["solid/box.stl", "cad/box.step"])
def test_background_follows_the_theme(seen: Panes, path: str) -> None:
    first = sum(seen.show(path, theme="dark").picture.getpixel((20, 400)))  # type: ignore[arg-type]
    later = []
    for theme in ("light", "dark"):
        seen.tell(type="theme", theme=theme)
        seen.page.wait_for_timeout(500)
        later.append(sum(seen.look(f"again-{theme}").getpixel((20, 400))))  # type: ignore[arg-type]
    assert later[0] > 500 > 250 > max(first, later[1])


@pytest.mark.thorough(
    quick="app/viewers/test_model_viewers.py::test_missing_texture_is_named[solid/bare.gltf-gone.png]"
)
def test_obj_without_materials_says_so(seen: Panes) -> None:
    found = seen.show("solid/bare.obj")
    assert "gone.mtl" in found.report["notes"]
    assert found.report["triangles"] == 12
    assert seen.frame.get_by_text("Its materials are missing (gone.mtl)").is_visible()


@pytest.mark.quick("solid/bare.gltf-gone.png")
@pytest.mark.parametrize(("path", "name"), [("solid/bare.gltf", "gone.png"), ("solid/bare.3ds", "GONE.PNG")])
def test_missing_texture_is_named(seen: Panes, path: str, name: str) -> None:
    found = seen.show(path)
    assert (found.report["triangles"], found.report["missing"], found.report["textures"]) == (12, 1, 0)
    assert seen.frame.get_by_text(f"Missing textures: {name}").is_visible()


@pytest.fixture
def asked(seen: Panes) -> Iterator[list[str]]:
    """Every address that was asked for meanwhile."""
    addresses: list[str] = []

    def note(request: object) -> None:
        addresses.append(request.url)  # type: ignore[attr-defined]

    seen.page.on("request", note)
    yield addresses
    seen.page.remove_listener("request", note)


@pytest.mark.parametrize(
    ("path", "name"), [("solid/away.gltf", "elsewhere.example"), ("solid/above.gltf", "../../../etc/passwd")]
)
def test_external_data_is_not_loaded(seen: Panes, asked: list[str], path: str, name: str) -> None:
    found = seen.show(path)
    assert found.said["kind"] == "card" and found.said["inspectable"] is False
    assert name in found.said["problem"]
    assert not [a for a in asked if "elsewhere" in a or "passwd" in a]


def test_external_texture_is_left_out(seen: Panes, asked: list[str]) -> None:
    found = seen.show("solid/dressed.gltf")
    assert (found.report["refused"], found.report["textures"], found.report["triangles"]) == (1, 0, 12)
    assert seen.frame.get_by_text("Not loaded, because it lies outside the folder").is_visible()
    assert not [a for a in asked if "elsewhere" in a]


@pytest.mark.quick("solid/broken.ply")
@pytest.mark.parametrize("path", ["solid/broken.ply", "solid/empty.fbx", "cad/broken.step"])
def test_damaged_model_is_a_card(seen: Panes, path: str) -> None:
    found = seen.show(path)
    assert found.said["kind"] == "card"
    assert "damaged" in found.said["problem"]
    assert "undefined" not in found.said["problem"] or "(" in found.said["problem"]


def test_view_wireframe_and_keys_change_the_picture(seen: Panes) -> None:
    before = seen.show("solid/box.gltf")
    frame = seen.frame
    for name in ("Front", "Top", "Side", "Wireframe", "Grid", "Up: Y"):
        frame.get_by_role("button", name=name, exact=True).click()
        seen.page.wait_for_timeout(400)
        after = Seen(before.said, seen.look(f"tool-{name}"))
        assert after.unlike(before) > 0.3, name
        before = after
    press(seen, "canvas", "ArrowLeft", "ArrowLeft", "+")
    assert Seen(before.said, seen.look("keys")).unlike(before) > 0.3


def test_two_panes_look_from_the_same_side(seen: Panes) -> None:
    """A box of metres and one of millimetres: the place is measured by the model."""
    seen.show("solid/box.glb")
    with second(seen) as other:
        before = other.show("solid/box.stl")
        press(seen, "canvas", "ArrowRight", "ArrowRight", "ArrowUp", "-")
        place = seen.said("state")[-1]["state"]
        assert place["kind"] == "model" and len(place["camera"]) == 6
        other.tell(type="sync", state=place)
        other.page.wait_for_timeout(600)
        assert Seen(before.said, other.look("synced")).unlike(before) > 1
        assert other.said("state") == [], "a pane that follows must not lead"
        # Turned back by the same keys it stands where it stood.
        press(other, "canvas", "ArrowLeft")
        assert other.said("state")[-1]["state"]["camera"] != place["camera"]


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_view_wireframe_and_keys_change_the_picture")
def test_animation_plays(seen: Panes) -> None:
    before = seen.show("solid/box.glb")
    seen.frame.get_by_label("Time in the animation").fill("0.5")
    seen.page.wait_for_timeout(400)
    assert Seen(before.said, seen.look("moment")).unlike(before) > 1
    seen.frame.get_by_role("button", name="Play").click()
    seen.page.wait_for_timeout(700)
    assert seen.frame.get_by_label("Animation", exact=True).input_value() == "0"
    seen.frame.get_by_role("button", name="Stop").click()


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_view_wireframe_and_keys_change_the_picture")
def test_idle_model_is_not_redrawn(seen: Panes) -> None:
    seen.show("solid/box.glb", rest=1)
    seen.frame.evaluate("""() => {
      const real = WebGL2RenderingContext.prototype.drawElements;
      window.calls = 0;
      WebGL2RenderingContext.prototype.drawElements = function (...a) { window.calls++; return real.apply(this, a) };
    }""")
    seen.page.wait_for_timeout(1000)
    assert seen.frame.evaluate("window.calls") == 0
    press(seen, "canvas", "ArrowRight")
    assert seen.frame.evaluate("window.calls") > 0


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_model_is_shown[solid/box.glb]")
def test_lost_context_is_reported_and_redrawn(seen: Panes) -> None:
    seen.show("solid/box.stl")
    lose = "document.querySelector('canvas').getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
    seen.frame.evaluate(lose)
    seen.frame.get_by_text("gave the picture up").wait_for()
    seen.frame.get_by_role("button", name="Draw again").click()
    seen.frame.get_by_text("gave the picture up").wait_for(state="detached")
    seen.until("() => window.told.filter(m => m.type === 'shown').length === 2", seconds=30)
    assert seen.said("shown")[1]["report"]["triangles"] == 12


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_model_is_shown[solid/box.glb]")
def test_two_million_triangles_keep_the_page_responsive(seen: Panes) -> None:
    with Beats(seen) as beats:
        found = seen.show("solid/waves.glb", seconds=60)
        press(seen, "canvas", *["ArrowRight"] * 5)
    assert found.report["triangles"] == 2_000_000
    assert inked(found) > 0.02
    # Without a graphics card the processor draws, and shares itself with whatever else runs here.
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert beats.longest < 3 * crowd, (beats.longest, crowd)


@pytest.mark.thorough(quick="app/viewers/test_model_viewers.py::test_model_is_shown[cad/house.ifc]")
def test_storeys_can_be_hidden_and_elements_show_properties(seen: Panes) -> None:
    before = seen.show("cad/house.ifc")
    frame = seen.frame
    frame.get_by_label("Show Storey 1").uncheck()
    seen.page.wait_for_timeout(500)
    after = Seen(before.said, seen.look("hidden"))
    assert after.unlike(before) > 1
    frame.get_by_role("button", name="Wall 0").first.click()
    frame.get_by_text("FireRating").wait_for()
    assert frame.get_by_text("F90").is_visible() and frame.get_by_text("Pset_WallCommon").is_visible()
    frame.get_by_role("tab", name="Types").click()
    assert frame.get_by_role("treeitem").first.text_content() is not None
    assert frame.get_by_label("Show Wall", exact=True).is_visible()
    box = frame.locator("canvas").bounding_box()
    assert box is not None
    seen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.62)
    frame.get_by_text("Wall", exact=False).first.wait_for()
