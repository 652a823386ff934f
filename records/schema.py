"""All tables: importing this module fills `Base.metadata`, to copy, check or migrate all of them."""

from importlib import import_module
from pkgutil import walk_packages

import records
from records.database.base import Base

__all__ = ["Base"]

for _module in walk_packages(records.__path__, "records."):
    # Upkeep has no tables, and imports this module.
    if not _module.name.startswith(("records.schema", "records.upkeep")):
        import_module(_module.name)
