"""Services that a task brings: programs in boxes of their own, which stand behind the endpoints of the agent's box.

`open_services` starts them and ends them; meanwhile each gives targets for endpoints, tells when it fell, and its state
is taken as evidence.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
