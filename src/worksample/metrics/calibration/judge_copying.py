"""People who copy the judge: agreement too perfect, and texts that are the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worksample.metrics.columns import Column, codes, floats, same_length, text
from worksample.metrics.uncertainty.intervals import check_level

from .sample import LEAST

SHORTEST = 20
"""Letters below which equal texts are no sign: "ok" and "missing file" are anybody's."""


@dataclass(frozen=True, slots=True)
class Copying:
    """A person whose answers follow the judge too closely to be their own."""

    person: str
    labels: int
    agreement: float
    expected: float
    """What other people's labels agree with the judge."""
    texts: int
    """Justifications that are the judge's, word for word."""
    why: str


def find_copying(
    person: Column,
    judge: Column,
    people: Column,
    *,
    said: Sequence[tuple[str | None, str | None]] | None = None,
    least: int = LEAST,
    level: float = 0.99,
) -> tuple[Copying, ...]:
    """Who agrees with the judge on everything although others do not, or gives the judge's own words.

    A row per label. `said`: (person's text, judge's text) per row. Somebody with `least` labels and agreement on all of
    them is named where chance, at the rate of the others, gives that less often than 1 - `level` (shared among all
    people); so is who has two texts of 20 letters and more that equal the judge's but for case and spaces.
    """
    check_level(level)
    size = same_length(person=person, judge=judge, people=people)
    who = codes("person", text("person", person))
    (given, answered), (own, asked) = floats("judge", judge, low=0, high=1), floats("people", people, low=0, high=1)
    known = answered & asked
    same = known & (np.abs(given - own) < 1e-9)
    labels = np.bincount(who.index[known], minlength=who.size)
    agreeing = np.bincount(who.index[same], minlength=who.size)
    equal = np.zeros(size, dtype=bool)
    if said is not None:
        equal = np.array([_equal(*pair) for pair in said], dtype=bool)
    texts = np.bincount(who.index[equal], minlength=who.size)
    out = []
    for k, name in enumerate(who.names()):
        others = int(labels.sum() - labels[k])
        # One disagreement more among the others, so that a rate of 1 is not taken as certain.
        rate = (int(agreeing.sum() - agreeing[k]) + 1) / (others + 2)
        why = []
        if labels[k] >= least and agreeing[k] == labels[k] and others and rate ** labels[k] < (1 - level) / who.size:
            why.append(f"agrees with the judge on all {labels[k]} labels, others on {100 * rate:.0f} %")
        if texts[k] >= 2:
            why.append(f"{texts[k]} texts are the judge's, word for word")
        if why:
            share = agreeing[k] / labels[k] if labels[k] else 0.0
            out.append(Copying(name, int(labels[k]), float(share), rate, int(texts[k]), "; ".join(why)))
    return tuple(out)


def _equal(own: str | None, judge: str | None) -> bool:
    one, two = (re.sub(r"\s+", " ", t or "").strip().casefold() for t in (own, judge))
    return len(one) >= SHORTEST and one == two
