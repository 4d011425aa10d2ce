"""Regions with probabilities, and feedback that rescues work, from a store with figures computed by hand."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from store import worlds
from worksample.people.access.evaluator_profile import Profile, evaluator_of
from worksample.records import Agent, Arm, Feedback, GradePayload, Protocol
from worksample.records.trial import Fed
from worksample.reports.sections import MeasureConfig
from worksample.reports.sections.rubric_results import performance
from worksample.store import Store

JOBS = 24
ARMS = (
    Arm(name="first"),
    Arm(name="experts", feedback=Feedback.PEOPLE, continues="first"),
    Arm(name="alone", feedback=Feedback.RETRY, continues="first"),
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A third passes at first, at $1; experts rescue most of the rest in 10 minutes each, a retry none of it."""
    store = Store.open(tmp_path / "s", create=True)
    agents = [Agent.of("ann", "worker", model="m/1", release_date=date(2026, 1, 1))]
    made = PeopleWorld(store, Protocol.PROGRAM, agents, [100.0] * JOBS, attempts=2, arms=ARMS)
    profile = Profile(domains=("upwork:design",), hours=900.0)
    writer = evaluator_of("ida", "Ida", profile, int(worlds.START.timestamp() * 1e6))
    store.commit(writer)
    made.round("r1", Protocol.PROGRAM, 1)
    for n in range(JOBS):
        first = made.work(0, n, arm="first")
        won = n % 3 == 0
        words = "Add the missing line. " * (1 if n % 2 else 20)
        grade = GradePayload(score=float(won), reason="" if won else words)
        said = made.say("r1", first, n, grade, writer.id, minutes=10)
        if won:
            continue
        for arm, passes in (("experts", n < JOBS - 6), ("alone", False)):
            fed = Fed(submission=first, evaluations=(said,) if arm == "experts" else ())
            again = made.work(0, n, 2, arm=arm, fed=fed)
            made.say("r1", again, n, GradePayload(score=float(passes)))
    return store


def test_regions_have_probabilities_overall_and_by_category(store: Store) -> None:
    table = sections(store, hourly=60.0)["feedback-regions"]
    label = "ann (experts): AI with feedback"
    assert table.columns[-1] == "best at $100"
    assert cell(table, label, "best at $100").value > 0.95  # type: ignore[operator]
    assert not [row.label for row in table.rows if "(alone)" in row.label]
    assert "ann (alone) is a control, and has no regions" in table.notes
    low = cell(table, label, "best from")
    # Two thirds cost $11 more with feedback, and half of all pass with it that did not.
    assert low.value == pytest.approx((16 / 24 * 11) / (12 / 24)) and low.low is not None and low.low < low.value
    assert next(r for r in table.rows if r.label == "ann (experts): human").cells[1] == "any"
    parts = sections(store, hourly=60.0, by="tier")["feedback-regions-by"]
    assert parts.columns[0] == "tier" and {row.cells[0] for row in parts.rows} == {"easy", "hard"}


def test_control_is_named_by_what_its_agent_is_told(store: Store) -> None:
    table = sections(store, hourly=60.0)["value"]
    retry = "ann (alone): AI with retries, without feedback"
    assert [row.label for row in table.rows] == [
        retry, "ann (experts): AI alone", "ann (experts): AI with feedback", "ann (experts): human",
    ]  # fmt: skip
    assert next(row for row in table.rows if row.label == retry).cells[-1] == "control"
    # The grading that the failed attempt is known by costs the same in both arms: 16 of 24 jobs, $10 and a dollar.
    assert cell(table, retry, "cost per job").value == pytest.approx(1 + 16 / 24 * 11)
    captured = {row.label: row.cells[1].value for row in table.rows[:3]}  # type: ignore[union-attr]
    assert list(captured.values()) == [800.0, 800.0, 2000.0]
    even = sections(store, hourly=60.0)["feedback-pays"]
    told = {row.label: row.cells[0] for row in even.rows}
    assert told["ann (alone)"].reason == f"{retry[13:]} does not succeed more often than AI alone"  # type: ignore[union-attr]


def test_without_a_price_of_time_regions_say_what_is_missing(store: Store) -> None:
    table = sections(store)["feedback-regions"]
    assert not table.rows and "has no price (--hourly)" in " ".join(table.notes)


def test_feedback_is_reported_by_giver_and_length(store: Store) -> None:
    rows = {row.cells[:2]: row.cells[2] for row in sections(store)["feedback-by"].rows}
    told = {key: (rate.counts.valid, round(16 * rate.value)) for key, rate in rows.items()}  # type: ignore[union-attr]
    assert told == {
        ("kind", "people"): (16, 12), ("kind", "retry"): (16, 0), ("length", "up to 20 words"): (8, 12),
        ("length", "21 to 100 words"): (8, 12), ("domain", "upwork:design"): (16, 12),
        ("hours of paid work", "900 and more"): (16, 12),
    }  # fmt: skip


PAPER = {
    "Claude Sonnet 4": ((128, 159, 37), ("0.398", "0.512", "0.115", "0.289", "0.233")),
    "Gemini 2.5 Pro": ((64, 222, 40), ("0.199", "0.323", "0.124", "0.625", "0.180")),
    "GPT-5": ((63, 237, 45), ("0.196", "0.335", "0.140", "0.714", "0.190")),
}
"""Passed at first, tried again, rescued, of 322 jobs (UpBench Table 3)."""


def published() -> pl.DataFrame:
    """What the paper's counts say, as the frame of a store has it."""
    rows = []
    for agent, ((passed, retried, rescued), _) in PAPER.items():
        for n in range(322):
            job = {"who": agent, "label": agent, "agent": agent, "key": f"job{n}/main", "task": f"job{n}", "repeat": 1}
            rows.append({**job, "attempt": 1, "passed": n < passed, "score": float(n < passed)})
            if passed <= n < passed + retried:
                won = n < passed + rescued
                rows.append({**job, "attempt": 2, "passed": won, "score": float(won)})
    return pl.DataFrame(rows)


def test_published_counts_reproduce_the_papers_table(store: Store) -> None:
    table = performance(MeasureConfig(), published())
    assert table.columns == ("P1", "P Overall", "Abs Lift", "Relative Lift", "Rescue Rate")
    printed = {row.label: tuple(c if isinstance(c, str) else c.format_value() for c in row.cells) for row in table.rows}
    assert printed == {agent: digits for agent, (_, digits) in PAPER.items()}
    own = sections(store)["performance"]
    assert [row.label for row in own.rows] == ["ann (alone)", "ann (experts)"]
    assert cell(own, "ann (experts)", "P Overall").format_value() == "0.833"
