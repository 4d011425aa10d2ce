"""Reports: the leaderboard in a terminal, a static site, and the sections (tables) of figures."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
