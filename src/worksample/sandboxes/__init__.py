"""The kinds of boxes that ship with the platform: `bubblewrap`, `docker`, and plain subprocesses (`none`). `open_box`
opens a box by the name of its kind.

`conformance` holds the checks that every kind must pass.

`provider` offers a box as Inspect's sandbox environment.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
