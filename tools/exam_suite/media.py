"""Tasks of the exam suite in visual media, music and localisation."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from .engineering import write_csv
from .exam_task import Criterion, ExamTask, Settings


def melody(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a melody in concert pitch, with chords and accidentals."""
    sharps = {1: "F", 2: "FC", -1: "B", -2: "BE"}[settings["_fifths"]]
    sign = 1 if settings["_fifths"] > 0 else -1
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<score-partwise version="4.0"><part-list><score-part id="P1">'
             "<part-name>Melody</part-name></score-part></part-list>", '<part id="P1">']  # fmt: skip
    at = 9
    for number in range(1, settings["_measures"] + 1):
        lines.append(f'<measure number="{number}">')
        if number == 1:
            lines.append(
                f"<attributes><divisions>2</divisions><key><fifths>{settings['_fifths']}</fifths></key></attributes>"
            )
        left = 8
        while left:
            length = min(left, rng.choice([1, 1, 2, 2, 3, 4]))
            left -= length
            at = max(0, min(18, at + rng.choice([-3, -2, -1, -1, 0, 1, 1, 2, 3])))
            if rng.random() < 0.1:
                lines.append(f"<note><rest/><duration>{length}</duration></note>")
                continue
            for chord in (False, True) if rng.random() < 0.15 else (False,):
                place = at + (2 if chord else 0)
                step, octave = "CDEFGAB"[place % 7], 4 + place // 7
                alter = sign if step in sharps else 0
                alter = alter + rng.choice([-1, 1]) if rng.random() < 0.08 and alter == 0 else alter
                told = f"<alter>{alter}</alter>" if alter else ""
                lines.append(f"<note>{'<chord/>' if chord else ''}<pitch><step>{step}</step>{told}<octave>{octave}</octave>"
                             f"</pitch><duration>{length}</duration></note>")  # fmt: skip
        lines.append("</measure>")
    (folder / "melody.musicxml").write_text("\n".join([*lines, "</part></score-partwise>", ""]), encoding="utf-8")


CLARINET = ExamTask(
    id="clarinet-part",
    title="A part for clarinet in B flat",
    category="visual_media/audio_music",
    occupation="27-2041",
    tier="easy",
    family="scores",
    hours=(0.5, 1.5),
    deliverables={"clarinet.musicxml": ("xml", "the written part")},
    brief="""
## Work description

The band's clarinettist plays a B flat instrument, which sounds a major second lower than written. Write the part for the melody, which is in
concert pitch.

- Every note is written a major second higher, spelled as such: the next letter, with the accidental that makes it two semitones (E becomes F
  sharp, never G flat; B flat becomes C).
- The key signature moves with it (two more sharps). Rests, lengths, chords and measures stay.

## Provided material

- `melody.musicxml`: MusicXML, one part

## Deliverables

- `clarinet.musicxml`: MusicXML by parts, uncompressed, one part, with the same measures
""",
    criteria=(
        Criterion("notes", "Pitch, spelling, place and length of every note are right.", 4),
        Criterion("key", "The key signature has moved with them.", 1),
    ),
    grade='''
"""Clarinet: notes by measure, place, letter, accidental, octave and length; the melody as given earns nothing."""

from worksample.kit import Case, Check, Grade, score, weighted
from worksample.kit.markup import local_name, read_xml


def grade(case: Case) -> Grade:
    want = case.reference("clarinet.musicxml")

    def notes() -> Check:
        return score(case.output("clarinet.musicxml"), want, trivial=[case.input("melody.musicxml")])

    def key() -> Check:
        root = case.xml("clarinet.musicxml")
        got, right = (
            [(e.text or "").strip() for e in one.iter() if local_name(e) == "fifths"] for one in (root, read_xml(want))
        )
        return Check.of(got == right and notes().fraction > 0, f"key signatures {got[:3]}, and the notes {notes().reason}")

    return weighted(case, notes=notes, key=key)
''',
    instances={"waltz": {"_fifths": 1, "_measures": 16}, "march": {"_fifths": -2, "_measures": 24}},
    make=melody,
    slips={
        "wrong-way": "Transposes down.",
        "octave-lost": "Loses the octave when a B becomes a C.",
        "keeps-key": "Leaves the key signature as it was.",
        "drops-chords": "Leaves out the second notes of chords.",
    },
    half=("octave-lost", "drops-chords"),
    filler={"clarinet.musicxml": '<score-partwise><part id="P1"><measure number="1"/></part></score-partwise>'},
)


def survey(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a closed traverse with a small misclosure, and corners of buildings."""
    count = settings["_stations"]
    places = []
    for i in range(count):
        angle = 2 * math.pi * i / count + rng.uniform(-0.15, 0.15)
        places.append(
            (5000 + 46 * math.sin(angle) * rng.uniform(0.8, 1.1), 8000 + 36 * math.cos(angle) * rng.uniform(0.8, 1.1))
        )
    legs, corners = [], []
    for i, (e, n) in enumerate(places):
        u, v = places[(i + 1) % count]
        legs.append({"from": f"T{i + 1}", "to": f"T{(i + 1) % count + 1}",
                     "bearing_deg": f"{math.degrees(math.atan2(u - e, v - n)) % 360 + rng.gauss(0, 0.12):.3f}",
                     "distance_m": f"{math.hypot(u - e, v - n) + rng.gauss(0.12, 0.08):.3f}"})  # fmt: skip
    for name, (x, y, w, h) in {"house": (4985, 7992, 14, 9), "barn": (5006, 8004, 9, 7)}.items():
        station = rng.randrange(count)
        e, n = places[station]
        for u, v in ((x, y), (x + w, y), (x + w, y + h), (x, y + h)):
            corners.append({"building": name, "station": f"T{station + 1}", "bearing_deg": f"{math.degrees(math.atan2(u - e, v - n)) % 360:.3f}",
                            "distance_m": f"{math.hypot(u - e, v - n):.3f}"})  # fmt: skip
    write_csv(folder / "traverse.csv", legs)
    write_csv(folder / "corners.csv", corners)
    sheet = {"first_station": [round(v, 3) for v in places[0]], "scale": settings["_scale"], "left_m": 4940.0, "top_m": 8055.0,
             "paper_mm": [420, 420]}  # fmt: skip
    (folder / "sheet.json").write_text(json.dumps(sheet), encoding="utf-8")


PLAN = ExamTask(
    id="survey-plan",
    title="A boundary plan from the field book",
    category="engineering/urban_planning",
    occupation="17-1022",
    tier="medium",
    family="plans",
    hours=(2, 4),
    deliverables={"plan.svg": ("svg", "the plan in millimetres on paper")},
    brief="""
## Work description

Draw a parcel from the surveyor's field book.

- Bearings run clockwise from north. The traverse begins at the first station (east, north in metres) and ends where it began, but for the
  measuring errors. Adjust it by the compass rule: each station is moved against the closing error, in proportion to the distance walked up to
  it divided by the length of the whole traverse.
- Corners of buildings are measured from the adjusted stations and are not adjusted themselves.
- Paper: x = (east - `left_m`) and y = (`top_m` - north), times 1000 / `scale`, in millimetres; so north is up.
- Draw the boundary as one closed polygon through the stations, and each building as one closed polygon, corners in the table's order. Draw
  nothing else: no frame, text, grid or north arrow.

## Provided material

- `traverse.csv`, `corners.csv`, `sheet.json`

## Deliverables

- `plan.svg`: width, height and viewBox of the paper (`paper_mm`), one user unit a millimetre; lines right to 0.2 mm (to 1 mm for a part of the
  points)
""",
    criteria=(Criterion("lines", "Boundary and buildings lie where they should, and nothing else is drawn.", 1),),
    grade='''
"""Plan: lines within 0.2 mm (1 mm for 30 %), both ways; a frame around everything earns nothing."""

from worksample.kit import Case, Grade, plan, weighted


def grade(case: Case) -> Grade:
    return weighted(case, lines=lambda: plan(case.output("plan.svg"), case.reference("plan.svg"), {0.2: 0.7, 1.0: 0.3}))
''',
    instances={"mill": {"_stations": 6, "_scale": 250}, "vineyard": {"_stations": 8, "_scale": 300}},
    make=survey,
    slips={
        "no-adjustment": "Does not adjust the traverse.",
        "north-down": "Draws north downwards.",
        "mathematical-angles": "Takes bearings for mathematical angles.",
        "no-buildings": "Leaves the buildings out.",
    },
    half=("no-adjustment",),
    filler={
        "plan.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="420" height="420"><rect width="420" height="420"/></svg>'
    },
)


def turned(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a turned part's profile."""
    z, rows = 0.0, []
    diameter = 44.0
    for _ in range(settings["_steps"]):
        rows.append({"z_mm": z, "diameter_mm": diameter})
        z += rng.randrange(8, 20)
        if rng.random() < 0.5:
            diameter = rng.randrange(28, 60, 2)
        rows.append({"z_mm": z, "diameter_mm": diameter})
        diameter = rng.randrange(28, 60, 2)
    write_csv(folder / "profile.csv", rows)
    told = {"bore_mm": 16, "bore_depth_mm": round(z * settings["_bore"]), "segments": 96}
    (folder / "part.json").write_text(json.dumps(told), encoding="utf-8")


TURNED = ExamTask(
    id="turned-part",
    title="A turned part as a solid",
    category="visual_media/animation_3d",
    occupation="27-1014",
    tier="medium",
    family="solids",
    hours=(1, 2),
    deliverables={"part.obj": ("obj", "the closed solid")},
    brief="""
## Work description

A catalogue needs a 3D model of a turned part.

- `profile.csv` lists diameters along the axis z, in order; between two rows the surface is straight (two rows with the same z make a step).
- The part is closed by flat faces at both ends. A bore with the diameter `bore_mm` and a flat floor enters from the end with the largest z, along
  the axis, to the depth `bore_depth_mm`; if this is the whole length, it goes through.
- Approximate circles by `segments` corners that lie on the circle, or more.
- The mesh is one closed surface: each edge belongs to two triangles that run through it in opposite directions.

## Provided material

- `profile.csv`, `part.json`

## Deliverables

- `part.obj`: millimetres, the axis of turning on z, the profile's z kept, triangles; volume right to 1 %, lengths to 1 %, surfaces to 2 mm (4 mm for a part of the points)
""",
    criteria=(Criterion("solid", "Surface, volume and size are right, and the mesh is closed.", 1),),
    grade='''
"""Turned part: surfaces in bands of the sampled distance, volume, size, closed; its bounding box is the zero."""

from worksample.kit import Case, Grade, solid, weighted


def grade(case: Case) -> Grade:
    bands = {2.0: 0.7, 4.0: 0.3}
    return weighted(case, solid=lambda: solid(case.output("part.obj"), case.reference("part.obj"), bands))
''',
    instances={"bushing": {"_steps": 3, "_bore": 1.0}, "knob": {"_steps": 4, "_bore": 0.55}},
    make=turned,
    slips={
        "no-bore": "Forgets the bore.",
        "diameter-as-radius": "Takes diameters for radii.",
        "open-ends": "Leaves an end open.",
    },
    half=("no-bore",),
    filler={"part.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
    timeout=240,
)

TASKS = (CLARINET, PLAN, TURNED)
