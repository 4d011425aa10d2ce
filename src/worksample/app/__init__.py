"""The review app: people judge deliverables in a browser. A script can do everything by the same HTTP API."""

# FastAPI is slow to import, so it is imported on first use.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
