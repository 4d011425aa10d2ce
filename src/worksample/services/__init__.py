"""Services that a task brings: programs in boxes of their own, which stand behind the endpoints of the agent's box.

`open_services` starts them and ends them; meanwhile each gives targets for endpoints, tells when it fell, and its state
is taken as evidence.
"""

from __future__ import annotations

from .exporting import export
from .opened import Services, open_services

__all__ = ["Services", "export", "open_services"]
