"""The cache of unpacked images. Each digest has one folder, which is either complete or absent. The module also lists
and removes images.
"""

from __future__ import annotations

import fcntl
import json
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from worksample.box import Root
from worksample.errors import ImageError, UsageError
from worksample.files.machine import sign_lock
from worksample.files.scratch_folder import remove_tree, scratch_folder
from worksample.sandboxes.box_files_on_host import open_contained
from worksample.sandboxes.box_holder import KEPT_AS
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.orphan_sweeper import sweep_first
from worksample.sandboxes.shared_folders import make_once

from .oci import ImageConfig

_PASSWORDS = 1 << 20
"""Maximum bytes that are read of an image's user database (/etc/passwd)."""


@dataclass(frozen=True, slots=True)
class CachedImage:
    """An unpacked image in the cache. `root` can be used as `BoxConfig.root`."""

    digest: str
    root: Root
    left_out: tuple[tuple[str, int], ...] = ()
    """Kinds of content that were not unpacked because boxes ignore them (setuid bits, devices and pipes), with the
    number of entries of each kind.
    """
    substituted: tuple[tuple[str, str], ...] = ()
    """Base images that the Dockerfile names without a digest, each with the digest of the file by which the operator
    replaced it.
    """


@dataclass(frozen=True, slots=True)
class UnpackResult:
    """The result of unpacking an image."""

    left_out: dict[str, int]
    over: Root | None = None
    """Root of another image over which the unpacked folder lies. None if the unpacked folder contains everything."""


def images_folder() -> Path:
    """Return the folder of unpacked images. The first call in a process removes the unfinished folders that killed
    processes left.
    """
    sweep_first()
    folder = cache_folder() / "images"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def names_folder() -> Path:
    """Return the folder that contains one file for each known image reference. The file holds the digest of the
    image.
    """
    folder = images_folder() / "names"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def image_scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder on the cache's disk. If this process is killed, the next process removes the folder."""
    with scratch_folder("image", images_folder()) as folder:
        yield folder


def find_cached(digest: str) -> CachedImage | None:
    """Return the image with this digest from the cache, or None if the cache does not have it."""
    try:
        data = json.loads((images_folder() / digest / KEPT_AS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    config = data.pop("root")
    for name in ("over", "env", "entrypoint"):
        config[name] = tuple(tuple(one) if isinstance(one, list) else one for one in config.get(name, ()))
    if config["over"] and not Path(config["folder"]).is_dir():
        return None  # its base was removed by hand
    return CachedImage(data["digest"], Root(**config), tuple((name, count) for name, count in data["left_out"]))


def add_to_cache(digest: str, config: ImageConfig, unpack: Callable[[Path], UnpackResult]) -> CachedImage:
    """Return the image with this digest from the cache. If it is missing, `unpack` unpacks it into a new folder of the
    cache.

    If several processes need the same image at once, only one unpacks it. Raises ImageError, and the errors of
    `unpack`.
    """
    final = images_folder() / digest

    def fill(folder: Path) -> None:
        root = folder / "root"
        root.mkdir(mode=0o755)
        done = unpack(root)
        below = done.over
        layers = Root(str(root)) if below is None else Root(below.folder, (str(root), *below.over))
        user, home = image_user(layers, config.user)
        workdir = posixpath.normpath("/" + config.workdir.lstrip("/")) if config.workdir else ""
        own = str(final / "root")
        layers = Root(own) if below is None else Root(below.folder, (own, *below.over))
        found = Root(layers.folder, layers.over, user, home, workdir, config.env, config.entrypoint)
        whole = asdict(CachedImage(digest, found, tuple(sorted(done.left_out.items()))))
        del whole["substituted"]  # belongs to the build, not to the image
        (folder / KEPT_AS).write_text(json.dumps(whole, indent=1), encoding="utf-8")

    make_once(final, fill, readable=False)
    found = find_cached(digest)
    if found is None:
        raise ImageError(f"{final} was changed after it was unpacked", where="image", next=f"rm -r {final}")
    return found


def image_user(root: Root, name: str) -> tuple[int, str]:
    """Return the user id and the home folder of a user of an image. `name` is a name or a number; a group after the
    user is ignored. Raises ImageError.
    """
    wanted = name.partition(":")[0] or "0"
    for line in _passwords(root).splitlines():
        fields = line.split(":")
        if len(fields) >= 6 and wanted in (fields[0], fields[2]) and fields[2].isdigit() and int(fields[2]) < 1 << 16:
            home = fields[5] if fields[5].startswith("/") else "/"
            return int(fields[2]), posixpath.normpath(home.replace("//", "/"))
    if wanted.isdigit() and int(wanted) < 1 << 16:
        return int(wanted), "/root" if int(wanted) == 0 else "/"
    raise ImageError(
        f"the image's user {name!r} is not in its /etc/passwd",
        where="image",
        next="make the user in its Dockerfile (RUN useradd), or name a number (USER 1000)",
    )


def _passwords(root: Root) -> str:
    """Return the text of the user database (/etc/passwd) of the topmost layer that contains this file."""
    return next((text for folder in (*root.over, root.folder) if (text := _passwords_in(folder))), "")


def _passwords_in(folder: str) -> str:
    with suppress(OSError):
        top = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            found = open_contained(top, "etc/passwd", os.O_RDONLY | os.O_NONBLOCK)
        finally:
            os.close(top)
        with open(found, "rb") as file:  # noqa: PTH123 - a descriptor
            if stat.S_ISREG(os.fstat(found).st_mode):
                return file.read(_PASSWORDS).decode(errors="replace")
    return ""


_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """Description of an unpacked image, for lists of images."""

    image: CachedImage
    bytes: int
    """Disk space of the image in bytes."""
    files: int
    names: tuple[str, ...]
    """Names of the files in the cache by which a build or a reference leads to this image."""
    in_use: bool
    """Whether a running box has this image as its root."""


def list_cached() -> tuple[CacheEntry, ...]:
    """Return all images of the cache, sorted by digest."""
    return tuple(map(_describe, _find_by_prefix("")))


def _find_by_prefix(prefix: str) -> list[CachedImage]:
    """Return the images whose digest begins with `prefix`, sorted by digest."""
    names = sorted(path.name for path in images_folder().iterdir() if path.name.startswith(prefix))
    return [image for name in names if _DIGEST.fullmatch(name) and (image := find_cached(name)) is not None]


def _describe(image: CachedImage) -> CacheEntry:
    """Return the description of an image, with its size and whether it is in use."""
    folder = images_folder() / image.digest
    size, files = _size(folder)
    names = tuple(path.name for path in sorted(names_folder().iterdir()) if _named_digest(path) == image.digest)
    return CacheEntry(image, size, files, names, _in_use(folder))


def _named_digest(path: Path) -> str:
    """Return the digest in a file of the cache that stands for a reference or a build, or "" if the file is damaged."""
    with suppress(OSError, UnicodeError, ValueError, LookupError, TypeError):
        text = path.read_text(encoding="utf-8")
        return str(json.loads(text)["digest"]) if path.suffix == ".json" else text
    return ""


def remove_cached(prefix: str) -> CacheEntry:
    """Remove from the cache the image whose digest begins with `prefix`. The image can be unpacked again later. Raises
    UsageError if no image or several images match, if a box uses the image, or if another image is built on it.
    """
    fitting = _find_by_prefix(prefix) if prefix else []
    if len(fitting) != 1:
        what = f"{len(fitting)} images begin" if fitting else "no image begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample image list")
    one = _describe(fitting[0])
    digest, folder = one.image.digest, images_folder()
    with (folder / f".{digest}.lock").open("a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sign_lock(lock)
        if _in_use(folder / digest):
            raise UsageError(f"a box is using {digest[:16]} as its root", next="worksample image list")
        own = str(folder / digest / "root")
        above = [other.digest for other in _find_by_prefix("") if other.digest != digest and own in _folders(other)]
        if above:
            raise UsageError(
                f"{len(above)} images are built on {digest[:16]}", next=f"worksample image remove {above[0][:16]}"
            )
        for name in one.names:
            (names_folder() / name).unlink(missing_ok=True)
        gone = folder / f".{digest}.new"  # if we are killed here, the next process removes the rest
        (folder / digest).rename(gone)
        remove_tree(gone)
    return one


def _folders(image: CachedImage) -> tuple[str, ...]:
    return (image.root.folder, *image.root.over)


def _in_use(folder: Path) -> bool:
    """Return whether any box has the image in this folder as its root."""
    with (folder / KEPT_AS).open(encoding="utf-8") as own:
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _size(folder: Path) -> tuple[int, int]:
    size = files = 0
    for parent, _, names in os.walk(folder / "root"):
        for name in names:
            with suppress(OSError):
                size += (Path(parent) / name).lstat().st_blocks * 512
                files += 1
    return size, files
