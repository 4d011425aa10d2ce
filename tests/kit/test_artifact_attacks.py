"""Hostile artifacts: bombs, lies in headers, wrong byte order, and files that point to the reference, score 0."""

from __future__ import annotations

import ctypes
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.viewers.cadfiles import step
from kit.artifact_files import MODES, STAR, scan
from worksample.errors import Cause, DeliverableError, GraderError
from worksample.kit import Check, ForbiddenAction, MachineRules, TextProbe, probe_text, replayed, toolpath, values
from worksample.kit.comparisons.solids import read_solid
from worksample.kit.reader_process import ReaderLimits, read_apart
from worksample.kit.source import UnreadableSource

BY_NAME = {mode.name: mode for mode in MODES}
Attack = Callable[[Path, Path], None]


def array_bytes(array: np.ndarray, *, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def npz_of(**members: bytes) -> Attack:
    def make(path: Path, _: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for name, data in members.items():
                out.writestr(f"{name}.npy", data)

    return make


def raw(data: bytes) -> Attack:
    return lambda path, _: path.write_bytes(data) and None


def told(content: str) -> Attack:
    return lambda path, want: path.write_text(content.replace("REFERENCE", str(want))) and None


def swapped(path: Path, want: Path) -> None:
    with np.load(want) as held:
        field = held["field"].byteswap()  # the bytes of the other order, under a header that says this one
    with path.open("wb") as out:
        np.savez(out, field=field)


def wide_raster(path: Path, _: Path) -> None:
    from rasterio import Affine
    from rasterio import open as create

    sparse = {"width": 90_000, "height": 90_000, "count": 1, "dtype": "uint8", "SPARSE_OK": True}
    with create(path, "w", driver="GTiff", transform=Affine(10, 0, 0, 0, -10, 0), **sparse):
        pass


def cut(path: Path, want: Path) -> None:
    path.write_bytes(want.read_bytes()[: want.stat().st_size // 2])


def deflated_scan(path: Path, _: Path) -> None:
    scan(0)(path)
    data = path.read_bytes()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(bytes(400 << 20)) + packer.flush()
    syntax = b"1.2.840.10008.1.2.1\0"
    deflated = b"1.2.840.10008.1.2.1.99"
    head = data[: data.index(syntax)]
    length = struct.unpack_from("<I", data, 140)[0]
    head = head[:140] + struct.pack("<I", length + 2) + head[144:-2] + struct.pack("<H", len(deflated))
    path.write_bytes(head + deflated + bomb)


def nested_blocks(path: Path, _: Path) -> None:
    import ezdxf.filemanagement

    drawing = ezdxf.filemanagement.new()
    for depth in range(12):
        block = drawing.blocks.new(f"B{depth}")
        for i in range(12):
            if depth:
                block.add_blockref(f"B{depth - 1}", (i, 0))
            else:
                block.add_line((i, 0), (i, 1))
    drawing.modelspace().add_blockref("B11", (0, 0))
    drawing.saveas(path)


def glb_to_reference(path: Path, want: Path) -> None:
    data = json.dumps({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}], "scene": 0,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 9, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 108}], "buffers": [{"byteLength": 108, "uri": str(want)}],
    }).encode()  # fmt: skip
    data += b" " * (-len(data) % 4)
    path.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(data), len(data), 0x4E4F534A) + data)


def wav_head(path: Path, want: Path) -> None:
    path.write_bytes(want.read_bytes()[:24] + b"\xff\xff\xff\xff" * 20)


ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "&{a};&{a};&{a};&{a};&{a};&{a};&{a};&{a};">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
) + "]><order>&i;</order>"  # fmt: skip
OUTSIDE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file://REFERENCE">]><order>&x;</order>'
VRT = ('<VRTDataset rasterXSize="50" rasterYSize="40"><VRTRasterBand dataType="Float32" band="1"><SimpleSource>'
       "<SourceFilename>REFERENCE</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>")  # fmt: skip
PLAYLIST = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nREFERENCE\n#EXT-X-ENDLIST\n"
BOW_TIE = [[0, 0], [9, 9], [9, 0], [0, 9], [0, 0]]
DEEP = "<a>" * 100_000 + "</a>" * 100_000
ATTACKS: dict[str, tuple[str, Attack]] = {
    "array-zip-bomb": ("arrays", npz_of(field=array_bytes(np.zeros(40_000_000)))),
    "array-pickle": ("arrays", npz_of(field=array_bytes(np.array([{}, print], dtype=object), pickled=True))),
    "array-giant-header": (
        "arrays", raw(b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31) + b"{'descr': '<f8'}" + bytes(64)),
    ),
    "array-lying-shape": (
        "arrays", npz_of(field=array_bytes(np.zeros(4)).replace(b"(4,), }", b"(999999999999,), }")),
    ),
    "array-nan": ("arrays", npz_of(field=array_bytes(np.full((20, 20), np.nan)))),
    "array-inf": ("arrays", npz_of(field=array_bytes(np.full((20, 20), np.inf)))),
    "array-byte-order": ("arrays", swapped),
    "array-cut": ("arrays", cut),
    "json-nan": ("values", told('{"site": NaN, "rows": [], "total": Infinity}')),
    "json-deep": ("values", told("[" * 100_000)),
    "xml-entities": ("document", told(ENTITIES)),
    "xml-outside": ("document", told(OUTSIDE)),
    "xml-deep": ("document", told(DEEP)),
    "bpmn-dangling": ("bpmn", told('<definitions><process><task id="a"/><sequenceFlow sourceRef="a" targetRef="z"/>'
                                   "</process></definitions>")),
    "urdf-circle": ("urdf", told('<robot><link name="a"/><link name="b"/>'
                                 '<joint name="1"><parent link="a"/><child link="b"/></joint>'
                                 '<joint name="2"><parent link="b"/><child link="a"/></joint></robot>')),
    "score-nan": ("score", told("<score-partwise><part><measure><note><duration>nan?</duration></note></measure>"
                                "</part></score-partwise>")),
    "raster-virtual": ("raster", told(VRT)),
    "raster-wide": ("raster", wide_raster),
    "raster-cut": ("raster", cut),
    "dicom-deflate-bomb": ("dicom", deflated_scan),
    "plan-blocks": ("plan", nested_blocks),
    "solid-lying-ply": ("solid-ply", told("ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\n"
                                          "property float y\nproperty float z\nend_header\n0 0 0\n")),
    "solid-nan": ("solid", told("v nan nan nan\nv 1e999 0 0\nv 0 1 0\nf 1 2 3\n")),
    "solid-points-to-reference": ("solid-glb", glb_to_reference),
    "film-playlist": ("film", told(PLAYLIST)),
    "film-cut": ("film", cut),
    "wav-head": ("recording", wav_head),
    "midi-lying-track": ("midi", raw(b"MThd\0\0\0\x06\0\0\0\x01\1\xe0MTrk\xff\xff\xff\xff\x00\x90")),
    "gcode-subprogram": ("toolpath", told("G21 G90\nM98 P100 L99999\nM30\n")),
    "svg-entities": ("plan-svg", told(ENTITIES.replace("order", "svg"))),
    "shapes-bow-tie": ("shapes", told(json.dumps({"features": [
        {"properties": {"id": 0}, "geometry": {"type": "Polygon", "coordinates": [BOW_TIE]}}]}))),
    "shapes-lying": ("shapes", told('{"features": [{"properties": {"id": 0}, "geometry": {"type": "Polygon", '
                                    '"coordinates": "x"}}]}')),
    "captions-backwards": ("transcript", told("1\n00:00:09,000 --> 00:00:01,000\nla\n")),
}  # fmt: skip


@pytest.mark.quick("array-zip-bomb", "array-pickle", "array-giant-header", "array-byte-order", "xml-entities",
                   "json-nan", "raster-virtual", "solid-points-to-reference", "film-playlist",
                   "gcode-subprogram")  # fmt: skip
@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_artifact_scores_0_with_a_reason(name: str, tmp_path: Path) -> None:
    mode, attack = BY_NAME[ATTACKS[name][0]], ATTACKS[name][1]
    (tmp_path / "reference").mkdir()
    got, want = tmp_path / f"file{mode.ending}", tmp_path / "reference" / f"file{mode.ending}"
    mode.right(want)
    attack(got, want)
    try:
        check = mode.compare(got, want)
    except DeliverableError as error:
        check = Check(0.0, str(error))
    assert check.fraction == 0
    assert check.reason


def test_reader_process_ends_at_its_processor_time(tmp_path: Path) -> None:
    nested_blocks(tmp_path / "plan.dxf", tmp_path)
    with pytest.raises(UnreadableSource, match=r"1 seconds of processor time|entities"):
        read_apart(
            "worksample.kit.comparisons.plans:dxf_segments", tmp_path / "plan.dxf", extra="graders-drawing",
            limits=ReaderLimits(seconds=1),
        )  # fmt: skip


def has_landlock() -> bool:
    return bool(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 1)


def test_reader_process_opens_no_other_file(tmp_path: Path) -> None:
    for name in ("mine", "reference"):
        (tmp_path / name).write_text("the answer")
    options = {"f2": str(tmp_path / "reference"), "shallow": False}
    with pytest.raises(UnreadableSource, match="PermissionError" if has_landlock() else "AttributeError"):
        read_apart("filecmp:cmp", tmp_path / "mine", extra="graders", options=options)


def test_reader_process_writes_no_file(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("the answer")
    with pytest.raises(UnreadableSource):
        read_apart(
            "shutil:copyfile", tmp_path / "mine", extra="graders", options={"dst": str(tmp_path / "result.json")}
        )
    assert not (tmp_path / "result.json").is_file() or not (tmp_path / "result.json").read_text()


def test_step_is_read_in_millimetres(tmp_path: Path) -> None:
    (tmp_path / "box.step").write_text(step())
    box = read_solid(tmp_path / "box.step")
    assert box.watertight
    assert box.size.tolist() == pytest.approx([2, 3, 4])
    assert box.volume == pytest.approx(24)


def test_missing_library_leaves_work_ungraded(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(GraderError) as told:
        read_apart("no_such_library:read", tmp_path / "mine", extra="graders-geo")
    assert told.value.cause == Cause.GRADER_LACKS
    assert "graders-geo" in told.value.next


def test_required_places_are_a_gate(tmp_path: Path) -> None:
    want, got = tmp_path / "want.json", tmp_path / "got.json"
    want.write_text('{"units": "kPa", "loads": {"a": 1.0, "b": 2.0}}')
    got.write_text('{"loads": {"a": 1.0, "b": 2.0}}')
    assert values(got, want).fraction == pytest.approx(2 / 3)
    with pytest.raises(DeliverableError, match="units"):
        values(got, want, required=["units"])
    got.write_text('{"units": "KPA ", "loads": {"a": 1.04, "b": "2.0"}}')
    assert values(got, want, tolerance={"loads.*": 0.05}).fraction == pytest.approx(2 / 3)
    got.write_text('{"units": "kPa", "loads": {"a": 1.0, "b": 2.0, "c": 3}}')
    assert values(got, want).fraction == pytest.approx(3 / 4)
    assert values(got, want, extra=False).fraction == 1


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (("G0 Z30", "G0 Z2"), "sideways"),
        (("F400", "F900"), "feeds at"),
        (("X50 Y50", "X-5 Y50"), "working space"),
        (("M3", "M5"), "spindle"),
        (("G0 Z30", "G0 Z30"), ""),
    ],
)
def test_toolpath_that_breaks_the_machine_scores_0(change: tuple[str, str], broken: str, tmp_path: Path) -> None:
    got, want = tmp_path / "got.nc", tmp_path / "want.nc"
    cuts = [f"G1 X{x} Y{y} F400" for x, y in STAR]
    want.write_text("\n".join(["M3", "G0 Z30", "G0 X50 Y50", *cuts, "G0 Z30"]))
    got.write_text(want.read_text().replace(*change))
    rules = MachineRules(safe_z=8, low=(0, 0, -1), high=(100, 100, 40), feed=500)
    check = toolpath(got, want, {0.5: 1}, rules=rules)
    assert broken in check.reason
    assert check.fraction == (0 if broken else 1)


def test_arc_goes_the_way_of_its_centre(tmp_path: Path) -> None:
    want, got = tmp_path / "want.nc", tmp_path / "got.nc"
    want.write_text("M3 F100\nG0 X10 Y0\nG3 X0 Y10 I-10 J0\n")
    got.write_text("M3 F100\nG0 X10 Y0\nG3 X0 Y10 R10\n")
    assert toolpath(got, want, {0.05: 1}).fraction == 1
    got.write_text("M3 F100\nG20 F4\nG0 X0.393701 Y0\nG91 G3 X-0.393701 Y0.393701 I-0.393701 J0\n")
    assert toolpath(got, want, {0.05: 1}).fraction == 1
    got.write_text("M3 F100\nG0 X10 Y0\nG2 X0 Y10 R-10\n")
    assert toolpath(got, want, {0.05: 1}).fraction < 0.2


def test_replay_refuses_a_forbidden_action() -> None:
    def move(at: dict[str, int], step: str) -> dict[str, int]:
        if step == "jump":
            raise ForbiddenAction("no jumps")
        return {"x": at["x"] + {"left": -1, "right": 1}[step]}

    course = [{"x": 1}, {"x": 3}]
    assert replayed(["right"] * 3, course, {"x": 0}, move).fraction == 1
    assert replayed(["right"], course, {"x": 0}, move).fraction == 0.5
    assert replayed([], course, {"x": 0}, move).fraction == 0
    for bad in (["right", "jump"], ["fly"], "right", [3]):
        with pytest.raises(DeliverableError):
            replayed(bad, course, {"x": 0}, move)
    with pytest.raises(GraderError, match="already"):
        replayed([], [{"x": 0}], {"x": 0}, move)


SOURCE = (
    "The pump P-101 ran dry on 4 May and was replaced. Pressure at the outlet rose to 6.2 bar after the repair work."
)
PROBES = [
    TextProbe(["outlet pressure"], 6.2, 0.05),
    TextProbe(["cause", "reason"], says=["ran dry"], denies=["not run dry"]),
]


@pytest.mark.parametrize(
    ("content", "share"),
    [
        ("Outlet pressure is now 6.2 bar. The cause was that the pump ran dry.", 1.0),
        ("Outlet pressure is 5 bar, 6 bar, 6.2 bar or 7 bar. The cause: it ran dry.", 0.5),
        ("Outlet pressure is 6.2 bar. The cause is unknown to us at the moment.", 0.5),
        ("The cause was that it did not run dry, it ran dry. Outlet pressure 6.2 bar.", 0.5),
        (SOURCE, 0.0),
        ("TODO", 0.0),
        ("outlet pressure 6.2 cause ran dry " * 40, 0.0),
    ],
)
def test_probes_are_not_fooled_by_lists_of_answers(content: str, share: float) -> None:
    assert probe_text(content, PROBES, length=(8, 60), sources=[SOURCE]).fraction == share
