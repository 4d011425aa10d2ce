"""The model gateway: an HTTP service that speaks the API dialects of four providers and answers with any model.

Programs in a box call it by a host name of their box. Keys, prices and the model itself stay outside the box.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
