"""The one seam to language models: names, prices, usage, what their failures mean, and judges that are asked."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
