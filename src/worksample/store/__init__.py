"""The store of all evidence. Objects are the source of truth, the database is an index of the objects, and blobs hold
the contents of files.
"""

# SQLAlchemy is slow to import, so it is imported on the first use of a name.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
