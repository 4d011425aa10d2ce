"""Files that people write (TOML, YAML): read within limits, checked by models, every fault said at once."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
