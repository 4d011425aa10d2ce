"""Subjects of a round: an experiment's submissions, named ones, jobs, or a sample from another round."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from worksample.errors import PlanError
from worksample.people.access.tokens import name_key
from worksample.people.rounds.judging_forms import RoundKind
from worksample.people.rounds.round_config import PeopleRound
from worksample.people.unstruck_evaluations import amendments_of, standing_evaluations, verdicts_of
from worksample.records import (
    AmendmentTarget,
    Experiment,
    Holistic,
    Instance,
    Origin,
    Round,
    Standing,
    Submission,
    Trial,
    Verdict,
    is_accepted,
    struck,
)
from worksample.results.pair_sampling import PairCandidate, entries_of

if TYPE_CHECKING:
    from worksample.store import Store

_MANY = 400


def submissions_of(store: Store, experiment: str) -> list[Submission]:
    """Return an experiment's submissions, from live trials or imported for it, without struck ones, by id.

    Raises RecordMissing.
    """
    store.get(Experiment, experiment)
    live = {t.id for t in store.find(Trial, experiment=experiment, live=True)}
    found = [s for s in store.find(Submission, experiment=experiment) if s.trial is None or s.trial in live]
    return sorted(_exclude_struck(store, found), key=lambda s: s.id)


def _exclude_struck(store: Store, found: Iterable[Submission]) -> list[Submission]:
    out = struck(amendments_of(store))
    return [
        s for s in found
        if (AmendmentTarget.SUBMISSION, s.id) not in out
        and (AmendmentTarget.INSTANCE, s.instance) not in out
        and (AmendmentTarget.TRIAL, s.trial or "") not in out
    ]  # fmt: skip


def named_submissions(store: Store, ids: Sequence[str]) -> list[Submission]:
    """Return these submissions in this order, each once. Raises RecordMissing."""
    wanted = list(dict.fromkeys(ids))
    found: dict[str, Submission] = {}
    for start in range(0, len(wanted), _MANY):
        found |= {s.id: s for s in store.find(Submission, id=wanted[start : start + _MANY])}
    return [found[id] if id in found else store.get(Submission, id) for id in wanted]


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an item: a submission, or a job, whose id is its instance's."""

    id: str
    instance: str
    maker: str = ""
    """The person who made the work by hand and must not judge it; "" for none."""


def subject_of(submission: Submission) -> Subject:
    """Return a submission as a subject."""
    by_hand = {Origin.PERSON: submission.entrant, Origin.TRIAL: submission.author}.get(submission.origin, "")
    maker = name_key(by_hand) if by_hand else ""
    return Subject(submission.id, submission.instance, maker)


def jobs(store: Store, ids: Sequence[str]) -> list[Subject]:
    """Return jobs in this order, each once, without struck ones. Raises RecordMissing, PlanError if none is left."""
    out = struck(amendments_of(store))
    found = [store.get(Instance, id).id for id in dict.fromkeys(ids)]
    kept = [Subject(id, id) for id in found if (AmendmentTarget.INSTANCE, id) not in out]
    if not kept:
        raise PlanError(
            "no job is left to judge: none was chosen, or all of them are struck", next="worksample jobs qualify SUITE"
        )
    return kept


def pick_submissions(store: Store, config: PeopleRound, seed: int) -> list[Submission]:
    """Return the submissions that a round is about. Raises PlanError if there is none."""
    if config.over is not None and not config.labels:
        found = _reviewed_subjects(store, config, store.get(Round, config.over), seed)
    elif config.experiment is not None and not config.labels:
        found = submissions_of(store, config.experiment)
    else:
        found = _exclude_struck(store, named_submissions(store, config.subjects))
    if config.kind is RoundKind.PILOT:
        chosen = {e.subject for e in random_sample(entries_of(store, found), config.sample, seed)}
        found = [s for s in found if s.id in chosen]
    if not found and config.kind is not RoundKind.CALIBRATION:
        raise PlanError(
            f"no submission fits a round of kind {config.kind}",
            where=config.over or config.experiment or "",
            next=_until_there_is_something(config),
        )
    return found


def _until_there_is_something(config: PeopleRound) -> str:
    if config.over is not None:
        return "open it once the round that it looks at has answers that call for it"
    return f"worksample resume {config.experiment}" if config.experiment else "name submissions that are not struck"


def _reviewed_subjects(store: Store, config: PeopleRound, over: Round, seed: int) -> list[Submission]:
    verdicts = verdicts_of(store, over)
    ids = list(config.subjects) if config.subjects else _eligible(store, config.kind, over, verdicts)
    found = _exclude_struck(store, named_submissions(store, ids))
    if config.subjects or config.kind in (RoundKind.AUDIT, RoundKind.ADJUDICATION):
        return found
    passed = {s: v.passed for s, v in verdicts.items()}
    entries = entries_of(store, found)
    if config.kind is RoundKind.FALSE_NEGATIVES:
        chosen = one_per_project(entries, config.sample, seed)
    elif config.kind is RoundKind.RELIABILITY:
        chosen = enriched_sample(entries, passed, config.sample, config.positives, seed)
    else:
        fails = [e for e in entries if passed[e.subject] is False]
        chosen = [e for e in entries if passed[e.subject]] + random_sample(fails, config.sample, seed)
    ids = [e.subject for e in chosen]
    return [s for s in found if s.id in set(ids)]


def _eligible(store: Store, kind: RoundKind, over: Round, verdicts: dict[str, Verdict]) -> list[str]:
    """Return the sorted ids from which this kind of round may draw."""
    if kind is RoundKind.ADJUDICATION:
        return sorted(contested_subjects(store, over, verdicts))
    decided = {s: v.passed for s, v in verdicts.items() if v.standing is Standing.DECIDED}
    if kind is RoundKind.AUDIT:
        return sorted(s for s, passed in decided.items() if passed)
    if kind is RoundKind.FALSE_NEGATIVES:
        return sorted(s for s, passed in decided.items() if not passed)
    return sorted(decided)


def contested_subjects(store: Store, over: Round, verdicts: dict[str, Verdict]) -> set[str]:
    """Return subjects whose complete votes decide nothing, and those whose votes differ on passing."""
    votes: dict[str, set[bool]] = {}
    counts: dict[str, int] = {}
    for e in standing_evaluations(store, over.id):
        if e.second is None and isinstance(e.payload, Holistic):
            votes.setdefault(e.subject, set()).add(bool(is_accepted(e.payload.score)))
        counts[e.subject] = counts.get(e.subject, 0) + 1
    split = {s for s, seen in votes.items() if len(seen) > 1}
    open_ = {s for s, v in verdicts.items() if v.standing is Standing.UNDECIDED and counts.get(s, 0) >= over.overlap}
    return split | open_


def one_per_project(entries: Sequence[PairCandidate], size: int, seed: int) -> list[PairCandidate]:
    """Draw at most `size` entries of different projects (RLI B.5 draws 50)."""
    draw = random.Random(f"projects {seed}")
    projects: dict[str, list[PairCandidate]] = {}
    for entry in sorted(entries, key=lambda e: e.subject):
        projects.setdefault(entry.project, []).append(entry)
    chosen = draw.sample(sorted(projects), min(size, len(projects)))
    return [draw.choice(projects[project]) for project in chosen]


def random_sample(entries: Sequence[PairCandidate], size: int, seed: int) -> list[PairCandidate]:
    """Draw at most `size` entries."""
    ordered = sorted(entries, key=lambda e: e.subject)
    return random.Random(f"sample {seed}").sample(ordered, min(size, len(ordered)))


def enriched_sample(
    entries: Sequence[PairCandidate], passed: Mapping[str, bool | None], size: int, share: float, seed: int
) -> list[PairCandidate]:
    """Draw at most `size` entries of which `share` passed, as far as there are enough; fails fill the rest.

    If few submissions pass, a plain sample holds hardly any pass, but agreement on passes is the wanted figure.
    """
    if not 0 <= share <= 1:
        raise PlanError(f"the share of positives, {share}, is out of range", next="pass a share from 0 to 1")
    positive = [e for e in entries if passed.get(e.subject)]
    negative = [e for e in entries if passed.get(e.subject) is False]
    few = random_sample(positive, round(size * share), seed)
    return few + random_sample(negative, size - len(few), seed)
