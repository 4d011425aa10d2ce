"""The store of all evidence: objects are the truth, the database an index over them, blobs the contents of files."""

# SQLAlchemy takes a while to import, so it waits until one of these is wanted.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
