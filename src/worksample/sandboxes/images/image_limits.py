"""Limits of images on this machine, and the commands that reduce an image to one layer."""

from __future__ import annotations

from dataclasses import dataclass

AGAIN = "copy the image again, as by skopeo copy docker://NAME oci:NEW"
REBUILD = "build the image again, then worksample image check FOLDER"
SQUASH = "buildah from --name one SOURCE && buildah commit --squash one oci:NEW"
"""Shell commands that turn an image into an image with one layer. Files that a later layer removes are not in the
result.
"""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """Limits of an image. If an image exceeds a limit, it is refused and no part of it is stored."""

    bytes: int = 16 << 30
    """Maximum unpacked bytes of all layers together, including files that a later layer removes."""
    files: int = 1_000_000
    """Maximum files, folders and links of all layers together."""
    layers: int = 127
    """Maximum number of layers. Container engines have the same limit."""
    json: int = 8 << 20
    """Maximum bytes of each index, manifest or config."""
