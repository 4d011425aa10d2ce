"""Advice on who should do each job of a list: AI, AI with people, or people. If the evidence is insufficient, the
advice says what to measure first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.column_checks import Floats
from worksample.reports.clusters import embed
from worksample.reports.clusters.cluster_labels import words_of
from worksample.reports.job_advice.evidence import Evidence
from worksample.reports.job_advice.job_list import ListedJob
from worksample.reports.job_advice.job_similarity import (
    SimilarityRule,
    distances,
    has_unknown_words,
    learn_rule,
    same_category,
)
from worksample.reports.sections.people_versus_agents import TOGETHER
from worksample.reports.static_site.page_templates import Pages

AI, HELPED, PEOPLE, UNSURE = "AI", "AI with people", "people", "not enough data"
MEASURED, ASSUMED = "measured", "assumed"
NEAREST = 5
_MOST_KNOWN = 5_000
"""Maximum number of jobs with known outcomes. The distances between all of them are stored as one table."""
_MOST_MORE = 1_000
_CERTAIN = 99 / 100
"""Probability that counts as certain."""


@dataclass(frozen=True, slots=True)
class AdviceConfig:
    """Settings of advice.

    `sure` is the minimum probability at which an answer is given. `wage` is the pay in US dollars per hour of people
    who do such work; without it, a person's work is assumed to cost the value of the job. `people` says whether
    people's measured success is used if they did enough similar jobs; otherwise people are assumed to succeed.
    `embedding` is as in `worksample clusters`.
    """

    sure: float = 0.8
    wage: float | None = None
    people: str = MEASURED
    embedding: str = "tfidf"
    base_url: str = ""
    how: m.Resampling = m.Resampling(resamples=2000)  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        if not 0.5 < self.sure < 1:
            raise UsageError(
                f"sure = {self.sure:g} is not a probability between 0.5 and 1",
                next="pass more than 0.5, less than 1",
            )
        if self.people not in (MEASURED, ASSUMED):
            raise UsageError(f"people = {self.people!r} is not allowed", next=f"pass {MEASURED} or {ASSUMED}")
        if self.wage is not None and not 0 <= self.wage < math.inf:
            raise UsageError(f"the wage {self.wage:g} is negative or infinite", next="pass US dollars an hour")


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on one job.

    `likely` is the approach that is most likely the best. `answer` is the same approach, or `UNSURE` if the probability
    is too low. `chances` gives each approach's probability of being best. `dollars` is the monthly value minus the cost
    of the likely approach, and `over_people` is its advantage over people, both in US dollars.

    `near` lists the keys of the nearest jobs with known outcomes; it is empty for a private suite. `weight` is the
    number of jobs behind the advice. `stake` is the maximum monthly value of better knowledge in US dollars, None if
    nothing is known. `measured` says whether people's success was measured.
    """

    job: ListedJob
    answer: str
    likely: str
    chances: dict[str, float]
    dollars: m.Estimate | None
    over_people: m.Estimate | None
    near: tuple[str, ...]
    suites: tuple[str, ...]
    weight: float
    stake: float | None
    next: str
    measured: bool = False

    @property
    def sure(self) -> str:
        """The probability that the likely approach is best, as text. It is never printed as 100 %."""
        if not self.likely:
            return "–"
        return (
            ">\N{NO-BREAK SPACE}99\N{NO-BREAK SPACE}%"
            if self.chances[self.likely] > _CERTAIN
            else f"{100 * self.chances[self.likely]:.0f}\N{NO-BREAK SPACE}%"
        )

    def plain(self) -> dict[str, Any]:
        """Return the advice as JSON types."""
        told = {name: getattr(self, name) for name in self.__slots__}
        return told | {
            "job": {k: v for k, v in asdict(self.job).items() if k != "text"},
            "dollars": self.dollars.as_dict() if self.dollars else None,
            "over_people": self.over_people.as_dict() if self.over_people else None,
        }


@dataclass(frozen=True, slots=True)
class ListAdvice:
    """Advice on all jobs of a list, in the order of the list. `by` names the embedding. `notes` must be shown with the
    advice.
    """

    each: tuple[Advice, ...]
    agent: str
    by: str
    jobs: int
    notes: tuple[str, ...]

    @property
    def measure_next(self) -> tuple[Advice, ...]:
        """Jobs without a certain answer, ordered by the monthly value of better knowledge. A job about which nothing is
        known is ordered by its whole monthly value.
        """

        def worth(advice: Advice) -> float:
            return advice.job.value * advice.job.monthly if advice.stake is None else advice.stake

        return tuple(sorted((a for a in self.each if a.answer == UNSURE), key=worth, reverse=True))

    def plain(self) -> dict[str, Any]:
        """Return all advice as JSON types."""
        each = [a.plain() for a in self.each]
        return {"agent": self.agent, "by": self.by, "jobs": self.jobs, "notes": list(self.notes), "advice": each}


def advise(evidence: Evidence, listed: Sequence[ListedJob], config: AdviceConfig | None = None) -> ListAdvice:
    """Return advice on each job of a list from the known outcomes of similar jobs.

    The value of an approach is success x value - cost (UpBench 5.4.1). If people also did the known jobs, their
    measured success counts; otherwise people are assumed to succeed always. Raises UsageError if there are too many
    known jobs to compare, and the errors of `embed` if a provider fails.
    """
    config = config or AdviceConfig()
    known = evidence.jobs.filter(pl.col("alone").is_not_null() & pl.col("alone_cost").is_not_null())
    if evidence.has_help:
        known = known.filter(pl.col("helped").is_not_null() & pl.col("helped_cost").is_not_null())
    if not known.height:
        raise UsageError("no job has a verdict and a known cost", next="worksample metrics --only value")
    if known["key"].n_unique() > _MOST_KNOWN:
        raise UsageError(
            f"the experiments have more than {_MOST_KNOWN:,} jobs with a verdict, too many for advice",
            next="name fewer experiments",
        )
    told = _Adviser(evidence, known, listed, config)
    each = tuple(told.of(n) for n in range(len(listed)))
    assumed = sum(not one.measured for one in each)
    few: tuple[str, ...] = ()
    if evidence.has_person and config.people == MEASURED and assumed:
        few = (
            f"people did too few jobs similar to {assumed} of these {len(each)}, and are assumed to succeed at them",
        )
    return ListAdvice(each, evidence.agent, told.by, known["key"].n_unique(), (*evidence.notes, *told.notes, *few))


class _Adviser:
    def __init__(
        self, evidence: Evidence, known: pl.DataFrame, listed: Sequence[ListedJob], config: AdviceConfig
    ) -> None:
        self.evidence, self.known, self.listed, self.config = evidence, known, listed, config
        self.jobs = known.group_by("key", maintain_order=True).agg(
            pl.col("text", "category", "suite").first(), pl.col("alone").cast(pl.Float64).mean()
        )
        made = embed([*self.jobs["text"], *(job.text for job in listed)], config.embedding, base_url=config.base_url)
        self.by = made.by
        mine, asked = made.vectors[: self.jobs.height], made.vectors[self.jobs.height :]
        categories = self.jobs["category"].to_list()
        within = distances(mine, mine)
        self.rule: SimilarityRule = learn_rule(
            within, same_category(categories, categories), self.jobs["alone"].to_numpy()
        )
        self.far = distances(asked, mine)
        same = same_category([j.category for j in listed], categories)
        self.weights = self.rule.weights(self.far, same)
        pairs = zip(listed, same, strict=True)
        new = [not alike.any() or has_unknown_words(job.text, self._words) for job, alike in pairs]
        self.strange = (self.far.min(axis=1) > self.rule.strange) & np.array(new)
        place = {key: n for n, key in enumerate(self.jobs["key"])}
        self.rows = np.array([place[key] for key in known["key"]])

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for text in self.jobs["text"] for word in words_of(text))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        measured = self.evidence.has_person and self.config.people == MEASURED
        people = "as measured on the jobs that they did, if these are enough, else " if measured else ""
        found = [
            "the value of an approach is its success rate times the value of the job, minus its cost; people count "
            f"{people}as always successful",
            f"a measured job of another category counts {self.rule.other:g} times as much, and any job counts less "
            "the more its text differs: with this rule the measured jobs predict each other best",
        ]
        if not self.evidence.has_help:
            found.append("no feedback by people was tried or priced in these experiments: AI with people is left out")
        if self.config.wage is None:
            found.append("without a wage (--wage), people's work is assumed to cost the value of the job")
        elif bare := sum(job.hours is None for job in self.listed):
            found.append(f"{bare} jobs have no hours: people's work on them is assumed to cost the value of the job")
        return tuple(found)

    def of(self, n: int) -> Advice:
        job, weight = self.listed[n], self.weights[n]
        if self.strange[n]:
            say = "no measured job is like it: measure jobs such as this one"
            return Advice(job, UNSURE, "", {}, None, None, (), (), 0.0, None, say)
        chosen, rows = self._choice(job, weight[self.rows])
        if rows is not None:
            weight = weight * np.isin(np.arange(len(weight)), self.rows[rows])
        order = np.argsort(-weight, kind="stable")[:NEAREST]
        near = () if self.evidence.private else tuple(self.jobs["key"][int(k)] for k in order)
        suites = tuple(dict.fromkeys(self.jobs["suite"][int(k)] for k in order))
        if isinstance(chosen, str):
            say = f"{chosen} {f'jobs of {job.category}' if job.category else 'jobs like this one'}"
            return Advice(job, UNSURE, "", {}, None, None, near, suites, float(weight.sum()), None, say)
        chances = chosen.best(job.value)
        likely = max(chances, key=lambda name: chances[name])
        answer = likely if chances[likely] >= self.config.sure else UNSURE
        dollars = chosen.gain(likely, None, job.value, job.monthly)
        over = chosen.gain(likely, PEOPLE, job.value, job.monthly) if likely != PEOPLE else None
        stake = chosen.regret(likely, job.value) * job.monthly
        say = "" if answer == likely else self._next(job, chances, float(weight.sum()))
        return Advice(
            job, answer, likely, chances, dollars, over, near, suites, float(weight.sum()), stake, say,
            rows is not None,
        )  # fmt: skip

    def _choice(self, job: ListedJob, weight: Floats) -> tuple[m.Choice | str, NDArray[np.bool_] | None]:
        """Return the choice of approaches for a job, and a flag per known job that says whether people's success on it
        was measured.
        """
        known, wage = self.known, self.config.wage
        price = None if wage is None or job.hours is None else wage * job.hours
        ways = {AI: m.Outcomes(known["alone"], known["alone_cost"])}
        if self.evidence.has_help:
            ways[HELPED] = m.Outcomes(known["helped"], known["helped_cost"])
        if self._ways_of_people:
            seen = dict(ways)
            if "together" in self._ways_of_people:
                seen[TOGETHER] = m.Outcomes(known["together"], known["together_cost"])
            if "person" in self._ways_of_people:
                spent = known["person_cost"] if price is None else [price] * known.height
                seen[PEOPLE] = m.Outcomes(known["person"], spent)
            seen.setdefault(PEOPLE, self._always(job, price))
            chosen = m.choose_from_jobs(seen, task=known["task"], weight=weight, how=self.config.how)
            if not isinstance(chosen, str):
                done = [known[c].is_not_null() for way in self._ways_of_people for c in (way, f"{way}_cost")]
                return chosen, np.logical_and.reduce([one.to_numpy() for one in done])
        ways[PEOPLE] = self._always(job, price)
        return m.choose_from_jobs(ways, task=known["task"], weight=weight, how=self.config.how), None

    def _always(self, job: ListedJob, price: float | None) -> m.Outcomes:
        size = self.known.height
        return m.Outcomes([True] * size, [job.value if price is None else price] * size, assumed=True)

    @cached_property
    def _ways_of_people(self) -> tuple[str, ...]:
        """Return the ways in which people did jobs."""
        if self.config.people == ASSUMED:
            return ()
        ways = (("together", self.evidence.has_together), ("person", self.evidence.has_person))
        return tuple(way for way, there in ways if there)

    def _next(self, job: ListedJob, chances: dict[str, float], weight: float) -> str:
        """Return a text that says how many more jobs would make the answer certain, if the likely approach is as far
        ahead as it seems.
        """
        first, second = sorted(chances, key=lambda name: -chances[name])[:2]
        odds = chances[first] / (chances[first] + chances[second])
        normal = NormalDist()
        ahead = normal.inv_cdf(min(max(odds, 0.5), 0.999))
        more = _MOST_MORE + 1.0 if ahead < 0.05 else weight * ((normal.inv_cdf(self.config.sure) / ahead) ** 2 - 1)
        many = f"more than {_MOST_MORE:,}" if more > _MOST_MORE else f"about {max(1, math.ceil(more))}"
        way = " with people's feedback" if HELPED in (first, second) else ""
        kind = f"jobs of {job.category}" if job.category else "jobs like it"
        return f"{first} or {second}: {many} more {kind}{way} would decide"


def write_page(found: ListAdvice, out: Path) -> Path:
    """Write advice.html and advice.json into a folder and return the path of the page. The folder may be that of a
    report.
    """
    pages = Pages(out, "Advice", links=(("advice.html", "Advice"),))
    pages.style()
    (out / "advice.json").write_text(json.dumps(found.plain(), indent=1), encoding="utf-8")
    pages.page("advice.html", "advice.html", "", sortable=True, found=found)
    return out / "advice.html"
