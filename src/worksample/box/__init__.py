"""The box, as everything sees it: where agents work, graders run and untrusted files are opened.

`Box` is the interface (files in, commands, streams, files out, limits); `open_box` gives one of an installed kind.
`conformance` is what every kind has to do. `worksample.sandboxes` holds the kinds that ship.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
