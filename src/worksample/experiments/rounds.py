"""The round in force, in which an experiment's submissions are graded."""

from __future__ import annotations

from worksample.grading import open_round
from worksample.records import Amendment, Experiment, Round
from worksample.store import Store
from worksample.verdicts.rounds import InForce

from .claim import alone


def current_round(store: Store, experiment: Experiment) -> Round:
    """The round in force over the experiment under its protocol; opened where there is none yet.

    What is graded as trials close goes into it, so once a regrade is adopted new trials meet the new graders.
    """
    with alone(store, f"round:{experiment.id}"):
        rounds = InForce(store.find(Round, experiment=experiment.id), store.find(Amendment, target="round"))
        found = rounds.deciding(experiment.lock.protocol)
        if found:
            return found[-1]
        return open_round(
            store,
            experiment=experiment.id,
            protocol=experiment.lock.protocol,
            author=experiment.author,
            reason="graded as trials closed",
        )
