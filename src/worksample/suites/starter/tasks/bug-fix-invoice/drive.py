"""Calls the delivered package in a box of its own: what is asked stands in calls.json, what came of it in answers.json.

This file knows no right answers. Values go over as JSON: `{"$decimal": "1.5"}`, `{"$date": "2026-01-30"}`,
`{"$line": [quantity, unit price, VAT rate]}`; an exception as `{"$error": "ValueError"}`.
"""

import importlib
import json
from datetime import date, datetime
from decimal import Decimal


def decoded(value):
    if isinstance(value, list):
        return [decoded(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$decimal" in value:
        return Decimal(value["$decimal"])
    if "$date" in value:
        return date.fromisoformat(value["$date"])
    if "$line" in value:
        line = importlib.import_module("invoicer.lines").Line
        return line("item", *map(Decimal, value["$line"]))
    raise KeyError(value)


def encoded(value):
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    if isinstance(value, date) and not isinstance(value, datetime):
        return {"$date": value.isoformat()}
    if isinstance(value, dict):
        return {"$dict": [[encoded(k), encoded(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [encoded(v) for v in value]
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return value
    return {"$other": type(value).__name__}


def answer(call):
    module, _, name = call["call"].rpartition(".")
    try:
        return encoded(getattr(importlib.import_module(module), name)(*map(decoded, call["args"])))
    except Exception as error:  # noqa: BLE001 - the package under test: whatever it raises is its answer
        return {"$error": type(error).__name__}


with open("calls.json") as calls:  # noqa: PTH123
    found = {call["id"]: answer(call) for call in json.load(calls)}
with open("answers.json", "w") as answers:  # noqa: PTH123
    json.dump(found, answers)
