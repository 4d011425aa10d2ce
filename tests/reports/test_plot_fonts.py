"""Plots name only installed fonts, since a missing one costs a warning for every text."""

from __future__ import annotations

from worksample.reports.plots.canvas import fonts


def test_only_installed_fonts_are_named() -> None:
    assert fonts(["DejaVu Sans", "Arial"]) == ["DejaVu Sans"]
    assert fonts(["DejaVu Sans", "Liberation Sans"]) == ["Liberation Sans", "DejaVu Sans"]
    assert fonts([]) == ["sans-serif"]
