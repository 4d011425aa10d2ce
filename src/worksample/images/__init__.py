"""Images: root file systems that tasks bring, unpacked once by digest and used as a box's root.

`prepare` takes any form (OCI layout or archive, root file system, reference) and gives what `BoxConfig.root` takes.
What is in an image is hostile: it is unpacked here without leaving its folder, and its programs run in boxes only.
"""

from __future__ import annotations

from .cache import Cached
from .limits import ImageLimits
from .of_task import have_images, root_of
from .preparing import prepare

__all__ = ["Cached", "ImageLimits", "have_images", "prepare", "root_of"]
