"""Pairs of submissions to compare. They are drawn at random from a recorded seed, and balanced over projects and over
first and second place.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from worksample.errors import PlanError
from worksample.records import Instance, Purpose, Round, Submission

from .entrants import entrants_of

if TYPE_CHECKING:
    from worksample.store import Store

PER_PAIR = 10
"""Number of instances on which two entrants are compared, unless they share fewer (RLI B.2)."""
PAIRS = "pairs"
"""Key in a round's `versions`. The value is the digest of the pairs of submissions that were drawn for the round."""


def key_of(first: str, second: str) -> str:
    """Return the key of a pair. The key does not depend on which submission is shown first."""
    return "\x1f".join(sorted((first, second)))


def drawn_pairs(store: Store, round: Round) -> list[tuple[str, str]]:
    """Return the pairs of a round in the order of the draw, with the pairs that were added later. Return an empty list
    if the round has no pairs.

    A round that judges another round again has the pairs of that round.
    """
    if PAIRS not in round.versions:
        return []
    return [pair for r in (round, *later_rounds(store, round)) for pair in pairs_of(store, r)]


def pairs_of(store: Store, round: Round) -> list[tuple[str, str]]:
    """Return the pairs that were drawn when the round was opened."""
    return [(one, two) for one, two in json.loads(store.blobs.read(round.versions[PAIRS]))]


def later_rounds(store: Store, round: Round) -> list[Round]:
    """Return the rounds that added pairs to a judge's round, oldest first. Rounds that added pairs to the rounds that
    it regrades are included.
    """
    line = [round]
    while line[-1].purpose is Purpose.REGRADE and line[-1].over is not None:
        line.append(store.get(Round, line[-1].over))
    found = [r for one in line for r in store.find(Round, over=one.id)]
    return sorted((r for r in found if r.purpose is Purpose.LATER_PAIRS), key=lambda r: (r.at, r.id))


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A submission that can become part of a pair."""

    subject: str
    entrant: str
    """Name of the entrant who made the submission, with arm and attempt (`entrants.entrants_of`)."""
    instance: str
    project: str
    """Key of the instance, which counts as one project."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of submissions. `first` is shown as AD-1, unless the order is swapped for an evaluator to balance the
    places.
    """

    first: PairCandidate
    second: PairCandidate


def sample_pairs(
    entries: Sequence[PairCandidate], per_pair: int, seed: int, known: Collection[tuple[str, str]] = ()
) -> list[Pair]:
    """Draw pairs of submissions on the same instance, so that each two entrants are compared on `per_pair` projects
    (RLI B.2).

    If two entrants share fewer projects, they are compared on all of these. Projects that were drawn less often come
    first, so that no project dominates; ties are random. If an entrant has several submissions on a project, one is
    drawn. Each entrant of a pair is shown first on half of the projects. The same entries and seed give the same pairs.

    known: pairs of submissions that were drawn before; only missing pairs are then drawn, and the result may be empty.
    Raises PlanError if `per_pair` is below 1, or if no two entrants share a project and no pairs are known.
    """
    if per_pair < 1:
        raise PlanError(f"{per_pair} projects for each pair of agents are too few", next="pass 1 or more")
    draw = random.Random(f"pairs {seed}")
    held: dict[str, dict[str, list[PairCandidate]]] = {}
    for entry in sorted(entries, key=lambda e: e.subject):
        held.setdefault(entry.entrant, {}).setdefault(entry.instance, []).append(entry)
    by_subject = {e.subject: e for e in entries}
    drawn = [(by_subject[a], by_subject[b]) for a, b in known if a in by_subject and b in by_subject]
    met = {(frozenset((a.entrant, b.entrant)), a.instance) for a, b in drawn}
    used: Counter[str] = Counter(a.instance for a, _ in drawn)
    out: list[Pair] = []
    couples = list(combinations(sorted(held), 2))
    draw.shuffle(couples)
    for one, two in couples:
        shared = sorted(held[one].keys() & held[two].keys())
        draw.shuffle(shared)
        fresh = [instance for instance in shared if (frozenset((one, two)), instance) not in met]
        lacking = max(0, per_pair - (len(shared) - len(fresh)))
        chosen = sorted(fresh, key=lambda instance: used[instance])[:lacking]
        turned = draw.random() < 0.5
        for n, instance in enumerate(chosen):
            used[instance] += 1
            left, right = draw.choice(held[one][instance]), draw.choice(held[two][instance])
            out.append(Pair(right, left) if (n % 2 == 0) == turned else Pair(left, right))
    if not out and not known:
        raise PlanError(
            "no two agents have delivered on the same instance, so no pairs exist",
            next="have two agents do the same tasks: worksample run, or worksample resume",
        )
    draw.shuffle(out)
    return out


def entries_of(store: Store, submissions: Iterable[Submission]) -> list[PairCandidate]:
    """Return submissions as candidates for pairs. Arms and attempts of an agent are separate entrants."""
    found = list(submissions)
    who = entrants_of(store, {s.id for s in found})
    keys: dict[str, str] = {}
    out = []
    for s in found:
        if s.instance not in keys:
            keys[s.instance] = store.get(Instance, s.instance).key
        out.append(PairCandidate(s.id, who[s.id], s.instance, keys[s.instance]))
    return out
