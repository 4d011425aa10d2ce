"""The cache of unpacked images: a folder per digest, whole or not there."""

from __future__ import annotations

import json
import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from worksample.box import Root
from worksample.errors import ImageError
from worksample.files.scratch import scratch
from worksample.sandboxes.holder import KEPT_AS
from worksample.sandboxes.host_files import open_contained
from worksample.sandboxes.host_state import cache_folder
from worksample.sandboxes.skeleton import once
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
    with scratch("image", images_folder()) as folder:
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
