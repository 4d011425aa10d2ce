"""A browser for agents: Chromium in the agent's box, driven from a box of its own, every action recorded by the
platform.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
