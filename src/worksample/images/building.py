"""Building an image from a folder with a Dockerfile: by buildah, without a daemon, in a place of its own."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from worksample.errors import ImageError

from . import build_box
from .build_box import BuildLimits
from .cache import Cached, cached, names_folder
from .limits import ImageLimits
from .pulling import PINNED, REFERENCE, fetch
from .unpacking import from_layout

FILES = ("Dockerfile", "Containerfile")
_FROM = re.compile(r"^(\s*FROM\s+(?:--platform=\S+\s+)?)(\S+)((?:\s+AS\s+(\S+))?\s*)$", re.IGNORECASE | re.MULTILINE)
_VERSION = "1"
_SCRIPT = """
printf 'root:x:0:0::/build:/bin/sh\\n' > /etc/passwd
printf 'root:x:0:\\n' > /etc/group
touch /etc/hosts /etc/resolv.conf
b="buildah --root /build/storage --runroot /build/run --storage-driver vfs --storage-opt vfs.ignore_chown_errors={one}"
$b bud --isolation chroot --network host --pull-never --layers=false --format oci -t built -f Dockerfile context
$b push --quiet built oci:/build/out:image
chmod -R u+rwX /build/out /build/storage
rm -rf /build/storage /build/run
"""


def is_context(folder: Path) -> bool:
    """Whether a folder is one to build from."""
    return any((folder / name).is_file() for name in FILES)


def build(folder: Path, limits: ImageLimits, may: BuildLimits | None = None) -> Cached:
    """The image that a folder's Dockerfile makes; from the cache where it was built before. Raises ImageError.

    Its bases are `scratch` or named with their digests: `NAME@sha256:...`. What it runs has no network.
    """
    name = names_folder() / f"build-{_digest(folder)}"
    known = cached(name.read_text(encoding="ascii")) if name.exists() else None
    if known is not None:
        return known
    if shutil.which("buildah") is None:
        raise ImageError("buildah is not installed", where="image", next="sudo apt-get install buildah skopeo")
    text = next(folder / one for one in FILES if (folder / one).is_file()).read_text(encoding="utf-8")
    with build_box.workplace() as work:
        shutil.copytree(folder, work / "context", symlinks=True)
        (work / "Dockerfile").write_text(_with_bases(text, work), encoding="utf-8")
        build_box.give(work)
        script = _SCRIPT.format(one="false" if build_box.many_users() else "true")
        status, said = build_box.run(script, work, may or BuildLimits())
        if status:
            raise ImageError(f"its build failed: {said.strip()[-2000:]}", where="image", next=f"buildah bud {folder}")
        found = from_layout(work / "out", limits)
    fresh = name.with_suffix(".new")
    fresh.write_text(found.digest, encoding="ascii")
    fresh.replace(name)
    return found


def _with_bases(text: str, work: Path) -> str:
    """The Dockerfile with every base as a layout that was pulled for it. Raises ImageError for one without a digest."""
    stages: set[str] = set()

    def one(found: re.Match[str]) -> str:
        base, stage = found[2], found[4]
        given = base
        if base != "scratch" and base.lower() not in stages:
            if not PINNED.fullmatch(REFERENCE + base):
                raise ImageError(f"FROM {base} does not name one image: its digest is missing", where="Dockerfile")
            layout = f"base{len(stages)}-{hashlib.sha256(base.encode()).hexdigest()[:16]}"
            if not (work / layout).exists():
                fetch(REFERENCE + base, str(work / layout))
            given = f"oci:{build_box.PLACE}/{layout}:image"
        if stage:
            stages.add(stage.lower())
        return f"{found[1]}{given}{found[3]}"

    return _FROM.sub(one, text)


def _digest(folder: Path) -> str:
    """Of all that a build takes in."""
    whole = hashlib.sha256(_VERSION.encode())
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "file"
        whole.update(f"{path.relative_to(folder)}\0{kind}\0{state.st_mode & 0o100}\0".encode(errors="surrogateescape"))
        if kind == "link":
            whole.update(str(path.readlink()).encode(errors="surrogateescape"))
        elif kind == "file":
            with path.open("rb") as file:
                whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()
