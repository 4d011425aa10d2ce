"""What a round is for, and which round it looks at, are columns; bodies of schema 1 said both among their versions."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KINDS = ("audit", "adjudication", "false_negatives", "reliability", "integrity", "pilot", "calibration")


def upgrade() -> None:
    op.add_column("rounds", sa.Column("purpose", sa.Text(), nullable=False, server_default="grading"))
    op.add_column("rounds", sa.Column("over", sa.Text(), nullable=True))
    rounds = sa.table("rounds", *(sa.column(n) for n in ("id", "schema_version", "body", "purpose", "over")))
    connection = op.get_bind()
    for id, text in connection.execute(sa.select(rounds.c.id, rounds.c.body)).all():
        body = json.loads(text)
        if "purpose" not in body:
            kind, over = body["versions"].pop("people.kind", ""), body["versions"].pop("people.over", None)
            purpose = "failures" if kind == "tags" else kind if kind in _KINDS else "grading"
            body |= {"purpose": purpose, "over": over}
        canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        values = {"schema_version": 2, "body": canonical, "purpose": body["purpose"], "over": body["over"]}
        connection.execute(sa.update(rounds).where(rounds.c.id == id).values(values))
    op.create_index("ix_rounds_over", "rounds", ["over"])


def downgrade() -> None:
    op.drop_index("ix_rounds_over", "rounds")
    op.drop_column("rounds", "over")
    op.drop_column("rounds", "purpose")
