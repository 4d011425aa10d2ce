"""Unpacking of an image (an OCI layout, an archive or a tar of a root file system) into a folder of the cache."""

from __future__ import annotations

import functools
import hashlib
import shutil
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from worksample.errors import ImageError

from .image_cache import CachedImage, UnpackResult, add_to_cache, find_cached, image_scratch_folder
from .image_limits import AGAIN, ImageLimits
from .image_tree import ImageTree
from .layer_streams import HashingReader, SizeBudget, decompress
from .layer_unpacker import LayerUnpacker
from .oci import Image, ImageConfig, Layer, read_docker, read_layout
from .overlay import NeedsWholeRoot, OverlayTree, link_tree

LAYOUT_READERS = {"oci-layout": read_layout, "manifest.json": read_docker}
"""File at the top of an archive that identifies the archive's format -> function that reads this format."""


@dataclass(frozen=True, slots=True)
class BaseImage:
    """An image in the cache on which other images are built."""

    image: CachedImage
    layers: tuple[tuple[str, int], ...]
    """Digest and size of the tar stream of each layer of the base image."""
    files: int
    """Number of entries in the root of the base image."""


def from_layout(folder: Path, limits: ImageLimits, below: BaseImage | None = None) -> CachedImage:
    """Return the image of an OCI layout. Layers that the image shares with the base image `below` are not read. Raises
    ImageError.
    """
    return _find_or_unpack(read_layout(folder, limits), limits, below)


def from_tar(path: Path, limits: ImageLimits) -> CachedImage:
    """Return the image of an OCI archive, of an archive of `docker save`, or of a tar of a root file system. Raises
    ImageError.
    """
    state = path.stat()
    wanted = path, (state.st_size, state.st_mtime_ns, state.st_ino), limits
    found = _from_tar(*wanted)
    if find_cached(found.digest) is None:  # it was removed from the cache, but not from ours in memory
        _from_tar.cache_clear()
        found = _from_tar(*wanted)
    return found


@functools.lru_cache(64)
def _from_tar(path: Path, state: tuple[int, ...], limits: ImageLimits) -> CachedImage:
    """Return the image of a tar file. `state` identifies the state of the file, so that an unchanged tar is hashed only
    once and not for every box.
    """
    read = next((LAYOUT_READERS[name] for name in _top_names(path) if name in LAYOUT_READERS), None)
    if read is not None:
        with image_scratch_folder() as folder:
            _layers((Layer(path),), ImageTree(folder), limits, None)
            return _find_or_unpack(read(folder, limits), limits)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _find_or_unpack(Image(digest, (Layer(path, f"sha256:{digest}"),), ImageConfig()), limits)


def _find_or_unpack(image: Image, limits: ImageLimits, below: BaseImage | None = None) -> CachedImage:
    def unpack(root: Path) -> UnpackResult:
        return _unpack(image.layers, root, limits, below)

    return find_cached(image.digest) or add_to_cache(image.digest, image.config, unpack)


def _unpack(layers: tuple[Layer, ...], root: Path, limits: ImageLimits, below: BaseImage | None = None) -> UnpackResult:
    """Unpack every layer of an image over the layers before it. Layers of the base image `below` are not unpacked
    again. The other layers lie over the base image, or share its files if they depend on files of the base image.
    """
    if below is None or [layer.diff for layer in layers[: len(below.layers)]] != [one for one, _ in below.layers]:
        return UnpackResult(_layers(layers, ImageTree(root), limits, None))
    rest = layers[len(below.layers) :]
    try:
        return UnpackResult(
            _layers(rest, OverlayTree(root, Path(below.image.root.folder)), limits, below), below.image.root
        )
    except NeedsWholeRoot:
        shutil.rmtree(root)
        link_tree(Path(below.image.root.folder), root)
        return UnpackResult(_layers(rest, ImageTree(root), limits, below))


def _layers(layers: tuple[Layer, ...], tree: ImageTree, limits: ImageLimits, below: BaseImage | None) -> dict[str, int]:
    """Unpack layers into `tree` and return how many entries of each kind were left out. The base image `below` counts
    towards the limits.
    """
    bytes, files, left_out = SizeBudget(limits.bytes, "bytes"), SizeBudget(limits.files, "files"), Counter[str]()
    try:
        if below is not None:
            bytes.take(sum(size for _, size in below.layers))
            files.take(below.files)
            left_out.update(dict(below.image.left_out))
        work = LayerUnpacker(tree, bytes, files, left_out)
        for layer in layers:
            _unpack_one(work, layer, bytes)
    finally:
        tree.close()
    return dict(left_out)


def _unpack_one(work: LayerUnpacker, layer: Layer, bytes: SizeBudget) -> None:
    with layer.path.open("rb") as file:
        head = file.read(6)
        file.seek(0)
        packed = HashingReader(file)
        plain = HashingReader(decompress(packed, head), bytes.take)
        work.unpack(plain)  # type: ignore[arg-type]
        plain.drain()
        packed.drain()
    for digest, found in ((layer.digest, packed.digest), (layer.diff, plain.digest)):
        if digest and digest != found:
            raise ImageError(f"a layer has the digest {found} instead of {digest}", where="image", next=AGAIN)


def _top_names(path: Path) -> Iterator[str]:
    """Yield the names of the entries at the top of a tar archive. Raises ImageError."""
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                name = member.name.removeprefix("./")
                if "/" not in name:
                    yield name
                tar.members.clear()  # type: ignore[attr-defined]
    except (tarfile.TarError, EOFError, OSError) as failure:
        raise ImageError(
            f"{path.name} is not a tar file: {failure}",
            where="image",
            next=f"tar -tf {path}; tars are accepted plain or compressed by gzip or xz",
        ) from None
