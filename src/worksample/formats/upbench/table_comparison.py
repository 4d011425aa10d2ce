"""Comparison of two sets of the six tables: new, changed and missing rows, and results of monthly cohorts of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .cell_json import PASS
from .tables import NAMES, Row, differing_columns, id_of

UNDATED = "(no date)"


@dataclass(frozen=True, slots=True)
class Cohort:
    """Jobs that start in the same month, as (before, after) counts."""

    month: str
    jobs: tuple[int, int]
    judged: tuple[int, int]
    """First attempts with a judgement, by all agents."""
    passed: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Refresh:
    """The difference between two sets of tables."""

    rows: dict[str, dict[str, int]]
    """Table -> `new`, `changed`, `same` and `gone` -> number of rows."""
    columns: dict[str, dict[str, int]]
    """Table -> column -> number of rows in which it changed."""
    cohorts: tuple[Cohort, ...]
    """Cohorts by month; jobs without a start come last."""


def compare_tables(before: Mapping[str, Sequence[Row]], after: Mapping[str, Sequence[Row]]) -> Refresh:
    """Return the difference between two sets of the six tables, such as those of two months."""
    rows: dict[str, dict[str, int]] = {}
    columns: dict[str, dict[str, int]] = {}
    for name in NAMES:
        old = {row[id_of(name)]: row for row in before[name]}
        new = {row[id_of(name)]: row for row in after[name]}
        differ = [differing_columns(old[id], new[id]) for id in old.keys() & new.keys()]
        changed = sum(bool(d) for d in differ)
        rows[name] = {
            "new": len(new.keys() - old.keys()), "changed": changed, "same": len(differ) - changed,
            "gone": len(old.keys() - new.keys()),
        }  # fmt: skip
        if changed:
            columns[name] = dict(Counter(column for d in differ for column in d).most_common())
    first, then = _cohorts(before), _cohorts(after)
    months = sorted({*first, *then}, key=lambda m: (m == UNDATED, m))
    none = (0, 0, 0)
    cohorts = tuple(
        Cohort(m, *((a, b) for a, b in zip(first.get(m, none), then.get(m, none), strict=True))) for m in months
    )
    return Refresh(rows, columns, cohorts)


def _cohorts(tables: Mapping[str, Sequence[Row]]) -> dict[str, tuple[int, int, int]]:
    """Return month -> (jobs, judged first attempts, passed first attempts). An attempt's latest judgement counts."""
    months = {p["contract_id"]: f"{p['start_ts']:%Y-%m}" if p["start_ts"] else UNDATED for p in tables["projects"]}
    firsts = {
        s["submission_id"] for s in tables["submissions"] if s["k"] == 1 and s["is_successful_run"] is not False
    }  # fmt: skip
    judgements: dict[str, tuple[str, str, bool]] = {}
    for e in tables["evaluations"]:
        if e["submission_id"] in firsts and e["judgement"] is not None and e["is_successful_run"] is not False:
            at = e["evaluation_ts"].isoformat() if e.get("evaluation_ts") else ""
            judgement = (at, str(e["evaluation_id"]), e["judgement"] == PASS)
            judgements[e["submission_id"]] = max(judgement, judgements.get(e["submission_id"], ("", "", False)))
    contract = {s["submission_id"]: s["contract_id"] for s in tables["submissions"]}
    jobs = Counter(months.values())
    judged = Counter(months.get(contract[s], UNDATED) for s in judgements)
    passed = Counter(months.get(contract[s], UNDATED) for s, judgement in judgements.items() if judgement[2])
    return {m: (jobs[m], judged[m], passed[m]) for m in {*jobs, *judged}}
