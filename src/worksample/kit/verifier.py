"""A task's own verifier as a grader: it is run where the agent worked, and the reward that it leaves is the score.

No reward, or one that is none, leaves the submission ungraded: a verifier that broke says nothing about the work.
"""

from __future__ import annotations

import json
import math

from worksample.errors import Cause, GraderError

from .broker import Ran
from .case import Case
from .grade import Grade, GradePart

REWARD_JSON, REWARD_TEXT = "reward.json", "reward.txt"


def verified(case: Case) -> Grade:
    """Run the verifier of the grading's settings, and read its reward: `reward.json` before `reward.txt`.

    A reward is a number from 0 to 1, or a table of such numbers: its `reward` is the score, else their mean.
    GraderError for anything else.
    """
    ran = case.verify()
    if ran.timed_out:
        raise GraderError("the verifier did not end in time", cause=Cause.GRADER_TIME)
    if REWARD_JSON in ran.files:
        return _from_json(ran)
    if REWARD_TEXT not in ran.files:
        tail = (ran.stderr.strip() or ran.stdout.strip())[-500:]
        raise _none(f"the verifier left no reward (exit code {ran.exit}): {tail}")
    try:
        return Grade(score=_number(float(ran.files[REWARD_TEXT].decode("utf-8").strip())))
    except ValueError as error:
        raise _none(f"{REWARD_TEXT}: {error}") from None


def _from_json(ran: Ran) -> Grade:
    try:
        found = json.loads(ran.files[REWARD_JSON])
    except (ValueError, RecursionError) as error:
        raise _none(f"{REWARD_JSON}: {error}") from None
    try:
        if not isinstance(found, dict):
            return Grade(score=_number(found))
        values = {str(name): _number(value) for name, value in found.items()}
    except ValueError as error:
        raise _none(f"{REWARD_JSON}: {error}") from None
    if not values:
        raise _none(f"{REWARD_JSON} holds no reward")
    score = values.get("reward", math.fsum(values.values()) / len(values))
    if len(values) == 1:
        return Grade(score=score)
    parts = tuple(GradePart(name=name[:200], fraction=value) for name, value in values.items())
    return Grade(score=score, parts=parts, reason="the verifier's own reward" if "reward" in values else "")


def _number(value: object) -> float:
    """ValueError for what is no finite number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:80]!r} is not a number")
    if not 0 <= value <= 1:
        raise ValueError(f"{value:g} is not between 0 and 1")
    return float(value)


def _none(what: str) -> GraderError:
    return GraderError(what, cause=Cause.GRADER_MALFORMED)
