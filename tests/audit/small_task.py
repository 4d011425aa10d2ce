"""A small task whose instances differ in the faults of their grader, which settings switch on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from worksample.tasks import Package, read_package, scaffold

GRADER = """
import json

from worksample.errors import DeliverableError
from worksample.kit import Case, Grade, GradePart


def grade(case: Case) -> Grade:
    fault = case.setting("fault", "none")
    if fault == "reference" and not (case.folder("reference") / "bill.json").is_file():
        return Grade(score=0.0)
    right = case.ref_json("bill.json")
    try:
        bill = case.json("bill.json")
    except DeliverableError:
        bill = {}
    bill = bill if isinstance(bill, dict) else {}
    allowed = 0.0 if fault == "tolerance" else case.setting("tolerance")["total"]
    total = abs(bill.get("total", 0) - right["total"]) <= allowed
    vat = bill.get("vat") == right["vat"] or (fault == "blind" and "total" in bill)
    try:
        note = case.text("note.txt")
    except DeliverableError:
        note = None
    said = note is not None if fault == "existence" else note is not None and str(right["total"]) in note
    said = said and fault != "unreached"
    parts = [("total", 2.0, total), ("vat", 1.0, vat), ("note", 3.0 if fault == "points" else 1.0, said)]
    worth = sum(points for _, points, _ in parts)
    earned = sum(points for _, points, passed in parts if passed)
    made = tuple(GradePart(name=name, points=points, fraction=float(passed)) for name, points, passed in parts)
    return Grade(score=earned / worth, parts=made)
"""
MANIFEST = """
id = "bill"
title = "Bill"
version = "1.0"
canary = "worksample-canary-00000000-0000-4000-8000-000000000000"

[about]
category = "upwork:accounting-consulting/accounting-bookkeeping"
licence = "CC-BY-4.0"
provenance = "Made for a test."

[environment]
interfaces = ["terminal"]

[deliverables]
"bill.json" = { format = "json", required = true }
"note.txt" = { format = "txt", required = true }

[grading.program]
entry = "grade.py"
timeout = 60
settings = { tolerance = { total = 0.5 } }
"""
BRIEF = """## Work description

Add up the bill.

## Provided material

- `items.csv`

## Deliverables

- `bill.json`: with `total` and `vat`
- `note.txt`: the total in a sentence
"""
CRITERIA = "".join(
    f'[[criterion]]\nid = "{id}"\ntext = "The {id} is right."\npoints = {points}\n\n'
    for id, points in (("total", 2), ("vat", 1), ("note", 1))
)
FLOATING = ("none", "tolerance", "blind")
"""Instances whose reference has figures that are changed within and beyond the tolerance."""


def faulty(root: Path, faults: tuple[str, ...]) -> Package:
    """A package with one instance per fault; `none` is sound and has a case that fails every criterion."""
    folder = root / "bill"
    manifest = MANIFEST
    for fault in faults:
        for part in ("inputs", "reference"):
            (folder / part / fault).mkdir(parents=True)
        (folder / "inputs" / fault / "items.csv").write_text("item,price\nchair,71\ndesk,212\nlamp,17\n")
        bill: dict[str, float] = {"total": 300.5, "vat": 57.25} if fault in FLOATING else {"total": 300, "vat": 57}
        (folder / "reference" / fault / "bill.json").write_text(json.dumps(bill))
        (folder / "reference" / fault / "note.txt").write_text(f"It comes to {bill['total']} euros.\n")
        if fault == "copied":
            for name in ("bill.json", "note.txt"):
                shutil.copy(folder / "reference" / fault / name, folder / "inputs" / fault / name)
        manifest += f'\n[[instance]]\nname = "{fault}"\ninputs = "inputs/{fault}"\nreference = "reference/{fault}"\n'
        manifest += f'settings = {{ fault = "{fault}" }}\n'
    case = folder / "cases" / "wrong"
    (case / "output").mkdir(parents=True)
    (case / "case.toml").write_text('about = "Nothing is right."\ninstance = "none"\nscore = 0.0\n')
    (case / "output" / "bill.json").write_text('{"total": 1.5, "vat": 2.5}')
    (case / "output" / "note.txt").write_text("I do not know.\n")
    for name, text in {"task.toml": manifest, "brief.md": BRIEF, "criteria.toml": CRITERIA, "grade.py": GRADER}.items():
        (folder / name).write_text(text.lstrip())
    return read_package(folder)


def changed(root: Path, changes: dict[str, tuple[str, str]], files: dict[str, str | bytes] | None = None) -> Package:
    """The scaffold, with texts replaced (`file: (old, new)`) and files added."""
    folder = scaffold(root, "made")
    for name, (old, new) in changes.items():
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    for name, data in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_package(folder)
