"""The first tables."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "text": sa.Text(),
    "whole": sa.BigInteger(),
    "small": sa.Integer(),
    "number": sa.Float(53),
    "flag": sa.Boolean(),
}
_RECORD = "id:text object:text schema_version:small body:text"

# Name -> columns as `name:type`, `?` where it may be null; the first is the primary key, `#` has an index,
# `@` stands for the columns that every record has.
_TABLES = {
    "agents": "@ name:text# harness:text model:text?",
    "amendments": "@ action:text target:text target_id:text# author:text at:whole",
    "commits": "digest:text at:whole records:small",
    "evaluations": (
        "@ round:text# subject:text# second:text? reference:text? instance:text grading:text evaluator:text "
        "outcome:text cause:text? reason:text payload:text? score:number? full:flag? partial:number? "
        "completion:text? quality:text? minutes:number? cost:number? author:text at:whole"
    ),
    "evaluators": "@ name:text# type:text version:text at:whole",
    "experiments": "@ name:text# author:text at:whole",
    "instances": (
        "@ task:text# name:text key:text# version:text work:text capture:text tier:text category:text "
        "value_low:number? value_high:number? value_currency:text? value_source:text? hours_low:number? "
        "hours_high:number? hours_source:text?"
    ),
    "leases": "key:text owner:text expires:whole",
    "meta": "key:text value:text",
    "rounds": "@ protocol:text experiment:text?# rule:text at:whole",
    "slots": ("@ experiment:text# agent:text instance:text arm:text attempt:whole repeat:whole not_attemptable:text"),
    "submissions": (
        "@ instance:text# origin:text entrant:text at:whole trial:text?# experiment:text?# control:text "
        "content:text# status:text reason:text files:whole size:whole reported_cost:number? "
        "reported_minutes:number? author:text"
    ),
    "suites": "@ name:text# version:text visibility:text",
    "tasks": "@ name:text# version:text package:text ingested:whole",
    "trials": (
        "@ slot:text# experiment:text# agent:text instance:text try_number:whole ending:text cause:text? "
        "reason:text finished:flag live:flag started:whole ended:whole working_seconds:number steps:whole "
        "input_tokens:whole output_tokens:whole tokens:whole cost:number? priced:flag other_cost:number? "
        "sandbox:text log:text phases:text"
    ),
}


def upgrade() -> None:
    for table, text in _TABLES.items():
        columns: list[sa.Column[Any]] = []
        indexed: list[str] = []
        for i, part in enumerate(text.replace("@", _RECORD).split()):
            name, _, kind = part.partition(":")
            columns.append(sa.Column(name, _TYPES[kind.rstrip("?#")], nullable="?" in kind, primary_key=i == 0))
            indexed += [name] if "#" in kind else []
        op.create_table(table, *columns)
        for name in indexed:
            op.create_index(f"ix_{table}_{name}", table, [name])
    live = sa.text("live")
    op.create_index("one_live_trial", "trials", ["slot"], unique=True, sqlite_where=live, postgresql_where=live)


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table)
