"""Progress of a run for people: a bar on a terminal, a changing line in a notebook, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from worksample.errors import POLICY
from worksample.experiments.run_listener import RunListener, RunTally, SilentListener
from worksample.records import Ending, Evaluation, EvaluationOutcome, GradePayload, Instance, Submission, Trial
from worksample.terminal_text import cost_range, duration, printable

if TYPE_CHECKING:
    from rich.progress import Progress

LONGEST = 160
"""Maximum number of characters of a reason on a line."""


def watcher(*, silent: bool) -> RunListener:
    """Return a listener that shows progress: silent, a changing line in a notebook, a bar on a terminal, else lines
    (both on stderr).
    """
    if silent:
        return SilentListener()
    if in_notebook():
        return NotebookCell()
    return Bar() if sys.stderr.isatty() else Lines()


def cost_so_far(tally: RunTally) -> str:
    """Return the cost so far, with unpriced and unsettled calls, and the judges' cost."""
    most = tally.at_most if tally.unsettled else None
    said = cost_range(tally.cost, tally.unpriced, most, full_price=tally.full_price > 0)
    if not tally.judges.requests:
        return said
    used = tally.judges
    most = None if used.priced else used.cost_at_most
    paid = cost_range(used.cost, int(used.without_price), most, full_price=used.cached_as_input > 0)
    return f"{said}, judges {paid}"


def outcome_of(trial: Trial) -> str:
    """Return how a trial ended, in words."""
    if trial.outcome.cause is None:
        return "done"
    said = f"{trial.outcome.ending}: {POLICY[trial.outcome.cause].description}"
    return (
        f"{said} ({_first_line(trial.outcome.reason)})"
        if _agent_failed(trial) and trial.outcome.reason.strip()
        else said
    )


def _agent_failed(trial: Trial) -> bool:
    """Return whether the agent's own program failed: the trial counts, and the program's author wants to know why."""
    return trial.outcome.finished and trial.outcome.ending is Ending.FAILED


def _first_line(reason: str) -> str:
    """Return the part of a reason that fits a line; the caller makes it printable."""
    said = " ".join(reason.strip().splitlines()[0].split())
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."


def failure_of(trial: Trial, instance: Instance) -> str:
    """Return a line about a failed trial."""
    said = f"{instance.key}  {trial.agent.partition('@')[0]}  {outcome_of(trial)}"
    return said if _agent_failed(trial) else f"{said}  {trial.outcome.reason}"


def grade_of(evaluation: Evaluation) -> str:
    """Return the score, or why there is none."""
    if isinstance(evaluation.payload, GradePayload):
        return f"score {evaluation.payload.score:.3f}"
    if evaluation.outcome is EvaluationOutcome.GIVEN:
        return "graded"
    why = POLICY[evaluation.cause].description if evaluation.cause else "declined"
    return f"ungraded: {why}" + (f" ({_first_line(evaluation.reason)})" if evaluation.reason.strip() else "")


def in_notebook() -> bool:
    """Return whether a Jupyter kernel shows this process's output."""
    shell = sys.modules.get("IPython.core.getipython")  # the package's own name of it may say None: python_api.kernel
    running = shell.get_ipython() if shell is not None else None
    return running is not None and hasattr(running, "kernel")


def progress_line(tally: RunTally) -> str:
    """Return the progress of a run in one line."""
    rest = f"failed {tally.failed} · graded {tally.graded} · ungraded {tally.ungraded} · {cost_so_far(tally)}"
    return f"{tally.finished}/{tally.planned} trials · {rest}"


class Lines:
    """A listener that prints a line for each event, for logs."""

    def begin(self, tally: RunTally) -> None:
        self.tally = tally

    def closed(self, trial: Trial, instance: Instance) -> None:
        seconds = (trial.ended - trial.started).total_seconds()
        self.note(
            f"[{self.tally.finished}/{self.tally.planned}] {instance.key}  {trial.agent.partition('@')[0]}  "
            f"{outcome_of(trial)}  {duration(seconds)}  cost so far {cost_so_far(self.tally)}"
        )
        if not trial.outcome.finished and trial.outcome.reason:
            self.note(f"  {' '.join(trial.outcome.reason.split())[:300]}")

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        self.note(f"  graded {instance.key}  {submission.entrant.partition('@')[0]}  {grade_of(evaluation)}")

    def note(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()

    def end(self) -> None:
        pass


class NotebookCell:
    """A changing line below a notebook's cell; failures are printed above it."""

    def begin(self, tally: RunTally) -> None:
        from IPython.display import display

        self.tally = tally
        show: Any = display  # IPython has no types
        self.line = show({"text/plain": progress_line(tally)}, raw=True, display_id=True)

    def closed(self, trial: Trial, instance: Instance) -> None:
        if not trial.outcome.finished or _agent_failed(trial):
            self.note(failure_of(trial, instance))
        self.end()

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        if evaluation.outcome is not EvaluationOutcome.GIVEN:
            self.note(f"{instance.key}  {submission.entrant.partition('@')[0]}  {grade_of(evaluation)}")
        self.end()

    def note(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")

    def end(self) -> None:
        self.line.update({"text/plain": progress_line(self.tally)}, raw=True)


class Bar:
    """A bar that stays at the bottom; failures scroll by above it."""

    progress: Progress

    def begin(self, tally: RunTally) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.tally = tally
        self.progress = Progress(
            TextColumn("trials"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[says]}", markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True, markup=False, emoji=False, highlight=False),
        )
        self.task = self.progress.add_task("trials", total=tally.planned, completed=tally.finished, says="")
        self.progress.start()
        self._update()

    def closed(self, trial: Trial, instance: Instance) -> None:
        if not trial.outcome.finished or _agent_failed(trial):
            self.note(failure_of(trial, instance))
        self._update()

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        if evaluation.outcome is not EvaluationOutcome.GIVEN:
            who = submission.entrant.partition("@")[0]
            self.note(f"{instance.key}  {who}  {grade_of(evaluation)}  {evaluation.reason[:300]}")
        self._update()

    def note(self, text: str) -> None:
        self.progress.console.print(printable(text))

    def end(self) -> None:
        self.progress.stop()

    def _update(self) -> None:
        t = self.tally
        says = f"failed {t.failed} · graded {t.graded} · ungraded {t.ungraded} · {cost_so_far(t)}"
        self.progress.update(self.task, total=t.planned, completed=t.finished, says=says)
