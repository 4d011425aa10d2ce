"""Final verdicts of a round: votes, then audit, then adjudication.

They are computed from the records alone: a struck audit or vote has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from worksample.records import AmendmentTarget, Labels, Pairwise, Purpose, Round, Standing, Verdict, struck
from worksample.results.verdicts import verdict_of

from .rounds.judging_forms import PURPOSE_OF, SOUND, RoundKind
from .rounds.queues import find_queue
from .unstruck_evaluations import amendments_of, standing_evaluations, verdicts_of

if TYPE_CHECKING:
    import polars as pl

    from worksample.metrics import Estimate
    from worksample.store import Store


class DecidedBy(StrEnum):
    """The step that decided a verdict."""

    VOTES = "votes"
    AUDIT = "audit"
    """The work had passed and the audit did not confirm it (RLI B.5: against false positives)."""
    ADJUDICATION = "adjudication"


@dataclass(frozen=True, slots=True)
class FinalVerdict:
    """A verdict after reviews. `votes`: the verdict of the round's own votes; `integrity`: findings of integrity
    rounds.
    """

    verdict: Verdict
    by: DecidedBy
    votes: Verdict
    integrity: tuple[str, ...] = ()


def rounds_over(store: Store, round: str, *kinds: RoundKind) -> list[Round]:
    """Return unstruck rounds by people that review this one, by time; of these kinds, or of any."""
    out, wanted = struck(amendments_of(store)), {PURPOSE_OF[kind] for kind in kinds}
    found = [r for r in store.find(Round, over=round) if r.purpose is not Purpose.REGRADE]
    return [r for r in found if (not wanted or r.purpose in wanted) and (AmendmentTarget.ROUND, r.id) not in out]


def final_verdicts(store: Store, round: str) -> dict[str, FinalVerdict]:
    """Return the verdict per subject after audits and adjudications (`results.second_looks`)."""
    from worksample.results.judged_rounds import RoundReader

    judged, _ = RoundReader(store, amendments_of(store)).read_with_looks(store.get(Round, round))
    votes = {row["subject"]: row for row in judged.votes.iter_rows(named=True)}
    found = findings(store, round)
    return {
        row["subject"]: FinalVerdict(
            verdict_of(row), DecidedBy(row["by"]), verdict_of(votes[row["subject"]]), found.get(row["subject"], ())
        )
        for row in judged.verdicts.iter_rows(named=True)
    }


def _decided_verdicts(store: Store, rounds: list[Round]) -> dict[str, Verdict]:
    """Return the decided verdicts of these rounds; later rounds win."""
    out: dict[str, Verdict] = {}
    for round in rounds:
        out |= {s: v for s, v in verdicts_of(store, round).items() if v.standing is Standing.DECIDED}
    return out


def findings(store: Store, round: str) -> dict[str, tuple[str, ...]]:
    """Return subject -> findings of integrity rounds: shortcut, leak, spurious."""
    out: dict[str, set[str]] = {}
    for review in rounds_over(store, round, RoundKind.INTEGRITY):
        for e in standing_evaluations(store, review.id):
            if isinstance(e.payload, Labels) and e.payload.labels.get("integrity", SOUND) != SOUND:
                out.setdefault(e.subject, set()).add(e.payload.labels["integrity"])
    return {subject: tuple(sorted(labels)) for subject, labels in out.items()}


def false_negatives(store: Store, round: str) -> Estimate:
    """Estimate the share of audited fails that should have passed, with its one-sided exact bound (RLI B.5)."""
    from worksample.metrics import false_negative_bound

    looked = _decided_verdicts(store, rounds_over(store, round, RoundKind.FALSE_NEGATIVES))
    return false_negative_bound(sum(bool(v.passed) for v in looked.values()), len(looked))


def preferences(store: Store, round: str, passed: Mapping[str, bool | None] | None = None) -> pl.DataFrame:
    """Return the preferences of a round of pairs, per project and pair of agents, for `metrics.elo_ratings`.

    `passed`: submission -> whether it succeeded; by default from the holistic round named at opening. If both
    succeeded, quality decides, else completion (RLI 3.4). Columns: project, first, second, votes, preference, reason
    (see `metrics.project_preferences`).
    """
    from worksample.metrics import TIE_BREAK, pair_preference, project_preferences
    from worksample.results.entrants import entrants_of

    passed = _holistic_passes(store, round) if passed is None else passed
    rows = [e for e in standing_evaluations(store, round) if isinstance(e.payload, Pairwise) and e.second is not None]
    entrant = entrants_of(store, {id for e in rows for id in (e.subject, e.second) if id is not None})
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


def _holistic_passes(store: Store, round: str) -> dict[str, bool | None]:
    """Return passes from the holistic round that was named when the round of pairs was opened."""
    with store.database.reading() as connection:
        source = find_queue(connection, round).settings["holistic"]
    return {s: f.verdict.passed for s, f in final_verdicts(store, source).items()} if source else {}
