"""A root file system with changes: the unchanged files of an image, with further layers over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from worksample.box import Root

from .image_cache import image_scratch_folder
from .image_limits import ImageLimits
from .image_tree import ImageTree
from .layer_streams import HashingReader, SizeBudget
from .layer_unpacker import LayerUnpacker
from .overlay import NeedsWholeRoot, OverlayTree, apply_overlay, link_tree


@contextmanager
def root_with_layers(
    root: Root, layers: Sequence[Path], limits: ImageLimits | None = None, *, whole: bool = False
) -> Iterator[Root]:
    """Yield a root that consists of `root` with uncompressed layers over it. `root` itself is not changed. Raises
    ImageError if a layer is invalid or exceeds the limits.

    If `whole`, everything is in one folder, for readers on the host; files that no layer changes are shared with
    `root`. Otherwise the changes are stored in a separate folder if possible, so that they take only their own space.
    """
    limits = limits or ImageLimits()
    with image_scratch_folder() as folder:
        over = folder / "over"
        if not whole and _unpack_beside(over, Path(root.over[0] if root.over else root.folder), layers, limits):
            yield replace(root, over=(str(over), *root.over))
            return
        own = folder / "root"
        link_tree(Path(root.folder), own)
        for one in reversed(root.over):
            apply_overlay(Path(one), own)
        _unpack(ImageTree(own), layers, limits)
        yield replace(root, folder=str(own), over=())


def _unpack_beside(folder: Path, below: Path, layers: Sequence[Path], limits: ImageLimits) -> bool:
    """Unpack layers into a folder separate from the root. Return whether that is possible."""
    folder.mkdir()
    try:
        _unpack(OverlayTree(folder, below), layers, limits)
    except NeedsWholeRoot:
        return False
    return True


def _unpack(tree: ImageTree, layers: Sequence[Path], limits: ImageLimits) -> None:
    bytes, files = SizeBudget(limits.bytes, "bytes"), SizeBudget(limits.files, "files")
    work = LayerUnpacker(tree, bytes, files)
    try:
        for layer in layers:
            with layer.open("rb") as file:
                work.unpack(HashingReader(file, bytes.take))  # type: ignore[arg-type]
    finally:
        tree.close()
