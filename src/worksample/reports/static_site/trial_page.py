"""A page per trial: grade, what people said, deliverables, transcript, brief, digests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from worksample.records import Experiment, Grade, Instance, Submission
from worksample.reports.formatting import figure
from worksample.reports.heat_map import task_page

from .beside import Piece, beside, piece_of, texts_of
from .judgments import Votes
from .pages import Pages
from .preview import FILES_SHOWN, show
from .transcript import transcript

if TYPE_CHECKING:
    import polars as pl

    from worksample.store import Store

_ROOT = "../../"


class TrialPages:
    """The pages of all trials of some experiments, and per task one with the agents side by side. `instance`: by id;
    `order`: names of agents, best first; `titles`: of tasks, by name.
    """

    def __init__(
        self,
        store: Store,
        pages: Pages,
        experiments: Sequence[Experiment],
        instance: Callable[[str], Instance],
        order: Sequence[str] = (),
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self.store, self.pages, self.experiments, self.instance = store, pages, experiments, instance
        self.order, self.titles = order, titles or {}
        found = (s for e in experiments for s in store.find(Submission, experiment=e.id))
        self.submissions = {s.trial: s for s in found}
        self.votes = Votes(store, (s.id for s in self.submissions.values()))

    def write(self, rows: pl.DataFrame, on_page: Callable[[int, int], None]) -> None:
        """`rows`: of the frame of verdicts, those with a trial."""
        from worksample.verdicts.judging import read_grades

        grades = dict(read_grades(self.store, rows["evaluation"].drop_nulls().unique().to_list()))
        done = 0
        for part in rows.partition_by("task", maintain_order=True):
            pieces = []
            for row in part.iter_rows(named=True):
                pieces.append(self.trial(row, self.submissions.get(row["trial"]), grades.get(row["evaluation"])))
                done += 1
                on_page(done, rows.height)
            self._beside(part["task"][0], pieces)

    def _beside(self, task: str, pieces: Sequence[Piece]) -> None:
        instances = {id: self.instance(id) for id in {str(piece.row["instance"]) for piece in pieces}}
        self.pages.page(
            "beside.html",
            f"compare/{task_page(task)}",
            "../",
            sortable=True,
            task_page=task_page(task),
            task_title=self.titles.get(task, task),
            sides=beside(pieces, instances, self.order),
        )

    def trial(self, row: dict[str, Any], submission: Submission | None, grade: Grade | None) -> Piece:
        instance = self.instance(row["instance"])
        output = submission.parts.get("output") if submission else None
        entries = self.store.manifest(output.manifest).entries if output else ()
        steps = transcript(self.store, submission)
        note = output.reason if output else "No deliverables were captured."
        if len(entries) > FILES_SHOWN:
            note = f"{note} The first {FILES_SHOWN} of {len(entries)} entries are shown.".strip()
        shown = [show(self.store, e, self.pages.out, _ROOT) for e in entries[:FILES_SHOWN]]
        page = trial_page(row["trial"])
        self.pages.page(
            "trial.html",
            page,
            _ROOT,
            t={**row, "ending": row["ending"] or row["state"]},
            task_page=task_page(row["task"]),
            task_title=self.titles.get(row["task"], row["task"]),
            grade=grade,
            texts=texts_of(instance),
            said=self.votes.of(submission.id) if submission else [],
            files=shown,
            output_note=note,
            steps=steps.steps,
            transcript_note=steps.note,
            brief=instance.work.brief,
            facts=list(_facts(row, submission, instance)),
        )
        near = [replace(f, image=f.image.removeprefix("../")) for f in shown]
        return piece_of(row, page, grade, near, steps.steps)


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
