"""What an agent is told that works again, in words: what of the rubric is its to see, and what was said of its work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worksample.records import (
    Arm,
    Criteria,
    Criterion,
    Evaluation,
    Feedback,
    GradePayload,
    Holistic,
    ShownRubric,
)

PREVIOUS = "/task/previous"
"""Where the earlier work lies, read-only."""
LONGEST = 20_000
"""Characters of all feedback."""

AGAIN = (
    "You did this work before, and a client who looked at it did not accept it. What you handed in lies in {previous} "
    "(read-only). Hand in the whole work again in {output}: what is not there is not looked at, and nothing of the "
    "earlier work is taken over by itself."
)
GENERIC = (
    "Go through the brief requirement by requirement and compare it with what you handed in. Look for what is missing, "
    "for files that do not open or have another name or format than was asked for, for numbers that do not add up, and "
    "for anything a client would send back. Put right what you find and keep what is good."
)


def shown_criteria(criteria: Criteria, view: ShownRubric) -> str:
    """The criteria as a list in Markdown, as an agent sees them; empty where it sees none."""

    def lines(nodes: Sequence[Criterion], depth: int) -> list[str]:
        found = []
        for node in nodes:
            found.append(f"{'  ' * depth}- {_named(node, view)}")
            found += lines(node.parts, depth + 1)
        return found

    return "" if view is ShownRubric.NONE else "\n".join(lines(criteria.criteria, 0))


def _named(node: Criterion, view: ShownRubric) -> str:
    if view is not ShownRubric.IMPORTANCES:
        return node.text
    weight = node.importance.value if node.importance else f"{node.worth:g} points"
    return f"{node.text} ({weight}{', required' if node.gate else ''})"


def told(arm: Arm, output: str, criteria: Criteria, evaluations: Iterable[Evaluation]) -> str:
    """What is added to the brief. Of criteria that the arm does not show only what was said of them is given."""
    parts = ["# Your earlier work", AGAIN.format(previous=PREVIOUS, output=output)]
    if arm.feedback is Feedback.GENERIC:
        parts.append(GENERIC)
    said = [text for e in evaluations if (text := _said(e, arm.shown_rubric, criteria))]
    if said:
        parts.append("# What was said of it")
        parts += [f"## Evaluator {n}\n\n{text}" for n, text in enumerate(said, 1)] if len(said) > 1 else said
    text = "\n\n".join(parts)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[... cut here]"


def words_of(evaluation: Evaluation) -> int:
    """How many words of its own an evaluation gives on where no criteria are shown."""
    return len(_said(evaluation, ShownRubric.NONE, Criteria()).split())


def _said(evaluation: Evaluation, view: ShownRubric, criteria: Criteria) -> str:
    payload = evaluation.payload
    if isinstance(payload, Holistic):
        return payload.justification.strip()
    if not isinstance(payload, GradePayload):
        return ""
    by_id = {leaf.id: leaf for leaf in criteria.leaves}
    lines = [payload.reason.strip()] if payload.reason.strip() else []
    for part in payload.leaves:
        leaf, reason = by_id.get(part.name), part.reason.strip()
        if part.fraction is None or (part.passed and not reason):
            continue
        mark = "met" if part.passed else "not met"
        if leaf is not None and view is not ShownRubric.NONE:
            lines.append(f"- {_named(leaf, view)}: {mark}{f'. {reason}' if reason else ''}")
        elif reason:
            lines.append(f"- {reason}")
    return "\n".join(lines)
