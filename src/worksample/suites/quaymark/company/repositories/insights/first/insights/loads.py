"""Deliveries as Dispatch exports them."""

import csv


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
