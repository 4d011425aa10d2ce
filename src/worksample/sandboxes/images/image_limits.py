"""Limits of images on this machine, and commands that mend an image."""

from __future__ import annotations

from dataclasses import dataclass

AGAIN = "copy the image again, as by skopeo copy docker://NAME oci:NEW"
REBUILD = "build the image again, then worksample image check FOLDER"
SQUASH = "buildah from --name one SOURCE && buildah commit --squash one oci:NEW"
"""Commands that make an image with one layer, without files that a later layer removes."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """Limits above which an image is refused and nothing of it is kept."""

    bytes: int = 16 << 30
    """Unpacked size of all layers, including files that a later layer removes."""
    files: int = 1_000_000
    """Entries of all layers together."""
    layers: int = 127
    """Number of layers; container engines have the same limit."""
    json: int = 8 << 20
    """Bytes of an index, a manifest or a config."""
