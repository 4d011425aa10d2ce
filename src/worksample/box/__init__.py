"""The interface of a box: an isolated place in which agents work, graders run and untrusted files are opened.

`Box` is the interface (files, commands, streams, limits). `worksample.sandboxes` opens boxes: it holds the kinds that
ship, and the conformance checks that every kind must pass.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
