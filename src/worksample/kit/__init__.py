"""What a task's author imports in `grade.py`: the case, readers, modes of comparison, and compositions.

Modes give a `Check` (a share of 1 and a reason), compositions give a `Grade`. See docs/kit.md. A grader imports
what it uses, and starts without the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable

    from .ask import Judged, Shown
    from .broker import Ran
    from .case import Case
    from .check import Check, average, every
    from .comparisons.exact import exact, hashed
    from .comparisons.executable import Expect, executable
    from .comparisons.geometric import Mesh, geometric, read_stl, surface
    from .comparisons.state import query, state
    from .comparisons.tabular import tabular
    from .comparisons.visual import drawing, visual
    from .compose import checklist, checkpoints, file_pairs, gate_and_score, weighted
    from .grade import Grade, GradePart
    from .live_services import Said, Services
    from .numbers import close, number, plain_text, possible_numbers
    from .prose import mentions, numbers_in, says, words
    from .table import Table, read_csv
    from .verifier import verified

__all__ = [
    "Case",
    "Check",
    "DeliverableError",
    "Expect",
    "Grade",
    "GradePart",
    "GraderError",
    "Judged",
    "Mesh",
    "Ran",
    "ReferenceUnreadable",
    "Said",
    "Services",
    "Shown",
    "Table",
    "average",
    "checklist",
    "checkpoints",
    "close",
    "drawing",
    "every",
    "exact",
    "executable",
    "file_pairs",
    "gate_and_score",
    "geometric",
    "hashed",
    "mentions",
    "number",
    "numbers_in",
    "plain_text",
    "possible_numbers",
    "query",
    "read_csv",
    "read_stl",
    "says",
    "state",
    "surface",
    "tabular",
    "verified",
    "visual",
    "weighted",
    "words",
]

__getattr__ = lazily(__name__)
