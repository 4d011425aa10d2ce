"""Files that people write (TOML, YAML): read within limits and checked by models; all faults are reported together."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
