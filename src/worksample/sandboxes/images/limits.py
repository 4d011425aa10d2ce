"""What an image may take on this machine."""

from __future__ import annotations

from dataclasses import dataclass

AGAIN = "bring it again, whole, as by skopeo copy docker://NAME oci:NEW"
SQUASH = "buildah from --name one SOURCE && buildah commit --squash one oci:NEW"
"""One layer, without what a later layer removes."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """Above any of them an image is refused, and nothing of it stays."""

    bytes: int = 16 << 30
    """Of all layers, unpacked; what a later layer removes counts too."""
    files: int = 1_000_000
    """Entries of all layers together."""
    layers: int = 127
    """As many as container engines take."""
    json: int = 8 << 20
    """Bytes of an index, a manifest or a config."""
