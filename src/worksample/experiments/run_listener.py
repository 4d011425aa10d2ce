"""Listeners to the events of a run, such as a progress bar, and the counts that they show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from worksample.errors import Cause
from worksample.grading.judges.spending import judge_usage
from worksample.models import add_priced_usage
from worksample.records import Ending, Evaluation, Instance, Submission, Trial, Usage


@dataclass
class RunTally:
    """Counts of one run. `cost` is in US dollars and covers calls with a price. `unpriced` is the number of trials that
    made calls without a price.

    `at_most` is the maximum cost in US dollars: `cost` plus the possible cost of calls that are unsettled or estimated.
    `unsettled` is the number of trials with calls of this kind.
    """

    planned: int = 0
    """Number of attemptable slots."""
    finished: int = 0
    failed: int = 0
    """Number of tries that did not finish: failures of the sandbox, a service or the platform, and cancelled tries."""
    limit: int = 0
    """Number of finished trials that reached a limit."""
    graded: int = 0
    """Number of submissions that have all evaluations by programs and judges. A submission counts once for each
    round.
    """
    ungraded: int = 0
    """Number of submissions that got no evaluation, or fewer than their round requires."""
    cost: float = 0.0
    unpriced: int = 0
    at_most: float = 0.0
    unsettled: int = 0
    full_price: int = 0
    """Number of trials whose cached tokens are charged at the full price, so that `cost` is an upper bound for them."""
    judges: Usage = field(default_factory=Usage)
    """Usage of judge models by the evaluations of this run."""

    def add_trial(self, trial: Trial) -> None:
        """Count a closed trial."""
        if trial.outcome.finished:
            self.finished += 1
            self.limit += trial.outcome.ending is Ending.LIMIT
        elif trial.outcome.cause is not Cause.SUPERSEDED:
            self.failed += 1
        self.cost += sum(usage.cost or 0.0 for usage in trial.usage.values())
        self.at_most += sum(usage.cost_at_most or usage.cost or 0.0 for usage in trial.usage.values())
        asked = [usage for usage in trial.usage.values() if usage.requests]
        self.unpriced += any(usage.without_price for usage in asked)
        self.full_price += any(usage.cached_as_input for usage in asked)
        self.unsettled += any(not (usage.priced or usage.without_price) for usage in asked)

    def add_judge_usage(self, evaluation: Evaluation) -> None:
        """Add the usage of judge models by an evaluation."""
        for used in judge_usage(evaluation).values():
            self.judges = add_priced_usage(self.judges, used) if self.judges.requests else used

    def add_graded(self, *, full: bool) -> None:
        """Count a submission that needs no further evaluation. `full` is True if all its evaluations were made."""
        self.graded += full
        self.ungraded += not full


class RunListener(Protocol):
    """Listener to the events of a run. Its methods are called only in the thread of the run, and must return
    quickly.
    """

    def begin(self, tally: RunTally) -> None:
        """Receive the tally of the run once, before any trial starts. The run updates this object while it runs."""
        ...

    def on_close(self, trial: Trial, instance: Instance) -> None:
        """Receive a trial after it is closed and stored."""
        ...

    def on_grade(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        """Receive an evaluation after it is stored."""
        ...

    def note(self, text: str) -> None:
        """Receive a message for the operator."""
        ...

    def end(self) -> None:
        """Receive the end of the run. Called once, also if the run fails or is interrupted."""
        ...


class SilentListener:
    """Listener that ignores all events."""

    def begin(self, tally: RunTally) -> None:
        pass

    def on_close(self, trial: Trial, instance: Instance) -> None:
        pass

    def on_grade(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def end(self) -> None:
        pass
