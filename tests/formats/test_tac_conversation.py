"""Which evaluators of a copy need the conversation, and what a search in it finds."""

from __future__ import annotations

import pytest

from formats.tac_small_repository import GREET, NOTES, REPORT
from worksample.formats.tac.conversation import (
    SearchedTrajectory,
    TrajectoryUse,
    is_address,
    use_of_conversation,
    visited_addresses,
)
from worksample.formats.tac.original_evaluate import ORIGINS

IN_LOOP = """
def one():
    return True
def two(trajectory):
    return "x/y" in trajectory
def grade_checkpoints(trajectory=""):
    for check, about in [{pairs}]:
        check(trajectory) if check.__name__ == "<lambda>" else check()
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (REPORT, TrajectoryUse.NONE),
        (NOTES, TrajectoryUse.NONE),
        (GREET, TrajectoryUse.SEARCH),
        ("def grade_checkpoints():\n    return 'trajectory'", TrajectoryUse.NONE),
        ("def grade_checkpoints(trajectory):\n    return 'a' in trajectory", TrajectoryUse.SEARCH),
        ("def grade_checkpoints(log=''):\n    return log is not None and 'a' in str(log)", TrajectoryUse.SEARCH),
        ("def grade_checkpoints(t):\n    return all(one in t for one in ('a', 'b'))", TrajectoryUse.SEARCH),
        ("def grade_checkpoints(t):\n    return t in ('a', 'b')", TrajectoryUse.READ),
        ("def grade_checkpoints(t):\n    return 'failed' in t.lower()", TrajectoryUse.READ),
        ("import re\ndef grade_checkpoints(t):\n    return re.search('a', t)", TrajectoryUse.READ),
        (
            "def f(t):\n    return g(t)\ndef g(t):\n    return f(t)\ndef grade_checkpoints(t):\n    return f(t)",
            TrajectoryUse.NONE,
        ),
        ("def f(a, b=''):\n    return 'x' in b\ndef grade_checkpoints(t):\n    return f(1, b=t)", TrajectoryUse.SEARCH),
        ("def f(a, b=''):\n    return 'x' in b\ndef grade_checkpoints(t):\n    return f(t)", TrajectoryUse.NONE),
        ("def f(*all):\n    return all\ndef grade_checkpoints(t):\n    return f(t)", TrajectoryUse.READ),
        ("def f(**all):\n    return all\ndef grade_checkpoints(t):\n    return f(a=t)", TrajectoryUse.READ),
        ("from other import f\ndef grade_checkpoints(t):\n    return f(t)", TrajectoryUse.READ),
        ("def grade_checkpoints(t):\n    global kept\n    kept = t", TrajectoryUse.READ),
        (IN_LOOP.format(pairs="(one, 'a'), (one, 'b')"), TrajectoryUse.NONE),
        (IN_LOOP.format(pairs="(lambda t: two(t), 'a'), (one, 'b')"), TrajectoryUse.SEARCH),
    ],
)
def test_use_of_the_conversation_is_found(source: str, expected: TrajectoryUse) -> None:
    assert use_of_conversation(source) is expected


HOME = "http://the-agent-company.com:3000/home"
BRIEF = {"source": "user", "message": f"Go to {HOME} and read requirements.txt."}
ACTION = {"source": "agent", "message": f"I have visited {HOME}.", "tool_calls": [{"function_name": "bash"}]}
VISIT = {"at": "", "service": "chat", "by": "", "method": "GET", "path": "/home?a=b", "status": 302}


@pytest.mark.parametrize(
    ("steps", "log", "wanted", "found", "unknown"),
    [
        # An address counts if it was visited, not if the brief or the agent names it.
        ([BRIEF, ACTION], [], HOME, False, False),
        ([BRIEF, ACTION], [VISIT], HOME, True, False),
        ([], [VISIT], HOME, True, False),
        ([], [], HOME, False, False),
        ([BRIEF, ACTION], [{**VISIT, "method": "POST"}], HOME, False, False),
        ([BRIEF, ACTION], [{**VISIT, "service": "tracker"}], HOME, False, False),
        ([BRIEF, ACTION], [{**VISIT, "service": "nonesuch"}], HOME, False, False),
        # Without a log, the agent's own steps are all that is known.
        ([BRIEF], None, HOME, False, False),
        ([BRIEF, ACTION], None, HOME, True, False),
        ([], None, HOME, False, True),
        # Words are searched for in the steps, without the brief.
        ([BRIEF, ACTION], [], "requirements.txt", False, False),
        ([BRIEF, ACTION], [], "bash", True, False),
        ([], [VISIT], "bash", False, True),
    ],
)
def test_search_for_an_address_looks_at_visits(
    steps: list[dict[str, object]], log: list[dict[str, object]] | None, wanted: str, found: bool, unknown: bool
) -> None:
    text = SearchedTrajectory(steps, None if log is None else visited_addresses(log, ORIGINS))
    for way in (text, str(text)):
        assert (wanted in way) is found
    assert text.unknown is unknown


def test_page_of_a_folder_counts_under_the_products_address() -> None:
    log = [
        {"service": "files", "by": "", "method": "GET", "path": path}
        for path in ("/Documents/Data%20Analysis/", "/remote.php/webdav/Documents/Admin/")
    ]
    text = SearchedTrajectory([], visited_addresses(log, ORIGINS))
    assert "dir=/Documents/Data%20Analysis" in text
    assert "dir=/Documents/Admin" not in text and "/Documents/Admin" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [(HOME, True), ("dir=/Documents", True), ("root/doc/-/wikis", True), ("home", False), ("pytest tests/unit", False)],
)
def test_address_has_a_slash_and_no_space(text: str, expected: bool) -> None:
    assert is_address(text) is expected
