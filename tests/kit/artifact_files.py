"""Artifacts of every mode, made by programs: right ones, half-right ones, inputs, and fillers of the right size."""

from __future__ import annotations

import json
import math
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from worksample.kit import (
    Check,
    ShapeRules,
    appearance,
    arrays,
    bpmn,
    dicom,
    document,
    film,
    grid,
    midi,
    plan,
    points,
    raster,
    recording,
    score,
    shapes,
    solid,
    toolpath,
    transcript,
    urdf,
    values,
)

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Mode:
    """A mode with its files: the right one, one that is half right, the task's input, and a valid file that says
    nothing.
    """

    name: str
    ending: str
    compare: Callable[..., Check]
    right: Make
    half: Make
    input: Make
    filler: Make


def text(content: str) -> Make:
    return lambda path: path.write_text(content, encoding="utf-8") and None


def numbers(rows: list[dict[str, Any]]) -> Make:
    return text(json.dumps({"site": "A", "rows": rows, "total": sum(r["v"] for r in rows)}))


ROWS = [{"id": f"r{i}", "v": 10.5 * i + 3} for i in range(8)]
HALF_ROWS = [{**r, "v": r["v"] + (5 if i % 2 else 0)} for i, r in enumerate(ROWS)]


def npz(change: float = 0.0, fill: float | None = None) -> Make:
    def make(path: Path) -> None:
        x = np.linspace(0, 6, 400).reshape(20, 20)
        field = np.sin(x) * 10
        field[: int(change * 20)] += 4
        with path.open("wb") as file:
            np.savez(file, field=field if fill is None else np.full((20, 20), fill))

    return make


def xml(items: list[tuple[str, str]]) -> Make:
    inner = "".join(f'<item id="{i}"><price>{v}</price></item>' for i, v in items)
    return text(f"<order>{inner}</order>")


def process(flows: list[tuple[str, str]]) -> Make:
    nodes = "".join(f'<task id="{n}" name="Step {n}"/>' for n in "abcdef")
    lines = "".join(f'<sequenceFlow id="f{i}" sourceRef="{a}" targetRef="{b}"/>' for i, (a, b) in enumerate(flows))
    head = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
    return text(f"{head}{nodes}{lines}</process></definitions>")


CHAIN = list(zip("abcde", "bcdef", strict=True))


def robot(lengths: list[float], masses: float = 2.0) -> Make:
    links = "".join(
        f'<link name="l{i}"><inertial><mass value="{masses + i}"/></inertial></link>' for i in range(len(lengths) + 1)
    )
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/><origin xyz="0 0 {z}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="{1 + i}" effort="5" velocity="2"/></joint>'
        for i, z in enumerate(lengths)
    )
    return text(f'<robot name="arm">{links}{joints}</robot>')


def picture(boxes: list[tuple[int, int, int, int]]) -> Make:
    def make(path: Path) -> None:
        page = Image.new("RGB", (240, 160), "white")
        draw = ImageDraw.Draw(page)
        for i, box in enumerate(boxes):
            draw.rectangle(box, fill=(30 * i % 200, 80, 200 - 40 * i % 200))
        page.save(path)

    return make


BOXES = [(10, 10, 90, 40), (120, 20, 220, 60), (20, 80, 100, 150), (140, 90, 200, 140)]


def mesh(kind: str, form: str = "") -> Make:
    def make(path: Path) -> None:
        import trimesh

        ball = trimesh.creation.icosphere(subdivisions=3, radius=10)
        shape = {
            "ball": lambda: ball,
            "half": lambda: ball.copy().apply_scale([1, 1, 0.6]),
            "box": lambda: trimesh.creation.box(extents=(20, 20, 20)),
            "small": lambda: trimesh.creation.icosphere(subdivisions=2, radius=4),
        }[kind]()
        shape.export(path, file_type=form or path.suffix[1:])

    return make


def cloud(scale: float, count: int = 2_000, flat: bool = False) -> Make:
    def make(path: Path) -> None:
        rng = np.random.default_rng(3)
        t = np.linspace(0, 4 * np.pi, count)
        found = np.stack([10 * np.cos(t), 10 * np.sin(t), t * 3 * scale], axis=1)
        if flat:
            found = np.full((count, 3), 7.0) + rng.normal(0, 0.01, (count, 3))
        path.write_text("\n".join(" ".join(f"{v:.4f}" for v in row) for row in found))

    return make


def dxf(walls: list[tuple[float, float, float, float]]) -> Make:
    def make(path: Path) -> None:
        import ezdxf.filemanagement

        drawing = ezdxf.filemanagement.new()
        for x, y, u, v in walls:
            drawing.modelspace().add_line((x, y), (u, v), dxfattribs={"layer": "WALLS"})
        drawing.saveas(path)

    return make


WALLS = [(0, 0, 10, 0), (10, 0, 10, 8), (10, 8, 0, 8), (0, 8, 0, 0), (4, 0, 4, 5), (4, 5, 7, 5), (7, 5, 7, 8)]


def svg(shapes_: str) -> Make:
    return text(f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">{shapes_}</svg>')


def gcode(cuts: list[tuple[float, float]], z: float = -1.0) -> Make:
    first = cuts[0]
    lines = ["G21 G90", "M3 S8000", "G0 Z5", f"G0 X{first[0]} Y{first[1]}", f"G1 Z{z} F200"]
    return text("\n".join([*lines, *(f"G1 X{x} Y{y} F400" for x, y in cuts[1:]), "G0 Z5", "M5", "M30", ""]))


RADII = [15 if i % 2 else 40 for i in range(11)]
STAR = [(50 + r * math.cos(math.pi * i / 5), 50 + r * math.sin(math.pi * i / 5)) for i, r in enumerate(RADII)]


def movie(speed: float, black: bool = False) -> Make:
    def make(path: Path) -> None:
        import av

        with av.open(str(path), "w", format="mp4") as out:
            stream = out.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
            for i in range(20):
                frame = np.full((64, 96, 3), 0 if black else 30, np.uint8)
                if not black:
                    x = int(4 + i * speed)
                    frame[16:48, x : x + 20] = (250, 220, 60)
                for packet in stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")):
                    out.mux(packet)
            for packet in stream.encode():
                out.mux(packet)

    return make


def scan(bright: float, name: str = "", noise: bool = False, pixels: bool = True) -> Make:
    def make(path: Path) -> None:
        import pydicom
        from pydicom.dataset import FileDataset, FileMetaDataset
        from pydicom.uid import ExplicitVRLittleEndian, generate_uid

        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
        meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=["x"])
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        data = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
        data.Modality, data.PatientName, data.Rows, data.Columns = "CT", name, 32, 32
        data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 0
        data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
        y, x = np.mgrid[:32, :32]
        field = np.full((32, 32), 100) if noise else 100 + 40 * np.sin(x / 5) * np.cos(y / 4)
        if bright:
            field[:16] += bright
        data.PixelData = field.astype("<u2").tobytes()
        pydicom.dcmwrite(path, data, enforce_file_format=True)

    return make


def terrain(change: float = 0.0, flat: bool = False, west: float = 500_000) -> Make:
    def make(path: Path) -> None:
        import rasterio
        from rasterio import Affine

        y, x = np.mgrid[:40, :50]
        field = (200 + 30 * np.sin(x / 7) + 20 * np.cos(y / 5)).astype("f4")
        field[: int(40 * change)] += 50
        if flat:
            field[:] = 210
        field[0, 0] = -9999
        with rasterio.open(
            path, "w", driver="GTiff", width=50, height=40, count=1, dtype="float32", nodata=-9999,
            crs="EPSG:32633", transform=Affine(10, 0, west, 0, -10, 5_000_000),
        ) as out:  # fmt: skip
            out.write(field, 1)

    return make


def climate(change: float = 0.0, flat: bool = False, unit: str = "K") -> Make:
    def make(path: Path) -> None:
        import netCDF4

        with netCDF4.Dataset(path, "w") as out:
            out.createDimension("time", 12)
            out.createDimension("lat", 10)
            t2m = out.createVariable("t2m", "f4", ("time", "lat"), fill_value=-999.0)
            t2m.units = unit
            field = 280 + 10 * np.sin(np.arange(12) / 2)[:, None] + np.arange(10)[None, :]
            field[: int(12 * change)] += 6
            t2m[:] = np.full_like(field, 285) if flat else field

    return make


def parcels(shift: float, kind: str = "square") -> Make:
    def square(i: int, by: float) -> list[list[float]]:
        x, y = 10.0 * i + by, 5.0 * (i % 2)
        return [[x, y], [x + 8, y], [x + 8, y + 4], [x, y + 4], [x, y]]

    features = [
        {"type": "Feature", "properties": {"id": i, "area": 32.0},
         "geometry": {"type": "Polygon", "coordinates": [square(i, shift if i % 2 else 0)]}}
        for i in range(6)
    ]  # fmt: skip
    if kind == "far":
        for one in features:
            one["geometry"]["coordinates"] = [square(900, 0)]  # type: ignore[index]
    return text(json.dumps({"type": "FeatureCollection", "features": features}))


def tune(factor: float = 1.0, silent: bool = False) -> Make:
    def make(path: Path) -> None:
        rate = 16_000
        t = np.arange(rate * 2) / rate
        tone = 0.4 * np.sin(2 * np.pi * (300 + 400 * (t > 1) * factor) * t) * (np.sin(3 * t) > -0.5)
        with wave.open(str(path), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(rate)
            out.writeframes((0 if silent else tone * 32767 * np.ones_like(t)).astype("<i2").tobytes()
                            if not silent else bytes(4 * rate))  # fmt: skip

    return make


def melody(pitches: list[int]) -> Make:
    def make(path: Path) -> None:
        import mido

        file = mido.MidiFile(ticks_per_beat=480)
        track = mido.MidiTrack()
        file.tracks.append(track)
        for pitch in pitches:
            track.append(mido.Message("note_on", note=pitch, velocity=80, time=0))
            track.append(mido.Message("note_off", note=pitch, velocity=0, time=480))
        file.save(path)

    return make


def sheet(steps: str) -> Make:
    notes = "".join(
        f"<note><pitch><step>{s}</step><octave>4</octave></pitch><duration>1</duration></note>" for s in steps
    )
    rests = "<note><rest/><duration>1</duration></note>"
    head = '<score-partwise version="4.0"><part id="P1"><measure number="1"><attributes><divisions>1</divisions>'
    return text(f"{head}</attributes>{notes or rests}</measure></part></score-partwise>")


def captions(lines: list[str], late: float = 0.0) -> Make:
    def at(seconds: float) -> str:
        return f"00:00:{int(seconds):02d},{round(seconds % 1 * 1000):03d}"

    return text(
        "\n".join(f"{i + 1}\n{at(2 * i + late)} --> {at(2 * i + 1.5 + late)}\n{line}\n" for i, line in enumerate(lines))
    )


SPOKEN = ["The pump was replaced on Monday.", "Pressure rose to six bar.", "No leak was found.", "We close the case."]
PARTS = [("a", "10.50"), ("b", "7.00"), ("c", "3.25"), ("d", "8.10")]

MODES = [
    Mode("values", ".json", values, numbers(ROWS), numbers(HALF_ROWS), text('{"site": "?"}'),
         text(json.dumps({"site": "", "rows": [{"id": "", "v": 7}] * 8, "total": 56}))),
    Mode("arrays", ".npz", lambda g, w, **k: arrays(g, w, {0.01: 1}, **k), npz(), npz(0.5), npz(1.0), npz(fill=1.0)),
    Mode("document", ".xml", document, xml(PARTS), xml([*PARTS[:2], ("c", "1"), ("d", "2")]), xml([("z", "0")]),
         text("<order/>")),
    Mode("bpmn", ".bpmn", bpmn, process(CHAIN), process([*CHAIN[:3], ("f", "a")]), process([("f", "a")]), process([])),
    Mode("urdf", ".urdf", urdf, robot([0.3, 0.2, 0.1]), robot([0.3, 0.5, 0.6]), robot([9, 9, 9], 50),
         text('<robot name="arm"><link name="l0"/></robot>')),
    Mode("appearance", ".png", appearance, picture(BOXES), picture(BOXES[:2]), picture([(0, 0, 20, 159)]), picture([])),
    Mode("solid", ".obj", lambda g, w, **k: solid(g, w, {0.5: 0.7, 2.0: 0.3}, **k), mesh("ball"), mesh("half"),
         mesh("small"), mesh("box")),
    Mode("solid-ply", ".ply", lambda g, w, **k: solid(g, w, {0.5: 0.7, 2.0: 0.3}, **k), mesh("ball"), mesh("half"),
         mesh("small"), mesh("box")),
    Mode("solid-glb", ".glb", lambda g, w, **k: solid(g, w, {0.5: 0.7, 2.0: 0.3}, **k), mesh("ball"), mesh("half"),
         mesh("small"), mesh("box")),
    Mode("points", ".xyz", lambda g, w, **k: points(g, w, {0.3: 1}, **k), cloud(1), cloud(0.99), cloud(0.1),
         cloud(1, flat=True)),
    Mode("plan", ".dxf", lambda g, w, **k: plan(g, w, {0.1: 1}, **k), dxf(WALLS), dxf(WALLS[:6]), dxf(WALLS[:2]),
         dxf(WALLS[:4])),
    Mode("plan-svg", ".svg", lambda g, w, **k: plan(g, w, {0.5: 1}, **k),
         svg('<circle cx="50" cy="50" r="30"/><path d="M10 10 C 20 20 40 20 50 10"/>'),
         svg('<circle cx="50" cy="50" r="30"/>'), svg('<circle cx="10" cy="10" r="3"/>'),
         svg('<rect width="9" height="9"/>')),
    Mode("toolpath", ".nc", lambda g, w, **k: toolpath(g, w, {0.5: 1}, **k), gcode(STAR), gcode(STAR[:7]),
         gcode([(0, 0), (5, 0)]), gcode([(10, 10), (90, 10), (90, 90), (10, 90), (10, 10)])),
    Mode("film", ".mp4", film, movie(3), movie(2.5), movie(0), movie(0, black=True)),
    Mode("dicom", ".dcm",
         lambda g, w, **k: dicom(g, w, attributes=["Modality"], absent=["Patient*"], bands={2: 1}, **k),
         scan(0), scan(30), scan(0, "Doe"), scan(0, noise=True)),
    Mode("raster", ".tif", lambda g, w, **k: raster(g, w, {1.0: 1}, **k), terrain(), terrain(0.5), terrain(1.0),
         terrain(flat=True)),
    Mode("grid", ".nc", lambda g, w, **k: grid(g, w, {"t2m": {0.1: 1}}, **k), climate(), climate(0.5), climate(1.0),
         climate(flat=True)),
    Mode("shapes", ".geojson", lambda g, w, **k: shapes(g, w, ShapeRules("id", overlap=0.95), **k), parcels(0),
         parcels(3), parcels(0, "far"), parcels(0, "far")),
    Mode("recording", ".wav", recording, tune(), tune(1.5), tune(silent=True), tune(silent=True)),
    Mode("midi", ".mid", midi, melody([60, 62, 64, 65, 67, 69]), melody([60, 62, 64, 66, 68, 70]), melody([20]),
         melody([1] * 6)),
    Mode("score", ".musicxml", score, sheet("CDEFGAB"), sheet("CDEEEEE"), sheet("BBBB"), sheet("")),
    Mode("transcript", ".srt", transcript, captions(SPOKEN), captions([*SPOKEN[:2], "Something else", "again"]),
         captions(["la"] * 4, late=20), captions([""] * 4, late=30)),
]  # fmt: skip
