"""Rows of jobs with the columns of UpBench's table `projects`."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROW: dict[str, Any] = {
    "contract_id": "c-1001", "start_ts": "2025-01-02T08:00:00Z", "end_ts": "2025-01-09T17:30:00Z",
    "job_title": "Product reviews for a dating site", "job_description": "Write 6 advantages and 3 disadvantages.",
    "job_amount": "150", "contract_amount": "$1,200.50", "milestone_amount": "", "expertise_tier": "Intermediate",
    "category": "Writing", "subcategory": "Content Writing", "subsubcategory": "Article Writing",
    "num_openings": "1", "num_milestones": "1", "automation_desire_rating": "3.5",
    "onet_tasks": '["Write copy"]', "attachments": '[{"name": "style.txt"}]', "contract_type": "fixed-price",
    "status": "Completed", "payment_verified": "yes",
    "acceptance_criteria": "critical - Has 6 advantages\nimportant - Has 3 disadvantages\npitfall - Names a rival",
}  # fmt: skip


def row(**changes: Any) -> dict[str, Any]:
    return {**ROW, **changes}


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], *, encoding: str = "utf-8", mark: str = ",") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=mark)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path
