"""Which pairs and which subjects are looked at: at random, from a recorded seed, balanced."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from worksample.errors import PlanError
from worksample.results.pair_sampling import PairCandidate


def one_per_project(entries: Sequence[PairCandidate], size: int, seed: int) -> list[PairCandidate]:
    """At most `size` entries, each of another project, all at random (RLI B.5 draws 50)."""
    draw = random.Random(f"projects {seed}")
    projects: dict[str, list[PairCandidate]] = {}
    for entry in sorted(entries, key=lambda e: e.subject):
        projects.setdefault(entry.project, []).append(entry)
    chosen = draw.sample(sorted(projects), min(size, len(projects)))
    return [draw.choice(projects[project]) for project in chosen]


def at_random(entries: Sequence[PairCandidate], size: int, seed: int) -> list[PairCandidate]:
    """At most `size` of them."""
    ordered = sorted(entries, key=lambda e: e.subject)
    return random.Random(f"sample {seed}").sample(ordered, min(size, len(ordered)))


def enriched(
    entries: Sequence[PairCandidate], passed: Mapping[str, bool | None], size: int, share: float, seed: int
) -> list[PairCandidate]:
    """At most `size` entries of which `share` passed, as far as there are that many; the rest fills up.

    At a pass rate of some percent a plain sample holds hardly any positive, and agreement on those is what is wanted.
    """
    if not 0 <= share <= 1:
        raise PlanError(f"a share of positives of {share}", next="pass 0 to 1")
    positive = [e for e in entries if passed.get(e.subject)]
    negative = [e for e in entries if passed.get(e.subject) is False]
    few = at_random(positive, round(size * share), seed)
    return few + at_random(negative, size - len(few), seed)
