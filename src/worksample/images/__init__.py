"""Images: root file systems that tasks bring, unpacked once by digest and used as a box's root.

`prepare` takes any form (OCI layout or archive, root file system, reference) and gives what `BoxConfig.root` takes.
What is in an image is hostile: it is unpacked here without leaving its folder, and its programs run in boxes only.
"""

from __future__ import annotations

from .build_network import BuildNetwork
from .build_settings import BuildSettings, build_settings
from .cache import Cached, user_in
from .layered_root import changed
from .limits import ImageLimits
from .of_task import have_images, image_of, root_of
from .preparing import prepare

__all__ = [
    "BuildNetwork",
    "BuildSettings",
    "Cached",
    "ImageLimits",
    "build_settings",
    "changed",
    "have_images",
    "image_of",
    "prepare",
    "root_of",
    "user_in",
]
