"""The instructions."""

from __future__ import annotations

from .base import ResponseBody
from .session import TrainingState


class Page(ResponseBody):
    """`html` is made from `markdown` without raw HTML in it."""

    name: str
    title: str
    markdown: str
    html: str


class Training(TrainingState):
    pages: tuple[Page, ...]
