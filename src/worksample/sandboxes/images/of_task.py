"""The root of a box from what a task's environment says of its image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worksample.box import Root
from worksample.records import Environment

from .cache import Cached
from .preparing import prepare


def image_of(environment: Environment, folder: Callable[[str], Path]) -> Cached | None:
    """`root_of`, with what is known of the image."""
    image = environment.image
    if image is None:
        return None
    if image.files is None:
        return prepare(image.name)
    files = folder(image.files)
    own = files / image.name.rpartition("/")[2]
    return prepare(own if own.is_file() and len(list(files.iterdir())) == 1 else files)


def root_of(environment: Environment, folder: Callable[[str], Path]) -> Root | None:
    """The root of the work's image, unpacked where it is not in the cache yet; None where it has none.

    folder: where the files of a manifest lie, such as `Store.folder`. Raises ImageError, and what `folder` does.
    """
    image = image_of(environment, folder)
    return None if image is None else image.root


def have_images(environment: Environment, folder: Callable[[str], Path]) -> None:
    """Unpack every image of the work, its services' too. Raises ImageError, and what `folder` does."""
    root_of(environment, folder)
    for one in environment.served:
        root_of(Environment(image=one.image), folder)
