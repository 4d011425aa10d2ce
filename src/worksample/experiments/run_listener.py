"""Live progress of a run, for a progress bar or printed lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from worksample.errors import Cause
from worksample.grading.judges.spending import judge_usage
from worksample.models import add_priced_usage
from worksample.records import Ending, Evaluation, Instance, Submission, Trial, Usage


@dataclass
class RunTally:
    """Counts of one run. `cost`: US dollars of calls with a price; `unpriced`: trials with calls without a price.

    `at_most`: `cost` plus everything that is unsettled or estimated, in `unsettled` trials.
    """

    planned: int = 0
    """Attemptable slots."""
    finished: int = 0
    failed: int = 0
    """Tries that did not finish: failures of sandbox, service or platform, and cancelled ones."""
    limit: int = 0
    """Finished trials that reached a limit."""
    graded: int = 0
    """Submissions that have all evaluations by programs and judges, counted once per round."""
    ungraded: int = 0
    """Submissions that got no evaluation, or too few."""
    cost: float = 0.0
    unpriced: int = 0
    at_most: float = 0.0
    unsettled: int = 0
    full_price: int = 0
    """Trials whose cached tokens are charged at the full price: `cost` is an upper bound."""
    judges: Usage = field(default_factory=Usage)
    """Usage of judges for this run's evaluations."""

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
        """Count the judges' usage for an evaluation."""
        for used in judge_usage(evaluation).values():
            self.judges = add_priced_usage(self.judges, used) if self.judges.requests else used

    def add_graded(self, *, full: bool) -> None:
        """Count a submission that needs no further evaluation. full: whether all evaluations were given."""
        self.graded += full
        self.ungraded += not full


class RunListener(Protocol):
    """Listener to a run. It is called only by the thread of the run, and must be quick."""

    def begin(self, tally: RunTally) -> None:
        """Receive the tally, once, before anything runs. The run updates it from then on."""
        ...

    def closed(self, trial: Trial, instance: Instance) -> None:
        """Receive a trial after it is closed and stored."""
        ...

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        """Receive an evaluation after it is stored."""
        ...

    def note(self, text: str) -> None:
        """Receive a message for the operator."""
        ...

    def end(self) -> None:
        """Note that the run has ended, once, however it ends."""
        ...


class SilentListener:
    """Listener that ignores everything."""

    def begin(self, tally: RunTally) -> None:
        pass

    def closed(self, trial: Trial, instance: Instance) -> None:
        pass

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def end(self) -> None:
        pass
