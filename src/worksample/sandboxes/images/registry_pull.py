"""Download of images from a registry: skopeo downloads an image as an OCI layout, which is then unpacked like any other
layout.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess

from worksample.errors import ImageError
from worksample.sandboxes.guarded_subprocess import run_guarded
from worksample.sudo_command import root_command

from .image_cache import CachedImage, find_cached, image_scratch_folder, names_folder
from .image_limits import ImageLimits
from .image_unpacker import from_layout

REFERENCE = "docker://"
PINNED = re.compile(r"docker://[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}@sha256:[0-9a-f]{64}")
"""Pattern of an image reference with a digest. A digest is required, because a name alone may stand for another image
later.
"""
PULL_TIME = 1800.0
"""Maximum seconds of the download of an image."""


def pull(reference: str, limits: ImageLimits) -> CachedImage:
    """Return the image of a reference with a digest. If the image was downloaded before, it comes from the cache.
    Raises ImageError.
    """
    if not PINNED.fullmatch(reference):
        raise ImageError(
            f"{reference!r} does not name one image: its digest is missing",
            where="image",
            next=f"skopeo inspect --format '{{{{.Name}}}}@{{{{.Digest}}}}' {reference.split(maxsplit=1)[0]}",
        )
    name = names_folder() / hashlib.sha256(reference.encode()).hexdigest()
    known = find_cached(name.read_text(encoding="ascii")) if name.exists() else None
    if known is not None:
        return known
    with image_scratch_folder() as folder:
        fetch(reference, str(folder / "layout"))
        found = from_layout(folder / "layout", limits)
        fresh = folder / "name"
        fresh.write_text(found.digest, encoding="ascii")
        fresh.replace(name)
    return found


def fetch(reference: str, folder: str) -> None:
    """Download the image `reference` to `folder` as an OCI layout. Raises ImageError."""
    program = shutil.which("skopeo")
    if program is None:
        raise ImageError("skopeo is not installed", where="image", next=root_command("apt-get install skopeo"))
    try:
        words = [program, "copy", "--quiet", "--override-os", "linux", reference, f"oci:{folder}:image"]
        done = run_guarded(words, PULL_TIME)
    except subprocess.TimeoutExpired:
        raise ImageError(
            f"{reference} was not downloaded within {PULL_TIME:.0f} s",
            where="image",
            next=f"skopeo inspect {reference}",
        ) from None
    if done.returncode:
        said = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise ImageError(
            f"{reference} cannot be pulled: {said[-1000:]}", where="image", next=f"skopeo inspect {reference}"
        )
