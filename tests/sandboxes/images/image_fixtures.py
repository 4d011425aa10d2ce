"""Images made byte by byte, sound and hostile ones."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A member of a layer; `data` None is a folder."""

    name: str
    data: bytes | None = b""
    link: str = ""
    hard: str = ""
    mode: int = 0o755
    kind: bytes = b""

    def formed(self, **words: str) -> Entry:
        """With the places of the host in its names."""
        return replace(
            self, name=self.name.format(**words), link=self.link.format(**words), hard=self.hard.format(**words)
        )


def layer(*entries: Entry) -> bytes:
    """A tar stream of exactly these entries, in this order."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for one in entries:
            member = tarfile.TarInfo(one.name)
            member.mode, member.mtime = one.mode, 1_700_000_000
            if one.link or one.hard:
                member.type = tarfile.SYMTYPE if one.link else tarfile.LNKTYPE
                member.linkname = one.link or one.hard
            elif one.data is None or one.kind:
                member.type = one.kind or tarfile.DIRTYPE
            else:
                member.size = len(one.data)
            tar.addfile(member, io.BytesIO(one.data or b""))
    return out.getvalue()


def layout(folder: Path, layers: Sequence[bytes], config: Mapping[str, object]) -> Path:
    """An OCI layout with these layers, not compressed. config: `User`, `WorkingDir` and the like."""
    return layout_with(folder, layers, layers, config)


def layout_with(
    folder: Path,
    packed: Sequence[bytes],
    plain: Sequence[bytes],
    config: Mapping[str, object] | None = None,
    machine: str = "",
) -> Path:
    """An OCI layout of layers as they lie there; `plain` is what their digests in the config are taken of.

    machine: whom it is for; by default this one.
    """
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    machine = machine or {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())

    def keep(data: bytes, kind: str) -> dict[str, object]:
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    diffs = [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in plain]
    whole = {"os": "linux", "architecture": machine, "config": dict(config or {}), "rootfs": {"diff_ids": diffs}}
    manifest = {
        "schemaVersion": 2,
        "config": keep(json.dumps(whole).encode(), "config.v1+json"),
        "layers": [keep(one, "layer.v1.tar") for one in packed],
    }
    index = {"schemaVersion": 2, "manifests": [keep(json.dumps(manifest).encode(), "manifest.v1+json")]}
    (folder / "index.json").write_text(json.dumps(index))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return folder
