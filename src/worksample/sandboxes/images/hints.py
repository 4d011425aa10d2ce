"""What to type where an image cannot be used, for errors of several files."""

from __future__ import annotations

from .builder_settings import VARIABLE

AGAIN = "bring it again, whole, as by skopeo copy docker://NAME oci:NEW"
SQUASH = "buildah from --name one SOURCE && buildah commit --squash one oci:NEW"
"""One layer, without what a later layer removes."""


def mend(table: str) -> str:
    """Where the operator's settings of builds are wrong, and what tries them."""
    return f"correct [{table}] in the file that {VARIABLE} names, then worksample image check FOLDER"
