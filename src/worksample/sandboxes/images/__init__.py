"""Images: root file systems that tasks bring, unpacked once per digest and used as a box's root.

`prepare_image` takes any form (OCI layout or archive, root file system, reference) and returns what `BoxConfig.root`
takes. An image is untrusted: unpacking cannot leave its folder, and its programs run in boxes only.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
