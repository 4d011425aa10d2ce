"""Advice as a page of a report, and as JSON beside it."""

from __future__ import annotations

import json
from pathlib import Path

from worksample.reports.static_site.pages import Pages

from .advice import Advised


def write_page(found: Advised, out: Path) -> Path:
    """Write advice.html and advice.json into a folder, which may be a report's, and return the page's path."""
    pages = Pages(out, "Advice", links=(("advice.html", "Advice"),))
    pages.style()
    (out / "advice.json").write_text(json.dumps(found.plain(), indent=1), encoding="utf-8")
    pages.page("advice.html", "advice.html", "", sortable=True, found=found)
    return out / "advice.html"
