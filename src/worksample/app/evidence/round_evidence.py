"""Verdicts, votes, preferences and leaks of a round. Agents are numbered unless an admin asks for their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select

from worksample.app.evidence.schemas import (
    Leaks,
    LeakView,
    Preferences,
    PreferenceView,
    Strike,
    Verdicts,
    VerdictView,
    Voter,
    Votes,
    VoteView,
)
from worksample.app.judging.vote_schemas import vote_view
from worksample.app.rounds.responses import find_round
from worksample.app.server.json_figures import background_of, micros_of
from worksample.app.server.route_services import AppServices
from worksample.errors import UsageError
from worksample.people import Account, Form, Role, final_verdicts, preferences, refuse_votes_at_work, show_names
from worksample.people.access.evaluator_profile import person_of
from worksample.people.judging.blinding import giveaways, scrub
from worksample.people.unstruck_evaluations import amendments_of, exclude_struck
from worksample.records import (
    Agent,
    Amendment,
    AmendmentTarget,
    EntryKind,
    Evaluation,
    Evaluator,
    Instance,
    Purpose,
    Round,
    Submission,
    digest_of,
    strikes,
    targets_of,
)
from worksample.results.entrants import entrants_of
from worksample.store.people_tables import items
from worksample.viewing import find_view

BARRED = "You have seen who made what. You get no more items of this round or of rounds that review it."


class BlindLabels:
    """Labels of submissions' makers and instances. Numbers are drawn from the round's seed, so they stay the same
    within a round and tell nothing across rounds.
    """

    def __init__(self, services: AppServices, round: Round, submissions: Iterable[str], *, named: bool) -> None:
        ids = sorted(set(submissions))
        self.found: dict[str, Submission] = {}
        for start in range(0, len(ids), 400):
            self.found |= {s.id: s for s in services.store.find(Submission, id=ids[start : start + 400])}
        self._who = entrants_of(services.store, set(ids))
        ordered = sorted(set(self._who.values()), key=lambda e: digest_of([round.seed, round.id, "numbers", e]))
        self.label = {e: _name(services, e) if named else f"Agent {n}" for n, e in enumerate(ordered, 1)}
        wanted = ids if round.purpose is Purpose.QUALIFICATION else sorted({s.instance for s in self.found.values()})
        self._instances = {i: services.store.get(Instance, i).key for i in wanted}

    def agent(self, submission: str) -> str:
        """Return the label of a submission's maker; "" for a job, which nobody made."""
        who = self._who.get(submission)
        return self.label[who] if who is not None else "" if submission in self._instances else "?"

    def instance(self, id: str) -> str:
        return self._instances.get(id, id)

    def about(self, subject: str) -> str:
        """Return the instance of a subject; "" if the subject is not in this round."""
        found = self.found.get(subject)
        return self.instance(found.instance) if found else self._instances.get(subject, "")


def maker_of(services: AppServices, submission: Submission) -> str:
    """Return the name of a submission's maker, as reports write it."""
    return _name(services, entrants_of(services.store, {submission.id})[submission.id])


def _name(services: AppServices, entrant: str) -> str:
    """Return an agent's name with its model, and with arm and attempt if these differ."""
    id, _, rest = entrant.partition(" / ")
    agents = services.store.find(Agent, id=[id])
    if not agents:
        return entrant
    named = f"{agents[0].name} ({agents[0].model})" if agents[0].model else agents[0].name
    return f"{named}, {rest.replace(' / ', ', ')}" if rest else named


def open_evidence(services: AppServices, account: Account, id: str, *, names: bool) -> tuple[Round, str]:
    """Return the round and the consequence of looking at names ("" for none).

    Raises Denied if somebody other than an admin asks for names, Conflict while the person has an item of the round
    open, RecordMissing.
    """
    round, _ = find_round(services, id)
    if names:
        account.may(Role.ADMIN)
        show_names(services.store, account, id, clock=services.people.clock)
        return round, BARRED
    refuse_votes_at_work(services.store, account, id)
    return round, ""


def verdicts_of(services: AppServices, account: Account, id: str, *, names: bool) -> Verdicts:
    """Return the round's verdicts. Raises what `look` raises."""
    round, barred = open_evidence(services, account, id, names=names)
    finals = final_verdicts(services.store, id)
    labels = BlindLabels(services, round, finals, named=names)
    rows = tuple(
        VerdictView(
            submission=subject, agent=labels.agent(subject),
            instance=labels.about(subject),
            standing=final.verdict.standing, score=final.verdict.score, passed=final.verdict.passed,
            label=final.verdict.label, reason=final.verdict.reason, by=final.by, votes_standing=final.votes.standing,
            votes_passed=final.votes.passed, integrity=final.integrity, evaluations=final.verdict.evaluations,
        )
        for subject, final in sorted(finals.items())
    )  # fmt: skip
    return Verdicts(round=id, names=names, barred=barred, verdicts=rows)


def votes_of(services: AppServices, account: Account, id: str, *, names: bool) -> Votes:
    """Return all votes that were submitted, struck or not, by time. Raises what `look` raises."""
    round, barred = open_evidence(services, account, id, names=names)
    found = services.store.find(Evaluation, round=id)
    return Votes(round=id, names=names, barred=barred, votes=vote_rows(services, round, found, names=names))


def vote_rows(services: AppServices, round: Round, found: Sequence[Evaluation], *, names: bool) -> tuple[VoteView, ...]:
    """Describe evaluations of a round, by time."""
    amendments = amendments_of(services.store)
    stands = {e.id for e in exclude_struck(found, amendments)}
    labels = BlindLabels(services, round, (s for e in found for s in (e.subject, e.second) if s), named=names)
    versions = sorted({e.evaluator for e in found})
    voters = {v.id: v for v in services.store.find(Evaluator, id=versions)} if versions else {}
    accounts = {a.id: a.name for a in services.people.accounts.all()}
    out = _strikes(amendments, accounts)
    return tuple(
        VoteView(
            evaluation=e.id, submission=e.subject, second=e.second, agent=labels.agent(e.subject),
            second_agent=labels.agent(e.second) if e.second else None, instance=labels.instance(e.instance),
            voter=_voter(e, voters, accounts), outcome=e.outcome.value, said=vote_view(e.payload),
            critical_flaw=str(e.record.get("critical_flaw", "")), recognised=str(e.record.get("recognised", "")),
            reason=e.reason, minutes=e.minutes, at=micros_of(e.at), stands=e.id in stands,
            struck=next((out[key] for key in targets_of(e) if key in out), None),
        )
        for e in sorted(found, key=lambda e: (e.at, e.id))
    )  # fmt: skip


def _voter(e: Evaluation, voters: dict[str, Evaluator], accounts: dict[str, str]) -> Voter:
    person, known = person_of(e.evaluator), voters.get(e.evaluator)
    return Voter(
        id=e.evaluator, account=person if person in accounts else None,
        name=accounts.get(person) or (known.name if known else e.evaluator), background=background_of(known),
    )  # fmt: skip


def _strikes(amendments: list[Amendment], accounts: dict[str, str]) -> dict[tuple[AmendmentTarget, str], Strike]:
    """Return the current strikes by target, with their reasons."""
    return {
        key: Strike(target=a.target, reason=a.reason, author=author_of(a, accounts), at=micros_of(a.at))
        for key, a in strikes(amendments).items()
    }


def author_of(amendment: Amendment, accounts: dict[str, str]) -> str:
    """Return the account name of an amendment's author; other authors by their id."""
    return accounts.get(amendment.author.removeprefix("person-"), amendment.author)


def preferences_of(services: AppServices, account: Account, id: str, *, names: bool) -> Preferences:
    """Return the preferences of a round of pairs. Raises UsageError for other rounds, and what `look` raises."""
    round, barred = open_evidence(services, account, id, names=names)
    if round.versions.get("people.form") != Form.PAIRWISE:
        raise UsageError(
            "this round does not compare pairs, so it has no preferences",
            where=id,
            next="look at the verdicts of this round",
        )
    frame = preferences(services.store, id)
    said = services.store.find(Evaluation, round=id)
    labels = BlindLabels(services, round, (s for e in said for s in (e.subject, e.second) if s), named=names)
    rows = tuple(
        PreferenceView(
            project=services.store.get(Instance, row["project"]).key,
            first=labels.label[row["first"]], second=labels.label[row["second"]],
            votes=row["votes"], preference=row["preference"], reason=row["reason"] or "",
        )
        for row in frame.iter_rows(named=True)
    )  # fmt: skip
    return Preferences(round=id, names=names, barred=barred, preferences=rows)


MOST = 2_000
"""Most files in the list; all are counted."""


def leaks_of(services: AppServices, id: str) -> Leaks:
    """List delivered files that may reveal their maker, from the views that exist. Raises RecordMissing."""
    round, _ = find_round(services, id)
    store = services.store
    with store.database.reading() as connection:
        rows = connection.execute(select(items.c.subject, items.c.second).where(items.c.queue == id)).all()
    labels = BlindLabels(services, round, (s for row in rows for s in row if s), named=False)
    found: list[LeakView] = []
    looked = waiting = leaking = 0
    for submission in labels.found.values():
        part = submission.parts.get("output")
        if part is None:
            continue
        words = giveaways(store, submission)
        manifest = store.manifest(part.manifest)
        for entry in manifest.entries:
            if entry.kind is not EntryKind.FILE or entry.blob is None:
                continue
            view = find_view(store, manifest, part.manifest, entry.path)
            looked, waiting = looked + (view is not None), waiting + (view is None)
            said = tuple(map(str, view.meta.get("leaks", ()))) if view is not None else ()
            if said:
                leaking += 1
                if len(found) < MOST:
                    found.append(
                        LeakView(
                            submission=submission.id, agent=labels.agent(submission.id),
                            instance=labels.instance(submission.instance), path=scrub(entry.path, words), leaks=said,
                        )
                    )  # fmt: skip
    return Leaks(round=id, looked=looked, waiting=waiting, leaking=leaking, files=tuple(found))
