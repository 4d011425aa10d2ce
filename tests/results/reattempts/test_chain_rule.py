"""The rule of chains over random worlds: verdicts in any order, withdrawals, kills, strikes and budgets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from worksample.records import Chain
from worksample.results.reattempts.chain_rule import (
    AttemptVerdict,
    ChainAction,
    ChainLink,
    ChainReason,
    ChainStep,
    next_step,
)

FIRST = ChainLink("slot-1", AttemptVerdict.OPEN)
money = st.floats(0.25, 4, allow_nan=False)
rules = st.builds(
    Chain,
    reattempts=st.integers(1, 5),
    dollars=st.none() | money,
    hours=st.none() | money,
    improving=st.booleans(),
)


@dataclass
class World:
    """One chain as store and people would have it; `do` is what a run does with a step."""

    rule: Chain
    links: list[ChainLink] = field(default_factory=lambda: [FIRST])
    works: int = 0

    def do(self, asked: ChainStep) -> None:
        if asked.next is ChainAction.COMMIT:
            assert asked.slot == self.links[-1].slot
            self.links.append(ChainLink(f"slot-{len(self.links) + 1}", AttemptVerdict.OPEN))
        elif asked.next is ChainAction.RUN:
            self.work(self.place(asked.slot))
        elif asked.next is ChainAction.WITHDRAW:
            self.withdraw(self.place(asked.slot))

    def place(self, slot: str) -> int:
        return next(n for n, link in enumerate(self.links) if link.slot == slot)

    def work(self, n: int) -> None:
        self.works += 1
        fed = self.links[n - 1].submission if n else None
        name = f"work-{self.works}"
        self.links[n] = replace(
            self.links[n], verdict=AttemptVerdict.WAITS, trial=name, submission=name, earlier_submission=fed
        )

    def withdraw(self, n: int) -> None:
        link = self.links[n]
        self.links[n] = replace(
            link, verdict=AttemptVerdict.OPEN, trial=None, submission=None, earlier_submission=None, score=None
        )

    def judge(self, n: int, *, passed: bool | None, score: float, hours: float | None) -> None:
        """A verdict, another verdict, or none any more; what was spent stays spent."""
        link = self.links[n]
        if link.trial is None:
            return
        said = AttemptVerdict.WAITS if passed is None else AttemptVerdict.PASSED if passed else AttemptVerdict.FAILED
        spent = None if hours is None or link.hours is None else link.hours + hours
        dollars = None if spent is None else 10 * spent
        self.links[n] = replace(link, verdict=said, score=score, hours=spent, dollars=dollars)


class Moves:
    """What happens to a chain from outside, drawn."""

    judged = st.tuples(
        st.just("judge"),
        st.integers(0, 6),
        st.none() | st.booleans(),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.none() | st.sampled_from([0.0, 0.5]),
    )
    gone = st.tuples(st.just("withdraw"), st.integers(0, 6))
    killed = st.tuples(st.just("kill"))
    looked = st.tuples(st.just("look"))
    every = st.lists(st.one_of(judged, gone, killed, looked, looked, looked), max_size=40)


@given(rules, Moves.every)
def test_no_attempt_is_doubled_lost_or_fed_from_withdrawn_work(rule: Chain, moves: list[tuple[object, ...]]) -> None:
    world = World(rule)
    for what, *rest in moves:
        if what == "judge":
            n, passed, score, hours = rest
            world.judge(n % len(world.links), passed=passed, score=score, hours=hours)
        elif what == "withdraw":
            world.withdraw(rest[0] % len(world.links))
        asked = next_step(rule, world.links)
        assert asked == next_step(rule, world.links)
        if what == "kill":  # between the answer and its commit: the next look answers the same
            continue
        if asked.next is ChainAction.COMMIT:
            assert len(world.links) <= rule.reattempts
            assert all(link.verdict is AttemptVerdict.FAILED for link in world.links)
            for budget, spent in ((rule.dollars, "dollars"), (rule.hours, "hours")):
                parts = [getattr(link, spent) for link in world.links]
                assert budget is None or (None not in parts and sum(parts) < budget)
        if asked.next is ChainAction.RUN:
            before = world.links[: world.place(asked.slot)]
            assert all(link.verdict is AttemptVerdict.FAILED for link in before)
        world.do(asked)
    assert len({link.slot for link in world.links}) == len(world.links) <= rule.reattempts + 1


@given(rules, st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 1.0])), min_size=6, max_size=6))
def test_repeated_rule_ends_with_a_reason(rule: Chain, verdicts: list[tuple[bool, float]]) -> None:
    world = World(rule)
    for _ in range(100):
        asked = next_step(rule, world.links)
        if asked.next is ChainAction.END:
            break
        if asked.next is ChainAction.WAIT:
            n = len(world.links) - 1
            passed, score = verdicts[n]
            world.judge(n, passed=passed, score=score, hours=0.5)
        world.do(asked)
    assert asked.next is ChainAction.END and asked.why
    spent = 0.5 * len(world.links)
    by_hand = [n for n, (passed, _) in enumerate(verdicts[: len(world.links)]) if passed]
    assert by_hand == ([len(world.links) - 1] if asked.why is ChainReason.PASSED else [])
    reasons = {
        ChainReason.PASSED: bool(by_hand),
        ChainReason.ATTEMPTS: len(world.links) == rule.reattempts + 1,
        ChainReason.BUDGET: spent >= min(rule.hours or 99, (rule.dollars or 990) / 10),
        ChainReason.NO_IMPROVEMENT: rule.improving and len(world.links) > 1,
    }
    assert reasons[asked.why]


def failed(slot: str, **rest: object) -> ChainLink:
    return ChainLink(slot, AttemptVerdict.FAILED, f"{slot}-t", f"{slot}-s", **rest)  # type: ignore[arg-type]


def test_work_on_a_withdrawn_submission_is_withdrawn_first() -> None:
    rule = Chain(reattempts=2)
    again = replace(failed("a"), submission="another")
    assert next_step(rule, [again, failed("b", earlier_submission="a-s")]) == ChainStep(ChainAction.WITHDRAW, "b")
    gone = ChainLink("a", AttemptVerdict.OPEN)
    assert next_step(rule, [gone, failed("b", earlier_submission="a-s")]) == ChainStep(ChainAction.WITHDRAW, "b")
    assert next_step(rule, [gone, ChainLink("b", AttemptVerdict.OPEN)]) == ChainStep(ChainAction.RUN, "a")


def test_unneeded_planned_attempt_is_not_run() -> None:
    won = replace(failed("a"), verdict=AttemptVerdict.PASSED)
    assert next_step(Chain(reattempts=2), [won, ChainLink("b", AttemptVerdict.OPEN)]) == ChainStep(
        ChainAction.END, "a", ChainReason.PASSED
    )


def test_unknown_spending_ends_only_chains_with_a_budget() -> None:
    link = failed("a", hours=None)
    assert next_step(Chain(reattempts=1, hours=1), [link]) == ChainStep(ChainAction.END, "a", ChainReason.UNKNOWN)
    assert next_step(Chain(reattempts=1, dollars=1), [link]).next is ChainAction.COMMIT


def test_missing_feedback_is_waited_for() -> None:
    link = failed("a", has_feedback=False)
    assert next_step(Chain(reattempts=1), [link]) == ChainStep(ChainAction.WAIT, "a", ChainReason.FEEDBACK)
    assert next_step(Chain(reattempts=1), [link, ChainLink("b", AttemptVerdict.OPEN)]) == ChainStep(
        ChainAction.WAIT, "b", ChainReason.FEEDBACK
    )


@pytest.mark.parametrize(
    "bad", [{"reattempts": 0}, {"reattempts": 101}, {"reattempts": 1, "dollars": 0}, {"reattempts": 1, "hours": 0}]
)
def test_empty_budgets_and_too_many_attempts_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Chain.model_validate(bad)
    assert Chain(reattempts=100).reattempts == 100
