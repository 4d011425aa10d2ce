"""A browser for agents. Chromium runs in the agent's box, a driver in a second box controls Chromium, and the platform
records every action.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
