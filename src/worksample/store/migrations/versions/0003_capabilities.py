"""Addresses of deliverables in the review app."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TEXTS = ("hash", "session", "account", "item", "pane", "manifest", "hidden")


def upgrade() -> None:
    columns = [sa.Column(name, sa.Text(), nullable=False, primary_key=name == "hash") for name in _TEXTS]
    op.create_table("capabilities", *columns, sa.Column("expires", sa.BigInteger(), nullable=False))
    op.create_index("ix_capabilities_expires", "capabilities", ["expires"])


def downgrade() -> None:
    op.drop_table("capabilities")
