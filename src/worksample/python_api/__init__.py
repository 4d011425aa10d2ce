"""What the verbs of the command line do, as functions: for scripts, notebooks and other programs.

Everything here is also a name of `worksample` itself. Each function comes with an `async` twin of the same arguments.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
