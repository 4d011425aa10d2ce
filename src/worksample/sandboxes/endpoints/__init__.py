"""What a box can reach, and nothing else: named endpoints, each leading where one rule says, every connection recorded.

`serving` serves a box's endpoints by targets: a host that the operator allowed (`Host`), a proxy for wildcards
(`ConnectProxy`), what answers in this process (`Streams`), nothing (`Nowhere`).
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
