"""What people's work needs: accounts, sessions, tickets, queues, items, assignments, drafts, seen, activity."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "text": sa.Text(),
    "whole": sa.BigInteger(),
    "number": sa.Float(53),
    "flag": sa.Boolean(),
}

# As in 0001; `!` marks the primary key.
_TABLES = {
    "accounts": (
        "id:text! key:text name:text roles:text password:text? evaluator:text domains:text disabled:flag "
        "active_until:whole at:whole"
    ),
    "sessions": "hash:text! account:text# expires:whole ends:whole at:whole",
    "tickets": "hash:text! kind:text account:text? roles:text author:text expires:whole used:whole?",
    "queues": "round:text! kind:text state:text body:text at:whole",
    "items": (
        "id:text! queue:text round:text instance:text subject:text# second:text? domain:text maker:text place:number "
        "wanted:whole free:whole expected:text? withdrawn:flag"
    ),
    "assignments": (
        "item:text! account:text! queue:text state:text expires:whole started:whole ordinal:whole flipped:flag "
        "active:whole evaluation:text?"
    ),
    "drafts": "item:text! account:text! revision:whole payload:text at:whole",
    "seen": "item:text! account:text! pane:text! path:text! at:whole",
    "activity": "id:text! account:text# item:text? kind:text# note:text at:whole",
}
_INDEXES = {
    "one_account_per_name": ("accounts", ["key"], True),
    "items_in_order": ("items", ["queue", "place"], False),
    "assignments_of_account": ("assignments", ["account", "queue", "state"], False),
    "assignments_that_expire": ("assignments", ["state", "expires"], False),
}


def upgrade() -> None:
    for table, text in _TABLES.items():
        columns: list[sa.Column[Any]] = []
        indexed: list[str] = []
        for part in text.split():
            name, _, kind = part.partition(":")
            columns.append(sa.Column(name, _TYPES[kind.rstrip("?#!")], nullable="?" in kind, primary_key="!" in kind))
            indexed += [name] if "#" in kind else []
        op.create_table(table, *columns)
        for name in indexed:
            op.create_index(f"ix_{table}_{name}", table, [name])
    for index, (table, names, unique) in _INDEXES.items():
        op.create_index(index, table, names, unique=unique)


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)
