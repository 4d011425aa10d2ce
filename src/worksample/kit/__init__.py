"""What a task's author imports in `grade.py`: the case, readers, modes of comparison, and compositions.

Modes give a `Check` (a share of 1 and a reason), compositions give a `Grade`. See docs/kit.md.
"""

from worksample.errors import DeliverableError, GraderError, ReferenceUnreadable
from worksample.records import Grade, GradePart

from .ask import Judged, Shown
from .broker import Ran
from .case import Case
from .check import Check, average, every
from .compose import checklist, checkpoints, file_pairs, gate_and_score, weighted
from .exact import exact, hashed
from .executable import Expect, executable
from .geometric import Mesh, geometric, read_stl, surface
from .numbers import close, number, plain_text
from .prose import mentions, numbers_in, says, words
from .state import query, state
from .table import Table, read_csv
from .tabular import tabular
from .verifier import verified
from .visual import drawing, visual

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
