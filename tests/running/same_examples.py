"""In the quick profile properties draw nothing from the project's own source.

Hypothesis reads each module for numbers and texts to try, so that what a test is given depends on what its process has
imported by then; and in a fresh clone each process of a run parses all of them for it.
"""

from __future__ import annotations

import pytest
from hypothesis.internal.conjecture import providers


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """It has no setting for this."""
    if config.getoption("--profile") == "quick":
        providers._get_local_constants = lambda: providers._local_constants
