"""Services of a task: programs in boxes of their own, reached by endpoints of the agent's box.

`open_services` starts and ends them. Meanwhile each is a target for endpoints, reports its end, and its state is
exported as evidence.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
