"""UpBench's six tables (B, Tables 4 to 8), out of a store and into one."""

from .exporting import Exported, ExportUpbench, export_upbench, tables_of
from .files import read_tables, write_tables
from .tables import Tables

__all__ = ["ExportUpbench", "Exported", "Tables", "export_upbench", "read_tables", "tables_of", "write_tables"]
