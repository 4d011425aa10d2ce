"""Pairs of submissions to compare: drawn at random from a recorded seed, balanced over projects and sides."""

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
"""Maximum number of instances on which two entrants meet (RLI B.2)."""
PAIRS = "pairs"
"""Key in a round's versions: the digest of the pairs of submissions that were drawn for it."""


def key_of(first: str, second: str) -> str:
    """Return the key of a pair, which does not depend on the side shown first."""
    return "\x1f".join(sorted((first, second)))


def drawn_pairs(store: Store, round: Round) -> list[tuple[str, str]]:
    """Return the pairs drawn for a round, in their drawn order, with those drawn afterwards for later work; none for
    other rounds.

    A round that judges another round again has the pairs of that round.
    """
    if PAIRS not in round.versions:
        return []
    return [pair for r in (round, *later_rounds(store, round)) for pair in pairs_of(store, r)]


def pairs_of(store: Store, round: Round) -> list[tuple[str, str]]:
    """Return the pairs that a round itself names."""
    return [(one, two) for one, two in json.loads(store.blobs.read(round.versions[PAIRS]))]


def later_rounds(store: Store, round: Round) -> list[Round]:
    """Return, by time, the rounds of pairs drawn after a judge's round was opened, for it or for the rounds that it
    judges again.
    """
    line = [round]
    while line[-1].purpose is Purpose.REGRADE and line[-1].over is not None:
        line.append(store.get(Round, line[-1].over))
    found = [r for one in line for r in store.find(Round, over=one.id)]
    return sorted((r for r in found if r.purpose is Purpose.LATER_PAIRS), key=lambda r: (r.at, r.id))


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A submission that can be drawn."""

    subject: str
    entrant: str
    """Maker of the submission: an agent, with its arm and attempt (`entrants.entrants_of`)."""
    instance: str
    project: str
    """Unit that counts as one project: the instance's key."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of submissions. `first` is shown as AD-1 unless an evaluator's counterbalancing swaps the sides."""

    first: PairCandidate
    second: PairCandidate


def sample_pairs(
    entries: Sequence[PairCandidate], per_pair: int, seed: int, known: Collection[tuple[str, str]] = ()
) -> list[Pair]:
    """Draw pairs of submissions on the same instance so that each pair of entrants meets on `per_pair` projects (RLI
    B.2).

    If two entrants share fewer projects, they meet on all of them. Projects drawn least come first, ties at random, so
    that no project dominates the round; if an entrant has several submissions on a project, one is drawn; each entrant
    of a pair stands first on half of the projects. Equal entries and seeds give equal pairs. `known`: pairs of subjects
    that were drawn before; only the missing ones are drawn then, and there may be none.

    Raises PlanError for fewer than two entrants, or if no two of them share a project.
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
    """Return submissions as candidates for pairs; an agent's arms and attempts are separate entrants."""
    found = list(submissions)
    who = entrants_of(store, {s.id for s in found})
    keys: dict[str, str] = {}
    out = []
    for s in found:
        if s.instance not in keys:
            keys[s.instance] = store.get(Instance, s.instance).key
        out.append(PairCandidate(s.id, who[s.id], s.instance, keys[s.instance]))
    return out
