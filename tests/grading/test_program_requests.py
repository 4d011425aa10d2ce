"""Requests of a grader to run a program are checked against limits before a box is opened."""

from __future__ import annotations

from typing import Any

import pytest

from worksample.box import BoxConfig, Completed
from worksample.files import HashSink
from worksample.grading.program_requests import ANSWER_FILES, ProgramRequest, ProgramRequests, parse
from worksample.kit.broker_client import pack, unpack
from worksample.sandboxes.request_broker import MalformedRequest


def test_omitted_fields_have_defaults() -> None:
    assert parse({"argv": ["true"]}, 100.0) == ProgramRequest(["true"], b"", {}, [], 30.0)
    asked = parse(
        {"argv": ["a"] * 1_000, "stdin": "x", "files": {"a/b": pack(b"in")}, "collect": ["out"], "timeout": 7}, 5.0
    )
    assert asked == ProgramRequest(["a"] * 1_000, b"x", {"a/b": b"in"}, ["out"], 5.0)
    assert len(parse({"argv": ["a"], "collect": [f"f{n}" for n in range(ANSWER_FILES)]}, 5.0).collect) == ANSWER_FILES


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"argv": []}, "argv"), ({"argv": "true"}, "argv"), ({"argv": ["a\0"]}, "argv"), ({"argv": ["\ud800"]}, "argv"),
        ({"argv": [1]}, "argv"), ({"argv": ["a"] * 1_001}, "argv"), ({"stdin": 1}, "stdin"),
        ({"timeout": 0}, "timeout"), ({"timeout": True}, "timeout"), ({"timeout": float("inf")}, "timeout"),
        ({"timeout": float("nan")}, "timeout"), ({"timeout": "1"}, "timeout"), ({"files": []}, "files"),
        ({"collect": "a"}, "collect"), ({"collect": [f"f{n}" for n in range(ANSWER_FILES + 1)]}, "collect"),
        ({"collect": ["../x"]}, "invalid"), ({"files": {"/etc/x": ""}}, "invalid"), ({"collect": [1]}, "must be text"),
        ({"files": {"a": "!"}}, "content is invalid"),
    ],
)  # fmt: skip
def test_malformed_request_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(MalformedRequest, match=says):
        parse({"argv": ["true"], **changed}, 10.0)


async def test_spent_time_counts_as_hanging_without_a_box() -> None:
    runs = ProgramRequests(BoxConfig(), "no such kind", HashSink(), 10.0, [], left=0.0)
    told = await runs.run({"argv": ["x" * 600, *["y"] * 60], "stdin": "in"})
    assert (told["exit"], unpack(told["stdout"]), told["files"]) == (None, b"", {})
    [record] = runs.records
    assert (record["exit"], len(record["argv"]), len(record["argv"][0])) == (None, 50, 500)
    assert record["stdin"] == HashSink().put(b"in")


def test_result_of_a_program_is_returned_and_recorded() -> None:
    runs = ProgramRequests(BoxConfig(), "none", HashSink(), 10.0, [])
    done = Completed(3, b"out", b"err", truncated=True, oom=True, seconds=1.23456)
    told = runs._reply(ProgramRequest(["a"], b"", {"in": b"1"}, ["out"], 5.0), done, {"out": b"2"})
    assert told == {"exit": 3, "stdout": pack(b"out"), "stderr": pack(b"err"), "files": {"out": pack(b"2")}}
    digest = HashSink().put
    assert runs.records == [
        {
            "argv": ["a"], "given": {"in": digest(b"1")}, "stdin": None, "exit": 3, "seconds": 1.235,
            "out_of_memory": True, "cut": True, "stdout": digest(b"out"), "stderr": digest(b"err"),
            "files": {"out": digest(b"2")},
        }
    ]  # fmt: skip
