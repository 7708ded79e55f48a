"""From one form of a ledger's tables to the next, by alembic.

A new form: change `quercus.ledger.tables` and its VERSION, and add a file to ``versions`` that does the same to a
ledger that is there; a test compares the two.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def upgrade(connection: Connection) -> None:
    """Bring the tables of a ledger to the newest form, in the transaction of the connection."""
    from alembic import command

    config = make_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def make_config() -> Any:
    """Return alembic's configuration."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
