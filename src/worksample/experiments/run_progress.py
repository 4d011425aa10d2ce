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
"""Maximum number of characters of a failure's reason in a line of progress."""


def watcher(*, silent: bool) -> RunListener:
    """Return a listener that shows the progress of a run. It shows nothing if `silent`; else a changing line in a
    notebook, a bar on a terminal, and plain lines elsewhere. The bar and the lines are written to stderr.
    """
    if silent:
        return SilentListener()
    if in_notebook():
        return NotebookCell()
    return Bar() if sys.stderr.isatty() else Lines()


def cost_so_far(tally: RunTally) -> str:
    """Return a text with the cost so far, the number of unpriced and unsettled trials, and the cost of judges."""
    most = tally.at_most if tally.unsettled else None
    said = cost_range(tally.cost, tally.unpriced, most, full_price=tally.full_price > 0)
    if not tally.judges.requests:
        return said
    used = tally.judges
    most = None if used.priced else used.cost_at_most
    paid = cost_range(used.cost, int(used.without_price), most, full_price=used.cached_as_input > 0)
    return f"{said}, judges {paid}"


def outcome_of(trial: Trial) -> str:
    """Return a text that says how a trial ended."""
    if trial.outcome.cause is None:
        return "done"
    said = f"{trial.outcome.ending}: {POLICY[trial.outcome.cause].description}"
    return (
        f"{said} ({_first_line(trial.outcome.reason)})"
        if _agent_failed(trial) and trial.outcome.reason.strip()
        else said
    )


def _agent_failed(trial: Trial) -> bool:
    """Return whether the agent's own program failed. The trial counts in this case, and the author of the program needs
    the reason.
    """
    return trial.outcome.finished and trial.outcome.ending is Ending.FAILED


def _first_line(reason: str) -> str:
    """Return as much of a reason as fits into a line. The caller replaces characters that are not printable."""
    said = " ".join(reason.strip().splitlines()[0].split())
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."


def failure_of(trial: Trial, instance: Instance) -> str:
    """Return a line about a failed trial."""
    said = f"{instance.key}  {trial.agent.partition('@')[0]}  {outcome_of(trial)}"
    return said if _agent_failed(trial) else f"{said}  {trial.outcome.reason}"


def grade_of(evaluation: Evaluation) -> str:
    """Return a text with the score of an evaluation, or the reason why it has no score."""
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
    """Return a text of one line with the progress of a run."""
    rest = f"failed {tally.failed} · graded {tally.graded} · ungraded {tally.ungraded} · {cost_so_far(tally)}"
    return f"{tally.finished}/{tally.planned} trials · {rest}"


class Lines:
    """Listener that prints a line for each event, for logs."""

    def begin(self, tally: RunTally) -> None:
        self.tally = tally

    def on_close(self, trial: Trial, instance: Instance) -> None:
        seconds = (trial.ended - trial.started).total_seconds()
        self.note(
            f"[{self.tally.finished}/{self.tally.planned}] {instance.key}  {trial.agent.partition('@')[0]}  "
            f"{outcome_of(trial)}  {duration(seconds)}  cost so far {cost_so_far(self.tally)}"
        )
        if not trial.outcome.finished and trial.outcome.reason:
            self.note(f"  {' '.join(trial.outcome.reason.split())[:300]}")

    def on_grade(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        self.note(f"  graded {instance.key}  {submission.entrant.partition('@')[0]}  {grade_of(evaluation)}")

    def note(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()

    def end(self) -> None:
        pass


class NotebookCell:
    """Listener that shows a changing line below a notebook's cell. Failures are printed above the line."""

    def begin(self, tally: RunTally) -> None:
        from IPython.display import display

        self.tally = tally
        show: Any = display  # IPython has no types
        self.line = show({"text/plain": progress_line(tally)}, raw=True, display_id=True)

    def on_close(self, trial: Trial, instance: Instance) -> None:
        if not trial.outcome.finished or _agent_failed(trial):
            self.note(failure_of(trial, instance))
        self.end()

    def on_grade(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        if evaluation.outcome is not EvaluationOutcome.GIVEN:
            self.note(f"{instance.key}  {submission.entrant.partition('@')[0]}  {grade_of(evaluation)}")
        self.end()

    def note(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")

    def end(self) -> None:
        self.line.update({"text/plain": progress_line(self.tally)}, raw=True)


class Bar:
    """Listener that shows a progress bar at the bottom of the terminal. Failures are printed above the bar."""

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

    def on_close(self, trial: Trial, instance: Instance) -> None:
        if not trial.outcome.finished or _agent_failed(trial):
            self.note(failure_of(trial, instance))
        self._update()

    def on_grade(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
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
