"""A run whose object storage fails again and again ends with the planned trials, and no finished work is done twice."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError

import worksample
from cli.run_cli import SCRIPTS, TINY
from store.slow_files import SlowFiles
from worksample.errors import StoreError
from worksample.records import Submission, Trial
from worksample.store import Store, check

pytestmark = [pytest.mark.box]


class FirstTimes:
    """`SlowFiles.during`: the first put of each object fails, and each is counted."""

    def __init__(self, error: Callable[[], Exception], folder: str = "") -> None:
        self.error, self.folder = error, folder
        self.failed: set[str] = set()

    def __call__(self, operation: str, path: str) -> None:
        if operation == "put" and self.folder in path and path not in self.failed:
            self.failed.add(path)
            raise self.error()


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("WORKSAMPLE_CACHE", str(tmp_path / "cache"))
    usual = SlowFiles.during
    SlowFiles.during = staticmethod(lambda operation, path: None)
    yield f"slow://{tmp_path}/far"
    SlowFiles.during = staticmethod(usual)


def run(url: str) -> None:
    worksample.run(
        str(TINY), "scripted", script=str(SCRIPTS / "good"), name="cut", parallel=2, store=url, progress=False
    )


@pytest.mark.long(seconds=30)
def test_finished_work_is_kept_while_each_object_is_refused_once(url: str) -> None:
    """It was thrown away: the trial failed as `platform.crash` without its submission, and the agent was paid again."""
    Store.open(url, create=True).close()
    faults = FirstTimes(lambda: EndpointConnectionError(endpoint_url="https://bucket", error="cut"), "/records/")
    SlowFiles.during = staticmethod(faults)
    run(url)
    assert len(faults.failed) > 4
    with Store.open(url) as store:
        trials = store.find(Trial)
        assert trials and all(t.outcome.finished and t.try_number == 1 for t in trials)
        assert sorted(t.id for t in trials) == sorted(s.trial or "" for s in store.find(Submission))
        assert [str(fault) for fault in check(store, deep=True)] == []


def test_refusal_that_stays_ends_the_run_with_what_to_do(url: str) -> None:
    Store.open(url, create=True).close()
    SlowFiles.during = staticmethod(FirstTimes(lambda: PermissionError(errno.EACCES, "AccessDenied"), "/records/"))
    with pytest.raises(StoreError, match="AccessDenied") as refused:
        run(url)
    assert refused.value.next
