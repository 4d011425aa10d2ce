"""From what somebody calls an image to one in the cache."""

from __future__ import annotations

from pathlib import Path

from worksample.box import Root
from worksample.errors import ImageError

from .building import build, is_context
from .cache import Cached
from .limits import ImageLimits
from .pulling import REFERENCE, pull
from .unpacking import from_layout, from_tar


def prepare(source: str | Path, limits: ImageLimits | None = None) -> Cached:
    """The image at `source`, unpacked where it is not in the cache yet.

    source: a folder with an OCI layout, or with a Dockerfile that buildah builds; an OCI archive, an archive of `docker
    save` or a tar of a root file system (also compressed by gzip or xz); a folder that is a root file system, which is
    used where it lies and must not change; or `docker://NAME@sha256:...`, which skopeo pulls. Takes seconds to minutes
    the first time, milliseconds later. Raises ImageError.
    """
    limits = limits or ImageLimits()
    if isinstance(source, str) and source.startswith(REFERENCE):
        return pull(source, limits)
    path = Path(source).absolute()
    if is_context(path):
        return build(path, limits)
    if (path / "oci-layout").is_file():
        return from_layout(path, limits)
    if path.is_dir() and any((path / name).is_dir() for name in ("bin", "usr", "sbin")):
        return Cached("", Root(str(path)))
    if path.is_file():
        return from_tar(path, limits)
    raise ImageError(
        "it is neither an OCI layout nor an archive nor a root file system",
        where=str(path),
        next=f"skopeo copy docker://NAME oci:{path}",
    )
