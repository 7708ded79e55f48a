"""What alembic runs: in the transaction that it is given."""

from __future__ import annotations

from alembic import context

from quercus.ledger.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True)
context.run_migrations()
