"""Deliverables as a browser can show them: `view` one, `prepare` all, `formats` of this machine."""

from __future__ import annotations

from worksample.viewing.convert import Converter
from worksample.viewing.exhibits import exhibits
from worksample.viewing.formats import Format, formats
from worksample.viewing.query import Answer, query
from worksample.viewing.rendering import Rendering, rendering
from worksample.viewing.view import kept, prepare, view

from .in_progress import InProgress
from .views import KINDS, View

__all__ = [
    "KINDS",
    "Answer",
    "Converter",
    "Format",
    "InProgress",
    "Rendering",
    "View",
    "exhibits",
    "formats",
    "kept",
    "prepare",
    "query",
    "rendering",
    "view",
]
