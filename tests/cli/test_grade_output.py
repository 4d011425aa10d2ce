"""Output of `worksample grade` for submissions that a new grader could not grade."""

from __future__ import annotations

from worksample.cli.commands.grade import first_lines


def test_crash_is_one_line_without_traceback() -> None:
    crash = "grade.py:6: SyntaxError: bad\nTraceback (most recent call last):\n  File ...\n"
    assert (
        first_lines((crash, "score 1 before, nothing now"))
        == "grade.py:6: SyntaxError: bad\nscore 1 before, nothing now"
    )
