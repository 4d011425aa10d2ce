"""How far an experiment is, told as it happens: what a progress bar, plain lines or nobody listens to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from worksample.errors import Cause
from worksample.grading.judges.spending import taken
from worksample.models import plus
from worksample.records import Ending, Evaluation, Instance, Submission, Trial, Usage


@dataclass
class RunTally:
    """Counts of one run. `cost` sums what had a price, in US dollars; `unpriced` trials had calls without one.

    `at_most`: the same with all that is not settled, or is estimated, of `unsettled` trials.
    """

    planned: int = 0
    """Attemptable slots."""
    finished: int = 0
    failed: int = 0
    """Tries that did not serve their slot: sandbox, service or platform failures, and cancelled ones."""
    limit: int = 0
    """Finished ones that reached a limit."""
    graded: int = 0
    """Submissions with all evaluations that a round wants of programs and judges; in each round by itself."""
    ungraded: int = 0
    """Submissions whose evaluators gave none, or too few."""
    cost: float = 0.0
    unpriced: int = 0
    at_most: float = 0.0
    unsettled: int = 0
    full_price: int = 0
    """Trials with cached tokens that are charged as fresh ones: `cost` is an upper bound."""
    judges: Usage = field(default_factory=Usage)
    """What judges took for the evaluations of this run."""

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
        """Count what judges took for an evaluation."""
        for used in taken(evaluation).values():
            self.judges = plus(self.judges, used) if self.judges.requests else used

    def add_graded(self, *, full: bool) -> None:
        """Count a submission of which a round wants nothing more. `full`: it has all evaluations that were wanted."""
        self.graded += full
        self.ungraded += not full


class Watch(Protocol):
    """Listens to a run. Called from the thread that runs it only; must be quick."""

    def begin(self, tally: RunTally) -> None:
        """Once, before anything runs; `tally` is kept up to date from then on."""
        ...

    def closed(self, trial: Trial, instance: Instance) -> None:
        """A trial closed and is in the store."""
        ...

    def graded(self, evaluation: Evaluation, submission: Submission, instance: Instance) -> None:
        """An evaluation is in the store."""
        ...

    def note(self, text: str) -> None:
        """Something that the operator should know."""
        ...

    def end(self) -> None:
        """Once, whatever happened."""
        ...


class Silent:
    """Listens to nothing."""

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
