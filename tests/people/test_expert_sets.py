"""Sets of experts by domain: their categories, and coverage of jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from worksample.formats.upbench import import_upbench, write_tables
from worksample.people import People
from worksample.people.access.evaluator_profile import Profile
from worksample.people.quality.expert_coverage import coverage
from worksample.records import Evaluator, EvaluatorKind
from worksample.store import Store
from worksample.tasks.taxonomy import EXPERT_SETS, expand_sets, lookup, set_of

AT = datetime(2025, 3, 1, tzinfo=UTC)


def test_papers_sets_have_its_categories_and_share_none() -> None:
    sizes = {one.title: len(one.categories) for one in EXPERT_SETS}
    assert sizes == {"General": 5, "Tech": 3}
    every = [lookup(id).id for one in EXPERT_SETS for id in one.categories]
    assert len(set(every)) == 8
    found = set_of("upwork:writing/content-writing")
    assert found is not None and found.name == "general" and set_of("upwork:legal") is None
    assert set_of("upwork:writing-and-more") is None
    assert expand_sets(("set:tech", "upwork:legal", "set:none")) == (
        *EXPERT_SETS[1].categories,
        "upwork:legal",
        "set:none",
    )


def test_coverage_counts_jobs_people_and_cross_review(tmp_path: Path) -> None:
    votes = [("j1", "ann"), ("j1", "bob"), ("j1", "bob"), ("j2", "ann"), ("j3", "bob")]
    tables = {
        "projects": [
            {"contract_id": id, "job_description": "Do it.", "category": category}
            for id, category in (("j1", "Writing"), ("j2", "Web, Mobile & Software Development"), ("j3", "Legal"))
        ],
        "evaluators": [{"evaluator_id": "bob", "registration_ts": AT, "is_human": True, "name": "Bob"}],
        "qualifications": [
            {"qualification_id": str(n), "contract_id": job, "evaluator_id": who, "qualification_ts": AT,
             "criterion_1_judgment": "pass", "is_successful_run": True}
            for n, (job, who) in enumerate(votes) if who == "bob"
        ],
    }  # fmt: skip
    with Store.open(tmp_path / "s", create=True) as store:
        write_tables(tables, tmp_path / "a")
        import_upbench(store, tmp_path / "a", tmp_path / "jobs")
        # Ann is known with her domains before the tables name her.
        ann = Evaluator(id="ann", name="Ann", type=EvaluatorKind.PERSON, domains=("set:general",), at=AT)
        store.commit(ann)
        rest = [
            {**tables["qualifications"][0], "qualification_id": f"a{n}", "contract_id": job, "evaluator_id": who}
            for n, (job, who) in enumerate(votes) if who == "ann"
        ]  # fmt: skip
        write_tables({**tables, "qualifications": [*tables["qualifications"], *rest]}, tmp_path / "a")
        import_upbench(store, tmp_path / "a", tmp_path / "jobs")
        rows = {row.set: row for row in coverage(store)}
    general, tech, other = rows["General"], rows["Tech"], rows["(no set)"]
    assert (general.jobs, general.experts, general.asked, general.crossed) == (1, 1, 1, 1)
    assert (general.answers, general.outside, general.most) == (3, 0, 2)
    assert (tech.jobs, tech.experts, tech.crossed, tech.outside) == (1, 0, 0, 1)
    assert (other.categories, other.jobs, other.answers) == (0, 1, 1)


def test_set_among_domains_gives_the_sets_jobs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        people = People(store)
        made = people.accounts.create("ann", ["expert"])
        found = people.accounts.set_profile(made, Profile(domains=("set:tech", "upwork:legal")))
        assert set(found.domains) == {*EXPERT_SETS[1].categories, "upwork:legal"}
