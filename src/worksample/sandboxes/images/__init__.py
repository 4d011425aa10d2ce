"""Images: root file systems that tasks bring, unpacked once by digest and used as a box's root.

`prepare` takes any form (OCI layout or archive, root file system, reference) and gives what `BoxConfig.root` takes.
What is in an image is hostile: it is unpacked here without leaving its folder, and its programs run in boxes only.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
