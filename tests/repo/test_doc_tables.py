"""Tables in docs are rendered as tables: a blank line within a table would end it."""

import re
from pathlib import Path

import pytest
from markdown import markdown

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROW = re.compile(r"^ *\|.*\| *$", re.M)
FENCED = re.compile(r"^ *```.*?^ *```", re.S | re.M)


def rows_left(text: str) -> list[str]:
    """Rows that a reader of the page sees as typed."""
    shown = markdown(FENCED.sub("", text), extensions=["tables", "attr_list", "admonition"])
    return ROW.findall(
        re.sub(r"<table>.*?</table>|<(pre|code)>.*?</\1>", "", shown, flags=re.S).replace("<p>", "").replace("</p>", "")
    )


def test_blank_line_within_a_table_is_detected():
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert rows_left(table) == []
    assert rows_left(table + "\n| 3 | 4 |\n") == ["| 3 | 4 |"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_all_rows_belong_to_tables(page):
    assert rows_left(page.read_text(encoding="utf-8")) == []
