"""Which round grades an experiment's submissions."""

from __future__ import annotations

from worksample.grading import open_round
from worksample.records import Experiment, Round
from worksample.store import Store

from .claim import alone


def current_round(store: Store, experiment: Experiment) -> Round:
    """The latest round over the experiment under its protocol; opened where there is none yet.

    What is graded as trials close goes into it, so after `worksample grade` new trials meet the new graders.
    """
    with alone(store, f"round:{experiment.id}"):
        found = store.find(Round, experiment=experiment.id, protocol=experiment.lock.protocol.value)
        if found:
            return max(found, key=lambda r: (r.at, r.id))
        return open_round(
            store,
            experiment=experiment.id,
            protocol=experiment.lock.protocol,
            author=experiment.author,
            reason="graded as trials closed",
        )
