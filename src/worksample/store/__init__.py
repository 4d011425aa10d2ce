"""The store of all evidence: objects are the source of truth, the database is an index over them, blobs hold file
contents.
"""

# SQLAlchemy is slow to import, so it is imported on the first use of a name.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
