"""A grader that runs the task's own verifier in a copy of the agent's box. The verifier's reward becomes the score.

A missing or malformed reward leaves the submission ungraded: a broken verifier says nothing about the work.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from worksample.errors import Cause, GraderError

from .broker_client import Ran
from .case import Case
from .grade import Grade, GradePart

REWARD, REWARD_JSON, REWARD_TEXT = "reward", "reward.json", "reward.txt"
_REWARD = f"let it write a number of 0..1 to /logs/verifier/{REWARD_TEXT}, then worksample task check FOLDER"


def verified(case: Case) -> Grade:
    """Run the task's verifier and return its reward as a grade. If both reward files exist, `reward.json` is used and
    not `reward.txt`.

    A reward is a number from 0 to 1, or a JSON object of such numbers. The score is the object's value `reward`,
    otherwise the mean of its values.

    If the task has steps, the verifier runs once for each step. It stops after a step whose reward is below the step's
    `min_reward`, and before a step that the agent did not start. The score comes from the last verified step if
    `strategy` is `final`, otherwise from the mean over the verified steps.

    Raises GraderError if a reward is missing or malformed.
    """
    settings = case.settings.get("verifier") or {}
    if steps := settings.get("step"):
        return _grade_steps(case, steps, final=settings.get("strategy") == "final")
    values = _rewards(case.verify())
    if len(values) == 1:
        return Grade(score=_score(values))
    parts = tuple(GradePart(name=name[:200], fraction=value) for name, value in values.items())
    return Grade(score=_score(values), parts=parts, reason="the verifier's own reward" if REWARD in values else "")


def _grade_steps(case: Case, steps: Sequence[Mapping[str, Any]], *, final: bool) -> Grade:
    found: list[dict[str, float]] = []
    parts: list[GradePart] = []
    reason = "the last step's reward" if final else "the mean of the steps' rewards"
    for step in steps:
        ran = case.verify(step["name"], step.get("timeout"))
        if ran.left:
            reason = ran.left
            break
        try:
            values = _rewards(ran)
        except GraderError as error:
            raise GraderError(f"step {step['name']}: {error.what}", next=error.next, cause=error.cause) from error
        found.append(values)
        parts.append(GradePart(name=step["name"], fraction=_score(values)))
        below = [name for name, least in step.get("min_reward", {}).items() if values.get(name, -math.inf) < least]
        if below:
            reason = f"step {step['name']} is below its min_reward in {', '.join(below)}: later steps do not count"
            break
    if not found:
        raise GraderError(reason, cause=Cause.GRADER_MALFORMED, next="worksample task check FOLDER")
    names = dict.fromkeys(name for values in found for name in values)
    means = {name: math.fsum(values.get(name, 0.0) for values in found) / len(found) for name in names}
    return Grade(score=_score(found[-1] if final else means), parts=tuple(parts), reason=reason[:1000])


def _score(values: Mapping[str, float]) -> float:
    return values.get(REWARD, math.fsum(values.values()) / len(values))


def _rewards(ran: Ran) -> dict[str, float]:
    """Return the rewards of a verifier's run by name; a single number has the name `reward`. Raises GraderError if the
    verifier timed out, or wrote no valid reward.
    """
    if ran.timed_out:
        raise GraderError(
            "the verifier did not end in time",
            cause=Cause.GRADER_TIME,
            next="raise timeout of [grading.program] in task.toml, then worksample task check FOLDER",
        )
    if REWARD_JSON in ran.files:
        return _from_json(ran)
    if REWARD_TEXT not in ran.files:
        tail = (ran.stderr.strip() or ran.stdout.strip())[-500:]
        raise _malformed_reward(f"the verifier wrote no reward file (exit code {ran.exit}): {tail}")
    try:
        return {REWARD: _number(float(ran.files[REWARD_TEXT].decode("utf-8").strip()))}
    except ValueError as error:
        raise _malformed_reward(f"{REWARD_TEXT}: {error}") from None


def _from_json(ran: Ran) -> dict[str, float]:
    try:
        found = json.loads(ran.files[REWARD_JSON])
    except (ValueError, RecursionError) as error:
        raise _malformed_reward(f"{REWARD_JSON}: {error}") from None
    try:
        values = {str(name): _number(value) for name, value in _table(found).items()}
    except ValueError as error:
        raise _malformed_reward(f"{REWARD_JSON}: {error}") from None
    if not values:
        raise _malformed_reward(f"{REWARD_JSON} holds no reward")
    return values


def _table(found: object) -> dict[Any, object]:
    return found if isinstance(found, dict) else {REWARD: found}


def _number(value: object) -> float:
    """Return `value` as a float. Raises ValueError if `value` is not a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:80]!r} is not a number")
    if not 0 <= value <= 1:
        raise ValueError(f"{value:g} is not between 0 and 1")
    return float(value)


def _malformed_reward(what: str) -> GraderError:
    return GraderError(what, cause=Cause.GRADER_MALFORMED, next=_REWARD)
