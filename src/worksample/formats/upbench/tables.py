"""Columns of UpBench's six tables (appendix B, Tables 4 to 8), and comparison of tables by value.

A row is a dict with every column of its table. A missing value is None, never an empty text; a time is in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from worksample.records import canonical

Row = dict[str, Any]
Tables = dict[str, list[Row]]


class ColumnKind(StrEnum):
    """The type of a column's values."""

    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "moment"
    JSON = "json"


_T, _W, _N, _F, _M, _J = (
    ColumnKind.TEXT,
    ColumnKind.WHOLE,
    ColumnKind.NUMBER,
    ColumnKind.FLAG,
    ColumnKind.MOMENT,
    ColumnKind.JSON,
)
_WORKER_COLUMNS = {"registration_ts": _M, "is_human": _F, "name": _T}

UPBENCH_COLUMNS: dict[str, dict[str, ColumnKind]] = {
    "projects": {
        "contract_id": _T, "start_ts": _M, "end_ts": _M, "job_title": _T, "job_description": _T,
        "job_amount": _N, "contract_amount": _N, "milestone_amount": _N, "expertise_tier": _T,
        "category": _T, "subcategory": _T, "subsubcategory": _T, "num_openings": _W, "num_milestones": _W,
        "automation_desire_rating": _N, "onet_tasks": _J, "attachments": _J,
    },
    "qualifications": {
        "qualification_id": _T, "contract_id": _T, "evaluator_id": _T, "qualification_ts": _M,
        "criterion_1_judgment": _T, "criterion_1_reasoning": _T,
        "criterion_2_judgment": _T, "criterion_2_reasoning": _T,
        "criterion_3_judgment": _T, "criterion_3_reasoning": _T,
        "criterion_4": _J, "criterion_5": _J, "acceptance_criteria": _J, "is_successful_run": _F,
    },
    "submissions": {
        "submission_id": _T, "contract_id": _T, "agent_id": _T, "submission_ts": _M, "deliverables": _J, "notes": _T,
        "k": _W, "duration": _N, "is_successful_run": _F,
    },
    "evaluations": {
        "evaluation_id": _T, "contract_id": _T, "submission_id": _T, "evaluator_id": _T, "submission_feedback": _J,
        "judgement": _T, "is_successful_run": _F,
    },
    "evaluators": {"evaluator_id": _T, **_WORKER_COLUMNS},
    "agents": {"agent_id": _T, **_WORKER_COLUMNS},
}  # fmt: skip
"""Table -> UpBench's columns. The first one is the id."""
ADDED_COLUMNS: dict[str, dict[str, ColumnKind]] = {
    "projects": {
        "currency": _T, "amount_source": _T, "hours": _N, "contract_type": _T, "status": _T, "payment_verified": _F,
        "acceptance_criteria": _J,
    },
    "submissions": {"arm": _T, "arm_feedback": _T, "arm_continues": _T, "repeat": _W, "steps": _W, "usage": _J},
    "evaluations": {"evaluation_ts": _M, "minutes": _N},
}  # fmt: skip
"""Table -> additional columns. Without them, amounts would lose their currency, gradings their time, attempts
their cost, and the arms of a study would be merged. A table may lack them.

A job's `acceptance_criteria` is the rubric in force; a qualification's is the rubric that its expert wrote.
"""
COLUMNS = {name: {**columns, **ADDED_COLUMNS.get(name, {})} for name, columns in UPBENCH_COLUMNS.items()}
NAMES = tuple(COLUMNS)


def id_of(table: str) -> str:
    """Return the column with a table's ids."""
    return next(iter(UPBENCH_COLUMNS[table]))


def complete_tables(tables: Mapping[str, Iterable[Row]]) -> Tables:
    """Return all six tables, sorted by id; missing columns are None."""
    return {
        name: sorted(
            ({**dict.fromkeys(columns), **row} for row in tables.get(name, ())), key=lambda row: str(row[id_of(name)])
        )
        for name, columns in COLUMNS.items()
    }


def differing_columns(one: Row, other: Row) -> tuple[str, ...]:
    """Return the columns in which two rows differ, by value or by type."""
    names = dict.fromkeys((*one, *other))
    return tuple(name for name in names if not _same(one.get(name), other.get(name)))


def equal_tables(one: Mapping[str, Sequence[Row]], other: Mapping[str, Sequence[Row]]) -> bool:
    """Return whether all six tables are equal, by value and by type."""
    return all(
        len(one[name]) == len(other[name])
        and not any(differing_columns(a, b) for a, b in zip(one[name], other[name], strict=True))
        for name in NAMES
    )


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    return bool(canonical(one) == canonical(other) if isinstance(one, dict | list) else one == other)
