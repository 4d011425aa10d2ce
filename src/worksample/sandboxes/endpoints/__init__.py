"""Endpoints are the only network of a box. A rule defines the target of each endpoint, and every connection is
recorded.

`serve_endpoints` connects the endpoints of a box with their targets. A target is a host that the operator allowed
(`AllowedHost`), a proxy for wildcards (`ConnectProxy`), a handler in this process (`StreamTarget`), or a refusal
(`RefusingTarget`).
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
