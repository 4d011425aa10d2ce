"""Views: deliverables in a form that a browser can show. `view` converts one file, `prepare` converts all files of a
folder, and `formats` lists the formats that can be shown.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
