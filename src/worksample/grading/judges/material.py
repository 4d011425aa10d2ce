"""What a judge is shown of a submission, and what it and its reference are called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from worksample.errors import Cause, JudgeError
from worksample.grading.evaluators import EvaluationRequest
from worksample.models import Exhibit, ModelRole, Visibility
from worksample.records import Submission

if TYPE_CHECKING:
    from worksample.store import Store

UNSEEN = "what could not be shown"
"""The side of an exhibit that says why a file is not there to look at; `viewing.exhibits` writes the same."""
REFERENCE = "the reference, made by a person"
NAMED = 5
"""Files that an error names."""
_NEXT = {
    Cause.JUDGE_UNSHOWN: "worksample doctor says which converters are missing; worksample grade asks the judge again",
    Cause.JUDGE_BLIND: "let people judge this work: worksample review --experiment EXPERIMENT",
    Cause.GRADER_REFERENCE: "repair the reference of the instance, then worksample grade EXPERIMENT --task DIR",
}
Render = Callable[["Store", str], Awaitable[tuple[Exhibit, ...]]]
"""From the digest of a manifest to its files as people see them. `viewing.exhibits` is one."""


@dataclass(frozen=True, slots=True)
class JudgeMaterial:
    """A judge, what it is asked about, and how that is made visible."""

    role: ModelRole
    asked: EvaluationRequest
    render: Render

    async def work(self, submission: Submission | None = None) -> tuple[Exhibit, ...]:
        """The deliverables, by default those that are judged."""
        parts = (submission or self.asked.submission).parts
        return tuple(map(_with_blame, await self.render(self.asked.store, parts["output"].manifest)))

    async def reference(self) -> tuple[Exhibit, ...]:
        """The human's deliverable, as people see it."""
        digest = self.asked.instance.shown_reference or self.asked.grading.reference
        return tuple(replace(_with_blame(e), side=REFERENCE) for e in await self.render(self.asked.store, digest))

    @property
    def brief(self) -> str:
        """What was commissioned: the task author's words."""
        notes = self.asked.grading.notes.strip()
        said = f"The work was commissioned with this brief:\n\n{self.asked.instance.work.brief.strip()}"
        return f"{said}\n\nNotes for judges:\n\n{notes}" if notes else said


def _with_blame(exhibit: Exhibit) -> Exhibit:
    """With who is to blame for what is not there to look at: without evidence, Worksample."""
    unknown = exhibit.side == UNSEEN and exhibit.visibility is Visibility.SHOWN
    return replace(exhibit, visibility=Visibility.CRASHED) if unknown else exhibit


def hidden_exhibits(work: Sequence[Exhibit], reference: Sequence[Exhibit] = ()) -> tuple[Exhibit, ...]:
    """What the judge cannot be shown, through no fault of the work.

    A file that is itself to blame is not among them: the judge is told so, and judges it. Of the reference every file
    is, since nobody can compare work with what cannot be seen. Raises JudgeError where nothing is left to look at.
    """
    shown = (Visibility.SHOWN, Visibility.FILE)
    hidden = tuple(e for e in work if e.visibility not in shown)
    hidden += tuple(e for e in reference if e.visibility is not Visibility.SHOWN)
    blank = hidden and not any(e.visibility in shown for e in work)
    if blank or (reference and not any(e.visibility is Visibility.SHOWN for e in reference)):
        raise unshown_error(hidden)
    return hidden


def unshown_error(hidden: Sequence[Exhibit]) -> JudgeError:
    """Why the work stays ungraded by a judge that was not shown these."""
    blame = {e.visibility for e in hidden}
    cause = Cause.JUDGE_BLIND
    if Visibility.FILE in blame:
        cause = Cause.GRADER_REFERENCE
    elif any(each.ours for each in blame):
        cause = Cause.JUDGE_UNSHOWN
    named = "; ".join(f"{e.name}: {e.text[:200]}" for e in hidden[:NAMED])
    more = f"; and {len(hidden) - NAMED} more" if len(hidden) > NAMED else ""
    return JudgeError(f"the judge could not be shown {named}{more}", cause=cause, next=_NEXT[cause])


async def render_both(one: Awaitable[tuple[Exhibit, ...]], other: Awaitable[tuple[Exhibit, ...]]) -> tuple[
    tuple[Exhibit, ...], tuple[Exhibit, ...]
]:  # fmt: skip
    """Two renderings side by side."""
    first, second = await asyncio.gather(one, other)
    return first, second
