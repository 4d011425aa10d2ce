"""What people look at: the leaderboard in a terminal, a static site, the files to publish."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
