"""Sends the broker what is no request, then a sound one."""

import json
import socket
import struct

from worksample.kit import Case, Check, Grade, checklist

ASK = b'{"verb": "run", "body": '
JUNK = [
    b"no json",
    b"[]",
    b'{"verb": "delete", "body": {}}',
    ASK + b'{"argv": []}}',
    ASK + b'{"argv": ["x"], "files": {"../../etc": ""}}}',
    ASK + b'{"argv": [1]}}',
    ASK + b'{"argv": ["x"], "timeout": 1' + b"0" * 5000 + b"}}",
    b"[" * 100_000,
]


def grade(case: Case) -> Grade:
    path = "/task/scratch/broker.sock"
    line = socket.socket(socket.AF_UNIX)
    line.connect(path)
    answers = line.makefile("rb")
    failed = []
    for junk in JUNK:
        line.sendall(struct.pack("!I", len(junk)) + junk)
        failed.append(json.loads(answers.read(struct.unpack("!I", answers.read(4))[0]))["cause"])
    line.sendall(b"\xff\xff\xff\xff and much more")
    failed.append(json.loads(answers.read(struct.unpack("!I", answers.read(4))[0]))["cause"])
    ended = answers.read(1) == b""  # what is no frame ends the connection
    half = socket.socket(socket.AF_UNIX)
    half.connect(path)
    half.sendall(struct.pack("!I", 1000) + b"half")  # and is left like that
    gone = socket.socket(socket.AF_UNIX)
    gone.connect(path)
    gone.sendall(b"\0")
    gone.close()
    ran = case.run(["cat", "/task/output/answer.txt"])
    right = ended and set(failed) == {"grader.crash"} and ran.stdout == "1"
    return checklist(case, right=lambda: Check.of(right, f"{ended} {failed} {ran.stderr}"))
