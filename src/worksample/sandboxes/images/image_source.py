"""Functions that turn a source of an image, as a task or user names it, into an image in the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worksample.box import Root
from worksample.errors import ImageError
from worksample.records import Environment

from .dockerfile_build import build, is_context
from .image_cache import CachedImage
from .image_limits import ImageLimits
from .image_unpacker import from_layout, from_tar
from .registry_pull import REFERENCE, pull


def prepare_image(source: str | Path, limits: ImageLimits | None = None) -> CachedImage:
    """Return the image at `source`. If it is not in the cache, unpack it first.

    `source` is a folder with an OCI layout; a folder with a Dockerfile, which buildah builds; an OCI archive, an
    archive of `docker save` or a tar of a root file system (also compressed by gzip or xz); a folder that is a root
    file system; or `docker://NAME@sha256:...`, which skopeo pulls. A folder that is a root file system is used in place
    and must not change.

    The first call takes seconds to minutes, later calls take milliseconds. Raises ImageError.
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
        return CachedImage("", Root(str(path)))
    if path.is_file():
        return from_tar(path, limits)
    raise ImageError(
        "the path is not an image: neither an OCI layout nor an archive nor a root file system",
        where=str(path),
        next=f"skopeo copy docker://NAME oci:{path}",
    )


def task_image(environment: Environment, folder: Callable[[str], Path]) -> CachedImage | None:
    """Return the unpacked image of a task's environment, or None without an image. `image_root` returns only the root
    of this image.
    """
    image = environment.image
    if image is None:
        return None
    if image.files is None:
        return prepare_image(image.name)
    files = folder(image.files)
    own = files / image.name.rpartition("/")[2]
    return prepare_image(own if own.is_file() and len(list(files.iterdir())) == 1 else files)


def image_root(environment: Environment, folder: Callable[[str], Path]) -> Root | None:
    """Return the root of an environment's image, or None without an image. If the image is not in the cache, it is
    unpacked first.

    `folder` returns the path of the files that a manifest lists; `Store.folder` is an example. Raises ImageError, and
    the errors of `folder`.
    """
    image = task_image(environment, folder)
    return None if image is None else image.root


def prepare_images(environment: Environment, folder: Callable[[str], Path]) -> None:
    """Unpack every image of an environment, including the images of its services. Raises ImageError, and the errors of
    `folder`.
    """
    image_root(environment, folder)
    for one in environment.served:
        image_root(Environment(image=one.image), folder)
