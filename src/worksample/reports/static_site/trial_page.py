"""A page per trial: grade, what people said, deliverables, transcript, brief, digests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from worksample.records import Experiment, Grade, Instance, Submission
from worksample.reports.formatting import figure
from worksample.reports.heat_map import task_page

from .judgments import Votes
from .pages import Pages
from .preview import FILES_SHOWN, show
from .transcript import transcript

if TYPE_CHECKING:
    import polars as pl

    from worksample.store import Store

_ROOT = "../../"


class TrialPages:
    """The pages of all trials of some experiments. `instance`: by id."""

    def __init__(
        self, store: Store, pages: Pages, experiments: Sequence[Experiment], instance: Callable[[str], Instance]
    ) -> None:
        self.store, self.pages, self.experiments, self.instance = store, pages, experiments, instance
        found = (s for e in experiments for s in store.find(Submission, experiment=e.id))
        self.submissions = {s.trial: s for s in found}
        self.votes = Votes(store, (s.id for s in self.submissions.values()))

    def write(self, rows: pl.DataFrame, on_page: Callable[[int, int], None]) -> None:
        """`rows`: of the frame of verdicts, those with a trial."""
        from worksample.verdicts.judging import read_grades

        grades = dict(read_grades(self.store, rows["evaluation"].drop_nulls().unique().to_list()))
        for done, row in enumerate(rows.iter_rows(named=True), start=1):
            submission = self.submissions.get(row["trial"])
            self.trial(row, submission, grades.get(row["evaluation"]))
            on_page(done, rows.height)

    def trial(self, row: dict[str, Any], submission: Submission | None, grade: Grade | None) -> None:
        instance = self.instance(row["instance"])
        output = submission.parts.get("output") if submission else None
        entries = self.store.manifest(output.manifest).entries if output else ()
        steps = transcript(self.store, submission)
        note = output.reason if output else "No deliverables were captured."
        if len(entries) > FILES_SHOWN:
            note = f"{note} The first {FILES_SHOWN} of {len(entries)} entries are shown.".strip()
        self.pages.page(
            "trial.html",
            trial_page(row["trial"]),
            _ROOT,
            t={**row, "ending": row["ending"] or row["state"]},
            task_page=task_page(row["task"]),
            grade=grade,
            said=self.votes.of(submission.id) if submission else [],
            files=[show(self.store, e, self.pages.out, _ROOT) for e in entries[:FILES_SHOWN]],
            output_note=note,
            steps=steps.steps,
            transcript_note=steps.note,
            brief=instance.work.brief,
            facts=list(_facts(row, submission, instance)),
        )


def trial_page(trial: str) -> str:
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", trial)
    return f"trials/{safe[-2:]}/{safe}.html"


def _facts(row: dict[str, Any], submission: Submission | None, instance: Instance) -> Iterator[tuple[str, object]]:
    yield "trial", row["trial"]
    yield "slot", f"{row['slot']}, arm {row['arm']}, attempt {row['attempt']}, repeat {row['repeat']}"
    yield "instance", instance.id
    yield "work digest", instance.work_digest
    yield "agent", row["agent"]
    yield "model", row["model"] or "none"
    yield "sandbox", row["sandbox"]
    if submission:
        yield "submission", submission.id
        for name, part in submission.parts.items():
            yield f"part {name}", f"{part.files} files, {figure(part.size, 'bytes')}, {part.status.value} {part.reason}"
