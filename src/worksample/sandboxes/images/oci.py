"""Reader of OCI image layouts 1.1 and archives of `docker save`. It returns the layers and the config of an image.

Every blob is checked against the digest that names it. The JSON files are untrusted and read within limits.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worksample.errors import ImageError

from .image_limits import AGAIN, REBUILD, SQUASH, ImageLimits

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
_DEPTH = 4
"""Maximum depth of OCI indexes that are nested in indexes."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of an image: a file with its expected digests. A digest is empty if the image does not state it."""

    path: Path
    digest: str = ""
    """Expected digest of the layer's file, or ""."""
    diff: str = ""
    """Expected digest of the uncompressed tar stream in the layer's file, or ""."""


@dataclass(frozen=True, slots=True)
class ImageConfig:
    """Settings with which an image is run (OCI image configuration 1.1)."""

    user: str = ""
    workdir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    entrypoint: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """The layers and the config of an image. `digest` has 64 hexadecimal digits: the SHA-256 of the manifest, or of the
    config in an archive without a manifest.
    """

    digest: str
    layers: tuple[Layer, ...]
    config: ImageConfig = field(default_factory=ImageConfig)


def read_layout(folder: Path, limits: ImageLimits) -> Image:
    """Return the image in an OCI layout that fits this machine. Raises ImageError."""
    index = _json(folder / "index.json", "", limits)
    manifest, digest = _choose_manifest(folder, index, limits, _DEPTH)
    config = _mapping(_json(*_blob(folder, _mapping(manifest.get("config"), "config")), limits), "config")
    found = _list(manifest.get("layers"), "layers")
    layers = tuple(Layer(*_blob(folder, _mapping(layer, "layer"))) for layer in found)
    return Image(digest.removeprefix("sha256:"), _with_diffs(layers, config, limits), _image_config(config))


def read_docker(folder: Path, limits: ImageLimits) -> Image:
    """Return the image of an unpacked archive of `docker save`. Raises ImageError."""
    manifests = _list(_json(folder / "manifest.json", "", limits), "manifest.json")
    if len(manifests) != 1:
        raise ImageError(
            f"the archive holds {len(manifests)} images, but exactly one is needed",
            where="image",
            next="docker save ONE-IMAGE",
        )
    manifest = _mapping(manifests[0], "manifest.json")
    path = _file_inside(folder, manifest.get("Config"))
    config = _mapping(_json(path, "", limits), "config")
    layers = tuple(Layer(_file_inside(folder, name)) for name in _list(manifest.get("Layers"), "Layers"))
    return Image(
        hashlib.sha256(path.read_bytes()).hexdigest(), _with_diffs(layers, config, limits), _image_config(config)
    )


def _choose_manifest(folder: Path, index: Any, limits: ImageLimits, depth: int) -> tuple[dict[str, Any], str]:
    """Return the image manifest that fits this machine, and the manifest's digest."""
    machine = _MACHINES.get(platform.machine(), platform.machine())
    entries = [_mapping(one, "manifests") for one in _list(_mapping(index, "index.json").get("manifests"), "manifests")]
    told = [(one, one["platform"]) for one in entries if isinstance(one.get("platform"), dict)]
    fitting = [one for one, where in told if where.get("os") == "linux" and where.get("architecture") == machine]
    fitting = fitting or [one for one in entries if "platform" not in one]
    if len(fitting) != 1 or not depth:
        raise ImageError(
            f"the layout holds {len(fitting)} images for linux/{machine}, but exactly one is needed",
            where="image",
            next="skopeo copy oci:FOLDER:TAG oci:NEW",
        )
    path, digest = _blob(folder, fitting[0])
    found = _mapping(_json(path, digest, limits), "manifest")
    if fitting[0].get("mediaType") in _INDEXES or "manifests" in found:
        return _choose_manifest(folder, found, limits, depth - 1)
    return found, digest


def _with_diffs(layers: tuple[Layer, ...], config: dict[str, Any], limits: ImageLimits) -> tuple[Layer, ...]:
    if len(layers) > limits.layers:
        raise ImageError(
            f"the image has {len(layers)} layers, but at most {limits.layers} are allowed", where="image", next=SQUASH
        )
    diffs = _list(_mapping(config.get("rootfs", {}), "rootfs").get("diff_ids", []), "diff_ids")
    if len(diffs) != len(layers):
        raise ImageError(
            f"the image's config names {len(diffs)} layers, but its manifest names {len(layers)}",
            where="image",
            next=AGAIN,
        )
    return tuple(Layer(layer.path, layer.digest, _digest(diff)) for layer, diff in zip(layers, diffs, strict=True))


def _image_config(data: dict[str, Any]) -> ImageConfig:
    machine = _MACHINES.get(platform.machine(), platform.machine())
    system, made_for = data.get("os", "linux"), data.get("architecture", machine)
    if system != "linux" or made_for != machine:
        raise ImageError(
            f"the image is for {system}/{made_for}, but this machine is linux/{machine}",
            where="image",
            next=f"skopeo --override-os linux --override-arch {machine} copy docker://NAME oci:NEW",
        )
    found = _mapping(data.get("config") or {}, "config")
    env = [one.partition("=") for one in _texts(found.get("Env"), "Env")]
    return ImageConfig(
        user=_text(found.get("User"), "User"),
        workdir=_text(found.get("WorkingDir"), "WorkingDir"),
        env=tuple((name, value) for name, _, value in env),
        entrypoint=_texts(found.get("Entrypoint"), "Entrypoint"),
    )


# untrusted JSON


def _json(path: Path, digest: str, limits: ImageLimits) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(limits.json + 1)
        if len(data) > limits.json:
            raise ImageError(f"{path.name} is larger than {limits.json:,} bytes", where="image", next=REBUILD)
        if digest and f"sha256:{hashlib.sha256(data).hexdigest()}" != digest:
            raise ImageError(f"a file does not match its digest {digest}", where="image", next=AGAIN)
        return json.loads(data)
    except (OSError, ValueError, RecursionError) as failure:
        raise ImageError(f"{path.name} cannot be read: {failure}", where="image", next=AGAIN) from None


def _blob(folder: Path, descriptor: dict[str, Any]) -> tuple[Path, str]:
    digest = _digest(descriptor.get("digest"))
    path = folder / "blobs" / "sha256" / digest.removeprefix("sha256:")
    if path.is_symlink() or not path.is_file():
        raise ImageError(f"the OCI layout lacks the blob {digest}", where="image", next=AGAIN)
    return path, digest


def _file_inside(folder: Path, name: object) -> Path:
    """Return the path of a file in an unpacked archive. Links of the archive may lead only to other files in the
    archive. Raises ImageError.
    """
    path = (folder / _text(name, "manifest.json")).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise ImageError(f"the archive lacks the file {name!r}", where="image", next=AGAIN)
    return path


def _digest(found: object) -> str:
    if not isinstance(found, str) or not _DIGEST.fullmatch(found):
        raise ImageError(f"{str(found)[:80]!r} is not a SHA-256 digest", where="image", next=AGAIN)
    return found


def _mapping(found: object, what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ImageError(f"the image's {what} is not an object", where="image", next=AGAIN)
    return found


def _list(found: object, what: str) -> list[Any]:
    if not isinstance(found, list):
        raise ImageError(f"the image's {what} is not a list", where="image", next=AGAIN)
    return found


def _text(found: object, what: str) -> str:
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ImageError(f"the image's {what} is not text", where="image", next=AGAIN)
    return found


def _texts(found: object, what: str) -> tuple[str, ...]:
    return tuple(_text(one, what) for one in _list(found if found is not None else [], what))
