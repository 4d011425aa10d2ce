"""The kinds of boxes that ship: `bubblewrap`, `docker`, and plain subprocesses (`none`). `worksample.box` opens them by
name.

`provider` offers a box as Inspect's sandbox environment.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
