"""UpBench's six tables (B, Tables 4 to 8), out of a store and into one."""

from .exporting import Exported, ExportUpbench, export_upbench, tables_of
from .files import holds_tables, read_tables, write_tables
from .importing import ImportedTables, ImportUpbench, import_upbench
from .tables import Tables

__all__ = [
    "ExportUpbench",
    "Exported",
    "ImportUpbench",
    "ImportedTables",
    "Tables",
    "export_upbench",
    "holds_tables",
    "import_upbench",
    "read_tables",
    "tables_of",
    "write_tables",
]
