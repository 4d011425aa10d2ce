"""Frames of the boxes in the vehicles: `QM-07;2026-03-02T05:31;118231.4;3.8`."""

MISSING = ("", "-", "n/a")


def decode(line):
    """A frame as a dictionary; what a sensor did not say is None. ValueError for anything else."""
    fields = line.strip().split(";")
    if len(fields) != 4 or not fields[0].startswith("QM-"):
        raise ValueError(f"no frame: {line[:80]!r}")
    vehicle, at, odometer, celsius = fields
    return {"vehicle": vehicle, "at": at, "odometer": _number(odometer), "celsius": _number(celsius)}


def _number(text):
    return None if text.strip() in MISSING else float(text)
