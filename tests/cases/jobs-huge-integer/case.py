"""An outside case: a price of hundreds of digits ended in a traceback."""

import json
from pathlib import Path
from typing import Any

import pytest

from worksample.errors import ImportFailed
from worksample.formats.jobs import ImportJobs, import_jobs

TABLE = Path(__file__).with_name("jobs.json")


def check(room: Path, request: Any) -> None:
    with pytest.raises(ImportFailed, match="line 1: amount: is infinite or NaN"):
        import_jobs(TABLE, room / "out", ImportJobs())
    for ending in ("jsonl", "csv"):
        table = room / f"jobs.{ending}"
        huge = "9" * 5000
        row = {"id": "1", "description": "Draw", "amount": 7}
        text = json.dumps(row).replace("7", huge) if ending == "jsonl" else f"id,description,amount\n1,Draw,{huge}"
        table.write_text(text, encoding="utf-8")
        with pytest.raises(ImportFailed, match=r"amount: (is infinite or NaN|'9+' is not a number)"):
            import_jobs(table, room / "out", ImportJobs())
    for field in ("id", "title", "description"):
        table = room / "jobs.json"
        row = {"id": "1", "title": "t", "description": "Draw", "amount": 7} | {field: "HUGE"}
        table.write_text(json.dumps([row]).replace('"HUGE"', "9" * 5000), encoding="utf-8")
        with pytest.raises(ImportFailed, match=f"{field}: is (infinite or NaN|not finite)"):
            import_jobs(table, room / "out", ImportJobs())
