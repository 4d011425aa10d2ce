"""The model gateway: an HTTP server that accepts the API dialects of four providers and answers with any model.

Programs in a box call the gateway by a host name in the box. API keys, prices and the model itself stay outside the
box.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
