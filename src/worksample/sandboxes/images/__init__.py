"""Images: root file systems that come with tasks. An image is unpacked once per digest and used as the root of boxes.

`prepare_image` accepts every form of an image (OCI layout or archive, root file system, reference) and returns an image
whose root can be the value of `BoxConfig.root`. An image is untrusted: unpacking writes nothing outside the target
folder, and the image's programs run only in boxes.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
