"""The next free item of a queue is found without passing those that were given out."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "items_that_are_free", "items", ["queue", "place", "id"],
        sqlite_where=sa.text("free > 0 AND withdrawn = 0"), postgresql_where=sa.text("free > 0 AND NOT withdrawn"),
    )  # fmt: skip


def downgrade() -> None:
    op.drop_index("items_that_are_free", "items")
