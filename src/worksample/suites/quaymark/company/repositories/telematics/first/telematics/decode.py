"""Frames of the boxes in the vehicles: `QM-07;2026-03-02T05:31;118231.4;3.8`."""


def decode(line):
    vehicle, at, odometer, celsius = line.strip().split(";")
    return {"vehicle": vehicle, "at": at, "odometer": float(odometer), "celsius": float(celsius)}
