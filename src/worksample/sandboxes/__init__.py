"""The kinds of boxes that ship: `bubblewrap`, `docker`, and plain subprocesses (`none`). `open_box` opens one by name.

`conformance` holds the checks that every kind must pass.

`provider` offers a box as Inspect's sandbox environment.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
