"""The material that a judge sees: the brief, and the exhibits of a submission and of its reference."""

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
"""Value of `side` for an exhibit that only says why a file cannot be shown. `viewing.exhibits` uses the same text."""
REFERENCE = "the reference, made by a person"
NAMED = 5
"""Maximum number of files that an error message lists."""
_NEXT = {
    Cause.JUDGE_UNSHOWN: "worksample doctor says which converters are missing; worksample grade asks the judge again",
    Cause.JUDGE_BLIND: "let people judge this work: worksample review --experiment EXPERIMENT",
    Cause.GRADER_REFERENCE: "repair the reference of the instance, then worksample grade EXPERIMENT --task DIR",
}
Render = Callable[["Store", str], Awaitable[tuple[Exhibit, ...]]]
"""A function that returns the exhibits of all files in a manifest, such as `viewing.exhibits`. Arguments: the store,
and the digest of the manifest.
"""


@dataclass(frozen=True, slots=True)
class JudgeMaterial:
    """The material for one evaluation by a judge. `render` converts files to exhibits."""

    role: ModelRole
    asked: EvaluationRequest
    render: Render

    async def work(self, submission: Submission | None = None) -> tuple[Exhibit, ...]:
        """Return the exhibits of a submission's deliverables. Without an argument, the submission of the request is
        used.
        """
        parts = (submission or self.asked.submission).parts
        return tuple(map(_with_blame, await self.render(self.asked.store, parts["output"].manifest)))

    async def reference(self) -> tuple[Exhibit, ...]:
        """Return the exhibits of the reference, limited to the files that people see."""
        digest = self.asked.instance.shown_reference or self.asked.grading.reference
        return tuple(replace(_with_blame(e), side=REFERENCE) for e in await self.render(self.asked.store, digest))

    @property
    def brief(self) -> str:
        """Return the brief and the task author's notes as text."""
        notes = self.asked.grading.notes.strip()
        said = f"The work was commissioned with this brief:\n\n{self.asked.instance.work.brief.strip()}"
        return f"{said}\n\nNotes for judges:\n\n{notes}" if notes else said


def _with_blame(exhibit: Exhibit) -> Exhibit:
    """Return the exhibit. If the exhibit cannot be shown for an unknown reason, it is marked as a crash of the
    platform's converter.
    """
    unknown = exhibit.side == UNSEEN and exhibit.visibility is Visibility.SHOWN
    return replace(exhibit, visibility=Visibility.CRASHED) if unknown else exhibit


def hidden_exhibits(work: Sequence[Exhibit], reference: Sequence[Exhibit] = ()) -> tuple[Exhibit, ...]:
    """Return the exhibits that cannot be shown to the judge, although the work is not to blame.

    A damaged file of the work is not among them: the judge learns that the file is damaged and takes that into account.
    Every file of the reference that cannot be shown is among them, because the work cannot be compared with it. Raises
    JudgeError if no exhibit of the work, or none of the reference, can be shown.
    """
    shown = (Visibility.SHOWN, Visibility.FILE)
    hidden = tuple(e for e in work if e.visibility not in shown)
    hidden += tuple(e for e in reference if e.visibility is not Visibility.SHOWN)
    blank = hidden and not any(e.visibility in shown for e in work)
    if blank or (reference and not any(e.visibility is Visibility.SHOWN for e in reference)):
        raise unshown_error(hidden)
    return hidden


def unshown_error(hidden: Sequence[Exhibit]) -> JudgeError:
    """Return the error for work that a judge cannot judge, because these exhibits could not be shown."""
    blame = {e.visibility for e in hidden}
    cause = Cause.JUDGE_BLIND
    if Visibility.FILE in blame:
        cause = Cause.GRADER_REFERENCE
    elif any(each.is_our_fault for each in blame):
        cause = Cause.JUDGE_UNSHOWN
    named = "; ".join(f"{e.name}: {e.text[:200]}" for e in hidden[:NAMED])
    more = f"; and {len(hidden) - NAMED} more" if len(hidden) > NAMED else ""
    return JudgeError(f"the judge could not be shown {named}{more}", cause=cause, next=_NEXT[cause])


async def render_both(one: Awaitable[tuple[Exhibit, ...]], other: Awaitable[tuple[Exhibit, ...]]) -> tuple[
    tuple[Exhibit, ...], tuple[Exhibit, ...]
]:  # fmt: skip
    """Wait for the exhibits of two manifests, which are rendered at the same time."""
    first, second = await asyncio.gather(one, other)
    return first, second
