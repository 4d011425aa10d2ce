"""The funnel from a list of jobs to tasks: how many jobs dropped out at each step, and why (UpBench 3.2 and 3.3)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from worksample.errors import PlanError
from worksample.people.rounds.job_screening_results import read_looks
from worksample.people.unstruck_evaluations import standing_evaluations
from worksample.records import Criteria, Evaluation, Instance, Labels, Purpose, Round, Standing, Verdict
from worksample.results.job_suitability import deciding_questions, failed_questions, votes_on

if TYPE_CHECKING:
    from worksample.store import Store

IMPORT = "qualification.import"
"""Key in a round's versions: digest of the blob with the counts of the jobs' import."""
LOOKS = "qualification.looks"
RUBRIC = (5, 20)
"""Fewest and most criteria of a rubric that the paper recommends (3.4)."""


@dataclass(frozen=True, slots=True)
class JudgedJob:
    """A job with its answers and its outcome."""

    job: str
    """Id of the instance."""
    key: str
    contract: str
    passed: bool | None
    """Whether it qualified; None while undecided."""
    by: str
    """The deciding step: `first look`, `verification` or `adjudication`; "" while undecided."""
    failed: tuple[str, ...]
    """Questions that disqualified it."""
    reasons: tuple[str, ...]
    """The experts' reasons."""
    criteria: Criteria
    """The rubric written with the last qualifying answer."""
    votes: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Funnel:
    """`steps`: (step, number of jobs), from the list to the tasks; `jobs`: all jobs asked about, by key."""

    round: str
    steps: tuple[tuple[str, int], ...]
    jobs: tuple[JudgedJob, ...]

    def plain(self) -> dict[str, Any]:
        """Return the funnel as JSON types."""
        jobs = [
            {
                "job": j.job, "key": j.key, "contract": j.contract, "qualifies": j.passed, "by": j.by,
                "failed": list(j.failed), "reasons": list(j.reasons), "criteria": j.criteria.plain()["criteria"],
                "votes": list(j.votes),
            }
            for j in self.jobs
        ]  # fmt: skip
        return {"round": self.round, "steps": [list(step) for step in self.steps], "jobs": jobs}


def rounds_of_jobs(store: Store) -> list[Round]:
    """List the qualifications, by time."""
    found = [r for r in store.find(Round) if r.purpose is Purpose.QUALIFICATION]
    return sorted(found, key=lambda r: (r.at, r.id))


def funnel(store: Store, round: str = "") -> Funnel:
    """Build the funnel of a qualification, by default the latest. Raises PlanError if there is none, RecordMissing."""
    known = rounds_of_jobs(store)
    chosen = next((r for r in known if r.id == round), None) if round else (known[-1] if known else None)
    if chosen is None:
        raise PlanError(
            "the store has no qualification of jobs with this id", where=round, next="worksample jobs qualify SUITE"
        )
    jobs = judged_jobs(store, chosen)
    return Funnel(chosen.id, tuple(_funnel_steps(store, chosen, jobs)), jobs)


def judged_jobs(store: Store, round: Round) -> tuple[JudgedJob, ...]:
    """List all jobs of a qualification, by key."""
    from worksample.people.round_verdicts import final_verdicts

    verdicts = {s: f.verdict for s, f in final_verdicts(store, round.id).items()}
    said: dict[str, list[Evaluation]] = {}
    for e in standing_evaluations(store, round.id):
        said.setdefault(e.subject, []).append(e)
    found = (_judged_job(store, round, job, said.get(job, []), verdicts.get(job)) for job in round.subjects)
    return tuple(sorted(found, key=lambda j: (j.key, j.job)))


_BY = ("first look", "verification", "adjudication")


def _judged_job(store: Store, round: Round, job: str, said: list[Evaluation], verdict: Verdict | None) -> JudgedJob:
    instance = store.get(Instance, job)
    about = instance.about.job
    votes = votes_on(round, said)
    passed = verdict.passed if verdict is not None and verdict.standing is Standing.DECIDED else None
    labels = [e.payload for e in said if isinstance(e.payload, Labels)]
    against = {name for one in labels for name in failed_questions(round, one)} if passed is False else set()
    why = [one.reasons[name] for one in labels for name in failed_questions(round, one) if name in one.reasons]
    written = [one.criteria for one in labels if one.criteria.criteria and not failed_questions(round, one)]
    return JudgedJob(
        job, instance.key, about.contract if about else instance.key, passed,
        _BY[min(len(votes), 3) - 1] if passed is not None and votes else "",
        tuple(name for name in deciding_questions(round) if name in against), tuple(why) if passed is False else (),
        written[-1] if written and passed else Criteria(), tuple(votes),
    )  # fmt: skip


def _funnel_steps(store: Store, round: Round, jobs: tuple[JudgedJob, ...]) -> list[tuple[str, int]]:
    digest = round.versions.get(IMPORT)
    counts = json.loads(store.blobs.read(digest)) if digest else {}
    out: list[tuple[str, int]] = []
    if counts:
        out.append(("rows of the list", counts["rows"]))
        out += [(f"  left out: not {name}", n) for name, n in counts["left_out"].items()]
        out += [("  at fault", counts["faults"])] if counts["faults"] else []
    looks = read_looks(store, round.versions.get(LOOKS, "")).values()
    out.append(("jobs that experts were asked about", len(jobs)))
    if looks:
        out.append(("  a program missed files of", sum(bool(look["missing"]) for look in looks)))
        out.append(("  a program could not open files of", sum(bool(look["broken"]) for look in looks)))
        # Nothing found means something only where a program searched.
        searched = [look for look in looks if look.get("by")]
        out.append(("  a program searched for identifiers in", len(searched)))
        if searched:
            found = sum(bool(look["candidates"]) for look in searched)
            out.append(("  a program found candidates for identifiers in", found))
    first = [j.votes[0] for j in jobs if j.votes]
    why = Counter(name for j in jobs if j.passed is False for name in j.failed)
    out += [("looked at", len(first)), ("qualified at the first look", sum(first))]
    out.append(("looked at by a second expert", sum(len(j.votes) > 1 for j in jobs)))
    out.append(("  the two differed: a third decided or will", sum(len(set(j.votes[:2])) > 1 for j in jobs)))
    out.append(("left out", sum(j.passed is False for j in jobs)))
    out += [(f"  {name.replace('_', ' ')}", why[name]) for name in deciding_questions(round) if why[name]]
    out.append(("wait for a look", sum(j.passed is None for j in jobs)))
    kept = [j for j in jobs if j.passed]
    out.append(("qualified", len(kept)))
    low, high = RUBRIC
    sizes = [len(j.criteria.leaves) for j in kept]
    out.append((f"  with a rubric of {low} to {high} criteria", sum(low <= n <= high for n in sizes)))
    return out
