"""The state of an experiment's chains of attempts, read from verdicts, trials and evaluations in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from worksample.records import Arm, Chain, EvaluatorKind, Experiment, Feedback, Purpose, Round, Trial
from worksample.store import Store

from .chain_rule import AttemptVerdict, ChainAction, ChainLink, ChainStep, next_step
from .feedback_sources import KIND, FeedbackSources

if TYPE_CHECKING:
    import polars as pl

COUNTED = (Purpose.GRADING, Purpose.REGRADE, Purpose.ADJUDICATION)
"""Purposes of rounds whose evaluations count towards the budget of a chain. Rounds that check evaluators do not count,
because they are not part of the work.
"""


@dataclass(frozen=True)
class AttemptChain:
    """A chain of attempts by one agent on one instance in one repeat, under an arm with feedback."""

    arm: Arm
    agent: str
    instance: str
    repeat: int
    links: tuple[ChainLink, ...]
    step: ChainStep


def chains_of(store: Store, experiment: Experiment) -> list[AttemptChain]:
    """Return all chains of an experiment, ordered by arm, agent, instance and repeat. Return an empty list if the
    experiment has no rule for chains.
    """
    rule = experiment.lock.chain
    if rule is None:
        return []
    from worksample.results.slot_results import slots_df

    slots = slots_df(store, experiment.id)
    spent = _spending_by_slot(store, experiment, rule)
    rows = {
        (r["arm"], r["agent"], r["instance"], r["repeat"], r["attempt"]): r
        for r in slots.filter(slots["not_attemptable"] == "").iter_rows(named=True)
    }
    fed = {t.id: t.fed.submission for t in store.find(Trial, experiment=experiment.id, live=True) if t.fed}
    speakers = FeedbackSources(store, experiment.lock.protocol)
    found = []
    for arm in (a for a in experiment.arms if a.feedback is not Feedback.NONE):
        for key in sorted(k[1:4] for k in rows if k[0] == arm.continues and k[4] == 1):
            chain = [rows[(arm.continues, *key, 1)]]
            while (more := rows.get((arm.name, *key, len(chain) + 1))) is not None:
                chain.append(more)
            links = [_link(row, fed, spent) for row in chain]
            # Feedback is requested for the attempt that the next one will follow.
            last = next((n for n, link in enumerate(links) if link.verdict is AttemptVerdict.OPEN), len(links)) - 1
            if (kind := KIND.get(arm.feedback)) and last >= 0 and links[last].verdict is AttemptVerdict.FAILED:
                links[last] = replace(links[last], has_feedback=bool(speakers.of(links[last].submission or "", kind)))
            found.append(AttemptChain(arm, *key, tuple(links), next_step(rule, links)))
    return found


def count_due(chains: Iterable[AttemptChain]) -> int:
    """Count the re-attempts that the rule of the chains requires and that are not planned yet."""
    return sum(c.step.next is ChainAction.COMMIT for c in chains)


def _link(
    row: dict[str, Any], fed: Mapping[str, str], spent: Mapping[str, tuple[float | None, float | None]]
) -> ChainLink:
    trial, slot = row["trial"], row["slot"]
    decided = row["standing"] == "decided" and row["passed"] is not None
    verdict = AttemptVerdict.WAITS
    if trial is None:
        verdict = AttemptVerdict.OPEN
    elif decided:
        verdict = AttemptVerdict.PASSED if row["passed"] else AttemptVerdict.FAILED
    dollars, hours = spent.get(slot, (0.0, 0.0))
    return ChainLink(slot, verdict, trial, row["submission"], fed.get(trial or ""), row["score"], dollars, hours)


def _spending_by_slot(
    store: Store, experiment: Experiment, rule: Chain
) -> dict[str, tuple[float | None, float | None]]:
    """Return, by slot, the US dollars and the hours of people over all tries and gradings. A value is None if a part of
    it is unknown.
    """
    from worksample.store.dataframes import evaluations_df, trials_df

    out: dict[str, list[float | None]] = {}

    def add(slot: str, place: int, value: float | None) -> None:
        sums = out.setdefault(slot, [0.0, 0.0])
        have = sums[place]
        sums[place] = None if have is None or value is None else have + value

    slot_of: dict[str, str] = {}
    for row in trials_df(store, experiment.id).iter_rows(named=True):
        slot_of[row["trial"]] = row["slot"]
        asked = (row["tokens"] or 0) > 0 or row["unsettled_calls"] > 0
        own = _cost_bound(row["cost"], row["cost_at_most"], row["priced"], asked)
        others = _cost_bound(row["other_cost"], row["other_cost_at_most"], row["other_priced"], row["other_calls"] > 0)
        add(row["slot"], 0, None if own is None or others is None else own + others)
    counted = {r.id for r in store.find(Round) if r.purpose in COUNTED}
    for row in _given_evaluations(evaluations_df(store, experiment.id)).iter_rows(named=True):
        slot = slot_of.get(row["trial"] or "")
        if slot is None or row["round"] not in counted:
            continue
        if row["evaluator_type"] == EvaluatorKind.JUDGE.value:
            add(slot, 0, _cost_bound(row["cost"], row["cost_at_most"], row["priced"], True))
        elif row["evaluator_type"] == EvaluatorKind.PERSON.value:
            hours = None if row["minutes"] is None else row["minutes"] / 60
            add(slot, 1, hours)
            add(slot, 0, None if hours is None or rule.pay is None else hours * rule.pay)
    return {slot: (sums[0], sums[1]) for slot, sums in out.items()}


def _given_evaluations(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the time and cost of all evaluations. Withdrawn (struck) evaluations are included, because they cost time
    and money, too.
    """
    columns = ("cost", "priced", "cost_at_most")
    return frame.select("trial", "round", "evaluator_type", "minutes", *columns)


def _cost_bound(cost: float | None, at_most: float | None, priced: bool, asked: bool) -> float | None:
    """Return the cost if it is final, otherwise its maximum. Return None if the maximum is unknown."""
    if priced or not asked:
        return cost if priced else cost or 0.0
    return at_most
