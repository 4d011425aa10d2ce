"""The image that every container of ours starts from: empty folders for what is mounted, and links to programs."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import tarfile

from worksample.errors import SandboxError
from worksample.sandboxes import layout
from worksample.sandboxes.host_state import cache_folder

from .daemon import Daemon, asked

NAME = "worksample-box"
_FOLDERS = ("dev", "etc", "proc", "root", "run", "sys", "usr", "task", "home", "opt", "var", "tmp")


def base_image(daemon: Daemon) -> str:
    """Its name in the daemon, where one process brings it while others wait. Raises SandboxError."""
    from docker.errors import ImageNotFound

    content = _content()
    name = f"{NAME}-{hashlib.sha256(content).hexdigest()[:24]}"  # Podman's imports have no tag but the usual one
    with (
        (cache_folder() / ".docker-base.lock").open("w", encoding="utf-8") as lock,
        asked(f"the image {name} cannot be made"),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            daemon.api.inspect_image(name)
        except ImageNotFound:
            told = daemon.api.import_image_from_data(content, repository=name, tag="latest")
            said = [json.loads(line) for line in str(told).splitlines() if line.strip()]
            wrong = [str(one["error"]) for one in said if "error" in one]
            if wrong:
                raise SandboxError(
                    f"Docker: the image {name} cannot be made: {wrong[0]}", where="sandbox docker", next="docker info"
                ) from None
    return name


def _content() -> bytes:
    """The same bytes on the same machine."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for folder in _FOLDERS:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path, target in layout.tops()[1]:
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return out.getvalue()
