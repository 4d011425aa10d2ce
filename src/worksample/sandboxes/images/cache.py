"""The cache of unpacked images: a folder per digest, whole or not there."""

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
from worksample.files.scratch import remove_tree, scratch_folder
from worksample.sandboxes.contained_files import open_contained
from worksample.sandboxes.holder import KEPT_AS
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.shared_folders import once
from worksample.sandboxes.sweeper import sweep_first

from .oci import ImageConfig

_PASSWORDS = 1 << 20
"""Bytes of a user database that are looked at."""


@dataclass(frozen=True, slots=True)
class Cached:
    """An unpacked image. `root` is what a box takes."""

    digest: str
    root: Root
    left_out: tuple[tuple[str, int], ...] = ()
    """What the image holds and no box honours, with how often: setuid bits, devices and pipes."""
    substituted: tuple[tuple[str, str], ...] = ()
    """Bases that its build names without a digest, and the digests of what the operator put in their places."""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What came of unpacking an image."""

    left_out: dict[str, int]
    over: Root | None = None
    """What its folder lies over; None where everything is in it."""


def images_folder() -> Path:
    """Where unpacked images lie. What killed makers left is removed when a process first asks."""
    sweep_first()
    folder = cache_folder() / "images"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def names_folder() -> Path:
    """Which digest a reference came to: a file each."""
    folder = images_folder() / "names"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def beside() -> Iterator[Path]:
    """A folder for what an image comes in, on the cache's disk; a kill leaves it only until the next process."""
    with scratch_folder("image", images_folder()) as folder:
        yield folder


def cached(digest: str) -> Cached | None:
    """The image with this digest, where it was unpacked before."""
    try:
        data = json.loads((images_folder() / digest / KEPT_AS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    config = data.pop("root")
    for name in ("over", "env", "entrypoint"):
        config[name] = tuple(tuple(one) if isinstance(one, list) else one for one in config.get(name, ()))
    if config["over"] and not Path(config["folder"]).is_dir():
        return None  # what it lies over was removed by hand
    return Cached(data["digest"], Root(**config), tuple((name, count) for name, count in data["left_out"]))


def keep(digest: str, config: ImageConfig, unpack: Callable[[Path], Unpacked]) -> Cached:
    """The image with this digest, unpacked by `unpack` into a folder of its own where it is not there yet.

    Of several that ask at once one unpacks. Raises what `unpack` does, and ImageError.
    """
    final = images_folder() / digest

    def fill(folder: Path) -> None:
        root = folder / "root"
        root.mkdir(mode=0o755)
        done = unpack(root)
        below = done.over
        layers = Root(str(root)) if below is None else Root(below.folder, (str(root), *below.over))
        user, home = user_in(layers, config.user)
        workdir = posixpath.normpath("/" + config.workdir.lstrip("/")) if config.workdir else ""
        own = str(final / "root")
        layers = Root(own) if below is None else Root(below.folder, (own, *below.over))
        found = Root(layers.folder, layers.over, user, home, workdir, config.env, config.entrypoint)
        whole = asdict(Cached(digest, found, tuple(sorted(done.left_out.items()))))
        del whole["substituted"]  # of the build, not of the image
        (folder / KEPT_AS).write_text(json.dumps(whole, indent=1), encoding="utf-8")

    once(final, fill, readable=False)
    found = cached(digest)
    if found is None:
        raise ImageError(f"{final} was changed after it was unpacked", where="image", next=f"rm -r {final}")
    return found


def user_in(root: Root, name: str) -> tuple[int, str]:
    """Number and home of the user that an image has by this name or number; a group after it counts for nothing. Raises
    ImageError.
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
        f"its user {name!r} is not in its /etc/passwd",
        where="image",
        next="make the user in its Dockerfile (RUN useradd), or name a number (USER 1000)",
    )


def _passwords(root: Root) -> str:
    """Of the uppermost folder that has any."""
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
class UnpackedImage:
    """An unpacked image."""

    image: Cached
    bytes: int
    """That it takes on the disk."""
    files: int
    names: tuple[str, ...]
    """Files of the cache by which a build or a reference is known as this image."""
    in_use: bool
    """Whether a box has it as its root now."""


def kept() -> tuple[UnpackedImage, ...]:
    """All of them, by digest."""
    return tuple(map(_told, _images("")))


def _images(prefix: str) -> list[Cached]:
    """Those whose digest begins so, by digest."""
    names = sorted(path.name for path in images_folder().iterdir() if path.name.startswith(prefix))
    return [image for name in names if _DIGEST.fullmatch(name) and (image := cached(name)) is not None]


def _told(image: Cached) -> UnpackedImage:
    """With what the disk says of it."""
    folder = images_folder() / image.digest
    size, files = _size(folder)
    names = tuple(path.name for path in sorted(names_folder().iterdir()) if _names(path) == image.digest)
    return UnpackedImage(image, size, files, names, _in_use(folder))


def _names(path: Path) -> str:
    """The digest that a reference's or a build's file of the cache leads to; empty where it is unsound."""
    with suppress(OSError, UnicodeError, ValueError, LookupError, TypeError):
        text = path.read_text(encoding="utf-8")
        return str(json.loads(text)["digest"]) if path.suffix == ".json" else text
    return ""


def remove(prefix: str) -> UnpackedImage:
    """Take the image whose digest begins so out of the cache; what needs it brings it again. UsageError where there
    is none, or more than one, or a box has it as its root, or another image lies over it."""
    fitting = _images(prefix) if prefix else []
    if len(fitting) != 1:
        what = f"{len(fitting)} images begin" if fitting else "no image begins"
        raise UsageError(f"{what} with {prefix!r}", next="worksample image list")
    one = _told(fitting[0])
    digest, folder = one.image.digest, images_folder()
    with (folder / f".{digest}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _in_use(folder / digest):
            raise UsageError(f"a box is using {digest[:16]} as its root", next="worksample image list")
        own = str(folder / digest / "root")
        above = [other.digest for other in _images("") if other.digest != digest and own in _folders(other)]
        if above:
            raise UsageError(
                f"{len(above)} images are built on {digest[:16]}", next=f"worksample image remove {above[0][:16]}"
            )
        for name in one.names:
            (names_folder() / name).unlink(missing_ok=True)
        gone = folder / f".{digest}.new"  # what a kill leaves of it is removed by the next process
        (folder / digest).rename(gone)
        remove_tree(gone)
    return one


def _folders(image: Cached) -> tuple[str, ...]:
    return (image.root.folder, *image.root.over)


def _in_use(folder: Path) -> bool:
    """Whether a box of anybody's has it as its root."""
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
