"""The door: one HTTP service that speaks the dialects of four providers and answers with any model.

Programs in a box call it by a name of their box. Keys, prices and the model itself stay outside.
"""

from __future__ import annotations

from .asked import Refusal
from .door import Door

__all__ = ["Door", "Refusal"]
