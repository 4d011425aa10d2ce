"""What a suite consists of: its categories, prices and hours, file types and graders, beside a market sample."""

from .census import Census, Item, census_of, grader_forms, take_census
from .market import Market, MarketRow, read_market
from .page import DescribeConfig, Description, describe, description_of, draw_description, write_description
from .tables import Table, tables_of

__all__ = [
    "Census",
    "DescribeConfig",
    "Description",
    "Item",
    "Market",
    "MarketRow",
    "Table",
    "census_of",
    "describe",
    "description_of",
    "draw_description",
    "grader_forms",
    "read_market",
    "tables_of",
    "take_census",
    "write_description",
]
