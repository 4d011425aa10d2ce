"""Base images of a build that are given as root file systems: an OCI layout is written around a tar archive without
unpacking the archive.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from pathlib import Path
from typing import Any

from worksample.errors import ImageError

from .builder_settings import VARIABLE, settings_hint

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_TYPE = "application/vnd.oci.image"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def digest_of_base(source: Path) -> str:
    """Return the SHA-256 digest of a file that replaces a base image: of the tar itself, or of the index of an OCI
    layout. Raises ImageError.
    """
    path = source / "index.json" if source.is_dir() else source
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ImageError(
            f"the base {source} cannot be read: {error.strerror}", where="image", next=settings_hint("bases")
        ) from None


def write_layout(source: Path, target: Path, digest: str) -> None:
    """Write an OCI layout with one image, named `image`, to `target`. `source` is an uncompressed tar of a root file
    system, or an OCI layout with one image. Raises ImageError.
    """
    if (source / "oci-layout").is_file():
        shutil.copytree(source, target)
        _name(target / "index.json")
        return
    if source.is_dir():
        raise ImageError(
            f"the base {source} is neither a tar nor an OCI layout", where="image", next=settings_hint("bases")
        )
    blobs = target / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    shutil.copyfile(source, blobs / digest)
    machine = _MACHINES.get(platform.machine(), platform.machine())
    config = {
        "architecture": machine, "os": "linux", "config": {"Env": [_PATH], "Cmd": ["/bin/sh"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"comment": "a root file system that stands in for a base"}],
    }  # fmt: skip
    layer = {"mediaType": f"{_TYPE}.layer.v1.tar", "digest": f"sha256:{digest}", "size": source.stat().st_size}
    held = _put_blob(blobs, config, "config.v1+json")
    manifest = _put_blob(blobs, {"schemaVersion": 2, "config": held, "layers": [layer]}, "manifest.v1+json")
    (target / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")
    index = {"schemaVersion": 2, "manifests": [manifest]}
    (target / "index.json").write_text(json.dumps(index), encoding="utf-8")
    _name(target / "index.json")


def _put_blob(blobs: Path, value: dict[str, Any], kind: str) -> dict[str, Any]:
    data = json.dumps(value).encode()
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    return {"mediaType": f"{_TYPE}.{kind}", "digest": f"sha256:{digest}", "size": len(data)}


def _name(index: Path) -> None:
    """Give the only image of an OCI layout the name that builds use. Raises ImageError."""
    try:
        found = json.loads(index.read_text(encoding="utf-8"))
        (one,) = found["manifests"]
        one["annotations"] = {"org.opencontainers.image.ref.name": "image"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ImageError(
            f"a base is not an OCI layout with one image: {error}",
            where="image",
            next=f"skopeo copy oci:FOLDER:TAG oci:NEW, and name NEW below [bases] of the file that {VARIABLE} names",
        ) from None
    index.write_text(json.dumps(found), encoding="utf-8")
