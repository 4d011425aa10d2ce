"""Sends the broker what is no request, then a sound one."""

import os
import time
from pathlib import Path

from worksample.kit import Case, Check, Grade, checklist

JUNK = [
    b"no json",
    b"[]",
    b'{"argv": []}',
    b'{"argv": ["x"], "files": {"../../etc": ""}}',
    b'{"argv": [1]}',
    b"[" * 100_000,
]


def grade(case: Case) -> Grade:
    folder = Path("/task/result/broker")
    for number, junk in enumerate(JUNK, 1):
        (folder / f"{number:04}.request.json").write_bytes(junk)
        while not (folder / f"{number:04}.answer.json").exists():
            time.sleep(0.01)
    number = len(JUNK) + 1
    os.mkfifo(folder / f"{number:04}.request.json")
    while not (folder / f"{number:04}.answer.json").exists():
        time.sleep(0.01)
    case._broker.count = number
    ran = case.run(["cat", "/task/output/answer.txt"])
    return checklist(case, right=lambda: Check.of(ran.stdout == "1", ran.stderr))
