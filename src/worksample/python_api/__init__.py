"""The commands of the command line as functions, for scripts, notebooks and other programs.

All of them are also names of `worksample` itself. Most have an `async` twin with the same arguments.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
