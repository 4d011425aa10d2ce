"""Tasks of the exam suite in computing, education, agriculture, social sciences, and safety."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from .engineering import write_csv
from .exam_task import SUITE, Criterion, ExamTask, Settings


def access_log(rng: random.Random, lines: int) -> str:
    """Return lines of an access log, some of them malformed."""
    paths = [
        "/",
        "/login",
        "/orders/{n}",
        "/orders/{n}/items/{n}",
        "/search?q=a b",
        "/search?q=%20",
        "/help/",
        "/help#top",
        "/v2/7up",
    ]
    found = []
    for _ in range(lines):
        path = rng.choice(paths).replace("{n}", str(rng.randrange(999))).replace("a b", "ab")
        status = rng.choice([200, 200, 200, 304, 404, 500, 502, 503])
        user = rng.choice(["-", "anna", '"Jo Ann"'])
        size = "-" if status == 304 else rng.randrange(9000)
        line = f'10.0.{rng.randrange(9)}.{rng.randrange(99)} - {user} [28/Nov/2026:10:{rng.randrange(60):02d}:00 +0000] ' \
               f'"{rng.choice(["GET", "POST"])} {path} HTTP/1.1" {status} {size}'  # fmt: skip
        if rng.random() < 0.07:
            line = rng.choice([line[:40], line.replace(" HTTP/1.1", ""), "# rotated", line.replace('"', "'")])
        found.append(line)
    return "\n".join(found) + "\n"


def rates_of(log: str) -> str:
    """Return what the right program prints for a log."""
    with tempfile.TemporaryDirectory() as folder:
        solver = SUITE / "scripts" / "good" / "files" / "log-rates.py"
        subprocess.run([sys.executable, str(solver), folder, folder], check=True)
        done = subprocess.run(
            [sys.executable, f"{folder}/rates.py"], input=log.encode(), capture_output=True, check=True
        )
    return done.stdout.decode()


def logs(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a sample log with its right answer."""
    log = access_log(rng, settings["_lines"])
    (folder / "sample.log").write_text(log, encoding="utf-8")
    (folder / "expected.txt").write_text(rates_of(log), encoding="utf-8")


def held_out(rng: random.Random, reference: Path, settings: Settings) -> None:
    """Write logs that the agent never sees, with their right answers."""
    found = [access_log(rng, n) for n in (1, 40, 90, settings["_lines"])] + ["", "\n\n# nothing\n"]
    (reference / "runs.json").write_text(
        json.dumps([{"stdin": log, "stdout": rates_of(log)} for log in found]), encoding="utf-8"
    )


RATES = ExamTask(
    id="log-rates",
    title="A program for error rates by route",
    category="computing_math/software_eng",
    occupation="15-1252",
    tier="medium",
    family="programs",
    hours=(1, 2),
    deliverables={"rates.py": ("python", "the program, standard library only")},
    brief="""
## Work description

Operations needs a small program that reads a web server's log from standard input and prints error rates by route.

- A line has a client, an identity, a user (a word, or words in double quotes), a time in brackets, a request in double quotes (a backslash
  escapes a quote), a status of three digits, and a size in bytes or `-` (0), with single spaces between. White space around a line does not
  matter; blank lines are skipped.
- The request has three words: method, target, protocol; the target begins with `/`. The route is the method, a space, and the target without
  what follows the first `?` or `#`; path segments of digits alone become `:id`; slashes at the end go, but `/` stays.
- Lines that do not fit are counted as malformed.
- Print a line for each route, with tabs between: route, number of requests, percentage with a status of 5xx (one decimal, as Python's format `.1f` rounds it), sum of sizes;
  most requests first, then by route. Last, print `malformed`, a tab, and their number. Never end with an error because of the log's content.

## Provided material

- `sample.log` and `expected.txt`, what the program prints for it

## Deliverables

- `rates.py`: run as `python3 rates.py < LOG`; it is tried with other logs
""",
    criteria=(Criterion("runs", "The program prints the right table for logs that were not given.", 1),),
    grade='''
"""Program: run with logs that the agent has not seen; printing the sample's answer earns nothing."""

from worksample.kit import Case, Check, Expect, Grade, executable, weighted


def grade(case: Case) -> Grade:
    case.output("rates.py")
    runs = [Expect(stdin=one["stdin"], stdout=one["stdout"]) for one in case.ref_json("runs.json")]
    argv = ["python3", str(case.folder("output") / "rates.py")]

    def check() -> Check:
        # Logs without a request are right for programs that print a constant: they count only beside a real log.
        real = executable(case, argv, runs[:4], timeout=20)
        if real.fraction == 0:
            return real
        bare = executable(case, argv, runs[4:], timeout=20)
        return Check((4 * real.fraction + 2 * bare.fraction) / 6, f"{real.reason} {bare.reason}".strip())

    return weighted(case, runs=check)
''',
    instances={"shop": {"_lines": 120}, "portal": {"_lines": 200}},
    make=logs,
    held_out=held_out,
    hide=("runs.json",),
    slips={
        "no-ids": "Leaves numbers in paths.",
        "crashes-on-bad-lines": "Ends with an error at the first malformed line.",
        "sample-typed-in": "Prints the sample's answer.",
    },
    half=("crashes-on-bad-lines",),
    filler={"rates.py": "print('malformed\\t0')\n"},
)


def warehouse(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a floor with shelves, and orders."""
    rows, columns = settings["_shape"]
    grid = [["#" if r in (0, rows - 1) or c in (0, columns - 1) or (r % 3 != 1 and c % 5 in (2, 3) and 1 < r < rows - 2) else "."
             for c in range(columns)] for r in range(rows)]  # fmt: skip
    beside = [
        (r, c)
        for r in range(1, rows - 1)
        for c in range(1, columns - 1)
        if grid[r][c] == "." and "#" in (grid[r][c - 1], grid[r][c + 1]) and c > 2
    ]
    items = {f"I{n:02d}": list(place) for n, place in enumerate(rng.sample(beside, settings["_items"]), 1)}
    names = list(items)
    rng.shuffle(names)
    orders: list[dict[str, Any]] = []
    at = 0
    while at < len(names):
        many = rng.randrange(4, 7)
        orders.append({"order": f"A{len(orders) + 1}", "items": names[at : at + many]})
        at += many
    (folder / "floor.txt").write_text("\n".join("".join(row) for row in grid) + "\n", encoding="utf-8")
    told = {"dock": [1, 1], "capacity": 3, "shelves": items, "orders": orders}
    (folder / "orders.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


ROBOT = ExamTask(
    id="warehouse-robot",
    title="A course for a picking robot",
    category="computing_math/math_ops_research",
    occupation="15-2031",
    tier="medium",
    family="replays",
    hours=(1, 2.5),
    deliverables={"course.json": ("json", "a list of actions")},
    brief="""
## Work description

Plan the course of a picking robot. It will be replayed on the floor exactly as written.

- `floor.txt`: `#` is blocked, `.` is free; rows and columns count from 0 at the top left. The robot starts at the `dock`.
- Actions: `N`, `S`, `E`, `W` move by one cell (N is up, to a smaller row), `pick ITEM` on the cell that `shelves` names for the item, `drop` at
  the dock, which delivers everything held. The robot holds at most `capacity` items.
- Orders are worked off one after the other: an item may be picked only if all orders before its own are delivered in full. Each item is picked
  once.
- A course with an action that is not allowed is worth nothing: the robot stops there.

## Provided material

- `floor.txt`, `orders.json`

## Deliverables

- `course.json`: a JSON list of actions that delivers all orders. A course that is at most 10 % longer than the planner's own (next item first,
  full loads, shortest ways) gets all points, one of twice that length or more gets half of the points for length.
""",
    criteria=(
        Criterion("orders", "The orders are delivered, in their sequence.", 3),
        Criterion("length", "A complete course is short.", 1),
    ),
    grade='''
"""Robot: the course is replayed; states after each order are the recorded trajectory."""

from worksample.kit import Case, Check, ForbiddenAction, Grade, replayed, weighted

STEPS = {"N": (-1, 0), "S": (1, 0), "E": (0, 1), "W": (0, -1)}


def grade(case: Case) -> Grade:
    import json

    grid = case.input("floor.txt").read_text().splitlines()
    job = json.loads(case.input("orders.json").read_text())
    owner = {item: n for n, order in enumerate(job["orders"]) for item in order["items"]}
    sizes = [len(order["items"]) for order in job["orders"]]
    start = {"at": job["dock"], "held": [], "done": [0] * len(sizes), "picked": []}

    def apply(state: dict, action: object) -> dict:
        if not isinstance(action, str):
            raise ForbiddenAction("is not a text")
        if action in STEPS:
            row, column = (a + b for a, b in zip(state["at"], STEPS[action], strict=True))
            if not (0 <= row < len(grid) and 0 <= column < len(grid[row])) or grid[row][column] == "#":
                raise ForbiddenAction("moves onto a blocked cell")
            return {**state, "at": [row, column]}
        if action == "drop":
            if state["at"] != job["dock"]:
                raise ForbiddenAction("drops away from the dock")
            done = list(state["done"])
            for item in state["held"]:
                done[owner[item]] += 1
            return {**state, "held": [], "done": done}
        verb, _, item = action.partition(" ")
        if verb != "pick" or item not in owner:
            raise ForbiddenAction("is no action")
        if job["shelves"][item] != state["at"] or item in state["picked"] or len(state["held"]) >= job["capacity"]:
            raise ForbiddenAction("picks what is not there, a second time, or beyond the capacity")
        if any(state["done"][n] < sizes[n] for n in range(owner[item])):
            raise ForbiddenAction("picks before the orders before it are delivered")
        return {**state, "held": [*state["held"], item], "picked": [*state["picked"], item]}

    course = [{"done": [*sizes[: n + 1], *[0] * (len(sizes) - n - 1)]} for n in range(len(sizes))]
    actions = lambda: case.json("course.json", like=[str])  # noqa: E731
    best = len(case.ref_json("course.json"))

    def length() -> Check:
        if not replayed(actions(), course, start, apply).passed:
            return Check(0.0, "the course is not complete")
        ratio = len(actions()) / best
        return Check(max(0.5, min(1.0, 1 - (ratio - 1.1) / 1.8)), f"{len(actions())} actions, the planner's {best}")

    return weighted(case, orders=lambda: replayed(actions(), course, start, apply), length=length)
''',
    instances={"hall": {"_shape": (17, 23), "_items": 14}, "annex": {"_shape": (20, 28), "_items": 22}},
    make=warehouse,
    slips={
        "through-shelves": "Walks through shelves.",
        "ignores-limit": "Holds more than the robot can.",
        "stops-early": "Leaves the last order.",
        "one-at-a-time": "Brings each item alone.",
    },
    half=("stops-early",),
    filler={"course.json": '["drop"]'},
)

WORDS = "the river rises in the hills and the people of the valley tell stories about water stone bread winter light".split()


def stamp(seconds: float) -> str:
    """Return a time as SubRip writes it."""
    whole = round(seconds * 1000)
    return f"{whole // 3600000:02d}:{whole // 60000 % 60:02d}:{whole // 1000 % 60:02d},{whole % 1000:03d}"


def film(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write subtitles, and cuts in the film."""
    at, blocks = 2.0, []
    for number in range(1, settings["_cues"] + 1):
        length = rng.randrange(12, 45) / 10
        text = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(3, 9))).capitalize() + "."
        blocks.append(f"{number}\n{stamp(at)} --> {stamp(at + length)}\n{text}\n")
        at = round(at + length + rng.randrange(2, 30) / 10, 1)
    (folder / "film.srt").write_text("\n".join(blocks), encoding="utf-8")
    begins = sorted(rng.sample(range(10, int(at) - 30, 12), settings["_cuts"]))
    write_csv(folder / "cuts.csv", [{"from_s": b + 0.4, "to_s": b + rng.randrange(30, 95) / 10 + 0.4} for b in begins])


SUBTITLES = ExamTask(
    id="subtitle-retime",
    title="Subtitles after the director's cut",
    category="education_info/translation",
    occupation="27-3091",
    tier="easy",
    family="transcripts",
    hours=(0.5, 1.5),
    deliverables={"film.srt": ("srt", "the subtitles of the cut film")},
    brief="""
## Work description

The director cut passages out of a film. Fit its subtitles.

- Each row of `cuts.csv` takes the time from `from_s` to `to_s` (seconds of the old film) out; later times move forward.
- A subtitle that lies entirely in a cut goes. One that reaches into a cut is shortened: it stands while the rest of its time is on the screen.
  What would then stand for less than 0.3 seconds goes, too.
- Texts stay; subtitles are numbered anew from 1.

## Provided material

- `film.srt`, `cuts.csv`

## Deliverables

- `film.srt`: SubRip, times right to 0.05 seconds
""",
    criteria=(
        Criterion("subtitles", "The right subtitles are left, at the right times.", 3),
        Criterion("numbers", "Right subtitles are numbered from 1.", 1),
    ),
    grade='''
"""Subtitles: words and times against the reference; the old subtitles earn nothing."""

import re

from worksample.kit import Case, Check, Grade, transcript, weighted


def grade(case: Case) -> Grade:
    def subtitles() -> Check:
        given = [case.input("film.srt")]
        return transcript(case.output("film.srt"), case.reference("film.srt"), seconds=0.05, trivial=given)

    def numbers() -> Check:
        found = [int(n) for n in re.findall(r"^(\\d+)\\s*\\n\\d\\d:", case.text("film.srt"), re.MULTILINE)]
        many = len(re.findall("-->", case.ref_text("film.srt")))
        return Check.of(found == list(range(1, many + 1)) and subtitles().fraction > 0, f"numbered {found[:5]}...")

    return weighted(case, subtitles=subtitles, numbers=numbers)
''',
    instances={"short": {"_cues": 60, "_cuts": 5}, "feature": {"_cues": 140, "_cuts": 11}},
    make=film,
    slips={
        "no-shift": "Does not move later subtitles forward.",
        "no-trimming": "Moves subtitles that reach into a cut whole.",
        "keeps-cut-lines": "Keeps subtitles of cut passages.",
    },
    half=("no-trimming",),
    filler={"film.srt": "1\n00:00:00,000 --> 00:00:01,000\n...\n"},
)


def weather(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a season's weather and a field."""
    rows = []
    for day in range(sum(settings["_days"])):
        rain = 0.0 if rng.random() < 0.72 else round(rng.expovariate(1 / 9), 1)
        rows.append({"date": (date(2026, 4, 20) + timedelta(days=day)).isoformat(), "rain_mm": rain,
                     "et0_mm": round(3.2 + 2 * math.sin(day / 40) + rng.uniform(-0.8, 0.8), 2)})  # fmt: skip
    write_csv(folder / "weather.csv", rows)
    told = {"field_capacity": 0.29, "wilting_point": 0.14, "root_depth_m": settings["_root"], "depletion_fraction": 0.5,
            "start_depletion_mm": 20.0, "least_rain_mm": 2.0, "stages": {"days": settings["_days"], "kc": [0.4, 1.15, 0.6]},
            "irrigation_every_days": 4, "most_irrigation_mm": 25.0}  # fmt: skip
    (folder / "field.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


WATER = ExamTask(
    id="soil-water",
    title="Soil water balance and irrigation of a season",
    category="agriculture_env/env_water",
    occupation="19-1013",
    tier="medium",
    family="tables",
    hours=(1.5, 3),
    deliverables={"balance.csv": ("csv", "one row per day"), "season.json": ("json", "sums of the season")},
    brief="""
## Work description

An irrigation association recomputes last season for a field, day by day, after FAO paper 56 (single crop coefficient).

- Total available water TAW = 1000 x (field capacity - wilting point) x root depth in mm; readily available water RAW = depletion fraction x TAW.
- Kc: the first value in the first stage; linear to the second value over the second stage (reached on its last day); the second value in the
  third; linear to the third value over the fourth (reached on its last day). The first day is day 1.
- Each day, in this order: rain below `least_rain_mm` counts as none. Stress Ks is 1 if the depletion at the day's beginning is RAW or less, else
  (TAW - depletion) / (TAW - RAW), at least 0. Crop use = Ks x Kc x ET0. Depletion grows by crop use and falls by rain; what would fall below 0
  drains away. Then, on every day whose number is a multiple of `irrigation_every_days`, if the depletion exceeds RAW, irrigate as much as it
  is, at most `most_irrigation_mm`. Depletion never exceeds TAW.

## Provided material

- `weather.csv`, `field.json`

## Deliverables

- `balance.csv`: `date`, `crop_use_mm`, `drainage_mm`, `irrigation_mm`, `depletion_mm` (at the day's end), to 0.01
- `season.json`: sums `crop_use_mm`, `drainage_mm`, `irrigation_mm`, to 0.5
""",
    criteria=(
        Criterion("days", "Each day's crop use, irrigation and depletion are right.", 3),
        Criterion("season", "The sums of the season are right.", 2),
    ),
    grade='''
"""Soil water: days against what a table of zeros would reach, sums within half a millimetre."""

from worksample.kit import Case, Check, Grade, Table, tabular, values, weighted
from worksample.kit.comparisons.bands import above_floor


def grade(case: Case) -> Grade:
    want = case.ref_rows("balance.csv")
    columns = [name for name in want.columns if name != "date"]
    zeros = Table.of([{"date": row["date"], **dict.fromkeys(columns, 0)} for row in want.rows])

    def days() -> Check:
        floor = tabular(zeros, want, keys=["date"], tolerance=0.01).fraction
        return above_floor(tabular(case.rows("balance.csv"), want, keys=["date"], tolerance=0.01), floor)

    return weighted(
        case,
        days=days,
        season=lambda: values(case.output("season.json"), case.reference("season.json"), tolerance=0.5),
    )
''',
    instances={"maize": {"_days": [25, 35, 40, 30], "_root": 0.9}, "beans": {"_days": [15, 25, 30, 15], "_root": 0.6}},
    make=weather,
    slips={
        "constant-kc": "Uses one crop coefficient.",
        "no-stress": "Forgets water stress.",
        "all-rain": "Counts the smallest rains.",
        "no-drainage": "Lets the soil store more than it can.",
    },
    half=("all-rain",),
    filler={"balance.csv": "date,crop_use_mm,drainage_mm,irrigation_mm,depletion_mm\n2026-04-20,0,0,0,0\n",
            "season.json": '{"crop_use_mm": 0, "drainage_mm": 0, "irrigation_mm": 0}'},
)  # fmt: skip


def harvest(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a combine's points in a field that lies askew."""
    heading, size = settings["_heading"], settings["_cell"]
    angle = math.radians(heading)
    east, north = 612_340.0, 5_701_220.0
    points = []
    for i in range(settings["_wide"]):
        for j in range(settings["_long"]):
            level = 6.5 + 2 * math.sin(i / 2) + 1.5 * math.cos(j / 3)
            for _ in range(rng.choice([2, 5, 6, 7])):
                a, b = (i + rng.uniform(0.05, 0.95)) * size, (j + rng.uniform(0.05, 0.95)) * size
                points.append({"east": f"{east + a * math.cos(angle) + b * math.sin(angle):.3f}",
                               "north": f"{north - a * math.sin(angle) + b * math.cos(angle):.3f}",
                               "t_ha": f"{rng.choice([0.02, 31.0]) if rng.random() < 0.05 else level + rng.gauss(0, 0.7):.3f}"})  # fmt: skip
    rng.shuffle(points)
    write_csv(folder / "yield.csv", points)
    told = {"corner": [east, north], "heading_deg": heading, "cell_m": size, "plausible": [0.5, 15.0], "least_points": 4,
            "classes": [5.5, 7.5], "rates": [120, 160, 190]}  # fmt: skip
    (folder / "field.json").write_text(json.dumps(told), encoding="utf-8")


ZONES = ExamTask(
    id="management-zones",
    title="Fertiliser zones from a yield map",
    category="agriculture_env/precision_ag",
    occupation="19-1013",
    tier="medium",
    family="maps",
    hours=(1.5, 3),
    deliverables={"zones.geojson": ("geojson", "cells with their yield and rate")},
    brief="""
## Work description

Make the application map for the spreader from the combine's yield points.

- The grid starts at `corner` (east, north) and follows the field: cells are squares of `cell_m`; j runs along the heading (`heading_deg`,
  clockwise from north), i to the right of it. A point belongs to the cell i-j in which it lies, both from 0.
- Points with a yield outside `plausible` are left out. A cell with fewer than `least_points` of the others is left out.
- A cell's yield is the median of its points. Its rate is the first of `rates` below the first of `classes`, the last from the second class on, else
  the middle one.

## Provided material

- `yield.csv`, `field.json`; coordinates are metres, UTM zone 33 north

## Deliverables

- `zones.geojson`: a FeatureCollection in the same metres with a Polygon for each cell and the properties `cell` (`"i-j"`), `yield_t_ha` (to 0.01)
  and `rate_kg_ha`
""",
    criteria=(Criterion("cells", "Place, yield and rate of each cell are right, and there are no others.", 1),),
    grade='''
"""Zones: cells by name, 97 % overlap for full marks, yield and rate; one box for all cells earns nothing."""

from worksample.kit import Case, Grade, ShapeRules, shapes, weighted

RULES = ShapeRules(key="cell", overlap=0.97, properties={"yield_t_ha": 0.01, "rate_kg_ha": 0.0})


def grade(case: Case) -> Grade:
    return weighted(
        case, cells=lambda: shapes(case.output("zones.geojson"), case.reference("zones.geojson"), RULES)
    )
''',
    instances={"hill": {"_heading": 28.0, "_cell": 20, "_wide": 7, "_long": 9}, "lowland": {"_heading": -15.0, "_cell": 24, "_wide": 9, "_long": 8}},
    make=harvest,
    slips={
        "north-grid": "Lays the grid north, not along the field.",
        "keeps-outliers": "Keeps implausible yields.",
        "means": "Takes means in place of medians.",
    },
    half=("means",),
    filler={"zones.geojson": '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"cell": "x"}, '
            '"geometry": {"type": "Point", "coordinates": [0, 0]}}]}'},
)  # fmt: skip


def wages(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a wage survey with missing answers."""
    rows: list[dict[str, Any]] = []
    for number in range(settings["_people"]):
        school, age = rng.randrange(8, 20), rng.randrange(17, 70)
        female, union = rng.random() < 0.48, rng.random() < 0.25
        work = max(0, age - school - 6)
        spread = 0.25 + 0.02 * school
        log = (
            1.1
            + 0.085 * school
            + 0.032 * work
            - 0.045 * work**2 / 100
            - 0.13 * female
            + 0.09 * union
            + rng.gauss(0, spread)
        )
        row: dict[str, Any] = {"id": number + 1, "hourly_wage": f"{math.exp(log):.2f}", "schooling_years": school, "age": age,
                               "female": int(female), "union": rng.choice(["1", "yes", "Yes"]) if union else rng.choice(["0", "no"])}  # fmt: skip
        if rng.random() < 0.05:
            row[rng.choice(["hourly_wage", "schooling_years", "age"])] = rng.choice(["", "-9"])
        rows.append(row)
    write_csv(folder / "survey.csv", rows)


WAGES = ExamTask(
    id="wage-regression",
    title="A wage equation with robust standard errors",
    category="social_sciences/economics",
    occupation="19-3011",
    tier="easy",
    family="values",
    hours=(1, 2),
    deliverables={"wages.json": ("json", "estimates")},
    brief="""
## Work description

Estimate the wage equation of a survey for a report.

- Leave out people with an empty answer or -9 in hourly wage, schooling, age or female, people younger than 18 or older than 65, and wages of 0 or
  less. Union is 1 for `1` and `yes` (capitals do not matter), else 0.
- Experience = age - schooling - 6, at least 0.
- Regress the natural logarithm of the hourly wage on a constant, schooling, experience, experience squared divided by 100, female, union, by
  ordinary least squares.
- Standard errors are robust to heteroscedasticity (HC1: White's, times n / (n - 6)).

## Provided material

- `survey.csv`

## Deliverables

- `wages.json`: `{"n": ..., "r_squared": ..., "coefficients": {"constant": {"estimate": ..., "robust_se": ...}, "schooling": ..., "experience": ...,
  "experience_squared": ..., "female": ..., "union": ...}}`; estimates and errors to 0.0002, R squared to 0.001
""",
    criteria=(
        Criterion("sample", "The sample and the fit are right.", 1),
        Criterion("estimates", "The estimates are right.", 3),
        Criterion("errors", "The robust standard errors are right.", 2),
    ),
    grade='''
"""Wages: sample, estimates and errors, each within its tolerance."""

from worksample.kit import Case, Check, Grade, average, close, every, weighted

PAIR = {"estimate": float, "robust_se": float}
NAMES = ("constant", "schooling", "experience", "experience_squared", "female", "union")
LIKE = {"n": int, "r_squared": float, "coefficients": dict.fromkeys(NAMES, PAIR)}


def grade(case: Case) -> Grade:
    want = case.ref_json("wages.json")

    def sample() -> Check:
        got = case.json("wages.json", like=LIKE)
        near = {"n": 0, "r_squared": 0.001}
        return every(Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near)

    def part(name: str) -> Check:
        got = case.json("wages.json", like=LIKE)["coefficients"]
        right = want["coefficients"]
        return average(Check.of(close(got[k][name], right[k][name], 2e-4), f"{k}: {got[k][name]}") for k in NAMES)

    return weighted(case, sample=sample, estimates=lambda: part("estimate"), errors=lambda: part("robust_se"))
''',
    instances={"north": {"_people": 420}, "south": {"_people": 650}},
    make=wages,
    slips={
        "classical-errors": "Gives classical standard errors.",
        "no-logarithm": "Regresses the wage itself.",
        "missing-as-zero": "Takes missing answers for 0.",
    },
    half=("classical-errors",),
    filler={"wages.json": json.dumps({"n": 0, "r_squared": 0.5, "coefficients": {
        name: {"estimate": 0, "robust_se": 0} for name in
        ("constant", "schooling", "experience", "experience_squared", "female", "union")}})},
)  # fmt: skip


def building(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a building's rooms and exits."""
    exits = [{"exit": name, "clear_width_m": rng.choice([1.0, 1.2, 1.4, 1.8])} for name in settings["_exits"]]
    rooms = []
    for number in range(settings["_rooms"]):
        room: dict[str, Any] = {
            "room": f"R{number + 1:02d}",
            "area_m2": rng.randrange(30, 240),
            "m2_per_person": rng.choice([2, 4, 6]),
        }
        far = rng.choice([name for name in settings["_exits"] if name != settings["_exits"][0]])
        for name in settings["_exits"]:
            room[f"{name}_m"] = "" if name == far and rng.random() < 0.3 else rng.randrange(12, 70)
        rooms.append(room)
    write_csv(folder / "rooms.csv", rooms)
    write_csv(folder / "exits.csv", exits)
    told = {"blocked_exit": settings["_exits"][-1], "speed_m_s": 1.1, "boundary_m": 0.15, "flow_people_s_m": 1.3, "detection_s": 45,
            "premovement_s": 90, "tenable_s": settings["_tenable"], "margin_share": 0.5}  # fmt: skip
    (folder / "rules.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


EGRESS = ExamTask(
    id="egress-time",
    title="Evacuation time with one exit blocked",
    category="transport_safety/fire_safety",
    occupation="17-2111",
    tier="medium",
    family="tables",
    hours=(1, 2),
    deliverables={"exits.csv": ("csv", "one row per usable exit"), "summary.json": ("json", "the building's figures")},
    brief="""
## Work description

Check the evacuation of a floor for the fire strategy, with one exit blocked.

- People per room: area divided by square metres per person, rounded up. All of them use the nearest exit that is not blocked (an empty distance
  is no way; of equal distances, the first name).
- Walking time of an exit: the longest distance of its rooms divided by the speed; 0 if no room uses it.
- Effective width: the clear width less `boundary_m` on each side. Queueing time: the exit's people divided by (`flow_people_s_m` x effective width).
- An exit is clear after the longer of the two times. Evacuation: `detection_s` + `premovement_s` + the longest time of all exits.
- Margin: `tenable_s` less evacuation. It is acceptable if it is at least `margin_share` of the evacuation.

## Provided material

- `rooms.csv`, `exits.csv`, `rules.json`

## Deliverables

- `exits.csv`: `exit`, `people`, `walking_s`, `queue_s`, `clear_s` (to 0.1); not the blocked one
- `summary.json`: `people`, `evacuation_s`, `margin_s` (to 0.2), `acceptable` (true or false)
""",
    criteria=(
        Criterion("exits", "People and times of each exit are right.", 3),
        Criterion("summary", "The building's figures and the judgement are right.", 2),
    ),
    grade='''
"""Egress: exits cell by cell; the judgement counts only with the figures that lead to it."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"people": int, "evacuation_s": float, "margin_s": float, "acceptable": bool}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def summary() -> Check:
        got = case.json("summary.json", like=LIKE)
        near = {"people": 0, "evacuation_s": 0.2, "margin_s": 0.2}
        checks = [Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near]
        return every([*checks, Check.of(got["acceptable"] is want["acceptable"], "the judgement is wrong")])

    return weighted(
        case,
        exits=lambda: tabular(
            case.rows("exits.csv"), case.ref_rows("exits.csv"), keys=["exit"],
            tolerance={"walking_s": 0.1, "queue_s": 0.1, "clear_s": 0.1},
        ),
        summary=summary,
    )
''',
    instances={
        "office": {"_exits": ["east", "north", "west"], "_rooms": 14, "_tenable": 420},
        "school": {"_exits": ["a", "b", "c", "d"], "_rooms": 22, "_tenable": 300},
    },
    make=building,
    slips={
        "full-width": "Forgets the boundary layers.",
        "all-exits": "Uses the blocked exit.",
        "adds-times": "Adds walking and queueing.",
    },
    half=("full-width",),
    filler={"exits.csv": "exit,people,walking_s,queue_s,clear_s\nz,0,0,0,0\n",
            "summary.json": '{"people": 0, "evacuation_s": 0, "margin_s": 0, "acceptable": true}'},
)  # fmt: skip

TASKS = (RATES, ROBOT, SUBTITLES, WATER, ZONES, WAGES, EGRESS)
