"""Which rounds asked which criteria. A round pins its gradings, so a later version of a rubric never reaches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.people.rounds.protocol import BY_CRITERIA
from worksample.records import Instance, Round

from .versions import digest_of_criteria

if TYPE_CHECKING:
    from worksample.store import Store


def asked_in_rounds(store: Store) -> dict[str, tuple[str, ...]]:
    """Digest of criteria -> the rounds that ask them, by time."""
    found: dict[str, dict[str, None]] = {}
    digests: dict[tuple[str, str], str] = {}
    for round in sorted(store.find(Round), key=lambda r: (r.at, r.id)):
        if round.protocol not in BY_CRITERIA:
            continue
        for instance, grading in round.gradings.items():
            key = (instance, grading)
            if key not in digests:
                digests[key] = _criteria_of(store, round, instance, grading)
            if digests[key]:
                found.setdefault(digests[key], {})[round.id] = None
    return {digest: tuple(rounds) for digest, rounds in found.items()}


def _criteria_of(store: Store, round: Round, id: str, digest: str) -> str:
    """Of the instance in the version whose grading it was; "" where the store has it no more."""
    own = store.get(Instance, id)
    for instance in (own, *store.find(Instance, key=own.key)):
        grading = instance.grading.get(round.protocol)
        if grading is not None and instance.grading_digest(round.protocol) == digest:
            return digest_of_criteria(grading.criteria)
    return ""
