"""A desktop for agents and people. The X server runs in a box of its own beside the agent's box, and the platform sees
the screen and sends keys and clicks over one connection to the server.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
