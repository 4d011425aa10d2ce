"""The grading by which a round judges an instance: the instance's own grading, or the grading of another version of the
instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.errors import RecordMissing, UsageError
from worksample.records import Grading, Instance, Round

if TYPE_CHECKING:
    from worksample.store import Store


def grading_in_force(store: Store, round: Round, instance: Instance) -> Grading:
    """Return the grading by which `round` judges submissions of `instance`.

    The grading may belong to another version of the instance. Raises UsageError if the round has no grading for the
    instance; RecordMissing if no instance in the store has this grading.
    """
    digest = round.gradings.get(instance.id)
    if digest is None:
        raise UsageError(
            f"round {round.id} has no grading for this instance", where=instance.key, next="worksample list"
        )
    own = instance.grading.get(round.protocol)
    if own is not None and own.digest == digest:
        return own
    for other in store.find(Instance, key=instance.key):
        found = other.grading.get(round.protocol)
        if found is not None and found.digest == digest:
            return found
    raise RecordMissing(
        "no instance in the store has a grading with this digest", where=digest, next="worksample store rebuild"
    )


def as_graded(store: Store, round: Round, instance: Instance) -> Instance:
    """Return the instance with the grading that the round uses. People, judges and draws of labels need this form.

    An instance without a grading in the round is returned unchanged. Raises RecordMissing if no instance in the store
    has the round's grading.
    """
    if instance.id not in round.gradings:
        return instance
    found = grading_in_force(store, round, instance)
    if found is instance.grading.get(round.protocol):
        return instance
    return instance.replaced(grading={**instance.grading, round.protocol: found})


def asks_the_same(labels: Round, judged: Round) -> bool:
    """Return whether people label the same questions that the judge is asked in its round."""
    return all(judged.gradings.get(id, digest) == digest for id, digest in labels.gradings.items())
