"""The table of causes that leave work ungraded names their source and an existing test."""

from __future__ import annotations

import re
from pathlib import Path

from worksample.errors import POLICY

ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"^\| `([a-z_.]+)` \| ([^|]+) \| ([^|]+) \| `(test_\w+)` \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str, str]]:
    text = (ROOT / "docs/explanation/trials-and-blame.md").read_text(encoding="utf-8")
    return _ROW.findall(text.partition("## Who can leave work ungraded")[2].partition("\n## ")[0])


def test_every_ungraded_cause_has_a_row() -> None:
    assert [row[0] for row in rows()] == list(dict.fromkeys(row[0] for row in rows()))
    assert {row[0] for row in rows()} == {cause.value for cause, policy in POLICY.items() if not policy.graded}


def test_causes_by_deliverables_count_in_bounds() -> None:
    by_agents = {cause for cause, who, evidence, _ in rows() if who.startswith("an agent, by ")}
    assert by_agents == {cause.value for cause, policy in POLICY.items() if policy.by_deliverable}


def test_every_row_names_a_test() -> None:
    known = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert not [row for row in rows() if row[3] not in known]
