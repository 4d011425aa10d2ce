"""Tasks of the exam suite in engineering."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

from .exam_task import Criterion, ExamTask, Settings


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV, with the keys of the first row as its header."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def terrain(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a terrain grid and a platform's design."""
    rows, columns = settings["_shape"]
    waves = [
        (rng.uniform(0.05, 0.3), rng.uniform(0.05, 0.3), rng.uniform(0, 6), rng.uniform(0.3, 1.6)) for _ in range(6)
    ]
    holes = {(rng.randrange(rows), rng.randrange(columns)) for _ in range(9)}
    lines = [f"ncols {columns}", f"nrows {rows}", "xllcorner 482000.0", "yllcorner 5431000.0",
             f"cellsize {settings['_cell']}", "NODATA_value -9999"]  # fmt: skip
    for r in range(rows):
        heights = [
            120 + 0.02 * r + sum(h * math.sin(a * r + b * c + p) for a, b, p, h in waves) for c in range(columns)
        ]
        lines.append(" ".join("-9999" if (r, c) in holes else f"{h:.3f}" for c, h in enumerate(heights)))
    (folder / "terrain.asc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    design = {"rows": [rows // 3, rows // 2], "columns": [columns // 4, columns // 2], "level": 120.6, "batter": 2.0,
              "topsoil": 0.25, "swell": 1.28}  # fmt: skip
    (folder / "platform.json").write_text(json.dumps(design, indent=1), encoding="utf-8")


EARTHWORK = ExamTask(
    id="terrain-earthwork",
    title="Cut and fill of a building platform",
    category="engineering/civil_geo",
    occupation="17-2051",
    tier="medium",
    family="arrays",
    hours=(1.5, 3),
    deliverables={
        "depth.npy": ("npy", "height of the design above the terrain, one number per cell"),
        "summary.json": ("json", "volumes in cubic metres"),
    },
    brief="""
## Work description

A contractor prices the earthworks of a level building platform. Compute, cell by cell, how far the ground is raised or lowered, and the
volumes that follow.

- The platform is level at `level` (metres) on the cells whose row and column lie in the ranges `rows` and `columns` of `platform.json`,
  both ends included, counted from 0 at the grid's first line and first number.
- Around it, the ground is shaped by batters: at a distance d from the platform, the design may lie at most d / `batter` below the
  platform's level (fill) or above it (cut). Where the terrain lies between these two heights, it stays as it is. The distance of a cell is
  measured from its centre to the centre of the nearest cell of the platform.
- A cell without data in the terrain has no design either, and counts in no volume.
- A cell's volume is its depth times its area; the whole cell has the depth of its centre.
- Topsoil: `topsoil` metres are stripped wherever the ground is raised or lowered. They are reported apart and change no depth.
- Loose cut: the cut volume times `swell`.

## Provided material

- `terrain.asc`: heights in metres, an ESRI ASCII grid
- `platform.json`: the design

## Deliverables

- `depth.npy`: design height minus terrain height in metres as a NumPy array of floats with the grid's rows and columns; NaN where the
  terrain has no data
- `summary.json`: `{"cut_m3": ..., "fill_m3": ..., "topsoil_m3": ..., "loose_cut_m3": ...}`, each above 0, to 0.5 %
""",
    criteria=(
        Criterion("depths", "The depth of each cell is right to 1 cm (0.1 m for a third of the points).", 3),
        Criterion("volumes", "The four volumes are right to 0.5 %.", 2),
    ),
    grade='''
"""Earthworks: depths against the reference and against doing nothing, volumes within half a per cent."""

from worksample.kit import Case, Grade, arrays, values, weighted


def grade(case: Case) -> Grade:
    return weighted(
        case,
        depths=lambda: arrays(case.output("depth.npy"), case.reference("depth.npy"), {0.01: 2, 0.1: 1}),
        volumes=lambda: values(case.output("summary.json"), case.reference("summary.json"), relative=0.005),
    )
''',
    instances={"yard": {"_shape": (60, 80), "_cell": 2.0}, "school": {"_shape": (90, 70), "_cell": 1.0}},
    make=terrain,
    slips={
        "no-batter": "Leaves vertical walls around the platform.",
        "nodata-as-height": "Takes -9999 for a height.",
        "sign-swapped": "Takes cut for fill.",
        "no-swell": "Forgets that loosened soil takes more room.",
    },
    half=("no-batter", "no-swell"),
    filler={"depth.npy": "TODO", "summary.json": '{"cut_m3": 0, "fill_m3": 0, "topsoil_m3": 0, "loose_cut_m3": 0}'},
    notes="An unchanged terrain (all zeros) is a trivial answer and earns nothing; most cells far from the platform are 0.",
)


def feeder(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a radial feeder with laterals."""
    lines, loads = [], []
    nodes = ["S"]
    for i in range(1, settings["_nodes"] + 1):
        above = nodes[-1] if rng.random() < 0.7 else rng.choice(nodes[len(nodes) // 2 :])
        lines.append({"from": above, "to": f"N{i:02d}", "length_km": round(rng.uniform(0.3, 1.4), 2),
                      "r_ohm_km": rng.choice([0.32, 0.45, 0.64]), "x_ohm_km": rng.choice([0.34, 0.36, 0.38])})  # fmt: skip
        nodes.append(f"N{i:02d}")
        if rng.random() < 0.8:
            loads.append(
                {"node": f"N{i:02d}", "kw": rng.randrange(60, 320, 10), "power_factor": rng.choice([0.85, 0.9, 0.95])}
            )
    rng.shuffle(lines)
    write_csv(folder / "lines.csv", lines)
    write_csv(folder / "loads.csv", loads)
    (folder / "source.json").write_text(
        json.dumps({"node": "S", "kv": 11.0, "limit_pct": settings["_limit"]}), encoding="utf-8"
    )


FEEDER = ExamTask(
    id="feeder-voltage",
    title="Voltages and losses of an 11 kV feeder",
    category="engineering/energy_power",
    occupation="17-2071",
    tier="hard",
    family="tables",
    hours=(2, 4),
    deliverables={
        "voltages.csv": ("csv", "one row per node"),
        "summary.json": ("json", "losses and the weakest node"),
    },
    brief="""
## Work description

A new customer asks to connect to a rural feeder. Before that, the planner needs the present state: the voltage at each node and the
losses, by a load flow (not by a linear estimate).

- The feeder is three-phase, balanced and radial. `source.json` names the node that holds its voltage and its line-to-line voltage in kV.
- `loads.csv` gives three-phase active power in kW and a lagging power factor. Loads take constant power at every voltage.
- Lines have resistance and reactance, and no capacitance.
- Iterate until no voltage changes by more than 0.0001 kV.

## Provided material

- `lines.csv`: from, to, length, resistance and reactance per km and phase
- `loads.csv`: loads by node; nodes that are not listed have none
- `source.json`: the source, and the limit of the voltage drop in per cent

## Deliverables

- `voltages.csv`: columns `node`, `kv` (line-to-line, magnitude, to 0.002 kV; to 0.05 kV for a part of the points) and `drop_pct` (per cent below the source's voltage, to
  0.02), one row for each node, the source included
- `summary.json`: `losses_kw` (active losses of all lines and phases, to 1 %), `lowest_node`, `nodes_beyond_limit` (how many nodes drop by
  more than the limit)
""",
    criteria=(
        Criterion("voltages", "The voltage and the drop at each node are right.", 3),
        Criterion("roughly", "The voltage at each node is right to 0.05 kV.", 1),
        Criterion("losses", "Losses are right to 1 %.", 2),
        Criterion("limits", "The weakest node and the number of nodes beyond the limit are right.", 1),
    ),
    grade='''
"""Feeder: voltages node by node; the summary counts only if some voltage below the source's is right."""

from worksample.kit import Case, Check, Grade, close, tabular, weighted


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def voltages(**tolerance: float) -> Check:
        got, reference = case.rows("voltages.csv"), case.ref_rows("voltages.csv")
        check = tabular(got, reference, keys=["node"], columns=list(tolerance), tolerance=tolerance)
        # The source's own row is given: what it earns is subtracted.
        given = 1 / len(reference)
        return Check(max(0.0, (check.fraction - given) / (1 - given)), check.reason)

    def losses() -> Check:
        told = case.json("summary.json", like={"losses_kw": float})
        return Check.of(close(told["losses_kw"], want["losses_kw"], 0, 0.01), f"losses are {told['losses_kw']} kW")

    def limits() -> Check:
        told = case.json("summary.json", like={"lowest_node": str, "nodes_beyond_limit": int})
        right = [told["lowest_node"].strip() == want["lowest_node"], told["nodes_beyond_limit"] == want["nodes_beyond_limit"]]
        return Check.of(all(right), "the weakest node or the number of nodes beyond the limit is wrong")

    return weighted(
        case,
        voltages=lambda: voltages(kv=0.002, drop_pct=0.02),
        roughly=lambda: voltages(kv=0.05),
        losses=losses,
        limits=limits,
    )
''',
    instances={"valley": {"_nodes": 18, "_limit": 6}, "ridge": {"_nodes": 24, "_limit": 8}},
    make=feeder,
    slips={
        "phase-to-phase": "Works with line-to-line voltages and counts the losses three times.",
        "no-reactive": "Leaves out reactive power.",
        "one-sweep": "Stops after one sweep: a linear estimate.",
    },
    half=("one-sweep",),
    filler={"voltages.csv": "node,kv,drop_pct\nS,11,0\n",
            "summary.json": '{"losses_kw": 0, "lowest_node": "", "nodes_beyond_limit": 0}'},
)  # fmt: skip


def arm(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a mechanic's sheets of an arm."""
    links: list[dict[str, Any]] = [
        {"name": "base", "mass_g": 4200, "shape": "box", "a_mm": 180, "b_mm": 160, "c_mm": 90}
    ]
    joints = []
    for i in range(settings["_joints"]):
        shape = rng.choice(["box", "cylinder"])
        links.append({"name": f"link{i + 1}", "mass_g": rng.randrange(400, 3000, 50), "shape": shape,
                      "a_mm": rng.randrange(30, 80, 5), "b_mm": rng.randrange(100, 300, 10),
                      "c_mm": rng.randrange(30, 80, 5) if shape == "box" else ""})  # fmt: skip
        slides = i == settings["_joints"] - 2
        joints.append({
            "name": f"joint{i + 1}", "type": "prismatic" if slides else "revolute", "parent": links[i]["name"],
            "child": f"link{i + 1}", "x_mm": rng.randrange(-40, 60, 5), "y_mm": rng.randrange(-20, 30, 5),
            "z_mm": rng.randrange(60, 240, 5), "roll_deg": rng.choice([0, 90, -90]), "pitch_deg": rng.choice([0, 15, 30]),
            "yaw_deg": rng.choice([0, 45, 180]), "axis": rng.choice("xyz"),
            "lower": -20 if slides else -rng.randrange(60, 175, 5), "upper": 240 if slides else rng.randrange(60, 175, 5),
            "effort": rng.randrange(10, 90, 5), "speed": 120 if slides else rng.randrange(60, 200, 10),
        })  # fmt: skip
    write_csv(folder / "links.csv", links)
    write_csv(folder / "joints.csv", joints)


ARM = ExamTask(
    id="arm-urdf",
    title="A URDF of an arm from the mechanics' sheets",
    category="engineering/robotics",
    occupation="17-2199",
    tier="easy",
    family="documents",
    hours=(1, 2.5),
    deliverables={"arm.urdf": ("xml", "the robot's description")},
    brief="""
## Work description

The controls team needs the arm as URDF for its simulator. Write it from the mechanics' two sheets.

- URDF's units: metres, kilograms, radians; velocities in radians or metres per second. The sheets say theirs in the column names;
  `lower`, `upper` and `speed` are degrees and degrees per second for revolute joints, millimetres and millimetres per second for prismatic
  ones. `effort` is in N m or N already.
- Each link has `inertial` with `mass` and `inertia` (about the link's own origin and axes, for a body of even density centred there; the
  products of inertia are 0), and `collision` with `geometry`: a `box` with size a, b, c along x, y, z, or a `cylinder` with radius a and
  length b along z. Neither has an `origin`. Write nothing else into a link (no `visual`, no materials).
- Each joint has `parent`, `child`, `origin` (`xyz`, `rpy`), `axis` (the positive unit vector) and `limit` (`lower`, `upper`, `effort`,
  `velocity`), also if a value is 0.
- Names are those of the sheets.

## Provided material

- `links.csv`, `joints.csv`

## Deliverables

- `arm.urdf`: numbers right to 0.00001, so write six significant digits or more
""",
    criteria=(Criterion("description", "Links and joints are right, value by value.", 1),),
    grade='''
"""URDF: values of links and joints by name; only a tree over all links counts."""

from worksample.kit import Case, Grade, urdf, weighted


def grade(case: Case) -> Grade:
    return weighted(
        case, description=lambda: urdf(case.output("arm.urdf"), case.reference("arm.urdf"), tolerance=1e-5)
    )
''',
    instances={"picker": {"_joints": 5}, "welder": {"_joints": 6}},
    make=arm,
    slips={
        "degrees": "Leaves angles in degrees.",
        "millimetres": "Leaves lengths in millimetres.",
        "no-inertia": "Leaves the moments of inertia at 0.",
    },
    half=("degrees", "no-inertia"),
    filler={"arm.urdf": '<robot name="arm"><link name="base"/></robot>'},
    notes="A bare tree of links and joints without numbers is the zero of the scale.",
)


def plate(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a plate's outline and the job's data."""
    count = settings["_corners"]
    angles = sorted(2 * math.pi * (i + rng.uniform(-0.25, 0.25)) / count for i in range(count))
    corners = [{"x_mm": round(80 + 60 * math.cos(a), 1), "y_mm": round(70 + 50 * math.sin(a), 1)} for a in angles]
    if settings["_clockwise"]:
        corners.reverse()
    write_csv(folder / "outline.csv", corners)
    job = {"tool_mm": settings["_tool"], "thickness_mm": settings["_thick"], "step_mm": 2.5, "safe_z_mm": 10,
           "feed_mm_min": 600, "plunge_mm_min": 150, "rpm": 12000}  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job, indent=1), encoding="utf-8")


CONTOUR = ExamTask(
    id="contour-gcode",
    title="Outside contour of a plate as G-code",
    category="engineering/manufacturing",
    occupation="51-9162",
    tier="medium",
    family="toolpaths",
    hours=(1, 2),
    deliverables={"contour.nc": ("gcode", "the machine program")},
    brief="""
## Work description

Write the program that mills a plate's outline from a sheet, for a router that understands plain G-code.

- The sheet's top is z = 0. The path keeps the tool's radius outside the outline, with sharp corners (edges moved outwards and prolonged
  until they meet; no arcs).
- Begin at the first corner of `outline.csv` (moved outwards). Lower the tool there by `step_mm`, go round the whole outline back to the
  beginning, lower it again, and so on; the last round has exactly the depth `thickness_mm`, even if that step is smaller.
- Lower the tool with `plunge_mm_min`, mill with `feed_mm_min`. Rapid moves sideways happen at `safe_z_mm` or higher. The spindle turns with
  `rpm` before the tool touches the sheet.
- The machine starts at x 0, y 0, z 0 above the sheet's corner: raise the tool first. End with the tool at `safe_z_mm`, the spindle off, and
  the program ended (M30).
- Allowed are G0, G1, G17, G20, G21, G90, G91, M3, M5, M30, F, S, X, Y, Z, comments and line numbers.

## Provided material

- `outline.csv`: the corners of the plate in order, a convex outline
- `job.json`: tool, sheet, feeds

## Deliverables

- `contour.nc`: the path right to 0.05 mm. A program that would break the tool (a rapid move sideways below the safe height, a cut with the
  spindle off, a feed above `feed_mm_min`, a move deeper than the sheet is thick) is worth nothing.
""",
    criteria=(Criterion("path", "The cuts lie where they should, and the program breaks no rule of the machine.", 1),),
    grade='''
"""Contour: the cuts within 0.05 mm, under the machine's rules; the bounding box at the lowest height is the zero."""

import json

from worksample.kit import Case, Grade, MachineRules, toolpath, weighted


def grade(case: Case) -> Grade:
    job = json.loads(case.input("job.json").read_text())
    rules = MachineRules(safe_z=job["safe_z_mm"], feed=job["feed_mm_min"], low=(-1e6, -1e6, -job["thickness_mm"] - 0.05))
    return weighted(
        case,
        path=lambda: toolpath(case.output("contour.nc"), case.reference("contour.nc"), {0.05: 1}, rules=rules),
    )
''',
    instances={
        "bracket": {"_corners": 7, "_tool": 6, "_thick": 9, "_clockwise": False},
        "cover": {"_corners": 9, "_tool": 8, "_thick": 6, "_clockwise": True},
    },
    make=plate,
    slips={
        "no-offset": "Mills on the outline: the plate gets too small.",
        "one-pass": "Mills the whole thickness at once.",
        "spindle-off": "Forgets to start the spindle.",
        "drags-through": "Moves rapidly sideways below the sheet's top.",
    },
    half=("one-pass",),
    filler={"contour.nc": "G21 G90\nM3 S12000\nG0 Z10\nM30\n"},
)

TASKS = (EARTHWORK, FEEDER, ARM, CONTOUR)
