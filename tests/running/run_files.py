"""What the processes of one run share by files of its name goes with the run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

RUN = pytest.StashKey[str]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """In the process that starts the others: what they call the run."""
    node.config.stash[RUN] = node.workerinput["testrunuid"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last to leave is the process that started the others."""
    run = config.stash.get(RUN, None)
    if run:
        for path in Path(tempfile.gettempdir()).glob(f"worksample-tests-{run}.*"):
            path.unlink(missing_ok=True)
