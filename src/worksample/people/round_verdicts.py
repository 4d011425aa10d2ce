"""What a round comes to once people have looked at it again: votes, then audit, then adjudication.

Computed from the records alone, like every verdict: a struck audit or vote leaves as if it had never been.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from worksample.records import AmendmentTarget, Labels, Pairwise, Purpose, Round, Standing, Verdict, struck
from worksample.results.verdicts import verdict_of

from .evaluations import amendments_of, given, verdicts_of
from .rounds.forms import PURPOSE_OF, SOUND, RoundKind
from .rounds.queues import find_queue

if TYPE_CHECKING:
    import polars as pl

    from worksample.metrics import Estimate
    from worksample.store import Store


class DecidedBy(StrEnum):
    VOTES = "votes"
    AUDIT = "audit"
    """It had passed and the audit did not confirm it (RLI B.5: against false positives)."""
    ADJUDICATION = "adjudication"


@dataclass(frozen=True, slots=True)
class Final:
    """`votes`: what the round's own votes come to. `integrity`: findings other than sound, from integrity rounds."""

    verdict: Verdict
    by: DecidedBy
    votes: Verdict
    integrity: tuple[str, ...] = ()


def rounds_over(store: Store, round: str, *kinds: RoundKind) -> list[Round]:
    """Rounds by people that look at this one and are not struck, by time; of these kinds, or of any."""
    out, wanted = struck(amendments_of(store)), {PURPOSE_OF[kind] for kind in kinds}
    found = [r for r in store.find(Round, over=round) if r.purpose is not Purpose.REGRADE]
    return [r for r in found if (not wanted or r.purpose in wanted) and (AmendmentTarget.ROUND, r.id) not in out]


def final_verdicts(store: Store, round: str) -> dict[str, Final]:
    """Per subject of a round by people, after audits and adjudications (`verdicts.second_looks`)."""
    from worksample.results.judged_rounds import RoundReader

    judged, _ = RoundReader(store, amendments_of(store)).looked_at(store.get(Round, round))
    votes = {row["subject"]: row for row in judged.votes.iter_rows(named=True)}
    found = findings(store, round)
    return {
        row["subject"]: Final(
            verdict_of(row), DecidedBy(row["by"]), verdict_of(votes[row["subject"]]), found.get(row["subject"], ())
        )
        for row in judged.verdicts.iter_rows(named=True)
    }


def _decided(store: Store, rounds: list[Round]) -> dict[str, Verdict]:
    out: dict[str, Verdict] = {}
    for round in rounds:
        out |= {s: v for s, v in verdicts_of(store, round).items() if v.standing is Standing.DECIDED}
    return out


def findings(store: Store, round: str) -> dict[str, tuple[str, ...]]:
    """Subject -> what integrity rounds over this one found wrong with it: shortcut, leak, spurious."""
    out: dict[str, set[str]] = {}
    for review in rounds_over(store, round, RoundKind.INTEGRITY):
        for e in given(store, review.id):
            if isinstance(e.payload, Labels) and e.payload.labels.get("integrity", SOUND) != SOUND:
                out.setdefault(e.subject, set()).add(e.payload.labels["integrity"])
    return {subject: tuple(sorted(labels)) for subject, labels in out.items()}


def false_negatives(store: Store, round: str) -> Estimate:
    """Of the audited fails of a round, the share that should have passed, with its one-sided exact bound (RLI B.5)."""
    from worksample.metrics import false_negative_bound

    looked = _decided(store, rounds_over(store, round, RoundKind.FALSE_NEGATIVES))
    return false_negative_bound(sum(bool(v.passed) for v in looked.values()), len(looked))


def preferences(store: Store, round: str, passed: Mapping[str, bool | None] | None = None) -> pl.DataFrame:
    """What the votes of a round of pairs come to, per project and pair of agents, for `metrics.elo_ratings`.

    `passed`: submission -> whether it succeeded; unless given, as the holistic round says that this one was opened
    with. Where both did quality decides, else completion (RLI 3.4). Columns: project, first, second, votes, preference,
    reason (see `metrics.project_preferences`).
    """
    from worksample.metrics import TIE_BREAK, pair_preference, project_preferences
    from worksample.results.entrants import entrants

    passed = _succeeded(store, round) if passed is None else passed
    rows = [e for e in given(store, round) if isinstance(e.payload, Pairwise) and e.second is not None]
    entrant = entrants(store, {id for e in rows for id in (e.subject, e.second) if id is not None})
    said = [e.payload for e in rows if isinstance(e.payload, Pairwise)]
    preference = pair_preference(
        [p.completion.value for p in said],
        [p.quality.value for p in said],
        [passed.get(e.subject) for e in rows],
        [passed.get(e.second or "") for e in rows],
    )
    return project_preferences(
        [e.instance for e in rows],
        [entrant[e.subject] for e in rows],
        [entrant[e.second or ""] for e in rows],
        preference,
        evaluator=[e.evaluator for e in rows],
        protocol=TIE_BREAK,
    )


def _succeeded(store: Store, round: str) -> dict[str, bool | None]:
    """What the holistic round says that a round of pairs was opened with."""
    with store.database.reading() as connection:
        source = find_queue(connection, round).settings["holistic"]
    return {s: f.verdict.passed for s, f in final_verdicts(store, source).items()} if source else {}
