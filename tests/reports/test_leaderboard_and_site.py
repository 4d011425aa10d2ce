"""The leaderboard's counts, and a site that shows hostile work without running it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reports.test_static_site import without_ours
from store import worlds
from worksample.errors import Cause, PlanError, UsageError
from worksample.records import (
    Entry,
    GradePayload,
    Manifest,
    PartPayload,
    SkipReason,
    SubmissionPart,
    Suite,
    digest_bytes,
)
from worksample.reports import ReportConfig, leaderboard, write_report
from worksample.store import Store, put_canonical

HOSTILE = b"<script>alert(1)</script><img src=x onerror=alert(2)>"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return worlds.planted(Store.open(tmp_path / "store", create=True), worlds.World())


def deliver(store: Store, files: dict[str, bytes]) -> SubmissionPart:
    entries = tuple(Entry(path=p, size=len(b), blob=store.blobs.put(b)) for p, b in sorted(files.items()))
    return SubmissionPart(manifest=put_canonical(store.blobs, Manifest(entries=entries).plain()), files=len(entries))


def run(
    store: Store, world: Any, slot: int, score: float | None = 1.0, cause: Cause | None = None, **files: bytes
) -> str:
    """A trial of a slot with its submission and, where a score is given, its evaluation."""
    trial = world.trial(slot, f"t{slot}", ended=slot + 1, cause=cause)
    submission = world.submission(trial)
    if files:
        named = {name.replace("__", "."): data for name, data in files.items()}
        submission = submission.replaced(parts={"output": deliver(store, named)})
    store.commit(trial, submission)
    if score is not None:
        store.commit(world.evaluation(submission.id, f"e{slot}", score, instance=trial.instance))
    return submission.id


def test_every_state_is_counted_and_only_graded_work_has_a_score(store: Store) -> None:
    world = worlds.World()
    run(store, world, 0, 1.0)
    run(store, world, 1, 0.0)
    run(store, world, 2, None)
    store.commit(world.trial(3, "lost", cause=Cause.SANDBOX_LOST))
    run(store, world, 4, 0.5, cause=Cause.LIMIT_TIME)
    board = leaderboard(store)
    ann = next(r for r in board.rows if r.name == "ann")
    assert (ann.planned, ann.valid, ann.infrastructure_failed, ann.ungraded, ann.pending) == (4, 2, 1, 1, 0)
    assert ann.passed.value == 0.5
    assert ann.passed.counts.planned == 4
    bob = next(r for r in board.rows if r.name == "bob")
    assert (bob.valid, bob.pending, bob.score.value, bob.s_partial.value) == (1, 3, 0.5, 0.25)


def test_agents_without_a_grade_have_no_number(store: Store) -> None:
    run(store, worlds.World(), 0, None)
    for row in leaderboard(store).rows:
        assert row.passed.value is None
        assert row.passed.reason


def test_illustrative_prices_count_only_on_request(store: Store) -> None:
    world = worlds.World()
    for slot in range(8):
        run(store, world, slot, 1.0)
    assert leaderboard(store).rows[0].earned.value is None
    with_them = leaderboard(store, illustrative=True)
    assert with_them.rows[0].earned.value == pytest.approx(200)
    assert any("illustrative" in note for note in with_them.notes)


def test_other_locks_are_refused(store: Store) -> None:
    world = worlds.World()
    lock = world.experiment.lock.replaced(roles={"judge": "other/model"})
    store.commit(world.experiment.replaced(id="x2", name="y", lock=lock))
    with pytest.raises(PlanError, match="roles"):
        leaderboard(store, ["x1", "x2"])


def test_empty_store_names_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="worksample demo"):
        leaderboard(Store.open(tmp_path / "empty", create=True))


def test_hostile_work_is_shown_and_never_written_as_a_page(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    run(
        store,
        world,
        0,
        0.0,
        index__html=HOSTILE,
        pic__html=PNG,
        logo__svg=b"<svg onload='alert(3)'/>",
        raw__bin=b"\0\1",
    )
    site = tmp_path / "site"
    write_report(store, [], site)
    pages = {p.relative_to(site).as_posix(): p.read_text() for p in site.rglob("*.html")}
    for name, page in pages.items():
        assert "<script" not in without_ours(page), name
        assert "onerror=alert" not in page.replace("onerror=alert(2)&gt;", ""), name
        assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page), name
    trial = next(page for name, page in pages.items() if name.startswith("trials/"))
    assert "&lt;script&gt;alert(1)" in trial
    assert (site / "files" / f"{digest_bytes(PNG)}.png").read_bytes() == PNG
    written = {p.suffix for p in (site / "files").iterdir()}
    assert written == {".png"}


def test_trial_page_shows_its_grade_down_to_the_reason(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    subject = run(store, world, 0, None)
    parts = (
        PartPayload(name="totals", points=2, fraction=0.5, reason="row 3: 12 is not 13"),
        PartPayload(name="looks", skip=SkipReason.NOT_APPLICABLE),
    )
    store.commit(world.evaluation(subject, "e0", payload=GradePayload(score=0.5, parts=parts, composition="weighted")))
    write_report(store, [], tmp_path / "site")
    page = next((tmp_path / "site" / "trials").rglob("*.html")).read_text()
    for text in ("totals", "1 of 2", "row 3: 12 is not 13", "skipped: not applicable", "Do may"):
        assert text in page


def test_site_and_json_name_the_same_failures(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    store.commit(world.trial(0, "lost", cause=Cause.MODEL_ERROR))
    subject = run(store, world, 1, None)
    store.commit(world.evaluation(subject, "e1", None))
    board = write_report(store, [], tmp_path / "site", ReportConfig(name="Friday", pages=False))
    page = (tmp_path / "site" / "index.html").read_text()
    for text in ("Friday", "model.error", "grader.time", "the grader ran out of time"):
        assert text in page
    data = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    assert data["lock"] == world.experiment.lock.comparable
    assert [r["name"] for r in data["rows"]] == [r.name for r in board.rows]
    assert not list((tmp_path / "site" / "trials").iterdir())


def test_private_suite_shows_aggregates_only(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    run(store, world, 0, 1.0, answer__txt=b"the held-out answer")
    ids = tuple(i.id for i in world.instances)
    store.commit(Suite(id="s", name="s", title="S", version="1", visibility="private", instances=ids))
    site = tmp_path / "site"
    write_report(store, [], site)
    assert "Leaderboard" in (site / "index.html").read_text()
    written = {p.relative_to(site).as_posix() for p in site.rglob("*.html")}
    assert written == {"index.html", "summary.html", "metrics.html"}
    everything = b"".join(p.read_bytes() for p in site.rglob("*") if p.is_file())
    assert b"Do may" not in everything
    assert b"held-out answer" not in everything


@pytest.mark.thorough(quick="reports/test_leaderboard_and_site.py::test_trial_page_shows_its_grade_down_to_the_reason")
def test_failed_trial_has_its_page(store: Store, tmp_path: Path) -> None:
    world = worlds.World()
    run(store, world, 0, 0.5, cause=Cause.LIMIT_TIME)
    store.commit(world.trial(1, "lost", cause=Cause.SANDBOX_LOST))
    subject = run(store, world, 2, None)
    store.commit(world.evaluation(subject, "e2", None, reason="Traceback\n  line 3\nValueError: oh no"))
    write_report(store, [], tmp_path / "site")
    pages = "".join(p.read_text() for p in (tmp_path / "site" / "trials").rglob("*.html"))
    assert "limit.time: so it was" in pages
    assert "sandbox.lost: so it was" in pages
    assert "<span>ValueError: oh no</span>" in pages
    assert '<pre tabindex="0">Traceback\n  line 3\nValueError: oh no</pre>' in pages


@pytest.mark.thorough(quick="reports/test_leaderboard_and_site.py::test_trial_page_shows_its_grade_down_to_the_reason")
def test_task_page_has_the_tasks_title(store: Store, tmp_path: Path) -> None:
    run(store, worlds.World(), 0, 1.0)
    write_report(store, [], tmp_path / "site", ReportConfig(pages=False))
    assert "<h1>R</h1>" in (tmp_path / "site" / "tasks" / "report.html").read_text()
