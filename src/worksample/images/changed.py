"""A root with changes: an image's files as they are, and layers over them, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from worksample.box import Root

from .cache import beside
from .layers import Layers
from .limits import ImageLimits
from .sharing import share
from .streams import Budget, Watched
from .tree import Tree


@contextmanager
def changed(root: Root, layers: Sequence[Path], limits: ImageLimits | None = None) -> Iterator[Root]:
    """The root with uncompressed layers over it, until the end of the `with`. The root itself stays as it is: what no
    layer touches is shared with it. Raises ImageError where a layer is unsound or above the limits.
    """
    limits = limits or ImageLimits()
    with beside() as folder:
        own = folder / "root"
        share(Path(root.folder), own)
        tree = Tree(own)
        bytes, files = Budget(limits.bytes, "bytes"), Budget(limits.files, "files")
        work = Layers(tree, bytes, files)
        try:
            for layer in layers:
                with layer.open("rb") as file:
                    work.unpack(Watched(file, bytes.take))  # type: ignore[arg-type]
        finally:
            tree.close()
        yield replace(root, folder=str(own))
