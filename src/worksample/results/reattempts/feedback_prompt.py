"""The feedback prompt for a re-attempt: the criteria that the agent may see, and the feedback on its work."""

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
"""Folder in the agent's box that contains the earlier work, read-only."""
LONGEST = 20_000
"""Maximum number of characters of the whole feedback prompt."""

AGAIN = (
    "You did this work before, and the client did not accept it. Your earlier deliverables are in {previous} "
    "(read-only). Deliver the complete work again in {output}: no earlier file is copied there for you."
)
GENERIC = (
    "Check your earlier work against the brief, requirement by requirement. Look for missing parts, for files that do "
    "not open or that have a wrong name or format, for numbers that do not add up, and for anything else that a client "
    "would send back. Fix what you find and keep what is good."
)


def shown_criteria(criteria: Criteria, view: ShownRubric) -> str:
    """Return the criteria that the agent sees, as a Markdown list. Return an empty text if the agent sees none."""

    def lines(nodes: Sequence[Criterion], depth: int) -> list[str]:
        found = []
        for node in nodes:
            found.append(f"{'  ' * depth}- {_describe_criterion(node, view)}")
            found += lines(node.parts, depth + 1)
        return found

    return "" if view is ShownRubric.NONE else "\n".join(lines(criteria.criteria, 0))


def _describe_criterion(node: Criterion, view: ShownRubric) -> str:
    if view is not ShownRubric.IMPORTANCES:
        return node.text
    weight = node.importance.value if node.importance else f"{node.worth:g} points"
    return f"{node.text} ({weight}{', required' if node.gate else ''})"


def feedback_prompt(arm: Arm, output: str, criteria: Criteria, evaluations: Iterable[Evaluation]) -> str:
    """Build the text that is added to the brief. If the arm does not show the criteria, they appear only as far as the
    feedback mentions them.
    """
    parts = ["# Your earlier work", AGAIN.format(previous=PREVIOUS, output=output)]
    if arm.feedback is Feedback.GENERIC:
        parts.append(GENERIC)
    said = [text for e in evaluations if (text := _describe_evaluation(e, arm.shown_rubric, criteria))]
    if said:
        parts.append("# Feedback on it")
        parts += [f"## Evaluator {n}\n\n{text}" for n, text in enumerate(said, 1)] if len(said) > 1 else said
    text = "\n\n".join(parts)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[... shortened]"


def words_of(evaluation: Evaluation) -> int:
    """Return the number of words that an evaluation adds to the feedback if the agent sees no criteria."""
    return len(_describe_evaluation(evaluation, ShownRubric.NONE, Criteria()).split())


def _describe_evaluation(evaluation: Evaluation, view: ShownRubric, criteria: Criteria) -> str:
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
            lines.append(f"- {_describe_criterion(leaf, view)}: {mark}{f'. {reason}' if reason else ''}")
        elif reason:
            lines.append(f"- {reason}")
    return "\n".join(lines)
