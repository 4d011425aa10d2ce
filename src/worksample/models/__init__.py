"""The one seam to language models: names, prices, usage, and what their failures mean."""

from .failure import Failure, failure_of
from .price import Price, priced, read_prices, require_price
from .resolve import Service, resolve
from .usage import usage_of

__all__ = [
    "Failure",
    "Price",
    "Service",
    "failure_of",
    "priced",
    "read_prices",
    "require_price",
    "resolve",
    "usage_of",
]
