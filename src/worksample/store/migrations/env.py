"""Alembic's entry: runs on the connection that `versions.prepare` hands over."""

from alembic import context

from worksample.store.people_tables import EVERYTHING

context.configure(connection=context.config.attributes["connection"], target_metadata=EVERYTHING)
with context.begin_transaction():
    context.run_migrations()
