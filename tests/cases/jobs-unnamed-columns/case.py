"""An outside case: two columns without a name were "there twice", and so was a title above the header."""

from pathlib import Path
from typing import Any

import pytest

from worksample.errors import ImportFailed
from worksample.formats.jobs import ImportJobs, import_jobs

HOME = Path(__file__).parent


def check(room: Path, request: Any) -> None:
    assert len(import_jobs(HOME / "jobs.csv", room / "out", ImportJobs()).written) == 1
    with pytest.raises(ImportFailed, match=r"line 1 is a title \('Orders 2026'\)"):
        import_jobs(HOME / "title.csv", room / "title", ImportJobs())
