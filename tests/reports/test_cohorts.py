"""Jobs by the month in which they start, and representativeness of a public part."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.run_cli import cli, cli_json
from reports.measuring import cell, sections
from reports.people_world import PeopleWorld
from worksample.errors import UsageError
from worksample.records import Agent, GradePayload, Instance, Job, Protocol
from worksample.reports.sections import MeasureConfig, compare
from worksample.results.subset import Subset
from worksample.store import Store

STARTS = [datetime(2025, 11, 3, tzinfo=UTC), datetime(2025, 12, 9, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC), None]
CATEGORIES = ("upwork:writing", "upwork:design-creative", "upwork:legal", "upwork:translation", "upwork:it-networking")


class Dated(PeopleWorld):
    """Projects that start in November, December, January and at a time unknown, in five categories; of ten, the even
    ones are public.
    """

    def _project(self, n: int, price: float | None) -> Instance:
        plain = super()._project(n, price)
        job = Job(contract=f"c{n}", start=STARTS[n % 4])
        tags = ("public",) if n % 2 == 0 else ()
        return plain.replaced(about=plain.about.replaced(job=job, tags=tags, category=CATEGORIES[n % 5]))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """ann passes projects 0, 1, 2, 5, 6 and 8, bob every one; scores are 0 or 1."""
    store = Store.open(tmp_path / "store", create=True)
    world = Dated(store, Protocol.PROGRAM, [Agent.of("ann", "worker"), Agent.of("bob", "worker")], [100.0] * 10)
    world.round("p1", Protocol.PROGRAM, overlap=1)
    for agent in (0, 1):
        for n in range(10):
            world.say("p1", world.work(agent, n), n, GradePayload(score=float(agent or n in (0, 1, 2, 5, 6, 8))))
    return store


def test_figures_by_cohort_are_computed(store: Store) -> None:
    table = sections(store, by="cohort")["scores"]
    assert table.columns[0] == "cohort"
    months = {row.cells[0]: row.cells[table.columns.index("mean score")] for row in table.rows if row.label == "ann"}
    assert {month: (e.value, e.counts.planned) for month, e in months.items()} == {
        "(none)": (0.0, 2), "2025-11": (2 / 3, 3), "2025-12": (2 / 3, 3), "2026-01": (1.0, 2),
    }  # fmt: skip
    own = sections(store)["cohort"]
    assert cell(own, "ann", "2026-01: success").value == 1


def test_cohort_is_a_month_or_a_year(store: Store) -> None:
    year = sections(store, where=Subset.parse(["cohort=2025"]))["scores"]
    assert cell(year, "ann", "mean score").counts.planned == 6
    month = MeasureConfig(where=Subset.parse(["cohort=2026-01"]))
    assert compare(store, "ann", "bob", month).score.value == 0.0
    with pytest.raises(UsageError, match="no work in the chosen experiments has cohort '2024'") as caught:
        sections(store, where=Subset.parse(["cohort=2024"]))
    assert "2025-11" in caught.value.next


def test_public_part_is_compared_with_the_whole(store: Store) -> None:
    """Category c holds projects c and c + 5, one of them public. Of ann's, 1, 1, 1/2, 1/2 and 0 pass, and of the public
    ones all but the last.
    """
    assert "representativeness" not in sections(store)
    found = sections(store, where=Subset.parse(["tag=public"]))["representativeness"]
    r = cell(found, "ann", "r of the pass rates")
    whole, part = [1.0, 1.0, 0.5, 0.5, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    mean = (sum(whole) / 5, sum(part) / 5)
    above = sum((a - mean[0]) * (b - mean[1]) for a, b in zip(whole, part, strict=True))
    below = sum((a - mean[0]) ** 2 for a in whole) * sum((b - mean[1]) ** 2 for b in part)
    assert r.value == pytest.approx(above / below**0.5)
    assert r.level == 0.95
    assert "does not vary" in cell(found, "bob", "r of the pass rates").reason
    assert found.rows[0].cells[-2:] == ("5", "5")
    assert "tag=public" in found.notes[0]


def test_comparison_by_cohort_is_computed(store: Store) -> None:
    """bob passes all: one of three more than ann in November and December, none in January."""
    found = compare(store, "ann", "bob", MeasureConfig(by="cohort"))
    assert [(p.group, p.passed.value) for p in found.parts] == [
        ("2025-11", pytest.approx(1 / 3)), ("2025-12", pytest.approx(1 / 3)), ("2026-01", 0.0),
    ]  # fmt: skip
    assert all(p.holm is not None and p.holm > 0.05 for p in found.parts)
    assert found.plain()["parts"][0]["group"] == "2025-11"
    assert compare(store, "ann", "bob").parts == ()


def test_compare_by_works_on_the_command_line(store: Store, tmp_path: Path) -> None:
    where = tmp_path / "store"
    store.close()
    assert [p["group"] for p in cli_json("compare", "ann", "bob", "--store", where, "--by", "category")["parts"]] == (
        sorted(CATEGORIES)
    )
    told = cli("compare", "ann", "bob", "--store", where, "--by", "cohort").stdout
    assert "p (Holm)" in told and "2026-01" in told
