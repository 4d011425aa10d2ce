"""Pages of trials and of handed-in work: grade, people's statements, deliverables, transcript, digests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from worksample.records import Experiment, GradePayload, Instance, Submission
from worksample.reports.cost_notes import cost_words
from worksample.reports.figure_formatting import figure
from worksample.reports.heat_map import task_page

from .comparison_pages import TrialColumn, group_by_instance, piece_of, texts_of
from .deliverable_preview import FILES_SHOWN, preview_file
from .page_templates import Pages
from .screenshots import screens_of
from .submission_votes import SubmissionVotes
from .timeline import timeline
from .transcript import transcript

if TYPE_CHECKING:
    import polars as pl

    from worksample.store import Store

_ROOT = "../../"
_WHO = {"person": "a person", "external": "an agent elsewhere"}


class TrialPages:
    """A writer of the pages of all trials of some experiments, and of a page per task that shows the agents side by
    side.

    `instance` contains instances by id. `order` lists the names of agents, best first. `titles` contains the titles of
    tasks by name.
    """

    def __init__(
        self,
        store: Store,
        pages: Pages,
        experiments: Sequence[Experiment],
        instance: Callable[[str], Instance],
        order: Sequence[str] = (),
        titles: Mapping[str, str] | None = None,
        handed_in: Sequence[Submission] = (),
    ) -> None:
        self.store, self.pages, self.experiments, self.instance = store, pages, experiments, instance
        self.order, self.titles = order, titles or {}
        found = (s for e in experiments for s in store.find(Submission, experiment=e.id))
        self.submissions = {s.id: s for s in (*found, *handed_in)}
        self.by_trial = {s.trial: s for s in self.submissions.values() if s.trial}
        self.votes = SubmissionVotes(store, self.submissions)

    def write(self, rows: pl.DataFrame, on_page: Callable[[int, int], None]) -> None:
        """Write the pages of `rows`: rows of the frame of verdicts with a trial, and of handed-in work."""
        from worksample.results.judged_rounds import read_grades

        every = {*rows["evaluation"].drop_nulls(), *rows["evaluations"].explode().drop_nulls()}
        grades = dict(read_grades(self.store, sorted(every)))
        done = 0
        for part in rows.partition_by("task", maintain_order=True):
            pieces = []
            for row in part.iter_rows(named=True):
                pieces.append(self.trial(row, self._submission_of(row), grades))
                done += 1
                on_page(done, rows.height)
            self._beside(part["task"][0], pieces)

    def _submission_of(self, row: Mapping[str, Any]) -> Submission | None:
        return self.submissions.get(row["submission"]) if row["slot"] is None else self.by_trial.get(row["trial"])

    def _beside(self, task: str, pieces: Sequence[TrialColumn]) -> None:
        instances = {id: self.instance(id) for id in {str(piece.row["instance"]) for piece in pieces}}
        self.pages.page(
            "beside.html",
            f"compare/{task_page(task)}",
            "../",
            sortable=True,
            task_page=task_page(task),
            task_title=self.titles.get(task, task),
            sides=group_by_instance(pieces, instances, self.order),
        )

    def trial(
        self, row: dict[str, Any], submission: Submission | None, grades: Mapping[str, GradePayload]
    ) -> TrialColumn:
        instance, grade = self.instance(row["instance"]), grades.get(row["evaluation"])
        output = submission.parts.get("output") if submission else None
        entries = self.store.manifest(output.manifest).entries if output else ()
        steps = transcript(self.store, submission)
        note = output.reason if output else "No deliverables were captured."
        if len(entries) > FILES_SHOWN:
            note = f"{note} The first {FILES_SHOWN} of {len(entries)} entries are shown.".strip()
        shown = [preview_file(self.store, e, self.pages.out, _ROOT) for e in entries[:FILES_SHOWN]]
        page = page_of(row)
        self.pages.page(
            "trial.html",
            page,
            _ROOT,
            t={**row, "ending": row["ending"] or ("handed in" if row["slot"] is None else row["state"])},
            who=_WHO.get(row["harness"], "") if row["slot"] is None else "",
            cost_words=cost_words(row),
            task_page=task_page(row["task"]),
            task_title=self.titles.get(row["task"], row["task"]),
            grade=grade,
            texts=texts_of(instance),
            said=self.votes.of(submission.id) if submission else [],
            files=shown,
            output_note=note,
            steps=steps.steps,
            timeline=timeline(_rested_on(row, grades), instance, steps.steps),
            transcript_note=steps.note,
            shown=screens_of(self.store, submission, self.pages.out, _ROOT),
            brief=instance.work.brief,
            facts=list(_facts(row, submission, instance)),
        )
        near = [replace(f, image=f.image.removeprefix("../")) for f in shown]
        return piece_of(row, page, grade, near, steps.steps)


def _rested_on(row: Mapping[str, Any], grades: Mapping[str, GradePayload]) -> list[GradePayload]:
    """Return the grade that equals the verdict. If none does, return all grades from which the verdict was computed."""
    ids = [row["evaluation"]] if row["evaluation"] else row["evaluations"] or ()
    return [grades[id] for id in ids if id in grades] if row["score"] is not None else []


def page_of(row: Mapping[str, Any]) -> str:
    """Return the address of a row's page, relative to the site's top; "" for a slot without a trial. `row`: of the
    frame of verdicts.
    """
    folder, id = ("handed-in", row["submission"]) if row["slot"] is None else ("trials", row["trial"])
    if not id:
        return ""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", id)
    return f"{folder}/{safe[-2:]}/{safe}.html"


def _facts(row: dict[str, Any], submission: Submission | None, instance: Instance) -> Iterator[tuple[str, object]]:
    if row["slot"] is None:
        yield "made by", row["entry_label"] + f", repeat {row['repeat']}"
    else:
        yield "trial", row["trial"]
        yield "slot", f"{row['slot']}, arm {row['arm']}, attempt {row['attempt']}, repeat {row['repeat']}"
        yield "agent", row["agent"]
        yield "model", row["model"] or "none"
        yield "sandbox", row["sandbox"]
    yield "instance", instance.id
    yield "work digest", instance.work_digest
    if submission:
        yield "submission", submission.id
        if row["slot"] is None:
            yield "done", f"{submission.at:%Y-%m-%d %H:%M} UTC" + (f", {submission.note}" if submission.note else "")
        for name, part in submission.parts.items():
            yield f"part {name}", f"{part.files} files, {figure(part.size, 'bytes')}, {part.status.value} {part.reason}"
