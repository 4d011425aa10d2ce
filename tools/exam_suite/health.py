"""Tasks of the exam suite in health and medicine."""

from __future__ import annotations

import json
import math
import random
import struct
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from .engineering import write_csv
from .exam_task import Criterion, ExamTask, Settings

FOODS = ("chicken", "rice_salad", "egg_mayonnaise", "fruit", "ice_cream", "tap_water")


def outbreak(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write interviews after a meal; some people were asked twice."""
    meal = datetime(2026, 6, 13, 12, 30)
    vehicle = settings["_vehicle"]
    rows: list[dict[str, Any]] = []
    for number in range(settings["_people"]):
        ate = {food: rng.choices(["yes", "no", "unknown"], [6, 4, 0.6])[0] for food in FOODS}
        ill = rng.random() < (0.62 if ate[vehicle] == "yes" else 0.12)
        symptoms = {
            s: "yes" if ill and rng.random() < 0.75 else "no" for s in ("diarrhoea", "vomiting", "cramps", "fever")
        }
        hours = rng.lognormvariate(math.log(22), 0.5) if ill else rng.choice([-30, 90, 120])
        unwell = ill or rng.random() < 0.08
        row = {
            "interview": "", "person": f"G{number + 1:03d}",
            "onset": (meal + timedelta(hours=round(hours, 1))).isoformat(timespec="minutes") if unwell else "",
            **symptoms, **ate,
        }  # fmt: skip
        if not ill and unwell:
            row["fever"] = "yes"
        if rng.random() < 0.12:
            early = dict(row, **dict.fromkeys(FOODS, "unknown"), diarrhoea="no", cramps="no")
            rows.append(early)
        rows.append(row)
    for number, row in enumerate(rows):
        row["interview"] = str(number + 1)
    write_csv(folder / "interviews.csv", rows)
    told = {"meal": meal.isoformat(), "symptoms": ["diarrhoea", "vomiting", "cramps"], "least_symptoms": 2,
            "hours": [6, 72], "foods": list(FOODS)}  # fmt: skip
    (folder / "definition.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


OUTBREAK = ExamTask(
    id="outbreak-report",
    title="Which dish made the guests ill",
    category="health_medicine/public_health",
    occupation="19-1041",
    tier="medium",
    family="tables",
    hours=(2, 4),
    deliverables={
        "curve.csv": ("csv", "cases by day"),
        "foods.csv": ("csv", "attack rates and relative risks"),
        "summary.json": ("json", "numbers and the suspected dish"),
    },
    brief="""
## Work description

Guests of a wedding fell ill. Do the first analysis of the cohort for the health authority.

- Some people were interviewed twice; their last interview (the largest number) counts alone.
- A case has at least `least_symptoms` of `symptoms`, and fell ill between `hours[0]` and `hours[1]` hours after the meal, both included.
  Everybody else is no case, whatever they had.
- Epidemic curve: cases by calendar day of onset, from the first to the last day with a case, days without one included.
- For each food: attack rates in per cent among those who ate it and those who did not; people who do not know are left out of that food.
  Relative risk: the first rate divided by the second, with its 95 % interval on the logarithmic scale: exp(ln RR +- 1.96 s), where s is the
  root of 1/a - 1/b + 1/c - 1/d; a cases of b who ate it, c cases of d who did not.
- The suspected vehicle is the food with the largest relative risk.

## Provided material

- `interviews.csv`, `definition.json`

## Deliverables

- `curve.csv`: `date` (YYYY-MM-DD), `cases`
- `foods.csv`: `food`, `attack_exposed_pct`, `attack_unexposed_pct` (to 0.05), `relative_risk`, `low`, `high` (to 0.01)
- `summary.json`: `cases`, `people` (interviewed persons), `vehicle`
""",
    criteria=(
        Criterion("counts", "Cases and persons are counted right.", 2),
        Criterion("curve", "The epidemic curve is right.", 1),
        Criterion("foods", "Attack rates and relative risks are right.", 3),
        Criterion("vehicle", "The suspected dish is named, with the rates of that dish right.", 1),
    ),
    grade='''
"""Outbreak: the vehicle counts only with its own row of the table right, so that a guess earns nothing."""

from worksample.kit import Case, Check, Grade, every, tabular, weighted

LIKE = {"cases": int, "people": int, "vehicle": str}
RATES = {"attack_exposed_pct": 0.05, "attack_unexposed_pct": 0.05, "relative_risk": 0.01, "low": 0.01, "high": 0.01}


def grade(case: Case) -> Grade:
    want, foods = case.ref_json("summary.json"), case.ref_rows("foods.csv")

    def counts() -> Check:
        got = case.json("summary.json", like=LIKE)
        return every(Check.of(got[k] == want[k], f"{k} are {got[k]}") for k in ("cases", "people"))

    def vehicle() -> Check:
        got = case.json("summary.json", like=LIKE)["vehicle"].strip().lower()
        rows = [row for row in case.rows("foods.csv").rows if str(row["food"]).strip().lower() == want["vehicle"]]
        own = [row for row in foods.rows if row["food"] == want["vehicle"]]
        named = Check.of(got == want["vehicle"], f"the vehicle is {got!r}")
        return every([named, tabular(rows, own, keys=["food"], tolerance=RATES, partial=False)])

    return weighted(
        case,
        counts=counts,
        curve=lambda: tabular(case.rows("curve.csv"), case.ref_rows("curve.csv"), keys=["date"]),
        foods=lambda: tabular(case.rows("foods.csv"), foods, keys=["food"], tolerance=RATES),
        vehicle=vehicle,
    )
''',
    instances={"wedding": {"_people": 118, "_vehicle": "egg_mayonnaise"}, "canteen": {"_people": 164, "_vehicle": "rice_salad"}},
    make=outbreak,
    slips={
        "everyone-ill": "Counts everybody who felt ill as a case.",
        "first-interview": "Uses the first interview of those asked twice.",
        "unknown-as-no": "Counts 'unknown' as not eaten.",
    },
    half=("unknown-as-no",),
    filler={"curve.csv": "date,cases\n2026-01-01,0\n",
            "foods.csv": "food,attack_exposed_pct,attack_unexposed_pct,relative_risk,low,high\nchicken,0,0,0,0,0\n",
            "summary.json": '{"cases": 0, "people": 0, "vehicle": "chicken"}'},
)  # fmt: skip


def trial(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write the patients of a trial with two arms."""
    rows = []
    cutoff = date(2026, 3, 31)
    for number in range(settings["_patients"]):
        arm = "A" if number % 2 else "B"
        begun = date(2024, 1, 10) + timedelta(days=rng.randrange(560))
        lives = rng.expovariate(1 / (520 if arm == "A" else settings["_control"]))
        end = begun + timedelta(days=round(lives))
        lost = begun + timedelta(days=rng.randrange(60, 900)) if rng.random() < 0.15 else None
        late = cutoff + timedelta(days=rng.randrange(1, 60))
        died = end if end <= late and (lost is None or end <= lost) else None
        rows.append({
            "patient": f"{number + 1:03d}", "arm": arm, "randomised": begun.isoformat(),
            "last_seen": min(lost or late, died or late).isoformat(), "died": died.isoformat() if died else "",
            "consent_withdrawn": "before treatment" if rng.random() < 0.04 else "",
        })  # fmt: skip
    write_csv(folder / "patients.csv", rows)
    (folder / "plan.json").write_text(json.dumps({"cutoff": cutoff.isoformat()}), encoding="utf-8")


SURVIVAL = ExamTask(
    id="survival-table",
    title="Survival of two arms at the data cut",
    category="health_medicine/clinical_trials",
    occupation="15-2041",
    tier="medium",
    family="tables",
    hours=(2, 4),
    deliverables={"curves.csv": ("csv", "Kaplan-Meier estimates"), "summary.json": ("json", "medians and test")},
    brief="""
## Work description

Prepare the survival analysis of a trial at its data cut.

- Patients whose consent was withdrawn `before treatment` are left out.
- Time runs in days from `randomised`. A death on or before the cut-off date is an event at its day. Everybody else is censored at `last_seen`
  or at the cut-off, whichever is earlier; deaths after the cut-off are not events.
- Kaplan-Meier estimate for each arm, at each day on which somebody of that arm died: patients at risk just before (censored on the same day
  count as at risk), deaths, and survival after that day.
- Median: the first day on which survival is 0.5 or less, null if there is none.
- Log-rank test of the two arms over all days with deaths, with the hypergeometric variance, no weights, no continuity correction, one degree
  of freedom.

## Provided material

- `patients.csv`, `plan.json` (the cut-off date)

## Deliverables

- `curves.csv`: `arm`, `day`, `at_risk`, `deaths`, `survival` (to 0.0005)
- `summary.json`: `median_days` (arm -> day), `logrank_chi2` (to 0.01), `p_value` (to 0.001), `patients` (how many are analysed)
""",
    criteria=(
        Criterion("curves", "The estimates of both arms are right.", 3),
        Criterion("medians", "The medians and the number of patients are right.", 2),
        Criterion("test", "The log-rank test is right.", 2),
    ),
    grade='''
"""Survival: curves row by row, then medians and the test."""

from worksample.kit import Case, Check, Grade, close, every, tabular, weighted

LIKE = {"median_days": dict, "logrank_chi2": float, "p_value": float, "patients": int}


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def medians() -> Check:
        got = case.json("summary.json", like=LIKE)
        right = dict(got["median_days"]) == dict(want["median_days"]) and got["patients"] == want["patients"]
        return Check.of(right, f"medians {dict(got['median_days'])}, {got['patients']} patients")

    def test() -> Check:
        got = case.json("summary.json", like=LIKE)
        near = {"logrank_chi2": 0.01, "p_value": 0.001}
        return every(Check.of(close(got[k], want[k], near[k]), f"{k} is {got[k]}") for k in near)

    return weighted(
        case,
        curves=lambda: tabular(
            case.rows("curves.csv"), case.ref_rows("curves.csv"), keys=["arm", "day"], tolerance={"survival": 0.0005}
        ),
        medians=medians,
        test=test,
    )
''',
    instances={"phase-2": {"_patients": 90, "_control": 330}, "phase-3": {"_patients": 150, "_control": 400}},
    make=trial,
    slips={
        "past-cutoff": "Counts deaths after the cut-off.",
        "drops-censored": "Leaves out censored patients.",
        "all-randomised": "Keeps patients without consent.",
    },
    half=("all-randomised",),
    filler={"curves.csv": "arm,day,at_risk,deaths,survival\nA,0,0,0,1\n",
            "summary.json": '{"median_days": {}, "logrank_chi2": 0, "p_value": 1, "patients": 0}'},
)  # fmt: skip


def element(group: int, number: int, kind: str, value: bytes) -> bytes:
    """Return a data element in explicit VR, little endian."""
    value += (b"\0" if kind in ("UI", "OB") else b" ") * (len(value) % 2)
    head = struct.pack("<HH", group, number) + kind.encode()
    if kind in ("OB", "OW", "SQ", "UN", "UT"):
        return head + b"\0\0" + struct.pack("<I", len(value)) + value
    return head + struct.pack("<H", len(value)) + value


def us(value: int) -> bytes:
    """Return an unsigned short."""
    return struct.pack("<H", value)


PROFILE = [
    ("(0008,0020)", "StudyDate", "year"), ("(0008,0050)", "AccessionNumber", "empty"),
    ("(0008,0080)", "InstitutionName", "remove"), ("(0008,0090)", "ReferringPhysicianName", "empty"),
    ("(0008,1010)", "StationName", "remove"), ("(0010,0010)", "PatientName", "empty"),
    ("(0010,0020)", "PatientID", "pseudonym"), ("(0010,0030)", "PatientBirthDate", "year"),
    ("(0010,1000)", "OtherPatientIDs", "remove"), ("(0010,4000)", "PatientComments", "remove"),
    ("(0032,1032)", "RequestingPhysician", "remove"),
]  # fmt: skip


def scans(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write small CT slices with identifiers, and the profile that takes them out."""
    people = settings["_people"]
    for number, (name, born) in enumerate(people):
        uid = f"1.2.826.0.1.3680043.8.498.{1000 + number}.0".encode()
        meta = element(2, 1, "OB", b"\0\1") + element(2, 2, "UI", b"1.2.840.10008.5.1.4.1.1.2")
        meta += element(2, 3, "UI", uid) + element(2, 0x10, "UI", b"1.2.840.10008.1.2.1")
        pixels = b"".join(
            us(1000 + int(300 * math.exp(-((x - 12 - number) ** 2 + (y - 14) ** 2) / 40)) + rng.randrange(20))
            for y in range(28) for x in range(28)
        )  # fmt: skip
        body = [
            (8, 0x16, "UI", b"1.2.840.10008.5.1.4.1.1.2"), (8, 0x18, "UI", uid), (8, 0x20, "DA", b"20260%d17" % (number % 9 + 1)),
            (8, 0x50, "SH", b"ACC%05d" % rng.randrange(99999)), (8, 0x60, "CS", b"CT"), (8, 0x80, "LO", b"St Hilda Hospital"),
            (8, 0x90, "PN", b"Moreau^Ines"), (8, 0x1010, "SH", b"CT-ROOM-2"), (9, 0x10, "LO", b"ACME PRIVATE"),
            (9, 0x1001, "LO", name.encode()), (0x10, 0x10, "PN", name.encode()),
            (0x10, 0x20, "LO", b"H%06d" % (number * 37 + 1201)), (0x10, 0x30, "DA", born.encode()), (0x10, 0x40, "CS", b"F"),
            (0x10, 0x1000, "LO", b"INS-%d" % rng.randrange(10**6)), (0x10, 0x4000, "LT", b"Neighbour of the mayor"),
            (0x18, 0x50, "DS", b"%d.25" % 1), (0x20, 0x13, "IS", b"%d" % 1), (0x28, 2, "US", us(1)),
            (0x28, 4, "CS", b"MONOCHROME2"), (0x28, 0x10, "US", us(28)), (0x28, 0x11, "US", us(28)),
            (0x28, 0x100, "US", us(16)), (0x28, 0x101, "US", us(16)), (0x28, 0x102, "US", us(15)), (0x28, 0x103, "US", us(0)),
            (0x28, 0x1052, "DS", b"-1024"), (0x28, 0x1053, "DS", b"1"), (0x32, 0x1032, "PN", b"Moreau^Ines"),
            (0x7FE0, 0x10, "OW", pixels),
        ]  # fmt: skip
        data = b"\0" * 128 + b"DICM" + element(2, 0, "UL", struct.pack("<I", len(meta))) + meta
        (folder / f"slice-{number + 1}.dcm").write_bytes(data + b"".join(element(*e) for e in body))
    write_csv(folder / "profile.csv", [{"tag": t, "keyword": k, "action": a} for t, k, a in PROFILE])
    (folder / "salt.txt").write_text(f"salt-{rng.randrange(10**9)}\n", encoding="utf-8")


SLICES = tuple(f"slice-{n}.dcm" for n in (1, 2, 3))
DICOM = ExamTask(
    id="dicom-deidentify",
    title="Take identifiers out of CT slices",
    category="health_medicine/clinical_informatics",
    occupation="15-1211",
    tier="easy",
    family="medical",
    hours=(2, 4),
    deliverables=dict.fromkeys(SLICES, ("dicom", "the slice without identifiers")),
    brief="""
## Work description

CT slices go to a research group. Take identifiers out by the hospital's profile, and change nothing else. The files are DICOM with explicit
VR, little endian, without sequences; no DICOM library is installed.

- For each attribute of `profile.csv` that a file has: `remove` takes the attribute away; `empty` keeps it with no value; `year` keeps the year
  of a date and sets the day to 1 January; `pseudonym` replaces the value by `P` and the first ten hexadecimal digits (upper case) of the
  SHA-256 of the salt (`salt.txt`, without the line end) followed directly by the value (ASCII, without the padding).
- Private attributes (odd group numbers) are taken away, all of them.
- All other attributes, UIDs included, and every pixel stay as they are. Values have an even length (pad texts with a space).

## Provided material

- `slice-*.dcm`, `profile.csv` (tag, keyword, action), `salt.txt`

## Deliverables

- The same three file names. A file that still holds a private attribute, an attribute to remove, or a value where none may be counts as wrong
  altogether.
""",
    criteria=(
        Criterion("slices", "Identifiers are gone; all other attributes and all pixels are as they should be.", 1),
    ),
    grade='''
"""Slices: whatever still identifies makes a file 0; the constant pixels of a filler earn nothing."""

from worksample.kit import Case, Check, Grade, average, dicom, weighted
from worksample.kit.grader_errors import DeliverableError

ABSENT = ("PatientName", "InstitutionName", "StationName", "OtherPatientIDs", "PatientComments", "RequestingPhysician",
          "ReferringPhysicianName", "AccessionNumber", "0009,*")  # fmt: skip


def grade(case: Case) -> Grade:
    def slices() -> Check:
        found = []
        for name in case.references("*.dcm"):
            # The slice as given is an answer that must earn nothing.
            given, want = [case.input(name)], case.reference(name)
            try:
                found.append(dicom(case.output(name), want, absent=ABSENT, bands={0.5: 1}, trivial=given))
            except DeliverableError as error:
                found.append(Check(0.0, str(error)))
        return average(found)

    return weighted(case, slices=slices)
''',
    instances={
        "group-a": {
            "_people": [("Okafor^Ada", "19580312"), ("Lindqvist^Per", "19710905"), ("Rossi^Carla", "19490727")]
        },
        "group-b": {"_people": [("Novak^Jan", "19660118"), ("Haddad^Leila", "19830630"), ("Sato^Ren", "19521224")]},
    },
    make=scans,
    slips={
        "name-left": "Leaves the patient's name.",
        "keeps-private": "Leaves private attributes, which repeat the name.",
        "full-dates": "Leaves full dates.",
    },
    half=("full-dates",),
    filler=dict.fromkeys(SLICES, "DICM"),
    timeout=240,
)

TASKS = (OUTBREAK, SURVIVAL, DICOM)
