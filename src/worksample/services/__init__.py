"""Services that a task brings: programs in boxes of their own, which stand behind the endpoints of the agent's box.

`standing` starts them and ends them; meanwhile each gives targets for endpoints, tells when it fell, and its state is
taken as evidence.
"""

from __future__ import annotations

from .exporting import export
from .standing import Services, standing

__all__ = ["Services", "export", "standing"]
